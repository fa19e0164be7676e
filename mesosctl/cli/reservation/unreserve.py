"""`mesosctl unreserve`."""

from collections.abc import Sequence
from typing import Annotated

import typer

from mesosctl.cli.files import named, read_text
from mesosctl.cli.reservation.words import (
    OptionalWords,
    OwnerWords,
    SendingWords,
    agent_beside_file,
    parse_amounts,
)
from mesosctl.cli.session import Session
from mesosctl.cli.verb import verb
from mesosctl.core.errors import UsageError
from mesosctl.core.holdings import AgentChange
from mesosctl.core.resource import Resource
from mesosctl.core.resources import Resources
from mesosctl.ops.reservation.operating import Manner
from mesosctl.ops.reservation.stacks import Owner
from mesosctl.render.reservations import agent_changes

All = Annotated[bool, typer.Option("--all", help="All that the role has, on AGENT or everywhere.", show_default=False)]
Of = Annotated[
    str | None, typer.Option("--reserver", metavar="NAME", help="Only what this principal reserved; anybody's else.")
]

EXAMPLES = (
    ("unreserve agent-1 cpus:2 --role ads", "hand back a part"),
    ("unreserve agent-1 --role ads --all", "all that ads has on an agent"),
    ("unreserve --role ads --all --yes", "everywhere, without being asked"),
)


@verb(EXAMPLES, changes=True)
def command(
    session: Session,
    words: OptionalWords = None,
    *,
    of: OwnerWords,
    reserver: Of = None,
    everything: All = False,
    sending: SendingWords,
) -> None:
    """Undo dynamic reservations: a refined one falls back to the role below it.

    The reserver's principal and the labels are found on the agent.  --all shows first what it would
    undo, and asks; a script says --yes.  What is refined for a role below ROLE belongs to that role: it
    is left, and a note says so.
    """
    given = list(words or ())
    agent = given.pop(0) if given else None
    how = sending.manner(session)
    if sending.file is not None:
        _from_file(session, agent_beside_file(agent, given, of.are_said, reserver, everything), sending.file, how)
        return
    if of.role is None or (everything and given) or not (everything or (agent and given)):
        raise UsageError(
            "AGENT, RESOURCES and --role are needed, or --role and --all",
            hint="mesosctl unreserve agent-1 cpus:2 --role ads",
        )
    wanted = of.owner(of.role, reserver)
    if everything:
        _all(session, agent, wanted, how)
    else:
        assert agent is not None
        _some(session, agent, parse_amounts(given), wanted, how)


def _from_file(session: Session, agent: str, file: str, how: Manner) -> None:
    """What the JSON says, on one agent."""
    from mesosctl.ops.reservation.agents import find_agent, read_agents
    from mesosctl.ops.reservation.operating import operate
    from mesosctl.ops.reservation.payload import read_unreserve
    from mesosctl.ops.reservation.undoing import plan_unreserve
    from mesosctl.ops.resource_names import check_entries

    payload = read_unreserve(read_text(file, "--file", session.environment.stdin), named(file))
    with session.open_master() as master:
        check_entries(master, payload.resources)
        found = find_agent(read_agents(master), agent)
        payload.check_agent(found)
        session.emit(agent_changes(operate(master, [plan_unreserve(master, found, payload.resources)], how)))


def _some(session: Session, agent: str, entries: Sequence[Resource], wanted: Owner, how: Manner) -> None:
    """These amounts, on one agent."""
    from mesosctl.ops.reservation.agents import find_agent, read_agents
    from mesosctl.ops.reservation.undoing import unreserve_of

    with session.open_master() as master:
        found = find_agent(read_agents(master), agent)
        session.emit(agent_changes(unreserve_of(master, found, entries, wanted, how)))


def _all(session: Session, agent: str | None, wanted: Owner, how: Manner) -> None:
    """All that the owner has, on one agent or everywhere: shown first, and asked about."""
    from mesosctl.ops.reservation.agents import find_agent, read_agents
    from mesosctl.ops.reservation.operating import operate
    from mesosctl.ops.reservation.undoing import plan_all, refined_left

    with session.open_master() as master:
        everybody = read_agents(master)
        meant = [find_agent(everybody, agent)] if agent else everybody
        plans = plan_all(master, meant, wanted)
        if not session.options.yes:
            planned = [AgentChange(plan.agent, "unreserved", Resources(plan.resources)) for plan in plans]
            session.show(agent_changes(planned, planned=True))
        for sentence in refined_left(meant, wanted):
            session.note(sentence)
        session.confirm_destructive(f"Unreserve all of this, on {len(plans)} agent{'s' * (len(plans) > 1)}?")
        session.emit(agent_changes(operate(master, plans, how)))
