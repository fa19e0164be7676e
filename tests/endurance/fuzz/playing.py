"""One command line played in this process, against a fake master in it, its clock and its patience virtual."""

import io
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from unittest import mock

import httpx

from fake_master.state.clock import WaitingClock
from fake_master.transports.connections import DirectConnection
from fake_master.transports.in_process import InProcessTransport
from mesosctl.__main__ import main
from mesosctl.mesos.exit_status import ExitStatus
from tests.endurance.fuzz.lab import Lab
from tests.endurance.fuzz.words import FILE, Typed
from tests.helpers.places import assert_place_was_given
from tests.helpers.surroundings import InMemory, Terminal

MOST_SLEEPS = 300
MOST_SECONDS = 40.0
STATUSES = {int(status) for status in ExitStatus} | {141}


@dataclass(frozen=True)
class Played:
    """How it ended."""

    status: int
    out: str
    err: str
    sleeps: int


class _Patience:
    """A clock that only sleeping moves; whoever sleeps for too long is interrupted, as an operator would do it."""

    def __init__(self, lab: Lab) -> None:
        self.now = 0.0
        self.sleeps = 0
        self._lab = lab

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.sleeps += 1
        self.now += max(0.0, min(seconds, 1e9))
        if self.sleeps > MOST_SLEEPS:
            raise KeyboardInterrupt
        self._lab.wait(min(max(0.0, seconds), 60.0))


@contextmanager
def at_home(folder: Path) -> Iterator[None]:
    """A home and a working folder of its own: nothing is left behind, wherever a command writes."""
    before = Path.cwd()
    with mock.patch.dict(
        os.environ,
        {
            "HOME": str(folder),
            "XDG_STATE_HOME": str(folder / "state"),
            "XDG_CONFIG_HOME": str(folder / "config"),
            "XDG_CACHE_HOME": str(folder / "cache"),
        },
    ):
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def play(typed: Typed, spoil: Callable[[httpx.BaseTransport], httpx.BaseTransport] = lambda inner: inner) -> Played:
    """Type it; `spoil` stands between the command and its master.  Raises AssertionError where it takes too long."""
    lab = Lab("1.11")
    patience = _Patience(lab)
    with tempfile.TemporaryDirectory(prefix="fuzz-") as name, at_home(Path(name)):
        for number, content in enumerate(typed.files):
            if content is not None:
                Path(f"file{number}").write_bytes(content)
        ids = lab.names()
        words = [_filled(word, ids) for word in typed.words]
        stream = Terminal if typed.terminal and not _takes_the_screen(words) else io.StringIO
        own = InProcessTransport(lab.master, patience.sleep)
        environment = InMemory(
            stdin=(io.StringIO if _reads_keys(words) else stream)(typed.stdin),
            stdout=stream(),
            stderr=stream(),
            variables={"MESOSCTL_MASTER": "http://master:5050"} | typed.variables,
            ask_secret=lambda _: "typed",
            clock=patience.clock,
            sleep=patience.sleep,
            transport=None if _names_a_fake(words, typed.variables) else spoil(own),
        )

        def wait(clock: WaitingClock, seconds: float) -> None:
            patience.sleep(seconds)
            clock.sleep(seconds)

        started = time.process_time()
        try:
            # Where a `fake:` address is opened, nobody says how to sleep: with a cluster or without one.
            with (
                mock.patch.object(DirectConnection.__init__, "__defaults__", (patience.sleep,)),
                mock.patch.object(WaitingClock, "wait", wait),
            ):
                status = main(words, environment)
        except SystemExit as ended:
            status = ended.code if isinstance(ended.code, int) else 1
        took = time.process_time() - started
    assert took < MOST_SECONDS, (took, typed)
    return Played(status, environment.out, environment.err, patience.sleeps)


def _takes_the_screen(words: list[str]) -> bool:
    """Whether the command reads keys from a real terminal, with threads that a virtual clock does not hold."""
    forms = [after for word, after in pairwise(words) if word in ("-o", "--output")]
    return "top" in words and forms[-1:] not in (["csv"], ["name"])


def _reads_keys(words: list[str]) -> bool:
    """Whether a list is followed, which reads keys where its input is a real terminal."""
    return any(word.startswith("--watch") for word in words)


def _names_a_fake(words: list[str], variables: dict[str, str]) -> bool:
    """Whether the master is a fake one of the command's own; everything else is answered by the one here."""
    named = [word.partition("=")[2] for word in words if word.startswith("--master=")]
    named += [after for word, after in pairwise(words) if word == "--master"]
    return all(address.startswith("fake:") for address in named or [variables.get("MESOSCTL_MASTER", "")])


def _filled(word: str, ids: dict[str, str]) -> str:
    word = word.replace(FILE, "file")
    for short, value in ids.items():
        word = word.replace(short, value)
    return word


def check(typed: Typed, played: Played) -> None:
    """It ended as the documents say, and said why, as a sentence."""
    told = (played.status, played.out[-300:], played.err[-600:], typed)
    assert played.status in STATUSES, told
    assert "Traceback" not in played.err, told
    assert "this is a bug" not in played.err, told
    assert "Traceback" not in played.out, told
    assert_place_was_given(played.err, typed.words)
    if played.status > 1 and played.status < 100:
        assert played.err or played.out, told
