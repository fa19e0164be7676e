"""How far behind an event subscriber is while offers move, on a socket.

    python -m tests.benchmarks.subscriber [--small] [--json FILE]

One framework holds an offer of each agent.  Ten times a second it declines ninety and uses ten for one task each: a
thousand offers move each second.  A subscriber of the operator API reads the whole state, then the events.  Its lag is
the time from the answer to an ACCEPT until TASK_ADDED has arrived.  Ends with status 2 if the lag or the
time of the moves is far above its budget; small clusters have none.
"""

import asyncio
import contextlib
import gc
import json
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.benchmarks.reporting.report import Reporter, arguments
from tests.conformance.masters.processes import Process
from tests.fake_master.allocator.real.real_master import Scheduler, hold

SIZES = (5_000, 50_000)
SMALL = (3_000,)
SECONDS = 10
TURNS = 10
"""A second."""
DECLINED, USED = 90, 10
"""Offers in each turn."""
MOST_LAG, MOST_SECONDS = 1.0, 1.0
"""Budgets: seconds that the slowest event takes, and seconds that the moves of one second take."""
LOOSE = 3.0
"""The multiple of its budget at which a figure ends the benchmark with an error: other work may share the machine."""
_HEAD = "Host: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: application/json\r\n"


@dataclass
class Found:
    """The measurements of one cluster; times are in seconds."""

    state_seconds: float = 0.0
    """Until the first event was read."""
    state_bytes: int = 0
    answered: dict[str, float] = field(default_factory=dict)
    """When each ACCEPT was answered, by task id."""
    arrived: dict[str, float] = field(default_factory=dict)
    """When its TASK_ADDED was read."""
    moved_seconds: float = 0.0
    """For all moves, which are to take SECONDS."""

    def lags(self) -> list[float]:
        return sorted(max(0.0, self.arrived[task] - at) for task, at in self.answered.items())


async def _records(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    """Each event of a stream: this master sends every one in a chunk of its own, or a large one in several."""
    while (await reader.readline()).strip():
        pass
    buffer, wanted = bytearray(), None
    while size := int((await reader.readline()).strip() or b"0", 16):
        buffer += await reader.readexactly(size)
        await reader.readline()
        while True:
            if wanted is None:
                length, newline, _ = bytes(buffer[:20]).partition(b"\n")
                if not newline:
                    break
                wanted, buffer = int(length), buffer[len(length) + 1 :]
            if len(buffer) < wanted:
                break
            yield bytes(buffer[:wanted])
            buffer, wanted = buffer[wanted:], None


async def _listen(port: int, found: Found, subscribed: asyncio.Event) -> None:
    started = time.perf_counter()
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 26)
    body = '{"type":"SUBSCRIBE"}'
    writer.write(f"POST /api/v1 HTTP/1.1\r\n{_HEAD}Content-Length: {len(body)}\r\n\r\n{body}".encode())
    try:
        async for record in _records(reader):
            if not subscribed.is_set():
                found.state_seconds, found.state_bytes = time.perf_counter() - started, len(record)
                subscribed.set()
            elif record.startswith(b'{"type":"TASK_ADDED"'):
                task = json.loads(record)["task_added"]["task"]["task_id"]["value"]
                found.arrived[task] = time.perf_counter()
    finally:
        writer.close()


async def _move(scheduler: Scheduler, found: Found) -> None:
    """Decline and use offers, as many as are to move in each turn."""
    started, number = time.perf_counter(), 0
    for turn in range(SECONDS * TURNS):
        await asyncio.sleep(max(0.0, started + turn / TURNS - time.perf_counter()))
        while len(scheduler.offers) < DECLINED + USED:  # noqa: ASYNC110  # another process offers them
            await asyncio.sleep(0.01)
        taken, scheduler.offers = scheduler.offers[: DECLINED + USED], scheduler.offers[DECLINED + USED :]
        declined = {"offer_ids": [offer["id"] for offer in taken[USED:]], "filters": {"refuse_seconds": 0.0}}
        await _call(scheduler, {"type": "DECLINE", "decline": declined})
        for offer in taken[:USED]:
            number += 1
            await _call(scheduler, _launch(offer, f"task-{number}"))
            found.answered[f"task-{number}"] = time.perf_counter()
    found.moved_seconds = time.perf_counter() - started


def _launch(offer: dict[str, Any], name: str) -> dict[str, Any]:
    resources = [{**entry, "scalar": {"value": 0.1}} for entry in offer["resources"] if entry["name"] == "cpus"]
    task = {"name": name, "task_id": {"value": name}, "agent_id": offer["agent_id"], "resources": resources}
    operation = {"type": "LAUNCH", "launch": {"task_infos": [{**task, "command": {"value": "true"}}]}}
    return {
        "type": "ACCEPT",
        "accept": {"offer_ids": [offer["id"]], "operations": [operation], "filters": {"refuse_seconds": 0.0}},
    }


async def _call(scheduler: Scheduler, body: dict[str, Any]) -> None:
    _, writer = await scheduler._post({"framework_id": scheduler.id, **body})
    writer.close()


async def _measure(port: int, agents: int) -> Found:
    found, subscribed = Found(), asyncio.Event()
    scheduler = Scheduler(port, "mover", ["r1"], hold)
    running = asyncio.create_task(scheduler.run())
    while len(scheduler.offers) < agents:  # another process offers them
        assert not running.done(), running.exception()
        await asyncio.sleep(0.1)
    listening = asyncio.create_task(_listen(port, found, subscribed))
    await subscribed.wait()
    # A look of this process through all the offers that it holds would count as time of the master.
    gc.disable()
    await _move(scheduler, found)
    gc.enable()
    async with asyncio.timeout(600):
        while found.answered.keys() - found.arrived.keys():  # they are on their way
            assert not listening.done(), "the subscriber was let go"
            await asyncio.sleep(0.01)
    for task in (listening, running):
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
    return found


def measure(agents: int) -> Found:
    """Play the moves on a cluster of this size."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "cluster.toml"
        file.write_text(
            f'mesos_version = "1.11"\n[[agents]]\ncount = {agents}\nresources = "cpus:24;mem:65536;disk:4096"\n',
            encoding="utf-8",
        )
        words = ["--port", "0", "--cluster", str(file), "--allocation-interval", "1secs"]
        master = Process([sys.executable, "-m", "fake_master", *words], Path(folder) / "log")
        try:
            url = master.first_line()
            assert url, master.last_words()
            return asyncio.run(_measure(int(url.rpartition(":")[2]), agents))
        finally:
            master.stop()


def main() -> None:
    """Measure each size, print a row of it, and write the figures where they were asked for."""
    given = arguments(__doc__).parse_args()
    about = (__doc__ or "").partition("\n\n")[2].partition("\n\n")[2].partition("  Ends with")[0].replace("\n", " ")
    reporter = Reporter("Event subscriber", about)
    reporter.table(
        "A subscriber while 1,000 offers move each second",
        "agents",
        "MB of the state",
        "seconds to read it",
        "median lag, s",
        "largest lag, s",
        "largest lag at most",
        "seconds for a second of moves",
        "seconds at most",
    )
    for agents in SMALL if given.small else SIZES:
        found = measure(agents)
        lags, pace = found.lags(), found.moved_seconds / SECONDS
        reporter.row(
            f"{agents:,}",
            found.state_bytes / 1e6,
            found.state_seconds,
            lags[len(lags) // 2],
            lags[-1],
            MOST_LAG,
            pace,
            MOST_SECONDS,
        )
        reporter.budget(f"largest lag of an event subscriber, {agents:,} agents", lags[-1], MOST_LAG, "s")
        reporter.budget(f"time that 1,000 moves of offers take, {agents:,} agents", pace, MOST_SECONDS, "s")
        if not given.small:
            reporter.limit(f"{agents:,} agents, largest lag", lags[-1], MOST_LAG * LOOSE)
            reporter.limit(f"{agents:,} agents, a second of moves", pace, MOST_SECONDS * LOOSE)
    reporter.finish(given.json)


if __name__ == "__main__":
    main()
