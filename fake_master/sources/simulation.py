"""A cluster played in virtual time, offer by offer, for `mesosctl offers simulate`."""

from dataclasses import dataclass, field, replace
from io import BufferedIOBase

from fake_master.extensions.revocation import Revoked as MasterRevoked
from fake_master.master import Master
from fake_master.sources.cluster_file import ClusterSpec, read_cluster
from fake_master.sources.cluster_writing import cluster_file
from fake_master.sources.simulated_frameworks import SimulatedFramework
from fake_master.sources.snapshot import RestoredCluster
from fake_master.sources.source_file import read_opened
from fake_master.state.clock import VirtualClock
from fake_master.state.frameworks import KnownFramework
from fake_master.state.offers import OutstandingOffer
from fake_master.state.tasks import KnownTask, TaskGroup
from mesosctl.mesos.amounts.quantities import Quantities
from mesosctl.mesos.cluster.dominant_shares import (
    AcceptedOffer,
    AllocationStage,
    FrameworkShare,
    Revocation,
    RoleShare,
    Sharing,
)
from mesosctl.mesos.cluster.snapshot import ClusterSnapshot
from mesosctl.mesos.errors import BadInput
from mesosctl.mesos.roles import is_strict_subrole, top_level

# Filters longer than this are not waited for.
_LONGEST_REFUSAL = 3600.0


@dataclass
class _Recorder:
    """Records a step whenever a simulated framework has used an offer."""

    most: int
    expected: tuple[str, ...] = ()
    """Frameworks that join later, in that order."""
    master: Master | None = None
    start: float = 0.0
    steps: list[AcceptedOffer] = field(default_factory=list)
    revoked: list[Revocation] = field(default_factory=list)
    """Since the last step."""
    going: list[str] = field(default_factory=list)
    """Tasks that were evicted since the last step."""

    @property
    def seconds(self) -> float:
        assert self.master is not None
        return round(self.master.state.now - self.start, 3)

    @property
    def is_full(self) -> bool:
        return len(self.steps) >= self.most

    def launched(self, framework: KnownFramework, offer: OutstandingOffer, tasks: int) -> None:
        if self.master is None or self.is_full:
            return
        self.steps.append(
            AcceptedOffer(
                number=len(self.steps) + 1,
                seconds=self.seconds,
                framework=framework.name,
                role=offer.role,
                agent=self.master.state.agents[offer.agent_id].hostname,
                tasks=tasks,
                holdings=_holdings(self.master, self.expected),
                stage=_stage(self.master, framework, offer, tasks),
                roles=_roles(self.master),
                allocated=Quantities.total(
                    other.used().scalar_quantities() for other in self.master.state.frameworks.values()
                ),
                revoked=tuple(self.revoked),
                revocability=offer.resources.revocability,
                evicted=tuple(self.going),
            )
        )
        self.revoked.clear()
        self.going.clear()

    def record_revoked(self, what: MasterRevoked) -> None:
        assert self.master is not None
        framework = what.revocation.framework
        self.revoked.append(
            Revocation(
                seconds=self.seconds,
                action=what.kind,
                framework=what.framework.name,
                agent=self.master.state.agents[what.agent_id].hostname,
                id=what.id,
                amounts=what.resources.scalar_quantities(),
                wanted_by="the allocator" if framework is None else self.master.state.frameworks[framework].name,
            )
        )


def simulate_file(file: BufferedIOBase, where: str, most_steps: int) -> Sharing:
    """Play a cluster file, or a snapshot, until nobody takes another offer, or for this many steps.

    Raises BadInput for the file, or if it has no frameworks, and OSError.
    """
    spec = read_opened(file, where)
    if isinstance(spec, RestoredCluster):
        return _simulate_snapshot(spec.snapshot, where, most_steps)
    return simulate(spec, most_steps)


def _simulate_snapshot(snapshot: ClusterSnapshot, where: str, most_steps: int) -> Sharing:
    """A snapshot does not show what else its frameworks would launch, so assume more tasks like theirs.

    Raises BadInput.
    """
    # The lines of this text are not those of the snapshot.
    spec = replace(read_cluster(cluster_file(snapshot)[0], where), file=None)
    active = [framework for framework in spec.frameworks if framework.connected]
    busy = [framework for framework in active if framework.task]
    if not busy:
        raise BadInput(
            f"{where} is a snapshot in which no framework runs a task, so it is unknown what they would launch",
            field="FILE",
            hint="turn it into a cluster file with mesosctl export --cluster --from FILE, and add the task of "
            "each framework to that file",
        )
    playing = tuple(
        replace(framework, answer="accept" if framework.task else "decline") for framework in spec.frameworks
    )
    assumed = ["each framework launches as many tasks as fit, of the average size of those that it runs"]
    idle = [framework.name for framework in active if not framework.task]
    if idle:
        assumed.append(f"frameworks that run none launch none: {', '.join(idle)}")
    return replace(simulate(replace(spec, frameworks=playing), most_steps), assumed=tuple(assumed))


def simulate(spec: ClusterSpec, most_steps: int) -> Sharing:
    """Play a cluster until nobody takes another offer, or for this many steps.  Raises BadInput."""
    if not spec.frameworks:
        where = "the cluster" if spec.file is None else spec.file.name
        raise BadInput(f"{where} has no frameworks", field="frameworks", hint="add [[frameworks]]")
    clock = VirtualClock(0.0)
    late = sorted((known for known in spec.frameworks if known.after), key=lambda known: known.after)
    recorder = _Recorder(most_steps, tuple(known.name for known in late))
    master = spec.start(clock=clock, on_launch=recorder.launched)
    recorder.master, recorder.start = master, clock()
    master.revoking.on_revoked = recorder.record_revoked
    master.runtime.on_eviction = lambda framework, task: recorder.going.append(f"{framework.name}/{task.id}")
    ended = _play(master, clock, recorder, _longest_quiet(spec, master))
    holdings = _holdings(master, recorder.expected)
    return Sharing(
        totals=_totals(master),
        frameworks=tuple(holding.framework for holding in holdings),
        steps=tuple(recorder.steps),
        tasks={
            framework.name: sum(not task.is_terminal for task in framework.all_tasks().values())
            for framework in master.state.frameworks.values()
        },
        ended=ended,
        revoked_at_end=tuple(recorder.revoked),
        holdings_at_end=holdings,
        roles_at_end=_roles(master),
    )


def _longest_quiet(spec: ClusterSpec, master: Master) -> float:
    """Return the seconds for which it may be quiet before something that was decided earlier happens."""
    refusals = [min(framework.refuse_seconds, _LONGEST_REFUSAL) for framework in spec.frameworks]
    stopping = max(master.state.flags.revocation_grace_seconds or 0.0, spec.task_outcome.stop_seconds)
    between = [framework.demand.longest_gap for framework in spec.frameworks if framework.demand is not None]
    longest = max(*refusals, stopping, *(min(gap, _LONGEST_REFUSAL) for gap in between))
    return longest + max(spec.joins_after) + 2 * master.allocation_interval


def _play(master: Master, clock: VirtualClock, recorder: _Recorder, quiet_seconds: float) -> bool:
    """Let time pass from one allocation to the next; return whether it became quiet.

    Quiet means that no filter is left, no task will end, and nobody took an offer.
    """
    quiet_for = 0.0
    while not recorder.is_full:
        before = len(recorder.steps), len(recorder.revoked)
        master.advance()
        due = master.next_deadline()
        if due is None:
            return True  # nothing is left that could change anything
        passed = max(0.0, due - clock())
        clock.sleep(passed)
        quiet_for = 0.0 if (len(recorder.steps), len(recorder.revoked)) != before else quiet_for + passed
        if quiet_for > quiet_seconds and not _tasks_will_end(master) and not _asks_for_more(master):
            return True
    return False


def _tasks_will_end(master: Master) -> bool:
    """Return whether any task that runs ends by itself."""
    all_end = master.state.task_outcome.outcome is not None
    return any(
        len(framework.used()) and (all_end or any(_has_end(task) for task in framework.tasks_or_groups()))
        for framework in master.state.frameworks.values()
    )


def _has_end(task: KnownTask | TaskGroup) -> bool:
    return isinstance(task, KnownTask) and task.lasts is not None and not task.is_terminal


def _asks_for_more(master: Master) -> bool:
    """Return whether a framework will ask for more of a number of tasks that has an end."""
    simulated = map(_simulated, master.state.frameworks.values())
    return any(
        framework is not None and framework.next_ask is not None and not framework.asks_endlessly
        for framework in simulated
    )


def _simulated(framework: KnownFramework) -> SimulatedFramework | None:
    return framework.scheduler if isinstance(framework.scheduler, SimulatedFramework) else None


def _totals(master: Master) -> Quantities:
    return Quantities.total(agent.total.scalar_quantities() for agent in master.state.agents.values())


def _holdings(master: Master, expected: tuple[str, ...]) -> tuple[FrameworkShare, ...]:
    """Return the shares of all frameworks, those that are expected last."""
    totals, weights = _totals(master), master.state.weights
    present = [
        FrameworkShare.of(
            framework.name,
            framework.used().scalar_quantities(),
            totals,
            weights.get(next(iter(framework.roles)), 1.0) if len(framework.roles) == 1 else 1.0,
        )
        for framework in master.state.frameworks.values()
    ]
    joined = {holding.framework for holding in present}
    return (*present, *(FrameworkShare.of(name, Quantities(), totals) for name in expected if name not in joined))


def _roles(master: Master) -> tuple[RoleShare, ...]:
    """Parents; every role if any has a weight or a guarantee; none if roles say no more than frameworks."""
    weights, quotas, totals = master.state.weights, master.state.quota_meanings(), _totals(master)
    leaves = {role for framework in master.state.frameworks.values() for role in framework.roles}
    parents = {role[:end] for role in leaves for end, letter in enumerate(role) if letter == "/"}
    guarantees = {role: quota.guarantees for role, quota in quotas.items() if quota.guarantees}
    says_more = guarantees or any(weights.get(role, 1.0) != 1.0 for role in leaves | parents)
    return tuple(
        RoleShare.of(role, _held_below(master, role), totals, weights.get(role, 1.0), guarantees.get(role))
        for role in sorted(leaves | parents | guarantees.keys() if says_more else parents)
    )


def _held_below(master: Master, role: str) -> Quantities:
    """Return the amounts that tasks hold in a role and in those below it."""
    return Quantities.total(
        framework.used()
        .filter(lambda entry: entry.allocation_role == role or is_strict_subrole(entry.allocation_role or "", role))
        .scalar_quantities()
        for framework in master.state.frameworks.values()
    )


def _stage(master: Master, framework: KnownFramework, offer: OutstandingOffer, tasks: int) -> AllocationStage:
    """Return whether the role of an offer was short of its guarantee in what the offer was just used for."""
    role = top_level(offer.role)
    quota = master.state.quota_meanings().get(role)
    if quota is None:
        return "fair share"
    running = list(framework.all_tasks().values())
    launched = Quantities.total(task.resources.scalar_quantities() for task in running[len(running) - tasks :])
    before = _held_below(master, role) - launched
    short = any(before.get_amount(name) < milli for name, milli in quota.guarantees.items() if name in launched)
    return "guarantee" if short else "fair share"
