"""Reading what an operator names: a payload, a picture.  Wherever a command reads, - is standard input."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedIOBase, BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from mesosctl.core.errors import BadInput, Conflict, Invalid, NotFound
from mesosctl.core.reading import open_file, read_text_file, why_unreadable

if TYPE_CHECKING:
    from mesosctl.wire.places import Places

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


@dataclass(frozen=True, slots=True)
class Written:
    """The text of a file that somebody wrote: a refusal of what it says names the file, the line and the role.

    `find` tells where what stands, as `wire.places` does.
    """

    path: str
    text: str
    find: "Callable[[str], Places]"

    @contextmanager
    def refusals(self, *roles: str) -> Iterator[None]:
        """Where something in here is refused, say where it stands; `roles` are those that the file names."""
        try:
            yield
        except (Invalid, NotFound, Conflict) as error:
            if error.rule == "file.json":
                raise  # a broken text is refused with line and column
            role = error.role or (roles[0] if len(roles) == 1 else "")
            line = self.find(self.text).line_of(error.field or "", role)
            where = f"{named(self.path)}, line {line}" if line else named(self.path)
            whose = f"role '{role}': " if role and f"'{role}'" not in error.message else ""
            sentence = error.message.removeprefix(f"{named(self.path)}: ")
            error.retell(f"{where}: {whose}{sentence}")
            raise


def named(path: Path | str) -> str:
    """What a file is called in sentences."""
    return "standard input" if str(path) == STANDARD_INPUT else str(path)


def _all_of(stdin: TextIO) -> bytes:
    raw = getattr(stdin, "buffer", None)
    return stdin.read().encode(errors="surrogateescape") if raw is None else raw.read()


def _unreadable(path: Path | str, field: str, error: OSError | ValueError) -> BadInput:
    return BadInput(f"{named(path)} cannot be read: {why_unreadable(error)}", field=field)
