"""Where requests begin and end in what a client sends, so that a part of one is told from none.

aiohttp reads the requests; it does not say whether it holds the beginning of another one.
"""

_HEAD, _CHUNK, _TRAILER = "head", "chunk", "trailer"
_LONGEST_LINE = 1 << 16


class Boundaries:
    """Follows one connection.  What is malformed does not matter: aiohttp refuses it and the connection ends."""

    def __init__(self) -> None:
        self._state = _HEAD
        self._line = b""
        """What there is of the line that comes."""
        self._skip = 0
        """Bytes of a body that are still to come."""
        self._begun = False
        self._length = 0
        self._chunked = False

    @property
    def is_between(self) -> bool:
        """Whether everything that came so far is whole requests."""
        return self._state is _HEAD and not (self._begun or self._line or self._skip)

    def feed(self, data: bytes) -> None:
        """Follow another piece."""
        at = 0
        while at < len(data):
            if self._skip:
                step = min(self._skip, len(data) - at)
                self._skip -= step
                at += step
                continue
            end = data.find(b"\n", at)
            if end < 0:
                self._line = (self._line + data[at:])[:_LONGEST_LINE]
                return
            line, self._line, at = self._line + data[at:end], b"", end + 1
            self._take(line.strip())

    def _take(self, line: bytes) -> None:
        if self._state is _CHUNK:
            size = _number(line.partition(b";")[0], 16)
            self._skip = size + 2 if size else 0
            self._state = _CHUNK if size else _TRAILER
        elif self._state is _TRAILER:
            self._state = _TRAILER if line else _HEAD
        elif line:
            self._begun = True
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                self._length = _number(value, 10)
            elif name.lower() == b"transfer-encoding":
                self._chunked = b"chunked" in value.lower()
        elif self._begun:
            self._state = _CHUNK if self._chunked else _HEAD
            self._skip = 0 if self._chunked else self._length
            self._begun, self._length, self._chunked = False, 0, False


def _number(text: bytes, base: int) -> int:
    try:
        return max(0, int(text[:20], base))
    except ValueError:
        return 0
