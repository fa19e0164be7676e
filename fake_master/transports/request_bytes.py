"""The bytes of requests: where each request ends on a connection, and the decompressed size of a body."""

import zlib

_HEAD, _CHUNK, _TRAILER = "head", "chunk", "trailer"
_LONGEST_LINE = 1 << 16


class Boundaries:
    """Follows one connection. Malformed input does not matter, because aiohttp refuses it and closes the connection."""

    def __init__(self) -> None:
        self._state = _HEAD
        self._line = b""
        """The part of the next line that has come."""
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


GZIP = 16 + zlib.MAX_WBITS
"""The format, as zlib names it."""
_ALLOWED_AT_ONCE = 64 * 1024
"""Bytes that any body may unpack to, however short it is."""


class Broken(ValueError):
    """The body is not gzip, or not all of it."""


class BodyTooLarge(ValueError):
    """The body unpacks to more than its length allows."""


class Unpacker:
    """Decompresses one body as it arrives, to at most `factor` times the received size, or `most` bytes."""

    def __init__(self, factor: int, most: int) -> None:
        self._factor, self._most = factor, most
        self._packed = self._unpacked = 0
        self._inflater = zlib.decompressobj(GZIP)

    def feed(self, chunk: bytes) -> bytes:
        """Return the content of the next chunk.  Raises Broken and TooLarge."""
        if self._inflater.eof:
            raise Broken("something follows the end of the gzip data")
        self._packed += len(chunk)
        allowed = min(max(_ALLOWED_AT_ONCE, self._factor * self._packed), self._most) - self._unpacked
        try:
            piece = self._inflater.decompress(chunk, allowed + 1)
        except zlib.error as error:
            raise Broken(f"it is not gzip: {error}") from error
        if len(piece) > allowed:
            raise BodyTooLarge
        if self._inflater.unused_data:
            raise Broken("something follows the end of the gzip data")
        self._unpacked += len(piece)
        return piece

    def finish(self) -> None:
        """Raises Broken if something is missing; the trailer is part of it."""
        if not self._inflater.eof:
            raise Broken("the gzip data ends early")


def origin_form(target: str) -> str:
    """Path and query of a target; a client that counts on a proxy sends the whole URL."""
    if target.startswith("/"):
        return target
    scheme, _, rest = target.partition("://")
    return f"/{rest.partition('/')[2]}" if scheme.lower() in ("http", "https") else target
