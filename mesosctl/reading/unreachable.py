"""The agents that are unreachable, read from a master's metrics and registry."""

from typing import Any

from mesosctl.client.leading_master import LeadingMaster
from mesosctl.mesos.amounts.notation import counted
from mesosctl.mesos.cluster.unreachable import UnreachableAgent, UnreachableAgents
from mesosctl.mesos.errors import MesosctlError
from mesosctl.suggestion import command

_REGISTRY = "/registrar(1)/registry"
_NANOSECONDS = 1_000_000_000


def unreachable_agents(master: LeadingMaster) -> UnreachableAgents:
    """Return the agents that are unreachable; none if the master's metrics cannot be read.

    The registry, which has every agent, is read only if there are any.
    """
    number = _number(master)
    return UnreachableAgents(number, in_registry(master)) if number else UnreachableAgents()


def note_unreachable(master: LeadingMaster) -> None:
    """Tell the operator if agents are unreachable, of which a list or a snapshot has nothing."""
    number = _number(master)
    if number:
        are = f"{counted(number, 'agent')} {'is' if number == 1 else 'are'} unreachable"
        master.notice(f"{are}, and left out with the tasks there; {command('agents')} shows which")


def _number(master: LeadingMaster) -> int:
    """How many agents are unreachable; 0 if the metrics cannot be read."""
    try:
        return int(master.get_once("/metrics/snapshot").get("master/slaves_unreachable", 0))
    except (MesosctlError, AttributeError, TypeError, ValueError):
        return 0


def in_registry(master: LeadingMaster) -> tuple[UnreachableAgent, ...] | None:
    """Return the unreachable agents in the registry; None if it cannot be read."""
    try:
        entries: Any = master.get(_REGISTRY).get("unreachable", {}).get("slaves", [])
        found = [
            UnreachableAgent(entry["id"]["value"], entry["timestamp"]["nanoseconds"] / _NANOSECONDS)
            for entry in entries
        ]
    except (MesosctlError, AttributeError, KeyError, TypeError):
        return None
    return tuple(sorted(found, key=lambda agent: (agent.since, agent.id)))
