"""What happens to agents (spec/allocator.md §3)."""

# ruff: noqa: D102  # the interface documents its methods

from collections.abc import Collection, Mapping

from fake_master.allocator import inverse_offers
from fake_master.allocator.engine import Engine
from fake_master.allocator.interface import AgentInfo, Unavailability
from fake_master.allocator.records import Agent
from mesosctl.core.resources import Resources


class AgentEvents(Engine):
    """Agents come, change and go."""

    def add_agent(
        self,
        info: AgentInfo,
        total: Resources,
        used: Mapping[str, Resources] | None = None,
        unavailability: Unavailability | None = None,
    ) -> None:
        state = self._state
        if info.id in state.agents:
            raise ValueError(f"agent {info.id} is known already")
        agent = state.agents[info.id] = Agent(info, state.capacity(info, self._own(total)), next(state.sequence))
        agent.unavailability = unavailability
        state.enter(agent.capacity, 1)
        self._account_used(agent, used or {})
        self._gate.agents_known(len(state.agents))
        self._queue.ask({info.id: None})

    def _account_used(self, agent: Agent, used: Mapping[str, Resources]) -> None:
        for name, resources in used.items():
            framework = self._state.frameworks.get(name)
            if framework is not None:
                self._account(agent, framework, resources)
        agent.refresh()

    def update_agent(self, info: AgentInfo, total: Resources | None = None) -> None:
        state = self._state
        agent = state.agents[info.id]
        before = agent.info, agent.capacity
        if info.attributes != agent.info.attributes:
            state.clear_filters([agent])
        state.replace_total(agent, info, agent.capacity.total if total is None else self._own(total))
        if (agent.info, agent.capacity) != before:
            agent.forget_proofs()
            self._queue.ask({info.id: None})

    def add_resource_provider(self, agent: str, total: Resources, used: Mapping[str, Resources]) -> None:
        record = self._state.agents[agent]
        self._state.replace_total(record, record.info, record.capacity.total + self._own(total))
        self._account_used(record, used)

    def remove_agent(self, agent: str) -> None:
        state = self._state
        record = state.agents.pop(agent)
        for parcel in state.catalogue.parcels.by_role(record.allocated) if record.allocated else ():
            state.mark_allocated(record, parcel, -1)
        for client, parcel in list(record.held):
            state.give_back(record, client, parcel)
            state.untrack_unless_needed(client)
        state.clear_filters([record])
        for framework in state.frameworks.values():
            inverse_offers.forget(framework, record)
        state.enter(record.capacity, -1)
        self._queue.candidates.pop(agent, None)

    def activate_agent(self, agent: str) -> None:
        self._state.agents[agent].activated = True

    def deactivate_agent(self, agent: str) -> None:
        self._state.agents[agent].activated = False

    def update_unavailability(self, agent: str, unavailability: Unavailability | None) -> None:
        record = self._state.agents[agent]
        for framework in self._state.frameworks.values():
            inverse_offers.forget(framework, record)
        record.unavailability = unavailability
        record.outstanding.clear()
        self._queue.ask({agent: None})

    def update_whitelist(self, hostnames: Collection[str] | None) -> None:
        self._state.whitelist = None if hostnames is None else frozenset(hostnames)
