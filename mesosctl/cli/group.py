"""Groups that load a command when it is typed: `quota list` should not pay for every other verb."""

import inspect
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from mesosctl.cli.verb import Command, take_globals, with_globals


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
    module = import_module(module_name)
    app: typer.Typer | None = getattr(module, "app", None)
    if app is None:
        app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
        hidden = getattr(module, "HIDDEN", False)
        app.command(name, cls=Command, help=inspect.getdoc(module.command), hidden=hidden)(module.command)
    made: Any = typer.main.get_command(app)
    made.name = name
    return made  # type: ignore[no-any-return]
