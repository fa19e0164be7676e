"""One command on several contexts: it runs once for each, with one question, one answer and the worst exit status.

A change is rehearsed first: it runs on every context until it has a question, or would send its first request. Then
you are asked once for all, unless you have agreed with --yes, and it runs again. So two contexts of one master are
refused before anything is changed. A context that fails does not stop the others.
"""

import io
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from mesosctl.cli.configuration.settings import existing_configuration, is_its_own
from mesosctl.cli.environment import Environment, OperatorNote
from mesosctl.cli.global_options import GlobalOptions, naming_option
from mesosctl.cli.session import Question, Session
from mesosctl.mesos.errors import Interrupted, MesosctlError, NotFound, UsageError, linked
from mesosctl.mesos.exit_status import ExitStatus
from mesosctl.mesos.messages.snapshots import LARGEST
from mesosctl.show.by_context import ContextResult, by_context
from mesosctl.show.output_formats import DOCUMENTS
from mesosctl.show.report import Meaning, Report
from mesosctl.suggestion import options_text

if TYPE_CHECKING:
    from pathlib import Path

    from mesosctl.client.leading_master import LeadingMaster
    from mesosctl.client.settings import ClientSettings


_CONTEXT = "context"
"""The column that is always shown: without it, a reader cannot tell the clusters apart."""
BEFORE_A_CHANGE = Question("Make this change?", "on a terminal")
"""For a command without a question of its own."""


class Halted(MesosctlError):
    """The command has come to a question that is not answered yet.  Nothing was sent since the last one."""

    exit_status = ExitStatus.USAGE


@dataclass(slots=True)
class Turn:
    """The state of one context during the run."""

    context: str
    answered: list[Question] = field(default_factory=list)
    """The questions to which the answer was yes."""
    halted: Question | None = None
    """The question that it has come to."""
    shown: list[Report] = field(default_factory=list)
    """The reports that the command shows before its question."""
    notes: list[OperatorNote] = field(default_factory=list)
    report: Report | None = None
    status: int | None = None
    """None until the command has ended there."""
    error: MesosctlError | None = None
    has_told: bool = False
    """Whether its error was written."""
    has_changed: bool = False
    cluster: str | None = None
    """The identity of its master; None until it has come to a question or a change."""
    secrets: dict[str, str] = field(default_factory=dict, repr=False)

    def secret(self, ask: Callable[[str], str], prompt: str) -> str:
        """The secret that the user types, once for this context."""
        if prompt not in self.secrets:
            self.secrets[prompt] = ask(f"{self.context}: {prompt}")
        return self.secrets[prompt]

    def answer(self, environment: Environment) -> ContextResult:
        """The same for the report, without secrets."""
        fields = None if self.error is None else environment.fields_of(self.error)
        return ContextResult(self.context, self.report, self.status, fields)


class ContextSession(Session):
    """The session of one context: what it would write is kept, and a question ends it until all are asked at once."""

    def __init__(
        self,
        environment: Environment,
        said: GlobalOptions,
        turn: Turn,
        turns: Sequence[Turn] = (),
        *,
        rehearses: bool = False,
    ) -> None:
        own = replace(environment, notes=[], ask_secret=partial(turn.secret, environment.ask_secret))
        super().__init__(own, said._replace(context=turn.context, all_contexts=None))
        self._holds_notes = True
        self._turn = turn
        self._turns = turns
        self._rehearses = rehearses
        self.has_begun = False
        """Whether the command has come to the master; an error before that is in its words."""

    def open_master(self) -> "LeadingMaster":
        """The master of this context."""
        self.has_begun = True
        return super().open_master()

    def client_settings(self) -> "ClientSettings":
        """The usual ones; a rehearsal stops before the first change, and no cluster is changed twice."""
        settings = super().client_settings()
        if self._rehearses:
            return settings._replace(changing=lambda _: self._halt(BEFORE_A_CHANGE))

        def changing(request: str) -> None:
            self._identify()
            refuse_one_cluster_twice([turn for turn in self._turns if turn.has_changed or turn is self._turn])
            settings.changing(request)

        return settings._replace(changing=changing)

    def _identify(self) -> None:
        """Learn which master this is, whatever its address, unless the command is done with it and changes a file."""
        if self._turn.cluster is None and self._masters and not self._masters[-1].is_closed:
            self._turn.cluster = self.identity(self._masters[-1])

    @property
    def has_changed(self) -> bool:
        """Whether a change has been sent to the master."""
        return any(master.changes_sent for master in self._masters)

    def agree(self, question: Question) -> None:
        """Come to a question."""
        if question.asks != "none" and not self.options.yes:
            self._halt(question)

    def _halt(self, question: Question) -> None:
        if question not in self._turn.answered:
            self._identify()
            self._turn.halted = question
            raise Halted(f"not done: {question.question}")

    def emit(self, report: Report) -> None:
        """Keep the answer."""
        if self._trail is not None:
            self._answer = report
        self._turn.report = report

    def show(self, report: Report) -> None:
        """Keep a report that is shown before a question."""
        self._turn.shown.append(report)

    def progress(self, sentence: str, part: float | None = None) -> None:
        """Show progress, with the name of the context."""
        super().progress(f"{self._turn.context}: {sentence}", part)

    def check_watchable(self) -> None:
        """Raise UsageError: a list that refreshes is of one cluster."""
        raise _refusal("--watch", "--watch")

    def check_one_cluster(self, option: str) -> None:
        """Raise UsageError."""
        raise _refusal(option, option)

    def read_for_context(self, name: str) -> str:
        """The name of a file with the name of this context in its place, if it has one."""
        return name.replace(_PLACE, self._turn.context)

    def file_of_context(self, file: "Path | None") -> "Path":
        """The file with the name of this context in its own.  Raises UsageError if that has no place for it."""
        if file is None or _PLACE not in str(file):
            name = "wanted.toml" if file is None else str(file)
            stem, dot, kind = name.rpartition(".")
            raise UsageError(
                f"{file or 'standard output'} is one file, but each context has a document of its own",
                field="--file",
                hint=f"write {_PLACE} in the name: "
                + options_text(file=f"{stem}-{_PLACE}{dot}{kind}" if dot else f"{name}-{_PLACE}"),
            )
        return type(file)(str(file).replace(_PLACE, self._turn.context))

    def redraw(self, report: Report) -> None:
        """Raise UsageError, like every way to write that is not an answer."""
        del report
        raise _refusal("a view that refreshes")

    follow = redraw

    def emit_line(self, line: str, meaning: Meaning) -> None:
        """Raise UsageError."""
        del line, meaning
        raise _refusal("a list that grows")

    def emit_pieces(self, pieces: Iterable[str]) -> None:
        """Raise UsageError."""
        del pieces
        raise _refusal("a document")

    def emit_page(self, page: str, file: str) -> None:
        """Raise UsageError."""
        del page, file
        raise _refusal("--report", "--report")

    def is_output(self, file: object, field: str) -> bool:
        """Whether the file is standard output, which is not so: it has the answer of all.  Raises UsageError."""
        if file is not None:
            raise _refusal(field, field)
        return False


_PLACE = "{context}"
"""The place of the name of a context in the name of a file."""


def _refusal(what: str, option: str | None = None) -> UsageError:
    return UsageError(f"{what} is for one cluster at a time", field=option, hint="name one context")


def chosen_contexts(options: GlobalOptions, variables: Mapping[str, str]) -> list[str]:
    """The names of the contexts on which the command runs.  Raises UsageError, NotFound, BadInput."""
    if not options.all_contexts:
        words = options.context or variables.get("MESOSCTL_CONTEXT", "")
        names = list(dict.fromkeys(name.strip() for name in words.split(",")))
        if "" in names:
            raise UsageError(
                f"'{words}' has an empty name",
                field=naming_option(options),
                hint="write --context NAME,NAME, without spaces",
            )
        return names
    if options.context is not None:
        raise UsageError("--all-contexts and --context both name contexts", field="--context", hint="give one of them")
    names = [name for name, kept in _contexts(variables).items() if "master" in kept]
    if not names:
        raise NotFound(
            "no context names a master",
            field="--all-contexts",
            hint="mesosctl context set NAME --master ADDRESS creates one",
        )
    return names


def _contexts(variables: Mapping[str, str]) -> Mapping[str, Mapping[str, Any]]:
    path = existing_configuration(variables)
    if path is None:
        return {}
    from mesosctl.cli.configuration.file import read

    return read(path).contexts


def run_on_several(act: Callable[[Session], Any], ctx: Any, options: GlobalOptions, *, changes: bool) -> int:
    """Run a command on the contexts that the options name, and return the worst exit status.  Raises MesosctlError.

    `act` runs it in a session, and returns its exit status; `changes` says whether it changes a cluster.
    """
    environment: Environment = ctx.obj
    whole = Session(environment, options._replace(context=None, all_contexts=None), obeys_context=False)
    if whole.options.master:
        origin = whole.settings.origin("master")
        without = environment.secrets.redact(shlex.join(("env", "-u", origin.name, "mesosctl", *environment.words)))
        raise UsageError(
            f"{origin.name} names one master, but several contexts are named",
            field=naming_option(options),
            hint=f"run it without the variable: {without}" if origin.kind == "environment" else "leave one of them out",
        )
    whole.check_columns(lists=not changes)
    columns = whole.options.columns
    if columns is not None and _CONTEXT not in (name.strip().lower() for name in columns.split(",")):
        whole.options = whole.options._replace(columns=f"{_CONTEXT},{columns}")
    names = chosen_contexts(options, environment.variables)
    return _Run(act, ctx, whole, names, changes=changes).run()


class _Run:
    """One run on all contexts; `whole` writes what belongs to all of them."""

    def __init__(
        self, act: Callable[[Session], Any], ctx: Any, whole: Session, names: Sequence[str], *, changes: bool
    ) -> None:
        self._act = act
        self._changes = changes
        self._ctx = ctx
        self._params = dict(ctx.params)
        self._whole = whole
        self._turns = [Turn(name) for name in names]
        self._said = whole.said._replace(output=whole.options.output)
        self._environment = _read_again(whole.environment)
        sessions = [self._session(turn) for turn in self._turns]  # a mistake in one context is found before any starts
        if changes:
            _refuse_one_address_twice(names, [session.options.master for session in sessions])

    def run(self) -> int:
        """Run, ask and write; return the worst exit status."""
        rehearses = self._changes
        waiting = self._turns
        try:
            while waiting:
                for number, turn in enumerate(waiting, 1):
                    self._take(turn, waiting[number:], rehearses=rehearses)
                waiting = [turn for turn in waiting if turn.halted is not None]
                rehearses = False
                if waiting:
                    self._ask(waiting)
        except BaseException:
            if any(turn.has_changed for turn in self._turns):
                self._tell()
            raise
        self._tell()
        return max(turn.status or 0 for turn in self._turns)

    def _session(self, turn: Turn, *, rehearses: bool = False) -> ContextSession:
        session = ContextSession(self._environment(), self._said, turn, self._turns, rehearses=rehearses)
        session.names_output = self._whole.names_output
        return session

    def _take(self, turn: Turn, following: Sequence[Turn], *, rehearses: bool) -> None:
        """Run the command on one context, until its end or its next question; others follow."""
        turn.halted, turn.notes, turn.shown = None, [], []
        turn.report = turn.status = None
        session = self._session(turn, rehearses=rehearses)
        self._ctx.params = dict(self._params)
        try:
            turn.status = int(self._act(session) or 0)
        except Interrupted as stopped:
            left = [later.context for later in following]
            beside = f"; not begun: {', '.join(left)}" if left else ""
            stopped.reword(f"{turn.context}: {stopped.message}{beside}")
            turn.status, turn.error = int(stopped.exit_status), stopped
            turn.has_told = True  # it ends the program, which tells it
            raise
        except MesosctlError as error:
            if turn.halted is None:
                if not session.has_begun and turn is self._turns[0]:
                    raise  # the words of the command are wrong on every context
                turn.status, turn.error = int(error.exit_status), error
        finally:
            turn.has_changed = turn.has_changed or session.has_changed
            turn.notes = session.environment.take_notes()

    def _ask(self, waiting: Sequence[Turn]) -> None:
        """Ask once for all that have come to a question; raise UsageError if the answer is no."""
        self._tell_errors()
        refuse_one_cluster_twice(waiting)
        if not self._whole.options.yes:
            self._confirm(waiting)
        for turn in waiting:
            assert turn.halted is not None, "it waits for an answer"
            turn.answered += [turn.halted, BEFORE_A_CHANGE]

    def _confirm(self, waiting: Sequence[Turn]) -> None:
        shown = [ContextResult(turn.context, report) for turn in waiting for report in turn.shown]
        if shown:
            self._whole.show(by_context(shown))
        groups: dict[Question, list[str]] = {}
        for turn in waiting:
            assert turn.halted is not None, "it waits for an answer"
            groups.setdefault(turn.halted, []).append(turn.context)
        losses = [f"{', '.join(names)}: {asked.loss}" for asked, names in groups.items() if asked.loss is not None]
        if len(groups) == 1 and losses:
            question = self._text(next(iter(groups)))
        else:
            question = " ".join(f"{', '.join(names)}: {self._text(asked)}" for asked, names in groups.items())
        if len(groups) > 1:
            question += " Yes to all?"
        try:
            strictest = next((asked for asked in groups if asked.asks == "always"), next(iter(groups)))
            loss = "; ".join(losses) or None
            self._whole.agree(Question(question, strictest.asks, loss, strictest.hint))
        except UsageError as refused:
            done = [turn.context for turn in self._turns if turn.has_changed]
            if done:
                refused.reword(f"{refused.message} after {', '.join(done)}")
            raise

    def _text(self, question: Question) -> str:
        """The question; a command that has none of its own is named."""
        if question != BEFORE_A_CHANGE:
            return question.question
        environment = self._whole.environment
        return f"Make this change: mesosctl {environment.secrets.redact(shlex.join(environment.words))}?"

    def _tell(self) -> None:
        """Write the notes, the report of all, and the errors."""
        whole = self._whole
        notes = ((note, turn.context) for turn in self._turns for note in turn.notes)
        for note, names in _grouped(notes):
            whole.tell(note.of(", ".join(names)))
        whole.end_progress()
        if whole.form in DOCUMENTS or any(turn.report is not None for turn in self._turns):
            whole.emit(by_context([turn.answer(whole.environment) for turn in self._turns]))
        self._tell_errors()

    def _tell_errors(self) -> None:
        """Write the errors that were not written yet, the same one once; each context keeps its hint."""
        told: dict[tuple[Any, ...], tuple[MesosctlError, list[str]]] = {}
        for turn in self._turns:
            if turn.error is not None and not turn.has_told:
                turn.has_told = True
                same = {**turn.error.fields(), "hint": None}  # it may name the context in a command
                first, names = told.setdefault(tuple(same.values()), (turn.error, []))
                names.append(turn.context)
                first.hint = linked(first.hint, turn.error.hint)
        if told:
            self._whole.end_progress()
        for error, names in told.values():
            self._whole.environment.tell_error(error, names)


def _grouped(pairs: Iterable[tuple[OperatorNote, str]]) -> Iterable[tuple[OperatorNote, list[str]]]:
    groups: dict[OperatorNote, list[str]] = {}
    for note, context in pairs:
        groups.setdefault(note, []).append(context)
    return groups.items()


def _read_again(environment: Environment) -> Callable[[], Environment]:
    """The environment for each context in turn: each reads standard input from its beginning."""
    text: list[str] = []

    def again() -> Environment:
        return replace(environment, stdin=_Repeated(environment, text))

    return again


class _Repeated(io.StringIO):
    """Standard input that is read once, and given to every context."""

    def __init__(self, environment: Environment, text: list[str]) -> None:
        super().__init__()
        self._inner = environment.stdin
        self._text = text
        self._is_filled = False

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return self._inner.isatty()

    def read(self, size: int | None = -1) -> str:
        """All of it, or a part."""
        if not self._is_filled:
            self._is_filled = True
            if not self._text:
                self._text.append(self._inner.read(LARGEST + 1))  # one more than any reader takes
            super().write(self._text[0])
            self.seek(0)
        return super().read(size)


def refuse_one_cluster_twice(turns: Sequence[Turn]) -> None:
    """Raise UsageError if two contexts have turned out to lead to the same master."""
    known: dict[str, str] = {}
    for turn in turns:
        if turn.cluster is not None and known.setdefault(turn.cluster, turn.context) != turn.context:
            raise _twice(known[turn.cluster], turn.context)


def _twice(first: str, other: str) -> UsageError:
    return UsageError(
        f"contexts {first} and {other} name the same master, which would be changed twice",
        hint=f"leave out one of them: {first} or {other}",
    )


def _refuse_one_address_twice(names: Sequence[str], masters: Sequence[str | None]) -> None:
    """Raise UsageError if the addresses of two contexts lead to the same master."""
    for number, (name, master) in enumerate(zip(names, masters, strict=True)):
        for other, known in zip(names[:number], masters[:number], strict=True):
            if master and known and (is_its_own(master, known) or is_its_own(known, master)):
                raise _twice(other, name)
