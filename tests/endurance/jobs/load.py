"""Operators and frameworks all at once: `python -m tests.endurance.jobs.load [--frameworks 1000] [--calls 10000]`.

A fake master in a process of its own, with a registry on the disk, keeps frameworks subscribed
and takes operator calls, fifty at a time.  Afterwards everything that was answered has to be
there, every framework still connected, and the process no larger than it was when all had
subscribed.  Prints latencies; ends with 1 where something is wrong.
"""

import argparse
import asyncio
import json
import random
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

from tests.conformance.masters.processes import Process
from tests.endurance.jobs.memory import resident_mib

AT_A_TIME = 50
MOST_GROWTH = 1.25
"""Memory of the process at the end over that when all had subscribed and a tenth of the calls were made."""
SECONDS = 900
"""A bound for the whole job."""
_HEADERS = {"Content-Type": "application/json", "Accept": "application/json"}
_AGENTS = 20


@dataclass
class Load:
    """What was seen.  Latencies in milliseconds by kind of call, memory in MiB."""

    frameworks: int
    calls: int
    latencies: dict[str, list[float]] = field(default_factory=dict)
    settled_mib: float = 0
    end_mib: float = 0
    problems: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [f"{self.frameworks} frameworks, {self.calls} calls, {AT_A_TIME} at a time"]
        for name, taken in sorted(self.latencies.items()):
            cuts = statistics.quantiles(taken, n=100)
            lines.append(f"{name:14} {len(taken):6} calls: median {cuts[49]:.1f} ms, p99 {cuts[98]:.1f} ms")
        lines.append(f"memory {self.settled_mib:.0f} MiB, at the end {self.end_mib:.0f} MiB")
        return "\n".join([*lines, *self.problems])


def run(frameworks: int, calls: int, seed: int, folder: Path) -> Load:
    """Start a master, load it, look at it, end it."""
    words = ["--port", "0", "--mesos-version", "1.11", "--registry", "sqlite", "--work-dir", str(folder)]
    words += ["--allocation-interval", "200ms", *("--agent", "cpus:100;mem:65536") * _AGENTS]
    master = Process([sys.executable, "-m", "fake_master", *words], folder / "master.log")
    try:
        url = master.first_line()
        return asyncio.run(asyncio.wait_for(_Job(url, master.pid, Load(frameworks, calls), seed).run(), SECONDS))
    finally:
        master.stop()


class _Job:
    """One run against the master at `url`."""

    def __init__(self, url: str, pid: int, load: Load, seed: int) -> None:
        self._url = url
        self._pid = pid
        self._load = load
        self._choice = random.Random(seed)
        self._guarantees: dict[str, int] = {}
        self._weights: dict[str, float] = {}

    async def run(self) -> Load:
        timeout = aiohttp.ClientTimeout(total=SECONDS)
        async with aiohttp.ClientSession(
            self._url, headers=_HEADERS, connector=aiohttp.TCPConnector(limit=0), timeout=timeout
        ) as session:
            everybody = asyncio.Barrier(self._load.frameworks + 1)
            streams = [
                asyncio.create_task(self._subscribe(session, number, everybody))
                for number in range(self._load.frameworks)
            ]
            await everybody.wait()
            await self._call(session, self._load.calls // 10)
            self._load.settled_mib = resident_mib(self._pid)
            await self._call(session, self._load.calls - self._load.calls // 10)
            self._load.end_mib = resident_mib(self._pid)
            await self._look(session)
            for stream in streams:
                stream.cancel()
            await asyncio.gather(*streams, return_exceptions=True)
        if self._load.end_mib > self._load.settled_mib * MOST_GROWTH:
            self._load.problems.append("the process grew")
        return self._load

    async def _subscribe(self, session: aiohttp.ClientSession, number: int, everybody: asyncio.Barrier) -> None:
        """One framework: waits until everybody has joined, then reads whatever comes, and answers nothing."""
        capabilities = [{"type": "MULTI_ROLE"}, {"type": "RESERVATION_REFINEMENT"}]
        info = {"user": "u", "name": f"f{number}", "roles": [f"role-{number % 50}"], "capabilities": capabilities}
        body = json.dumps({"type": "SUBSCRIBE", "subscribe": {"framework_info": info}})
        async with session.post("/api/v1/scheduler", data=body) as response:
            await response.content.readany()
            await everybody.wait()
            async for _ in response.content.iter_any():
                pass
        self._load.problems.append(f"the stream of f{number} ended")

    async def _call(self, session: aiohttp.ClientSession, calls: int) -> None:
        """So many calls by operators, AT_A_TIME of them in flight."""
        numbers = iter(range(calls))

        async def operator(own: int) -> None:
            for _ in numbers:
                await self._one(session, own)

        await asyncio.gather(*(operator(own) for own in range(AT_A_TIME)))

    async def _one(self, session: aiohttp.ClientSession, own: int) -> None:
        kinds: list[tuple[str, Callable[[aiohttp.ClientSession, int], Awaitable[Any]]]] = [
            ("quota", self._set_quota),
            ("weights", self._set_weight),
            ("GET /quota", lambda session, _: self._read(session, "/quota")),
            ("GET /roles", lambda session, _: self._read(session, "/roles")),
        ]
        name, deed = self._choice.choices(kinds, weights=[4, 2, 3, 1])[0]
        started = time.perf_counter()
        await deed(session, own)
        self._load.latencies.setdefault(name, []).append((time.perf_counter() - started) * 1000)

    async def _set_quota(self, session: aiohttp.ClientSession, own: int) -> None:
        amount = self._choice.randrange(1, 20)
        config = {"role": f"role-{own}", "guarantees": {"cpus": {"value": amount}}}
        call = {"type": "UPDATE_QUOTA", "update_quota": {"quota_configs": [config]}}
        async with session.post("/api/v1", json=call) as answer:
            assert answer.status == 200, await answer.text()
        self._guarantees[f"role-{own}"] = amount

    async def _set_weight(self, session: aiohttp.ClientSession, own: int) -> None:
        weight = self._choice.randrange(1, 9)
        async with session.put("/weights", json=[{"role": f"role-{own}", "weight": weight}]) as answer:
            assert answer.status == 200, await answer.text()
        self._weights[f"role-{own}"] = float(weight)

    async def _read(self, session: aiohttp.ClientSession, path: str) -> Any:
        async with session.get(path) as answer:
            assert answer.status == 200, await answer.text()
            return await answer.json()

    async def _metrics(self, session: aiohttp.ClientSession) -> Any:
        return await self._read(session, "/metrics/snapshot")

    async def _look(self, session: aiohttp.ClientSession) -> None:
        """Whether everything that was answered is there."""
        infos = (await self._read(session, "/quota")).get("infos", [])
        quotas = {info["role"]: int(info["guarantee"][0]["scalar"]["value"]) for info in infos}
        weights = {entry["role"]: entry["weight"] for entry in await self._read(session, "/weights")}
        if quotas != self._guarantees:
            self._load.problems.append(f"quotas: expected {self._guarantees}, found {quotas}")
        if weights != self._weights:
            self._load.problems.append(f"weights: expected {self._weights}, found {weights}")
        connected = (await self._metrics(session))["master/frameworks_connected"]
        if connected != self._load.frameworks:
            self._load.problems.append(f"{connected} frameworks are connected")


def allow_files(wanted: int) -> bool:
    """Let this process and its children open so many files; whether that is allowed."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < wanted:
        return False
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    return True


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--frameworks", type=int, default=1000)
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    words = parser.parse_args()
    if not allow_files(2 * words.frameworks + 500):
        print("this user may not open enough files")
        return 2
    with tempfile.TemporaryDirectory() as folder:
        load = run(words.frameworks, words.calls, words.seed, Path(folder))
    print(load)
    return 1 if load.problems else 0


if __name__ == "__main__":
    sys.exit(main())
