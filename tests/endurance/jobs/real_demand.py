"""Replay recordings of a real master with their demand joined.

    python -m tests.endurance.jobs.real_demand [--recordings 5] [--seed 0] [--faster 1]

Needs MESOS_RUNNER.  Frameworks that know what they want when ask a real master for it, for ten minutes; simulated
agents say when tasks have finished, `mesosctl history record` records, and the demand is joined with the recording.
All are recorded at the same time.  Every second demand is for more than the cluster has.  Prints for each recording
how many tasks start more than two allocation intervals off in a replay, and the 95th percentiles of waits of each
role beside the true ones.

Where there is room, ends with 1 if one of these percentiles is off by more than two allocation intervals and a
twentieth of the true one.  Where there is not, it only prints them: a master shuffles its agents, so the same demand
waits differently each time, by a third and more.
`--faster 6` asks for everything in a sixth of the time.
"""

import argparse
import asyncio
import base64
import sys
import tempfile
import time
import uuid
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from fake_master.protobuf.conversion import serialize
from mesosctl.history.records import to_seconds
from mesosctl.history.sqlite import open_recording
from mesosctl.mesos.amounts.notation import parse_entries
from mesosctl.mesos.amounts.quantities import Quantities
from mesosctl.mesos.amounts.resources import Resources
from tests.conformance.callers.frameworks import amounts
from tests.conformance.scenarios.scenario import scalars
from tests.fake_master.allocator.real.real_master import Agents, RealMaster, Scheduler, hold
from tests.mesosctl.history import true_demand
from tests.mesosctl.history.true_demand import TrueRecording, TrueTask

_AGENTS = ("cpus:8;mem:32768", "cpus:8;mem:32768", "cpus:12;mem:32768")
_QUOTA = {"role": "web", "guarantees": {"cpus": {"value": 6}}}
_INTERVALS = 2.0
"""Seconds: two allocation intervals."""


def _size(task: TrueTask) -> Quantities:
    return Resources(parse_entries(task.size)).scalar_quantities()


class Asking(Scheduler):
    """A framework that asks for tasks at their moments, and takes offers first come, first served."""

    def __init__(self, port: int, name: str, tasks: Sequence[TrueTask], agents: Agents) -> None:
        super().__init__(port, name, sorted({task.role for task in tasks}), hold)
        self._tasks = tasks
        self._agents = agents
        self._waiting: list[TrueTask] = []
        self._ends: set[asyncio.Task[None]] = set()
        self.asked: dict[str, float] = {}
        """Seconds since 1970, by the id of the task."""

    async def ask(self) -> None:
        """Ask for every task at its moment."""
        await self.subscribed.wait()
        joined = time.time()
        for task in self._tasks:
            await asyncio.sleep(max(0.0, joined + task.asked - time.time()))
            self.asked[task.id] = time.time()
            self._waiting.append(task)
            await self._call("REVIVE")

    async def _call(self, kind: str, **body: Any) -> None:
        _, answering = await self._post({"framework_id": self.id, "type": kind, **body})
        answering.close()

    async def _events(self, reader: asyncio.StreamReader) -> AsyncIterator[dict[str, Any]]:
        async for event in super()._events(reader):
            if event["type"] == "OFFERS":
                for offer in event["offers"]["offers"]:
                    await self._take(offer)
                if not self._waiting:
                    await self._call("SUPPRESS")
            elif event["type"] == "UPDATE" and "uuid" in event["update"]["status"]:
                status = event["update"]["status"]
                known = {name: status[name] for name in ("agent_id", "task_id", "uuid")}
                await self._call("ACKNOWLEDGE", acknowledge=known)
            yield event

    async def _take(self, offer: dict[str, Any]) -> None:
        role = offer["allocation_info"]["role"]
        left = Quantities({name: round(amount * 1000) for name, amount in amounts(offer["resources"]).items()})
        taken = []
        for task in list(self._waiting):
            size = _size(task)
            if task.role == role and left.contains(size):
                left -= size
                taken.append(task)
                self._waiting.remove(task)
        if not taken:
            await self._call("DECLINE", decline={"offer_ids": [offer["id"]]})
            return
        infos = [
            {
                "name": task.id,
                "task_id": {"value": task.id},
                "agent_id": offer["agent_id"],
                "resources": scalars(**{name: amount / 1000 for name, amount in _size(task).items()}),
                "command": {"value": "sleep"},
            }
            for task in taken
        ]
        launch = {"type": "LAUNCH", "launch": {"task_infos": infos}}
        filters = {"refuse_seconds": 0.0}
        await self._call("ACCEPT", accept={"offer_ids": [offer["id"]], "operations": [launch], "filters": filters})
        self._ends |= {asyncio.create_task(self._finish(task, offer)) for task in taken}

    async def _finish(self, task: TrueTask, offer: dict[str, Any]) -> None:
        await asyncio.sleep(task.lasts)
        name, now = base64.b64encode(uuid.uuid4().bytes).decode(), time.time()
        status = {"task_id": {"value": task.id}, "state": "TASK_FINISHED", "agent_id": offer["agent_id"], "uuid": name}
        whole = {"framework_id": self.id, "agent_id": offer["agent_id"], "status": status, "timestamp": now}
        number = int(offer["hostname"].removeprefix("agent"))
        update = {"update": {**whole, "uuid": name}, "pid": self._agents.pid(number)}
        await self._agents.say("StatusUpdateMessage", serialize("mesos.internal.StatusUpdateMessage", update), number)


async def record(
    master: RealMaster, path: Path, tasks: Sequence[TrueTask], seconds: float, *, with_quota: bool
) -> TrueRecording:
    """Let frameworks ask a real master for these tasks, and record it."""
    by_framework: Mapping[str, list[TrueTask]] = defaultdict(list)
    for task in tasks:
        by_framework[task.framework].append(task)
    agents = Agents(master.port)
    await agents.start()
    for text in _AGENTS:
        await agents.register(text)
    if with_quota:
        master.call({"type": "UPDATE_QUOTA", "update_quota": {"quota_configs": [_QUOTA], "force": True}})
    words = ["-m", "mesosctl", "--master", master.url, "history", "record", "--history", str(path)]
    words += ["--duration", f"{seconds:.0f}s", "--cluster-id", "true"]
    recorder = await asyncio.create_subprocess_exec(sys.executable, *words)
    await asyncio.sleep(2.0)  # a framework that is there before the recorder has joined earlier than it can see
    asking = [Asking(master.port, name, of, agents) for name, of in by_framework.items()]
    running = [asyncio.create_task(work) for framework in asking for work in (framework.run(), framework.ask())]
    status = await recorder.wait()
    for work in running:
        work.cancel()
    await asyncio.gather(*running, return_exceptions=True)
    await agents.stop()
    assert status == 0, status
    with open_recording(path) as recording:
        started = {task.id: to_seconds(task.start or 0) for task in recording.tasks("true")}
    asked = {name: at for framework in asking for name, at in framework.asked.items()}
    return TrueRecording(path, [task for task in tasks if task.id in asked], asked, started)


def compare(number: int, seed: int, faster: float) -> tuple[str, bool]:
    """Make a recording; return how its replay differs, and whether the waits are the true ones where there is room."""
    random = Random(f"{seed}/{number}")
    contended, with_ids = number % 2 == 1, number // 2 % 2 == 1
    tasks = [
        task._replace(asked=task.asked / faster, lasts=task.lasts / faster)
        for task in true_demand.random_demand(random, contended=contended)
    ]
    with tempfile.TemporaryDirectory() as folder, RealMaster() as master:
        path, seconds = Path(folder) / "true.sqlite", true_demand.LENGTH / faster
        truth = asyncio.run(record(master, path, tasks, seconds, with_quota=number % 3 == 2))
        true_demand.write_demand(Path(folder) / "asked.csv", truth, with_ids=with_ids)
        true_demand.join(truth, Path(folder) / "asked.csv")
        like = true_demand.replayed(truth)
    waits = {role: (true or 0.0, played or 0.0) for role, (true, played) in like.percentiles.items()}
    text = (
        f"{number}: {'contended' if contended else 'idle'}, {'ids' if with_ids else 'order'}: {like.off} of "
        f"{like.started} started tasks off; 95th percentiles of waits, true and replayed: "
        + ", ".join(f"{role} {true:.2f} s {played:.2f} s" for role, (true, played) in sorted(waits.items()))
        + f"; unknown: {like.replay.unknown or 'nothing'}"
    )
    is_alike = all(abs(true - played) <= max(_INTERVALS, true / 20) for true, played in waits.values())
    return text, contended or is_alike


def main(words: list[str]) -> int:
    """Make the recordings, and say what was seen."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--recordings", type=int, default=5)
    asked.add_argument("--seed", type=int, default=0)
    asked.add_argument("--faster", type=float, default=1.0)
    options = asked.parse_args(words)
    numbers = range(options.recordings)
    with ProcessPoolExecutor(options.recordings) as pool:
        found = list(pool.map(partial(compare, seed=options.seed, faster=options.faster), numbers))
    alike = [is_alike for _, is_alike in found]
    print("\n".join(text for text, _ in found))
    print(f"{alike.count(False)} recordings of clusters with room have other waits")
    return int(not all(alike))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
