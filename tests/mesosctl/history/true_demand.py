"""Fake clusters that know who asked for what, and when: their recordings, and the truth beside them."""

import csv
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import NamedTuple

from mesosctl.__main__ import main
from mesosctl.history.imports.join import JoinedDemand, import_demand
from mesosctl.history.records import Window, to_micros, to_seconds
from mesosctl.history.sqlite import open_recording, open_writer
from mesosctl.mesos.amounts.percentiles import nearest_rank
from mesosctl.mesos.door.replay import Replay
from mesosctl.replay.work import read_demand
from mesosctl.whatif.played_demand import ReplayOptions, compare_replays
from tests.helpers.surroundings import InMemory

_SIZES = ("cpus:1;mem:1024", "cpus:2;mem:1024", "cpus:3;mem:4096")
_CPUS = 28
_AGENTS = """
mesos_version = "1.11"
[[agents]]
resources = "cpus:8;mem:32768"
count = 2
[[agents]]
resources = "cpus:12;mem:32768"
"""
LEAVING = "leaves_after = 134\nreturns_after = 431\n"
"""Of the last agent, to stand at the beginning of `more`."""
_SETTINGS = (
    "",
    "[weights]\nweb = 2\n",
    '[quotas.web]\nguarantee = "cpus:6"\n',
    '[quotas.batch]\nguarantee = "cpus:4"\nlimit = "cpus:9"\n',
)
LENGTH = 600.0
"""Seconds that are recorded."""


class TrueTask(NamedTuple):
    """A task as it was asked for; `asked` is in seconds since its framework joined."""

    id: str
    framework: str
    role: str
    size: str
    asked: float
    lasts: float


@dataclass(frozen=True)
class TrueRecording:
    """A recording, and the demand that made it."""

    path: Path
    tasks: Sequence[TrueTask]
    asked: Mapping[str, float]
    """Seconds since 1970, by the id of the task."""
    started: Mapping[str, float]
    """The same of the tasks that started."""


def random_demand(random: Random, *, contended: bool) -> list[TrueTask]:
    """Draw the demand of some frameworks, which ask for about half of the cluster, or for more than it has."""
    names = ("batch", "web", "etl")[: random.randint(2, 3)]
    found = []
    for name in names:
        roles = [name, random.choice((f"{name}/night", "shared"))][: random.randint(1, 2)]
        sizes = random.sample(_SIZES, random.randint(1, 2))
        mean = random.uniform(20, 90)
        load = (1.6 if contended else 0.4) * _CPUS / len(names)
        every = mean * 1.9 / load
        at, number = random.uniform(0, 30), 0
        while at < LENGTH - 20:
            lasts = round(random.uniform(0.4, 1.6) * mean, 2)
            role, size = random.choice(roles), random.choice(sizes)
            found.append(TrueTask(f"{name}-{number}", name, role, size, round(at, 3), lasts))
            at, number = at + random.expovariate(1 / every), number + 1
    return found


def record(folder: Path, tasks: Sequence[TrueTask], more: str = "", begins: float = 0.0) -> TrueRecording:
    """Play demand on a fake cluster, and record it; `more` stands in the cluster file, after the last agent.

    The recording `begins` so many seconds after the cluster.
    """
    by_framework = defaultdict(list)
    for task in tasks:
        by_framework[task.framework].append(task)
    text = _AGENTS + more
    for name, of in by_framework.items():
        roles = sorted({task.role for task in of})
        text += f'[[frameworks]]\nname = "{name}"\nroles = {roles!r}\ntask = "cpus:1"\nfrom = "{name}.csv"\n'
        with (folder / f"{name}.csv").open("w", encoding="utf-8") as file:
            rows = csv.writer(file)
            rows.writerow(["asked", "lasts", "task", "name", "role"])
            rows.writerows([task.asked, task.lasts, task.size, task.id, task.role] for task in of)
    (folder / "cluster.toml").write_text(text, encoding="utf-8")
    path, before = folder / "true.sqlite", folder / "before.sqlite"
    joined: dict[str, float] = {}
    started: dict[str, float] = {}
    for kept, seconds, query in ((before, begins, "?fresh"), (path, LENGTH - begins, "" if begins else "?fresh")):
        kept.unlink(missing_ok=True)
        if not seconds:
            continue
        variables = {"HOME": str(folder), "MESOSCTL_MASTER": f"fake:{folder / 'cluster.toml'}{query}"}
        environment = InMemory(variables=variables)
        words = ("history", "record", "--history", str(kept), "--duration", f"{seconds:g}s", "--cluster-id", "true")
        assert main(words, environment) == 0, environment.err
        with open_recording(kept) as recording:
            for joining in recording.frameworks("true"):
                joined.setdefault(joining.name, to_seconds(joining.start))
            for row in recording.tasks("true"):
                started.setdefault(row.id, to_seconds(row.start or 0))
    asked = {task.id: joined[task.framework] + task.asked for task in tasks}
    return TrueRecording(path, tasks, asked, started)


def random_recording(
    folder: Path, random: Random, *, contended: bool, leaves: bool = False, begins: float = 0.0
) -> TrueRecording:
    """Draw demand and settings, and record them; the largest agent may leave and come back."""
    tasks = random_demand(random, contended=contended)
    return record(folder, tasks, (LEAVING if leaves else "") + random.choice(_SETTINGS), begins)


def write_demand(file: Path, truth: TrueRecording, *, with_ids: bool) -> None:
    """Write the truth as a file of demand."""
    with file.open("w", encoding="utf-8") as opened:
        rows = csv.writer(opened)
        rows.writerow(["task", "framework", "role", "resources", "asked", "lasts"])
        for task in truth.tasks:
            named = task.id if with_ids else ""
            rows.writerow([named, task.framework, task.role, task.size, f"{truth.asked[task.id]:.6f}", task.lasts])


def join(truth: TrueRecording, file: Path, *, replace: bool = False) -> JoinedDemand:
    """Join a file with the recording."""
    with open_writer(truth.path) as recording:
        return import_demand(recording, file, "demand", None, lambda *_: None, replace=replace)


class Likeness(NamedTuple):
    """A replay without a change beside the truth."""

    replay: Replay
    started: int
    """Tasks that truly started in the time that is replayed."""
    off: int
    """Those that start more than two allocation intervals earlier or later."""
    percentiles: Mapping[str, tuple[float | None, float | None]]
    """The 95th percentile of waits of each role: the true one, and that of the replay."""


def replayed(truth: TrueRecording, wait_limit: float = 120.0) -> Likeness:
    """Replay the recording without a change, and compare it with the truth."""
    with open_recording(truth.path) as recording:
        (cluster,) = recording.clusters()
        demand = read_demand(recording, cluster, Window(cluster.first_seen, cluster.last_seen), None)
    answer = compare_replays(demand, (), ReplayOptions(wait_limit=wait_limit, uncalibrated=True))
    assert answer.played_before is not None
    off = started = 0
    for task, start in zip(demand.tasks, answer.played_before.starts, strict=True):
        if task.started is not None:
            started += 1
            off += start is None or abs(start - task.started) > 2.0
    waits = defaultdict(list)
    for true in truth.tasks:
        asked = truth.asked[true.id]
        start = truth.started.get(true.id, demand.until)
        if asked < demand.until and start > demand.since:
            waits[true.role].append(start - asked)
    return Likeness(
        answer,
        started,
        off,
        {role: (nearest_rank(sorted(of), 95), answer.before[role].p95_wait) for role, of in waits.items()},
    )


def micros(seconds: float) -> int:
    """The time as a recording keeps it, after a file of demand had six digits of it."""
    return to_micros(float(f"{seconds:.6f}"))
