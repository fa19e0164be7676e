"""Turning a function into a command that also takes the global options."""

import inspect
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import typer
from typer.core import TyperCommand

from mesosctl.cli.environment import Environment
from mesosctl.cli.options import GlobalOptions
from mesosctl.cli.session import Session

GLOBAL_NAMES = frozenset(option.name for option in fields(GlobalOptions))
GLOBAL_PARAMETERS = [
    inspect.Parameter(option.name, inspect.Parameter.KEYWORD_ONLY, default=option.default, annotation=option.type)
    for option in fields(GlobalOptions)
]


class Command(TyperCommand):
    """A command whose help shows its own options first and the global ones after them."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Two sections, plain."""
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


def verb(app: typer.Typer, name: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register `function(session, …)` as the command `name` of `app`.

    Its docstring is the help; `GlobalOptions` are added to its parameters and merged with those
    given before the command's words.
    """

    def register(function: Callable[..., None]) -> Callable[..., None]:
        own = list(inspect.signature(function, eval_str=True).parameters.values())[1:]

        def run(ctx: typer.Context, **words: Any) -> None:
            said = GlobalOptions(**{name: words.pop(name) for name in GLOBAL_NAMES})
            environment, weaker = ctx.find_root().obj
            function(Session(environment, said.over(weaker)), **words)

        ctx = inspect.Parameter("ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
        parameters = [ctx, *(p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own), *GLOBAL_PARAMETERS]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        app.command(name, cls=Command, help=inspect.getdoc(function))(run)
        return function

    return register


def take_globals(ctx: typer.Context, **words: Any) -> None:
    """Keep the global options that stand before the command's words, for the command to merge."""
    environment = ctx.obj if isinstance(ctx.obj, Environment) else Environment()
    ctx.obj = (environment, GlobalOptions(**{name: words[name] for name in GLOBAL_NAMES}))
