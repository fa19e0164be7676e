"""Files that people write, read without waiting and within bounds; why one cannot be read, and what to do."""

import os
import stat
from contextlib import suppress
from io import BufferedReader
from pathlib import Path
from typing import Protocol, TypeVar

from mesosctl.mesos.errors import BadInput

LARGEST_TEXT = 64 << 20
"""The most bytes of a text file; files for mesosctl are far smaller."""

Content = TypeVar("Content", bytes, str)
Content_co = TypeVar("Content_co", bytes, str, covariant=True)


class _Readable(Protocol[Content_co]):
    def read(self, size: int, /) -> Content_co: ...


class NoFile(OSError):
    """The path is not that of a file that can be read to its end."""

    def __init__(self, why: str) -> None:
        super().__init__(None, why)


def open_file(path: str | os.PathLike[str]) -> BufferedReader:
    """A file, opened for reading without waiting.

    Raises OSError, and ValueError for an invalid name. Pipes of the shell (`/dev/stdin`, `<(command)`), a terminal and
    `/dev/null` are read too. A named FIFO may wait for its writer forever, and a device may never end: both are
    refused.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        _check_it_ends(descriptor, path)
        os.set_blocking(descriptor, True)
        return open(descriptor, "rb")  # noqa: PTH123  # it is no path any more
    except BaseException:
        os.close(descriptor)
        raise


def _check_it_ends(descriptor: int, path: str | os.PathLike[str]) -> None:
    """Raise NoFile for a file that may never begin or end."""
    state = os.fstat(descriptor)
    if stat.S_ISREG(state.st_mode):
        return
    if stat.S_ISDIR(state.st_mode):
        raise NoFile("it is a directory")
    if stat.S_ISFIFO(state.st_mode):
        if not os.path.realpath(path).startswith("/proc/"):
            raise NoFile("it is a FIFO, and reading it might never end")
    elif not (os.isatty(descriptor) or os.path.samestat(state, os.stat(os.devnull))):  # noqa: PTH116  # pathlib is slow
        raise NoFile("it is a device, not a file")


def read_text_file(path: str | os.PathLike[str]) -> str:
    """The text of a file in UTF-8, with line endings as in Python.

    Raises OSError, and ValueError for invalid text or an invalid name.
    """
    with open_file(path) as file:
        return read_within(file).decode().replace("\r\n", "\n").replace("\r", "\n")


def read_within(file: _Readable[Content], most: int | None = None) -> Content:
    """The rest of an open file or stream of at most `most` bytes or characters, by default those of a text file.

    Raises NoFile for more.
    """
    most = LARGEST_TEXT if most is None else most
    content = file.read(most + 1)
    if len(content) > most:
        raise too_large(most)
    return content


def check_size(path: str | os.PathLike[str]) -> None:
    """Raise OSError for a text file that a library is to read: if it cannot be read, or is too large."""
    with open_file(path) as file:
        if os.fstat(file.fileno()).st_size > LARGEST_TEXT:
            raise too_large(LARGEST_TEXT)


def too_large(most: int) -> NoFile:
    """The error for a file of more than `most` bytes or characters, which are whole MiB."""
    return NoFile(f"it holds more than {most >> 20} MiB")


def refuse_empty_input(content: str | bytes, field: str) -> None:
    """Raise BadInput naming the option `field` for standard input with nothing in it: what writes to it has failed."""
    if not content.strip():
        raise BadInput(
            "standard input is empty", field=field, hint="look at the output of the command that writes to it"
        )


def why_unreadable(error: OSError | ValueError) -> str:
    """Only the reason, without the number and the path in the system's message."""
    if isinstance(error, OSError):
        return error.strerror or "the system does not say why"
    if isinstance(error, UnicodeDecodeError):
        line = bytes(error.object[: error.start]).count(b"\n") + 1
        return f"it is not text in UTF-8 (line {line})"
    return "no file can have this name"  # a null character


def is_sqlite(error: OSError | ValueError) -> bool:
    """Whether a file could not be read because it is a SQLite file, such as a recording."""
    return isinstance(error, UnicodeDecodeError) and error.object.startswith(b"SQLite format 3\0")


def unreadable_hint(path: str | os.PathLike[str], error: OSError | ValueError) -> str | None:
    """The way out for a file that cannot be read; None if the reason says it."""
    if isinstance(error, UnicodeDecodeError):
        if is_sqlite(error):
            return "it is a SQLite file"
        return "save it as text in UTF-8"
    if isinstance(error, FileNotFoundError):
        return _missing_hint(Path(path))
    if isinstance(error, PermissionError):
        return f"this program runs as user {os.geteuid()}, who needs permission to read it"
    return None


def _missing_hint(path: Path) -> str | None:
    """The file that was probably meant, or where a file was looked for."""
    from difflib import get_close_matches

    with suppress(OSError):  # the folder itself may be gone
        if path.is_symlink():
            return f"it is a link to {path.readlink()}, which does not exist"
        if not path.parent.is_dir():
            return f"there is no folder {path.parent}"
        there = list(path.parent.iterdir())
        # The same ending makes no name similar: b.toml is not a.toml.
        alike = get_close_matches(path.stem, [entry.stem for entry in there if entry.suffix == path.suffix], 1)
        names = [f"{stem}{path.suffix}" for stem in alike] or get_close_matches(
            path.name, [entry.name for entry in there if entry.suffix != path.suffix], 1, 0.8
        )
        if names:
            return f"did you mean {path.with_name(names[0])}?"
        if not path.is_absolute():
            return f"it was looked for in {Path.cwd()}"
        return f"the folder {path.parent} has no file with this name"
    return None
