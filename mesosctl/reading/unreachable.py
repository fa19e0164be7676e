"""The agents that are unreachable, read from a master's metrics and registry."""

from collections.abc import Iterable
from typing import Any

from mesosctl.client.leading_master import LeadingMaster
from mesosctl.mesos.amounts.notation import counted
from mesosctl.mesos.cluster.unreachable import UnreachableAgent, UnreachableAgents, tasks_in_words
from mesosctl.mesos.errors import MesosctlError

_REGISTRY = "/registrar(1)/registry"
_NANOSECONDS = 1_000_000_000


def unreachable_agents(master: LeadingMaster) -> UnreachableAgents:
    """Return the agents that are unreachable; none if the master's metrics cannot be read.

    The registry, which has every agent, is read only if there are any.
    """
    number = number_unreachable(master)
    return UnreachableAgents(number, in_registry(master)) if number else UnreachableAgents()


def number_unreachable(master: LeadingMaster) -> int:
    """How many agents are unreachable; 0 if the metrics cannot be read."""
    try:
        return number_in(master.get_once("/metrics/snapshot"))
    except MesosctlError:
        return 0


def number_in(metrics: Any) -> int:
    """How many agents are unreachable, as the answer of /metrics/snapshot has it; 0 if it does not."""
    try:
        return int(metrics.get("master/slaves_unreachable", 0))
    except (AttributeError, TypeError, ValueError):
        return 0


def unreachable_in_words(number: int, frameworks: Iterable[str]) -> str:
    """How many agents are unreachable, and whose tasks are there: `frameworks` are theirs, one for each task."""
    are = f"{counted(number, 'agent')} {'is' if number == 1 else 'are'} unreachable"
    return f"{are}, with {tasks_in_words(frameworks)}"


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
