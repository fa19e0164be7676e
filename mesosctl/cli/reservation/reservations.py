"""`mesosctl reservations`."""

from typing import Annotated

import typer

from mesosctl.cli.reservation.words import OnlyAgent, RoleAndBelow, TrustMaster, manner, nothing_found, parse_amounts
from mesosctl.cli.session import Session
from mesosctl.cli.verb import verb
from mesosctl.core.errors import UsageError
from mesosctl.core.holdings import holdings
from mesosctl.render.reservations import reservation_list, reservation_tree

Tree = Annotated[bool, typer.Option("--tree", help="By role, with what lies below each.", show_default=False)]
WaitFor = Annotated[
    str | None,
    typer.Option(
        "--wait-for",
        metavar="RESOURCES|none",
        help="Wait until --agent has this much reserved for --role, or none; then show it.",
    ),
]

EXAMPLES = (
    ("reservations", "every reservation of every agent"),
    ("reservations --role ads --tree", "the branch of a role"),
    ("reservations --agent agent-1 --role ads --wait-for cpus:8", "look later for what --no-wait left open"),
)


@verb(EXAMPLES)
def command(  # one parameter an option
    session: Session,
    *,
    role: RoleAndBelow = None,
    agent: OnlyAgent = None,
    tree: Tree = False,
    wait_for: WaitFor = None,
    trust_master: TrustMaster = False,
) -> None:
    """Show what is reserved on which agent, by whom, and how much of it is in use.

    Static reservations belong to an agent's configuration; dynamic ones can be undone.
    """
    from mesosctl.ops.reservation.agents import find_agent, read_agents

    if wait_for is not None and (role is None or agent is None):
        raise UsageError("--wait-for needs --role and --agent", field="--wait-for")
    with session.open_master() as master:
        found = read_agents(master, session.progress)
        session.end_progress()
        if agent is not None:
            found = [find_agent(found, agent)]
        if wait_for is not None and role is not None:
            from mesosctl.ops.reservation.waiting import wait_until_reserved
            from mesosctl.ops.resource_names import check_entries

            entries = [] if wait_for == "none" else parse_amounts([wait_for])
            check_entries(master, entries)
            found = [wait_until_reserved(master, found[0], role, entries, manner(session, trust_master=trust_master))]
    shown = [holding for one in found for holding in holdings(one, role)]
    owners = {holding.owner.role for one in found for holding in holdings(one)} if not shown and role else ()
    empty = nothing_found("nothing is reserved", {"--role": role, "--agent": agent}, owners)
    session.emit((reservation_tree if tree else reservation_list)(shown, empty=empty))
