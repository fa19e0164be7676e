"""RecordIO: how a stream of events is divided into records (Mesos documentation, "HTTP Endpoints").

Each record is its length in bytes as decimal text, a line feed, and the record.
"""

from collections.abc import Iterable, Iterator

LARGEST_RECORD = 128 * 1024 * 1024
"""The largest record, in bytes: the offers of 50,000 agents in one event are smaller."""
_LONGEST_LENGTH = 20


class BrokenRecord(ValueError):
    """The stream is not RecordIO, or one of its records is larger than its reader accepts."""


def encode(record: bytes) -> bytes:
    """Return a record after its length, as in a stream."""
    return b"%d\n%s" % (len(record), record)


def decode(chunks: Iterable[bytes], *, largest: int = LARGEST_RECORD) -> Iterator[bytes]:
    """Yield the records of a stream that arrives in any pieces.  Raises BrokenRecord.

    A record of more than `largest` bytes raises before it is read; a stream that ends inside a record raises too, but
    one that ends between two records does not.
    """
    records = Records(chunks)
    while (record := records.next_whole(largest)) is not None:
        yield record


class Records:
    """The records of a stream, of which each is read whole or in pieces.  Every method raises BrokenRecord."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._buffer = bytearray()

    def next_whole(self, largest: int = LARGEST_RECORD) -> bytes | None:
        """The next record, of at most `largest` bytes; None at the end of the stream."""
        length = self._next_length()
        if length is None:
            return None
        if length > largest:
            raise BrokenRecord(f"a record has {length} bytes, but at most {largest} are read")
        while len(self._buffer) < length:
            self._buffer += self._more()
        record = bytes(self._buffer[:length])
        del self._buffer[:length]
        return record

    def next_in_pieces(self) -> Iterator[bytes] | None:
        """The next record while it arrives, all of which is read before the one after it; None at the end."""
        length = self._next_length()
        return None if length is None else self._pieces(length)

    def _pieces(self, left: int) -> Iterator[bytes]:
        while left:
            self._buffer = self._buffer or bytearray(self._more())
            piece = bytes(self._buffer[:left])
            del self._buffer[:left]
            left -= len(piece)
            yield piece

    def _next_length(self) -> int | None:
        while (length := _take_length(self._buffer)) is None:
            chunk = next(self._chunks, None)
            if chunk is None:
                if self._buffer:
                    raise _cut()
                return None
            self._buffer += chunk
        return length

    def _more(self) -> bytes:
        chunk = next(self._chunks, None)
        if chunk is None:
            raise _cut()
        return chunk


def _cut() -> BrokenRecord:
    return BrokenRecord("the stream ended inside a record")


def _take_length(buffer: bytearray) -> int | None:
    end = buffer.find(b"\n", 0, _LONGEST_LENGTH + 1)
    if end < 0:
        if len(buffer) > _LONGEST_LENGTH:
            raise BrokenRecord("a record has no length")
        return None
    head = bytes(buffer[:end])
    if not head.isdigit():
        raise BrokenRecord(f"{head[:20]!r} is not the length of a record")
    del buffer[: end + 1]
    return int(head)
