"""The classes of the commands: what each of them takes and does in addition to its own parameters.

Every command and every group takes the global options too, so that you can write them before or after the command.
`cli.global_options` declares the options once, and typer parses them in every place.
"""

import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, partial
from typing import TYPE_CHECKING, Any, cast

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from mesosctl.cli.global_options import ChangeOptions, GlobalOptions, known_settings, names_several, naming_option
from mesosctl.cli.meanings import Meaning, parameters_of
from mesosctl.hints import OF_ADDRESS, hint_of, in_our_words
from mesosctl.mesos.errors import MesosctlError, NotFound, UsageError, linked
from mesosctl.mesos.exit_status import ExitStatus
from mesosctl.suggestion import on_cluster, options_text

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
                is_argument = parameter.param_type_name == "argument"
                name = metavar(parameter) if is_argument else record[0]  # typer adds the type in Python
                own[parameter.param_type_name].append((name, record[1]))
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
        arguments = [parameter for parameter in self.get_params(ctx) if parameter.param_type_name == "argument"]
        return ["[OPTIONS]", *(_usage(argument) for argument in arguments)]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words.

        Raises UsageError for an option with one value that is given twice, RuleViolation for a number with a sign that
        would be lost.
        """
        if ctx.resilient_parsing:
            return super().parse_args(ctx, args)
        words, _, given = self.make_parser(ctx).parse_args(args=list(args))
        _refuse_repeated(given, ctx)
        rest = super().parse_args(ctx, args)
        _refuse_lost_signs(given, words, ctx.params)
        return rest

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
        session.verb = ctx.command_path.partition(" ")[2]
        try:
            with on_cluster(context=session.said.context, master=session.said.master):
                for sentence in _unlikely_sizes(_words_of_amounts(ctx)):
                    session.note(sentence)
                with in_our_words(), _address_named(session):
                    returned = self.run(ctx, session)
            status, failure = int(returned or 0), ""
        except MesosctlError as error:
            status, failure = int(error.exit_status), error.message
            self._name_override(error, ctx)
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
        if error.override is None:
            return
        option = options_text(**{error.override: True})
        if any(option in parameter.opts for parameter in self.get_params(ctx)):
            error.hint = linked(error.hint, f"{option} skips this check")


def _refuse_repeated(given: Sequence[Any], ctx: Any) -> None:
    """Refuse an option of the command that is given twice: the second value would replace the first.

    Of a global option, which an alias may already have, the last value counts.  Raises UsageError.
    """
    for number, parameter in enumerate(given):
        takes_one = parameter.param_type_name == "option" and not (
            parameter.is_flag or parameter.multiple or parameter.count
        )
        if takes_one and parameter.name not in SHARED_NAMES and parameter in given[:number]:
            name = max(parameter.opts, key=len)
            raise UsageError(
                f"{name} is given twice, and takes one value", field=name, hint=f"see {ctx.command_path} --help"
            )


def _refuse_lost_signs(given: Sequence[Any], words: Mapping[str, Any], values: Mapping[str, Any]) -> None:
    """Refuse a number such as +2 or -0, whose sign Python drops.  Raises RuleViolation."""
    for parameter in given:
        word, value = words.get(parameter.name), values.get(parameter.name)
        if isinstance(word, str) and isinstance(value, int | float) and _LOST_SIGN.match(word):
            from mesosctl.mesos.amounts.quantities import refuse_sign

            refuse_sign(max(parameter.opts, key=len), word)


_LOST_SIGN = re.compile(r"\s*(\+|-[0.]*$)")
_PLAIN_SIZE = re.compile(r"(?<![\w-])(mem|disk)(?:\([^()]*\))?:(\d{1,9}(?:\.\d{1,9})?)(?![^;,\s])")
_LEAST_LIKELY = 32
"""MiB.  Mesos offers no less memory, unless an offer has cpus instead (Mesos documentation, "Configuration")."""
_LEAST_IN_GIB = 1
"""GiB; few people mean less than that, and write it without a unit."""


def _words_of_amounts(ctx: typer.Context) -> list[str]:
    """The words of a command line that are amounts or have some in them: not those of roles, agents and offers."""
    words: list[str] = []
    for name in parameters_of(cast("Any", ctx.command.callback), Meaning.AMOUNTS):
        value = ctx.params.get(name)
        if value:
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


@contextmanager
def _address_named(session: "Session") -> Iterator[None]:
    """Name the place that the address of the master comes from in an error about the address."""
    try:
        yield
    except MesosctlError as error:
        origin = session.settings.origin("master")
        place = f"{_PLACES[origin.kind]}{origin.name}" if origin.kind in _PLACES else None
        if place is not None and error.advice is not None and error.advice.rule in OF_ADDRESS:
            error.advised(error.advice.rule, **{**error.advice.values, "place": f"the address in {place}"})
        elif place is not None and error.field == "--master":
            error.hint = linked(hint_of(error), f"the address comes from {place}")
        raise


def _name_origin(error: MesosctlError, ctx: typer.Context, session: "Session") -> None:
    """Keep an option as the place of an error only if it was given; a setting has the place that it comes from."""
    option = (error.field or "").partition(" ")[0]
    if not option.startswith("--"):
        return
    setting = next((known for known in known_settings() if known.option == option), None)
    if setting is not None:
        origin = session.settings.origin(setting.name)
        if origin.kind != "flag":
            error.field = None if origin.kind == "default" else f"{_PLACES[origin.kind]}{origin.name}"
        return
    names = [
        parameter.name for parameter in ctx.command.params if option in parameter.opts and parameter.name is not None
    ]
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
                # The program at the root knows forecasts; commands are below them.
                return cast("Any", ctx.find_root().command).rehearse(
                    session, ctx.command_path.partition(" ")[2], act, report
                )
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
    from mesosctl.mesos.roles import closest
    from mesosctl.shells.mistakes import sentence_of

    ctx = getattr(error, "ctx", None)
    path = ctx.command_path if ctx is not None else _path_of(words, program)
    choices = _choices_missed(error)
    likely = closest(error.__cause__.errors()[0]["input"], choices) if choices else None
    line = sentence_of(error)
    if likely:
        line = f"{line.rstrip('.')}. Did you mean '{likely}'?"
    return UsageError(line, hint=f"see {path} --help")


def _choices_missed(error: Any) -> tuple[str, ...]:
    """The words of which a value has to be one, and is none; empty for any other mistake."""
    from pydantic import ValidationError

    is_of_value = isinstance(error.__cause__, ValidationError)
    return (error.param.type_descriptor.choices or ()) if is_of_value else ()


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
    "cordon": ("deactivate",),
    "uncordon": ("reactivate",),
    "evict": ("drain",),
    "node": ("agents",),
    "nodes": ("agents",),
    "slave": ("agents",),
    "slaves": ("agents",),
    "job": ("frameworks",),
    "jobs": ("frameworks",),
    "pod": ("tasks",),
    "pods": ("tasks",),
    "kill": ("teardown",),
    "stop": ("teardown",),
    "version": ("--version",),
    "help": ("--help",),
    "status": ("top",),
    "info": ("top",),
}
"""The words of other tools, and of other nouns, that people may type, and the words of the noun for them."""
_VERBS = frozenset(_OTHER_TOOLS_WORDS).union(*_OTHER_TOOLS_WORDS.values())
"""Words that people type before a noun, as other tools want it."""
_FEW_NOUNS = 2
"""Nouns that have a verb; of more, none is likely to be meant."""
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
                [
                    (name, (command.help or "").partition("\n")[0])
                    for name, command in found
                    if command and not command.hidden
                ]
            )

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Resolve as usual; for a word of other tools, name the one that this group has for it."""
        try:
            return super().resolve_command(ctx, args)
        except typer.TyperException as error:
            ours = [
                word
                for word in _OTHER_TOOLS_WORDS.get(args[0], ())
                if word.startswith("-") or self.get_command(ctx, word) is not None
            ]
            ours = ours or (self._with_noun(ctx, args[0]) if ctx.parent is None else [])
            if ours:
                error.message = f"No such command '{args[0]}'. Did you mean {', '.join(map(repr, ours))}?"
            elif ctx.parent is None and args[0] in _VERBS:
                error.message = f"No such command '{args[0]}'. A noun comes first, as in 'quota list'."
            raise

    def _with_noun(self, ctx: Any, word: str) -> list[str]:
        """The commands of few nouns that have a word as their verb, or the verb for it."""
        found = []
        for noun in self.list_commands(ctx):
            group = self.get_command(ctx, noun)
            if isinstance(group, Group):
                verbs = group.list_commands(ctx)
                ours = next((verb for verb in (word, *_OTHER_TOOLS_WORDS.get(word, ())) if verb in verbs), None)
                found += [f"{noun} {ours}"] if ours is not None else []
        return found if len(found) <= _FEW_NOUNS else []

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
        is_help = word is None and any(typed in ctx.help_option_names for typed in args)
        if not is_help and self.get_command(ctx, word or "") is None and (args or not ctx.resilient_parsing):
            ctx.meta[_LISTED] = word
            args = ["list", *args]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the verb; if `list` finds no entry that is named like a verb of other tools, the hint says so."""
        try:
            return super().invoke(ctx)
        except NotFound as error:
            word = ctx.meta.get(_LISTED)
            if word in _OTHER_TOOLS_WORDS or word in REMOVE:
                error.hint = self.instead(word) or self._verb_for(ctx, word)
            raise

    def instead(self, word: str) -> str | None:
        """A hint: what to do instead of a verb that the noun lacks for a reason; None if there is no reason."""
        del word
        return None

    def _verb_for(self, ctx: Any, word: str) -> str:
        verbs = self.list_commands(ctx)
        ours = next((verb for verb in _OTHER_TOOLS_WORDS.get(word, ()) if verb in verbs), None)
        if ours is not None:
            return f"did you mean the verb '{ours}'? see {ctx.command_path} --help"
        return f"{ctx.command_path} has no verb '{word}'; its verbs: {', '.join(verbs)}"

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """The verbs, and what `list` may be followed by."""
        found = super().shell_complete(ctx, incomplete)
        command = cast("Any", self.get_command(ctx, "list"))
        with command.make_context("list", [], parent=ctx, resilient_parsing=True) as below:
            first = next(
                (parameter for parameter in command.get_params(below) if parameter.param_type_name == "argument"), None
            )
            words = command if incomplete.startswith("-") or first is None else first
            known = {item.value for item in found}
            return [*found, *(item for item in words.shell_complete(below, incomplete) if item.value not in known)]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The verbs, and what no verb means."""
        super().format_commands(ctx, formatter)
        formatter.write(f"\nWithout a verb, {ctx.command_path} is {ctx.command_path} list.\n")


_LISTED = "mesosctl.listed"
"""The key of `Context.meta` for the first word of a command that has no verb."""


def _first_word(args: Sequence[str]) -> str | None:
    """The first word that is neither a global option nor its value; None if another option comes before it, or none."""
    takes_value = {
        name: not (parameter.is_flag or parameter.count)
        for parameter in cast("Any", _global_command().params)
        for name in (*parameter.opts, *parameter.secondary_opts)
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
