"""How much memory and time commands take on large clusters, and whether both grow no faster than the cluster.

    python -m tests.benchmarks.memory [--small] [--json FILE] [--only WORDS]

For each of two sizes, ten times apart, a fake master of that many agents serves on a socket in a process
of its own, and the real commands ask it as children, so that what is measured is theirs alone.  `asking
alone` reads the same answers and keeps nothing: what is as slow there is the master's time.  Growth is
the larger cluster's figure by the smaller one's: 10 is linear.
"""

# ruff: noqa: T201  # a command: its output is its purpose

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

from mesosctl.core.labels import Labels
from mesosctl.core.picture import ClusterPicture, PicturedAgent, Usage
from mesosctl.core.resource import Reservation
from mesosctl.core.resources import Resources
from mesosctl.core.text import parse_resources
from mesosctl.ops.snapshot import write_file
from tests.benchmarks import whatif
from tests.conformance.processes import Process

SIZES = (5_000, 50_000)
SMALL = (500, 5_000)
FRAMEWORKS = 200
TASKS_EACH = 4
ABOUT = (
    f"Clusters of {FRAMEWORKS} frameworks and {TASKS_EACH} tasks an agent, of which a third have reservations. "
    "Every command is a process of its own."
)
CHANGE = "quota:r3=cpus:600;mem:1TiB"

FREE = parse_resources("cpus:18;mem:49152;disk:400000;ports:[31000-32000]")
OWNED = parse_resources("cpus:6;mem:16384")
OFFERED = parse_resources("cpus:8;mem:16384;disk:400000;ports:[31500-32000]")
ASKING = """
import sys, urllib.request
url, body = sys.argv[1], sys.argv[2].encode() or None
types = {"Content-Type": "application/json", "Accept": "application/json", "Accept-Encoding": "gzip"}
with urllib.request.urlopen(urllib.request.Request(url, body, types), timeout=900) as answer:
    while answer.read(65536):
        pass
"""


@dataclass(frozen=True)
class Figure:
    """One command on one cluster."""

    command: str
    agents: int
    seconds: float
    cpu_seconds: float | None
    peak_mib: float


def picture(agents: int) -> ClusterPicture:
    """A cluster of which hardly two agents are alike: a third has reservations, tasks differ in size and in ports."""
    alike = whatif.picture(agents, FRAMEWORKS, agents * TASKS_EACH)
    number = count()
    return replace(
        alike,
        agents=tuple(_agent(agent, place) for place, agent in enumerate(alike.agents)),
        usages=tuple(_usage(usage, next(number)) for usage in alike.usages),
        offers=tuple(replace(offer, resources=OFFERED) for offer in alike.offers),
    )


def _agent(agent: PicturedAgent, place: int) -> PicturedAgent:
    owner = Reservation("STATIC", f"r{place % 100}")
    if place % 2:
        owner = Reservation("DYNAMIC", f"r{place % 100}", f"team-{place % 40}", Labels([("ticket", f"T{place}")]))
    total = FREE + (Resources(replace(entry, reservations=(owner,)) for entry in OWNED) if place % 3 == 0 else OWNED)
    return replace(agent, total=total, attributes={"rack": f"rack-{place % 40}", "slots": float(place % 8)})


def _usage(usage: Usage, number: int) -> Usage:
    # Two usages an agent, one after the other: their ports are never the same.
    port = 31000 + number % 400
    text = f"cpus:{3 + number % 10 / 10:g};mem:{6144 + number % 2000};ports:[{port}-{port}]"
    return replace(usage, resources=parse_resources(text))


def commands(url: str, file: Path, folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Each command's name, and the words that run it."""
    tool = [sys.executable, "-m", "mesosctl", "--timeout", "900"]
    live = [*tool, "--master", url]
    yield "asking alone: /slaves", [sys.executable, "-c", ASKING, f"{url}/slaves", ""]
    yield "asking alone: GET_STATE", [sys.executable, "-c", ASKING, f"{url}/api/v1", '{"type":"GET_STATE"}']
    yield "snapshot -f", [*live, "snapshot", "-f", str(folder / "taken.json")]
    yield "snapshot --from FILE", [*tool, "snapshot", "--from", str(file)]
    for form in ("table", "csv", "jsonl", "json"):
        yield f"reservations -o {form}", [*live, "-o", form, "reservations"]
    yield "reservations --tree", [*live, "reservations", "--tree"]
    yield "whatif: a quota", [*tool, "-o", "json", "whatif", "--from", str(file), CHANGE]
    yield (
        "whatif: a fifth of the agents",
        [*tool, "-o", "json", "whatif", "--from", str(file), "--lose-fraction", "0.2"],
    )


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
    launched = subprocess.run([sys.executable, "-c", _LAUNCHER, *words], capture_output=True, text=True, check=True)
    seconds = time.perf_counter() - started
    ended, cpu, peak = json.loads(launched.stdout)
    if ended not in (0, 1):  # 1: the what-if has found somebody who starves
        raise RuntimeError(f"{name} ended with {ended}: {launched.stderr[-1000:]}")
    return Figure(name, agents, seconds, cpu, peak * (1 if sys.platform == "darwin" else 1024) / 2**20)


def measure(agents: int, only: str) -> Iterator[Figure]:
    """Every command on a cluster of this size; the master's own figures last."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = folder / "cluster.json"
        write_file(file, picture(agents))
        words = ["--port", "0", "--cluster", str(file), "--allocation-interval", "1hrs"]
        started = time.perf_counter()
        master = Process([sys.executable, "-m", "fake_master", *words], folder / "log")
        try:
            url = master.first_line()
            if not url:
                raise RuntimeError(master.last_words())
            ready = time.perf_counter() - started
            for label, line in commands(url, file, folder):
                if only in label:
                    yield run(label, agents, line)
            status = Path(f"/proc/{master.pid}/status")
            if status.exists():
                fields = dict(line.split(":", 1) for line in status.read_text(encoding="ascii").splitlines())
                peak = int(fields["VmHWM"].split()[0]) / 1024
                yield Figure("the fake master, until it is ready", agents, ready, None, peak)
        finally:
            master.stop()


def main() -> None:
    """Print a line for each command and size, and write the figures where they were asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true", help=f"{SMALL[0]} and {SMALL[1]} agents")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there as well")
    parser.add_argument("--only", default="", metavar="WORDS", help="commands whose name contains this")
    given = parser.parse_args()
    sizes, started = SMALL if given.small else SIZES, time.monotonic()
    print(f"load {os.getloadavg()[0]:.1f}; {ABOUT}")
    print(f"{'':36} {'':7} {'':8} {'':7} {'peak':>9}   {'growth of':>9}")
    print(f"{'command':36} {'agents':>7} {'seconds':>8} {'CPU s':>7} {'MiB':>9}   {'seconds':>9} {'CPU':>6} {'MiB':>6}")
    found: dict[str, list[Figure]] = {}
    for size in sizes:
        for figure in measure(size, given.only):
            found.setdefault(figure.command, []).append(figure)
            print(_line(found[figure.command]), flush=True)
    if given.json is not None:
        took = round(time.monotonic() - started, 1)
        given.json.write_text(json.dumps(_report(sizes, found, took), indent=1) + "\n", encoding="utf-8")


def _line(figures: Sequence[Figure]) -> str:
    last = figures[-1]
    cpu = "-" if last.cpu_seconds is None else f"{last.cpu_seconds:.2f}"
    shown = f"{last.command:36} {last.agents:7} {last.seconds:8.2f} {cpu:>7} {last.peak_mib:9.0f}"
    if len(figures) == 1:
        return shown
    growths = ("-" if growth is None else f"{growth:.1f}" for growth in _growths(figures))
    return shown + "   {:>9} {:>6} {:>6}".format(*growths)


def _growths(figures: Sequence[Figure]) -> tuple[float | None, ...]:
    """Of seconds, CPU seconds and memory."""
    first, last = figures[0], figures[-1]
    cpu = last.cpu_seconds / first.cpu_seconds if last.cpu_seconds and first.cpu_seconds else None
    return last.seconds / first.seconds, cpu, last.peak_mib / first.peak_mib


def _report(sizes: Sequence[int], found: Mapping[str, Sequence[Figure]], took: float) -> dict[str, Any]:
    """The figures as tables with titles, columns and rows, and a chart of the memory."""
    amounts = ("seconds", "CPU seconds", "peak MiB")
    columns = ["command"]
    for amount in amounts:
        columns += [*(f"{amount}, {size:,}" for size in sizes), f"growth of {amount}"]
    rows: list[list[str | float | None]] = []
    for name, figures in found.items():
        row: list[str | float | None] = [name]
        for key, growth in zip(("seconds", "cpu_seconds", "peak_mib"), _growths(figures), strict=True):
            row += [*(_rounded(getattr(figure, key)) for figure in figures), _rounded(growth)]
        rows.append(row)
    lines = {name: [[one.agents, round(one.peak_mib)] for one in figures] for name, figures in found.items()}
    chart = {"name": "memory", "title": "Most memory held", "across": "agents", "up": "MiB", "lines": lines}
    return {
        "title": "Memory",
        "about": [ABOUT, "Growth is the larger cluster's figure by the smaller one's: 10 is linear."],
        "tables": [
            {"title": " and ".join(f"{size:,}" for size in sizes) + " agents", "columns": columns, "rows": rows}
        ],
        "charts": [chart],
        "took_seconds": took,
    }


def _rounded(amount: float | None) -> float | None:
    return None if amount is None else round(amount, 2)


if __name__ == "__main__":
    main()
