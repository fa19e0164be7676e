"""A log as text, read line by line within bounds, whether it is compressed or not.

Nothing of it is held in memory but the row that is read, and a row has a bound, so that a file of any size, or of one
line without an end, takes bounded memory.
"""

import gzip
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader, TextIOWrapper
from pathlib import Path
from typing import TextIO, cast

from mesosctl.files.reading import open_file, too_large, unreadable_hint, why_unreadable
from mesosctl.mesos.errors import BadInput

_GZIP = b"\x1f\x8b"
LONGEST_ROW = 1 << 20
"""The most characters of a row, with all of its lines: a row of any known format has a few hundred."""
_MOST_TIMES = 100
"""The most bytes for each compressed byte; logs have five to twenty."""
_ALWAYS = 64 << 20
"""Bytes that a compressed file may have in any case."""


class LogText(Iterator[str]):
    """The lines of a log, each with its end.

    Raises BadInput for a row that is too long. A reader whose rows have several lines calls `begin_row` before each.
    """

    def __init__(self, text: TextIO, name: str, field: str, part: Callable[[], float | None], most: int | None) -> None:
        """`name` is the file in sentences, `field` the option that names it, `most` the most characters of it all."""
        self._text, self._most, self._read = text, most, 0
        self._left = LONGEST_ROW
        self.name, self.field, self.part = name, field, part
        """`part` tells which part of the file was read, if that is known."""
        self.line = 0
        """The number of lines that were read."""

    def __next__(self) -> str:
        found = self._text.readline(self._left + 1)
        if not found:
            raise StopIteration
        self.line += 1
        self._left -= len(found)
        if self._left < 0:
            raise BadInput(
                f"{self.name}, line {self.line}: its row is longer than {LONGEST_ROW:,} characters",
                field=self.field,
                hint="check that it is a log as text, that its lines end, and that every quote is closed",
            )
        self._read += len(found)
        if self._most is not None and self._read > self._most:
            raise too_large(self._most)
        return found

    def begin_row(self) -> None:
        """Begin another row, with the next line."""
        self._left = LONGEST_ROW

    def rows(self) -> Iterator[tuple[int, str]]:
        """The lines with their numbers, each a row of its own."""
        for text in self:
            yield self.line, text
            self.begin_row()


class _TooMuch(Exception):
    """The content of a compressed file is far larger than the file."""


class _Compressed:
    """A compressed file, whose bytes are counted, since those of a pipe have no place."""

    def __init__(self, raw: BufferedReader) -> None:
        self._raw = raw
        self.count = 0

    def read(self, size: int = -1) -> bytes:
        """The next bytes."""
        found = self._raw.read(size)
        self.count += len(found)
        return found

    def seek(self, place: int) -> int:
        """Go to a place."""
        return self._raw.seek(place)


class _Unpacked(gzip.GzipFile):
    """The content of a compressed file; reading raises _TooMuch for more of it than a log has."""

    def __init__(self, raw: BufferedReader) -> None:
        self._packed = _Compressed(raw)
        self._came = 0
        super().__init__(fileobj=self._packed, mode="rb")

    def read1(self, size: int = -1) -> bytes:
        """Some bytes.  TextIOWrapper reads by this alone."""
        found = super().read1(size)
        self._came += len(found)
        if self._came > max(_ALWAYS, _MOST_TIMES * self._packed.count):
            raise _TooMuch
        return found


@contextmanager
def opened(path: Path, option: str, most: int | None = None) -> Iterator[LogText]:
    """The text of a file, which may be compressed, of at most `most` characters.

    Raises BadInput that names the option, also while it is read.
    """
    try:
        with open_file(path) as raw:
            size = path.stat().st_size
            compressed = raw.peek(2)[:2] == _GZIP
            inner = cast("BufferedReader", _Unpacked(raw)) if compressed else raw
            # Names may be in any encoding; a byte that is not UTF-8 stays what it is.
            with TextIOWrapper(inner, encoding="utf-8-sig", errors="replace", newline="") as text:
                yield LogText(text, str(path), option, lambda: raw.tell() / size if size else None, most)
    except _TooMuch:
        raise BadInput(
            f"{path} cannot be read: more than {_MOST_TIMES} times its size comes out of it",
            field=option,
            hint="if it is a log all the same, unpack it with gunzip, and name what comes out",
        ) from None
    except (OSError, EOFError, ValueError, zlib.error) as error:
        if isinstance(error, OSError | ValueError) and not isinstance(error, gzip.BadGzipFile):
            why, hint = why_unreadable(error), None
            with suppress(OSError):
                hint = unreadable_hint(path, error)
        else:
            why, hint = "it is compressed, and it is cut short or damaged", None
        raise BadInput(f"{path} cannot be read: {why}", field=option, hint=hint) from None
