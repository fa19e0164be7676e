"""Agents of which it makes no difference which one is lost: each of a kind is like the others.

They have equal resources, and the same frameworks hold and are offered the same of them.
"""

from collections import Counter
from collections.abc import Iterable

from fake_master.state.agents import KnownAgent
from fake_master.state.master_state import MasterState
from fake_master.state.tasks import TaskGroup
from mesosctl.mesos.amounts.holding import dominant_share
from mesosctl.mesos.amounts.identity import IdentityCache
from mesosctl.mesos.amounts.quantities import Quantities

_text = IdentityCache(lambda resources: resources.text())
"""Many agents and tasks share their resources."""


def alike_agents(state: MasterState) -> list[tuple[str, ...]]:
    """Return the ids of the agents in service in groups of alike ones, those first that hold most.

    Attributes count only if a framework has constraints about them.  What an agent holds is its dominant share of all
    that is used; among equals, its size decides.
    """
    in_service = [agent for agent in state.agents.values() if agent.active]
    parts: dict[str, list[tuple[object, ...]]] = {agent.id: [] for agent in in_service}
    for framework in state.frameworks.values():
        tasks = Counter[str]()
        for task in framework.tasks_or_groups():
            tasks[task.agent_id] += len(task) if isinstance(task, TaskGroup) else int(not task.is_terminal)
        for agent_id, held in framework.held.items():
            if agent_id in parts:
                parts[agent_id].append(("held", framework.id, _text.of(held), tasks[agent_id]))
    for offer in state.offers:
        if offer.agent_id in parts:
            parts[offer.agent_id].append(("offered", offer.framework_id, offer.role, _text.of(offer.resources)))
    constrained = any(framework.offer_constraints for framework in state.frameworks.values())
    groups: dict[tuple[object, ...], list[KnownAgent]] = {}
    for agent in in_service:
        attributes = tuple(sorted(agent.attributes.items())) if constrained else ()
        kind = (_text.of(agent.whole), agent.domain, attributes, tuple(sorted(parts[agent.id], key=str)))
        groups.setdefault(kind, []).append(agent)
    totals = _totals(in_service)
    found = [sorted(group, key=lambda agent: (agent.hostname, agent.id)) for group in groups.values()]
    found.sort(key=lambda group: (*_holds(group[0], totals), group[0].hostname, group[0].id))
    return [tuple(agent.id for agent in group) for group in found]


def _totals(agents: Iterable[KnownAgent]) -> Quantities:
    return Quantities.total(agent.total.scalar_quantities() for agent in agents)


def _holds(agent: KnownAgent, totals: Quantities) -> tuple[float, float]:
    """The dominant shares of what is used of an agent and of all of it, below zero: the largest first."""
    used, whole = agent.used.scalar_quantities(), agent.total.scalar_quantities()
    return -dominant_share(used, totals)[1], -dominant_share(whole, totals)[1]
