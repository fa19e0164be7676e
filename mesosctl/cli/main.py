"""The commands, put together."""

from typing import Annotated

import typer

from mesosctl import __version__
from mesosctl.cli.verb import late, take_globals, with_globals


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"mesosctl {__version__}")
        raise typer.Exit


@with_globals
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


app = typer.Typer(
    name="mesosctl",
    cls=late(
        {
            "apply": "mesosctl.cli.commands.apply:apply",
            "complete": "mesosctl.cli.commands.complete",
            "completion": "mesosctl.cli.commands.completion",
            "context": "mesosctl.cli.commands.context",
            "diff": "mesosctl.cli.commands.apply:diff",
            "export": "mesosctl.cli.commands.apply:export",
            "offers": "mesosctl.cli.commands.offers",
            "quota": "mesosctl.cli.commands.quota",
            "ratelimit": "mesosctl.cli.commands.ratelimit",
            "reservations": "mesosctl.cli.commands.reservations:reservations",
            "reserve": "mesosctl.cli.commands.reserve:reserve",
            "snapshot": "mesosctl.cli.commands.snapshot",
            "unreserve": "mesosctl.cli.commands.reserve:unreserve",
            "volumes": "mesosctl.cli.commands.volumes",
            "whatif": "mesosctl.cli.commands.whatif",
        }
    ),
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
app.callback()(root)
