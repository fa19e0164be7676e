"""Everything the command line touches besides the master: streams, terminal, variables, clock.

Tests replace it as a whole.
"""

import contextlib
import errno
import io
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BufferedIOBase, BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TextIO

from mesosctl.files.reading import (
    is_sqlite,
    open_file,
    read_text_file,
    read_within,
    refuse_empty_input,
    unreadable_hint,
    why_unreadable,
)
from mesosctl.files.redaction import Secrets
from mesosctl.mesos.errors import BadInput, Interruption, MesosctlError, linked, printable, printable_json
from mesosctl.mesos.messages.snapshots import LARGEST
from mesosctl.show import output_formats

if TYPE_CHECKING:
    import typer

    from mesosctl.client.settings import Transport


Kind = Literal["role", "agent", "attribute", "framework", "task", "context"]


class OperatorNote(NamedTuple):
    """A sentence for the operator that is no error."""

    level: Literal["note", "warning"]
    sentence: str

    @property
    def text(self) -> str:
        """The sentence with its level, as people read it."""
        return f"{'WARNING' if self.level == 'warning' else self.level}: {self.sentence}"

    def of(self, contexts: str) -> "OperatorNote":
        """The same note, beginning with the contexts that it is about."""
        return OperatorNote(self.level, f"{contexts}: {self.sentence}")


def _ask_secret(prompt: str) -> str:
    import getpass

    return getpass.getpass(prompt)


def _no_names(ctx: "typer.Context", kind: Kind) -> list[str]:
    del ctx, kind
    return []


@dataclass(slots=True)
class Environment:
    """The environment of one run.

    `transport` replaces the network and `ask_secret` the silent prompt, only in tests. `notes` holds sentences back
    while standard error may have to be one JSON object.
    """

    stdin: TextIO = field(default_factory=lambda: sys.stdin)
    stdout: TextIO = field(default_factory=lambda: sys.stdout)
    stderr: TextIO = field(default_factory=lambda: sys.stderr)
    variables: Mapping[str, str] = field(default_factory=lambda: os.environ)
    ask_secret: Callable[[str], str] = _ask_secret
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    transport: "Transport | None" = None
    notes: list[OperatorNote] = field(default_factory=list)
    find_names: "Callable[[typer.Context, Kind], list[str]]" = _no_names
    """The completions of a kind."""
    words: tuple[str, ...] = ()
    """The arguments of the command, once it runs."""
    form: str | None = None
    """The output format, once it is known."""
    signals: list[KeyboardInterrupt] = field(default_factory=list)
    """The signals that came and were not obeyed yet; copies of this environment share it."""
    secrets: Secrets = field(default_factory=Secrets, repr=False)
    """The texts that must not be shown or stored; a master or proxy may repeat what it was sent."""

    def interruption_behind(self, error: BaseException) -> KeyboardInterrupt | None:
        """The interruption that an unexpected exception is, or comes from; None if no signal came.

        A library may replace the exception of a signal: pydantic, while it builds a model, makes a SchemaError of it,
        and Python a plain KeyboardInterrupt where it imports a module.
        """
        if self.signals and not isinstance(error, Interruption):
            for known in getattr(error, "__notes__", ()) if isinstance(error, KeyboardInterrupt) else ():
                self.signals[-1].add_note(known)
            return self.signals[-1]
        return error if isinstance(error, KeyboardInterrupt) else None

    def obeyed(self) -> None:
        """Forget the signal with which a command ends as it should: an error after it is one of its own."""
        self.signals.clear()

    def note(self, sentence: str) -> None:
        """Hold a note back until the end."""
        self.notes.append(OperatorNote("note", sentence))

    def take_notes(self) -> list[OperatorNote]:
        """The notes that were held back, without secrets."""
        taken, self.notes = self.notes, []
        return [OperatorNote(note.level, self.secrets.redact(note.sentence)) for note in taken]

    def tell_notes(self) -> None:
        """Write the sentences that are not part of a JSON error, as JSON lines if data is JSON."""
        notes = self.take_notes()
        if notes and self.speaks_json:
            import json

            self.stderr.writelines(
                json.dumps({"schema_version": 1, "kind": "note", "level": level, "message": sentence}) + "\n"
                for level, sentence in notes
            )
            return
        for note in notes:
            self._tell(f"mesosctl: {note.text}", (), is_error=False)

    def _tell(self, sentence: str, details: Sequence[str], *, is_error: bool) -> None:
        """Write a sentence to standard error, and its details below; wrapped and in colour on a terminal."""
        if not self.stderr.isatty():
            self.stderr.writelines(f"{line}\n" for line in (sentence, *details))
            return
        from mesosctl.show.terminal import draw_told  # imported late: rich is slow to load

        colours, width = self.colours_on(self.stderr), self.width(self.stderr)
        draw_told(sentence, details, self.stderr, colours=colours, width=width, is_error=is_error)

    def fields_of(self, error: MesosctlError) -> dict[str, str | int | None]:
        """The values of an error that a script needs, without secrets."""
        redact = self.secrets.redact
        return {name: redact(value) if isinstance(value, str) else value for name, value in error.fields().items()}

    def tell_error(self, error: MesosctlError, contexts: Sequence[str] = ()) -> None:
        """One clear sentence and a hint; or one JSON object (`show.document.ErrorDocument`).

        `contexts` are those in which it happened, if the command works on several.
        """
        redact, fields = self.secrets.redact, self.fields_of(error)
        if self.speaks_json:
            import json

            document = {"schema_version": 1, "notes": [note.text for note in self.take_notes()], "error": fields}
            if contexts:
                document["contexts"] = list(contexts)
            self.stderr.write(printable_json(json.dumps(document)) + "\n")
            return
        place = ("field", fields["field"]) if error.typed is None else ("argument", redact(error.typed))
        where = ", ".join(f"{key} {value}" for key, value in (place, ("rule", error.rule)) if value)
        details = [
            f"  {name}: {printable(str(text))}" for name, text in (("at", where), ("hint", fields["hint"])) if text
        ]
        who = f"{', '.join(contexts)}: " if contexts else ""
        self._tell(f"mesosctl: {who}{printable(str(fields['message']))}", details, is_error=True)

    @property
    def speaks_json(self) -> bool:
        """Whether the output is for a program, so that standard error is JSON, with -o yaml too."""
        return self.form in output_formats.DOCUMENTS

    @property
    def may_prompt(self) -> bool:
        """Whether mesosctl can ask the user: never in a script, which must not hang."""
        return self.stdin.isatty() and self.stderr.isatty()

    @property
    def draws(self) -> bool:
        """Whether output is for a terminal, or FORCE_COLOR is set."""
        return self.stdout.isatty() or bool(self.variables.get("FORCE_COLOR"))

    def overwrites(self, stream: TextIO) -> bool:
        """Whether a line on `stream` can be overwritten: on a capable terminal."""
        return stream.isatty() and not self._is_dumb

    @property
    def colours(self) -> bool:
        """Whether standard output may have colours: NO_COLOR always forbids them."""
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
        """Columns of the terminal of `stream`, unless COLUMNS is set; 80 if it is not a terminal."""
        said = self.variables.get("COLUMNS", "")
        if said.isascii() and said.isdigit() and len(said) < _DIGITS:
            return int(said) or _WIDTH
        try:
            return os.get_terminal_size(stream.fileno()).columns or _WIDTH
        except (OSError, ValueError):
            return _WIDTH

    def height(self, stream: TextIO) -> int:
        """Lines of the terminal of `stream`, unless LINES is set; 24 if it is not a terminal."""
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
"""No terminal is wider."""
_UNWRITABLE = (errno.ENOSPC, errno.EBADF, errno.EIO, errno.EFBIG, errno.EDQUOT)


def no_input() -> TextIO:
    """Standard input of a process without one: it is empty."""
    return io.StringIO()


class ClosedOutput(io.StringIO):
    """Standard output of a process without one: every write is an error."""

    def write(self, text: str) -> int:
        """Raises OSError."""
        del text
        raise OSError(errno.EBADF, "it is closed")


class LenientOutput(io.StringIO):
    """Standard error, which nobody may read: a failed write does not change the exit status."""

    def __init__(self, inner: TextIO | None) -> None:
        super().__init__()
        self._inner = inner

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return self._inner is not None and self._inner.isatty()

    def fileno(self) -> int:
        """Its number, by which the width of a terminal is known.  Raises OSError if there is none."""
        return super().fileno() if self._inner is None else self._inner.fileno()

    def write(self, text: str) -> int:
        """Write, or give up for the rest of the run."""
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
            # The rest of its buffer would cause an error message when the interpreter ends.
            with contextlib.suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), inner.fileno())


def is_unwritable(error: OSError) -> bool:
    """Whether `error` is that of an output stream that accepts no more."""
    return error.filename is None and error.errno in _UNWRITABLE


STANDARD_INPUT = "-"


def read_text(path: str, field: str, stdin: TextIO, *, missing: str | None = None, may_be_empty: bool = False) -> str:
    """The text of a file, or of `stdin` for "-", which is refused if it is empty, unless it `may_be_empty`.

    Raises BadInput naming the option `field`; `missing` says what else to do if there is no such file.
    """
    try:
        if path != STANDARD_INPUT:
            return read_text_file(path)
        text = read_within(stdin)
    except (OSError, ValueError) as error:
        refusal = _unreadable(path, field, error)
        if isinstance(error, FileNotFoundError):
            refusal.hint = linked(refusal.hint, missing)
        raise refusal from None
    if not may_be_empty:
        refuse_empty_input(text, field)
    return text


@contextmanager
def opened(path: Path, field: str, stdin: TextIO) -> Iterator[BufferedIOBase]:
    """A file of bytes, or `stdin` for "-", while it is read.

    Raises BadInput naming the option `field`, also for an empty `stdin`.
    """
    try:
        file = BytesIO(_all_of(stdin)) if str(path) == STANDARD_INPUT else open_file(path)
    except (OSError, ValueError) as error:
        raise _unreadable(path, field, error) from None
    if isinstance(file, BytesIO):
        refuse_empty_input(file.getvalue(), field)
    with file:
        try:
            yield file
        except OSError as error:
            raise _unreadable(path, field, error) from None


def named(path: Path | str) -> str:
    """The name of a file in sentences."""
    return "standard input" if str(path) == STANDARD_INPUT else str(path)


def _all_of(stdin: TextIO) -> bytes:
    raw = getattr(stdin, "buffer", None)
    if raw is None:
        return read_within(stdin, LARGEST).encode(errors="surrogateescape")
    content: bytes = read_within(raw, LARGEST)
    return content


def _unreadable(path: Path | str, field: str, error: OSError | ValueError) -> BadInput:
    hint = unreadable_hint(path, error)
    if is_sqlite(error):
        hint = f"{hint}; if it is a recording, usage, replay and tune read it"
    return BadInput(f"{named(path)} cannot be read: {why_unreadable(error)}", field=field, hint=hint)
