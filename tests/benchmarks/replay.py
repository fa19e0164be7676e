"""Recordings that are played: months of public logs, and a million tasks.

    python -m tests.benchmarks.replay [--small] [--only WORDS] [--json FILE]
    python -m tests.benchmarks.replay --write-page

The logs are read from the folder that MESOS_TRACES names, and are never copied into the project; cases without
their log are left out.  `--write-page` measures nothing: it writes the tables of the how-to page about backtesting from
the figures that were kept for the page of benchmarks.
"""

import csv
import json
import os
import sys
import tempfile
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from mesosctl.whatif.played_demand_report import span_for_people
from tests import ROOT
from tests.benchmarks.reporting.page_text import Measured
from tests.benchmarks.reporting.report import Reporter, arguments, shown
from tests.helpers.traces import FOLDER

RECORDING = "h.sqlite"
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
_WIDTH = 120
PAGE = ROOT / "docs" / "how-to" / "backtest-a-quota.md"
KEPT = ROOT / "docs" / "benchmarks" / "measured" / "replay.json"
BEGIN, END = "<!-- figures: python -m tests.benchmarks.replay --write-page -->\n", "<!-- end of figures -->\n"


class Ran(NamedTuple):
    """A command: its CPU seconds in user mode, its memory at the most, and its answer."""

    seconds: float
    mib: float
    answer: dict[str, Any]


def run(folder: Path, *words: str) -> Ran:
    """Run a command of mesosctl in a process of its own.  Raises RuntimeError if it answers neither yes nor no."""
    out, errors = folder / "out.json", folder / "errors.txt"
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
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        raise RuntimeError(f"mesosctl {' '.join(words)}: {errors.read_text(encoding='utf-8')}")
    return Ran(used.ru_utime, used.ru_maxrss / _MIB, json.loads(out.read_text(encoding="utf-8")))


def select_gpu_trace(folder: Path) -> None:
    """Write 40 days of the trace to pods.csv, and eight of its nodes to nodes.csv."""
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


def gpu_trace(folder: Path) -> Ran:
    """Import 40 days of the trace, on eight of its nodes."""
    select_gpu_trace(folder)
    return _import(folder, folder / "pods.csv", "openb", "--agents", str(folder / "nodes.csv"))


def job_log(folder: Path) -> Ran:
    """Import three months of jobs on a machine of 128 processors."""
    return _import(folder, FOLDER / "nasa-ipsc-1993.swf.gz", "swf")


def many_tasks(tasks: int, agents: int) -> Callable[[Path], Ran]:
    """A log of tasks of five roles, which keep nine tenths of the agents busy."""

    def imported(folder: Path) -> Ran:
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
        return _import(folder, folder / "tasks.csv", "csv", "--agents", str(folder / "nodes.csv"))

    return imported


def _import(folder: Path, log: Path, form: str, *options: str) -> Ran:
    recording = str(folder / RECORDING)
    return run(folder, "history", "import", str(log), "--format", form, "--history", recording, *options)


def _replay(folder: Path, *changes: str) -> Ran:
    return run(folder, "replay", str(folder / RECORDING), *changes)


def measure_quotas(reporter: Reporter, file: Path | None) -> None:
    """The figures of the page: the GPU trace without quotas and with two of them, kept after each of them."""
    costs: list[tuple[str, float, float]] = []
    reporter.table(
        f"A {GPU_TRACE}, 40 days on eight nodes", "guarantee", "role", "pods", "wait above 1h", "median s", "p95 s"
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        gpu_trace(folder)
        for label, change in QUOTAS:
            ran = _replay(folder, *([change] if change else []))
            for role in ran.answer["roles"]:
                one = role["after"]
                waits = (one[f"{which}_wait_seconds"] for which in ("median", "p95"))
                reporter.row(label, role["role"], one["tasks"], one["above_limit"], *waits)
            costs.append((label, ran.seconds, ran.mib))
            if file is not None:
                file.write_text(reporter.report.to_json(), encoding="utf-8")
    reporter.table(f"Questions about the {GPU_TRACE}", "guarantee", "CPU s", "MiB")
    unchanged = costs[0][1]
    for label, seconds, mib in costs:
        reporter.row(label, seconds, mib)
        own = seconds if label == QUOTAS[0][0] else seconds - unchanged
        reporter.budget(f"replay of the {GPU_TRACE} each way, guarantee: {label}", own, 10, "s")
        reporter.budget(f"its memory, guarantee: {label}", mib, 150, "MiB")


def measure_log(
    reporter: Reporter, label: str, make: Callable[[Path], Ran], bounds: tuple[float, float | None] | None
) -> None:
    """Play one recording without changes; `bounds` are seconds and MiB."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        imported = make(folder)
        ran = _replay(folder)
    tasks = sum(one["after"]["tasks"] for one in ran.answer["roles"])
    reporter.row(label, tasks, imported.seconds, ran.seconds, 1e6 * ran.seconds / tasks, ran.mib)
    if bounds is not None:
        seconds, mib = bounds
        reporter.budget(f"replay of {label}", ran.seconds, seconds, "s")
        if mib is not None:
            reporter.budget(f"its memory, {label}", ran.mib, mib, "MiB")


# --- The page of backtesting --------------------------------------------------------------------------


def page_tables(figures: Measured) -> str:
    """The tables of the page, and the time of an experiment beside that of the trace's own simulator."""
    waits, costs = (table for table in figures.report.tables if GPU_TRACE in table.title)
    lines = [*_lines(("guarantee", "role", "pods", "wait above 1h", "median wait", "95th percentile"))]
    for *cells, median, p95 in waits.rows:
        spans = (span_for_people(None if one is None else float(one)) for one in (median, p95))
        lines += _row(*map(shown, cells), *spans)
    lines += ["", *_lines(("guarantee", "CPU seconds", "MiB"))]
    for row in costs.rows:
        lines += _row(*map(shown, row))
    slowest = max(float(row[1] or 0) for row in costs.rows)
    about = (
        f"These figures are of {figures.taken_at}, at a load of {figures.load:.1f}. The seconds are CPU time on one "
        "core. A question about a quota plays the recording twice, without the quota and with it. The simulator that "
        f"was published with the trace names about {SIMULATOR_MINUTES} minutes for an experiment on two processors; "
        f"the slowest question here took {shown(slowest)} seconds on one."
    )
    return "\n".join([*lines, "", *textwrap.wrap(about, _WIDTH), ""])


def _lines(names: Sequence[str]) -> list[str]:
    return [*_row(*names), "|" + " --- |" * len(names)]


def _row(*cells: str) -> list[str]:
    return ["| " + " | ".join(cells) + " |"]


def written_page(page: str, tables: str) -> str:
    """The page with the tables between its marks."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{tables}\n{END}{after}"


def kept_figures() -> Measured:
    """The figures that were kept for the page of benchmarks."""
    return Measured.from_json(json.loads(KEPT.read_text(encoding="utf-8")))


def main() -> None:
    """Play every recording that is at hand."""
    parser = arguments(__doc__)
    parser.add_argument("--write-page", action="store_true", help="write the tables of the page about backtesting")
    given = parser.parse_args()
    if given.write_page:
        PAGE.write_text(written_page(PAGE.read_text(encoding="utf-8"), page_tables(kept_figures())), encoding="utf-8")
        return
    reporter = Reporter(
        "Replays",
        "Each recording is imported and played by commands in processes of their own. Seconds are the CPU time of the "
        "command itself, without the system's. A question about a change plays the recording without it too; the "
        "budget of its own replay is for what it takes beyond the question without a change.",
    )
    if given.only in GPU_TRACE and (FOLDER / "openb-pods.csv").is_file() and not given.small:
        measure_quotas(reporter, given.json)
    reporter.table(
        "Recordings without changes", "recording", "tasks", "import CPU s", "replay CPU s", "CPU µs a task", "MiB"
    )
    cases: list[tuple[str, Callable[[Path], Ran], tuple[float, float | None] | None]] = []
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
