"""The timing of allocation runs, the steps that they call, and their metrics.

Time is virtual: `advance_to` fires the timers and does the runs that are due.
"""

from collections import deque
from collections.abc import Mapping

from fake_master.allocator.hierarchical.metrics import StopWatch, state_figures
from fake_master.allocator.hierarchical.offer_filters import InverseOfferFilters
from fake_master.allocator.hierarchical.records import AllocatorAgent, Offered
from fake_master.allocator.hierarchical.run_schedule import (
    AllocatorTimers,
    Batches,
    RunGate,
    RunQueue,
    agents_to_wait_for,
)
from fake_master.allocator.hierarchical.sorters.drf_sorter import DrfSorter
from fake_master.allocator.hierarchical.stages.two_stages import Stage, TwoStages
from fake_master.allocator.hierarchical.state import State
from fake_master.allocator.interface import Callbacks, Offers
from fake_master.allocator.options import keep_order
from mesosctl.mesos.amounts.quantities import Quota

_MOST_TIMES = 10_000
"""The number of runs whose times are kept: a few hours of the usual ones."""


class RunSteps:
    """Steps that an extension adds to runs.  Each does nothing by default."""

    def before_run(self) -> None:
        """Called before each run."""

    def third_stage(self, agents: list[AllocatorAgent], offered: Offered) -> None:
        """Called in each run after the two regular stages.

        `agents` are those of the second stage in its order; `offered` is theirs, to be added to.
        """

    def before_offers(self) -> None:
        """Called after each run, before its offers are passed on."""

    def after_batch(self) -> None:
        """Called after the run that comes with each allocation interval, unless runs are held back."""


class AllocationRuns:
    """The allocation runs of one allocator: it does those that are due, and passes on their offers."""

    def __init__(
        self,
        state: State,
        timers: AllocatorTimers,
        inverse_offers: InverseOfferFilters,
        master: Callbacks,
        steps: RunSteps | None,
        share: Stage | None = None,
    ) -> None:
        self.timers = timers
        self.gate = RunGate()
        self.queue = RunQueue(self.gate, self._run)
        self._state = state
        self._stages = TwoStages(state) if share is None else TwoStages(state, share)
        self._inverse_offers = inverse_offers
        self._master = master
        self._steps = steps or RunSteps()
        self._runs = 0
        self.times: deque[float] = deque(maxlen=_MOST_TIMES)
        """When the last runs were."""
        self._run_timer = StopWatch("allocator/mesos/allocation_run_ms", state.options.perf_counter)
        self._latency = StopWatch("allocator/mesos/allocation_run_latency_ms", state.options.perf_counter)
        self.batches = Batches(timers, state.options.allocation_interval)
        self._may_skip = (
            steps is None
            and share is None
            and isinstance(state.role_sorter, DrfSorter)
            and state.options.framework_sorter == "drf"
            and state.options.shuffle is keep_order
        )
        """Whether nothing but changes of the state can make a run end differently from the one before."""

    # --- Time ---------------------------------------------------------------------------------------

    def advance_to(self, now: float) -> None:
        """Do everything that is due up to `now`."""
        self.queue.drain()
        while self._fire_next(now):
            self.queue.drain()
        self.timers.now = max(self.timers.now, now)

    def next_deadline(self) -> float | None:
        """Return when anything may happen next: now if a run is due, None if only an event can change that."""
        if self.queue.is_pending:
            return self.timers.now
        timer = self.timers.next_due()
        if self._is_quiet:
            return None if timer is None else timer[0]
        return (self.batches.due if timer is None else min(self.batches.due, timer))[0]

    @property
    def depends_on_state_alone(self) -> bool:
        """Whether nothing but the state and the clock decides the runs, and no run is held back."""
        return self._may_skip and self.gate.is_open and not self._state.with_maintenance_ahead

    def postpone(self, seconds: float) -> None:
        """Let everything that is due be due this much later.  The runs of that time are not listed."""
        self.timers.postpone(seconds)
        self.batches.postpone(seconds)

    @property
    def _is_quiet(self) -> bool:
        """Whether the runs from now on are proved to offer nothing until an event or the end of a filter.

        The last run was for all agents and made no offer. Nothing has changed since, and a run depends on nothing else:
        the order is not left to chance, no extension takes part, and nobody has to be asked to leave.
        """
        return self._may_skip and not self._state.has_changed and not self._state.with_maintenance_ahead

    def _fire_next(self, until: float) -> bool:
        """Do the earliest thing that is due up to `until`; return False if there is none."""
        if self._is_quiet:
            self._runs += self.batches.skip(until, self.times.append)
        timer = self.timers.next_due()
        if timer is not None and timer < self.batches.due:
            return self.timers.fire_next(until)
        if self.batches.due[0] > until:
            return False
        self.timers.now = max(self.timers.now, self.batches.due[0])
        self.request_run_for_all()
        self.queue.drain()
        self.batches.go_on()
        if self.gate.is_open:
            self._steps.after_batch()
        return True

    # --- Runs ---------------------------------------------------------------------------------------

    def request_run(self, agent: str) -> None:
        """Request a run for one agent."""
        self.queue.request({agent: None})

    def request_run_for_all(self) -> None:
        """Request a run for all agents."""
        agents = self._state.agents
        # Hundreds of frameworks may subscribe in a row; after the first, all agents are already candidates.
        self.queue.request({} if len(self.queue) == len(agents) else dict.fromkeys(agents))

    def _run(self, candidates: dict[str, None]) -> None:
        state, steps = self._state, self._steps
        is_for_all = len(candidates) == len(state.agents)
        steps.before_run()
        self._runs += 1
        self.times.append(self.timers.now)
        self._latency.record(0.0)
        if state.options.inner_weights_stay and any(state.agents[agent].activated for agent in candidates):
            state.role_sorter.refresh()  # the weights of this moment stay, also where nobody is offered anything
        with self._run_timer:
            # With nobody to offer anything to, only an extension has anything to do.
            is_idle = self._may_skip and not state.tokens()
            agents, offered = ([], {}) if is_idle else self._stages.run(candidates.keys())
            steps.third_stage(agents, offered)
            offers = _by_framework(offered)
            if is_for_all and not offers:
                state.has_changed = False
            ahead = state.with_maintenance_ahead
            inverse = (
                self._inverse_offers.make(state.agents[agent] for agent in candidates if agent in ahead)
                if ahead
                else {}
            )
        steps.before_offers()
        for framework, by_role in offers.items():
            self._master.offers(framework, by_role)
        for framework, by_agent in inverse.items():
            self._master.inverse_offers(framework, by_agent)

    def recover(self, expected_agents: int, quotas: Mapping[str, Quota]) -> None:
        """Hold runs back until most agents are known again; only if there is quota."""
        if not quotas:
            return
        for role, quota in quotas.items():
            self._state.set_quota(role, quota)
        options = self._state.options
        expected = agents_to_wait_for(expected_agents, options.allocator_agent_recovery_factor)
        self.gate.recover(expected, self.timers, options.allocator_recovery_timeout)

    # --- Figures ------------------------------------------------------------------------------------

    def metrics(self) -> dict[str, float]:
        """Return every metric by Mesos's own name."""
        waiting = float(self.queue.is_pending)
        return {
            "allocator/event_queue_dispatches": waiting,
            "allocator/mesos/event_queue_dispatches": waiting,
            "allocator/mesos/allocation_runs": float(self._runs),
            **self._run_timer.figures(),
            **self._latency.figures(),
            **state_figures(self._state),
        }


def _by_framework(offered: Offered) -> Offers:
    offers: Offers = {}
    for client, by_agent in offered.items():
        offers.setdefault(client.framework.id, {})[client.role.name] = by_agent
    return offers
