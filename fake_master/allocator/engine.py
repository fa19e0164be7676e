"""Time, runs, quota and figures: what all events of the hierarchical allocator rest on (spec/allocator.md §3, §9)."""

# ruff: noqa: D102  # the interface documents its methods

from collections.abc import Mapping

from fake_master.allocator import inverse_offers, recovery
from fake_master.allocator.clock import Timers
from fake_master.allocator.cycle import Cycle, Offers
from fake_master.allocator.interface import Allocator, InverseOfferCallback, OfferCallback
from fake_master.allocator.metrics import StopWatch, state_figures
from fake_master.allocator.options import Options
from fake_master.allocator.records import Agent, Framework
from fake_master.allocator.state import State
from mesosctl.core.quantities import Quota
from mesosctl.core.resources import Resources


class Engine(Allocator):
    """Runs when something is due, on the state that the events of its subclasses change."""

    def __init__(
        self,
        options: Options,
        on_offers: OfferCallback,
        on_inverse_offers: InverseOfferCallback | None = None,
        now: float = 0.0,
        state: State | None = None,
    ) -> None:
        """`state` is one made for another order of roles; by default the options alone say how it is."""
        self._options = options
        self._on_offers = on_offers
        self._on_inverse_offers = on_inverse_offers
        self._timers = Timers(now)
        self._state = state or State(options)
        self._cycle = Cycle(self._state)
        self._gate = recovery.Gate()
        self._queue = recovery.RunQueue(self._gate, self._run)
        self._runs = 0
        self._run_timer = StopWatch("allocator/mesos/allocation_run_ms", options.perf_counter)
        self._latency = StopWatch("allocator/mesos/allocation_run_latency_ms", options.perf_counter)
        self._timers.after(options.allocation_interval, self._batch)

    @property
    def state(self) -> State:
        """What it knows, for reading: explanations, what-ifs and tests."""
        return self._state

    # --- What a subclass has beside it --------------------------------------------------------------

    def _own(self, resources: Resources) -> Resources:
        """What of these is shared out here: all, unless a subclass keeps some kinds of them elsewhere."""
        return resources

    def _account(self, agent: Agent, framework: Framework, used: Resources) -> None:
        """What a framework has of an agent when one of the two appears."""
        own = self._own(used)
        self._state.hold_all(agent, framework, own)
        self._state.mark_all_allocated(agent, own)

    def _framework_changed(self, framework: str) -> None:
        """Its roles, capabilities or wishes are other ones now, or whether it is active."""

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
            offers = self._share(candidates)
            known = (state.agents[agent] for agent in candidates if agent in state.agents)
            inverse = inverse_offers.inverse_offers(known)
        self._tell(offers)
        if self._on_inverse_offers is not None:
            for framework, by_agent in inverse.items():
                self._on_inverse_offers(framework, by_agent)

    def _share(self, candidates: dict[str, None]) -> Offers:
        """One run."""
        return self._cycle.run(candidates)

    def _tell(self, offers: Offers) -> None:
        """What a run came to, once it is over."""
        for framework, by_role in offers.items():
            self._on_offers(framework, by_role)

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

    def pause(self) -> None:
        self._gate.pause()

    def resume(self) -> None:
        self._gate.resume()

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
