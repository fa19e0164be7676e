"""`offers explain` on a master that lends idle reservations: who may have them, and who would have to go."""

from collections.abc import Iterator, Mapping, Sequence

from mesosctl.client.master import Master
from mesosctl.core import master_flags
from mesosctl.core.errors import Denied
from mesosctl.core.eviction import Guest, Room, candidates, choose
from mesosctl.core.offers import Reason
from mesosctl.core.quantities import Quantities
from mesosctl.core.resources import Resources
from mesosctl.core.scalars import to_milli
from mesosctl.ops.offers.scene import Scene
from mesosctl.wire.agent_standing import AgentStanding
from mesosctl.wire.framework_standing import FrameworkStanding
from mesosctl.wire.tenant_tasks import TenantTask, tenant_tasks

_PREFIX = "allocator/mesos/revocable/non_throttleable/resources/"


def tenants_if_any(
    master: Master, flags: Mapping[str, str], known: Sequence[FrameworkStanding]
) -> list[TenantTask] | None:
    """Tasks on what is lent; None where nothing can be, or tasks may not be seen."""
    able = any("REVOCABLE_RESOURCES" in framework.capabilities for framework in known)
    if not able or flags.get("oversubscribe_reservations") != "true":
        return None
    try:
        return tenant_tasks(master.ask("GET_TASKS"), master.ask("GET_EXECUTORS"))
    except Denied:
        return None


def reasons(scene: Scene) -> Iterator[Reason]:
    """None at all on a master that does not lend."""
    if scene.flags.get("oversubscribe_reservations") == "true":
        yield _lent(scene)
        if scene.tenants:
            yield _evictions(scene, scene.tenants)


def _lent(scene: Scene) -> Reason:
    """Of what lies idle a framework without the capability gets nothing."""
    idle, lent = _figures(scene, "total"), _figures(scene, "allocated")
    able = "REVOCABLE_RESOURCES" in scene.framework.capabilities
    sentence = f"reservations lie idle: {idle}; of these {lent} is lent, to frameworks with REVOCABLE_RESOURCES"
    return Reason("cannot be lent to", bool(idle - lent) and not able and not scene.usable(), sentence)


def _figures(scene: Scene, kind: str) -> Quantities:
    figures = scene.figures or {}
    names = {name.removeprefix(_PREFIX).rpartition("/")[0] for name in figures if name.startswith(_PREFIX)}
    return Quantities({name: to_milli(figures.get(f"{_PREFIX}{name}/{kind}", 0.0)) for name in names})


def _evictions(scene: Scene, tenants: Sequence[TenantTask]) -> Reason:
    """Who would be evicted if the role used all that it can have of each agent."""
    names = {framework.id: framework.name for framework in scene.everybody}
    agent_names = scene.agent_names()
    listed = []
    for agent in scene.agents:
        gone = _would_go(scene, agent, [task for task in tenants if task.agent_id == agent.id])
        if gone:
            tasks = ", ".join(f"{names.get(task.framework_id, task.framework_id)}/{task.id}" for task in gone)
            listed.append(f"{tasks} on {agent_names[agent.id]}")
    would_go = f"these would be evicted, in this order: {'; '.join(listed)}" if listed else "nobody would be evicted"
    return Reason("lent to others", False, f"if role {scene.role} used all that it can have, {would_go}")


def _would_go(scene: Scene, agent: AgentStanding, tenants: Sequence[TenantTask]) -> list[TenantTask]:
    lendable = _lendable_names(scene.flags)

    def counted(resources: Resources) -> Quantities:
        amounts = resources.scalar_quantities()
        return Quantities({name: amount for name, amount in amounts.items() if name in lendable})

    used = counted(agent.used.non_revocable())
    wanted = counted((agent.total - agent.used).non_revocable().allocatable_to(scene.role))
    lent = Quantities.total(counted(task.lent) for task in tenants)
    room = Room(counted(agent.total.non_revocable()), used + wanted, used, lent)
    guests = [
        Guest(task, task.container, counted(task.resources), lent=bool(task.lent), started=task.started is not None)
        for task in tenants
    ]
    return [task for together in choose(room.lack(), candidates(guests)) for task in together]


def _lendable_names(flags: Mapping[str, str]) -> frozenset[str]:
    try:
        return master_flags.lendable_names(flags)
    except ValueError:
        return frozenset()
