"""The hierarchical allocator: dominant resource fairness, guarantees first; the package's README explains it.

Derived allocators have these hooks: the keyword arguments of the constructor, `_framework_changed`, and
`_filter_expired`.
"""

from collections.abc import Iterable, Mapping

from fake_master.allocator.hierarchical.agent_and_framework_events import AgentEvents, FrameworkEvents
from fake_master.allocator.hierarchical.allocation_runs import AllocationRuns, RunSteps
from fake_master.allocator.hierarchical.batch_schedule import Timers
from fake_master.allocator.hierarchical.offer_filters import InverseOffers, OfferFilters
from fake_master.allocator.hierarchical.stages.regular import Stage
from fake_master.allocator.hierarchical.state import State
from fake_master.allocator.interface import InverseOfferCallback, OfferCallback
from fake_master.allocator.options import Options
from mesosctl.model.errors import Conflict
from mesosctl.model.quantities import Quota
from mesosctl.model.reservations.operations import Conversion, apply_all
from mesosctl.model.resources import Resources

# ruff: noqa: D102  # the interface documents its methods


class HierarchicalAllocator(AgentEvents, FrameworkEvents):
    """Takes the events of agents and of frameworks from its bases, and has all others.

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
        timers = Timers(now)
        inverse_offers = InverseOffers(self.state, timers)
        self.filters = OfferFilters(self.state, timers, self._filter_expired)
        self.allocation_runs = AllocationRuns(
            self.state, timers, inverse_offers, on_offers, on_inverse_offers, steps or RunSteps(), share
        )
        self._inverse_offers = inverse_offers

    # --- Time ---------------------------------------------------------------------------------------

    def advance_to(self, now: float) -> None:
        self.allocation_runs.advance_to(now)

    def next_deadline(self) -> float | None:
        return self.allocation_runs.next_deadline()

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
        if not resources:
            return
        state = self.state
        allocation = state.pool.allocations.of(resources)
        where = state.agents.get(agent)
        if where is not None and is_allocated:
            state.mark_allocated(where, allocation, -1)
        record = state.frameworks.get(framework)
        client = record.clients.get(allocation.role) if record is not None else None
        if where is None or client is None:
            return
        state.give_back(where, client, allocation)
        where.refresh()
        if not client.allocation_count:
            state.forget_client_unless_needed(client)
        if refuse_seconds is not None:
            self.filters.install(client, where, allocation.without_role, refuse_seconds)

    def restore_offered(self, framework: str, agent: str, resources: Resources) -> None:
        record = self.state.agents[agent]
        self.state.hold_all(record, self.state.frameworks[framework], resources)
        record.refresh()

    def transition_offered_to_allocated(self, agent: str, resources: Resources) -> None:
        self.state.mark_all_allocated(self.state.agents[agent], resources)

    def update_allocation(
        self, framework: str, agent: str, offered: Resources, conversions: Iterable[Conversion]
    ) -> None:
        state, record = self.state, self.state.agents[agent]
        steps = list(conversions)
        before = state.pool.allocations.of(offered)
        client = state.frameworks[framework].clients[before.role]
        after = apply_all(offered, steps)
        total = _applied_to_total(record.capacity.total, steps)
        state.convert(record, client, before, after)
        state.replace_total(record, record.info, total)
        record.refresh()

    def update_available(self, agent: str, conversions: Iterable[Conversion]) -> bool:
        record = self.state.agents[agent]
        steps = list(conversions)
        try:
            apply_all(record.free_resources.resources, steps)
        except Conflict:
            return False
        self.state.replace_total(record, record.info, apply_all(record.capacity.total, steps))
        return True

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


def _applied_to_total(total: Resources, conversions: Iterable[Conversion]) -> Resources:
    """Return an agent's total after operations on allocated resources.  Raises Conflict.

    Further copies of a shared volume consume nothing and leave the total as it is.
    """
    steps = (step for step in conversions if step.consumed)
    return apply_all(
        total, (Conversion(step.consumed.allocated_to(None), step.converted.allocated_to(None)) for step in steps)
    )
