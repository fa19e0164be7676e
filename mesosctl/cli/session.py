"""One run of one command: its options, its master, and the three ways it speaks."""

from mesosctl.cli.environment import Environment
from mesosctl.cli.files import read_text
from mesosctl.cli.options import GlobalOptions
from mesosctl.cli.streams import is_unwritable
from mesosctl.client.address import parse_address
from mesosctl.client.master import Master
from mesosctl.client.settings import Credentials, Settings, Tls
from mesosctl.core.errors import BadInput, NotConfirmed, UsageError
from mesosctl.core.printable import printable
from mesosctl.render.report import Report, write


class Session:
    """What a verb is given.  Data goes through `emit`, everything else through `note`."""

    def __init__(self, environment: Environment, options: GlobalOptions) -> None:
        self.environment = environment
        self.options = options
        self._progressing = False

    @property
    def form(self) -> str:
        """How data is written."""
        return self.options.output or "table"

    @property
    def waits(self) -> bool:
        """Whether an accepted change is read back."""
        return not self.options.no_wait

    def open_master(self) -> Master:
        """The master that was named.  Raises UsageError without a name; nothing is connected yet."""
        text = self.options.master or self.environment.variables.get("MESOSCTL_MASTER", "")
        if not text.strip():
            raise UsageError(
                "which master? none was named",
                field="--master",
                hint="give --master http://host:5050 or set MESOSCTL_MASTER; fake: is a dry run without a cluster",
            )
        options = self.options
        if options.key is not None and options.cert is None:
            raise UsageError("--key belongs to --cert", field="--key", hint="give both")
        settings = Settings(
            credentials=self._credentials(),
            tls=Tls(options.cacert, options.cert, options.key),
            timeout=30.0 if options.timeout is None else options.timeout,
            notice=self.note,
            alarm=self.warn,
            trace=self._trace,
            clock=self.environment.clock,
            sleep=self.environment.sleep,
        )
        return Master(parse_address(text), settings, self.environment.transport)

    def _credentials(self) -> Credentials | None:
        principal = self.options.principal or self.environment.variables.get("MESOSCTL_PRINCIPAL")
        if not principal:
            if self.options.secret_file is not None:
                raise UsageError("--secret-file needs a principal", field="--principal", hint="give --principal NAME")
            return None
        if ":" in principal:
            raise UsageError("a principal cannot contain a colon", field="--principal")
        return Credentials(principal, self._secret(principal))

    def _secret(self, principal: str) -> str:
        if self.options.secret_file is not None:
            return _read_secret(self.options.secret_file)
        secret = self.environment.variables.get("MESOSCTL_SECRET")
        if secret is not None:
            return secret
        if self.environment.may_prompt:
            return self.environment.ask_secret(f"Secret of {principal}: ")
        raise UsageError(
            f"no secret for principal '{principal}'",
            field="--secret-file",
            hint="give --secret-file or set MESOSCTL_SECRET",
        )

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
        if self.form not in ("json", "jsonl"):
            self.environment.tell_notes()

    def _trace(self, line: str) -> None:
        if self.options.verbose:
            self.environment.stderr.write(f"mesosctl: {printable(line)}\n")

    def emit(self, report: Report) -> None:
        """The answer, on standard output, in the form that was asked for.

        Raises NotConfirmed, saying what was done, where that cannot be written.
        """
        stdout = self.environment.stdout
        try:
            write(report, self.form, stdout, draws=self.environment.draws, colours=self.environment.colours)
            stdout.flush()
        except OSError as error:
            if not report.done or not is_unwritable(error):
                raise
            raise NotConfirmed(
                f"{report.done}; it cannot be told, as standard output cannot be written: {error.strerror}"
            ) from None

    def show(self, report: Report) -> None:
        """Something to look at before a question, on standard error; silent with --quiet."""
        if not self.options.quiet:
            environment = self.environment
            write(report, "table", environment.stderr, draws=False, colours=False)

    def progress(self, sentence: str) -> None:
        """How far a waiting has come, in one line that the next one overwrites; only on a terminal."""
        if self.environment.stderr.isatty() and not self.options.quiet:
            self.environment.stderr.write(f"\r\x1b[Kmesosctl: {sentence}")
            self.environment.stderr.flush()
            self._progressing = True

    def end_progress(self) -> None:
        """Take the line of `progress` away again."""
        if self._progressing:
            self.environment.stderr.write("\r\x1b[K")
            self._progressing = False

    def confirm_destructive(self, question: str) -> None:
        """Ask a person; a script must have said --yes.  Raises UsageError."""
        if not self.options.yes and not self.environment.may_prompt:
            raise UsageError("this is asked for first, and there is nobody to ask", field="--yes", hint="give --yes")
        self.confirm(question)

    def confirm(self, question: str) -> None:
        """Ask a person; a script, or --yes, is taken at its word.  Raises UsageError for no."""
        if self.options.yes or not self.environment.may_prompt:
            return
        self.environment.stderr.write(f"{printable(question)} [y/N] ")
        self.environment.stderr.flush()
        if self.environment.stdin.readline().strip().lower() not in ("y", "yes"):
            raise UsageError("nothing was done", hint="answer y, or give --yes")


def _read_secret(path: str) -> str:
    secret = read_text(path, "--secret-file").removesuffix("\n").removesuffix("\r")
    if not secret:
        raise BadInput(f"{path} is empty, and should hold a secret", field="--secret-file")
    return secret
