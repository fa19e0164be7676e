"""Streams that are closed, full or broken, and what becomes of a command that meets one."""

import contextlib
import errno
import io
import os
from typing import TextIO

_UNWRITABLE = (errno.ENOSPC, errno.EBADF, errno.EIO, errno.EFBIG, errno.EDQUOT)


def no_input() -> TextIO:
    """Standard input where there is none: it ends at once."""
    return io.StringIO()


class ClosedOutput(io.StringIO):
    """Standard output where there is none: nothing can be written, and it is said so."""

    def write(self, text: str) -> int:
        """Raises OSError."""
        del text
        raise OSError(errno.EBADF, "it is closed")


class LenientOutput(io.StringIO):
    """Standard error where nobody may be able to read it: what cannot be written changes no exit status."""

    def __init__(self, inner: TextIO | None) -> None:
        super().__init__()
        self._inner = inner

    def isatty(self) -> bool:
        """Whether a person reads it."""
        return self._inner is not None and self._inner.isatty()

    def write(self, text: str) -> int:
        """Write, or give up for good."""
        if self._inner is not None:
            try:
                self._inner.write(text)
                self._inner.flush()
            except (OSError, ValueError):
                self._give_up()
        return len(text)

    def _give_up(self) -> None:
        inner, self._inner = self._inner, None
        if inner is not None:
            # What is left in its buffer would make the interpreter complain at the end.
            with contextlib.suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), inner.fileno())


def is_unwritable(error: OSError) -> bool:
    """Whether `error` is that of an output stream that takes no more."""
    return error.filename is None and error.errno in _UNWRITABLE
