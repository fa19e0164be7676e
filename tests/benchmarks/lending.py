"""How long one allocation cycle takes with and without lending of idle reservations.

    python -m tests.benchmarks.lending [--small] [--only WORDS] [--json FILE]

Half of each agent is reserved for a role that has no framework, and lent with --oversubscribe-reservations.  Prints
milliseconds of `allocator/mesos/allocation_run_ms` in CPU time of the thread.  Runs alternate between both allocators.
The ratio is the median of the ratios of pairs, so that other work on the machine, which slows both runs of a pair,
counts little.  Tenants hand back all that they are offered, or keep what they were lent.  Ends with status 2 if a
ratio is above AT_MOST; small clusters have no limit.
"""

import gc
import statistics
import time
from dataclasses import dataclass
from typing import Literal

from fake_master.allocator.hierarchical.allocator import HierarchicalAllocator
from fake_master.allocator.interface import AgentInfo, Callbacks, FrameworkInfo
from fake_master.allocator.options import Options
from fake_master.extensions.lending.allocator import LendingAllocator
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.amounts.resources import Resources
from tests.benchmarks.reporting.report import Chart, Reporter, arguments

RUN_MS = "allocator/mesos/allocation_run_ms"
AT_MOST = 2.0
"""A run with lending by one without."""
AGENT = "cpus:12;mem:32768;cpus(owner):12;mem(owner):32768"
Habit = Literal["pass", "keep"]


@dataclass(frozen=True)
class Case:
    """A cluster whose tenants hand everything back (`pass`), or all but what they were lent (`keep`)."""

    agents: int
    tenants: int
    habit: Habit = "pass"


SMALL = [Case(200, 20), Case(200, 20, "keep")]
LARGE = [
    *(Case(agents, 50) for agents in (500, 1000, 2000, 5000)),
    *(Case(1000, tenants) for tenants in (25, 100, 200)),
    *(Case(agents, 50, "keep") for agents in (1000, 5000)),
]
PAIRS = 51
"""Of runs on 1,000 agents and more; of fewer so many more, as their runs are short."""


class Market:
    """An allocator, and tenants that answer every offer in the same way."""

    def __init__(self, case: Case, *, lends: bool) -> None:
        self._keeps = case.habit == "keep"
        self._outstanding: list[tuple[str, str, Resources]] = []
        self._now = 0.0
        options = Options(perf_counter=time.thread_time)
        self.allocator: HierarchicalAllocator = (
            LendingAllocator(options, Callbacks(self._on_offers), 0.0, on_rescind=lambda _framework, _by_agent: None)
            if lends
            else HierarchicalAllocator(options, Callbacks(self._on_offers), 0.0)
        )
        capabilities = frozenset({"MULTI_ROLE", "REVOCABLE_RESOURCES"})
        for index in range(case.tenants):
            self.allocator.add_framework(FrameworkInfo(f"f{index:05d}", frozenset({f"r{index}"}), capabilities))
        for index in range(case.agents):
            self.allocator.add_agent(AgentInfo(f"a{index:05d}"), parse_resources(AGENT))

    def _on_offers(self, framework: str, by_role: dict[str, dict[str, Resources]]) -> None:
        for by_agent in by_role.values():
            self._outstanding += [(framework, agent, offered) for agent, offered in by_agent.items()]

    def cycle(self) -> float:
        """Let everybody answer and a second pass; return the milliseconds of the run."""
        answered, self._outstanding = self._outstanding, []
        for framework, agent, offered in answered:
            given = offered.non_revocable() if self._keeps else offered
            if given:
                self.allocator.recover_resources(framework, agent, given)
        self._now += 1.0
        self.allocator.advance_to(self._now)
        return self.allocator.metrics()[RUN_MS]


def measure(case: Case, pairs: int) -> tuple[float, float, float]:
    """Return the median run without lending, the median run with it, and the median ratio of a pair."""
    markets = [Market(case, lends=lends) for lends in (False, True)]
    for market in markets:
        for _ in range(3):
            market.cycle()  # the first hands out what registered together, and fills the caches
    gc.collect()
    gc.disable()  # a collection would look through the objects of both, in the run of one
    try:
        runs = [(markets[0].cycle(), markets[1].cycle()) for _ in range(pairs)]
    finally:
        gc.enable()
    without, lending = map(statistics.median, zip(*runs, strict=True))
    return without, lending, statistics.median(lending / without for without, lending in runs)


def main() -> None:
    """Measure every case and print a line for each."""
    given = arguments(__doc__).parse_args()
    cases, pairs = (SMALL, 5) if given.small else (LARGE, PAIRS)
    reporter = Reporter(
        "Lending",
        f"Milliseconds of `{RUN_MS}` with and without `--oversubscribe-reservations`, in CPU time of the thread; the "
        f"median of at least {pairs} runs of each, in turn, and the median ratio of a pair. "
        "Half of each agent is reserved and idle. With `pass`, frameworks return every offer. "
        "With `keep`, they keep what they were lent.",
    )
    reporter.table("One run", "agents x frameworks", "without", "lending", "ratio", "ratio at most")
    lines: dict[str, list[tuple[float | str, float]]] = {}
    ratios: dict[str, float] = {}
    for case in cases:
        label = f"{case.agents:,} x {case.tenants:,}, {case.habit}"
        if given.only not in label:
            continue
        without, lending, ratio = measure(case, pairs * max(1, 1000 // case.agents))
        reporter.row(label, without, lending, ratio, AT_MOST)
        ratios[label] = ratio
        if not given.small:  # a run of a few milliseconds says little of a ratio
            reporter.limit(label, ratio, AT_MOST)
        if (case.tenants, case.habit) == (50, "pass"):
            lines.setdefault("without", []).append((case.agents, without))
            lines.setdefault("lending", []).append((case.agents, lending))
    if ratios:
        slowest = max(ratios, key=ratios.__getitem__)
        reporter.budget(f"a run with lending divided by one without, slowest: {slowest}", ratios[slowest], AT_MOST)
    if lines:
        reporter.chart(Chart("lending-agents", "An allocation run, 50 frameworks", "agents", "ms", lines))
    reporter.finish(given.json)


if __name__ == "__main__":
    main()
