"""What a master tells of why a role of a framework gets offers or does not."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mesosctl.core import master_flags
from mesosctl.core.admission import Abilities, Taste, Traits
from mesosctl.core.agent_names import told_apart
from mesosctl.core.minimum import is_allocatable
from mesosctl.core.quantities import Quantities, Quota
from mesosctl.core.resources import Resources
from mesosctl.core.standing import RoleUsage
from mesosctl.wire.agent_standing import AgentStanding
from mesosctl.wire.framework_standing import FrameworkStanding
from mesosctl.wire.tenant_tasks import TenantTask


@dataclass(frozen=True, slots=True)
class Scene:
    """What the master told; None or empty where it did not."""

    framework: FrameworkStanding
    role: str
    everybody: Sequence[FrameworkStanding]
    agents: Sequence[AgentStanding]
    awaited: int
    usage: Mapping[str, RoleUsage]
    quotas: Mapping[str, Quota]
    figures: Mapping[str, float] | None
    flags: Mapping[str, str]
    tenants: Sequence[TenantTask] | None = None
    """Tasks on what is lent, in the order of their start; None where nothing is, or tasks may not be seen."""

    def figure(self, ending: str) -> float | None:
        """The metric whose name ends so; None where there is none."""
        return next((value for name, value in (self.figures or {}).items() if name.endswith(ending)), None)

    def agent_names(self) -> dict[str, str]:
        """By agent id, what a sentence calls each agent."""
        return told_apart({agent.id: agent.hostname for agent in self.agents})

    def usable(self) -> dict[str, Resources]:
        """By agent id, what is free of agents in service and not reserved for somebody else."""
        found = {agent.id: agent.free.allocatable_to(self.role) for agent in self.agents if agent.active}
        return {agent_id: free for agent_id, free in found.items() if len(free)}

    def sufficient(self) -> dict[str, Resources]:
        """The part of `usable` that reaches the minimum of an offer."""
        alternatives = self.minimum()
        return {agent_id: free for agent_id, free in self.usable().items() if is_allocatable(free, alternatives)}

    def minimum(self) -> tuple[Quantities, ...]:
        """The alternatives of --min_allocatable_resources; none where everything is enough, or it cannot be read."""
        try:
            return master_flags.minimum(self.flags)
        except ValueError:
            return ()

    def lacking(self, agent: AgentStanding, free: Resources) -> str | None:
        """The capability for want of which nothing of what is free of an agent is offered; None for none."""
        able = Abilities.of(self.role, self.framework.capabilities)
        taste = Taste.of(self.framework.capabilities)
        traits = Traits.of(
            agent.capabilities,
            agent.total,
            filter_gpus=master_flags.filters_gpus(self.flags),
            region=agent.region,
            master_region=master_flags.region(self.flags),
        )
        missing = [taste.lack(entry) for entry in free]
        return able.lack(traits) or (missing[0] if missing and all(missing) else None)
