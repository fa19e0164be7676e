"""Recorded demand on a master of its own, in virtual time.

run = ReplayRun(demand, never_fit, refuse, progress)
                              the master as it was when the replayed time began, without frameworks
run.dry_run                   for changes, and requests through its transport
run.begin()                   the frameworks ask for their tasks from here on
run.play_until(moment)        time passes
run.play_undisturbed()        instead of both: it passes until the end, and nothing is changed in it
run.played()                  the start and the end of each task
"""

from array import array
from collections.abc import Collection, Hashable, Iterator
from dataclasses import replace
from functools import partial
from itertools import repeat

from fake_master.allocator.hierarchical.allocator import HierarchicalAllocator
from fake_master.allocator.hierarchical.recurrence import Moment, Recurrence
from fake_master.forecasting.dry_run import DryRun
from fake_master.replay_engine.asked_tasks import AskedTask, AskedTasks
from fake_master.replay_engine.scalar_replay import AskingFramework, ScalarReplay
from fake_master.sources.demand import WantedTask, runs_for
from fake_master.sources.simulated_frameworks import SimulatedFramework, SimulatedFrameworkSpec
from fake_master.sources.snapshot import RestoredCluster
from fake_master.sources.snapshot_state import register_agents
from fake_master.sources.waiting_tasks import part_of
from fake_master.state.clock import VirtualClock
from fake_master.state.frameworks import KnownFramework
from fake_master.state.subscription import allocator_info
from fake_master.state.tasks import KnownTask
from mesosctl.mesos.amounts.quantities import Quantities
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.cluster.agents import ClusterAgent
from mesosctl.mesos.cluster.snapshot import ClusterSnapshot, evaluable
from mesosctl.mesos.door.forecast import DryRunOptions, Progress
from mesosctl.mesos.door.replay import PLACING, Played, RecordedDemand, ReplayedAgent, ReplayedFramework
from mesosctl.mesos.door.replayed_tasks import Times

_INTERVAL = 1.0
"""Seconds between two allocations."""
_STEPS = 200
"""How often progress is told."""


def _first_moment(demand: RecordedDemand) -> float:
    """When the master leads: so that its allocations run at the recorded moments, if a master told them."""
    if demand.first_run is None:
        return demand.since
    return demand.since - (demand.since - demand.first_run) % _INTERVAL


class ReplayRun:
    """One replay."""

    def __init__(self, demand: RecordedDemand, never_fit: Collection[int], refuse: float, progress: Progress) -> None:
        self._demand = demand
        self._never_fit = never_fit
        self._refuse = refuse
        self._progress = progress
        self._step = (demand.until - demand.since) / _STEPS
        """The seconds after which progress is told again."""
        self._clock = VirtualClock(_first_moment(demand))
        present = tuple(replayed.agent for replayed in demand.agents if replayed.start <= demand.since)
        self._snapshot = ClusterSnapshot(
            demand.version, demand.since, agents=present, mesos_profile=demand.mesos_profile
        )
        source = RestoredCluster(self._snapshot if demand.snapshot is None else evaluable(demand.snapshot))
        self._master = source.start(clock=self._clock)
        self.dry_run = DryRun(self._master, self._clock, self._snapshot, DryRunOptions(cycles=0), source=source)
        self._starts, self._ends = (Times(repeat(None, len(demand.tasks))) for _ in range(2))
        self._on_agent: dict[str, array[int]] = {}
        """The places of the tasks that were launched on an agent, by its id."""
        self._held: dict[int, tuple[str, Resources]] = {}
        self._guarantees: list[tuple[float, dict[str, Quantities]]] = []
        self._weights: list[tuple[float, dict[str, float]]] = []
        allocator = self._master.allocator
        self._recurrence = Recurrence(allocator) if type(allocator) is HierarchicalAllocator else None
        self._seen: dict[Hashable, Moment] = {}
        """The moments since the last thing that happened, by what makes them alike.

        Between two of them there may be nothing but declined offers. A start clears them; everything else that can
        happen has a timer, and clears them when it fires by changing the next deadline (`_nothing_before`).
        """
        self._nothing_before = demand.since
        """The deadline of the next timer when those moments were noted."""
        timers = self._master.state.timers
        for replayed in demand.agents:
            if replayed.start > demand.since:
                timers.at(replayed.start, partial(self._register, replayed))
            if replayed.end is not None and replayed.end < demand.until:
                timers.at(replayed.end, partial(self._give_up, replayed.agent.id))
        for absence in demand.absences:
            if absence.start <= demand.since:
                self._leave(absence.agent_id)
            else:
                timers.at(absence.start, partial(self._leave, absence.agent_id))
            if absence.end is not None:
                timers.at(absence.end, partial(self._return, absence.agent_id))

    @property
    def allocation_interval(self) -> float:
        """Seconds between two allocations."""
        return self._master.allocation_interval

    def begin(self) -> None:
        """Let the frameworks of the recording ask for their tasks.

        Those that never fit are asked for too: the framework that waits for them is offered what it has to decline.
        """
        self.note_change()
        for spec, tasks in self._specs():
            simulated = SimulatedFramework(self._master, spec)
            simulated.on_start = self._note_start
            running = list(tasks.placed)
            if running:
                simulated.join_with(running)
            else:
                simulated.join({})

    def play_undisturbed(self) -> None:
        """Let the frameworks ask for their tasks, and all time pass; it is faster if everything is plain."""
        plain = self._plain()
        if plain is None:
            self.begin()
            self.play_until(self._demand.until)
        else:
            self.note_change()
            plain.play(self._demand.until, self._step, self._tell_progress)

    def _specs(self) -> Iterator[tuple[SimulatedFrameworkSpec, AskedTasks]]:
        """Each framework of the recording, and the tasks that it asks for, in the order in which they subscribe."""
        wanted: dict[str, AskedTasks] = {}
        placed, seeking = self._places_of_running()
        # An agent is offered to one framework after the other, each time at an allocation.
        placing = min(PLACING, (len(seeking) + 1) * self.allocation_interval) if len(seeking) > 1 else 0.0
        for place, task in enumerate(self._demand.tasks):
            known = wanted.get(task.framework_id)
            if known is None:
                joined = self._demand.frameworks[task.framework_id].joined
                if joined is not None and joined <= self._demand.since:  # the first run may be before that
                    joined = self._clock()
                known = wanted[task.framework_id] = AskedTasks(self._demand.tasks, self._clock(), placing, joined)
            if place in placed:
                known.place(place, task.resources, *placed[place])
            else:
                known.add(place, task.resources)
        # Between equal shares, the ids of frameworks decide.
        turn = {framework_id: number for number, framework_id in enumerate(self._demand.frameworks)}
        told = (0 if of.joined is None else turn[of.id] for of in map(self._demand.frameworks.__getitem__, wanted))
        turns = dict(zip(wanted, told, strict=True))
        for framework_id in sorted(wanted, key=lambda name: (wanted[name].after, turns[name])):
            tasks = wanted[framework_id]
            yield self._spec(self._demand.frameworks[framework_id], tasks), tasks

    def _places_of_running(self) -> tuple[dict[int, tuple[str, Resources]], set[str]]:
        """Return what ran at the beginning and has room on its agent, and the frameworks of what has not.

        Of each task that has, by its place, this is the id of the agent and what it holds there.
        """
        agents = {agent.hostname: agent for agent in reversed([*self._master.state.agents.values()])}
        free = {host: agent.total for host, agent in agents.items()}
        found: dict[int, tuple[str, Resources]] = {}
        seeking: set[str] = set()
        for place, task in enumerate(self._demand.tasks):
            if not task.ran_from_the_beginning:
                break  # they come before all others
            part = None
            if task.host in free:
                part = part_of(free[task.host].allocatable_to(task.role), task.resources)
            if part is None or task.host is None:
                seeking.add(task.framework_id)
            else:
                found[place] = agents[task.host].id, part
                free[task.host] -= part
        return found, seeking

    def _spec(self, framework: ReplayedFramework, tasks: AskedTasks) -> SimulatedFrameworkSpec:
        """Let a framework enter when it did, or else as it asks for its first task; before, it is offered nothing."""
        return SimulatedFrameworkSpec(
            framework.name or framework.id,
            framework.roles,
            refuse_seconds=self._refuse,
            after=tasks.after,
            principal=framework.principal,
            capabilities=framework.capabilities,
            demand=tasks,
            where=framework.id,
        )

    def _plain(self) -> ScalarReplay | None:
        """Return the fast way; None if something is not plain."""
        demand, state = self._demand, self._master.state
        if demand.snapshot is not None:  # it is asked for where its tasks run, which the fast way does not know
            return None
        if demand.absences or any(
            replayed.start > demand.since or (replayed.end is not None and replayed.end < demand.until)
            for replayed in demand.agents
        ):
            return None
        asking = []
        for number, (spec, tasks) in enumerate(self._specs()):
            info = SimulatedFramework(self._master, spec).checked_subscription().info
            framework = KnownFramework(f"{number}", {**info, "id": {"value": f"{number}"}}, 0.0)
            asking.append(AskingFramework(allocator_info(framework, state.flags), spec.roles, spec.after, tasks))
        return ScalarReplay.of(self._master.allocator, state.now, self._refuse, asking, self._start)

    def _note_start(self, wanted: WantedTask, task: KnownTask) -> None:
        assert isinstance(wanted, AskedTask), "only tasks of the demand are asked for"
        self._seen.clear()
        self._start(wanted.place, self._master.state.now)
        self._on_agent.setdefault(task.agent_id, array("I")).append(wanted.place)
        if self._demand.snapshot is not None:
            self._held[wanted.place] = task.agent_id, task.resources.allocated_to(None)

    def _start(self, place: int, now: float) -> float | None:
        """Note when a task starts; return when it ends, None if it runs until the end."""
        lasts = runs_for(self._demand.tasks[place], now)
        end = None if lasts is None else now + lasts
        self._starts[place], self._ends[place] = now, end
        return end

    def _register(self, replayed: ReplayedAgent) -> None:
        with self._master.transaction():
            register_agents(self._master, replace(self._snapshot, agents=(replayed.agent,)))

    def _leave(self, agent_id: str) -> None:
        """An agent is out of service."""
        agent = self._master.state.agents.get(agent_id)
        if agent is not None:
            self._master.agent_removal.take_out_of_service(agent)

    def _return(self, agent_id: str) -> None:
        """An agent is in service again, if it is there at all."""
        if agent_id in self._master.state.agents:
            self._master.allocator.activate_agent(agent_id)

    def _give_up(self, agent_id: str) -> None:
        agent = self._master.state.agents.get(agent_id)
        if agent is None:  # a change has taken it away
            return
        with self._master.transaction():
            self._master.agent_removal.give_up([agent])
        self._note_losses()

    def _note_losses(self) -> None:
        """End what ran on agents that are gone."""
        now = self._master.state.now
        for agent_id in self._on_agent.keys() - self._master.state.agents.keys():
            for place in self._on_agent.pop(agent_id):
                end = self._ends[place]
                self._ends[place] = now if end is None else min(now, end)

    def note_change(self) -> None:
        """Take note of what a setting or a change has made: the guarantees from now on, and agents that are gone."""
        self._note_losses()
        quotas = self._master.state.quota_meanings()
        self._weights.append((self._master.state.now, dict(self._master.state.weights)))
        self._guarantees.append(
            (self._master.state.now, {role: quota.guarantees for role, quota in quotas.items() if quota.guarantees})
        )

    def play_until(self, moment: float) -> None:
        """Let time pass."""
        while (left := moment - self._clock()) > 0:
            self._clock.sleep(min(self._step, left))
            while self._master.do_next(self._clock()):
                self._leave_out_repetitions(moment)
            self._master.advance()
            self._tell_progress(self._clock())

    def _tell_progress(self, moment: float) -> None:
        self._progress((moment - self._demand.since) / (self._demand.until - self._demand.since))

    def _leave_out_repetitions(self, moment: float) -> None:
        """Leave out time in which everybody declines the same offers again and again.

        Whatever else happens is in the timers: the next ask, the next end of a task.
        """
        recurrence, state = self._recurrence, self._master.state
        if recurrence is None:
            return
        due, now = state.timers.next_deadline(), state.now
        before = moment if due is None else min(due, moment)
        if before <= now:
            return  # offers are yet to be answered
        if before != self._nothing_before:
            self._nothing_before = before
            self._seen.clear()
        # A moment costs about as much as a few offers, which short times do not repay.
        present = recurrence.moment(now) if before - now > self._refuse else None
        if present is None:
            return
        earlier = self._seen.get(present.likeness)
        self._seen[present.likeness] = present
        if earlier is not None and recurrence.repeat(earlier, present, before):
            self._seen.clear()

    def played(self) -> Played:
        """Return what happened until now."""
        played = Played(
            self._starts, self._ends, self._never_fit, self._guarantees, self.dry_run.answers, self._held,
            weights=self._weights,
        )  # fmt: skip
        if self._demand.snapshot is None:
            return played
        state = self._master.state
        known = {agent.id for agent in self._demand.snapshot.agents}
        added = (
            ClusterAgent(
                agent.id, agent.hostname, agent.pid, agent.configured, agent.attributes, frozenset(agent.capabilities)
            )
            for agent in state.agents.values()
            if agent.id not in known
        )
        return replace(played, added_agents=tuple(added), left_agents=frozenset(state.agents))
