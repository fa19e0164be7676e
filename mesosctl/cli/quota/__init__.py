"""`mesosctl quota`."""

import typer

app = typer.Typer(help="Guarantee roles a share of the cluster.", no_args_is_help=True, rich_markup_mode=None)

from mesosctl.cli.quota import list, remove, set, show  # noqa: E402, F401, A004  # each registers its command
