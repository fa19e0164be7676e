"""One run of one command: its options, its master, and its output."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from mesosctl.cli.configuration.credentials import (
    find_conflicts,
    find_credentials,
    learn_from_variables,
    refuse_two_clusters,
)
from mesosctl.cli.configuration.settings import Settings, resolve
from mesosctl.cli.display import Display
from mesosctl.cli.environment import Environment, OperatorNote, is_unwritable
from mesosctl.cli.global_options import DEFAULTS, GlobalOptions, checked_timeout
from mesosctl.cli.questions import Asks, how_asked
from mesosctl.client.address import parse_address, shows_secret
from mesosctl.client.proxies import Proxies, Proxy, proxies
from mesosctl.client.settings import ClientSettings, Tls
from mesosctl.mesos.errors import Interrupted, MesosctlError, NotConfirmed, UsageError, interrupted, printable
from mesosctl.mesos.exit_status import ExitStatus
from mesosctl.show.output_formats import HAVE_COLUMNS, ONE_PIECE, TABLES
from mesosctl.show.report import Meaning, Report, with_columns

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

    from mesosctl.changes.audit import AuditTrail
    from mesosctl.client.leading_master import LeadingMaster
    from mesosctl.client.response import Trace
    from mesosctl.client.settings import Credentials, Token
    from mesosctl.show.scrolling import ScrollingList

_SOME_LOSS = "this takes something away"
"""The loss of a question that does not say what would be lost."""
HOW_A_SCRIPT_AGREES = "in a script, use --yes"


class Question(NamedTuple):
    """A question that a command has before it goes on."""

    question: str
    asks: Asks
    loss: str | None = None
    """The loss in a sentence; None if it is only that something would be lost."""
    hint: str = HOW_A_SCRIPT_AGREES

    @property
    def text(self) -> str:
        """The loss and the question."""
        return self.question if self.loss is None else f"{self.loss}. {self.question}"


class Session:
    """The settings, master and streams of one command.  Data goes through `emit`, everything else through `note`.

    `said` has only the flags, `options` also the settings of variables, contexts and defaults. Raises BadInput for an
    invalid variable or configuration file, UsageError if the command line and the environment name two clusters.
    """

    def __init__(self, environment: Environment, said: GlobalOptions, *, obeys_context: bool = True) -> None:
        self.environment = environment
        self.said = said
        self.names_output = said.output is not None
        """Whether the output format is an option of this command, rather than a setting of every command."""
        environment.secrets.add_address(said.master)
        learn_from_variables(environment.variables, environment.secrets)
        self.settings = resolve(said, environment.variables, obeys_context=obeys_context)
        self.options = self.settings.options
        self._learn_secrets()
        environment.form = self.form
        self.verb = ""
        """The words of the command that runs: `quota set`."""
        self._display = Display(environment, quiet=bool(self.options.quiet))
        self._masters: list[LeadingMaster] = []
        self._credentials: tuple[Credentials | Token | None] | None = None
        self._holds_notes = False
        self._trail: AuditTrail | None = None
        self._answer: Report | None = None
        self._told_columns = False
        refuse_two_clusters(self.settings)

    def _learn_secrets(self) -> None:
        """Collect the secrets in flags, variables and the context, whether they are used or not."""
        secrets = self.environment.secrets
        secrets.add_address(self.options.master)
        for secret in self.settings.secrets.values():
            secrets.add(secret)
        if self.settings.conflicting is not None:
            secrets.add_address(self.settings.conflicting.master)

    @property
    def form(self) -> str:
        """The output format."""
        return self.options.output or str(DEFAULTS["output"])

    @property
    def waits(self) -> bool:
        """Whether an accepted change is read back."""
        return not self.options.no_wait

    def open_master(self) -> "LeadingMaster":
        """The master that was named; with --dry-run one that may only be read.

        Raises UsageError if none was named; nothing is connected yet.
        """
        # Imported late: it imports httpx, which help and usage errors do not need.
        from mesosctl.client.leading_master import LeadingMaster

        text = self.options.master or ""
        if not text.strip():
            file = self.environment.variables.get("MESOSCTL_CONFIG")
            is_missing = file and not os.path.exists(file)  # noqa: PTH110  # as in existing_configuration
            unread = f"; MESOSCTL_CONFIG names {file}, which does not exist" if is_missing else ""
            raise UsageError(
                "no master is named",
                field="--master",
                hint="give --master http://host:5050, set MESOSCTL_MASTER or create a context with "
                "mesosctl context set NAME --master ADDRESS; "
                f"fake: needs no cluster{unread}",
            )
        if shows_secret(self.said.master or ""):
            self.warn(
                "every user of this machine can see the secret in --master in the process list; set "
                "MESOSCTL_MASTER, or write the address to a file and give --master file:///path"
            )
        if "@" in (self.said.proxy or ""):
            self.warn(
                "every user of this machine can see the password in --proxy in the process list; set MESOSCTL_PROXY"
            )
        self.tell_conflicts(self.settings)
        address, settings = parse_address(text), self.client_settings()
        if address.zookeeper is not None and address.zookeeper.digest is not None:  # it may come from a file
            self.environment.secrets.add_pair(*address.zookeeper.digest.split(":", 1))
        if settings.tls and any(base.startswith("http:") for base in address.bases):
            self.warn("--cacert and --cert have no effect with http://, which is not encrypted: write https://")
        self._masters.append(LeadingMaster(address, settings, self.environment.transport))
        return self._masters[-1]

    def repeat_live(self, repeat: "Callable[[LeadingMaster, LeadingMaster], object]") -> None:
        """In a dry run, bring over what a snapshot does not have; `repeat` gets the live master and the dry run's."""

    def _changing(self, request: str) -> None:
        """Write a change to the audit file before it is sent; a warning says so if that is impossible."""
        if self.options.no_audit:
            return
        import shlex
        import time

        from mesosctl.changes.audit import AuditTrail, audit_file, system_user
        from mesosctl.changes.audited_commands import Author

        variables, secrets = self.environment.variables, self.environment.secrets
        try:
            if self._trail is None:
                author = Author(
                    user=system_user(variables),
                    principal=self.options.principal,
                    context=self.settings.context_of_master,
                    master=secrets.redact(self.options.master or ""),
                    command=secrets.redact(shlex.join(self.environment.words)),
                )
                self._trail = AuditTrail(audit_file(variables), author)
            self._trail.sends(secrets.redact(request), time.time())
        except MesosctlError as error:
            self.warn(f"this change is missing in the audit: {error.message}")

    def end_audit(self, status: int, failure: str | None) -> None:
        """Write the end of the command to the audit file, if it has sent a change."""
        if self._trail is None or not self._trail.has_begun:
            return
        import json
        import time

        from mesosctl.show.output_formats import document_line

        secrets = self.environment.secrets
        answer = json.loads(secrets.redact_json(document_line(self._answer))) if self._answer else None
        try:
            self._trail.ends(status, answer, None if failure is None else secrets.redact(failure), time.time())
        except MesosctlError as error:
            self.warn(f"the end of this change is missing in the audit: {error.message}")

    def identity(self, master: "LeadingMaster") -> str:
        """Return a text that identifies this master, whatever the spelling of its address, and contains no secret."""
        from mesosctl.changes.identity import identity

        return self.environment.secrets.redact(identity(master, self.options.master or ""))

    def tell_unsent(self, error: MesosctlError) -> None:
        """Add "no change was sent" to an error if no change can have reached a master."""
        on_the_way = error.exit_status in (ExitStatus.NO_MASTER, ExitStatus.MASTER_FAILED, ExitStatus.NOT_CONFIRMED)
        if on_the_way and self._masters and not any(master.changes_sent for master in self._masters):
            error.reword(f"{error.message}; no change was sent")

    def interrupted(self, stopped: KeyboardInterrupt) -> Interrupted:
        """The error for an interruption, with what is known about a change."""
        if self.options.dry_run:
            stopped.__notes__ = []  # a dry run changes nothing
        changed = any(master.changes_sent for master in self._masters)
        return interrupted(
            stopped, "a change was made before that: check the cluster" if changed else "no change was sent"
        )

    def credentials(self) -> "Credentials | Token | None":
        """The token, or the principal with its secret, which is read or typed only once.  Raises UsageError."""
        if self._credentials is None:
            self._credentials = (find_credentials(self.settings, self.said, self.environment, self.warn),)
        return self._credentials[0]

    def client_settings(self) -> ClientSettings:
        """The settings of the client, from the global options. Raises UsageError."""
        options = self.options
        if options.key is not None and options.cert is None:
            raise UsageError("--key needs --cert", field="--key", hint="give both")
        credentials = self.credentials()
        if credentials is not None:
            self.environment.secrets.add(credentials.header().partition(" ")[2])
        return ClientSettings(
            credentials=credentials,
            tls=Tls(options.cacert, options.cert, options.key),
            proxies=self._proxies(),
            timeout=checked_timeout(options.timeout, self.settings.reminder("timeout")),
            notice=self.note,
            alarm=self.warn,
            trace=self._trace if options.verbose else None,
            learn=self._learn,
            clock=self.environment.clock,
            sleep=self.environment.sleep,
            may_change=not options.dry_run,
            changing=self._changing,
        )

    def _proxies(self) -> Proxies:
        """The proxies to masters.  Raises UsageError."""
        url, origin = self.options.proxy, self.settings.origin("proxy")
        self.environment.secrets.add_address(url)
        place = f"the proxy of context {origin.name}" if origin.kind == "context" else origin.name
        return proxies(None if url is None else Proxy(url, place), self.environment.variables)

    def tell_conflicts(self, settings: Settings) -> None:
        """Warn if the master is not the context's."""
        conflict = find_conflicts(settings)
        if conflict is not None:
            self.tell(conflict)

    def note(self, sentence: str) -> None:
        """A sentence for the operator, on standard error; silent with --quiet."""
        self.tell(OperatorNote("note", sentence))

    def warn(self, sentence: str) -> None:
        """A sentence that even --quiet does not silence."""
        self.tell(OperatorNote("warning", sentence))

    def tell(self, note: OperatorNote) -> None:
        """Write it at once, or with JSON at the end, because an error includes the notes in its object."""
        if self.options.quiet and note.level == "note":
            return
        self.environment.notes.append(OperatorNote(note.level, printable(note.sentence)))
        if not self.environment.speaks_json and not self._holds_notes:
            self.end_progress()
            self.environment.tell_notes()

    @contextmanager
    def held_notes(self) -> Iterator[None]:
        """Hold sentences back during a full-screen view, and write them below it."""
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
        """Store the names in an answer for the completions of shells."""
        from mesosctl.cli.completion.names import keep_names

        keep_names(path, answer, self.settings, self.environment.variables, self.environment.secrets)

    def check_columns(self, *, lists: bool) -> None:
        """Raise UsageError for --columns with a command that changes something, or a format without columns."""
        if self.options.columns is None:
            return
        if not lists:
            raise UsageError(
                "--columns is for lists, but this command makes a change", field="--columns", hint="leave it out"
            )
        if self.form not in HAVE_COLUMNS:
            raise UsageError(
                f"-o {self.form} has no columns", field="--columns", hint="leave it out, or use a table or -o csv"
            )
        if not self._columns:
            raise UsageError("--columns names no column", field="--columns", hint="for example, --columns role")

    @property
    def _columns(self) -> list[str]:
        return [name.strip() for name in (self.options.columns or "").split(",") if name.strip()]

    def _chosen(self, report: Report) -> Report:
        """The report with the columns of --columns.  Raises UsageError."""
        return with_columns(report, self._columns) if self.options.columns is not None else report

    def _tell_unused_columns(self) -> None:
        """Say once that --columns has no effect on an answer that is not a table."""
        if self.options.columns is not None and not self._told_columns:
            self._told_columns = True
            self.note("--columns has no effect here: this answer is not a table")

    def emit(self, report: Report) -> None:
        """Write the answer to standard output, in the output format.

        Raises NotConfirmed, which says what was done, if it cannot be written.
        """
        environment = self.environment
        if self._trail is not None:
            self._answer = report
        report = self._chosen(report)
        try:
            self._display.write(report, self.form)
            # In a script an empty table is empty output; a note in its log says why.
            if report.empty and not (report.rows or report.remark or environment.draws) and self.form in TABLES:
                self.note(report.empty)
        except OSError as error:
            if not report.done or not is_unwritable(error):
                raise
            raise NotConfirmed(
                f"{report.done}; this cannot be reported, because standard output cannot be written to: "
                f"{error.strerror}"
            ) from None

    def redraw(self, report: Report) -> None:
        """Write a report in place of the previous one on a terminal, and below it elsewhere."""
        self._display.redraw(self._chosen(report), self.form)

    def check_watchable(self) -> None:
        """Raise UsageError for a format that is written at the end, because a list with --watch has none."""
        if self.form in ONE_PIECE:
            raise UsageError(
                f"-o {self.form} is written once, but --watch does not end", field="--watch", hint="use -o jsonl"
            )

    def scrolling(self) -> "AbstractContextManager[ScrollingList | None]":
        """Let `follow` show lists on the whole terminal, which keys scroll; None if there is none, or no keyboard."""
        import shlex

        title = shlex.join(("mesosctl", *self.environment.words))
        return self._display.scrolling(self.form, self.environment.secrets.redact(title))

    def follow(self, report: Report) -> None:
        """Write one reading of a list with --watch: in place of the previous one, or below it if it has changed."""
        self._display.follow(self._chosen(report), self.form)

    def emit_line(self, line: str, meaning: Meaning) -> None:
        """Write a line of a growing list at once."""
        self._tell_unused_columns()
        self._display.write_line(line, self.form, meaning)

    def emit_text(self, text: str) -> None:
        """Write a document in TOML, HTML or SVG to standard output, in UTF-8 whatever the encoding of the terminal."""
        self.emit_pieces((self.environment.secrets.redact_data(text),))

    def emit_page(self, page: str, file: str) -> None:
        """Write an HTML page without secrets to a file, which a note names, or to standard output for `-`."""
        from pathlib import Path

        from mesosctl.files.writing import write_atomically

        # A browser must be able to read it, whatever bytes a name contains.
        text = self.environment.secrets.redact(page.encode(errors="backslashreplace").decode())
        if file == "-":
            self.emit_text(text)
        else:
            write_atomically(Path(file), text, field="--report")
            self.note(f"written to {file}")

    def kept(self, pieces: Iterable[str], what: str) -> Iterator[str]:
        """The pieces of a JSON document without secrets; a warning says so if `what` had any."""
        struck_out = False
        for piece in pieces:
            plain = self.environment.secrets.redact_json(piece)
            struck_out = struck_out or plain != piece
            yield plain
        if struck_out:
            self.warn(f"{what} differs from what was read: it contained a secret of this command, which is hidden")

    def emit_pieces(self, pieces: Iterable[str]) -> None:
        """The same for a document that comes in pieces and is never complete in memory."""
        self._tell_unused_columns()
        self._display.write_pieces(pieces)

    def is_output(self, file: object, field: str) -> bool:
        """Whether the file of the option `field` is standard output, instead of the answer.

        Raises UsageError if an output format was given too.
        """
        if str(file) != "-":
            return False
        if self.said.output is not None:
            raise UsageError(
                f"{field} - and -o both write to standard output", field=field, hint="leave one out, or name a file"
            )
        return True

    def show(self, report: Report) -> None:
        """Show something before a question, on standard error; silent with --quiet and for programs."""
        environment = self.environment
        if not self.options.quiet and (environment.may_prompt or not environment.speaks_json):
            self._display.write_aside(report)

    def progress(self, sentence: str, part: float | None = None) -> None:
        """Show progress on a terminal; `part`, from 0 to 1, is shown as a bar."""
        self._display.progress(sentence, part)

    def end_progress(self) -> None:
        """Remove the line of `progress`, so that something else can be written."""
        self._display.pause()

    @contextmanager
    def waiting(self) -> Iterator[Callable[..., None]]:
        """Yield the function that shows what the command waits for; the line is removed afterwards."""
        try:
            yield self.progress
        finally:
            self.end_progress()

    def check_one_cluster(self, option: str) -> None:
        """Accept an option about something that only one cluster has; on several contexts it raises UsageError."""

    def read_for_context(self, name: str) -> str:
        """The name of a file that the command reads; with several contexts, each may have its own."""
        return name

    def file_of_context(self, file: "Path | None") -> "Path | None":
        """The file that the command writes; of several contexts, each has its own.  Raises UsageError."""
        return file

    def confirm(
        self, question: str, loss: str | None = None, hint: str = HOW_A_SCRIPT_AGREES, *, case: str = ""
    ) -> None:
        """Ask the user as the table `QUESTIONS` says for this command, in this case.

        `loss` says what would be lost, and `hint` how a script agrees.  Raises UsageError for no, and in a script that
        must use --yes.
        """
        self.agree(Question(question, how_asked(self.verb, case), loss, hint))

    def agree(self, question: Question) -> None:
        """Ask a question.  Raises UsageError for no."""
        if question.asks == "none" or self.options.yes:
            return
        if self.environment.may_prompt:
            if not self._display.agrees(question.text):
                raise UsageError("nothing was done")
        elif question.asks == "always":
            raise UsageError(
                f"not done: {question.loss or _SOME_LOSS}, so you must confirm it, but mesosctl cannot ask you without "
                "a terminal",
                field="--yes",
                hint=question.hint,
            )
