"""Everything the command line touches besides the master: streams, terminal, variables, clock.

Tests replace it as a whole.
"""

import contextlib
import errno
import io
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BufferedIOBase, BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TextIO

from mesosctl.files import open_file, read_text_file, why_unreadable
from mesosctl.model.errors import BadInput, Conflict, Invalid, NotFound
from mesosctl.model.redaction import Secrets
from mesosctl.output.formats import output_formats

if TYPE_CHECKING:
    import typer

    from mesosctl.api.files.line_numbers import Places
    from mesosctl.client.settings import Transport


Kind = Literal["role", "agent", "framework", "context"]


def _ask_secret(prompt: str) -> str:
    import getpass

    return getpass.getpass(prompt)


def _no_names(ctx: "typer.Context", kind: Kind) -> list[str]:
    del ctx, kind
    return []


@dataclass(slots=True)
class Environment:
    """The surroundings of one run.

    `transport` replaces the network, `ask_secret` the silent prompt; both only in tests.  `notes`
    keeps sentences back while standard error may have to be one JSON object.
    """

    stdin: TextIO = field(default_factory=lambda: sys.stdin)
    stdout: TextIO = field(default_factory=lambda: sys.stdout)
    stderr: TextIO = field(default_factory=lambda: sys.stderr)
    variables: Mapping[str, str] = field(default_factory=lambda: os.environ)
    ask_secret: Callable[[str], str] = _ask_secret
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    transport: "Transport | None" = None
    notes: list[str] = field(default_factory=list)
    find_names: "Callable[[typer.Context, Kind], list[str]]" = _no_names
    """The names of a kind that a shell is offered."""
    words: tuple[str, ...] = ()
    """The arguments of the command, once it runs."""
    form: str | None = None
    """How data is written, once that is settled."""
    secrets: Secrets = field(default_factory=Secrets, repr=False)
    """The texts that must not be shown or kept; a master, or a proxy before it, may repeat what it was sent."""

    def take_notes(self) -> list[str]:
        """The sentences that were kept back for a JSON error, and are told with it."""
        taken, self.notes = self.notes, []
        return list(map(self.secrets.redact, taken))

    def tell_notes(self) -> None:
        """Write the sentences that no JSON error has taken along: JSON lines if data is JSON."""
        notes = self.take_notes()
        if notes and self.speaks_json:
            import json

            told = [note.partition(": ") for note in notes]
            self.stderr.writelines(
                json.dumps({"schema_version": 1, "kind": "note", "level": level.lower(), "message": message}) + "\n"
                for level, _, message in told
            )
            return
        self.stderr.writelines(f"mesosctl: {note}\n" for note in notes)

    @property
    def speaks_json(self) -> bool:
        """Whether a program reads what is written, so that standard error has JSON, with -o yaml too."""
        return self.form in output_formats.DOCUMENTS

    @property
    def may_prompt(self) -> bool:
        """Whether there is a person to ask: never in a script, which must not hang."""
        return self.stdin.isatty() and self.stderr.isatty()

    @property
    def draws(self) -> bool:
        """Whether output is for a terminal's eyes (FORCE_COLOR says so too)."""
        return self.stdout.isatty() or bool(self.variables.get("FORCE_COLOR"))

    def overwrites(self, stream: TextIO) -> bool:
        """Whether a line on `stream` can be written over: by a terminal that knows how."""
        return stream.isatty() and not self._is_dumb

    @property
    def colours(self) -> bool:
        """Whether standard output may have colours: NO_COLOR forbids them, whatever else is said."""
        return self.draws and self._may_colour

    def colours_on(self, stream: TextIO) -> bool:
        """The same for `stream`, which must be a terminal."""
        return stream.isatty() and self._may_colour

    @property
    def _may_colour(self) -> bool:
        return not self.variables.get("NO_COLOR") and not self._is_dumb

    @property
    def _is_dumb(self) -> bool:
        return self.variables.get("TERM") == "dumb"

    def width(self, stream: TextIO) -> int:
        """Columns of the terminal that `stream` is, unless COLUMNS says another number; 80 where it is none."""
        said = self.variables.get("COLUMNS", "")
        if said.isascii() and said.isdigit() and len(said) < _DIGITS:
            return int(said) or _WIDTH
        try:
            return os.get_terminal_size(stream.fileno()).columns or _WIDTH
        except (OSError, ValueError):
            return _WIDTH

    def height(self, stream: TextIO) -> int:
        """Lines of the terminal that `stream` is, unless LINES says another number; 24 where it is none."""
        said = self.variables.get("LINES", "")
        if said.isascii() and said.isdigit() and len(said) < _DIGITS:
            return int(said) or _HEIGHT
        try:
            return os.get_terminal_size(stream.fileno()).lines or _HEIGHT
        except (OSError, ValueError):
            return _HEIGHT


_WIDTH = 80
_HEIGHT = 24
_DIGITS = 6
"""A wider terminal than these can say is none."""
_UNWRITABLE = (errno.ENOSPC, errno.EBADF, errno.EIO, errno.EFBIG, errno.EDQUOT)


def no_input() -> TextIO:
    """Standard input of a process that has none: it ends at once."""
    return io.StringIO()


class ClosedOutput(io.StringIO):
    """Standard output of a process that has none: nothing can be written, and an error says so."""

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

    `find` gives the line of each key, as `api.files.line_numbers` does.
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
            error.reword(f"{where}: {whose}{sentence}")
            raise


def named(path: Path | str) -> str:
    """The name of a file in sentences."""
    return "standard input" if str(path) == STANDARD_INPUT else str(path)


def _all_of(stdin: TextIO) -> bytes:
    raw = getattr(stdin, "buffer", None)
    return stdin.read().encode(errors="surrogateescape") if raw is None else raw.read()


def _unreadable(path: Path | str, field: str, error: OSError | ValueError) -> BadInput:
    return BadInput(f"{named(path)} cannot be read: {why_unreadable(error)}", field=field)
