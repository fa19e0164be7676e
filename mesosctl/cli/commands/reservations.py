"""`mesosctl reservations`."""

from typing import Annotated

import typer

from mesosctl.cli.arguments import OnlyAgent, RoleAndBelow, TrustMaster, nothing_found, parse_amounts, send_options
from mesosctl.cli.command import Command, Group, examples
from mesosctl.cli.session import Session
from mesosctl.model.errors import UsageError
from mesosctl.model.reservations.holdings import agent_reservations
from mesosctl.output.reservations import reservation_list, reservation_tree

app = typer.Typer(cls=Group, rich_markup_mode=None)


Tree = Annotated[bool, typer.Option("--tree", help="Show a tree of roles.", show_default=False)]
WaitFor = Annotated[
    str | None,
    typer.Option(
        "--wait-for",
        metavar="RESOURCES|none",
        help="Wait until --agent has exactly these resources reserved for --role, then show them. With none, wait "
        "until nothing is reserved.",
    ),
]


@app.command(
    "reservations",
    cls=Command,
    epilog=examples(
        ("reservations", "every reservation of every agent"),
        ("reservations --role ads --tree", "the branch of a role"),
        ("reservations --agent agent-1 --role ads --wait-for cpus:8", "confirm later what --no-wait did not wait for"),
    ),
)
def reservations(  # one parameter an option
    ctx: typer.Context,
    *,
    role: RoleAndBelow = None,
    agent: OnlyAgent = None,
    tree: Tree = False,
    wait_for: WaitFor = None,
    trust_master: TrustMaster = False,
) -> None:
    """Show what is reserved on which agent, by whom, and how much of it is in use.

    Static reservations are part of an agent's configuration. Dynamic reservations can be undone.
    """
    from mesosctl.operations.reservations.targets import find_agent, read_agents

    session: Session = ctx.obj
    if wait_for is not None and (role is None or agent is None):
        raise UsageError("--wait-for needs --role and --agent", field="--wait-for")
    with session.open_master() as master:
        found = read_agents(master, session.progress)
        session.end_progress()
        if agent is not None:
            found = [find_agent(found, agent)]
        if wait_for is not None and role is not None:
            from mesosctl.operations.quota.state import check_entries
            from mesosctl.operations.reservations.change import wait_until_reserved

            entries = [] if wait_for == "none" else parse_amounts([wait_for])
            check_entries(master, entries)
            found = [
                wait_until_reserved(master, found[0], role, entries, send_options(session, trust_master=trust_master))
            ]
    shown = [holding for one in found for holding in agent_reservations(one, role)]
    owners = {holding.owner.role for one in found for holding in agent_reservations(one)} if not shown and role else ()
    empty = nothing_found("nothing is reserved", {"--role": role, "--agent": agent}, owners)
    session.emit((reservation_tree if tree else reservation_list)(shown, empty=empty))
