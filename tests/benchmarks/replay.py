"""Recordings that are played: months of public logs, and a million tasks.

    python -m tests.benchmarks.replay [--small] [--only WORDS] [--json FILE]
    python -m tests.benchmarks.replay --write-page

The logs are read from the folder that MESOS_TRACES names, and are never copied into the project; cases without
their log are left out.  `--write-page` measures nothing: it writes the table of the how-to page about backtesting from
the figures that were kept for the page of benchmarks.
"""

import csv
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from tests import ROOT
from tests.benchmarks.reporting.report import Report, Reporter, Table, arguments, shown
from tests.helpers.traces import FOLDER

GPU_TRACE, JOB_LOG = "public GPU trace", "iPSC log"
QUOTAS = (
    ("none", None),
    ("400 cpus and 24 GPUs for best effort (BE)", "quota:BE=cpus:400;gpus:24"),
    ("400 cpus and 40 GPUs for production (LS)", "quota:LS=cpus:400;gpus:40"),
)
PRODUCTION = "LS"
SIMULATOR_MINUTES = 10
"""For one experiment on two processors, by the documentation of the simulator that came with the GPU trace."""
_FIRST = 9_000_000
"""Seconds; the pods that were created before are those of the cluster's beginning."""
_NODES, _GPUS = 8, "8"
MANY_TASKS, MANY_AGENTS, FEW_TASKS = 1_000_000, 5_000, 500
_MIB = 1024
PAGE = ROOT / "docs" / "how-to" / "backtest-a-quota.md"
KEPT = ROOT / "docs" / "benchmarks" / "measured" / "replay.json"
BEGIN, END = "<!-- figures: python -m tests.benchmarks.replay --write-page -->\n", "<!-- end of figures -->\n"


class Ran(NamedTuple):
    """A command: its seconds, its memory at the most, and its answer."""

    seconds: float
    mib: float
    answer: dict[str, Any]


def run(folder: Path, *words: str) -> Ran:
    """Run a command of mesosctl in a process of its own.  Raises RuntimeError if it answers neither yes nor no."""
    out, errors = folder / "out.json", folder / "errors.txt"
    began = time.monotonic()
    environment = os.environ | {"HOME": str(folder), "MESOSCTL_MASTER": ""}
    pid = os.posix_spawn(
        sys.executable,
        [sys.executable, "-m", "mesosctl", *words, "-o", "json"],
        environment,
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 1, str(out), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
            (os.POSIX_SPAWN_OPEN, 2, str(errors), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
        ],
    )
    _, status, used = os.wait4(pid, 0)
    seconds = time.monotonic() - began
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        raise RuntimeError(f"mesosctl {' '.join(words)}: {errors.read_text(encoding='utf-8')}")
    return Ran(seconds, used.ru_maxrss / _MIB, json.loads(out.read_text(encoding="utf-8")))


def gpu_trace(folder: Path) -> list[str]:
    """Import 40 days of the trace, on eight of its nodes; the words that name the recording."""
    with (FOLDER / "openb-pods.csv").open(newline="", encoding="utf-8") as file:
        pods = list(csv.DictReader(file))
    with (FOLDER / "openb-nodes.csv").open(newline="", encoding="utf-8") as file:
        nodes = [row for row in csv.DictReader(file) if row["gpu"] == _GPUS][:_NODES]
    used = [row for row in pods if float(row["creation_time"]) >= _FIRST and row["qos"] != "Guaranteed"]
    for name, rows in (("pods.csv", used), ("nodes.csv", nodes)):
        with (folder / name).open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    run(folder, *_import(folder, "pods.csv", "openb"), "--agents", str(folder / "nodes.csv"))
    return ["--replay", str(folder / "h.sqlite")]


def job_log(folder: Path) -> list[str]:
    """Import three months of jobs on a machine of 128 processors."""
    run(folder, "history", "import", str(FOLDER / "nasa-ipsc-1993.swf.gz"), "--format", "swf", *_into(folder))
    return ["--replay", str(folder / "h.sqlite")]


def many_tasks(tasks: int, agents: int) -> Callable[[Path], list[str]]:
    """A log of tasks of five roles, which keep nine tenths of the agents busy."""

    def written(folder: Path) -> list[str]:
        random = Random(46)
        mean = 2_000.0
        every = mean * 4 / (agents * 16 * 0.9)
        with (folder / "tasks.csv").open("w", encoding="utf-8") as file:
            file.write("role,resources,from,to\n")
            at = 0.0
            for _ in range(tasks):
                at += random.expovariate(1 / every)
                cpus = random.choice((2, 4, 6))
                end = at + random.expovariate(1 / mean) + 1
                file.write(f"r{random.randrange(5)},cpus:{cpus};mem:{cpus * 1024},{at:.3f},{end:.3f}\n")
        with (folder / "nodes.csv").open("w", encoding="utf-8") as file:
            file.write("agent,resources\n")
            file.writelines(f"n{number},cpus:16;mem:32768\n" for number in range(agents))
        run(folder, *_import(folder, "tasks.csv", "csv"), "--agents", str(folder / "nodes.csv"))
        return ["--replay", str(folder / "h.sqlite")]

    return written


def _import(folder: Path, name: str, form: str) -> list[str]:
    return ["history", "import", str(folder / name), "--format", form, *_into(folder)]


def _into(folder: Path) -> list[str]:
    return ["--history", str(folder / "h.sqlite")]


def measure_quotas(reporter: Reporter) -> None:
    """The table of the page: the GPU trace without quotas and with two of them."""
    reporter.table(
        f"A {GPU_TRACE}, 40 days on eight nodes", "guarantee", "tasks of production", "wait above 1h",
        "95th percentile s", "longest s", "wait above 1h, all", "s each way", "MiB",
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        recording = gpu_trace(folder)
        for label, change in QUOTAS:
            ran = run(folder, "whatif", *recording, *([change] if change else []))
            roles = {one["role"]: one["after"] for one in ran.answer["roles"]}
            own, each_way = roles[PRODUCTION], ran.seconds / (2 if change else 1)
            reporter.row(
                label, own["tasks"], own["above_limit"], own["p95_wait_seconds"], own["longest_wait_seconds"],
                sum(one["above_limit"] for one in roles.values()), each_way, ran.mib,
            )  # fmt: skip
            reporter.budget(f"replay of the {GPU_TRACE} each way, guarantee: {label}", each_way, 10, "s")
            reporter.budget(f"its memory, guarantee: {label}", ran.mib, 150, "MiB")


def measure_log(
    reporter: Reporter, label: str, make: Callable[[Path], list[str]], bounds: tuple[float, float | None] | None
) -> None:
    """Play one recording without changes; `bounds` are seconds and MiB."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        began = time.monotonic()
        recording = make(folder)
        imported = time.monotonic() - began
        ran = run(folder, "whatif", *recording)
    tasks = sum(one["after"]["tasks"] for one in ran.answer["roles"])
    reporter.row(label, tasks, imported, ran.seconds, 1e6 * ran.seconds / tasks, ran.mib)
    if bounds is not None:
        seconds, mib = bounds
        reporter.budget(f"replay of {label}", ran.seconds, seconds, "s")
        if mib is not None:
            reporter.budget(f"its memory, {label}", ran.mib, mib, "MiB")


# --- The page of backtesting --------------------------------------------------------------------------


def page_table(report: Report, taken_at: str) -> str:
    """The table of the page, and the time of an experiment beside that of the trace's own simulator."""
    table: Table = next(one for one in report.tables if GPU_TRACE in one.title)
    names = ("guarantee", "production pods", "wait above 1h", "95th percentile", "longest wait", "seconds each way")
    lines = ["| " + " | ".join(names) + " |", "|" + " --- |" * len(names)]
    for guarantee, tasks, above, p95, longest, _, seconds, _ in table.rows:
        spans = (f"{float(one) / 3600:,.1f} h" if one else "0" for one in (p95, longest))
        lines.append("| " + " | ".join([shown(guarantee), shown(tasks), shown(above), *spans, shown(seconds)]) + " |")
    slowest = max(float(row[6] or 0) for row in table.rows)
    factor = SIMULATOR_MINUTES * 60 / slowest
    return "\n".join(
        [
            *lines,
            "",
            f"Measured {taken_at}. The simulator that was published with the trace names about",
            f"{SIMULATOR_MINUTES} minutes for an experiment on two processors. The slowest replay here took",
            f"{shown(slowest)} seconds on one processor, so it is about {factor:,.0f} times as fast.",
            "",
        ]
    )


def written_page(page: str, table: str) -> str:
    """The page with the table between its marks."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{table}\n{END}{after}"


def kept_table() -> str:
    """The table from the figures that were kept."""
    figures = json.loads(KEPT.read_text(encoding="utf-8"))
    return page_table(Report.from_json(figures["report"]), figures["taken_at"])


def main() -> None:
    """Play every recording that is at hand."""
    parser = arguments(__doc__)
    parser.add_argument("--write-page", action="store_true", help="write the table of the page about backtesting")
    given = parser.parse_args()
    if given.write_page:
        PAGE.write_text(written_page(PAGE.read_text(encoding="utf-8"), kept_table()), encoding="utf-8")
        return
    reporter = Reporter(
        "Replays",
        "Each recording is imported and played by commands in processes of their own. A change is played beside the "
        "recording without it: the seconds each way are half of that.",
    )
    if given.only in GPU_TRACE and (FOLDER / "openb-pods.csv").is_file() and not given.small:
        measure_quotas(reporter)
    reporter.table("Recordings without changes", "recording", "tasks", "import s", "replay s", "µs a task", "MiB")
    cases: list[tuple[str, Callable[[Path], list[str]], tuple[float, float | None] | None]] = []
    if given.small:
        cases.append((f"{FEW_TASKS:,} tasks on 5 agents", many_tasks(FEW_TASKS, 5), None))
    else:
        if (FOLDER / "nasa-ipsc-1993.swf.gz").is_file():
            cases.append((f"the {JOB_LOG}, three months", job_log, (15, None)))
        cases.append(("100,000 tasks on 500 agents", many_tasks(MANY_TASKS // 10, MANY_AGENTS // 10), None))
        cases.append((f"a million tasks on {MANY_AGENTS:,} agents", many_tasks(MANY_TASKS, MANY_AGENTS), (600, 600)))
    for label, make, bounds in cases:
        if given.only in label:
            measure_log(reporter, label, make, bounds)
    reporter.finish(given.json)


if __name__ == "__main__":
    main()
