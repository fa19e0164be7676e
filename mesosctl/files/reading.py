"""Files of text, read at once and within bounds."""

import os
import stat
from io import BufferedReader

LARGEST_TEXT = 64 << 20
"""Bytes of a text that is read whole; the largest that people or programs write for this one are far below."""


class NoFile(OSError):
    """The name does not lead to a file that can be read to its end."""

    def __init__(self, why: str) -> None:
        super().__init__(None, why)


def open_file(path: str | os.PathLike[str]) -> BufferedReader:
    """A file, opened for reading at once whatever it is.  Raises OSError, and ValueError for what is no name.

    What a shell connects is read too: a pipe of its own (`/dev/stdin`, `<(command)`), a terminal, `/dev/null`.  A FIFO
    with a name waits for its writer, perhaps for ever, and a device may never end: both are refused.
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
    """Raises NoFile for what may never come to its end, or never begin."""
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
    """The text of a file in UTF-8, with every end of a line as it is written in Python.

    Raises OSError, and ValueError for what is no text or no name.
    """
    with open_file(path) as file:
        content = file.read(LARGEST_TEXT + 1)
    if len(content) > LARGEST_TEXT:
        raise NoFile(f"it holds more than {LARGEST_TEXT >> 20} MiB")
    return content.decode().replace("\r\n", "\n").replace("\r", "\n")


def why_unreadable(error: OSError | ValueError) -> str:
    """The reason alone, without the number and the path that the system's own sentence has around it."""
    if isinstance(error, OSError):
        return error.strerror or "the system does not say why"
    if isinstance(error, UnicodeDecodeError):
        return "it is not text in UTF-8"
    return "no file can have this name"  # a null character
