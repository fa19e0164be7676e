"""Time, runs, quota and figures: what all events of the hierarchical allocator rest on (spec/allocator.md §3, §9)."""

import heapq
import itertools
from collections.abc import Callable, Iterable, Mapping

from fake_master.allocator.hierarchical.metrics import StopWatch, state_figures
from fake_master.allocator.hierarchical.records import Agent, Framework, InverseOfferFilter, timeout_of
from fake_master.allocator.hierarchical.stages import Cycle, Offers
from fake_master.allocator.hierarchical.state import State
from fake_master.allocator.interface import Allocator, InverseOfferCallback, OfferCallback, Unavailability
from fake_master.allocator.options import Options
from mesosctl.model.quantities import Quota
from mesosctl.model.resources import Resources

# ruff: noqa: D102  # the interface documents its methods


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
        self._gate = Gate()
        self._queue = RunQueue(self._gate, self._run)
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
            inverse = inverse_offers(known)
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
        expected = agents_to_wait_for(expected_agents, options.allocator_agent_recovery_factor)
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


class Timers:
    """A queue of callbacks by deadline, in seconds on a clock that only its owner moves."""

    def __init__(self, now: float = 0.0) -> None:
        self.now = now
        self._heap: list[tuple[float, int, Callable[[], None]]] = []
        self._created = itertools.count()

    def after(self, delay: float, action: Callable[[], None]) -> None:
        """Fire `action` when `delay` has passed."""
        heapq.heappush(self._heap, (self.now + delay, next(self._created), action))

    def next_deadline(self) -> float | None:
        """When the earliest timer fires."""
        return self._heap[0][0] if self._heap else None

    def fire_next(self, until: float) -> bool:
        """Move to the earliest deadline and fire that one timer; False if none is due by `until`."""
        if not self._heap or self._heap[0][0] > until:
            return False
        deadline, _, action = heapq.heappop(self._heap)
        self.now = max(self.now, deadline)
        action()
        return True


class Gate:
    """Open while runs may happen.

    Brackets are counted and recovery is kept apart from them.  Mesos has one flag for both, so
    there a bracket during recovery ends it; this difference is deliberate (README).
    """

    def __init__(self) -> None:
        self._brackets = 0
        self._expected = 0

    @property
    def is_open(self) -> bool:
        """Whether runs may happen."""
        return self._brackets == 0 and self._expected == 0

    def pause(self) -> None:
        """Open a bracket."""
        self._brackets += 1

    def resume(self) -> None:
        """Close the innermost bracket.  Raises ValueError if there is none."""
        if not self._brackets:
            raise ValueError("resume without pause")
        self._brackets -= 1

    def recover(self, expected: int, timers: Timers, timeout: float) -> None:
        """Stay closed until `expected` agents are known, or `timeout` seconds have passed."""
        if expected > 0:
            self._expected = expected
            timers.after(timeout, self._end)

    def agents_known(self, count: int) -> None:
        """So many agents are known now."""
        if count >= self._expected:
            self._end()

    def _end(self) -> None:
        self._expected = 0


def agents_to_wait_for(known_before: int, factor: float) -> int:
    """Truncated, so that of one agent known before none is waited for."""
    return int(known_before * factor)


class RunQueue:
    """The run that is due, and for which agents: any number of events cause one run (spec/allocator.md §3)."""

    def __init__(self, gate: Gate, run: Callable[[dict[str, None]], None]) -> None:
        self._gate = gate
        self._run = run
        self._pending = False
        self.candidates: dict[str, None] = {}

    @property
    def is_pending(self) -> bool:
        """Whether a run is due at this moment."""
        return self._pending

    def ask(self, agents: dict[str, None]) -> None:
        """Run for these agents too; while runs are held back this is not remembered."""
        if self._gate.is_open:
            self.candidates |= agents
            self._pending = True

    def drain(self) -> None:
        """Run if a run is due.  While runs are held back the candidates gathered before stay."""
        if self._pending:
            self._pending = False
            if self._gate.is_open:
                candidates, self.candidates = self.candidates, {}
                self._run(candidates)


def inverse_offers(agents: Iterable[Agent]) -> dict[str, dict[str, Unavailability]]:
    """{framework: {agent: unavailability}} for those who hold something there and have not been asked.

    Agents that are deactivated are asked for as well.
    """
    asked: dict[str, dict[str, Unavailability]] = {}
    for agent in agents:
        if agent.unavailability is None:
            continue
        for framework in agent.holders():
            if framework.active and framework not in agent.outstanding and not framework.inverse_filters.get(agent):
                agent.outstanding.add(framework)
                asked.setdefault(framework.id, {})[agent.id] = agent.unavailability
    return asked


def refuse(framework: Framework, agent: Agent, refuse_seconds: float, timers: Timers) -> None:
    """Do not ask again for a while; unlike an offer's filter this may be shorter than the interval."""
    timeout = timeout_of(refuse_seconds)
    if timeout == 0:
        return
    refusal = InverseOfferFilter()
    framework.inverse_filters.setdefault(agent, []).append(refusal)

    def expire() -> None:
        if refusal.alive:
            _drop(framework, agent, refusal)

    timers.after(timeout, expire)


def forget(framework: Framework, agent: Agent | None = None) -> None:
    """Drop a framework's refusals, of one agent or of all."""
    for where in [agent] if agent is not None else list(framework.inverse_filters):
        for refusal in framework.inverse_filters.pop(where, ()):
            refusal.alive = False


def _drop(framework: Framework, agent: Agent, refusal: InverseOfferFilter) -> None:
    refusal.alive = False
    held = framework.inverse_filters[agent]
    held.remove(refusal)
    if not held:
        del framework.inverse_filters[agent]
