"""How long a what-if takes on a large cluster, and how much memory.

    python -m tests.benchmarks.whatif [--small] [--agents 5000] [--frameworks 200] [--tasks 20000] [--json FILE]

Makes a snapshot of that size, and asks the command line in a process of its own what a quota, a
lost rack and another weight would do.  Prints seconds of each and the most memory held.  Then it asks about
clusters up to 50,000 agents, of a file and of a master that serves one, beside the budgets.

The exit status is 2 where time grows faster than MOST_GROWTH says.  A budget that is missed fails nothing: the page
shows it, and how busy the machine was.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.amounts.quantities import Limits, Quantities, Quota
from mesosctl.mesos.cluster.agents import ClusterAgent
from mesosctl.mesos.cluster.snapshot import ClusterSnapshot, FrameworkUsage, SnapshotFramework
from mesosctl.mesos.messages.snapshots import snapshot
from mesosctl.mesos.rules.offers.offers import OutstandingOffer
from tests.benchmarks.allocation import exponent
from tests.benchmarks.reporting.report import Cell, Chart, Reporter, arguments
from tests.conformance.masters.processes import Process

AGENT = parse_resources("cpus:24;mem:65536;disk:400000;ports:[31000-32000]")
SEVERAL = parse_resources("cpus:4;mem:8192")
OFFER = parse_resources("cpus:8;mem:16384;disk:400000;ports:[31000-32000]")
CASES = {
    "quota": ["quota:r3=cpus:600;mem:1TiB"],
    "a fifth of the agents lost": ["--lose-fraction", "0.2"],
    "weight": ["weight:r1=4"],
    "ten more agents": ["--add-agent", "cpus:24;mem:64GiB", "--count", "10"],
    "quota, tasks use every offer": ["quota:r3=cpus:600;mem:1TiB", "--assume", "accept"],
}
SIZES = (1_000, 5_000, 10_000, 50_000)
SMALL_SIZES = (200, 500, 1_000)
MOST_GROWTH = 1.25
"""The exponent e of CPU time ~ agents ** e above which the benchmark fails."""
QUESTION = CASES["quota"]
TOOL = (sys.executable, "-m", "mesosctl", "-q", "--timeout", "900")
BUDGETS: dict[str, tuple[float, int | None]] = {
    "whatif --from FILE": (10, 500),
    "whatif --lose-fraction 0.2 --from FILE": (10, 500),
    "whatif of a live master": (10, 500),
    "snapshot --from FILE": (3, None),
    "export --from FILE": (3, None),
    "snapshot --compare FILE --from FILE": (3, None),
}
"""At the largest size: seconds, and MiB at the peak."""


@dataclass(frozen=True)
class Figure:
    """One command on one cluster."""

    command: str
    agents: int
    seconds: float | None
    cpu_seconds: float | None
    peak_mib: float


_SURROUNDINGS = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""The environment of a command: it finds the bytecode of its modules, as one that is installed does."""
_LAUNCHER = """
import json, resource, subprocess, sys
ended = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=False).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([ended, used.ru_utime + used.ru_stime, used.ru_maxrss]))
"""
"""Runs a command and says how it ended, its CPU seconds and its peak.

A process counts what its parent held when it was made, too: this one holds next to nothing.
"""


def run(name: str, agents: int, words: Sequence[str]) -> Figure:
    """One command in a process of its own, its output thrown away.  Raises RuntimeError where it fails."""
    started = time.perf_counter()
    launched = subprocess.run(
        [sys.executable, "-c", _LAUNCHER, *words], capture_output=True, text=True, check=True, env=_SURROUNDINGS
    )
    seconds = time.perf_counter() - started
    ended, cpu, peak = json.loads(launched.stdout)
    if ended not in (0, 1):  # 1: the what-if has found somebody who starves, or two snapshots differ
        raise RuntimeError(f"{name} ended with {ended}: {launched.stderr[-1000:]}")
    return Figure(name, agents, seconds, cpu, peak * (1 if sys.platform == "darwin" else 1024) / 2**20)


@contextmanager
def fake_master(file: Path) -> Iterator[tuple[Process, str]]:
    """A fake master that serves a file and makes no offers while it is measured: its process, and its URL."""
    words = ["--port", "0", "--cluster", str(file), "--allocation-interval", "1hrs"]
    master = Process([sys.executable, "-m", "fake_master", *words], file.with_suffix(".log"))
    try:
        url = master.first_line()
        if not url:
            raise RuntimeError(master.last_words())
        yield master, url
    finally:
        master.stop()


def snapshot_of(agents: int, frameworks: int, tasks: int) -> ClusterSnapshot:
    """Every agent runs tasks of some frameworks, every other one is offered to one; a tenth of the roles have quota."""
    capabilities = frozenset({"MULTI_ROLE", "RESERVATION_REFINEMENT"})
    ids = [f"m-S{number}" for number in range(agents)]
    known = [f"m-{number:04d}" for number in range(frameworks)]
    quota = Quota(Quantities({"cpus": 48_000}), Limits())
    per_agent = max(1, tasks // agents)
    return ClusterSnapshot(
        version="1.11.0",
        taken_at=1_700_000_000.0,
        agents=tuple(
            ClusterAgent(one, f"rack-{n % 40:02d}-{n}", f"slave(1)@10.0.0.1:{n}", AGENT) for n, one in enumerate(ids)
        ),
        frameworks=tuple(
            SnapshotFramework(one, f"framework-{n}", (f"r{n % 100}",), capabilities=capabilities)
            for n, one in enumerate(known)
        ),
        usages=tuple(
            FrameworkUsage(known[(n * 7 + k) % frameworks], one, f"r{(n * 7 + k) % frameworks % 100}", SEVERAL, tasks=2)
            for n, one in enumerate(ids)
            for k in range(per_agent // 2)
        ),
        offers=tuple(
            OutstandingOffer(
                id=f"m-O{n}",
                role=f"r{n % frameworks % 100}",
                framework_id=known[n % frameworks],
                framework=f"framework-{n % frameworks}",
                agent_id=one,
                hostname="",
                resources=OFFER,
            )
            for n, one in enumerate(ids[::2])
        ),
        quotas={f"r{n}": quota for n in range(0, 100, 10)},
        flags={"allocation_interval": "1secs"},
    )


def main() -> None:
    """Print a line for each case."""
    parser = arguments(__doc__)
    parser.add_argument("--agents", type=int)
    parser.add_argument("--frameworks", type=int, default=200)
    parser.add_argument("--tasks", type=int)
    given = parser.parse_args()
    agents = given.agents or (500 if given.small else 5000)
    tasks = given.tasks or 4 * agents
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "large.json"
        file.write_text(snapshot.dump(snapshot_of(agents, given.frameworks, tasks)), encoding="utf-8")
        reporter = Reporter(
            "Forecasts",
            f"A snapshot of {agents:,} agents, {given.frameworks} frameworks and {tasks:,} tasks, "
            f"{file.stat().st_size / 1e6:.1f} MB. Each forecast runs in its own process, which writes "
            "it as JSON and as the page of `--report`. The live master is a fake one that has answered before.",
        )
        reporter.table("One forecast", "change", "seconds", "peak MiB", "offers rescinded", "answer")
        for name, words in CASES.items():
            if given.only in name:
                reporter.row(name, *_ask(file, words))
        if not given.only:
            growth = _by_size(reporter, SMALL_SIZES if given.small else SIZES, given.frameworks)
            reporter.limit("the exponent of a forecast's growth with agents", growth, MOST_GROWTH)
            reporter.budget("exponent of a forecast's growth with agents", growth, MOST_GROWTH)
        reporter.finish(given.json)


def _by_size(reporter: Reporter, sizes: Sequence[int], frameworks: int) -> float:
    """Measure clusters of several sizes, the largest beside the budgets; the exponent of a what-if's growth."""
    columns = ("seconds", "CPU seconds", "peak MiB")
    reporter.table("Forecast of a quota, by agents", "agents", *columns)
    points: list[tuple[float | str, float]] = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "cluster.json"
        for size in sizes:
            file.write_text(snapshot.dump(snapshot_of(size, frameworks, 4 * size)), encoding="utf-8")
            figure = run("what-if", size, [*TOOL, "-o", "json", "whatif", "--from", str(file), *QUESTION])
            reporter.row(f"{size:,}", *_amounts(figure))
            points.append((size, figure.cpu_seconds or figure.seconds or 0.0))
        growth = exponent(points)
        reporter.chart(Chart("whatif-agents", "Forecast, by agents", "agents", "CPU seconds", {"ours": points}))
        reporter.say(
            "The CPU time of a forecast is proportional to the number of agents to the power of "
            f"{growth:.2f}. Above {MOST_GROWTH}, the benchmark fails."
        )
        reporter.table(f"At {sizes[-1]:,} agents", "command", *columns, "budget seconds", "budget MiB")
        for one in _commands(file, sizes[-1]):
            seconds, most = BUDGETS.get(one.command, (None, None))
            reporter.row(one.command, *_amounts(one), seconds, most)
            name = f"{one.command}, {sizes[-1]:,} agents"
            if seconds is not None:
                reporter.budget(name, one.seconds or 0.0, seconds, "s")
            if most is not None:
                reporter.budget(name, round(one.peak_mib), most, "MiB")
    return growth


def _amounts(figure: Figure) -> tuple[Cell, ...]:
    return figure.seconds, figure.cpu_seconds, round(figure.peak_mib)


def _commands(file: Path, agents: int) -> Iterator[Figure]:
    """Every command with a budget; those that ask a master ask one that serves the file."""
    source = ["--from", str(file)]
    yield run("whatif --from FILE", agents, [*TOOL, "-o", "json", "whatif", *source, *QUESTION])
    lost = [*TOOL, "-o", "json", "whatif", *source, "--lose-fraction", "0.2"]
    yield run("whatif --lose-fraction 0.2 --from FILE", agents, lost)
    yield run("snapshot --from FILE", agents, [*TOOL, "snapshot", *source])
    yield run("export --from FILE", agents, [*TOOL, "export", *source])
    yield run("snapshot --compare FILE --from FILE", agents, [*TOOL, "snapshot", "--compare", str(file), *source])
    with fake_master(file) as (_, url):
        live = [*TOOL, "--master", url, "-o", "json", "whatif", *QUESTION]
        run("the first time", agents, live)  # the master keeps its answers from then on
        yield run("whatif of a live master", agents, live)


def _ask(file: Path, words: list[str]) -> tuple[Cell, ...]:
    """Seconds, memory and what came of one command in a process of its own."""
    report = str(file.with_suffix(".html"))
    tool = [sys.executable, "-m", "mesosctl", "-q", "whatif", "--from", str(file)]
    started = time.perf_counter()
    command = [*tool, *words, "-o", "json", "--report", report]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=_SURROUNDINGS) as process:
        assert process.stdout is not None
        said = json.loads(process.stdout.read())
        _, _, usage = os.wait4(process.pid, 0)
        process.returncode = 0
    seconds = time.perf_counter() - started
    scale = 1 if sys.platform == "darwin" else 1024
    verdict = "harmless" if said["harmless"] else "not harmless"
    return seconds, round(usage.ru_maxrss * scale / 2**20), len(said["rescinded"]), verdict


if __name__ == "__main__":
    main()
