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
    buffer = bytearray()
    wanted: int | None = None
    for chunk in chunks:
        buffer += chunk
        while True:
            if wanted is None:
                wanted = _take_length(buffer)
                if wanted is not None and wanted > largest:
                    raise BrokenRecord(f"a record has {wanted} bytes, but at most {largest} are read")
            if wanted is None or len(buffer) < wanted:
                break
            yield bytes(buffer[:wanted])
            del buffer[:wanted]
            wanted = None
    if buffer or wanted is not None:
        raise BrokenRecord("the stream ended inside a record")


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
