"""`mesosctl reservations`."""

from typing import Annotated

import typer

from mesosctl.cli.arguments import (
    Every,
    OnlyAgent,
    RoleAndBelow,
    nothing_found,
    selectors_of,
)
from mesosctl.cli.command import Command, Group, examples
from mesosctl.cli.session import Session
from mesosctl.client.leading_master import LeadingMaster
from mesosctl.mesos.cluster.holdings import RESERVATION_KEYS
from mesosctl.mesos.errors import UsageError
from mesosctl.reading.list_options import Count, OnAgentsWith, Watch, show_list, sort_option
from mesosctl.reading.selection import Selection
from mesosctl.reservations.lists import list_reservations
from mesosctl.reservations.report import reservation_list, reservation_tree
from mesosctl.show.report import Report

app = typer.Typer(cls=Group, rich_markup_mode=None)

Tree = Annotated[bool, typer.Option("--tree", help="Show a tree of roles.", show_default=False)]


SortReservations = Annotated[str | None, sort_option(RESERVATION_KEYS)]


@app.command(
    "reservations",
    cls=Command,
    epilog=examples(
        ("reservations", "every reservation of every agent"),
        ("reservations --role ads --tree", "the branch of a role"),
        ("reservations --agent agent-1 -o json", "those of one agent, as JSON"),
    ),
)
def reservations(  # noqa: PLR0913  # one parameter an option
    ctx: typer.Context,
    *,
    role: RoleAndBelow = None,
    agent: OnlyAgent = None,
    attribute: OnAgentsWith = None,
    tree: Tree = False,
    sort: SortReservations = None,
    watch: Watch = False,
    every: Every = 2.0,
    count: Count = None,
) -> None:
    """Show what is reserved on which agent, by whom, and how much of it is in use.

    Static reservations are part of an agent's configuration. Dynamic reservations can be undone.
    """
    session: Session = ctx.obj
    if tree and sort is not None:
        raise UsageError("a tree has its own order", field="--sort", hint="leave out --tree or --sort")
    wanted = Selection((), role, selectors_of(attribute), sort)

    def read(master: LeadingMaster) -> Report:
        found = list_reservations(master, wanted, agent, session.progress)
        empty = nothing_found_on("nothing is reserved", wanted, agent, attribute)
        if tree:
            return reservation_tree(found, empty=empty)
        return reservation_list(found, empty=empty, sort=sort)

    show_list(session, read, watch=watch, every=every, count=count)


def nothing_found_on(sentence: str, wanted: Selection, agent: str | None, attribute: list[str] | None) -> str:
    """The sentence for an empty list, with the options that chose."""
    said = {"--role": wanted.role, "--agent": agent, "--attribute": ",".join(attribute or ()) or None}
    return nothing_found(sentence, said)
