"""One run of one command: its options, its master, and the three ways it speaks."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from mesosctl.cli.configuration.credentials import (
    find_conflicts,
    find_credentials,
    learn_from_variables,
    refuse_two_clusters,
)
from mesosctl.cli.configuration.settings import Settings, resolve
from mesosctl.cli.display import Display
from mesosctl.cli.environment import Environment, is_unwritable
from mesosctl.cli.options import DEFAULTS, GlobalOptions, checked_timeout
from mesosctl.client.address import parse_address, shows_secret
from mesosctl.client.settings import ClientSettings, Tls
from mesosctl.model.errors import Interrupted, MesosctlError, NotConfirmed, UsageError, interrupted, printable
from mesosctl.model.exit_status import ExitStatus
from mesosctl.output.formats.output_formats import ONE_PIECE, TABLES
from mesosctl.output.formats.report import Meaning, Report

if TYPE_CHECKING:
    from mesosctl.client.master import Master
    from mesosctl.client.response import Trace

_SOME_LOSS = "this takes something away"


class Session:
    """The settings, master and streams of one command.  Data goes through `emit`, everything else through `note`.

    `said` are the flags alone, `options` what holds when everything weaker is asked too.
    Raises BadInput if a variable or the configuration file makes no sense, UsageError if words
    and surroundings name two clusters.
    """

    def __init__(self, environment: Environment, said: GlobalOptions, *, obeys_context: bool = True) -> None:
        self.environment = environment
        self.said = said
        environment.secrets.add_address(said.master)
        learn_from_variables(environment.variables, environment.secrets)
        self.settings = resolve(said, environment.variables, obeys_context=obeys_context)
        self.options = self.settings.options
        self._learn_secrets()
        environment.form = self.form
        self._display = Display(environment, quiet=bool(self.options.quiet))
        self._masters: list[Master] = []
        self._holds_notes = False
        refuse_two_clusters(self.settings)

    def _learn_secrets(self) -> None:
        """Learn the secrets in flags, variables and the context, whether they count in the end or not."""
        secrets = self.environment.secrets
        secrets.add_address(self.options.master)
        for secret in self.settings.secrets.values():
            secrets.add(secret)
        if self.settings.conflicting is not None:
            secrets.add_address(self.settings.conflicting.master)

    @property
    def form(self) -> str:
        """How data is written."""
        return self.options.output or str(DEFAULTS["output"])

    @property
    def waits(self) -> bool:
        """Whether an accepted change is read back."""
        return not self.options.no_wait

    def open_master(self) -> "Master":
        """The master that was named; with --dry-run one that may only be read.

        Raises UsageError without a name; nothing is connected yet.
        """
        # Late: it imports httpx, which help and mistakes in words do without.
        from mesosctl.client.master import Master

        text = self.options.master or ""
        if not text.strip():
            raise UsageError(
                "no master is named",
                field="--master",
                hint="give --master http://host:5050, set MESOSCTL_MASTER or create a context (mesosctl context set); "
                "fake: needs no cluster",
            )
        if shows_secret(self.said.master or ""):
            self.warn(
                "every user of this machine can see the secret in --master in the process list; set "
                "MESOSCTL_MASTER, or write the address to a file and give --master file:///path"
            )
        self.tell_conflicts(self.settings)
        address, settings = parse_address(text), self.client_settings()
        if address.zookeeper is not None and address.zookeeper.digest is not None:  # it may come from a file
            self.environment.secrets.add_pair(*address.zookeeper.digest.split(":", 1))
        if settings.tls and any(base.startswith("http:") for base in address.bases):
            self.warn("--cacert and --cert have no effect with http://, which is not encrypted: write https://")
        self._masters.append(Master(address, settings, self.environment.transport))
        return self._masters[-1]

    def identity(self, master: "Master") -> str:
        """Return a text that tells this master from others, however its address is written; no secret is in it."""
        from mesosctl.operations.apply.journal import identity

        return self.environment.secrets.redact(identity(master, self.options.master or ""))

    def tell_unsent(self, error: MesosctlError) -> None:
        """Of a change that failed on its way to a master, say so if none can have arrived."""
        on_the_way = error.exit_status in (ExitStatus.NO_MASTER, ExitStatus.MASTER_FAILED, ExitStatus.NOT_CONFIRMED)
        if on_the_way and self._masters and not any(master.changes_left for master in self._masters):
            error.reword(f"{error.message}; no change was sent")

    def interrupted(self, stopped: KeyboardInterrupt) -> Interrupted:
        """The error for an interruption, with what is known of a change."""
        if self.options.dry_run:
            stopped.__notes__ = []  # what a dry run does, it does to nobody
        changed = any(master.changes_left for master in self._masters)
        return interrupted(
            stopped, "a change was made before that: check the cluster" if changed else "no change was sent"
        )

    def client_settings(self) -> ClientSettings:
        """How a master is spoken to, as the global options say.  Raises UsageError."""
        options = self.options
        if options.key is not None and options.cert is None:
            raise UsageError("--key needs --cert", field="--key", hint="give both")
        credentials = find_credentials(self.settings, self.said, self.environment, self.warn)
        if credentials is not None:
            self.environment.secrets.add(credentials.header().partition(" ")[2])
        return ClientSettings(
            credentials=credentials,
            tls=Tls(options.cacert, options.cert, options.key),
            timeout=checked_timeout(options.timeout),
            notice=self.note,
            alarm=self.warn,
            trace=self._trace if options.verbose else None,
            learn=self._learn,
            clock=self.environment.clock,
            sleep=self.environment.sleep,
            may_change=not options.dry_run,
        )

    def tell_conflicts(self, settings: Settings) -> None:
        """Say so if another master is asked than the context's."""
        told = find_conflicts(settings)
        if told is not None:
            (self.warn if told[0] == "warning" else self.note)(told[1])

    def note(self, sentence: str) -> None:
        """A sentence for the operator, on standard error; silent with --quiet."""
        if not self.options.quiet:
            self._tell(f"note: {printable(sentence)}")

    def warn(self, sentence: str) -> None:
        """A sentence that even --quiet does not silence."""
        self._tell(f"WARNING: {printable(sentence)}")

    def _tell(self, line: str) -> None:
        """At once; with JSON at the end, as an error takes the sentences into its one object."""
        self.environment.notes.append(line)
        if not self.environment.speaks_json and not self._holds_notes:
            self.end_progress()
            self.environment.tell_notes()

    @contextmanager
    def held_notes(self) -> Iterator[None]:
        """Keep sentences back while a screen is full, and tell them below it."""
        self._holds_notes = True
        try:
            yield
        finally:
            self._holds_notes = False
            self.environment.tell_notes()

    def _trace(self, exchange: "Trace") -> None:
        """Show an exchange with the master, now."""
        from mesosctl.cli import tracing

        self.end_progress()
        tracing.show(exchange, self.options.verbose, self.environment)

    def _learn(self, path: str, answer: Any) -> None:
        """Keep the names in an answer for the completions of shells."""
        from mesosctl.cli.completion.names import keep_names

        keep_names(path, answer, self.settings, self.environment.variables, self.environment.secrets)

    def emit(self, report: Report) -> None:
        """The answer, on standard output, in the form that was asked for.

        Raises NotConfirmed, saying what was done, if that cannot be written.
        """
        environment = self.environment
        try:
            self._display.write(report, self.form)
            # An empty table for a script is no bytes at all; the reader of its log wants to know why.
            if report.empty and not (report.rows or report.remark or environment.draws) and self.form in TABLES:
                self.note(report.empty)
        except OSError as error:
            if not report.done or not is_unwritable(error):
                raise
            raise NotConfirmed(
                f"{report.done}; this cannot be reported, because standard output cannot be written: {error.strerror}"
            ) from None

    def redraw(self, report: Report) -> None:
        """Write a report that takes the place of the one before it on a terminal, and stands below it elsewhere."""
        self._display.redraw(report, self.form)

    def check_watchable(self) -> None:
        """Raises UsageError for a form that is written once all is known, which a list that goes on never is."""
        if self.form in ONE_PIECE:
            raise UsageError(
                f"-o {self.form} is written once, but --watch does not end", field="--watch", hint="use -o jsonl"
            )

    def follow(self, report: Report) -> None:
        """Write one reading of a list that goes on: in place of the one before it, or below where it is another."""
        self._display.follow(report, self.form)

    def emit_line(self, line: str, meaning: Meaning) -> None:
        """Write a line of a list that grows, at once."""
        self._display.write_line(line, self.form, meaning)

    def emit_text(self, text: str) -> None:
        """A document in TOML, HTML or SVG, on standard output: in UTF-8, whatever the terminal speaks."""
        self.emit_pieces((self.environment.secrets.redact_data(text),))

    def kept(self, pieces: Iterable[str], what: str) -> Iterator[str]:
        """The pieces of a JSON document that is kept, without any secret; said so, as `what` is not as it was read."""
        struck_out = False
        for piece in pieces:
            plain = self.environment.secrets.redact_json(piece)
            struck_out = struck_out or plain != piece
            yield plain
        if struck_out:
            self.warn(f"{what} differs from what was read: it contained a secret of this command, which is hidden")

    def emit_pieces(self, pieces: Iterable[str]) -> None:
        """The same for a document that comes in pieces, and is never there whole."""
        self._display.write_pieces(pieces)

    def is_output(self, file: object, field: str) -> bool:
        """Whether what the option `field` has written goes to standard output, in the answer's place.

        Raises UsageError if a form of the answer was asked for beside it.
        """
        if str(file) != "-":
            return False
        if self.said.output is not None:
            raise UsageError(
                f"{field} - and -o both write to standard output", field=field, hint="leave one out, or name a file"
            )
        return True

    def show(self, report: Report) -> None:
        """Something to look at before a question, on standard error; silent with --quiet, and if programs read."""
        environment = self.environment
        if not self.options.quiet and (environment.may_prompt or not environment.speaks_json):
            self._display.write_aside(report)

    def progress(self, sentence: str, part: float | None = None) -> None:
        """Show how far a command has come, on a terminal; `part`, from 0 to 1, is shown as a bar."""
        self._display.progress(sentence, part)

    def end_progress(self) -> None:
        """Remove the line of `progress`, so that something else can be written."""
        self._display.pause()

    @contextmanager
    def waiting(self) -> Iterator[Callable[[str], None]]:
        """Give what shows the sentence that says what is waited for; the line is gone afterwards."""
        try:
            yield self.progress
        finally:
            self.end_progress()

    def confirm_destructive(self, question: str, loss: str = _SOME_LOSS, hint: str = "in a script, use --yes") -> None:
        """Ask a person; a script must have said --yes.  `loss` says what would be gone.  Raises UsageError."""
        if not self.options.yes and not self.environment.may_prompt:
            raise UsageError(
                f"not done: {loss}, so you must confirm it, but mesosctl cannot ask you without a terminal",
                field="--yes",
                hint=hint,
            )
        self.confirm(question if loss == _SOME_LOSS else f"{loss}. {question}")

    def confirm(self, question: str) -> None:
        """Ask a person; a script, or --yes, is taken at its word.  Raises UsageError for no."""
        if self.options.yes or not self.environment.may_prompt:
            return
        if not self._display.agrees(question):
            raise UsageError("nothing was done", hint="answer y, or use --yes")
