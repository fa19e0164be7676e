"""The commands, put together."""

from typing import Annotated

import typer

from mesosctl import __version__
from mesosctl.cli.group import late
from mesosctl.cli.verb import take_globals, with_globals


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
            "apply": "mesosctl.cli.apply",
            "complete": "mesosctl.cli.complete",
            "completion": "mesosctl.cli.completion",
            "context": "mesosctl.cli.context",
            "diff": "mesosctl.cli.diff",
            "export": "mesosctl.cli.export",
            "offers": "mesosctl.cli.offers",
            "quota": "mesosctl.cli.quota",
            "ratelimit": "mesosctl.cli.ratelimit",
            "reservations": "mesosctl.cli.reservation.reservations",
            "reserve": "mesosctl.cli.reservation.reserve",
            "snapshot": "mesosctl.cli.snapshot",
            "unreserve": "mesosctl.cli.reservation.unreserve",
            "volumes": "mesosctl.cli.volumes",
            "whatif": "mesosctl.cli.whatif",
        }
    ),
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
app.callback()(root)
