"""Kill a recorder, over and over: `python -m tests.endurance.jobs.recordings [--times 100] [--seed N]`.

A fake master runs short tasks. Another subscriber of its events says what happened.  What it heard a second or more
before a kill is in the recording, which is whole whenever it is read, and goes on with a gap.
Prints what was seen; ends with 1 where that was not so.
"""

import json
import random
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx

from mesosctl.history.records import MICROS
from mesosctl.history.sqlite import open_recording
from mesosctl.mesos.errors import BadInput
from mesosctl.mesos.messages.protobuf_json import recordio
from tests.conformance.masters.processes import Process
from tests.endurance.jobs.killing import Report, command
from tests.helpers.waiting import PATIENCE, wait_until

_CLUSTER = """
mesos_version = "1.11"
[[agents]]
resources = "cpus:8;mem:8192"
[tasks]
outcome = "finished"
seconds = 0.4
[[frameworks]]
name = "busy"
task = "cpus:1;mem:64"
tasks = 4
refuse_seconds = 0.1
"""
_LONGEST_LIFE = 4.0
"""Seconds between the first moment that is recorded and the kill, beside those that must not be lost."""
_MAY_BE_LOST = 1.0
"""Seconds before a kill."""


class Witness:
    """When each task finished, by the master's own events."""

    def __init__(self, address: str) -> None:
        self.finished: dict[str, float] = {}
        self._client = httpx.Client(base_url=address, trust_env=False, timeout=PATIENCE)
        self._thread = threading.Thread(target=self._hear, daemon=True)
        self._thread.start()

    def _hear(self) -> None:
        body = b'{"type":"SUBSCRIBE"}'
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        with (
            suppress(httpx.HTTPError),
            self._client.stream("POST", "/api/v1", content=body, headers=headers) as answer,
        ):
            for record in recordio.decode(answer.iter_raw()):
                event = json.loads(record)
                if event["type"] == "TASK_UPDATED" and event["task_updated"]["state"] == "TASK_FINISHED":
                    self.finished[event["task_updated"]["status"]["task_id"]["value"]] = time.time()


def kill_repeatedly(folder: Path, times: int, seed: int) -> Report:
    """Start and kill a recorder `times` times, each on the recording that the one before it left."""
    report, choice = Report(), random.Random(seed)
    (folder / "cluster.toml").write_text(_CLUSTER, encoding="utf-8")
    words = ["--port", "0", "--cluster", str(folder / "cluster.toml")]
    master = Process([sys.executable, "-m", "fake_master", *words], folder / "master.log")
    address = master.first_line()
    witness = Witness(address)
    history = folder / "h.sqlite"
    words = ["--master", address, "history", "record", "--history", str(history), "--cluster-id", "lab"]
    try:
        for _ in range(times):
            began = time.time()
            recorder = Process([sys.executable, "-m", "mesosctl", *words], folder / "recorder.log")
            wait_until(lambda: _last_seen(history) > began)  # noqa: B023  # it is called at once
            connected = time.time()
            time.sleep(2 * _MAY_BE_LOST + choice.random() * _LONGEST_LIFE)  # the moment is what is varied
            killed = time.time()
            recorder.kill()
            report.kills += 1
            report.problems += _missing(history, witness, connected, killed - _MAY_BE_LOST, report)
        report.seen["gaps"] = sum(1 for _ in _gaps(history))
        if report.seen["gaps"] < times - 1:
            report.problems.append(f"{report.seen['gaps']} gaps after {times} kills")
    finally:
        master.stop()
    return report


def _last_seen(history: Path) -> float:
    try:
        with open_recording(history) as recording:
            return max(((one.last_seen or 0) / MICROS for one in recording.clusters()), default=0.0)
    except BadInput:
        if history.exists():
            raise
        return 0.0


def _missing(history: Path, witness: Witness, since: float, until_then: float, report: Report) -> Iterator[str]:
    """The tasks that finished in this time and are not in the recording."""
    with open_recording(history) as recording:
        kept = {one.id for one in recording.tasks("lab") if one.state == "TASK_FINISHED"}
    heard = [name for name, at in list(witness.finished.items()) if since + _MAY_BE_LOST < at < until_then]
    report.seen["finished tasks"] += len(heard)
    return (f"kill {report.kills}: {name} is missing" for name in heard if name not in kept)


def _gaps(history: Path) -> Iterator[object]:
    with open_recording(history) as recording:
        yield from recording.gaps("lab")


if __name__ == "__main__":
    sys.exit(command(__doc__, kill_repeatedly, times=100))
