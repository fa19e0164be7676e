"""How long a what-if takes on a large cluster, and how much memory.

    python -m tests.benchmarks.whatif [--small] [--agents 5000] [--frameworks 200] [--tasks 20000] [--json FILE]

Makes a snapshot of that size, and asks the command line in a process of its own what a quota, a
lost rack and another weight would do.  Prints seconds of each and the most memory held.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from mesosctl.api.snapshots import snapshot
from mesosctl.model.offers.offers import Offer
from mesosctl.model.quantities import Limits, Quantities, Quota
from mesosctl.model.text import parse_resources
from mesosctl.planning.snapshot import ClusterSnapshot, SnapshotAgent, SnapshotFramework, Usage
from tests.benchmarks.report import Cell, Reporter, arguments

AGENT = parse_resources("cpus:24;mem:65536;disk:400000;ports:[31000-32000]")
SEVERAL = parse_resources("cpus:4;mem:8192")
OFFER = parse_resources("cpus:8;mem:16384;disk:400000;ports:[31000-32000]")
CASES = {
    "quota": ["quota:r3=cpus:600;mem:1TiB"],
    "a fifth of the agents lost": ["--lose-fraction", "0.2"],
    "weight": ["weight:r1=4"],
    "ten agents more": ["--add-agent", "cpus:24;mem:64GiB", "--count", "10"],
    "quota, tasks take what is offered": ["quota:r3=cpus:600;mem:1TiB", "--assume", "accept"],
}


def picture(agents: int, frameworks: int, tasks: int) -> ClusterSnapshot:
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
            SnapshotAgent(one, f"rack-{n % 40:02d}-{n}", f"slave(1)@10.0.0.1:{n}", AGENT) for n, one in enumerate(ids)
        ),
        frameworks=tuple(
            SnapshotFramework(one, f"framework-{n}", (f"r{n % 100}",), capabilities=capabilities)
            for n, one in enumerate(known)
        ),
        usages=tuple(
            Usage(known[(n * 7 + k) % frameworks], one, f"r{(n * 7 + k) % frameworks % 100}", SEVERAL, tasks=2)
            for n, one in enumerate(ids)
            for k in range(per_agent // 2)
        ),
        offers=tuple(
            Offer(
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
        file.write_text(snapshot.dump(picture(agents, given.frameworks, tasks)), encoding="utf-8")
        reporter = Reporter(
            "What-if",
            f"A snapshot of {agents:,} agents, {given.frameworks} frameworks and {tasks:,} tasks, "
            f"{file.stat().st_size / 1e6:.1f} MB. Each forecast runs in its own process, which writes "
            "it as JSON and as the page of `--report`.",
        )
        reporter.table("One what-if", "question", "seconds", "peak MiB", "offers rescinded", "answer")
        for name, words in CASES.items():
            if given.only in name:
                reporter.row(name, *_ask(file, words))
        reporter.finish(given.json)


def _ask(file: Path, words: list[str]) -> tuple[Cell, ...]:
    """Seconds, memory and what came of one command in a process of its own."""
    report = str(file.with_suffix(".html"))
    tool = [sys.executable, "-m", "mesosctl", "-q", "whatif", "--from", str(file)]
    started = time.perf_counter()
    with subprocess.Popen([*tool, *words, "-o", "json", "--report", report], stdout=subprocess.PIPE) as process:
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
