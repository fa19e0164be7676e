"""The capacity heuristic: what a cluster can promise, and whether its quotas fit (seeds/quota.md, spec/quota.md §6)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from mesosctl.model.errors import Conflict
from mesosctl.model.profile import Profile
from mesosctl.model.quantities import Quantities, Quota
from mesosctl.model.resources import Resources


@dataclass(frozen=True, slots=True)
class AgentCapacity:
    """What the capacity heuristic needs to know of one registered agent."""

    total: Resources
    active: bool = True
    """Connected and not deactivated."""


def capacity(agents: Iterable[AgentCapacity], profile: Profile) -> Quantities:
    """What the cluster can promise: `total - statically reserved` of the agents in service.

    On newer masters reserved resources count too, and so do inactive agents (spec/quota.md §6).
    """
    return Quantities.total(
        agent_capacity(agent, profile) for agent in agents if agent.active or profile.capacity_includes_inactive_agents
    )


def agent_capacity(agent: AgentCapacity, profile: Profile) -> Quantities:
    """One agent's part of `capacity`."""
    return agent.total.filter(
        lambda resource: (
            resource.is_scalar
            and not resource.revocable
            and (profile.capacity_includes_static_reservations or not resource.is_statically_reserved)
        )
    ).scalar_quantities()


def total_guarantees(quotas: Mapping[str, Quota]) -> Quantities:
    """What is promised in all; a parent's guarantee already contains its children's."""
    return Quantities.total(quota.guarantees for role, quota in quotas.items() if "/" not in role)


def check_capacity(quotas: Mapping[str, Quota], available: Quantities) -> None:
    """The heuristic: `available >= total quota`, request included; equality passes.  Raises Conflict."""
    wanted = total_guarantees(quotas)
    if not available.contains(wanted):
        short = Quantities({name: amount - available.get_amount(name) for name, amount in wanted.items()})
        raise Conflict(
            f"not enough capacity: guarantees of {wanted} in all against {available}, {short} too much",
            field="guarantee",
            rule="quota.capacity",
            hint="ask for less, or wait for agents that are on their way",
            override="--force",
        )


def unpromised(quotas: Mapping[str, Quota], available: Quantities) -> Quantities:
    """What no guarantee claims yet: the largest quota that would pass for a role without one.

    Nothing passes while more of any resource is promised than there is.
    """
    promised = total_guarantees(quotas)
    return available - promised if available.contains(promised) else Quantities()
