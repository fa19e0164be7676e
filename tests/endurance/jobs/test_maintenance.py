"""The job in small."""

from pathlib import Path

from tests.endurance.jobs.maintenance import kill_repeatedly


def test_a_rack_is_taken_out_by_commands_that_are_killed(tmp_path: Path) -> None:
    report = kill_repeatedly(tmp_path, 5, seed=1)
    assert report.problems == []
    assert report.kills == 5
