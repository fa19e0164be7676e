"""An allocator in front of another one: the base of those that add something to the decisions of another."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from fake_master.allocator.interface import (
    AgentInfo,
    Allocator,
    FrameworkInfo,
    ResourceRequest,
    Unavailability,
)
from mesosctl.model.quantities import Quota
from mesosctl.model.reservations.operations import Conversion
from mesosctl.model.resources import Resources

# ruff: noqa: D102  # the interface documents its methods


class ForwardingAllocator(Allocator):
    """Forwards every event to another allocator; a subclass overrides what it adds to."""

    def __init__(self, allocator: Allocator) -> None:
        self._allocator = allocator

    def advance_to(self, now: float) -> None:
        self._allocator.advance_to(now)

    def next_deadline(self) -> float | None:
        return self._allocator.next_deadline()

    def add_agent(
        self,
        info: AgentInfo,
        total: Resources,
        used: Mapping[str, Resources] | None = None,
        unavailability: Unavailability | None = None,
    ) -> None:
        self._allocator.add_agent(info, total, used, unavailability)

    def update_agent(self, info: AgentInfo, total: Resources | None = None) -> None:
        self._allocator.update_agent(info, total)

    def add_resource_provider(self, agent: str, total: Resources, used: Mapping[str, Resources]) -> None:
        self._allocator.add_resource_provider(agent, total, used)

    def remove_agent(self, agent: str) -> None:
        self._allocator.remove_agent(agent)

    def activate_agent(self, agent: str) -> None:
        self._allocator.activate_agent(agent)

    def deactivate_agent(self, agent: str) -> None:
        self._allocator.deactivate_agent(agent)

    def update_unavailability(self, agent: str, unavailability: Unavailability | None) -> None:
        self._allocator.update_unavailability(agent, unavailability)

    def update_whitelist(self, hostnames: Collection[str] | None) -> None:
        self._allocator.update_whitelist(hostnames)

    def add_framework(
        self,
        info: FrameworkInfo,
        used: Mapping[str, Resources] | None = None,
        *,
        active: bool = True,
        suppressed: Collection[str] = (),
    ) -> None:
        self._allocator.add_framework(info, used, active=active, suppressed=suppressed)

    def update_framework(self, info: FrameworkInfo, *, suppressed: Collection[str] = ()) -> None:
        self._allocator.update_framework(info, suppressed=suppressed)

    def remove_framework(self, framework: str) -> None:
        self._allocator.remove_framework(framework)

    def activate_framework(self, framework: str) -> None:
        self._allocator.activate_framework(framework)

    def deactivate_framework(self, framework: str) -> None:
        self._allocator.deactivate_framework(framework)

    def suppress(self, framework: str, roles: Collection[str] | None = None) -> None:
        self._allocator.suppress(framework, roles)

    def revive(self, framework: str, roles: Collection[str] | None = None) -> None:
        self._allocator.revive(framework, roles)

    def request_resources(self, framework: str, requests: Sequence[ResourceRequest]) -> None:
        self._allocator.request_resources(framework, requests)

    def recover_resources(
        self,
        framework: str,
        agent: str,
        resources: Resources,
        refuse_seconds: float | None = None,
        *,
        is_allocated: bool = False,
    ) -> None:
        self._allocator.recover_resources(framework, agent, resources, refuse_seconds, is_allocated=is_allocated)

    def restore_offered(self, framework: str, agent: str, resources: Resources) -> None:
        self._allocator.restore_offered(framework, agent, resources)

    def transition_offered_to_allocated(self, agent: str, resources: Resources) -> None:
        self._allocator.transition_offered_to_allocated(agent, resources)

    def update_allocation(
        self, framework: str, agent: str, offered: Resources, conversions: Iterable[Conversion]
    ) -> None:
        self._allocator.update_allocation(framework, agent, offered, conversions)

    def update_available(self, agent: str, conversions: Iterable[Conversion]) -> bool:
        return self._allocator.update_available(agent, conversions)

    def update_quota(self, role: str, quota: Quota) -> None:
        self._allocator.update_quota(role, quota)

    def update_weights(self, weights: Mapping[str, float]) -> None:
        self._allocator.update_weights(weights)

    def recover(self, expected_agents: int, quotas: Mapping[str, Quota]) -> None:
        self._allocator.recover(expected_agents, quotas)

    def pause(self) -> None:
        self._allocator.pause()

    def resume(self) -> None:
        self._allocator.resume()

    def update_inverse_offer(self, framework: str, agent: str, refuse_seconds: float | None = None) -> None:
        self._allocator.update_inverse_offer(framework, agent, refuse_seconds)

    def metrics(self) -> dict[str, float]:
        return self._allocator.metrics()
