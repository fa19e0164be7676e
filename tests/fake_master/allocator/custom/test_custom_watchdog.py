"""Calls of custom allocators that do not return: what is logged, and when the master ends."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fake_master.allocator.custom_watchdog import Watch, in_progress
from tests import ROOT
from tests.helpers.lab import Lab, Scheduler

STUCK = """
from fake_master.allocator.custom_base import SharingAllocator

class Stuck(SharingAllocator):
    def share(self, run):
        while True:
            pass
"""


class Watched:
    """A watch whose time is a number."""

    def __init__(self, timeout: float | None = None) -> None:
        self.now = 0.0
        self.ended = 0
        self._watch = Watch(timeout, self._end, lambda: self.now)

    def _end(self) -> None:
        self.ended += 1

    def look_at(self, *moments: float) -> None:
        for self.now in moments:
            self._watch.look()


def levels(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.levelname for record in caplog.records]


def test_a_call_is_reported_after_five_seconds_and_ever_more_rarely(caplog: pytest.LogCaptureFixture):
    watched = Watched()
    with in_progress("mine:Mine", "add_agent"):
        watched.look_at(0, 4.9)
        assert caplog.messages == []
        watched.look_at(5, 6, 9, 10, 11, 19, 20)
    assert [message.split(" s ")[0] for message in caplog.messages] == [
        f"allocator mine:Mine: add_agent has not returned for {seconds}" for seconds in (5, 10, 20)
    ]
    assert watched.ended == 0


def test_the_place_is_where_the_call_is(caplog: pytest.LogCaptureFixture):
    watched = Watched()
    with in_progress("mine:Mine", "add_agent"):
        watched.look_at(0, 5)
    assert "(custom_watchdog.py, line " in caplog.text  # this thread is the one that looks


def test_a_call_that_returns_late_is_said_to_have_returned(caplog: pytest.LogCaptureFixture):
    watched = Watched()
    with in_progress("mine:Mine", "add_agent"):
        watched.look_at(0, 5)
    watched.look_at(6, 7)
    assert levels(caplog) == ["ERROR", "WARNING"]
    assert caplog.messages[-1] == "allocator mine:Mine: add_agent has returned"


def test_many_quick_calls_are_never_one_long_call(caplog: pytest.LogCaptureFixture):
    watched = Watched(timeout=5)
    for moment in range(100):
        with in_progress("mine:Mine", "add_agent"):
            watched.look_at(moment)
    assert caplog.messages == []
    assert watched.ended == 0


def test_a_call_within_a_call_is_the_outer_one(caplog: pytest.LogCaptureFixture):
    watched = Watched()
    with in_progress("mine:Mine", "advance_to"):
        watched.look_at(0)
        with in_progress("mine:Mine", "recover_resources"):
            watched.look_at(3)
        watched.look_at(5)
    assert "advance_to has not returned for 5 s" in caplog.text


def test_a_timeout_ends_the_master(caplog: pytest.LogCaptureFixture):
    watched = Watched(timeout=3)
    with in_progress("mine:Mine", "add_agent"):
        watched.look_at(0, 2.9)
        assert watched.ended == 0
        watched.look_at(3)
    assert watched.ended == 1
    assert "the master exits (--allocator-timeout)" in caplog.text


def test_an_allocator_that_raises_has_returned(caplog: pytest.LogCaptureFixture, tmp_path: Path, monkeypatch):
    (tmp_path / "raising.py").write_text(STUCK.replace("while True:", "if True:").replace("pass", "raise OSError"))
    monkeypatch.syspath_prepend(str(tmp_path))
    lab = Lab("cpus:4;mem:4096", flags={"allocator": "raising:Stuck"})
    Scheduler(lab)
    lab.wait(2)
    assert lab.read("/metrics/snapshot")["allocator/custom/faults"] > 0
    caplog.clear()
    Watched(timeout=1).look_at(0, 10)
    assert caplog.messages == []


def serve(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    (folder / "stuck.py").write_text(STUCK)
    return subprocess.run(
        [sys.executable, "-m", "fake_master", "--port", "0", "--agent", "cpus:1;mem:64", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.process
@pytest.mark.socket
def test_a_served_master_ends_with_status_1_and_says_where_the_call_is(tmp_path: Path):
    ready = tmp_path / "ready"
    done = serve(tmp_path, "--allocator", "stuck:Stuck", "--allocator-timeout", "100ms", "--ready-file", str(ready))
    assert done.returncode == 1
    assert "allocator stuck:Stuck: advance_to has not returned for" in done.stderr
    assert "(stuck.py, line " in done.stderr
    assert not ready.exists()


@pytest.mark.process
@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--allocator-timeout", "5secs"), "always return"),
        (("--allocator", "stuck:Stuck", "--allocator-timeout", "soon"), "'soon' is not a duration"),
        (("--allocator", "stuck:Stuck", "--allocator-timeout", "0secs"), "must be above 0"),
    ],
)
def test_a_timeout_that_means_nothing_is_refused(tmp_path: Path, words: tuple[str, ...], told: str):
    done = serve(tmp_path, *words)
    assert (done.returncode, told in done.stderr) == (3, True), done.stderr
