"""A search for quotas on one worker and on two workers of a real Dask scheduler, on loopback.

    python -m tests.benchmarks.tuning [--json FILE]

The search is one of `tests.jobs.tuning`, on the public GPU trace in the folder that MESOS_TRACES names.  The times are
those of a clock, so they mean something on a machine with two free processors only.
"""

import tempfile
import time
from pathlib import Path

from tests.benchmarks.replay import run
from tests.benchmarks.reporting.report import Reporter, arguments
from tests.helpers.dask_cluster import cluster
from tests.helpers.traces import FOLDER
from tests.jobs.tuning import CASES, goals_file, import_trace, put_on_record

MOST_RATIO = 0.6
"""The time with two workers, as a part of the time with one."""


def measured(workers: int) -> tuple[float, int, float]:
    """Return the seconds of the search, the candidates that it tried, and the CPU seconds of the command itself."""
    (case,) = (case for case in CASES if case.name == "best effort has a guarantee")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        recording = import_trace(folder, case)
        put_on_record(recording, case.on_record)
        (folder / "goals.toml").write_text(goals_file(case, case.goals), encoding="utf-8")
        with cluster(folder, workers) as (address, _):
            began = time.monotonic()
            ran = run(folder, "tune", str(folder / "goals.toml"), "--replay", str(recording), "--workers", address)
            return time.monotonic() - began, ran.answer["tried"], ran.seconds


def main() -> None:
    """Print a line for each number of workers."""
    given = arguments(__doc__).parse_args()
    reporter = Reporter(
        "Tuning on Dask workers",
        "Quotas are searched that let 95 % of the production pods of a public GPU trace start within ten minutes, and "
        "of best effort within four hours, where best effort has a guarantee of 400 cpus and 24 GPUs on record.",
    )
    if (FOLDER / "openb-pods.csv").is_file():
        reporter.table("One search", "workers", "candidates", "seconds", "CPU s of the command itself")
        taken = []
        for workers in (1, 2):
            seconds, tried, own = measured(workers)
            taken.append(seconds)
            reporter.row(str(workers), tried, seconds, own)
        reporter.budget("the time with two workers, by that with one", taken[1] / taken[0], MOST_RATIO)
    reporter.finish(given.json)


if __name__ == "__main__":
    main()
