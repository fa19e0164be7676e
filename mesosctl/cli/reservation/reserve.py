"""`mesosctl reserve`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from mesosctl.cli.files import named, read_text
from mesosctl.cli.reservation.words import (
    Attributes,
    OptionalWords,
    OwnerWords,
    Reserver,
    SendingWords,
    agent_beside_file,
    pairs,
    parse_amounts,
)
from mesosctl.cli.session import Session
from mesosctl.cli.verb import verb
from mesosctl.core.errors import UsageError
from mesosctl.core.holdings import AgentChange
from mesosctl.core.resource import Resource
from mesosctl.ops.reservation.operating import Manner
from mesosctl.ops.reservation.stacks import Owner
from mesosctl.render.reservations import agent_changes

if TYPE_CHECKING:
    from mesosctl.client.master import Master

Any = Annotated[bool, typer.Option("--any", help="On the agent with most room for it.", show_default=False)]
Count = Annotated[int | None, typer.Option("--count", metavar="N", min=1, help="On N agents, each the whole of it.")]
EXAMPLES = (
    ("reserve agent-1 cpus:8 mem:4GiB --role ads", "reserve on one agent"),
    ("reserve S0 cpus:2 --role ads/video --under ads", "refine what is reserved for ads"),
    ("reserve --count 3 cpus:4 --role db --attribute rack=r1", "on three agents of a rack"),
    ("reserve agent-1 -f reserve.json", "from the JSON of POST /reserve"),
)


@verb(EXAMPLES, changes=True)
def command(  # noqa: PLR0913  # one parameter an option
    session: Session,
    words: OptionalWords = None,
    *,
    of: OwnerWords,
    reserver: Reserver = None,
    any_agent: Any = False,
    count: Count = None,
    attribute: Attributes = None,
    sending: SendingWords,
) -> None:
    """Reserve resources of an agent for a role, and wait until master and agent both show it.

    What is offered is taken back for it; what tasks use is not available.
    """
    given = list(words or ())
    several = any_agent or count is not None
    if not several and not given:
        raise UsageError("which agent?", hint="name one, or give --any or --count N")
    if attribute and not several:
        raise UsageError("--attribute chooses among agents", field="--attribute", hint="give --any or --count N too")
    how = sending.manner(session)
    agent = None if several else given.pop(0)
    if sending.file is not None:
        _from_file(session, agent_beside_file(agent, given, of.are_said, reserver), sending.file, how)
        return
    if of.role is None or not given:
        raise UsageError("RESOURCES and --role are needed", hint="mesosctl reserve agent-1 cpus:8 mem:4GiB --role ads")
    entries = parse_amounts(given)
    with session.open_master() as master:
        credentials = master.settings.credentials
        wanted = of.owner(of.role, reserver or (credentials.principal if credentials else None))
        if agent is not None:
            changes = _on_one(master, agent, entries, wanted, how)
        else:
            changes = _on_some(master, pairs(attribute, "--attribute"), count or 1, entries, wanted, how)
        session.emit(agent_changes(changes))


def _from_file(session: Session, agent: str, file: str, how: Manner) -> None:
    """What the JSON says, on one agent."""
    from mesosctl.ops.reservation.agents import find_agent, read_agents
    from mesosctl.ops.reservation.making import plan_reserve
    from mesosctl.ops.reservation.operating import operate
    from mesosctl.ops.reservation.payload import read_reserve
    from mesosctl.ops.resource_names import check_entries

    text = read_text(file, "--file", session.environment.stdin)
    with session.open_master() as master:
        credentials = master.settings.credentials
        payload = read_reserve(text, named(file), credentials.principal if credentials else None)
        check_entries(master, payload.resources)
        found = find_agent(read_agents(master), agent)
        payload.check_agent(found)
        plan = plan_reserve(master, found, payload.resources, payload.source)
        session.emit(agent_changes(operate(master, [plan], how)))


def _on_one(master: "Master", agent: str, entries: Sequence[Resource], wanted: Owner, how: Manner) -> list[AgentChange]:
    from mesosctl.ops.reservation.agents import find_agent, read_agents
    from mesosctl.ops.reservation.making import reserve_for

    return reserve_for(master, [find_agent(read_agents(master), agent)], entries, wanted, how)


def _on_some(  # the words of one command
    master: "Master",
    attributes: Sequence[tuple[str, str]],
    count: int,
    entries: Sequence[Resource],
    wanted: Owner,
    how: Manner,
) -> list[AgentChange]:
    """On `count` agents with these attributes, those with most room first."""
    from mesosctl.ops.reservation.agents import read_agents, with_attributes
    from mesosctl.ops.reservation.making import reserve_on_some

    return reserve_on_some(master, with_attributes(read_agents(master), dict(attributes)), count, entries, wanted, how)
