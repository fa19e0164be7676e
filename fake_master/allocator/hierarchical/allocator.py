"""The hierarchical allocator: dominant resource fairness, guarantees first; the package's README explains it."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from fake_master.allocator.hierarchical.agent_events import Agents
from fake_master.allocator.hierarchical.allocation_runs import AllocationRuns, RunSteps
from fake_master.allocator.hierarchical.batch_schedule import Timers
from fake_master.allocator.hierarchical.framework_events import Frameworks
from fake_master.allocator.hierarchical.offer_filters import InverseOffers, OfferFilters
from fake_master.allocator.hierarchical.resource_events import AllocatedResources
from fake_master.allocator.hierarchical.stages.regular import Stage
from fake_master.allocator.hierarchical.state import State
from fake_master.allocator.interface import (
    AgentInfo,
    Allocator,
    FrameworkInfo,
    InverseOfferCallback,
    OfferCallback,
    ResourceRequest,
    Unavailability,
    Used,
)
from fake_master.allocator.options import Options
from mesosctl.model.quantities import Quota
from mesosctl.model.reservations.operations import Conversion
from mesosctl.model.resources import Resources

# ruff: noqa: D102  # the interface documents its methods


class HierarchicalAllocator(Allocator):
    """Passes each event to one of its parts.

    `advance_to` calls the callbacks at the end of a run; events that they report take part in the next run.
    """

    def __init__(
        self,
        options: Options,
        on_offers: OfferCallback,
        on_inverse_offers: InverseOfferCallback | None = None,
        now: float = 0.0,
        *,
        state: State | None = None,
        steps: RunSteps | None = None,
        share: Stage | None = None,
    ) -> None:
        """Derived allocators pass a `state` with another order of roles, `steps`, or a `share` function."""
        self.state = state or State(options)
        """Agents, frameworks and roles, for reading: explanations, what-ifs and tests."""
        timers = Timers(now)
        inverse_offers = InverseOffers(self.state, timers)
        self.filters = OfferFilters(self.state, timers)
        self.allocation_runs = AllocationRuns(
            self.state, timers, inverse_offers, on_offers, on_inverse_offers, steps or RunSteps(), share
        )
        self._inverse_offers = inverse_offers
        self._agents = Agents(self.state, self.allocation_runs, self.filters, inverse_offers)
        self._frameworks = Frameworks(self.state, self.allocation_runs, self.filters, inverse_offers)
        self._resources = AllocatedResources(self.state, self.filters)

    # --- Time ---------------------------------------------------------------------------------------

    def advance_to(self, now: float) -> None:
        self.allocation_runs.advance_to(now)

    def next_deadline(self) -> float | None:
        return self.allocation_runs.next_deadline()

    # --- Agents -------------------------------------------------------------------------------------

    def add_agent(
        self, info: AgentInfo, total: Resources, used: Used | None = None, unavailability: Unavailability | None = None
    ) -> None:
        self._agents.add(info, total, used or {}, unavailability)

    def update_agent(self, info: AgentInfo, total: Resources | None = None) -> None:
        self._agents.update(info, total)

    def add_resource_provider(self, agent: str, total: Resources, used: Used) -> None:
        self._agents.add_resource_provider(agent, total, used)

    def remove_agent(self, agent: str) -> None:
        self._agents.remove(agent)

    def activate_agent(self, agent: str) -> None:
        self._agents.set_activated(agent, activated=True)

    def deactivate_agent(self, agent: str) -> None:
        self._agents.set_activated(agent, activated=False)

    def update_unavailability(self, agent: str, unavailability: Unavailability | None) -> None:
        self._agents.update_unavailability(agent, unavailability)

    def update_whitelist(self, hostnames: Collection[str] | None) -> None:
        self._agents.update_whitelist(hostnames)

    # --- Frameworks ---------------------------------------------------------------------------------

    def add_framework(
        self, info: FrameworkInfo, used: Used | None = None, *, active: bool = True, suppressed: Collection[str] = ()
    ) -> None:
        self._frameworks.add(info, used or {}, suppressed, active=active)

    def update_framework(self, info: FrameworkInfo, *, suppressed: Collection[str] = ()) -> None:
        self._frameworks.update(info, suppressed)

    def remove_framework(self, framework: str) -> None:
        self._frameworks.remove(framework)

    def activate_framework(self, framework: str) -> None:
        self._frameworks.activate(framework)

    def deactivate_framework(self, framework: str) -> None:
        self._frameworks.deactivate(framework)

    def suppress(self, framework: str, roles: Collection[str] | None = None) -> None:
        self._frameworks.suppress(framework, roles)

    def revive(self, framework: str, roles: Collection[str] | None = None) -> None:
        self._frameworks.revive(framework, roles)

    def request_resources(self, framework: str, requests: Sequence[ResourceRequest]) -> None:
        """Accept and ignore requests, as Mesos's own allocator does."""

    # --- Resources ----------------------------------------------------------------------------------

    def recover_resources(
        self,
        framework: str,
        agent: str,
        resources: Resources,
        refuse_seconds: float | None = None,
        *,
        is_allocated: bool = False,
    ) -> None:
        self._resources.recover(framework, agent, resources, refuse_seconds, is_allocated=is_allocated)

    def restore_offered(self, framework: str, agent: str, resources: Resources) -> None:
        self._resources.restore_offered(framework, agent, resources)

    def transition_offered_to_allocated(self, agent: str, resources: Resources) -> None:
        self._resources.accepted(agent, resources)

    def update_allocation(
        self, framework: str, agent: str, offered: Resources, conversions: Iterable[Conversion]
    ) -> None:
        self._resources.convert_offered(framework, agent, offered, conversions)

    def update_available(self, agent: str, conversions: Iterable[Conversion]) -> bool:
        return self._resources.convert_free(agent, conversions)

    # --- Roles --------------------------------------------------------------------------------------

    def update_quota(self, role: str, quota: Quota) -> None:
        self.state.set_quota(role, quota)

    def update_weights(self, weights: Mapping[str, float]) -> None:
        self.state.set_weights(weights)

    # --- Runs ---------------------------------------------------------------------------------------

    def recover(self, expected_agents: int, quotas: Mapping[str, Quota]) -> None:
        self.allocation_runs.recover(expected_agents, quotas)

    def pause(self) -> None:
        self.allocation_runs.gate.pause()

    def resume(self) -> None:
        self.allocation_runs.gate.resume()

    # --- Inverse offers -----------------------------------------------------------------------------

    def update_inverse_offer(self, framework: str, agent: str, refuse_seconds: float | None = None) -> None:
        self._inverse_offers.answered(framework, agent, refuse_seconds)

    # --- Figures ------------------------------------------------------------------------------------

    def metrics(self) -> dict[str, float]:
        return self.allocation_runs.metrics()
