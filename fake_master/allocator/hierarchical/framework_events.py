"""The events of frameworks (allocator specification, "Events")."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from fake_master.allocator.hierarchical.allocation_runs import AllocationRuns
from fake_master.allocator.hierarchical.offer_filters import InverseOffers, OfferFilters
from fake_master.allocator.hierarchical.offerable.allocations import Allocation
from fake_master.allocator.hierarchical.records import Client, Framework
from fake_master.allocator.hierarchical.state import State
from fake_master.allocator.interface import FrameworkInfo
from mesosctl.model.resources import Resources


class Frameworks:
    """Frameworks subscribe, change and leave. `Allocator` documents the events."""

    def __init__(
        self, state: State, runs: AllocationRuns, filters: OfferFilters, inverse_offers: InverseOffers
    ) -> None:
        self._state = state
        self._runs = runs
        self._filters = filters
        self._inverse_offers = inverse_offers

    def add(
        self, info: FrameworkInfo, used: Mapping[str, Resources], suppressed: Collection[str], *, active: bool
    ) -> None:
        """Account a new framework.  Raises ValueError if it is known."""
        state = self._state
        if info.id in state.frameworks:
            raise ValueError(f"framework {info.id} is already known")
        framework = state.frameworks[info.id] = Framework(info)
        framework.active = active
        self._subscribe(framework, info.roles, suppressed)
        self._account_used(framework, used)
        if active:
            self._runs.request_run_for_all()

    def _account_used(self, framework: Framework, used: Mapping[str, Resources]) -> None:
        """Account what it uses, by agent id; equal resources of many agents are added up once."""
        state = self._state
        agents: Counter[Allocation] = Counter()
        for agent_id, resources in used.items():
            agent = state.agents.get(agent_id)
            if agent is None or not resources:
                continue
            for allocation in state.pool.allocations.by_role(resources):
                client = state.ensure_client(framework, allocation.role)
                if allocation.shared:
                    state.hold(agent, client, allocation)
                    state.mark_allocated(agent, allocation, 1)
                else:
                    agent.allocations.append((client, allocation))
                    agent.accept(allocation.with_role)
                    agents[allocation] += 1
            agent.refresh()
        for allocation, count in agents.items():
            state.account_used_alike(framework.clients[allocation.role], allocation, count)

    def _subscribe(self, framework: Framework, roles: Iterable[str], suppressed: Collection[str]) -> None:
        for role in sorted(roles):
            client = self._state.ensure_client(framework, role)
            client.subscribed = True
            client.suppressed = role in suppressed
            self._state.set_active(client)

    def update(self, info: FrameworkInfo, suppressed: Collection[str]) -> None:
        """Update the description (roles, capabilities, constraints) and the suppressed roles."""
        state = self._state
        framework = state.frameworks[info.id]
        before = framework.info.roles
        state.update_info(framework, info)
        # Add before removing, so that a parent or child of these roles keeps its place in the tree of the sorter.
        self._subscribe(framework, info.roles - before, suppressed)
        for role in before - info.roles:
            client = framework.clients[role]
            client.subscribed = client.suppressed = False
            self._filters.forget(client)
            state.set_active(client)
            state.forget_client_unless_needed(client)
        kept = info.roles & before
        self.suppress(info.id, {role for role in kept if role in suppressed and not framework.clients[role].suppressed})
        self._revive(
            framework, {role for role in kept if role not in suppressed and framework.clients[role].suppressed}
        )

    def remove(self, framework_id: str) -> None:
        """Remove a framework; everything that it held is free again."""
        state = self._state
        framework = state.frameworks[framework_id]
        for agent in state.agents.values():
            own = [pair for pair in agent.allocations if pair[0].framework is framework]
            for client, allocation in own:
                state.mark_allocated(agent, allocation, -1)
                state.give_back(agent, client, allocation)
            if own:
                agent.refresh()
            agent.inverse_offered_to.discard(framework)
        for client in list(framework.clients.values()):
            self._filters.forget(client)
            client.subscribed = False
            state.forget_client_unless_needed(client)
        self._inverse_offers.forget_framework(framework)
        del state.frameworks[framework_id]

    def activate(self, framework_id: str) -> None:
        """Offer to it in every role that it has not suppressed."""
        framework = self._state.frameworks[framework_id]
        framework.active = True
        for client in framework.clients.values():
            self._state.set_active(client)
        self._runs.request_run_for_all()

    def deactivate(self, framework_id: str) -> None:
        """Offer nothing to it; its filters are dropped, its resources stay accounted."""
        framework = self._state.frameworks[framework_id]
        framework.active = False
        for client in framework.clients.values():
            self._state.set_active(client)
            self._filters.forget(client)
        self._inverse_offers.forget_framework(framework)

    def suppress(self, framework_id: str, roles: Collection[str] | None) -> None:
        """Offer nothing in these roles, or in any."""
        for client in _clients(self._state.frameworks[framework_id], roles):
            client.suppressed = True
            self._state.set_active(client)

    def revive(self, framework_id: str, roles: Collection[str] | None) -> None:
        """Forget the filters of these roles, or of all, and offer again."""
        self._revive(self._state.frameworks[framework_id], roles)
        self._runs.request_run_for_all()

    def _revive(self, framework: Framework, roles: Collection[str] | None) -> None:
        clients = _clients(framework, roles)
        if clients:
            self._inverse_offers.forget_framework(framework)
        for client in clients:
            self._filters.forget(client)
            client.suppressed = False
            self._state.set_active(client)


def _clients(framework: Framework, roles: Collection[str] | None) -> list[Client]:
    """Return those in the named roles, or in all that the framework is subscribed to."""
    return [framework.clients[role] for role in sorted(framework.info.roles if roles is None else roles)]
