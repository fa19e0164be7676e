"""The job in small."""

from pathlib import Path

from tests.endurance.jobs.load import run


def test_frameworks_and_operators_at_once(tmp_path: Path) -> None:
    load = run(frameworks=30, calls=300, seed=1, folder=tmp_path)
    assert load.problems == []
    assert sum(len(taken) for taken in load.latencies.values()) == 300
