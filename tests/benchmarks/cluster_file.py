"""How long the frameworks of a cluster file take: a forecast whose tasks are launched first, and a day of short tasks.

    python -m tests.benchmarks.cluster_file [--small] [--json FILE]

Each command runs in a process of its own.  A budget that is missed fails nothing: the page shows it.
"""

import sys
import tempfile
from pathlib import Path

from tests.benchmarks.allocation import exponent
from tests.benchmarks.reporting.report import Cell, Reporter, arguments
from tests.benchmarks.whatif import TOOL, Figure, run

SIZES = (5_000, 10_000, 50_000)
SMALL_SIZES = (200, 500, 1_000)
MOST_GROWTH = 1.1
"""The exponent e of CPU time ~ agents ** e from the smallest size to the largest."""
FORECAST_SECONDS, FORECAST_MIB = 20, 500
DAY_SECONDS, DAY_MIB = 30, 200
DAY_TASKS = 100_000

CLUSTER = """\
mesos_version = "1.11"

[[agents]]
resources = "cpus:24;mem:64GiB;disk:400000;ports:[31000-32000]"
count = {agents}

[[frameworks]]
name = "service"
role = "web"
task = "cpus:6;mem:16GiB"
tasks = {tasks}
count = 200
"""
"""Two hundred frameworks launch four tasks on each agent."""
DAY = """\
mesos_version = "1.11"

[[agents]]
resources = "cpus:16;mem:64GiB"
count = 100

[[frameworks]]
name = "jobs"
role = "batch"
task = "cpus:1;mem:1GiB"
every = "{every:g}s"
lasts = "lognormal(median=1m, sigma=1)"
tasks = {tasks}
"""
PLAY = """
import sys
import httpx
from fake_master import FakeMaster
ended = 0
try:
    with FakeMaster(cluster=sys.argv[1]) as fake:
        fake.advance(86400.0)
        with httpx.Client(transport=fake.transport) as client:
            ended = client.get("http://master/metrics/snapshot").json()["master/tasks_finished"]
finally:
    sys.exit(0 if ended > 0.99 * int(sys.argv[2]) else 3)
"""
"""A day of a cluster file in virtual time."""


def _row(figure: Figure) -> tuple[Cell, ...]:
    return figure.seconds, figure.cpu_seconds, round(figure.peak_mib)


def main() -> None:
    """Print a line for each case."""
    given = arguments(__doc__).parse_args()
    sizes, tasks = (SMALL_SIZES, 1_000) if given.small else (SIZES, DAY_TASKS)
    reporter = Reporter(
        "Frameworks of a cluster file",
        "Two hundred frameworks of a cluster file launch four tasks on each agent, and then a weight changes. The day "
        "is that of a framework that asks for short tasks all the time, on 100 agents.",
    )
    columns = ("seconds", "CPU seconds", "peak MiB")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "cluster.toml"
        reporter.table("Forecast from a cluster file, its tasks launched", "agents", "tasks", *columns)
        points: list[tuple[float | str, float]] = []
        for size in sizes:
            file.write_text(CLUSTER.format(agents=size, tasks=4 * size // 200), encoding="utf-8")
            figure = run("what-if", size, [*TOOL, "-o", "json", "whatif", "--from", str(file), "weight:web=3"])
            reporter.row(f"{size:,}", f"{4 * size:,}", *_row(figure))
            points.append((size, figure.cpu_seconds or 0.0))
        growth = exponent(points)
        reporter.budget("exponent of the growth with agents", growth, MOST_GROWTH)
        if not given.small:
            name = f"whatif --from CLUSTER, {sizes[-1]:,} agents"
            reporter.budget(name, figure.cpu_seconds or 0.0, FORECAST_SECONDS, "s")
            reporter.budget(name, round(figure.peak_mib), FORECAST_MIB, "MiB")
        reporter.table("A day of virtual time on 100 agents", "short tasks", *columns)
        file.write_text(DAY.format(every=86_000 / tasks, tasks=tasks), encoding="utf-8")
        day = run("day", 100, [sys.executable, "-c", PLAY, str(file), str(tasks)])
        reporter.row(f"{tasks:,}", *_row(day))
        if not given.small:
            reporter.budget(f"a day with {tasks:,} short tasks", day.cpu_seconds or 0.0, DAY_SECONDS, "s")
            reporter.budget(f"a day with {tasks:,} short tasks", round(day.peak_mib), DAY_MIB, "MiB")
    reporter.finish(given.json)


if __name__ == "__main__":
    main()
