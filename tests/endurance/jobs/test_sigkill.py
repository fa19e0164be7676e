"""The job in small, and that it notices a master which forgets."""

from pathlib import Path

from tests.endurance.jobs.sigkill import kill_repeatedly


def test_whatever_was_answered_is_there_after_a_kill(tmp_path: Path) -> None:
    report = kill_repeatedly(tmp_path, 5, seed=1)
    assert report.problems == []
    assert report.kills == 5
    assert report.seen["changes answered"] > 0


def test_a_master_that_keeps_nothing_is_found_out(tmp_path: Path) -> None:
    assert kill_repeatedly(tmp_path, 3, seed=1, registry="in_memory").problems != []
