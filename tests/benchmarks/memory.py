"""How much memory and time commands take on large clusters, and whether both grow no faster than the cluster.

    python -m tests.benchmarks.memory [--small] [--json FILE] [--only WORDS]

For each of two sizes, ten times apart, a fake master of that many agents serves on a socket in a process
of its own, and the real commands ask it as children, so that what is measured is theirs alone.  `the
request alone` reads the same answers and keeps nothing: what is as slow there is the master's time.  Growth is
the larger cluster's figure by the smaller one's: 10 is linear.  Ends with status 2 where the fake master is far
above its budget; small clusters have none.
"""

import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path

from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.amounts.resource import Labels, Reservation
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.cluster.agents import ClusterAgent
from mesosctl.mesos.cluster.snapshot import ClusterSnapshot, FrameworkUsage
from mesosctl.snapshot.work import write_file
from tests.benchmarks import whatif
from tests.benchmarks.reporting.report import Cell, Chart, Reporter, arguments
from tests.benchmarks.whatif import Figure, run
from tests.conformance.masters.processes import Process

SIZES = (5_000, 50_000)
SMALL = (500, 5_000)
FRAMEWORKS = 200
TASKS_EACH = 4
ABOUT = (
    f"Clusters of {FRAMEWORKS} frameworks, with {TASKS_EACH} tasks on each agent. A third of the agents have "
    "reservations. Every command runs in its own process."
)
READY = {"from a snapshot": (10.0, 1024.0), "from a cluster file": (10.0, 1024.0)}
"""The budget of the fake master on the largest cluster: seconds and MiB, until it is ready."""
LOOSE = 2.0
"""The multiple of its budget at which a figure ends the benchmark with an error: other work may share the machine."""
CHANGE = "quota:r3=cpus:600;mem:1TiB"

FREE_TEXT = "cpus:18;mem:49152;disk:400000;ports:[31000-32000]"
FREE = parse_resources(FREE_TEXT)
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


def snapshot_of(agents: int) -> ClusterSnapshot:
    """A cluster of which hardly two agents are alike: a third has reservations, tasks differ in size and in ports."""
    alike = whatif.snapshot_of(agents, FRAMEWORKS, agents * TASKS_EACH)
    number = count()
    return replace(
        alike,
        agents=tuple(_agent(agent, place) for place, agent in enumerate(alike.agents)),
        usages=tuple(_usage(usage, next(number)) for usage in alike.usages),
        offers=tuple(replace(offer, resources=OFFERED) for offer in alike.offers),
    )


def _agent(agent: ClusterAgent, place: int) -> ClusterAgent:
    owner = Reservation("STATIC", f"r{place % 100}")
    if place % 2:
        owner = Reservation("DYNAMIC", f"r{place % 100}", f"team-{place % 40}", Labels([("ticket", f"T{place}")]))
    total = FREE + (Resources(replace(entry, reservations=(owner,)) for entry in OWNED) if place % 3 == 0 else OWNED)
    return replace(agent, total=total, attributes={"rack": f"rack-{place % 40}", "slots": float(place % 8)})


def _usage(usage: FrameworkUsage, number: int) -> FrameworkUsage:
    # Two usages an agent, one after the other: their ports are never the same.
    port = 31000 + number % 400
    text = f"cpus:{3 + number % 10 / 10:g};mem:{6144 + number % 2000};ports:[{port}-{port}]"
    return replace(usage, resources=parse_resources(text))


def commands(url: str, file: Path, folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Each command's name, and the words that run it."""
    tool = [sys.executable, "-m", "mesosctl", "--timeout", "900"]
    live = [*tool, "--master", url]
    yield "the request alone: /slaves", [sys.executable, "-c", ASKING, f"{url}/slaves", ""]
    yield "the request alone: GET_STATE", [sys.executable, "-c", ASKING, f"{url}/api/v1", '{"type":"GET_STATE"}']
    yield "snapshot -f", [*live, "snapshot", "-f", str(folder / "taken.json")]
    yield "snapshot --from FILE", [*tool, "snapshot", "--from", str(file)]
    for form in ("table", "csv", "jsonl", "json"):
        yield f"reservations -o {form}", [*live, "-o", form, "reservations"]
    yield "reservations --tree", [*live, "reservations", "--tree"]
    yield "whatif: a quota", [*tool, "-o", "json", "whatif", "--from", str(file), CHANGE]
    yield (
        "whatif: a fifth of the agents lost",
        [*tool, "-o", "json", "whatif", "--from", str(file), "--lose-fraction", "0.2"],
    )


def measure(agents: int, only: str) -> Iterator[Figure]:
    """Every command on a cluster of this size; the master's own figures last."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = folder / "cluster.json"
        write_file(file, snapshot_of(agents))
        with _fake_master(file, "from a snapshot", agents) as (master, url, figures):
            yield from figures
            for label, line in commands(url, file, folder):
                if only in label:
                    yield run(label, agents, line)
            yield from _used(master, "the fake master, after all of these", agents, None)
        file = folder / "cluster.toml"
        file.write_text(_cluster_file(agents), encoding="utf-8")
        with _fake_master(file, "from a cluster file", agents) as (_, _, figures):
            yield from figures


@contextmanager
def _fake_master(file: Path, label: str, agents: int) -> Iterator[tuple[Process, str, list[Figure]]]:
    """A fake master that serves a file: its process, its URL, and its figures as soon as it was ready."""
    started = time.perf_counter()
    with whatif.fake_master(file) as (master, url):
        yield master, url, list(_used(master, ready_label(label), agents, time.perf_counter() - started))


def ready_label(source: str) -> str:
    """Return the name of the row of a start."""
    return f"start of the fake master {source}"


def _used(master: Process, label: str, agents: int, seconds: float | None) -> Iterator[Figure]:
    """Yield the CPU seconds and the peak of a process so far, on systems that show them."""
    process = Path(f"/proc/{master.pid}")
    if process.exists():
        lines = (process / "status").read_text(encoding="ascii").splitlines()
        fields = dict(line.split(":", 1) for line in lines)
        # Behind the name, which may have blanks: the state is the first of them, CPU time of user and system the 12th.
        ticks = (process / "stat").read_text(encoding="ascii").rpartition(")")[2].split()[11:13]
        cpu = sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")
        yield Figure(label, agents, seconds, cpu, int(fields["VmHWM"].split()[0]) / 1024)


def _cluster_file(agents: int) -> str:
    """A cluster file of agents in 40 racks and of frameworks that keep what they are offered."""
    racks = (
        f'[[agents]]\ncount = {agents // 40}\nhostname = "rack{rack}"\nresources = "{FREE_TEXT}"\n'
        f'attributes = {{ rack = "rack-{rack}" }}\n'
        for rack in range(40)
    )
    frameworks = (f'[[frameworks]]\nname = "f{n}"\nrole = "r{n}"\nanswer = "hold"\n' for n in range(FRAMEWORKS))
    return "\n".join(('mesos_version = "1.11"', *racks, *frameworks))


def main() -> None:
    """Measure, print a line for each command, and write the figures where they were asked for."""
    given = arguments(__doc__).parse_args()
    sizes = SMALL if given.small else SIZES
    growth = "Growth is the figure of the larger cluster divided by that of the smaller one: 10 is linear."
    reporter = Reporter("Memory", ABOUT, growth)
    reporter.table(" and ".join(f"{size:,}" for size in sizes) + " agents", *_columns(sizes))
    found: dict[str, list[Figure]] = {}
    for size in sizes:
        for figure in measure(size, given.only):
            found.setdefault(figure.command, []).append(figure)
            if size == sizes[-1]:
                reporter.row(*_row(found[figure.command]))
    lines: dict[str, list[tuple[float | str, float]]] = {
        name: [(one.agents, round(one.peak_mib)) for one in figures] for name, figures in found.items()
    }
    _hold_to_budgets(reporter, found, is_held=not given.small)
    reporter.chart(Chart("memory", "Peak memory", "agents", "MiB", lines))
    reporter.finish(given.json)


def _hold_to_budgets(reporter: Reporter, found: dict[str, list[Figure]], *, is_held: bool) -> None:
    """Show the budgets of a start, and hold the largest cluster's figures to them, loosely."""
    reporter.table("Budgets of the fake master", "start", "seconds", "seconds at most", "MiB", "MiB at most")
    for source, (seconds, mib) in READY.items():
        figures = found.get(ready_label(source), [])
        if figures and (took := figures[-1].seconds) is not None:
            last = figures[-1]
            reporter.row(f"{last.agents:,} agents, {source}", took, seconds, last.peak_mib, mib)
            name = f"start of the fake master {source}, {last.agents:,} agents"
            reporter.budget(name, took, seconds, "s")
            reporter.budget(name, last.peak_mib, mib, "MiB")
            if is_held:
                reporter.limit(f"{source}, seconds", took, seconds * LOOSE)
                reporter.limit(f"{source}, MiB", last.peak_mib, mib * LOOSE)


def _columns(sizes: Sequence[int]) -> Iterator[str]:
    yield "command"
    for amount in ("seconds", "CPU seconds", "peak MiB"):
        yield from (f"{amount}, {size:,}" for size in sizes)
        yield f"growth of {amount}"


def _row(figures: Sequence[Figure]) -> Iterator[Cell]:
    """One command's amounts on each cluster, and their growth from the first one to the last."""
    yield figures[0].command
    for key in ("seconds", "cpu_seconds", "peak_mib"):
        amounts: list[float | None] = [getattr(figure, key) for figure in figures]
        first, last = amounts[0], amounts[-1]
        for amount in (*amounts, last / first if last and first else None):
            yield None if amount is None else round(amount, 2)


if __name__ == "__main__":
    main()
