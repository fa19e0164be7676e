"""The events of agents (allocator specification, "Events")."""

from collections.abc import Collection, Mapping

from fake_master.allocator.hierarchical.allocation_runs import AllocationRuns
from fake_master.allocator.hierarchical.offer_filters import InverseOffers, OfferFilters
from fake_master.allocator.hierarchical.records import Agent
from fake_master.allocator.hierarchical.state import State
from fake_master.allocator.interface import AgentInfo, Unavailability
from mesosctl.model.resources import Resources


class Agents:
    """Agents appear, change and disappear. `Allocator` documents the events."""

    def __init__(
        self, state: State, runs: AllocationRuns, filters: OfferFilters, inverse_offers: InverseOffers
    ) -> None:
        self._state = state
        self._runs = runs
        self._filters = filters
        self._inverse_offers = inverse_offers

    def add(
        self, info: AgentInfo, total: Resources, used: Mapping[str, Resources], unavailability: Unavailability | None
    ) -> None:
        """Account a new agent.  Raises ValueError if it is known."""
        state = self._state
        if info.id in state.agents:
            raise ValueError(f"agent {info.id} is already known")
        agent = state.agents[info.id] = Agent(info, state.capacity(info, total), next(state.sequence))
        state.agents_by_sequence[agent.sequence] = agent
        self._set_unavailability(agent, unavailability)
        state.count_total(agent.capacity, 1)
        self._account_used(agent, used)
        self._runs.gate.agents_known(len(state.agents))
        self._runs.request_run(info.id)

    def _account_used(self, agent: Agent, used: Mapping[str, Resources]) -> None:
        for framework_id, resources in used.items():
            framework = self._state.frameworks.get(framework_id)
            if framework is not None:
                self._state.hold_all(agent, framework, resources)
                self._state.mark_all_allocated(agent, resources)
        agent.refresh()

    def update(self, info: AgentInfo, total: Resources | None) -> None:
        """Update the description and, if it is given, the total."""
        state = self._state
        agent = state.agents[info.id]
        before = agent.info, agent.capacity
        if info.attributes != agent.info.attributes:
            self._filters.forget_agent(agent)
        state.replace_total(agent, info, agent.capacity.total if total is None else total)
        if (agent.info, agent.capacity) != before:
            agent.forget_proofs()
            self._runs.request_run(info.id)

    def add_resource_provider(self, agent_id: str, total: Resources, used: Mapping[str, Resources]) -> None:
        """Add to an agent's total."""
        agent = self._state.agents[agent_id]
        self._state.replace_total(agent, agent.info, agent.capacity.total + total)
        self._account_used(agent, used)

    def remove(self, agent_id: str) -> None:
        """Remove an agent and everything that is held there."""
        state = self._state
        agent = state.agents.pop(agent_id)
        for allocation in state.pool.allocations.by_role(agent.allocated) if agent.allocated else ():
            state.mark_allocated(agent, allocation, -1)
        for client, allocation in list(agent.allocations):
            state.give_back(agent, client, allocation)
            state.forget_client_unless_needed(client)
        self._filters.forget_agent(agent)
        del state.agents_by_sequence[agent.sequence]
        state.with_maintenance_ahead.discard(agent_id)
        self._inverse_offers.forget_agent(agent)
        state.count_total(agent.capacity, -1)
        self._runs.queue.discard(agent_id)

    def set_activated(self, agent_id: str, *, activated: bool) -> None:
        """Set whether its resources are offered from the next run on."""
        self._state.agents[agent_id].activated = activated

    def update_unavailability(self, agent_id: str, unavailability: Unavailability | None) -> None:
        """Update the maintenance window, and send inverse offers again."""
        agent = self._state.agents[agent_id]
        self._inverse_offers.forget_agent(agent)
        self._set_unavailability(agent, unavailability)
        agent.inverse_offered_to.clear()
        self._runs.request_run(agent_id)

    def _set_unavailability(self, agent: Agent, unavailability: Unavailability | None) -> None:
        agent.unavailability = unavailability
        if unavailability is None:
            self._state.with_maintenance_ahead.discard(agent.id)
        else:
            self._state.with_maintenance_ahead.add(agent.id)

    def update_whitelist(self, hostnames: Collection[str] | None) -> None:
        """Offer agents with these host names only."""
        self._state.whitelist = None if hostnames is None else frozenset(hostnames)
