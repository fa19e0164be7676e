"""The job in small."""

from pathlib import Path

from tests.endurance.jobs.recordings import kill_repeatedly


def test_what_was_recorded_a_second_ago_is_there_after_a_kill(tmp_path: Path) -> None:
    report = kill_repeatedly(tmp_path, 3, seed=1)
    assert report.problems == []
    assert report.kills == 3
