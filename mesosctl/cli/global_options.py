"""The global options, each declared once; every command takes them, before and after its words.

Each is also an environment variable and a key of contexts, with the same name (`cli.configuration.settings` derives
both from the declaration). Its effect is in the code that reads it, mostly `Session.client_settings`.  An option that
belongs to another, as a key belongs to its certificate, needs a row in `settings._BELONGS_TO`; one that contexts cannot
hold, a name in `NOT_IN_CONTEXTS`; one with a default, a row in `DEFAULTS`.
"""

from collections.abc import Mapping
from types import NoneType
from typing import Annotated, Literal, NamedTuple, get_args, get_origin

import typer

from mesosctl.cli.completion import callbacks as completing
from mesosctl.cli.meanings import Meaning
from mesosctl.mesos.errors import BadInput, UsageError
from mesosctl.show.output_formats import OutputForm

Api = Literal["auto", "v0", "v1"]
TokenScheme = Literal["bearer", "dcos"]
SecretSource = Literal["prompt", "keyring"]

DEFAULTS: dict[str, str | float] = {"output": "table", "timeout": 30.0, "api": "auto"}
"""The defaults."""
NOT_A_DASH = "cannot be -: name a file, or /dev/stdin for standard input"
LEAST_TIMEOUT = 0.001
_LONGEST_TIMEOUT = 100_000_000
"""Seconds; three years."""
ONLY_SAID = frozenset({"yes", "columns", "all_contexts"})
"""They belong to one question, one list or one command, so neither contexts nor variables hold them."""
NOT_IN_CONTEXTS = ONLY_SAID | {"context"}


def _timeout(text: str | float) -> float:
    """Seconds of --timeout.  Raises UsageError."""
    from mesosctl.mesos.amounts.notation import parse_seconds

    return parse_seconds(str(text), "--timeout", LEAST_TIMEOUT)


def checked_timeout(timeout: float | None, hint: str | None = None) -> float:
    """A timeout that every clock can represent; the default for None.  Raises UsageError, also for infinity and NaN."""
    timeout = float(DEFAULTS["timeout"]) if timeout is None else timeout
    if not 0 < timeout <= _LONGEST_TIMEOUT:
        sentence = f"--timeout is {timeout:g}: it must be from 0.001 to {_LONGEST_TIMEOUT}"
        raise UsageError(sentence, field="--timeout", hint=hint)
    return timeout


class GlobalOptions(NamedTuple):
    """The value of each option; None if it was not given."""

    master: Annotated[
        str | None,
        typer.Option(
            "--master",
            metavar="ADDRESS",
            autocompletion=completing.addresses,
            help="http://host:5050 (several separated by commas), zk://host1,host2/mesos, file:///path with one of "
            "these in it, or fake:. The default port is 80 for http://, 443 for https:// and 5050 for a bare host. "
            "[env: MESOSCTL_MASTER]",
        ),
    ] = None
    context: Annotated[
        str | None,
        typer.Option(
            "--context",
            metavar="NAME,...",
            autocompletion=completing.several_contexts,
            help="Use the settings of this context; see mesosctl context. With several names, run the command on each. "
            "[env: MESOSCTL_CONTEXT]",
        ),
    ] = None
    all_contexts: Annotated[
        bool | None,
        typer.Option(
            "--all-contexts", help="Run the command on every context that names a master.", show_default=False
        ),
    ] = None
    output: Annotated[
        OutputForm | None, typer.Option("--output", "-o", help="The output format. The default is table.")
    ] = None
    columns: Annotated[
        str | None,
        typer.Option(
            "--columns",
            metavar="NAME,...",
            help="Show only these columns of a table or of csv, in this order; those of -o wide too.",
        ),
    ] = None
    timeout: Annotated[
        float | None,
        typer.Option(
            "--timeout",
            metavar="SPAN",
            parser=_timeout,
            min=LEAST_TIMEOUT,
            help="The deadline for all attempts together, such as 30 (seconds), 500ms, 5s or 1h30m. The default is "
            "30s.",
        ),
        Meaning.SPAN,
    ] = None
    principal: Annotated[
        str | None,
        typer.Option("--principal", metavar="NAME", help="The principal to authenticate as. [env: MESOSCTL_PRINCIPAL]"),
    ] = None
    secret_file: Annotated[
        str | None,
        typer.Option(
            "--secret-file",
            metavar="FILE",
            help="A file with the principal's secret. [env: MESOSCTL_SECRET, the secret itself]",
        ),
        Meaning.FILE,
    ] = None
    token_file: Annotated[
        str | None,
        typer.Option(
            "--token-file",
            metavar="FILE",
            help="A file with a token, to use instead of a principal and secret. [env: MESOSCTL_TOKEN, the token "
            "itself]",
        ),
        Meaning.FILE,
    ] = None
    token_scheme: Annotated[
        TokenScheme | None,
        typer.Option(
            "--token-scheme",
            help="How to send the token: as 'Bearer TOKEN' (the default), or as 'token=TOKEN', which every version of "
            "DC/OS accepts. "
            "[env: MESOSCTL_TOKEN_SCHEME]",
        ),
    ] = None
    secret_from: Annotated[
        SecretSource | None,
        typer.Option(
            "--secret-from", help="Prompt for the secret on the terminal, or read it from the system's keyring."
        ),
    ] = None
    cacert: Annotated[
        str | None,
        typer.Option(
            "--cacert",
            metavar="FILE",
            help="Certificate authorities to trust instead of the system's. With zk://, this also selects https.",
        ),
        Meaning.FILE,
    ] = None
    cert: Annotated[
        str | None, typer.Option("--cert", metavar="FILE", help="The client certificate."), Meaning.FILE
    ] = None
    key: Annotated[
        str | None, typer.Option("--key", metavar="FILE", help="The key of the client certificate."), Meaning.FILE
    ] = None
    proxy: Annotated[
        str | None,
        typer.Option(
            "--proxy",
            metavar="URL",
            help="Reach masters through this proxy, such as http://host:3128. The default is that of HTTP_PROXY, "
            "HTTPS_PROXY, ALL_PROXY and NO_PROXY. A master on this machine needs none. [env: MESOSCTL_PROXY]",
        ),
    ] = None
    api: Annotated[
        Api | None,
        typer.Option("--api", help="The API to send changes to. The default is auto."),
    ] = None
    no_wait: Annotated[
        bool | None,
        typer.Option("--no-wait", help="Do not wait for an accepted change to be confirmed.", show_default=False),
    ] = None
    yes: Annotated[bool | None, typer.Option("--yes", "-y", help="Answer yes to every question.")] = None
    dry_run: Annotated[
        bool | None,
        typer.Option("--dry-run", help="Show what the change would do, but do not make it.", show_default=False),
    ] = None
    no_audit: Annotated[
        bool | None,
        typer.Option(
            "--no-audit", help="Do not add changes to the audit file; see mesosctl audit list.", show_default=False
        ),
    ] = None
    quiet: Annotated[bool | None, typer.Option("--quiet", "-q", help="Do not write notes, only data and errors.")] = (
        None
    )
    verbose: Annotated[
        int,
        typer.Option(
            "--verbose",
            "-v",
            count=True,
            help="Show each request. -vv also shows headers, bodies and the traceback of a bug.",
            show_default=False,
        ),
    ] = 0

    def over(self, weaker: "GlobalOptions") -> "GlobalOptions":
        """These options, and those of `weaker` that are not given here."""
        chosen = (theirs if mine is None else mine for mine, theirs in zip(self, weaker, strict=True))
        return GlobalOptions._make(chosen)._replace(verbose=self.verbose + weaker.verbose)


def names_several(options: GlobalOptions, variables: Mapping[str, str]) -> bool:
    """Whether the command is for several contexts."""
    return bool(options.all_contexts) or "," in (options.context or variables.get("MESOSCTL_CONTEXT", ""))


def naming_option(options: GlobalOptions) -> str:
    """The option, or the variable, that names the contexts."""
    return "--all-contexts" if options.all_contexts else "--context" if options.context else "MESOSCTL_CONTEXT"


class ChangeOptions(NamedTuple):
    """The options of every command that changes a cluster."""

    report: Annotated[
        str | None,
        typer.Option(
            "--report",
            metavar="FILE",
            help="With --dry-run, also write the forecast as an HTML page; - writes only the page, to standard output.",
        ),
        Meaning.FILE,
    ] = None


Value = str | float | int | bool


_SWITCHES = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}


class Setting(NamedTuple):
    """One setting, derived from its option."""

    name: str
    """The field of GlobalOptions, or the name of a secret."""
    option: str | None
    """The name of its option; None for a secret."""
    kind: type
    """str, float, int or bool."""
    choices: tuple[str, ...] = ()
    is_file: bool = False
    least: float | None = None
    is_span: bool = False
    """Whether it is a time, which may have a unit on the command line; a file holds the number of seconds."""

    @property
    def key(self) -> str:
        """Its name in a context."""
        return self.name.replace("_", "-")

    @property
    def variable(self) -> str:
        """Its name in the environment."""
        return f"MESOSCTL_{self.name.upper()}"

    @property
    def is_secret(self) -> bool:
        """Whether its value must not be shown."""
        return self.option is None

    @property
    def in_contexts(self) -> bool:
        """Whether a context may hold it."""
        return self.name not in NOT_IN_CONTEXTS

    def check(self, value: object) -> str:
        """Return the fault of a value in a context; empty for none."""
        wanted = (int, float) if self.kind is float else (self.kind,)
        if not isinstance(value, wanted) or (isinstance(value, bool) and self.kind is not bool):
            return f"must be {_KINDS[self.kind]}" + (" of seconds" if self.is_span else "")
        if self.choices and value not in self.choices:
            from mesosctl.mesos.roles import closest

            likely = closest(str(value), self.choices)
            return f"must be one of {', '.join(self.choices)}" + (f"; did you mean {likely}?" if likely else "")
        if self.least is not None and isinstance(value, int | float) and not self.least <= value < float("inf"):
            return f"must be at least {self.least:g}"
        if isinstance(value, str) and any(char < " " for char in value) and not self.is_secret:
            return "must be a single line of text"
        if self.is_file and value == "-":
            return NOT_A_DASH
        return "is empty" if value == "" else ""

    def parse(self, text: str, where: str) -> Value:
        """A value from an argument or a variable, which `where` names in errors.  Raises BadInput."""
        value: Value = text
        if self.kind is bool:
            value = _SWITCHES.get(text.lower(), text)
        elif self.is_span:
            from mesosctl.mesos.amounts.notation import parse_seconds

            try:
                return parse_seconds(text, where, self.least or 0.0)
            except UsageError as error:
                raise BadInput(error.message, field=where, hint=error.hint) from None
        elif self.kind in (int, float):
            try:
                value = self.kind(text)
            except ValueError:
                value = text
        wrong = self.check(value)
        if wrong:
            raise BadInput(f"{where} {wrong}", field=where)
        return value


_KINDS = {str: "a string", float: "a number", int: "a whole number", bool: "true or false"}


def known_settings() -> tuple[Setting, ...]:
    """Every setting in the order of the options; a secret comes before the key of its file."""
    found: list[Setting] = []
    for name, declared in GlobalOptions.__annotations__.items():
        annotation, info, *meanings = get_args(declared)
        kinds = [kind for kind in get_args(annotation) or (annotation,) if kind is not NoneType]
        choices = get_args(kinds[0]) if get_origin(kinds[0]) is Literal else ()
        if name.endswith("_file"):
            found.append(Setting(name.removesuffix("_file"), None, str))
        found.append(
            Setting(
                name,
                option=(info.default, *info.param_decls)[0] if isinstance(info.default, str) else info.param_decls[0],
                kind=str if choices else kinds[0],
                choices=choices,
                is_file=Meaning.FILE in meanings,
                least=info.min,
                is_span=Meaning.SPAN in meanings,
            )
        )
    return tuple(found)
