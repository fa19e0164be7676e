"""Bodies that come packed by gzip, which is the one packing that a Mesos master takes apart."""

import zlib

_GZIP = 16 + zlib.MAX_WBITS
_ALLOWED_AT_ONCE = 64 * 1024
"""Bytes that any body may unpack to, however short it is."""


class Broken(ValueError):
    """The body is not gzip, or not all of it."""


class TooMuch(ValueError):
    """The body unpacks to more than its length allows."""


class Unpacker:
    """Takes one body apart as it comes: what it holds is no more than `factor` times what came, or `most` bytes."""

    def __init__(self, factor: int, most: int) -> None:
        self._factor, self._most = factor, most
        self._packed = self._unpacked = 0
        self._inflater = zlib.decompressobj(_GZIP)

    def feed(self, chunk: bytes) -> bytes:
        """What another chunk holds.  Raises Broken and TooMuch."""
        if self._inflater.eof:
            raise Broken("something follows the end of the gzip data")
        self._packed += len(chunk)
        allowed = min(max(_ALLOWED_AT_ONCE, self._factor * self._packed), self._most) - self._unpacked
        try:
            piece = self._inflater.decompress(chunk, allowed + 1)
        except zlib.error as error:
            raise Broken(f"it is not gzip: {error}") from error
        if len(piece) > allowed:
            raise TooMuch
        if self._inflater.unused_data:
            raise Broken("something follows the end of the gzip data")
        self._unpacked += len(piece)
        return piece

    def finish(self) -> None:
        """Raises Broken where something is missing; the trailer is part of it."""
        if not self._inflater.eof:
            raise Broken("the gzip data ends early")
