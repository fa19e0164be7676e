"""The hierarchical allocator of Mesos 1.11.0: what each event does (spec/allocator.md §3, §4 and §9)."""

# ruff: noqa: D102  # the interface documents its methods

from collections.abc import Collection, Iterable, Mapping

from fake_master.allocator import inverse_offers, recovery
from fake_master.allocator.clock import Timers
from fake_master.allocator.conversions import apply, apply_to_total
from fake_master.allocator.cycle import Cycle
from fake_master.allocator.filters import OfferFilter, timeout_of
from fake_master.allocator.interface import (
    AgentInfo,
    Allocator,
    Conversion,
    FrameworkInfo,
    InverseOfferCallback,
    OfferCallback,
    Unavailability,
)
from fake_master.allocator.metrics import Timer, state_figures
from fake_master.allocator.options import Options
from fake_master.allocator.records import Agent, Client, Framework
from fake_master.allocator.state import State
from mesosctl.core.quota import Quota
from mesosctl.core.resources import Resources


class HierarchicalAllocator(Allocator):
    """Shares by dominant resource fairness, guarantees first; see the package's README.

    Callbacks are called from within `advance_to`, when a run is over; what they tell the
    allocator takes part in the next run.
    """

    def __init__(
        self,
        options: Options,
        on_offers: OfferCallback,
        on_inverse_offers: InverseOfferCallback | None = None,
        now: float = 0.0,
    ) -> None:
        self._options = options
        self._on_offers = on_offers
        self._on_inverse_offers = on_inverse_offers
        self._timers = Timers(now)
        self._state = State(options)
        self._cycle = Cycle(self._state)
        self._gate = recovery.Gate()
        self._queue = recovery.RunQueue(self._gate, self._run)
        self._runs = 0
        self._run_timer = Timer("allocator/mesos/allocation_run_ms", options.perf_counter)
        self._latency = Timer("allocator/mesos/allocation_run_latency_ms", options.perf_counter)
        self._timers.after(options.allocation_interval, self._batch)

    @property
    def state(self) -> State:
        """What it knows, for reading: explanations, what-ifs and tests."""
        return self._state

    # --- Time ---------------------------------------------------------------------------------------

    def advance_to(self, now: float) -> None:
        self._queue.drain()
        while self._timers.fire_next(now):
            self._queue.drain()
        self._timers.now = max(self._timers.now, now)

    def next_deadline(self) -> float | None:
        return self._timers.now if self._queue.is_pending else self._timers.next_deadline()

    def _batch(self) -> None:
        self._run_for_all()
        self._queue.drain()
        self._timers.after(self._options.allocation_interval, self._batch)

    def _run_for_all(self) -> None:
        self._queue.ask(dict.fromkeys(self._state.agents))

    def _run(self, candidates: dict[str, None]) -> None:
        state = self._state
        self._runs += 1
        self._latency.record(0.0)
        with self._run_timer:
            offers = self._cycle.run(candidates)
            known = (state.agents[agent] for agent in candidates if agent in state.agents)
            inverse = inverse_offers.inverse_offers(known)
        for framework, by_role in offers.items():
            self._on_offers(framework, by_role)
        if self._on_inverse_offers is not None:
            for framework, by_agent in inverse.items():
                self._on_inverse_offers(framework, by_agent)

    # --- Agents -------------------------------------------------------------------------------------

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
        agent = state.agents[info.id] = Agent(info, state.capacity(info, total))
        agent.unavailability = unavailability
        state.enter(agent.capacity, 1)
        self._account_used(agent, used or {})
        self._gate.agents_known(len(state.agents))
        self._queue.ask({info.id: None})

    def _account_used(self, agent: Agent, used: Mapping[str, Resources]) -> None:
        for name, resources in used.items():
            framework = self._state.frameworks.get(name)
            if framework is not None:
                self._state.hold_all(agent, framework, resources)
                self._mark_allocated(agent, resources)
        agent.refresh()

    def _mark_allocated(self, agent: Agent, resources: Resources) -> None:
        for parcel in self._state.catalogue.parcels.by_role(resources) if resources else ():
            self._state.mark_allocated(agent, parcel, 1)

    def update_agent(self, info: AgentInfo, total: Resources | None = None) -> None:
        state = self._state
        agent = state.agents[info.id]
        before = agent.info, agent.capacity
        if info.attributes != agent.info.attributes:
            state.clear_filters([agent])
        state.replace_total(agent, info, agent.capacity.total if total is None else total)
        if (agent.info, agent.capacity) != before:
            agent.forget_proofs()
            self._queue.ask({info.id: None})

    def add_resource_provider(self, agent: str, total: Resources, used: Mapping[str, Resources]) -> None:
        record = self._state.agents[agent]
        self._state.replace_total(record, record.info, record.capacity.total + total)
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

    # --- Frameworks ---------------------------------------------------------------------------------

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
                state.hold_all(agent, framework, resources)
                self._mark_allocated(agent, resources)
                agent.refresh()
        if active:
            self._run_for_all()

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
        for role in before - info.roles:
            client = framework.clients[role]
            client.subscribed = client.suppressed = False
            self._forget_filters(client)
            state.set_active(client)
            state.untrack_unless_needed(client)
        self._subscribe(framework, info.roles - before, suppressed)
        kept = info.roles & before
        self.suppress(info.id, {role for role in kept if role in suppressed and not framework.clients[role].suppressed})
        woken = {role for role in kept if role not in suppressed and framework.clients[role].suppressed}
        self._revive(info.id, woken)

    def remove_framework(self, framework: str) -> None:
        state = self._state
        record = state.frameworks[framework]
        for agent in state.agents.values():
            if any(client.framework is record for client, _ in agent.held):
                for client, parcel in [pair for pair in agent.held if pair[0].framework is record]:
                    state.mark_allocated(agent, parcel, -1)
                    state.give_back(agent, client, parcel)
                agent.refresh()
            agent.outstanding.discard(record)
        for client in list(record.clients.values()):
            self._forget_filters(client)
            client.subscribed = False
            state.untrack_unless_needed(client)
        inverse_offers.forget(record)
        del state.frameworks[framework]

    def activate_framework(self, framework: str) -> None:
        record = self._state.frameworks[framework]
        record.active = True
        for client in record.clients.values():
            self._state.set_active(client)
        self._run_for_all()

    def deactivate_framework(self, framework: str) -> None:
        record = self._state.frameworks[framework]
        record.active = False
        for client in record.clients.values():
            self._state.set_active(client)
            self._forget_filters(client)
        inverse_offers.forget(record)

    def suppress(self, framework: str, roles: Collection[str] | None = None) -> None:
        for client in self._clients(framework, roles):
            client.suppressed = True
            self._state.set_active(client)

    def revive(self, framework: str, roles: Collection[str] | None = None) -> None:
        self._revive(framework, roles)
        self._run_for_all()

    def _revive(self, framework: str, roles: Collection[str] | None) -> None:
        clients = self._clients(framework, roles)
        if clients:
            inverse_offers.forget(self._state.frameworks[framework])
        for client in clients:
            self._forget_filters(client)
            client.suppressed = False
            self._state.set_active(client)

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
        state = self._state
        parcel = state.catalogue.parcels.of(resources)
        where = state.agents.get(agent)
        if where is not None and is_allocated:
            state.mark_allocated(where, parcel, -1)
        record = state.frameworks.get(framework)
        client = record.clients.get(parcel.role) if record is not None else None
        if where is None or client is None:
            return
        state.give_back(where, client, parcel)
        where.refresh()
        if not client.held:
            state.untrack_unless_needed(client)
        if refuse_seconds is not None and client.subscribed:
            timeout = timeout_of(refuse_seconds)
            if timeout > 0:
                self._install_filter(client, where, parcel.plain, timeout)

    def _install_filter(self, client: Client, agent: Agent, refused: Resources, timeout: float) -> None:
        refusal = OfferFilter(refused)
        client.filters.setdefault(agent, []).append(refusal)

        def expire() -> None:
            if not refusal.alive:
                return
            filters = client.filters[agent]
            filters.remove(refusal)
            if not filters:
                del client.filters[agent]
            agent.forget_proofs(client.token, client.role.token)

        # A filter always outlives the next batch.
        self._timers.after(max(timeout, self._options.allocation_interval), expire)

    def transition_offered_to_allocated(self, agent: str, resources: Resources) -> None:
        self._mark_allocated(self._state.agents[agent], resources)

    def update_allocation(
        self, framework: str, agent: str, offered: Resources, conversions: Iterable[Conversion]
    ) -> None:
        state = self._state
        record = state.agents[agent]
        steps = list(conversions)
        before = state.catalogue.parcels.of(offered)
        client = state.frameworks[framework].clients[before.role]
        after = apply(offered, steps)
        total = apply_to_total(record.capacity.total, steps)
        state.convert(record, client, before, after)
        state.replace_total(record, record.info, total)
        record.refresh()

    def update_available(self, agent: str, conversions: Iterable[Conversion]) -> bool:
        state = self._state
        record = state.agents[agent]
        steps = list(conversions)
        try:
            apply(record.shape.resources, steps)
        except ValueError:
            return False
        state.replace_total(record, record.info, apply(record.capacity.total, steps))
        return True

    # --- Roles --------------------------------------------------------------------------------------

    def update_quota(self, role: str, quota: Quota) -> None:
        if "/" in role:
            raise ValueError(f"quota of a nested role is not supported: {role}")
        self._state.roles.set_quota(role, quota)

    def update_weights(self, weights: Mapping[str, float]) -> None:
        for role, weight in weights.items():
            self._state.roles.set_weight(role, weight)
            self._state.role_sorter.update_weight(role, weight)

    # --- Runs ---------------------------------------------------------------------------------------

    def recover(self, expected_agents: int, quotas: Mapping[str, Quota]) -> None:
        options = self._options
        if not quotas:
            return
        for role, quota in quotas.items():
            self.update_quota(role, quota)
        expected = recovery.agents_to_wait_for(expected_agents, options.allocator_agent_recovery_factor)
        self._gate.recover(expected, self._timers, options.allocator_recovery_timeout)

    @property
    def is_recovering(self) -> bool:
        """Whether offers wait for agents to come back after a failover."""
        return self._gate.is_recovering

    def pause(self) -> None:
        self._gate.pause()

    def resume(self) -> None:
        self._gate.resume()

    # --- Inverse offers -----------------------------------------------------------------------------

    def update_inverse_offer(self, framework: str, agent: str, refuse_seconds: float | None = None) -> None:
        record, where = self._state.frameworks.get(framework), self._state.agents.get(agent)
        if record is None or where is None:
            return
        where.outstanding.discard(record)
        if refuse_seconds is not None:
            inverse_offers.refuse(record, where, refuse_seconds, self._timers)

    # --- Figures ------------------------------------------------------------------------------------

    def metrics(self) -> dict[str, float]:
        waiting = float(self._queue.is_pending)
        return {
            "allocator/event_queue_dispatches": waiting,
            "allocator/mesos/event_queue_dispatches": waiting,
            "allocator/mesos/allocation_runs": float(self._runs),
            **self._run_timer.figures(),
            **self._latency.figures(),
            **state_figures(self._state),
        }
