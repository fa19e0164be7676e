"""The classes of the commands: what each of them takes and does in addition to its own parameters.

Every command and every group takes the global options too, so that you can write them before or after the command.
`cli.global_options` declares the options once, and typer parses them in every place.
"""

import inspect
import itertools
import re
import shlex
from collections.abc import Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any, cast

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from mesosctl.cli.global_options import ChangeOptions, GlobalOptions, known_settings, names_several, naming_option
from mesosctl.model.errors import MesosctlError, NotFound, UsageError, linked
from mesosctl.model.exit_status import ExitStatus
from mesosctl.model.suggestion import on_cluster, options_text

if TYPE_CHECKING:
    from mesosctl.cli.environment import Environment
    from mesosctl.cli.session import Session

GLOBAL_NAMES = frozenset(GlobalOptions._fields)
SHARED_NAMES = GLOBAL_NAMES | {"help"}
"""The options that the help of a single command leaves out."""
_SAID = "mesosctl.said"
"""The key of `Context.meta` for the global options that were given so far."""


def said(ctx: typer.Context) -> GlobalOptions:
    """The global options that were given so far, before and after the command."""
    options: GlobalOptions = ctx.meta.get(_SAID, GlobalOptions())
    return options


def said_among(arguments: Sequence[str]) -> GlobalOptions:
    """The global options among words that are not a valid command, as far as they make sense."""
    ctx = _global_command().make_context(
        "mesosctl", list(arguments), resilient_parsing=True, ignore_unknown_options=True, allow_extra_args=True
    )
    return said(cast("typer.Context", ctx))


def examples(*pairs: tuple[str, str]) -> str:
    """The examples of a command: words that can be typed, and what they do.

    They are kept as its epilog, which `_Help` writes above the options.
    """
    return "\n".join(f"mesosctl {words}\n    {meaning}" for words, meaning in pairs)


def _keep(ctx: typer.Context, param: TyperOption, value: Any) -> Any:
    """Remember a global option that was given: the later one counts, and -v adds up."""
    if value is not None and param.name is not None:
        ctx.meta[_SAID] = GlobalOptions(**{param.name: value}).over(said(ctx))
    return value


@cache
def _command_of(options: type) -> TyperCommand:
    """A command whose parameters are the fields of a named tuple of options."""
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command()(options)
    return cast("TyperCommand", typer.main.get_command(app))


@cache
def _global_command() -> TyperCommand:
    """A command that takes the global options, which all commands share, and remembers those that are given."""
    command = _command_of(GlobalOptions)
    for option in command.params:
        option.callback, option.expose_value = cast("Any", _keep), False
    return command


class _Help:
    """The help of a command or group: its own arguments and options, and one line for the global ones."""

    global_options = "Global options: see mesosctl options"

    def get_help_option(self, ctx: Any) -> Any:
        """--help, which uses a pager on a terminal."""
        option = cast("Any", super()).get_help_option(ctx)
        if option is not None:
            option.callback = _show_help
        return option

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write usage, what it does, and examples; below them the rest of the text, arguments and options."""
        command = cast("Any", self)
        command.format_usage(ctx, formatter)
        first, _, rest = inspect.cleandoc(command.help or "").partition("\n\n")
        _write_text(formatter, first)
        if command.epilog:
            with formatter.section("Examples"):
                formatter.write("".join(f"  {line}\n" for line in command.epilog.splitlines()))
        _write_text(formatter, rest)
        command.format_options(ctx, formatter)
        if hasattr(command, "format_commands"):
            command.format_commands(ctx, formatter)
        formatter.write(f"\n{self.global_options}\n")

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments and the options that are not global."""
        own: dict[str, list[tuple[str, str]]] = {"argument": [], "option": []}
        for parameter in cast("Any", self).get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None and parameter.name not in SHARED_NAMES:
                own[parameter.param_type_name].append(record)
        for kind, records in own.items():
            if records:
                with formatter.section(f"{kind.capitalize()}s"):
                    formatter.write_dl(records)


def _show_help(ctx: Any, param: Any, value: bool) -> None:
    """Show the help and end."""
    del param
    if value and not ctx.resilient_parsing:
        from mesosctl.cli.pager import show

        show(f"{ctx.get_help()}\n", _environment_of(ctx))
        raise typer.Exit


def _environment_of(ctx: Any) -> "Environment":
    """The environment of a command that is not invoked yet, or runs."""
    return cast("Environment", getattr(ctx.obj, "environment", ctx.obj))


def _write_text(formatter: Any, text: str) -> None:
    if text:
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(text)


def _usage(argument: Any) -> str:
    """An argument as usage shows it; typer's own way differs from version to version."""
    name = metavar(argument)
    return name if argument.required or name.startswith("[") else f"[{name}]"


def metavar(argument: Any) -> str:
    """The name of an argument, with its dots: `ROLE...`."""
    return argument.metavar or cast("str", argument.name).upper()


def choices_of(parameter: Any) -> tuple[str, ...]:
    """The words that a parameter may be; empty if it may be any.

    typer keeps them in `type` up to 0.28, and in `type_descriptor` from 0.29 on.
    """
    kind = getattr(parameter, "type_descriptor", None) or getattr(parameter, "type", None)
    return tuple(map(str, getattr(kind, "choices", None) or ()))


def format_global_options(ctx: Any, formatter: Any) -> None:
    """Write the options that every command takes."""
    records = [parameter.get_help_record(ctx) for parameter in _global_command().params]
    formatter.write_dl([*records, ("-h, --help", "Show the help of a command.")])


class Command(_Help, TyperCommand):
    """A command with a `Session` in `ctx.obj`, which takes the global options too."""

    obeys_context = True
    """Whether the settings of a context apply to it."""
    works_on_several = True
    """Whether it can be run on several contexts."""
    changes = False
    """Whether it changes a cluster."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Its own options, and the global ones."""
        return [*super().get_params(ctx), *_global_command().params]

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Like in man pages: optional parts are in brackets, and nothing is in braces."""
        arguments = [one for one in self.get_params(ctx) if one.param_type_name == "argument"]
        return ["[OPTIONS]", *(_usage(one) for one in arguments)]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words.  Raises UsageError for an option with one value that is given twice."""
        if not ctx.resilient_parsing:
            _refuse_repeated(self.make_parser(ctx).parse_args(args=list(args))[2], ctx)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run its function in a session, or in one for each context.  Raises MesosctlError."""
        from mesosctl.cli.session import Session

        options = said(ctx)
        named = ctx.obj.variables if self.obeys_context else {}
        if names_several(options, named):
            if not self.works_on_several:
                sentence = f"{ctx.command_path} does not work on several contexts"
                raise UsageError(sentence, field=naming_option(options), hint="name one context")
            from mesosctl.cli.several_contexts import run_on_several

            return run_on_several(partial(self.run_session, ctx), ctx, options, changes=self.changes)
        return self.run_session(ctx, Session(ctx.obj, options, obeys_context=self.obeys_context))

    def run_session(self, ctx: Any, session: "Session") -> Any:
        """Run its function in this session, to the end.  Raises MesosctlError."""
        status, failure = ExitStatus.MASTER_FAILED.value, "this is a bug"  # if it ends in no other way
        try:
            with on_cluster(context=session.said.context, master=session.said.master):
                for sentence in _unlikely_sizes(_words_of_amounts(ctx)):
                    session.note(sentence)
                returned = self.run(ctx, session)
            status, failure = int(returned or 0), ""
        except MesosctlError as error:
            status, failure = int(error.exit_status), error.message
            self._name_override(error, ctx)
            _name_address(error, session)
            _name_origin(error, ctx, session)
            raise
        except BrokenPipeError:
            status, failure = int(ExitStatus.BROKEN_PIPE), ""
            return status  # typer would treat it as its own failure
        except (KeyboardInterrupt, Exception) as error:
            stopped = session.environment.interruption_behind(error)
            if stopped is None:
                raise
            ended = session.interrupted(stopped)
            status, failure = int(ended.exit_status), ended.message
            raise ended from None  # typer would lose its message
        finally:
            session.end_progress()
            session.end_audit(status, failure or None)
        return returned

    def run(self, ctx: typer.Context, session: "Session") -> Any:
        """Run its function in this session."""
        ctx.obj = session
        session.check_columns(lists=not self.changes)
        return super().invoke(ctx)

    def _name_override(self, error: MesosctlError, ctx: typer.Context) -> None:
        """Add the option that skips the check to the hint, if this command has it."""
        if error.override and any(error.override in parameter.opts for parameter in self.get_params(ctx)):
            error.hint = linked(error.hint, f"{error.override} skips this check")


def _refuse_repeated(given: Sequence[Any], ctx: Any) -> None:
    """Refuse an option of the command that is given twice: the second value would replace the first.

    Of a global option, which an alias may already have, the last value counts.  Raises UsageError.
    """
    for number, one in enumerate(given):
        takes_one = one.param_type_name == "option" and not (one.is_flag or one.multiple or one.count)
        if takes_one and one.name not in SHARED_NAMES and one in given[:number]:
            name = max(one.opts, key=len)
            raise UsageError(
                f"{name} is given twice, and takes one value", field=name, hint=f"see {ctx.command_path} --help"
            )


_PLAIN_SIZE = re.compile(r"(?<![\w-])(mem|disk)(?:\([^()]*\))?:(\d{1,9}(?:\.\d{1,9})?)(?![^;,\s])")
_LEAST_LIKELY = 32
"""MiB.  Mesos offers no less memory, unless an offer has cpus instead (Mesos documentation, "Configuration")."""
_LEAST_IN_GIB = 1
"""GiB; few people mean less than that, and write it without a unit."""
_OF_AMOUNTS = frozenset(
    {"RESOURCES", "RESOURCES...", "[AGENT] RESOURCES...", "[SIZE]", "[CHANGES...]", "CHANGE", "CONDITION...", "TASK"}
)
"""The names of arguments and of values of options that are amounts or have some in them."""
_WITH_TASKS = "--add-framework"
"""The option whose value has amounts too, although it is a framework by its name."""


def _words_of_amounts(ctx: typer.Context) -> list[str]:
    """The words of a command line that are amounts or have some in them: not those of roles, agents and offers."""
    words: list[str] = []
    for one in ctx.command.params:
        value = ctx.params.get(one.name or "")
        if value and (one.metavar in _OF_AMOUNTS or _WITH_TASKS in one.opts):
            words += [value] if isinstance(value, str) else value
    return words


def _unlikely_sizes(words: Sequence[str]) -> list[str]:
    """Return a sentence for each size without a unit among the words that is probably meant in GiB."""
    sizes = dict.fromkeys(found.groups() for word in words for found in _PLAIN_SIZE.finditer(word))
    return [
        f"{name}:{number} means {number} MiB; for {number} GiB, write {name}:{number}GiB"
        for name, number in sizes
        if _LEAST_IN_GIB <= float(number) < _LEAST_LIKELY
    ]


def _name_address(error: MesosctlError, session: "Session") -> None:
    """Name the fake master by its address, and the place that the address of the master comes from."""
    from mesosctl.client.address import FAKE_BASE

    address, origin = session.options.master or "", session.settings.origin("master")
    if address.startswith("fake:") and FAKE_BASE in error.message:
        error.reword(re.sub(rf"{re.escape(FAKE_BASE)}[^\s:;,]*", lambda _: address, error.message))
    if origin.kind not in ("context", "environment"):
        return
    if error.hint and "check --master" in error.hint:
        error.hint = error.hint.replace("check --master", f"check the address in {_PLACES[origin.kind]}{origin.name}")
    elif error.field == "--master":
        hint = f"{error.hint}; " if error.hint else ""
        error.hint = f"{hint}the address comes from {_PLACES[origin.kind]}{origin.name}"


def _name_origin(error: MesosctlError, ctx: typer.Context, session: "Session") -> None:
    """Keep an option as the place of an error only if it was given; a setting has the place that it comes from."""
    option = (error.field or "").partition(" ")[0]
    if not option.startswith("--"):
        return
    setting = next((one for one in known_settings() if one.option == option), None)
    if setting is not None:
        origin = session.settings.origin(setting.name)
        if origin.kind != "flag":
            error.field = None if origin.kind == "default" else f"{_PLACES[origin.kind]}{origin.name}"
        return
    names = [one.name for one in ctx.command.params if option in one.opts and one.name is not None]
    if not any(getattr(ctx.get_parameter_source(name), "name", "") == "COMMANDLINE" for name in names):
        error.field = None


_PLACES = {"context": "context ", "environment": ""}


class ChangeCommand(Command):
    """A command that changes a cluster: with --dry-run it runs on a snapshot of it."""

    changes = True
    global_options = "Global options: see mesosctl options (--dry-run and --yes are two of them)"

    def get_params(self, ctx: Any) -> list[Any]:
        """Its own options with --report, and the global ones."""
        return [*super().get_params(ctx), *_command_of(ChangeOptions).params]

    def run(self, ctx: typer.Context, session: "Session") -> Any:
        """Run its function on the cluster, or on a snapshot, and write the page of `--report`."""
        report = ctx.params.pop("report")
        act = partial(super().run, ctx)
        session.check_columns(lists=False)
        try:
            if session.options.dry_run:
                from mesosctl.cli.dry_run import start_dry_run

                return start_dry_run(session, ctx.command_path.partition(" ")[2], act, report)
            if report is not None:
                raise UsageError("--report needs --dry-run", field="--report", hint="give both")
            return act(session)
        except MesosctlError as error:
            session.tell_unsent(error)
            raise


class SingleCommand(Command):
    """A command that cannot be run on several contexts: a view, a recorder, a document, or one that works on files."""

    works_on_several = False


class SingleChangeCommand(ChangeCommand):
    """A change that cannot be made on several contexts."""

    works_on_several = False


class ContextCommand(SingleCommand):
    """A command that edits or shows contexts, and so ignores them."""

    obeys_context = False


def usage_error(error: Any, words: Sequence[str], program: Any) -> UsageError:
    """A mistake that typer found, in one line without the names of its types; `words` are the whole command line."""
    from mesosctl.model.roles import closest

    ctx = getattr(error, "ctx", None)
    path = ctx.command_path if ctx is not None else _path_of(words, program)
    message, see = error.format_message(), f"see {path} --help"
    likely, cause = None, ""
    if hasattr(error, "possibilities"):  # an option that does not exist
        message = error.message
        if ctx is not None:
            cause = _misplaced(error.option_name, ctx, words) or _by_attribute(error.option_name, ctx, words)
            likely = None if cause else _similar_option(error.option_name, ctx)
    elif " is not one of " in message:
        typed = message.partition(" is not one of ")[0].rpartition(": ")[2].strip("'")
        likely = closest(typed, choices_of(error.param))
    line = re.sub(r"\s*\n\s*", " ", message)
    for theirs, ours in _PLAIN_WORDS.items():
        line = re.sub(theirs, ours, line)
    line = re.sub(r"argument\(s\)(?= \((.*)\))", lambda found: f"argument{'s' * (' ' in found[1])}", line)
    if likely:
        line = f"{line.rstrip('.')}. Did you mean '{likely}'?"
    cause = cause or _unexpected(message, ctx)
    return UsageError(line, hint=f"{cause}; {see}" if cause else see)


def _path_of(words: Sequence[str], program: Any) -> str:
    """The command that these words begin with: typer does not name it where the value of an option is missing."""
    path, command = ["mesosctl"], program
    ctx: Any = None  # groups find their commands without one
    for word in words:
        below = command.get_command(ctx, word) if isinstance(command, Group) else None
        if below is not None:
            command = below
            path.append(word)
    return " ".join(path)


def _by_attribute(option: str, ctx: Any, words: Sequence[str]) -> str:
    """How to lose the agents with an attribute, for an option such as `--lose-rack r1`; empty for others."""
    attribute = option.removeprefix("--lose-")
    if attribute == option or "--lose-agent" not in _options_of(ctx.command, ctx):
        return ""
    value = next((after for before, after in itertools.pairwise(words) if before == option), "VALUE")
    return f"name the agents by their attribute: {options_text(lose_agent=f'{attribute}={value}')}"


_EXTRA = re.compile(r"Got unexpected extra argument(?:\(s\)|s)? \((.*)\)")


def _unexpected(message: str, ctx: Any) -> str:
    """How to write what an unexpected word may mean: the noun's own list, or a file; empty for others."""
    found = _EXTRA.match(message)
    if found is None or ctx is None:
        return ""
    first = next(iter(found[1].split()), "")
    if first in _THAT_READ:
        return f"{ctx.command_path} alone is enough"
    return "-f FILE names the file" if "--file" in _options_of(ctx.command, ctx) else ""


_PLAIN_WORDS = {
    r"is not a valid float( range)?": "is not a number",
    r"is not a valid int(eger)?( range)?": "is not a whole number",
    r"Input should be a valid integer.*": "the value is not a whole number",
    r"Input should be a valid number.*": "the value is not a number",
    r"Input should be (less|greater) than": r"the value must be \1 than",
}
"""Patterns of the words that typer has for types up to 0.28, and pydantic, which it asks, from 0.29 on; and ours."""
_SIMILAR = 0.65
"""The least similarity of an option to one that does not exist, without their dashes."""


def _options_of(command: Any, ctx: Any) -> set[str]:
    return {name for one in command.get_params(ctx) if one.param_type_name == "option" for name in one.opts}


def _similar_option(option: str, ctx: Any) -> str | None:
    from mesosctl.model.roles import closest

    by_name = {name.lstrip("-"): name for name in _options_of(ctx.command, ctx)}
    likely = closest(option.lstrip("-"), by_name, _SIMILAR)
    return by_name[likely] if likely else None


def _misplaced(option: str, ctx: Any, words: Sequence[str]) -> str:
    """How to write an option that is an argument of this command, or an option of one below it; empty for others."""
    for one in ctx.command.get_params(ctx):
        noun = metavar(one).strip("[].") if one.param_type_name == "argument" else ""
        if noun.casefold() == option.lstrip("-").casefold():
            pieces = [piece for piece in ctx.command.collect_usage_pieces(ctx) if piece != "[OPTIONS]"]
            return f"{noun} is an argument: {ctx.command_path} {' '.join(pieces)}"
    command, path = ctx.command, ctx.command_path.split()[1:]
    at = next((index for index, word in enumerate(words) if word.partition("=")[0] == option), len(words))
    for word in words[at + 1 :]:
        below = command.get_command(ctx, word) if isinstance(command, Group) else None
        if below is not None:
            command, path = below, [*path, word]
    is_below = command is not ctx.command and option in _options_of(command, ctx)
    return f"write {option} after '{' '.join(path)}'" if is_below else ""


_OTHER_TOOLS_WORDS = {
    "ls": ("list",),
    "get": ("list", "show"),
    "describe": ("show",),
    "add": ("set", "create"),
    "create": ("set", "create"),
    "update": ("set",),
    "change": ("update", "set"),
    "edit": ("update", "set"),
    "delete": ("remove", "unset", "destroy", "teardown"),
    "remove": ("unset", "destroy", "teardown"),
    "unset": ("remove",),
    "destroy": ("remove", "unset", "teardown"),
    "rm": ("remove", "unset", "destroy", "teardown"),
    "kill": ("teardown",),
    "stop": ("teardown",),
    "version": ("--version",),
    "help": ("--help",),
    "status": ("top",),
    "info": ("top",),
}
"""The words of other tools, and of other nouns, that people may type, and the words of the noun for them."""
_THAT_READ = ("list", "show", "ls", "get", "describe", "status", "info", "help")
"""Words for what a command without a verb does."""
REMOVE = ("delete", "remove", "unset", "destroy", "rm", "reset", "clear")
"""Words for the end of something that was set."""


class Group(_Help, TyperGroup):
    """A group of commands which takes the global options too; without a command it shows its help."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Its own options, and the global ones."""
        return [*super().get_params(ctx), *_global_command().params]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands with the first lines of their help, which are never cut."""
        found = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, (one.help or "").partition("\n")[0]) for name, one in found if one and not one.hidden]
            )

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Resolve as usual; if a verb stands before its noun, suggest the other order."""
        try:
            return super().resolve_command(ctx, args)
        except typer.TyperException as error:
            if args[0] in _OTHER_TOOLS_WORDS:
                error.message = f"No such command '{args[0]}'.{self._in_our_words(ctx, *args)}"
                raise
            for word in args[1:]:
                noun = self.get_command(ctx, word)
                if isinstance(noun, Group) and noun.get_command(ctx, args[0]) is not None:
                    error.message = f"No such command '{args[0]}'. Did you mean '{word} {args[0]}'?"
                    break
            raise

    def _in_our_words(self, ctx: Any, typed: str, *rest: str) -> str:
        """The question after "No such command" for a word of other tools; empty if there is nothing like it."""
        ours = _OTHER_TOOLS_WORDS[typed]
        if typed == "help" and rest and self.get_command(ctx, rest[0]) is not None:
            return f" Did you mean '{rest[0]} --help'?"
        likely = [word for word in ours if word.startswith("-") or self.get_command(ctx, word) is not None]
        for word in () if likely else rest:
            noun = self.get_command(ctx, word)
            if isinstance(noun, Group):
                likely = [f"{word} {verb}" for verb in ours if noun.get_command(ctx, verb) is not None]
            elif noun is not None and "list" in ours:
                likely = [word]
            if likely:
                break
        return f" Did you mean {', '.join(map(repr, likely))}?" if likely else ""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words; if there are none, the help goes to standard error, like a mistake."""
        if not args and not ctx.resilient_parsing and not self.invoke_without_command:
            typer.echo(ctx.get_help(), err=True)
            raise typer.Exit(ExitStatus.USAGE)
        return super().parse_args(ctx, args)


class ListGroup(Group):
    """The verbs of a noun, of which `list` is meant if the first word is not a verb: a name, an option, or no word."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words, with `list` in front of them if no verb is there."""
        word = _first_word(args)
        is_help = word is None and any(one in ctx.help_option_names for one in args)
        if not is_help and self.get_command(ctx, word or "") is None and (args or not ctx.resilient_parsing):
            ctx.meta[_LISTED] = word
            args = ["list", *args]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the verb; if `list` finds no entry of the first word, the hint names the verb that may be meant."""
        try:
            return super().invoke(ctx)
        except NotFound as error:
            word = ctx.meta.get(_LISTED)
            hint = self._hint_of(ctx, word) if word else None
            if hint is not None:
                error.hint = hint
            raise

    def instead(self, word: str, following: Sequence[str]) -> str | None:
        """A hint: what to do instead of a verb that the noun lacks for a reason; None if there is no reason."""
        del word, following
        return None

    def _hint_of(self, ctx: Any, word: str) -> str | None:
        """The verb that a word may stand for, or the verbs that there are; None if it is more likely a name."""
        verbs = self.list_commands(ctx)
        is_verb = word in (*_OTHER_TOOLS_WORDS, *REMOVE) or word in _verbs_of_all(ctx)
        likely = next((verb for verb in _OTHER_TOOLS_WORDS.get(word, ()) if verb in verbs), None)
        if likely is None and not is_verb:
            from mesosctl.model.roles import closest

            likely = closest(word, verbs)
        if likely is not None:
            meant = _with_verb(ctx, word, likely)
            return f"did you mean the verb '{likely}'? {meant or f'see {ctx.command_path} --help'}"
        if not is_verb or word in _THAT_READ:
            return None
        instead = self.instead(word, _names_after(ctx, word))
        return instead or f"{ctx.command_path} has no verb '{word}'; its verbs: {', '.join(verbs)}"

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """The verbs, and what `list` may be followed by."""
        found = super().shell_complete(ctx, incomplete)
        command = cast("Any", self.get_command(ctx, "list"))
        with command.make_context("list", [], parent=ctx, resilient_parsing=True) as below:
            first = next((one for one in command.get_params(below) if one.param_type_name == "argument"), None)
            words = command if incomplete.startswith("-") or first is None else first
            known = {one.value for one in found}
            return [*found, *(one for one in words.shell_complete(below, incomplete) if one.value not in known)]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The verbs, and what no verb means."""
        super().format_commands(ctx, formatter)
        formatter.write(f"\nWithout a verb, {ctx.command_path} is {ctx.command_path} list.\n")


def _with_verb(ctx: Any, word: str, verb: str) -> str:
    """The command that was typed, with this verb instead of the word; empty if nothing follows the word."""
    environment = _environment_of(ctx)
    before, after = _around(ctx, word)
    return environment.secrets.redact(shlex.join(["mesosctl", *before, verb, *after])) if after else ""


def _around(ctx: Any, word: str) -> tuple[list[str], list[str]]:
    """The words that were typed before and after a word of a noun."""
    words = list(_environment_of(ctx).words)
    at = words.index(word, words.index(ctx.info_name)) if ctx.info_name in words else len(words)
    return words[:at], words[at + 1 :]


def _names_after(ctx: Any, word: str) -> list[str]:
    """The names that follow a word of a noun, up to the first option."""
    return list(itertools.takewhile(lambda one: not one.startswith("-"), _around(ctx, word)[1]))


def _verbs_of_all(ctx: Any) -> set[str]:
    """The verbs of every noun."""
    root = ctx.find_root().command
    nouns = [root.get_command(ctx, name) for name in root.list_commands(ctx)]
    return {verb for noun in nouns if isinstance(noun, Group) for verb in noun.list_commands(ctx)}


_LISTED = "mesosctl.listed"
"""The key of `Context.meta` for the first word of a command that has no verb."""


def _first_word(args: Sequence[str]) -> str | None:
    """The first word that is neither a global option nor its value; None if another option comes before it, or none."""
    takes_value = {
        name: not (one.is_flag or one.count)
        for one in cast("Any", _global_command().params)
        for name in (*one.opts, *one.secondary_opts)
    }
    words = iter(args)
    for word in words:
        if not word.startswith("-") or word == "-":
            return word
        name = word.partition("=")[0] if word.startswith("--") else word[:2]
        if name not in takes_value:
            return None
        if takes_value[name] and name == word:
            next(words, None)
    return None
