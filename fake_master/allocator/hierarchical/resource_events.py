"""The events of offered and allocated resources (allocator specification, "Recovering resources and filters")."""

from collections.abc import Iterable

from fake_master.allocator.hierarchical.offer_filters import OfferFilters
from fake_master.allocator.hierarchical.state import State
from mesosctl.model.errors import Conflict
from mesosctl.model.reservations.operations import Conversion, apply_all
from mesosctl.model.resources import Resources


class AllocatedResources:
    """Resources are returned, accepted, or converted. `Allocator` documents the events."""

    def __init__(self, state: State, filters: OfferFilters) -> None:
        self._state = state
        self._filters = filters

    def recover(
        self,
        framework_id: str,
        agent_id: str,
        resources: Resources,
        refuse_seconds: float | None,
        *,
        is_allocated: bool,
    ) -> None:
        """Take back resources of one allocation role, and filter them if they were refused."""
        if not resources:
            return
        state = self._state
        allocation = state.pool.allocations.of(resources)
        agent = state.agents.get(agent_id)
        if agent is not None and is_allocated:
            state.mark_allocated(agent, allocation, -1)
        framework = state.frameworks.get(framework_id)
        client = framework.clients.get(allocation.role) if framework is not None else None
        if agent is None or client is None:
            return
        state.give_back(agent, client, allocation)
        agent.refresh()
        if not client.allocation_count:
            state.forget_client_unless_needed(client)
        if refuse_seconds is not None:
            self._filters.install(client, agent, allocation.without_role, refuse_seconds)

    def restore_offered(self, framework_id: str, agent_id: str, resources: Resources) -> None:
        """Account resources that an earlier master offered."""
        agent = self._state.agents[agent_id]
        self._state.hold_all(agent, self._state.frameworks[framework_id], resources)
        agent.refresh()

    def accepted(self, agent_id: str, resources: Resources) -> None:
        """Account offered resources as allocated."""
        self._state.mark_all_allocated(self._state.agents[agent_id], resources)

    def convert_offered(
        self, framework_id: str, agent_id: str, offered: Resources, conversions: Iterable[Conversion]
    ) -> None:
        """Apply operations to an offer, and to the agent's total."""
        state = self._state
        agent = state.agents[agent_id]
        steps = list(conversions)
        before = state.pool.allocations.of(offered)
        client = state.frameworks[framework_id].clients[before.role]
        after = apply_all(offered, steps)
        total = apply_to_total(agent.capacity.total, steps)
        state.convert(agent, client, before, after)
        state.replace_total(agent, agent.info, total)
        agent.refresh()

    def convert_free(self, agent_id: str, conversions: Iterable[Conversion]) -> bool:
        """Apply operations to free resources; return False, and do nothing, if they are not free."""
        state = self._state
        agent = state.agents[agent_id]
        steps = list(conversions)
        try:
            apply_all(agent.free_resources.resources, steps)
        except Conflict:
            return False
        state.replace_total(agent, agent.info, apply_all(agent.capacity.total, steps))
        return True


def apply_to_total(total: Resources, conversions: Iterable[Conversion]) -> Resources:
    """Return an agent's total after operations on allocated resources.  Raises Conflict.

    Further copies of a shared volume consume nothing and leave the total as it is.
    """
    steps = (step for step in conversions if step.consumed)
    return apply_all(
        total, (Conversion(step.consumed.allocated_to(None), step.converted.allocated_to(None)) for step in steps)
    )
