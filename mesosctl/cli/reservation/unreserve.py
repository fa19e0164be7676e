"""`mesosctl unreserve`."""

from typing import Annotated

import typer

from mesosctl.cli.files import read_text
from mesosctl.cli.quota.words import parse_words
from mesosctl.cli.reservation.reserve import File
from mesosctl.cli.reservation.words import (
    LabelWords,
    OptionalRole,
    OptionalWords,
    TrustMaster,
    Under,
    manner,
    owner,
)
from mesosctl.cli.session import Session
from mesosctl.cli.verb import verb
from mesosctl.core.errors import UsageError
from mesosctl.core.holdings import AgentChange
from mesosctl.core.resources import Resources
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


@verb(EXAMPLES)
def command(  # noqa: PLR0913  # one parameter an option
    session: Session,
    words: OptionalWords = None,
    *,
    role: OptionalRole = None,
    under: Under = None,
    label: LabelWords = None,
    reserver: Of = None,
    everything: All = False,
    file: File = None,
    trust_master: TrustMaster = False,
) -> None:
    """Undo dynamic reservations: a refined one falls back to the role below it.

    The reserver's principal and the labels are found on the agent.  --all shows first what it would
    undo, and asks; a script says --yes.
    """
    from mesosctl.ops.reservation import agents as meant
    from mesosctl.ops.reservation.operating import operate
    from mesosctl.ops.reservation.undoing import plan_all, plan_unreserve, unreserve_of

    how = manner(session, trust_master=trust_master)
    given = list(words or ())
    agent_word = given.pop(0) if given else None
    if file is not None:
        if given or role is not None or everything or agent_word is None:
            raise UsageError("with --file only AGENT is named", field="--file", hint="the JSON says the rest")
        from mesosctl.ops.reservation.payload import read_payload

        with session.open_master() as master:
            payload = read_payload(read_text(file, "--file", session.environment.stdin))
            agent = meant.find_agent(meant.read_agents(master), agent_word)
            session.emit(agent_changes(operate(master, [plan_unreserve(master, agent, payload.resources)], how)))
        return
    if role is None or (everything and given) or not (everything or (agent_word and given)):
        raise UsageError(
            "AGENT, RESOURCES and --role are needed, or --role and --all",
            hint="mesosctl unreserve agent-1 cpus:2 --role ads",
        )
    wanted = owner(role, under, label, reserver)
    with session.open_master() as master:
        everybody = meant.read_agents(master)
        if not everything:
            assert agent_word is not None
            entries = parse_words(given)
            session.emit(
                agent_changes(unreserve_of(master, meant.find_agent(everybody, agent_word), entries, wanted, how))
            )
            return
        plans = plan_all(master, [meant.find_agent(everybody, agent_word)] if agent_word else everybody, wanted)
        if not session.options.yes:
            session.show(
                agent_changes([AgentChange(plan.agent, "unreserved", Resources(plan.resources)) for plan in plans])
            )
        session.confirm_destructive(f"Unreserve all of this, on {len(plans)} agent{'s' * (len(plans) > 1)}?")
        session.emit(agent_changes(operate(master, plans, how)))
