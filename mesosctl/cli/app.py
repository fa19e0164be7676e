"""The commands, put together."""

import inspect
from typing import Annotated

import typer

from mesosctl import __version__
from mesosctl.cli.quota import app as quota
from mesosctl.cli.verb import GLOBAL_PARAMETERS, take_globals


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"mesosctl {__version__}")
        raise typer.Exit


def root(
    ctx: typer.Context,
    *,
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_show_version, help="Show the version.")
    ] = False,
    **words: object,
) -> None:
    """Share out an Apache Mesos cluster: see what a change will do, make it, prove that it happened."""
    del version  # shown while the words were read
    take_globals(ctx, **words)


def _with_globals() -> None:
    """`root` takes the same options as every command, declared once in `GlobalOptions`."""
    own = [p for p in inspect.signature(root).parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
    parameters = [*own, *GLOBAL_PARAMETERS]
    root.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    root.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}


_with_globals()

app = typer.Typer(
    name="mesosctl",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
app.callback()(root)
app.add_typer(quota, name="quota")
