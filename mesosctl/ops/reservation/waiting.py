"""`reservations --wait-for`: until an agent has so much reserved for a role, or nothing any more."""

from collections.abc import Sequence
from dataclasses import replace

from mesosctl.client.master import Master
from mesosctl.core.errors import MesosctlError, NotConfirmed, NotFound
from mesosctl.core.holdings import AgentHolding
from mesosctl.core.quantities import Quantities
from mesosctl.core.resource import Resource
from mesosctl.core.resources import Resources
from mesosctl.ops.reservation.agents import read_agents
from mesosctl.ops.reservation.operating import FIRST_PAUSE, LONGEST_PAUSE, Manner
from mesosctl.wire import holdings


def wait_until_reserved(
    master: Master, agent: AgentHolding, role: str, wanted: Sequence[Resource], manner: Manner
) -> AgentHolding:
    """The agent, once `role` has `wanted` there, by any stack; no entries: once it has nothing.

    Raises NotConfirmed at the deadline, naming who never showed it; NotFound where the agent goes away.
    """
    amounts, pause = Resources(wanted).quantities(), FIRST_PAUSE
    while True:
        now = next((one for one in read_agents(master) if one.id == agent.id), None)
        if now is None:
            raise NotFound(f"agent {agent.name} has left the master", field="agent", rule="agent.exists")
        missing = [] if _has(now.total, role, amounts) else ["the master"]
        if manner.ask_agents and not _agent_has(master, now, role, amounts):
            missing.append("the agent")
        if not missing:
            return now
        who = " and ".join(missing)
        if master.deadline.remaining() <= pause:
            raise NotConfirmed(
                f"{who} never showed {amounts or 'nothing'} reserved for '{role}' on {agent.name}",
                hint="--timeout waits longer",
            )
        manner.tell(f"waiting for {who} to show it on {agent.name}")
        master.settings.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE)


def _agent_has(master: Master, agent: AgentHolding, role: str, amounts: Quantities) -> bool:
    try:
        return _has(holdings.agent_state(master.agent_state(agent.pid)), role, amounts)
    except MesosctlError:
        return False


def _has(total: Resources, role: str, amounts: Quantities) -> bool:
    owned = Resources(replace(entry, reservations=()) for entry in total.reserved(role))
    return owned.quantities().contains(amounts) if amounts else not len(owned)
