"""A search for quotas on one worker and on two workers of a real Dask scheduler, on loopback.

    python -m tests.benchmarks.tuning [--json FILE] [--only Dask]

The searches are cases of `tests.endurance.jobs.tuning`, on the public GPU trace in the folder that MESOS_TRACES names.
The table of times on Dask takes about two minutes, and the other one three.  The times on a clock mean something on a
machine with two free processors only.  The others are those of a made-up clock, on which each replay lasts the CPU
seconds that it took here: they show what the order of replays makes of two free workers, without the time to start and
to connect.
"""

import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from heapq import heappop, heappush
from pathlib import Path
from typing import NamedTuple

from mesosctl.mesos.door.replay import RecordedDemand
from mesosctl.tune.goals import load
from mesosctl.tune.search import Evidence
from mesosctl.tune.work import TuningOptions, play_candidate, space_of, tune
from mesosctl.whatif.played_demand import ReplayOptions
from tests.benchmarks.recording import cpu_seconds
from tests.benchmarks.replay import run
from tests.benchmarks.reporting.report import Reporter, arguments
from tests.endurance.jobs.tuning import CASES, Case, demand_of, goals_file, import_trace, put_on_record
from tests.helpers.dask_cluster import cluster
from tests.helpers.traces import FOLDER

MOST_RATIO = 0.6
"""The time with two workers, as a part of the time with one."""
_FREE = "If nothing but replays took time, on free processors"
_DASK = "One search on Dask"
FOUND, NOTHING_FOUND = (
    "best effort has a guarantee",
    "production against Burstable, while best effort keeps its guarantee",
)


@contextmanager
def _prepared(name: str) -> Iterator[tuple[Case, Path, Path]]:
    """A case, with a folder and the recording in it."""
    (case,) = (case for case in CASES if case.name == name)
    with tempfile.TemporaryDirectory() as folder:
        recording = import_trace(Path(folder), case)
        put_on_record(recording, case.on_record)
        (Path(folder) / "goals.toml").write_text(goals_file(case, case.goals), encoding="utf-8")
        yield case, Path(folder), recording


class OnDask(NamedTuple):
    """The seconds that a search on Dask took."""

    clock: float
    tried: int
    command: float
    """CPU seconds of the command itself."""
    workers: list[float]
    """CPU seconds of each worker, without its start."""


def on_dask(workers: int) -> OnDask:
    """Search on so many workers."""
    with _prepared(FOUND) as (_, folder, recording), cluster(folder, workers) as (address, (_, *started)):
        before = [cpu_seconds(one.pid) for one in started]
        began = time.monotonic()
        ran = run(folder, "tune", str(folder / "goals.toml"), "--replay", str(recording), "--workers", address)
        took = time.monotonic() - began
        used = [cpu_seconds(one.pid) - start for one, start in zip(started, before, strict=True)]
        return OnDask(took, ran.answer["tried"], ran.seconds, used)


class _Free:
    """Players with a clock of their own, on which a replay lasts the CPU seconds that it took; each is made once."""

    def __init__(
        self, demand: RecordedDemand, at_once: int, made: dict[tuple[str, ...], tuple[Evidence, float]]
    ) -> None:
        self.at_once = at_once
        self.now = 0.0
        self._demand = demand
        self._made = made
        self._ends: list[tuple[float, int, Evidence]] = []

    def start(self, place: int, words: Sequence[str]) -> None:
        key = tuple(words)
        if key not in self._made:
            began = time.process_time()
            shown = play_candidate(self._demand, words, ReplayOptions())
            self._made[key] = shown, time.process_time() - began
        shown, took = self._made[key]
        heappush(self._ends, (self.now + took, place, shown))

    def next_ended(self) -> tuple[int, Evidence]:
        self.now, place, shown = heappop(self._ends)
        return place, shown


class _Nowhere:
    """Keeps no evidence."""

    def get(self, _: Sequence[str]) -> Evidence | None:
        return None

    def add(self, words: Sequence[str], evidence: Evidence) -> None:
        pass


def on_free_processors(name: str) -> tuple[str, int, list[float]]:
    """Return the verdict of a case, the candidates that are tried, and the seconds with one player and with two."""
    took = []
    with _prepared(name) as (case, _, recording):
        demand = demand_of(recording)
        goals = load(goals_file(case, case.goals), "goals.toml")
        space = space_of(goals, demand)
        made: dict[tuple[str, ...], tuple[Evidence, float]] = {}
        for at_once in (1, 2):
            players = _Free(demand, at_once, made)
            tuning = tune(demand, space, goals.goals, players, _Nowhere(), TuningOptions(ReplayOptions()))
            took.append(players.now)
    return tuning.verdict, len(tuning.tried), took


def main() -> None:
    """Print a line for each number of workers."""
    given = arguments(__doc__).parse_args()
    reporter = Reporter(
        "Tuning on Dask workers",
        "Quotas are searched that let 95 % of the production pods of a public GPU trace start within ten minutes, and "
        "of best effort within four hours, where best effort has a guarantee of 400 cpus and 24 GPUs on record.",
    )
    if (FOLDER / "openb-pods.csv").is_file():
        if given.only in _FREE:
            reporter.table(_FREE, "search", "candidates", "1 worker s", "2 workers s", "ratio")
            for name in (FOUND, NOTHING_FOUND):
                verdict, tried, (alone, together) = on_free_processors(name)
                reporter.row(f"{name}: {verdict.partition(':')[0]}", tried, alone, together, together / alone)
        if given.only in _DASK:
            used = "CPU s of the command itself", "of all workers", "of the busiest"
            reporter.table(_DASK, "workers", "candidates", "seconds", *used)
            found = []
            for workers in (1, 2):
                one = on_dask(workers)
                found.append(one)
                reporter.row(str(workers), one.tried, one.clock, one.command, sum(one.workers), max(one.workers))
            reporter.budget("the time with two workers, by that with one", found[1].clock / found[0].clock, MOST_RATIO)
    reporter.finish(given.json)


if __name__ == "__main__":
    main()
