"""The options of the commands that list something, and the loop of --watch."""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Annotated

import typer

from mesosctl.cli.arguments import attribute_option, role_option
from mesosctl.cli.session import Session
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.mesos.errors import UsageError
from mesosctl.reading.lists import readings
from mesosctl.show.report import Report

OfRole = Annotated[str | None, role_option("Show only what belongs to this role or to a role below it.")]


OnAgentsWith = Annotated[list[str] | None, attribute_option("Show only what is on agents with this attribute")]


def sort_option(keys: tuple[str, ...], *, resources: bool = True) -> typer.models.OptionInfo:
    """`--sort KEY`, by one of these keys, or by a resource if the entries have `resources`."""
    choices = f"{', '.join(keys)}, or a resource such as cpus (largest first)"
    if not resources:
        choices = f"{', '.join(keys[:-1])} or {keys[-1]}"
    option: typer.models.OptionInfo = typer.Option(
        "--sort",
        metavar="KEY",
        autocompletion=lambda: [*keys, *(("cpus", "mem", "disk", "gpus") if resources else ())],
        help=f"Sort by {choices}. -KEY reverses the order.",
    )
    return option


Watch = Annotated[
    bool,
    typer.Option(
        "--watch",
        help="Refresh the list until q or Ctrl-C; arrows and Page up and down scroll it. Without a terminal, it is "
        "written again whenever it changes; -o jsonl writes one document per line.",
        show_default=False,
    ),
]


Count = Annotated[int | None, typer.Option("--count", metavar="NUMBER", min=1, help="Stop after this many readings.")]


def show_list(
    session: Session, read: Callable[[LeadingMaster], Report], *, watch: bool, every: float, count: int | None
) -> None:
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
    # A list that ends by itself is drawn in place, and stays as it is.
    scrolled = session.scrolling() if count is None else nullcontext()
    with session.open_master() as master, scrolled as screen:

        def tell(sentence: str) -> None:
            session.note(sentence)
            if screen is not None:
                screen.tell(sentence)

        wait = None if screen is None else screen.wait
        for report in readings(master, lambda: read(master), every, tell, count, wait):
            session.end_progress()
            session.follow(report)
