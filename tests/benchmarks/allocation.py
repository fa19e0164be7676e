"""How long one allocation cycle takes, here and in the real master, on the same cluster in one run.

    python -m tests.benchmarks.allocation [--small] [--only WORDS] [--json FILE]

Prints milliseconds of `allocator/mesos/allocation_run_ms`, median and best of 15 runs each, the
ratios of both, how they grow with agents and with frameworks, and the memory of ten million refusals.  On a
busy machine the best says more.  Without MESOS_RUNNER it measures ours alone.  Ends with status 2 if a figure is above
its limit.
"""

import asyncio
import gc
import math
import os
import statistics
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from tests.benchmarks.allocation_runs import FOR_LONG, RUN_MS, Ours, patient_samples, timeout
from tests.benchmarks.cases import LARGE, SMALL, Case, FreeResources
from tests.benchmarks.reporting.report import Cell, Chart, Reporter, arguments, ratio
from tests.fake_master.allocator.real.real_master import RUNNER

AT_MOST: dict[FreeResources, float] = {"pass": 0.8, "decline": 0.003}
"""Ours by the real one's."""
EXPONENT_AT_MOST = {"agents": 1.2, "frameworks": 0.3}
BYTES_OF_A_REFUSAL = 31.0
"""Ten million in 300 MiB."""


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
    real_growth: int
    """The most agents of the growing clusters that the real master is measured with as well."""
    refusing: tuple[int, int]
    """Agents, and frameworks that all refuse each of them."""

    def samples_of(self, case: Case) -> int:
        """How many runs of a case are measured: fewer of the largest."""
        return self.samples if case.agents <= 10_000 else min(self.samples, 5)


LARGE_SCALE = Scale(tuple(LARGE), (500, 1000, 5000, 10000, 50000), (25, 50, 100, 200), 1000, 15, 5000, (10000, 1000))
SMALL_SCALE = Scale(tuple(SMALL), (50, 100, 200), (5, 10, 20), 100, 5, 0, (200, 20))


@dataclass(frozen=True)
class Samples:
    """Milliseconds of runs, here and there, and microseconds of a decline here."""

    ours: list[float]
    real: list[float] | None
    decline_us: float


@cache
def measured(case: Case, scale: Scale, *, beside_real: bool) -> Samples:
    """One case, once: a cluster may stand in several tables."""
    ours = Ours(case)
    samples = ours.measure(scale.samples_of(case))
    real = asyncio.run(patient_samples(case, scale.samples_of(case))) if beside_real and RUNNER else None
    return Samples(samples, real, statistics.median(ours.recover_us))


def growth(reporter: Reporter, what: Literal["agents", "frameworks"], scale: Scale) -> None:
    """How a run grows with one of both: a picture, and the exponent e of time ~ size ** e fitted through all points."""
    if what == "agents":
        fixed = f"{scale.frameworks[-1]} frameworks"
        clusters = [Case("pass", size, scale.frameworks[-1]) for size in scale.agents]
    else:
        fixed = f"{scale.fixed_agents:,} agents"
        clusters = [Case("pass", scale.fixed_agents, size) for size in scale.frameworks]
    reporter.table(f"By number of {what}: {fixed}, every offer returned; best runs", what, "ours", "real")
    lines: dict[str, list[tuple[float | str, float]]] = {}
    for case in clusters:
        size = getattr(case, what)
        found = measured(case, scale, beside_real=case.agents <= scale.real_growth)
        best = {"ours": min(found.ours)} | ({"Mesos 1.11.0": min(found.real)} if found.real else {})
        for name, milliseconds in best.items():
            lines.setdefault(name, []).append((size, milliseconds))
        reporter.row(f"{size:,}", best["ours"], best.get("Mesos 1.11.0"))
    exponents = {name: exponent(points) for name, points in lines.items()}
    told = " and ".join(f"{found:.2f} ({name})" for name, found in exponents.items())
    reporter.budget(f"exponent of a run's growth with {what}", exponents["ours"], EXPONENT_AT_MOST[what])
    if scale is not SMALL_SCALE:
        reporter.limit(f"exponent with {what}", exponents["ours"], EXPONENT_AT_MOST[what])
    reporter.say(f"The time of a run is proportional to the number of {what} to the power of {told}.")
    lines = {f"{name} (exponent {exponents[name]:.2f})": points for name, points in lines.items()}
    reporter.chart(Chart(f"allocation-{what}", f"An allocation run by number of {what}, {fixed}", what, "ms", lines))


def exponent(points: list[tuple[float | str, float]]) -> float:
    """The slope of the straight line through the logarithms."""
    across, up = ([math.log(float(point[place])) for point in points] for place in (0, 1))
    return statistics.linear_regression(across, up).slope


def refusals(reporter: Reporter, agents: int, frameworks: int, *, is_held: bool) -> None:
    """Measure the memory of all frameworks' refusals of all agents, and a run once everybody has refused everything.

    The refusals are entered as rounds of offers would leave them, each round with an end of its own.
    """
    ours = Ours(Case("decline", agents, frameworks, "decline"))
    ours.cycle()
    allocator, state = ours.allocator, ours.allocator.state
    refused = state.pool.allocations.of(ours.first_offered()).without_role
    ours.cycle()
    before, known = _resident_bytes(), list(state.agents.values())
    clients = [client for framework in state.frameworks.values() for client in framework.clients.values()]
    share = agents // frameworks
    for moment in range(frameworks):
        for number, client in enumerate(clients):
            start = (number + moment) * share
            for place in range(start, start + share):
                allocator.filters.restore(client, known[place % agents], refused, FOR_LONG + moment)
    ours.decline_all()
    count = sum(client.filters.count for client in clients)
    taken = _resident_bytes() - before
    best = min(ours.idle_cycle() for _ in range(5))
    reporter.table(
        "Everything refused by everybody",
        "agents x frameworks",
        "refusals",
        "MiB",
        "bytes each",
        "at most",
        "ms of a run",
    )
    label = f"{agents:,} x {frameworks:,}"
    reporter.row(label, count, taken / 2**20, taken / count, BYTES_OF_A_REFUSAL, best)
    reporter.budget("bytes of a refusal", taken / count, BYTES_OF_A_REFUSAL)
    if is_held:
        reporter.limit("bytes of a refusal", taken / count, BYTES_OF_A_REFUSAL)


def _resident_bytes() -> int:
    gc.collect()
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


def main() -> None:
    """Measure every case and print a line for each."""
    given = arguments(__doc__).parse_args()
    scale = SMALL_SCALE if given.small else LARGE_SCALE
    reporter = Reporter(
        "Allocation",
        f"Milliseconds of `{RUN_MS}`, at most {scale.samples} runs for each case. "
        "With `pass`, frameworks return every offer "
        "at once, so each run offers everything again. With `decline`, they decline every offer for a long time, until "
        "a run has nothing to offer. With `a third reserved`, a quarter of the cpus and memory of every third agent is "
        "reserved. Rows that name a release of Mesos are of it, here and there; the others are of 1.11.0. On a busy "
        "machine, trust the best run more than the median.",
    )
    if not given.only:
        # First, as memory that was used before would be used again.
        refusals(reporter, *scale.refusing, is_held=not given.small)
    columns = [f"{word}, {of}" for of in ("median", "best") for word in ("ours", "real", "ratio")]
    reporter.table("One run", "agents x frameworks", *columns, "ratio at most", "µs a decline")
    ratios: dict[FreeResources, dict[str, float]] = {}
    for case in scale.cases:
        of_release = "" if case.release == Case.release else f", {case.release}"
        label = f"{case.agents:,} x {case.frameworks:,}, {case.name}{of_release}"
        if given.only in label:
            found = measured(case, scale, beside_real=True)
            _row(reporter, label, AT_MOST[case.shape], found, timeout(case))
            if found.real is not None:
                ratios.setdefault(case.shape, {})[label] = min(found.ours) / min(found.real)
                if not given.small:
                    reporter.limit(label, ratios[case.shape][label], AT_MOST[case.shape])
    for shape, of in ratios.items():
        slowest = max(of, key=of.__getitem__)
        reporter.budget(f"a run divided by the real master's, slowest: {slowest}", of[slowest], AT_MOST[shape])
    if not given.only:
        growth(reporter, "agents", scale)
        growth(reporter, "frameworks", scale)
    reporter.finish(given.json)


def _row(reporter: Reporter, label: str, at_most: float, found: Samples, seconds: float) -> None:
    cells: list[Cell] = []
    for of in (statistics.median, min):
        if found.real is None:
            cells += of(found.ours), f"not finished in {seconds:.0f} s" if RUNNER else None, None
        else:
            cells += of(found.ours), of(found.real), ratio(of(found.ours), of(found.real))
    reporter.row(label, *cells, at_most, found.decline_us)


if __name__ == "__main__":
    main()
