"""Turning functions into commands and groups that also take the global options."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from mesosctl.cli.environment import Environment
from mesosctl.cli.options import GlobalOptions, ReportFile
from mesosctl.cli.session import Session
from mesosctl.model.errors import ExitStatus, MesosctlError, UsageError

GLOBAL_NAMES = frozenset(option.name for option in fields(GlobalOptions))


def _parameters(options: Any) -> list[inspect.Parameter]:
    """The fields of a dataclass of options."""
    return [
        inspect.Parameter(option.name, inspect.Parameter.KEYWORD_ONLY, default=option.default, annotation=option.type)
        for option in fields(options)
    ]


_GLOBAL_PARAMETERS = _parameters(GlobalOptions)
_REPORT = inspect.Parameter("report", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=ReportFile)

Example = tuple[str, str]


class Command(TyperCommand):
    """A command whose help shows its own options first and the global ones after them."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """As in man pages: what may be left out stands in brackets, and nothing in braces."""
        return [piece.removeprefix("{").removesuffix("}") for piece in super().collect_usage_pieces(ctx)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Two sections, plain, and the examples under them."""
        own: list[tuple[str, str]] = []
        shared: list[tuple[str, str]] = []
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                (shared if parameter.name in GLOBAL_NAMES else own).append(record)
        for title, records in (("Arguments and options", own), ("Global options", shared)):
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)
        if self.examples:
            with formatter.section("Examples"):
                formatter.write_dl([(f"mesosctl {words}", "") for words, _ in self.examples])

    @property
    def examples(self) -> Sequence[Example]:
        """Words that can be typed, and what they do."""
        found: Sequence[Example] = getattr(self.callback, "examples", ())
        return found


def verb(
    examples: Sequence[Example] = (), *, changes: bool = False, obeys_context: bool = True
) -> Callable[[Callable[..., int | None]], Callable[..., int | None]]:
    """Turn `function(session, …)` into what typer makes a command of.

    Its docstring is the help, what it returns the exit status, `examples` are (words, what they do).
    Only the verbs that edit contexts do not obey one.
    A parameter of a dataclass stands for the options that are its fields, which several verbs then share.
    `GlobalOptions` are added to its parameters and merged with those given before the command's words.
    A verb that `changes` a cluster is rehearsed with --dry-run, and takes --report; every other one may only read then.
    """

    def wrap(function: Callable[..., int | None]) -> Callable[..., int | None]:
        said_as = list(inspect.signature(function, eval_str=True).parameters.values())[1:]
        shared: dict[str, Any] = {one.name: one.annotation for one in said_as if is_dataclass(one.annotation)}
        own = [one for parameter in said_as for one in _options_of(parameter)]

        def run(ctx: typer.Context, **words: Any) -> int | None:
            said = GlobalOptions(**{name: words.pop(name) for name in GLOBAL_NAMES})
            environment, weaker = ctx.obj
            session = Session(environment, said.over(weaker), obeys_context=obeys_context)
            report = words.pop("report", None) if changes else None
            for name, kind in shared.items():
                words[name] = kind(**{option.name: words.pop(option.name) for option in fields(kind)})
            try:
                if not changes:
                    return function(session, **words)
                return _change_or_dry_run(
                    session, ctx.command_path.partition(" ")[2], lambda acting: function(acting, **words), report
                )
            except MesosctlError as error:
                if changes:
                    session.tell_unsent(error)
                _name_override(error, ctx)
                raise
            except KeyboardInterrupt as stopped:
                # typer would lose what it says.
                raise session.interrupted(stopped) from None
            except BrokenPipeError:
                # typer would take it for a failure of its own.
                return int(ExitStatus.BROKEN_PIPE)
            finally:
                session.end_progress()

        ctx = inspect.Parameter("ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
        own = [*own, _REPORT] if changes else own
        _declare(run, [ctx, *(p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own), *_GLOBAL_PARAMETERS])
        run.__doc__ = function.__doc__
        run.examples = tuple(examples)  # type: ignore[attr-defined]
        return run

    return wrap


def _name_override(error: MesosctlError, ctx: typer.Context) -> None:
    """Add the option that passes the check to the hint, where this command has it."""
    if error.override and any(error.override in parameter.opts for parameter in ctx.command.params):
        error.hint = "; ".join(filter(None, (error.hint, f"{error.override} passes this check")))


def _change_or_dry_run(
    session: Session, name: str, act: Callable[[Session], int | None], report: str | None
) -> int | None:
    """Run the verb `name` upon the cluster, or with --dry-run upon a picture of it, which `report` tells of."""
    if session.options.dry_run:
        from mesosctl.cli.dry_run import start_dry_run

        return start_dry_run(session, name, act, report)
    if report is not None:
        raise UsageError("--report belongs to --dry-run", field="--report", hint="give both")
    return act(session)


def take_globals(ctx: typer.Context, **words: Any) -> None:
    """Keep the global options that stand before the command's words, for the command to merge."""
    said = GlobalOptions(**{name: words[name] for name in GLOBAL_NAMES})
    if isinstance(ctx.obj, Environment):
        ctx.obj = (ctx.obj, said)
    else:
        environment, weaker = ctx.obj
        ctx.obj = (environment, said.over(weaker))


def with_globals(function: Callable[..., None]) -> Callable[..., None]:
    """Give a callback of a group the global options beside its own, in place of its `**words`."""
    own = [
        parameter
        for parameter in inspect.signature(function, eval_str=True).parameters.values()
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD
    ]
    _declare(function, [*own, *_GLOBAL_PARAMETERS])
    return function


def _options_of(parameter: inspect.Parameter) -> list[inspect.Parameter]:
    """The options that a verb's parameter stands for: mostly itself."""
    return _parameters(parameter.annotation) if is_dataclass(parameter.annotation) else [parameter]


def _declare(function: Callable[..., Any], parameters: list[inspect.Parameter]) -> None:
    """Make typer see these parameters."""
    function.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    function.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}


class LateGroup(TyperGroup):
    """A group whose commands live in modules of their own.

    `verbs` maps a name to a module with a function `command`, or with a `typer.Typer` named `app`.
    A module with a true `HIDDEN` has a command that is for programs.
    """

    verbs: dict[str, str]

    def list_commands(self, ctx: Any) -> list[str]:
        """Every name, in order."""
        del ctx
        return sorted(self.verbs)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of that name, imported now; None where there is none."""
        del ctx
        if cmd_name not in self.commands and cmd_name in self.verbs:
            self.commands[cmd_name] = _load(cmd_name, self.verbs[cmd_name])
        return self.commands.get(cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """As usual, and where the name is wrong typer looks among all of them for a likely one."""
        if args and args[0] not in self.verbs:
            for name in self.verbs:
                self.get_command(ctx, name)
        return super().resolve_command(ctx, args)


def late(verbs: dict[str, str]) -> type[LateGroup]:
    """A class of group with these verbs, for `typer.Typer(cls=…)`."""
    return type("LateGroup", (LateGroup,), {"verbs": verbs})


def group(help_text: str, verbs: dict[str, str]) -> typer.Typer:
    """A group of verbs which takes the global options too."""
    app = typer.Typer(
        help=help_text, cls=late(verbs), no_args_is_help=True, add_completion=False, rich_markup_mode=None
    )

    @app.callback()
    @with_globals
    def keep(ctx: typer.Context, **words: Any) -> None:
        take_globals(ctx, **words)

    return app


def _load(name: str, module_name: str) -> TyperCommand | TyperGroup:
    module_name, _, function = module_name.partition(":")
    module = import_module(module_name)
    app: typer.Typer | None = None if function else getattr(module, "app", None)
    if app is None:
        app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
        command = getattr(module, function or "command")
        hidden = getattr(module, "HIDDEN", False)
        app.command(name, cls=Command, help=inspect.getdoc(command), hidden=hidden)(command)
    made: Any = typer.main.get_command(app)
    made.name = name
    return made  # type: ignore[no-any-return]


MEANINGS: dict[ExitStatus, str] = {
    ExitStatus.DONE: "done, or nothing to do",
    ExitStatus.ANSWER_IS_NO: "the answer is no: a check failed",
    ExitStatus.USAGE: "the words make no request, or a question was answered with no",
    ExitStatus.INVALID: "invalid payload, file or configuration (refused here, or 400 from the master)",
    ExitStatus.DENIED: "not authenticated or not authorised (401, 403)",
    ExitStatus.NOT_FOUND: "not found, such as an agent, a role without quota, or a context",
    ExitStatus.CONFLICT: "the cluster cannot hold it (capacity check: 409, or 400 of UPDATE_QUOTA)",
    ExitStatus.NO_MASTER: "no master: network, TLS, or no leader (503)",
    ExitStatus.MASTER_FAILED: "the master failed (5xx), or answered what it never should",
    ExitStatus.NOT_CONFIRMED: "the deadline passed, or an accepted change could not be confirmed",
    ExitStatus.HUNG_UP: "the terminal hung up (SIGHUP)",
    ExitStatus.INTERRUPTED: "interrupted (SIGINT, Ctrl-C)",
    ExitStatus.TERMINATED: "terminated (SIGTERM)",
}
