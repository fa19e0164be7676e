"""A cluster file played in virtual time: who takes which offer, and what everybody holds then."""

from dataclasses import dataclass, field
from pathlib import Path

from fake_master.cluster import ClusterSpec, read_cluster_file
from fake_master.master.clocks import VirtualClock
from fake_master.master.frameworks import Framework
from fake_master.master.offers import Offer
from fake_master.master.state import Master
from mesosctl.core.errors import BadInput
from mesosctl.core.quantities import Quantities
from mesosctl.core.sharing import Holding, Sharing, SharingStep

# Filters longer than this are not waited for.
_LONGEST_REFUSAL = 3600.0


@dataclass
class _Recorder:
    """Writes a step whenever a resident has used an offer."""

    most: int
    master: Master | None = None
    start: float = 0.0
    steps: list[SharingStep] = field(default_factory=list)

    @property
    def is_full(self) -> bool:
        return len(self.steps) >= self.most

    def launched(self, framework: Framework, offer: Offer, tasks: int) -> None:
        if self.master is None or self.is_full:
            return
        self.steps.append(
            SharingStep(
                number=len(self.steps) + 1,
                seconds=round(self.master.now - self.start, 3),
                framework=framework.name,
                role=offer.role,
                agent=self.master.agents[offer.agent_id].hostname,
                tasks=tasks,
                holdings=_holdings(self.master),
                allocated=Quantities.total(
                    other.used().scalar_quantities() for other in self.master.frameworks.values()
                ),
            )
        )


def simulate_file(path: Path, most_steps: int) -> Sharing:
    """Play a cluster file until nobody takes anything, or for so many steps.

    Raises BadInput for the file, or where it has no frameworks.
    """
    return simulate(read_cluster_file(path), most_steps)


def simulate(spec: ClusterSpec, most_steps: int) -> Sharing:
    """Play a cluster until nobody takes anything, or for so many steps.  Raises BadInput."""
    if not spec.frameworks:
        raise BadInput("the cluster has no frameworks to share it", field="frameworks", hint="add [[frameworks]]")
    clock = VirtualClock(0.0)
    recorder = _Recorder(most_steps)
    master = spec.start(clock=clock, on_launch=recorder.launched)
    recorder.master, recorder.start = master, clock()
    refusals = [min(framework.refuse_seconds, _LONGEST_REFUSAL) for framework in spec.frameworks]
    ended = _play(master, clock, recorder, max(refusals) + 2 * master.allocation_interval)
    return Sharing(
        totals=_totals(master),
        frameworks=tuple(framework.name for framework in master.frameworks.values()),
        steps=tuple(recorder.steps),
        tasks={
            framework.name: sum(not task.is_terminal for task in framework.tasks.values())
            for framework in master.frameworks.values()
        },
        ended=ended,
    )


def _play(master: Master, clock: VirtualClock, recorder: _Recorder, quiet_seconds: float) -> bool:
    """Let time pass from one allocation to the next.

    Whether it became quiet: no filter is left, no task will end, and nobody took anything.
    """
    quiet_for = 0.0
    while not recorder.is_full:
        before = len(recorder.steps)
        master.advance()
        due = master.next_deadline()
        assert due is not None, "an allocator always has its next run before it"
        passed = max(0.0, due - clock())
        clock.sleep(passed)
        quiet_for = 0.0 if len(recorder.steps) > before else quiet_for + passed
        if quiet_for > quiet_seconds and not _tasks_will_end(master):
            return True
    return False


def _tasks_will_end(master: Master) -> bool:
    return master.task_fate.outcome is not None and any(
        len(framework.used()) for framework in master.frameworks.values()
    )


def _totals(master: Master) -> Quantities:
    return Quantities.total(agent.total.scalar_quantities() for agent in master.agents.values())


def _holdings(master: Master) -> tuple[Holding, ...]:
    totals = _totals(master)
    return tuple(
        Holding.of(framework.name, framework.used().scalar_quantities(), totals)
        for framework in master.frameworks.values()
    )
