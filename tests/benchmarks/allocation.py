"""How long one allocation cycle takes, here and in the real master, on the same cluster in one run.

    python -m tests.benchmarks.allocation [--small] [--only WORDS] [--json FILE]

Prints milliseconds of `allocator/mesos/allocation_run_ms`, median and best of 15 runs each, the
ratios of both, and how they grow with agents and with frameworks.  On a busy machine the best
says more.  Without MESOS_RUNNER it measures ours alone.
"""

import asyncio
import contextlib
import gc
import math
import statistics
import time
from dataclasses import dataclass
from functools import cache
from typing import Literal

from fake_master.allocator.hierarchical.allocator import HierarchicalAllocator
from fake_master.allocator.interface import AgentInfo, FrameworkInfo
from fake_master.allocator.options import Options
from mesosctl.model.quantities import Limits, Quantities, Quota
from mesosctl.model.resources import Resources
from mesosctl.model.text import parse_resources
from tests.allocator.real_master import RUNNER, Agents, RealMaster, Scheduler, decline
from tests.benchmarks.cases import LARGE, QUOTA, SMALL, Case, FreeResources, quota_configs
from tests.benchmarks.report import Cell, Chart, Reporter, arguments, ratio

RUN_MS = "allocator/mesos/allocation_run_ms"
RUNS = "allocator/mesos/allocation_runs"
FOR_LONG = 30 * 86400.0
AT_MOST: dict[FreeResources, float] = {"pass": 1.0, "decline": 0.1}
"""Ours by the real one's."""


@dataclass(frozen=True)
class Scale:
    """How much is measured."""

    cases: tuple[Case, ...]
    agents: tuple[int, ...]
    """Of the clusters that show how a run grows with agents; they have the most of `frameworks`."""
    frameworks: tuple[int, ...]
    """Likewise; on `fixed_agents`."""
    fixed_agents: int
    samples: int
    interval: str
    """Between two runs of the real master; within it every framework must have answered."""
    real_growth: bool


LARGE_SCALE = Scale(tuple(LARGE), (500, 1000, 2000, 5000), (25, 50, 100, 200), 1000, 15, "1secs", real_growth=True)
SMALL_SCALE = Scale(tuple(SMALL), (50, 100, 200), (5, 10, 20), 100, 5, "200ms", real_growth=False)


@dataclass(frozen=True)
class Samples:
    """Milliseconds of runs, here and there, and microseconds of a decline here."""

    ours: list[float]
    real: list[float] | None
    decline_us: float


class Ours:
    """The fake's allocator on a cluster of a case, with frameworks that decline everything."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._outstanding: list[tuple[str, str, Resources]] = []
        self._refuse = FOR_LONG if case.shape == "decline" else None
        self._now = 0.0
        self.recover_us: list[float] = []
        allocator = self.allocator = HierarchicalAllocator(Options(), self._on_offers)
        for role in case.with_quota():
            amounts = {name: int(amount * 1000) for name, amount in QUOTA.items()}
            allocator.update_quota(role, Quota(Quantities(amounts), Limits(amounts)))
        for index in range(case.frameworks):
            allocator.add_framework(FrameworkInfo(f"f{index:05d}", frozenset({case.role_of(index)})))
        for index in range(case.agents):
            allocator.add_agent(AgentInfo(f"a{index:05d}"), parse_resources(case.resources_of(index)))

    def _on_offers(self, framework: str, by_role: dict[str, dict[str, Resources]]) -> None:
        for by_agent in by_role.values():
            self._outstanding += [(framework, agent, offered) for agent, offered in by_agent.items()]

    def cycle(self) -> float:
        """Everybody answers, a second passes; the milliseconds of the run, as the metric has them."""
        answered, self._outstanding = self._outstanding, []
        started = time.perf_counter()
        for framework, agent, offered in answered:
            self.allocator.recover_resources(framework, agent, offered, self._refuse)
        if answered:
            self.recover_us.append((time.perf_counter() - started) * 1e6 / len(answered))
        self._now += 1.0
        self.allocator.advance_to(self._now)
        return self.allocator.metrics()[RUN_MS]

    def measure(self, samples: int) -> list[float]:
        """So many of the cycles that the case is about."""
        for _ in range(3):
            self.cycle()  # the first hands out what registered together, and fills the caches
        while self._case.shape == "decline" and self._outstanding:
            self.cycle()
        gc.collect()
        return [self.cycle() for _ in range(samples)]


async def real_samples(case: Case, scale: Scale) -> list[float]:
    """The same on the real master: its own figure over as many runs."""
    # A run in which everybody is silent need not leave anybody time to answer.
    interval = scale.interval if case.shape == "pass" else "100ms"
    with RealMaster(allocation_interval=interval) as master:
        quotas = quota_configs(case)
        if quotas:
            await asyncio.to_thread(
                master.call, {"type": "UPDATE_QUOTA", "update_quota": {"force": True, "quota_configs": quotas}}
            )
        seconds = FOR_LONG if case.shape == "decline" else 0.0
        names = range(case.frameworks)
        schedulers = [Scheduler(master.port, f"f{index}", [case.role_of(index)], decline(seconds)) for index in names]
        tasks = [asyncio.create_task(scheduler.run()) for scheduler in schedulers]
        await asyncio.gather(*(scheduler.subscribed.wait() for scheduler in schedulers))
        agents = Agents(master.port)
        await agents.start()
        for index in range(case.agents):
            await agents.register(case.resources_of(index))
        try:
            return await _settled_samples(case, scale.samples, master, schedulers)
        finally:
            await agents.stop()
            for task in tasks:
                task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.gather(*tasks)


async def _settled_samples(case: Case, wanted: int, master: RealMaster, schedulers: list[Scheduler]) -> list[float]:
    """Wait until the case is in its steady state, then take one sample a run."""
    samples: list[float] = []
    seen, quiet, offers, batches = -1.0, 0, -1, 0
    while len(samples) < wanted:
        await asyncio.sleep(0.1)
        figures = await asyncio.to_thread(master.metrics)
        if figures["master/slaves_active"] < case.agents or figures[RUNS] <= seen:
            continue
        seen = figures[RUNS]
        count = sum(len(scheduler.offers) for scheduler in schedulers)
        quiet, offers, batches = (quiet + 1 if count == offers else 0), count, batches + 1
        # The first runs belong to registrations, and a refused cluster must have fallen silent.
        if (batches if case.shape == "pass" else quiet) > 3:
            samples.append(figures[RUN_MS])
    return samples


@cache
def measured(case: Case, scale: Scale, *, beside_real: bool) -> Samples:
    """One case, once: a cluster may stand in several tables."""
    ours = Ours(case)
    samples = ours.measure(scale.samples)
    real = asyncio.run(real_samples(case, scale)) if beside_real and RUNNER else None
    return Samples(samples, real, statistics.median(ours.recover_us))


def growth(reporter: Reporter, what: Literal["agents", "frameworks"], scale: Scale) -> None:
    """How a run grows with one of both: a picture, and the exponent e of time ~ size ** e fitted through all points."""
    if what == "agents":
        fixed = f"{scale.frameworks[-1]} frameworks"
        clusters = [Case("pass", size, scale.frameworks[-1]) for size in scale.agents]
    else:
        fixed = f"{scale.fixed_agents:,} agents"
        clusters = [Case("pass", scale.fixed_agents, size) for size in scale.frameworks]
    reporter.table(f"Growing {what}, {fixed}, every offer passed; best runs", what, "ours", "real")
    lines: dict[str, list[tuple[float | str, float]]] = {}
    for case in clusters:
        size = getattr(case, what)
        found = measured(case, scale, beside_real=scale.real_growth)
        best = {"here": min(found.ours)} | ({"Mesos 1.11.0": min(found.real)} if found.real else {})
        for name, milliseconds in best.items():
            lines.setdefault(name, []).append((size, milliseconds))
        reporter.row(f"{size:,}", best["here"], best.get("Mesos 1.11.0"))
    exponents = {name: exponent(points) for name, points in lines.items()}
    told = " and ".join(f"{found:.2f} ({name})" for name, found in exponents.items())
    reporter.say(f"The time of a run grows with the number of {what} to the power of {told}.")
    lines = {f"{name} (exponent {exponents[name]:.2f})": points for name, points in lines.items()}
    reporter.chart(Chart(f"allocation-{what}", f"An allocation run against {what}, {fixed}", what, "ms", lines))


def exponent(points: list[tuple[float | str, float]]) -> float:
    """The slope of the straight line through the logarithms."""
    across, up = ([math.log(float(point[place])) for point in points] for place in (0, 1))
    return statistics.linear_regression(across, up).slope


def main() -> None:
    """Measure every case and print a line for each."""
    given = arguments(__doc__).parse_args()
    scale = SMALL_SCALE if given.small else LARGE_SCALE
    reporter = Reporter(
        "Allocation",
        f"Milliseconds of `{RUN_MS}`, {scale.samples} runs for each case. With `pass`, frameworks return every offer "
        "at once, so each run offers everything again. With `decline`, they decline every offer for a long time, until "
        "a run has nothing to offer. On a busy machine, trust the best run more than the median.",
    )
    columns = [f"{word}, {of}" for of in ("median", "best") for word in ("ours", "real", "ratio")]
    reporter.table("One run", "agents x frameworks", *columns, "ratio at most", "µs a decline")
    for case in scale.cases:
        label = f"{case.agents:,} x {case.frameworks:,}, {case.name}"
        if given.only in label:
            _row(reporter, label, AT_MOST[case.shape], measured(case, scale, beside_real=True))
    if not given.only:
        growth(reporter, "agents", scale)
        growth(reporter, "frameworks", scale)
    reporter.finish(given.json)


def _row(reporter: Reporter, label: str, at_most: float, found: Samples) -> None:
    cells: list[Cell] = []
    for of in (statistics.median, min):
        theirs = None if found.real is None else of(found.real)
        cells += of(found.ours), theirs, ratio(of(found.ours), theirs)
    reporter.row(label, *cells, at_most, found.decline_us)


if __name__ == "__main__":
    main()
