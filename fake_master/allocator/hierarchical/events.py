"""What happens to agents (spec/allocator.md §3)."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from fake_master.allocator.hierarchical import engine
from fake_master.allocator.hierarchical.engine import Engine
from fake_master.allocator.hierarchical.records import Agent, Client, Framework
from fake_master.allocator.interface import AgentInfo, FrameworkInfo, ResourceRequest, Unavailability
from mesosctl.model.resources import Resources

# ruff: noqa: D102  # the interface documents its methods


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
        for allocation in state.pool.parcels.by_role(record.allocated) if record.allocated else ():
            state.mark_allocated(record, allocation, -1)
        for client, allocation in list(record.held):
            state.give_back(record, client, allocation)
            state.untrack_unless_needed(client)
        state.clear_filters([record])
        for framework in state.frameworks.values():
            engine.forget(framework, record)
        state.enter(record.capacity, -1)
        self._queue.candidates.pop(agent, None)

    def activate_agent(self, agent: str) -> None:
        self._state.agents[agent].activated = True

    def deactivate_agent(self, agent: str) -> None:
        self._state.agents[agent].activated = False

    def update_unavailability(self, agent: str, unavailability: Unavailability | None) -> None:
        record = self._state.agents[agent]
        for framework in self._state.frameworks.values():
            engine.forget(framework, record)
        record.unavailability = unavailability
        record.outstanding.clear()
        self._queue.ask({agent: None})

    def update_whitelist(self, hostnames: Collection[str] | None) -> None:
        self._state.whitelist = None if hostnames is None else frozenset(hostnames)


# ruff: noqa: D102  # the interface documents its methods


class FrameworkEvents(Engine):
    """Frameworks come, change and go."""

    def add_framework(
        self,
        info: FrameworkInfo,
        used: Mapping[str, Resources] | None = None,
        *,
        active: bool = True,
        suppressed: Collection[str] = (),
    ) -> None:
        state = self._state
        if info.id in state.frameworks:
            raise ValueError(f"framework {info.id} is known already")
        framework = state.frameworks[info.id] = Framework(info)
        framework.active = active
        self._subscribe(framework, info.roles, suppressed)
        for name, resources in (used or {}).items():
            agent = state.agents.get(name)
            if agent is not None:
                self._account(agent, framework, resources)
                agent.refresh()
        if active:
            self._run_for_all()
        self._framework_changed(info.id)

    def _subscribe(self, framework: Framework, roles: Iterable[str], suppressed: Collection[str]) -> None:
        for role in sorted(roles):
            client = self._state.track(framework, role)
            client.subscribed = True
            client.suppressed = role in suppressed
            self._state.set_active(client)

    def update_framework(self, info: FrameworkInfo, *, suppressed: Collection[str] = ()) -> None:
        state = self._state
        framework = state.frameworks[info.id]
        before = framework.info.roles
        state.describe(framework, info)
        # Before the others go: a role above or below one of those keeps its place in the tree of the sorter.
        self._subscribe(framework, info.roles - before, suppressed)
        for role in before - info.roles:
            client = framework.clients[role]
            client.subscribed = client.suppressed = False
            self._forget_filters(client)
            state.set_active(client)
            state.untrack_unless_needed(client)
        kept = info.roles & before
        self.suppress(info.id, {role for role in kept if role in suppressed and not framework.clients[role].suppressed})
        woken = {role for role in kept if role not in suppressed and framework.clients[role].suppressed}
        self._revive(info.id, woken)
        self._framework_changed(info.id)

    def remove_framework(self, framework: str) -> None:
        state = self._state
        record = state.frameworks[framework]
        for agent in state.agents.values():
            if any(client.framework is record for client, _ in agent.held):
                for client, allocation in [pair for pair in agent.held if pair[0].framework is record]:
                    state.mark_allocated(agent, allocation, -1)
                    state.give_back(agent, client, allocation)
                agent.refresh()
            agent.outstanding.discard(record)
        for client in list(record.clients.values()):
            self._forget_filters(client)
            client.subscribed = False
            state.untrack_unless_needed(client)
        engine.forget(record)
        del state.frameworks[framework]

    def activate_framework(self, framework: str) -> None:
        record = self._state.frameworks[framework]
        record.active = True
        for client in record.clients.values():
            self._state.set_active(client)
        self._run_for_all()
        self._framework_changed(framework)

    def deactivate_framework(self, framework: str) -> None:
        record = self._state.frameworks[framework]
        record.active = False
        for client in record.clients.values():
            self._state.set_active(client)
            self._forget_filters(client)
        engine.forget(record)
        self._framework_changed(framework)

    def suppress(self, framework: str, roles: Collection[str] | None = None) -> None:
        for client in self._clients(framework, roles):
            client.suppressed = True
            self._state.set_active(client)
        self._framework_changed(framework)

    def revive(self, framework: str, roles: Collection[str] | None = None) -> None:
        self._revive(framework, roles)
        self._run_for_all()
        self._framework_changed(framework)

    def _revive(self, framework: str, roles: Collection[str] | None) -> None:
        clients = self._clients(framework, roles)
        if clients:
            engine.forget(self._state.frameworks[framework])
        for client in clients:
            self._forget_filters(client)
            client.suppressed = False
            self._state.set_active(client)

    def request_resources(self, framework: str, requests: Sequence[ResourceRequest]) -> None:
        """Taken and ignored, as Mesos's own allocator does."""

    def _clients(self, framework: str, roles: Collection[str] | None) -> list[Client]:
        """Those in the named roles, or in all that the framework is subscribed to."""
        record = self._state.frameworks[framework]
        return [record.clients[role] for role in sorted(record.info.roles if roles is None else roles)]

    def _forget_filters(self, client: Client) -> None:
        for filters in client.filters.values():
            for held in filters:
                held.alive = False
        client.filters.clear()
        self._state.renew(client)


class Request:
    """One request, until an offer has met it."""

    __slots__ = ("claimed_on", "exhausted", "missed", "wanted")

    def __init__(self, wanted: ResourceRequest) -> None:
        self.wanted = wanted
        self.missed = False
        """Whether a batch has left it unmet."""
        self.claimed_on: str | None = None
        """The agent on which something was asked back for it and has not all come back."""
        self.exhausted = False
        """Whether that came back, and did not do; it is not done again, unless the framework asks again."""


class Requests:
    """Every request that stands, by framework.

    A request asks for an offer: it is met, and gone, once an offer of one agent contains it.
    """

    def __init__(self) -> None:
        self._by_framework: dict[str, list[Request]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._by_framework.values()))

    def replace(self, framework: str, wanted: Sequence[ResourceRequest]) -> None:
        """The framework asks for this now, and for nothing else; what it asks for still is the same request."""
        before = [request for request in self._by_framework.get(framework, ()) if not request.exhausted]
        before.sort(key=lambda request: request.claimed_on is None)
        found = []
        for asked in wanted:
            known = next((request for request in before if request.wanted == asked), None)
            if known is not None:
                before.remove(known)
            if asked.amounts:
                found.append(known or Request(asked))
        if found:
            self._by_framework[framework] = found
        else:
            self._by_framework.pop(framework, None)

    def stands(self, framework: str, request: Request) -> bool:
        """Whether it was neither met nor withdrawn."""
        return request in self._by_framework.get(framework, ())

    def offered(self, framework: str, by_role: Mapping[str, Mapping[str, Resources]]) -> None:
        """The framework is offered this: so many of its requests are met."""
        standing = self._by_framework.get(framework)
        if standing is None:
            return
        for role, by_agent in by_role.items():
            for agent, resources in by_agent.items():
                left = resources.scalar_quantities()
                for request in sorted(standing, key=lambda request: _nearness(request, agent)):
                    if _fits(request.wanted, role, agent) and left.contains(request.wanted.amounts):
                        left -= request.wanted.amounts
                        standing.remove(request)
        if not standing:
            del self._by_framework[framework]

    def overdue(self) -> Iterator[tuple[str, Request]]:
        """(framework, request) of those that were left unmet by a batch, and an interval later by another.

        To be called after each batch: of other runs not every one is over all agents.
        """
        for framework, standing in self._by_framework.items():
            for request in standing:
                if not request.missed:
                    request.missed = True
                elif not request.claimed_on and not request.exhausted:
                    yield framework, request


def _fits(wanted: ResourceRequest, role: str, agent: str) -> bool:
    return wanted.role in (None, role) and wanted.agent in (None, agent)


def _nearness(request: Request, agent: str) -> int:
    """Which of several requests an offer meets first: one for which something was revoked there; last, elsewhere."""
    return {agent: 0, None: 1}.get(request.claimed_on, 2)
