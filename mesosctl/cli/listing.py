"""The options of the commands that list something, and the loop of --watch."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from mesosctl.cli.arguments import role_option
from mesosctl.cli.session import Session
from mesosctl.model.errors import UsageError
from mesosctl.operations import cluster
from mesosctl.output.formats.report import Report

if TYPE_CHECKING:
    from mesosctl.client.leading_master import Master

OfRole = Annotated[str | None, role_option("Show only what belongs to this role or to a role below it.")]


def sort_option(keys: tuple[str, ...]) -> typer.models.OptionInfo:
    """`--sort KEY`, by one of these keys or by a resource."""
    option: typer.models.OptionInfo = typer.Option(
        "--sort",
        metavar="KEY",
        autocompletion=lambda: [*keys, "cpus", "mem", "disk", "gpus"],
        help=f"Sort by {', '.join(keys)}, or a resource such as cpus (largest first). -KEY reverses the order.",
    )
    return option


Watch = Annotated[
    bool,
    typer.Option(
        "--watch",
        help="Refresh the list until Ctrl-C. Without a terminal, it is written again whenever it changes; -o jsonl "
        "writes one document per line.",
        show_default=False,
    ),
]


Count = Annotated[int | None, typer.Option("--count", metavar="NUMBER", min=1, help="Stop after this many readings.")]


def show(session: Session, read: "Callable[[Master], Report]", *, watch: bool, every: float, count: int | None) -> None:
    """Emit the report that `read` makes, once or repeatedly.

    Raises UsageError for a format that is written only once.
    """
    if not watch:
        if count is not None:
            raise UsageError("--count needs --watch", field="--count", hint="give both")
        with session.open_master() as master:
            report = read(master)
        session.end_progress()
        session.emit(report)
        return
    session.check_watchable()
    with session.open_master() as master:
        for report in cluster.readings(master, lambda: read(master), every, session.note, count):
            session.end_progress()
            session.follow(report)
