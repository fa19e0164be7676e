"""How long `mesosctl snapshot -f` takes on a live master, beside its requests alone.

    python -m tests.benchmarks.live_snapshot [--small] [--only WORDS] [--json FILE]

The requests alone are those of a snapshot; their answers are received and dropped, so their time is the master's.
They and the snapshot run in turn, each in a process of its own. A master makes and compresses the whole answer to
GET_STATE before it sends the first byte, so nobody can read any of it meanwhile. Without MESOS_RUNNER only the fake
master is measured.
"""

import asyncio
import contextlib
import statistics
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx

from mesosctl.mesos.messages.snapshots import snapshot
from tests.benchmarks.reporting.report import Reporter, arguments
from tests.benchmarks.serving import Loop
from tests.benchmarks.whatif import TOOL, Figure, fake_master, run, snapshot_of
from tests.conformance.masters.agent_messages import reregistration
from tests.fake_master.allocator.real.real_master import RUNNER, Agents, RealMaster, Scheduler, hold

AGENTS, SMALL_AGENTS = 50_000, 500
FRAMEWORKS, ROLES, TASKS_EACH = 200, 100, 4
PAIRS = 5
MOST_SHARE, MOST_MIB = 1.1, 250
"""The budgets: the time of a snapshot of a real master divided by that of its requests alone, and its peak memory."""
_SELDOM = "1hrs"
"""The allocation interval: while it is measured, a master only answers."""
REQUESTS = """
import sys, urllib.request
url = sys.argv[1]
settings = [("/quota", None), ("/weights", None)]  # asked before and after the state, to see whether they changed
for path, body in (("/version", None), *settings, ("/flags", None), ("/api/v1", b'{"type":"GET_STATE"}'), *settings,
                   ("/metrics/snapshot", None)):
    types = {"Content-Type": "application/json", "Accept": "application/json", "Accept-Encoding": "gzip"}
    with urllib.request.urlopen(urllib.request.Request(url + path, body, types), timeout=900) as answer:
        while answer.read(65536):
            pass
"""


def registrations(agents: int) -> Iterator[bytes]:
    """Yield the message with which each agent registers again: its resources, its tasks and their frameworks."""
    for number in range(agents):
        identity = {"value": f"m-S{number}"}
        owners = [(number * 7 + place) % FRAMEWORKS for place in range(TASKS_EACH)]
        agent = {
            "hostname": f"rack-{number % 40:02d}-{number}",
            "resources": _scalars(cpus=24.0, mem=65536.0, disk=400000.0),
            "id": identity,
            "port": 5051,
        }
        tasks = [_task(f"t{number}-{place}", identity, owner) for place, owner in enumerate(owners)]
        yield reregistration(agent, tasks, [], [_framework(owner) for owner in owners])


def _task(name: str, agent: dict[str, str], owner: int) -> dict[str, Any]:
    status = {"task_id": {"value": name}, "state": "TASK_RUNNING", "agent_id": agent, "timestamp": 1.7e9}
    return {
        "name": name,
        "task_id": {"value": name},
        "framework_id": {"value": f"m-{owner:04d}"},
        "agent_id": agent,
        "state": "TASK_RUNNING",
        "resources": _scalars(f"r{owner % ROLES}", cpus=2.0, mem=4096.0),
        "statuses": [status],
    }


def _framework(number: int) -> dict[str, Any]:
    return {
        "user": "root",
        "name": f"framework-{number}",
        "id": {"value": f"m-{number:04d}"},
        "failover_timeout": 86400.0,
        "roles": [f"r{number % ROLES}"],
        "capabilities": [{"type": "MULTI_ROLE"}, {"type": "RESERVATION_REFINEMENT"}],
    }


def _scalars(role: str | None = None, **amounts: float) -> list[dict[str, Any]]:
    allocation = {} if role is None else {"allocation_info": {"role": role}}
    return [
        {"name": name, "type": "SCALAR", "scalar": {"value": value}, **allocation} for name, value in amounts.items()
    ]


@contextlib.asynccontextmanager
async def _populated(port: int, agents: int) -> AsyncIterator[None]:
    """The agents, and a framework that holds all that is offered."""
    said = Agents(port)
    await said.start()
    for message in registrations(agents):
        await said.say("ReregisterSlaveMessage", message)
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=600) as client:
        while (await client.get("/metrics/snapshot")).json()["master/slaves_active"] < agents:  # noqa: ASYNC110  # another process's
            await asyncio.sleep(0.5)
    scheduler = Scheduler(port, "holder", ["r0"], hold)
    holding = asyncio.create_task(scheduler.run())
    while len(scheduler.offers) < agents:  # noqa: ASYNC110  # another process's
        await asyncio.sleep(0.5)
    yield
    holding.cancel()
    await asyncio.gather(holding, return_exceptions=True)
    await said.stop()


@contextlib.contextmanager
def real_master(agents: int) -> Iterator[str]:
    """The URL of a real master with so many agents."""
    with contextlib.ExitStack() as stack:
        loop = Loop()
        stack.callback(loop.stop)
        master = stack.enter_context(RealMaster(allocation_interval=_SELDOM))
        loop.enter(stack, _populated(master.port, agents))
        yield master.url


@contextlib.contextmanager
def fresh_fake_master(agents: int) -> Iterator[str]:
    """The URL of a fake master with so many agents, which has not answered anything yet."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "cluster.json"
        file.write_text(snapshot.dump(snapshot_of(agents, FRAMEWORKS, TASKS_EACH * agents)), encoding="utf-8")
        with fake_master(file) as (_, url):
            yield url


def pairs(url: str, agents: int, count: int) -> list[tuple[Figure, Figure]]:
    """The requests alone and the snapshot, so many times in turn."""
    return [(_requests(url, agents), _snapshot(url, agents)) for _ in range(count)]


def _requests(url: str, agents: int) -> Figure:
    return run("requests", agents, [sys.executable, "-c", REQUESTS, url])


def _snapshot(url: str, agents: int) -> Figure:
    with tempfile.TemporaryDirectory() as folder:
        taken = str(Path(folder) / "taken.json")
        return run("snapshot -f", agents, [*TOOL, "--master", url, "snapshot", "-f", taken])


def _of_real(agents: int) -> list[tuple[Figure, Figure]]:
    with real_master(agents) as url:
        return pairs(url, agents, PAIRS)


def _anew(agents: int) -> list[tuple[Figure, Figure]]:
    """Each of two masters answers one of them for the first time."""
    return [(_first(_requests, agents), _first(_snapshot, agents))]


def _first(ask: Callable[[str, int], Figure], agents: int) -> Figure:
    with fresh_fake_master(agents) as url:
        return ask(url, agents)


def _kept(agents: int) -> list[tuple[Figure, Figure]]:
    with fresh_fake_master(agents) as url:
        _requests(url, agents)
        return pairs(url, agents, PAIRS)


def main() -> None:
    """Print a line for each master."""
    parser = arguments(__doc__)
    given = parser.parse_args()
    agents = SMALL_AGENTS if given.small else AGENTS
    reporter = Reporter(
        "Snapshots of a live master",
        f"{agents:,} agents with {TASKS_EACH} tasks each. The requests alone are those of a snapshot, whose answers "
        "are received and dropped. They and the snapshot run in turn, each in a process of its own; the table has "
        "the median of each. A real master makes an answer for every request. The fake master keeps an answer until "
        "something changes. Requests for kept answers take almost no time, so their ratio means little. The budget "
        "of the ratio is for the real master.",
    )
    reporter.table("Median seconds", "master", "pairs", "requests", "snapshot -f", "ratio", "its CPU seconds", "MiB")
    masters: dict[str, Callable[[int], list[tuple[Figure, Figure]]]] = {
        "Mesos 1.11.0": _of_real,
        "fake, the first answers": _anew,
        "fake, answers that it has kept": _kept,
    }
    if RUNNER is None:
        del masters["Mesos 1.11.0"]
    for name, measure in masters.items():
        if given.only not in name:
            continue
        found = measure(agents)
        asked, taken = (statistics.median(one[side].seconds or 0.0 for one in found) for side in (0, 1))
        cpu = statistics.median(one.cpu_seconds or 0.0 for _, one in found)
        peak = round(max(one.peak_mib for _, one in found))
        reporter.row(name, len(found), asked, taken, taken / asked, cpu, peak)
        if given.small:
            continue
        label = f"snapshot -f, {agents:,} agents, {name}"
        reporter.budget(label, peak, MOST_MIB, "MiB")
        if measure is _of_real:
            reporter.budget(f"{label}, divided by its requests alone", taken / asked, MOST_SHARE)
    reporter.finish(given.json)


if __name__ == "__main__":
    main()
