"""The hierarchical allocator: dominant resource fairness, guarantees first; the package's README explains it.

Derived allocators have these hooks: the keyword arguments of the constructor, `_framework_changed`, and
`_filter_expired`.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from fake_master.allocator.hierarchical.allocation_runs import AllocationRuns, RunSteps
from fake_master.allocator.hierarchical.offer_filters import InverseOfferFilters, OfferFilters
from fake_master.allocator.hierarchical.records import AllocatorAgent, AllocatorClient, AllocatorFramework
from fake_master.allocator.hierarchical.run_schedule import AllocatorTimers
from fake_master.allocator.hierarchical.stages.two_stages import Stage, serving_order
from fake_master.allocator.hierarchical.state import State
from fake_master.allocator.interface import (
    AgentInfo,
    Allocator,
    Callbacks,
    FrameworkInfo,
    ResourceRequest,
    Unavailability,
    Used,
)
from fake_master.allocator.options import Options
from mesosctl.mesos.amounts.quantities import Quota
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.errors import Conflict
from mesosctl.mesos.rules.reservations.operations import Conversion, apply_all

# ruff: noqa: D102  # the interface documents its methods


class HierarchicalAllocator(Allocator):
    """The events of a master come in as method calls, and its decisions go out through the callbacks.

    `advance_to` calls the callbacks at the end of a run; events that they report take part in the next run.
    """

    def __init__(
        self,
        options: Options,
        master: Callbacks,
        now: float,
        *,
        state: State | None = None,
        steps: RunSteps | None = None,
        share: Stage | None = None,
    ) -> None:
        """Every allocator is called with these three, so that `--allocator` can name a derived one.

        Derived allocators pass a `state` with another order of roles, `steps`, or a `share` function.
        """
        self.state = state or State(options)
        """Agents, frameworks and roles, for reading: explanations, what-ifs and tests."""
        timers = AllocatorTimers(now)
        inverse_offers = InverseOfferFilters(self.state, timers)
        self.filters = OfferFilters(self.state, timers, self._filter_expired)
        self.allocation_runs = AllocationRuns(self.state, timers, inverse_offers, master, steps, share)
        self._inverse_offers = inverse_offers

    # --- Time ---------------------------------------------------------------------------------------

    def advance_to(self, now: float) -> None:
        self.allocation_runs.advance_to(now)

    def next_deadline(self) -> float | None:
        return self.allocation_runs.next_deadline()

    # --- Hooks of derived allocators ------------------------------------------------------------

    def _framework_changed(self, framework: str) -> None:
        """Called when the description, activity or suppression of a known framework has changed; for extensions.

        It is not called for a new one: an extension that overrides `add_framework` knows of it.
        """

    def _filter_expired(self, agent: AllocatorAgent) -> None:
        """Called when an offer filter on the agent has ended by itself; for extensions."""

    # --- Agents ------------------------------------------------------------

    def add_agent(
        self, info: AgentInfo, total: Resources, used: Used | None = None, unavailability: Unavailability | None = None
    ) -> None:
        state = self.state
        if info.id in state.agents:
            raise ValueError(f"agent {info.id} is already known")
        agent = state.agents[info.id] = AllocatorAgent(info, state.capacity(info, total), next(state.sequence))
        state.agents_by_sequence[agent.sequence] = agent
        self.filters.agent_added(agent)
        _set_unavailability(state, agent, unavailability)
        state.count_total(agent.capacity, 1)
        _account_used(state, agent, used or {})
        self.allocation_runs.gate.agents_known(len(state.agents))
        self.allocation_runs.request_run(info.id)

    def update_agent(self, info: AgentInfo, total: Resources | None = None) -> None:
        state = self.state
        agent = state.agents[info.id]
        before = agent.info, agent.capacity
        if info.attributes != agent.info.attributes:
            self.filters.forget_agent(agent)
        state.replace_total(agent, info, agent.capacity.total if total is None else total)
        if (agent.info, agent.capacity) != before:
            agent.forget_proofs()
            self.allocation_runs.request_run(info.id)

    def add_resource_provider(self, agent: str, total: Resources, used: Used) -> None:
        state, record = self.state, self.state.agents[agent]
        state.replace_total(record, record.info, record.capacity.total + total)
        _account_used(state, record, used)

    def remove_agent(self, agent: str) -> None:
        state = self.state
        record = state.agents.pop(agent)
        for part in record.accepted:
            for allocation in state.pool.allocations.by_role(part):
                state.roles.allocate(allocation.role, allocation.unreserved, -1)
        for client, allocation in list(record.allocations):
            state.give_back(record, client, allocation)
            state.forget_client_unless_needed(client)
        self.filters.agent_removed(record)
        del state.agents_by_sequence[record.sequence]
        state.with_maintenance_ahead.discard(agent)
        self._inverse_offers.forget_agent(record)
        state.count_total(record.capacity, -1)
        self.allocation_runs.queue.discard(agent)

    def activate_agent(self, agent: str) -> None:
        self.state.set_activated(self.state.agents[agent], activated=True)

    def deactivate_agent(self, agent: str) -> None:
        self.state.set_activated(self.state.agents[agent], activated=False)

    def update_unavailability(self, agent: str, unavailability: Unavailability | None) -> None:
        record = self.state.agents[agent]
        self._inverse_offers.forget_agent(record)
        _set_unavailability(self.state, record, unavailability)
        record.inverse_offered_to = frozenset()
        self.allocation_runs.request_run(agent)

    def update_whitelist(self, hostnames: Collection[str] | None) -> None:
        self.state.set_whitelist(hostnames)

    # --- Frameworks ------------------------------------------------------------

    def add_framework(
        self, info: FrameworkInfo, used: Used | None = None, *, active: bool = True, suppressed: Collection[str] = ()
    ) -> None:
        state = self.state
        if info.id in state.frameworks:
            raise ValueError(f"framework {info.id} is already known")
        framework = state.frameworks[info.id] = AllocatorFramework(info, active=active)
        _subscribe(state, framework, info.roles, suppressed)
        for agent in state.agents.values():
            if agent.used_by_unknown.pop(info.id, None) is not None:
                agent.refresh()
        for agent_id, resources in (used or {}).items():
            if agent_id in state.agents:
                _hold_accepted(state, state.agents[agent_id], framework, resources)
        if active:
            self.allocation_runs.request_run_for_all()

    def update_framework(self, info: FrameworkInfo, *, suppressed: Collection[str] = ()) -> None:
        state = self.state
        framework = state.frameworks[info.id]
        before = framework.info.roles
        state.update_info(framework, info)
        # Add before removing, so that a parent or child of these roles keeps its place in the tree of the sorter.
        _subscribe(state, framework, info.roles - before, suppressed)
        for role in before - info.roles:
            client = framework.clients[role]
            client.subscribed = client.suppressed = False
            self.filters.forget(client)
            state.set_active(client)
            state.forget_client_unless_needed(client)
        kept = info.roles & before
        stopped = {role for role in kept if role in suppressed and not framework.clients[role].suppressed}
        _suppress(state, _clients(framework, stopped))
        revived = {role for role in kept if role not in suppressed and framework.clients[role].suppressed}
        if state.options.resubscribing_ends_filters:
            _end_filters(self.filters, self._inverse_offers, framework, _clients(framework, revived))
        _activate(state, _clients(framework, revived))
        self._framework_changed(info.id)

    def remove_framework(self, framework: str) -> None:
        state = self.state
        record = state.frameworks[framework]
        for agent in state.agents.values():
            own = [pair for pair in agent.allocations if pair[0].framework is record]
            for client, allocation in own:
                state.mark_allocated(agent, allocation, -1)
                state.give_back(agent, client, allocation)
            if own:
                if not state.options.framework_leaves_nothing:
                    agent.used_by_unknown[framework] = tuple(allocation for _, allocation in own)
                agent.refresh()
            agent.inverse_offered_to -= {record}
        for client in list(record.clients.values()):
            self.filters.forget(client)
            client.subscribed = False
            state.forget_client_unless_needed(client)
        self._inverse_offers.forget_framework(record)
        del state.frameworks[framework]

    def activate_framework(self, framework: str) -> None:
        record = self.state.frameworks[framework]
        record.active = True
        for client in record.clients.values():
            self.state.set_active(client)
        self._framework_changed(framework)
        self.allocation_runs.request_run_for_all()

    def deactivate_framework(self, framework: str) -> None:
        record = self.state.frameworks[framework]
        record.active = False
        for client in record.clients.values():
            self.state.set_active(client)
            self.filters.forget(client)
        self._inverse_offers.forget_framework(record)
        self._framework_changed(framework)

    def suppress(self, framework: str, roles: Collection[str] | None = None) -> None:
        _suppress(self.state, _clients(self.state.frameworks[framework], roles))
        self._framework_changed(framework)

    def revive(self, framework: str, roles: Collection[str] | None = None) -> None:
        record = self.state.frameworks[framework]
        clients = _clients(record, roles)
        everywhere = bool(clients) and self.state.options.revive_ends_all_filters
        filtering = list(record.clients.values()) if everywhere else clients
        _end_filters(self.filters, self._inverse_offers, record, filtering)
        _activate(self.state, clients)
        self._framework_changed(framework)
        self.allocation_runs.request_run_for_all()

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

    def refusals(self, framework: str) -> Iterator[tuple[str, str, Resources, float]]:
        for role, client in self.state.frameworks[framework].clients.items():
            for agent, refused, seconds in self.filters.remaining(client):
                yield agent.id, role, refused, seconds

    def restore_refusal(self, framework: str, agent: str, role: str, refused: Resources, seconds: float) -> None:
        client = self.state.frameworks[framework].clients.get(role)
        if client is not None and client.subscribed:
            self.filters.restore(client, self.state.agents[agent], refused, seconds)

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

    def allocate(self) -> None:
        self.allocation_runs.request_run_for_all()

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

    def run_times(self) -> Iterable[float]:
        """See `Allocator.run_times`."""
        return self.allocation_runs.times

    def serving_order(self) -> Iterable[tuple[str, float]]:
        """See `Allocator.serving_order`."""
        sorter = self.state.role_sorter
        if not sorter.order_lasts:
            return
        for leaf in serving_order(self.state):
            yield leaf.client_path, sorter.share(leaf.client_path)


def _applied_to_total(total: Resources, conversions: Iterable[Conversion]) -> Resources:
    """Return an agent's total after operations on allocated resources.  Raises Conflict.

    Further copies of a shared volume consume nothing and leave the total as it is.
    """
    steps = (step for step in conversions if step.consumed)
    return apply_all(
        total, (Conversion(step.consumed.allocated_to(None), step.converted.allocated_to(None)) for step in steps)
    )


def _account_used(state: State, agent: AllocatorAgent, used: Mapping[str, Resources]) -> None:
    for framework_id, resources in used.items():
        framework = state.frameworks.get(framework_id)
        if framework is not None:
            _hold_accepted(state, agent, framework, resources)
        elif resources:
            known = agent.used_by_unknown.get(framework_id, ())
            agent.used_by_unknown[framework_id] = (*known, *state.pool.allocations.by_role(resources))
    agent.refresh()


def _hold_accepted(state: State, agent: AllocatorAgent, framework: AllocatorFramework, resources: Resources) -> None:
    state.hold_all(agent, framework, resources)
    state.mark_all_allocated(agent, resources)
    agent.refresh()


def _set_unavailability(state: State, agent: AllocatorAgent, unavailability: Unavailability | None) -> None:
    agent.unavailability = unavailability
    state.has_changed = True
    if unavailability is None:
        state.with_maintenance_ahead.discard(agent.id)
    else:
        state.with_maintenance_ahead.add(agent.id)


def _clients(framework: AllocatorFramework, roles: Collection[str] | None) -> list[AllocatorClient]:
    """Return those in the named roles, or in all that the framework is subscribed to."""
    return [framework.clients[role] for role in sorted(framework.info.roles if roles is None else roles)]


def _subscribe(state: State, framework: AllocatorFramework, roles: Iterable[str], suppressed: Collection[str]) -> None:
    for role in sorted(roles):
        client = state.ensure_client(framework, role)
        client.subscribed = True
        client.suppressed = role in suppressed
        state.set_active(client)


def _suppress(state: State, clients: Iterable[AllocatorClient]) -> None:
    for client in clients:
        client.suppressed = True
        state.set_active(client)


def _activate(state: State, clients: Iterable[AllocatorClient]) -> None:
    for client in clients:
        client.suppressed = False
        state.set_active(client)


def _end_filters(
    filters: OfferFilters,
    inverse_offers: InverseOfferFilters,
    framework: AllocatorFramework,
    clients: list[AllocatorClient],
) -> None:
    if clients:
        inverse_offers.forget_framework(framework)
    for client in clients:
        filters.forget(client)
