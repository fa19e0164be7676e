"""Reading what an operator names: a payload, a picture.  Wherever a command reads, - is standard input."""

from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedIOBase, BytesIO
from pathlib import Path
from typing import TextIO

from mesosctl.core.errors import BadInput
from mesosctl.core.reading import open_file, read_text_file, why_unreadable

STANDARD_INPUT = "-"


def read_text(path: str, field: str, stdin: TextIO) -> str:
    """The text of a file, or of `stdin` for "-".  Raises BadInput naming the option `field`."""
    try:
        if path == STANDARD_INPUT:
            return stdin.read()
        return read_text_file(path)
    except (OSError, ValueError) as error:
        raise _unreadable(path, field, error) from None


@contextmanager
def opened(path: Path, field: str, stdin: TextIO) -> Iterator[BufferedIOBase]:
    """A file of bytes, or `stdin` for "-", while it is read.  Raises BadInput naming the option `field`."""
    try:
        file = BytesIO(_all_of(stdin)) if str(path) == STANDARD_INPUT else open_file(path)
    except (OSError, ValueError) as error:
        raise _unreadable(path, field, error) from None
    with file:
        try:
            yield file
        except OSError as error:
            raise _unreadable(path, field, error) from None


def named(path: Path | str) -> str:
    """What a file is called in sentences."""
    return "standard input" if str(path) == STANDARD_INPUT else str(path)


def _all_of(stdin: TextIO) -> bytes:
    raw = getattr(stdin, "buffer", None)
    return stdin.read().encode(errors="surrogateescape") if raw is None else raw.read()


def _unreadable(path: Path | str, field: str, error: OSError | ValueError) -> BadInput:
    return BadInput(f"{named(path)} cannot be read: {why_unreadable(error)}", field=field)
