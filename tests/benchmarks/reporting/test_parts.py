"""The processes of the page's parts: how they ended, and that nothing is left of them."""

import os
import sys
from pathlib import Path

import pytest

from tests.benchmarks.reporting.parts import Ended, run_within
from tests.benchmarks.reporting.report import ABOVE_LIMIT
from tests.helpers.waiting import wait_until

pytestmark = pytest.mark.process
LONG = 60.0


@pytest.mark.parametrize("status", [0, ABOVE_LIMIT])
def test_a_part_that_has_figures(status: int) -> None:
    assert run_within(LONG, [sys.executable, "-c", f"raise SystemExit({status})"]) == Ended(status)


def test_a_part_that_fails_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    ended = run_within(LONG, [sys.executable, "-c", "raise ValueError('no agents')"])
    assert ended == Ended(1, "ended with status 1: ValueError: no agents")
    assert "Traceback" in capsys.readouterr().err


def test_a_part_that_says_nothing() -> None:
    assert run_within(LONG, ["sh", "-c", "exit 7"]) == Ended(7, "ended with status 7: no error message")


def test_a_part_that_takes_too_long_ends_with_all_that_it_started(tmp_path: Path) -> None:
    told, never = tmp_path / "told", tmp_path / "never"
    for pipe in (told, never):
        os.mkfifo(pipe)
    reading = os.open(told, os.O_RDONLY | os.O_NONBLOCK)
    try:
        ended = run_within(0.5, ["sh", "-c", f"(echo here; cat <{never}) >{told} & wait"])
        assert ended == Ended(1, "took longer than 0.5 s")
        assert os.read(reading, 100) == b"here\n"
        wait_until(lambda: _is_closed(reading), "a process that the part started is still there")
    finally:
        os.close(reading)


def _is_closed(reading: int) -> bool:
    """Whether nobody has the other end of a pipe open."""
    try:
        return os.read(reading, 1) == b""
    except BlockingIOError:
        return False
