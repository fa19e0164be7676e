"""The facts that decide whether a role of a framework gets offers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mesosctl.api.agents import AgentUsage
from mesosctl.api.frameworks import FrameworkStatus, RevocableTask, revocable_tasks
from mesosctl.client.master import Master
from mesosctl.model import version_profile as profile
from mesosctl.model.errors import Denied
from mesosctl.model.eviction import AgentOccupancy, AgentTask, candidates, choose
from mesosctl.model.offers.admission import AcceptedKinds, AgentFeatures, Capabilities, is_allocatable
from mesosctl.model.offers.offers import Reason
from mesosctl.model.quantities import Quantities, Quota, to_milli
from mesosctl.model.quota.status import RoleUsage
from mesosctl.model.resources import Resources
from mesosctl.model.roles import display_names


@dataclass(frozen=True, slots=True)
class OfferContext:
    """The facts from the master; None or empty where it does not show them."""

    framework: FrameworkStatus
    role: str
    everybody: Sequence[FrameworkStatus]
    agents: Sequence[AgentUsage]
    awaited: int
    usage: Mapping[str, RoleUsage]
    quotas: Mapping[str, Quota]
    figures: Mapping[str, float] | None
    flags: Mapping[str, str]
    revocable_tasks: Sequence[RevocableTask] | None = None
    """Tasks on what is lent, in the order of their start; None where nothing is, or tasks may not be seen."""

    def figure(self, ending: str) -> float | None:
        """The metric whose name ends so; None where there is none."""
        return next((value for name, value in (self.figures or {}).items() if name.endswith(ending)), None)

    def agent_names(self) -> dict[str, str]:
        """By agent id, what a sentence calls each agent."""
        return display_names({agent.id: agent.hostname for agent in self.agents})

    def usable(self) -> dict[str, Resources]:
        """By agent id, what is free of agents in service and not reserved for other roles."""
        found = {agent.id: agent.free.allocatable_to(self.role) for agent in self.agents if agent.active}
        return {agent_id: free for agent_id, free in found.items() if len(free)}

    def sufficient(self) -> dict[str, Resources]:
        """The part of `usable` that reaches the minimum of an offer."""
        alternatives = self.minimum()
        return {agent_id: free for agent_id, free in self.usable().items() if is_allocatable(free, alternatives)}

    def minimum(self) -> tuple[Quantities, ...]:
        """The alternatives of --min_allocatable_resources; none where everything is enough, or it cannot be read."""
        try:
            return profile.minimum(self.flags)
        except ValueError:
            return ()

    def lacking(self, agent: AgentUsage, free: Resources) -> str | None:
        """The capability for want of which nothing of what is free of an agent is offered; None for none."""
        able = Capabilities.of(self.role, self.framework.capabilities)
        accepted_kinds = AcceptedKinds.of(self.framework.capabilities)
        traits = AgentFeatures.of(
            agent.capabilities,
            agent.total,
            filter_gpus=profile.filters_gpus(self.flags),
            region=agent.region,
            master_region=profile.region(self.flags),
        )
        missing = [accepted_kinds.missing_capability(entry) for entry in free]
        return able.missing_capability(traits) or (missing[0] if missing and all(missing) else None)


_PREFIX = "allocator/mesos/revocable/non_throttleable/resources/"


def revocable_tasks_if_any(
    master: Master, flags: Mapping[str, str], known: Sequence[FrameworkStatus]
) -> list[RevocableTask] | None:
    """Tasks on what is lent; None where nothing can be, or tasks may not be seen."""
    able = any("REVOCABLE_RESOURCES" in framework.capabilities for framework in known)
    if not able or flags.get("oversubscribe_reservations") != "true":
        return None
    try:
        return revocable_tasks(master.ask("GET_TASKS"), master.ask("GET_EXECUTORS"))
    except Denied:
        return None


def reasons(context: OfferContext) -> Iterator[Reason]:
    """None at all on a master that does not lend."""
    if context.flags.get("oversubscribe_reservations") == "true":
        yield _lent(context)
        if context.revocable_tasks:
            yield _evictions(context, context.revocable_tasks)


def _lent(context: OfferContext) -> Reason:
    """Of what lies idle a framework without the capability gets nothing."""
    idle, lent = _figures(context, "total"), _figures(context, "allocated")
    able = "REVOCABLE_RESOURCES" in context.framework.capabilities
    sentence = f"reservations lie idle: {idle}; of these, {lent} is lent to frameworks with REVOCABLE_RESOURCES"
    return Reason("cannot be lent to", bool(idle - lent) and not able and not context.usable(), sentence)


def _figures(context: OfferContext, kind: str) -> Quantities:
    figures = context.figures or {}
    names = {name.removeprefix(_PREFIX).rpartition("/")[0] for name in figures if name.startswith(_PREFIX)}
    return Quantities({name: to_milli(figures.get(f"{_PREFIX}{name}/{kind}", 0.0)) for name in names})


def _evictions(context: OfferContext, revocable_tasks: Sequence[RevocableTask]) -> Reason:
    """Return the tasks that would be evicted if the role used all that it can have of each agent."""
    names = {framework.id: framework.name for framework in context.everybody}
    agent_names = context.agent_names()
    listed = []
    for agent in context.agents:
        gone = _would_go(context, agent, [task for task in revocable_tasks if task.agent_id == agent.id])
        if gone:
            tasks = ", ".join(f"{names.get(task.framework_id, task.framework_id)}/{task.id}" for task in gone)
            listed.append(f"{tasks} on {agent_names[agent.id]}")
    would_go = f"these would be evicted, in this order: {'; '.join(listed)}" if listed else "no task would be evicted"
    return Reason("lent to others", False, f"if role {context.role} used everything that it can have, {would_go}")


def _would_go(
    context: OfferContext, agent: AgentUsage, revocable_tasks: Sequence[RevocableTask]
) -> list[RevocableTask]:
    lendable = _lendable_names(context.flags)

    def counted(resources: Resources) -> Quantities:
        amounts = resources.scalar_quantities()
        return Quantities({name: amount for name, amount in amounts.items() if name in lendable})

    used = counted(agent.used.non_revocable())
    wanted = counted((agent.total - agent.used).non_revocable().allocatable_to(context.role))
    lent = Quantities.total(counted(task.lent) for task in revocable_tasks)
    room = AgentOccupancy(counted(agent.total.non_revocable()), used + wanted, used, lent)
    guests = [
        AgentTask(task, task.container, counted(task.resources), lent=bool(task.lent), started=task.started is not None)
        for task in revocable_tasks
    ]
    return [task for together in choose(room.shortfall(), candidates(guests)) for task in together]


def _lendable_names(flags: Mapping[str, str]) -> frozenset[str]:
    try:
        return profile.lendable_names(flags)
    except ValueError:
        return frozenset()
