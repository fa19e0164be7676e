"""Kill the command of an operator repeatedly: `python -m tests.endurance.jobs.maintenance [--times 100] [--seed N]`.

Racks of a fake master are drained, scheduled, taken down and brought up.  A command that is killed is typed again.
After each step the master shows what it shows to an operator whose commands live, and at no time do more agents drain
than `--at-most` says.  Prints what was seen; ends with 1 where that was not so.
"""

import random
import subprocess
import sys
import time
from contextlib import ExitStack, suppress
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any

import httpx

from tests.conformance.masters.processes import Process
from tests.endurance.jobs.killing import Report, command
from tests.helpers.waiting import PATIENCE, wait_until

_TASKS = 8
_CLUSTER = f"""
mesos_version = "1.11"
[[agents]]
resources = "cpus:2;mem:2048"
hostname = "rack"
count = 4
[[agents]]
resources = "cpus:16;mem:16384"
hostname = "spare"
[tasks]
stop_seconds = 0.2
[[frameworks]]
name = "shop"
task = "cpus:1;mem:64"
tasks = {_TASKS}
"""
_RACK = "rack-1 rack-2 rack-3 rack-4"
_AT_MOST = 2
_STEPS = (
    f"agents drain {_RACK} --at-most {_AT_MOST} --timeout 60 --yes",
    f"maintenance plan {_RACK} --at 2030-12-01T02:00+01:00 --duration 2h",
    f"maintenance down {_RACK} --yes",
    f"maintenance up {_RACK}",
)
_LONGEST_LIFE = 1.5
"""Seconds until a kill."""
_PAUSE = 0.02
"""Seconds between two looks at the agents."""
_KILLS = 3
"""Of one step; then it is left to end."""


def kill_repeatedly(folder: Path, times: int, seed: int) -> Report:
    """Kill `times` commands of an operator, on a master of its own; another one shows how each step ends."""
    report, choice = Report(), random.Random(seed)
    (folder / "cluster.toml").write_text(_CLUSTER, encoding="utf-8")
    words = [sys.executable, "-m", "fake_master", "--port", "0", "--cluster", str(folder / "cluster.toml")]
    with ExitStack() as stack:
        masters = [Process(words, folder / f"master-{number}.log") for number in range(2)]
        for master in masters:
            stack.callback(master.stop)
        disturbed, calm = (
            stack.enter_context(httpx.Client(base_url=one.first_line(), trust_env=False, timeout=PATIENCE))
            for one in masters
        )
        for step in cycle(_STEPS):
            for client in (disturbed, calm):
                wait_until(partial(_all_run, client))
            left = min(_KILLS, times - report.kills)
            while left and not _ended(disturbed, step, choice.random() * _LONGEST_LIFE, report):
                left -= 1
                report.kills += 1
            for client in (disturbed,) * (not left) + (calm,):
                _ended(client, step, PATIENCE, report)
            if _shown(disturbed) != _shown(calm):
                report.problems.append(f"after {report.kills} kills, {step}: {_shown(disturbed)}, not {_shown(calm)}")
            if report.kills >= times and step == _STEPS[-1]:
                return report
    raise AssertionError("steps never end")


def _ended(client: httpx.Client, step: str, seconds: float, report: Report) -> bool:
    """Whether a command ended in this time; otherwise it has been killed."""
    words = [sys.executable, "-m", "mesosctl", "--master", str(client.base_url), *step.split(), "-o", "name"]
    child = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    end = time.monotonic() + seconds
    while child.poll() is None and time.monotonic() < end:
        with suppress(subprocess.TimeoutExpired):
            child.wait(_PAUSE)
        draining = [one for one in _agents(client) if one.get("drain_info", {}).get("state") == "DRAINING"]
        report.seen["looks while agents drain"] += bool(draining)
        if len(draining) > _AT_MOST:
            report.problems.append(f"{len(draining)} agents drain at a time: {step}")
    if child.poll() is None:
        child.kill()
        child.communicate(timeout=PATIENCE)
        return False
    said = child.communicate(timeout=PATIENCE)[0].decode()
    report.seen["commands that ended"] += 1
    if child.returncode:
        report.problems.append(f"status {child.returncode} of {step}: {said}")
    return True


def _agents(client: httpx.Client) -> list[dict[str, Any]]:
    return list(client.get("/slaves").json()["slaves"])


def _all_run(client: httpx.Client) -> bool:
    frameworks = client.get("/frameworks").json()["frameworks"]
    states = [task["state"] for framework in frameworks for task in framework["tasks"]]
    return states.count("TASK_RUNNING") == _TASKS


def _shown(client: httpx.Client) -> object:
    keys = ("hostname", "active", "deactivated", "drain_info")
    agents = sorted(str([agent.get(key) for key in keys]) for agent in _agents(client))
    return client.get("/maintenance/schedule").json(), client.get("/maintenance/status").json(), agents


if __name__ == "__main__":
    sys.exit(command(__doc__, kill_repeatedly, times=100))
