"""How much memory and time commands take on large clusters, and whether both grow no faster than the cluster.

    python -m tests.benchmarks.memory [--small] [--json FILE] [--only WORDS]

For each of two sizes, ten times apart, a fake master of that many agents serves on a socket in a process
of its own, and the real commands ask it as children, so that what is measured is theirs alone.  `asking
alone` reads the same answers and keeps nothing: what is as slow there is the master's time.  Growth is
the larger cluster's figure by the smaller one's: 10 is linear.
"""

import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path

from mesosctl.model.resource import Labels, Reservation
from mesosctl.model.resources import Resources
from mesosctl.model.text import parse_resources
from mesosctl.operations.snapshot import write_file
from mesosctl.planning.snapshot import ClusterSnapshot, SnapshotAgent, Usage
from tests.benchmarks import whatif
from tests.benchmarks.report import Cell, Chart, Reporter, arguments
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


def picture(agents: int) -> ClusterSnapshot:
    """A cluster of which hardly two agents are alike: a third has reservations, tasks differ in size and in ports."""
    alike = whatif.picture(agents, FRAMEWORKS, agents * TASKS_EACH)
    number = count()
    return replace(
        alike,
        agents=tuple(_agent(agent, place) for place, agent in enumerate(alike.agents)),
        usages=tuple(_usage(usage, next(number)) for usage in alike.usages),
        offers=tuple(replace(offer, resources=OFFERED) for offer in alike.offers),
    )


def _agent(agent: SnapshotAgent, place: int) -> SnapshotAgent:
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
    reporter.chart(Chart("memory", "Most memory held", "agents", "MiB", lines))
    reporter.finish(given.json)


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
