"""`mesosctl reserve`."""

from typing import Annotated

import typer

from mesosctl.cli.files import read_text
from mesosctl.cli.quota.words import parse_words
from mesosctl.cli.reservation.words import (
    Attributes,
    LabelWords,
    OptionalRole,
    OptionalWords,
    Reserver,
    TrustMaster,
    Under,
    manner,
    owner,
    pairs,
)
from mesosctl.cli.session import Session
from mesosctl.cli.verb import verb
from mesosctl.core.errors import UsageError
from mesosctl.render.reservations import agent_changes

Any = Annotated[bool, typer.Option("--any", help="On the agent with most room for it.", show_default=False)]
Count = Annotated[int | None, typer.Option("--count", metavar="N", min=1, help="On N agents, each the whole of it.")]
File = Annotated[
    str | None,
    typer.Option("--file", "-f", metavar="FILE", help="Read the documented JSON instead of RESOURCES; - is stdin."),
]

EXAMPLES = (
    ("reserve agent-1 cpus:8 mem:4GiB --role ads", "reserve on one agent"),
    ("reserve S0 cpus:2 --role ads/video --under ads", "refine what is reserved for ads"),
    ("reserve --count 3 cpus:4 --role db --attribute rack=r1", "on three agents of a rack"),
    ("reserve agent-1 -f reserve.json", "from the JSON of POST /reserve"),
)


@verb(EXAMPLES)
def command(  # noqa: PLR0913  # one parameter an option
    session: Session,
    words: OptionalWords = None,
    *,
    role: OptionalRole = None,
    under: Under = None,
    label: LabelWords = None,
    reserver: Reserver = None,
    any_agent: Any = False,
    count: Count = None,
    attribute: Attributes = None,
    file: File = None,
    trust_master: TrustMaster = False,
) -> None:
    """Reserve resources of an agent for a role, and wait until master and agent both show it.

    What is offered is taken back for it; what tasks use is not available.
    """
    from mesosctl.ops.reservation import agents as meant
    from mesosctl.ops.reservation.making import plan_reserve, reserve_for, reserve_on_some
    from mesosctl.ops.reservation.operating import operate

    how = manner(session, trust_master=trust_master)
    given = list(words or ())
    several = any_agent or count is not None
    if not several and not given:
        raise UsageError("which agent?", hint="name one, or give --any or --count N")
    if attribute and not several:
        raise UsageError("--attribute chooses among agents", field="--attribute", hint="give --any or --count N too")
    agent_word = None if several else given.pop(0)
    if file is not None:
        if given or role is not None or agent_word is None or under or label or reserver:
            raise UsageError("with --file only AGENT is named", field="--file", hint="the JSON says the rest")
        from mesosctl.ops.reservation.payload import read_payload

        with session.open_master() as master:
            payload = read_payload(read_text(file, "--file", session.environment.stdin), master)
            agent = meant.find_agent(meant.read_agents(master), agent_word)
            plan = plan_reserve(master, agent, payload.resources, payload.source)
            session.emit(agent_changes(operate(master, [plan], how)))
        return
    if role is None or not given:
        raise UsageError("RESOURCES and --role are needed", hint="mesosctl reserve agent-1 cpus:8 mem:4GiB --role ads")
    entries = parse_words(given)
    with session.open_master() as master:
        credentials = master.settings.credentials
        wanted = owner(role, under, label, reserver or (credentials.principal if credentials else None))
        everybody = meant.read_agents(master)
        if agent_word is None:
            chosen = meant.with_attributes(everybody, dict(pairs(attribute, "--attribute")))
            changes = reserve_on_some(master, chosen, count or 1, entries, wanted, how)
        else:
            changes = reserve_for(master, [meant.find_agent(everybody, agent_word)], entries, wanted, how)
        session.emit(agent_changes(changes))
