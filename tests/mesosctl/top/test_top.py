"""`mesosctl top` as it is typed: once where no terminal looks on, and on a pty that it leaves as it found it."""

import fcntl
import json
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from fake_master.sources.simulated_frameworks import SimulatedFrameworkSpec
from mesosctl.reading.overview import Happenings, OverviewReader
from mesosctl.show.live import FullScreen
from tests import ROOT
from tests.helpers.lab import CommandLine, Lab
from tests.helpers.waiting import PATIENCE

TAKEN, LEFT = b"\x1b[?1049h", b"\x1b[?1049l"


@pytest.fixture
def live():
    frameworks = (SimulatedFrameworkSpec("spark", ("ads",), answer="hold"),)
    lab = Lab("cpus:4;mem:4096", version="1.11", frameworks=frameworks)
    lab.wait(2.0)
    return CommandLine(lab)


def test_where_no_terminal_looks_on_it_is_written_once(live):
    ran = live.run("top")
    assert ran.status == 0
    assert ran.out.splitlines()[0].split() == [
        "ROLE",
        "STATUS",
        "RESOURCE",
        "SHARE",
        "GUARANTEE",
        "LIMIT",
        "GUARANTEE",
        "IS",
    ]
    assert "1 offer is outstanding:" in ran.out
    assert live.changes == []


@pytest.mark.parametrize(
    ("answer", "says"), [("hold", "0 used, 5 offered of 5"), ("", "0 used, 4 reserved and idle, ")]
)
def test_what_is_reserved_is_idle_unless_it_is_offered(answer, says):
    frameworks = (SimulatedFrameworkSpec("shop", ("ads",), answer=answer),) if answer else ()
    lab = Lab("cpus:1;cpus(ads):4;mem:4096", version="1.11", frameworks=frameworks)
    lab.wait(2.0)
    shown = CommandLine(lab).run("top", "--once", terminal=True, NO_COLOR="1", COLUMNS="100").out
    (cpus,) = (line for line in shown.splitlines() if line.startswith("cpus "))
    assert says in cpus


def test_once_on_a_terminal_is_drawn_and_stays(live):
    ran = live.run("top", "--once", terminal=True, NO_COLOR="1", COLUMNS="80")
    assert ran.status == 0
    assert TAKEN.decode() not in ran.out
    assert "no principal is throttled" in ran.out


def test_a_program_reads_one_document(live):
    document = live.run("top", "-o", "json").json
    assert (document["kind"], document["agents"], document["frameworks"]) == ("top", {"active": 1}, 1)
    other = yaml.safe_load(live.run("top", "-o", "yaml").out)
    assert {**other, "taken_at": 0} == {**document, "taken_at": 0}
    assert live.run("top", "-o", "name").out.split() == ["ads"]
    assert [json.loads(line)["role"] for line in live.run("top", "-o", "jsonl").out.splitlines()] == ["ads"]


def test_no_master_is_said_before_a_screen_is_taken(tmp_path, live):
    del live
    ran = CommandLine(Lab()).run("top", terminal=True, MESOSCTL_MASTER="")
    assert ran.status == 2
    assert TAKEN.decode() not in ran.out


class OneReading:
    """A feed that has read the cluster once, and nothing beside it."""

    def __init__(self, open_master, *_, **__):
        with open_master() as master:
            self.overview = OverviewReader(master).read()
        self.failed = self.aside = self.trouble = None
        self.is_live, self.happenings = False, Happenings()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def look(self, *_, **__):
        pass


@pytest.mark.parametrize(
    ("keys", "drawn"),
    [
        (["", "", "q"], 1),
        (["?", "", "", "", "x", "", "", "q"], 3),
        (["/", "a", "", "", "enter", "", "escape", "", "q"], 5),
        (["2", "", "r", "", "r", "", "unknown", "q"], 4),
        (["down", "", "up", "", "q"], 1),  # of one role there is only one line
        (["enter", "", "", "escape", "q"], 3),
    ],
)
def test_a_screen_is_painted_only_when_something_changes(monkeypatch, live, keys, drawn):
    painted, to_press, pressed = [], list(keys), [""]
    show = FullScreen.show

    def paint(*given):
        painted.append(pressed[-1])
        show(*given)

    def press(*_):
        pressed.append(to_press.pop(0))
        return pressed[-1]

    monkeypatch.setattr("termios.tcgetattr", lambda _: [])
    monkeypatch.setattr("tty.setcbreak", lambda *_: None)
    monkeypatch.setattr("mesosctl.top.command.Feed", OneReading)
    monkeypatch.setattr(FullScreen, "show", paint)
    monkeypatch.setattr(FullScreen, "key", press)
    assert live.run("top", terminal=True, COLUMNS="100").status == 0
    assert "" not in painted[1:]
    assert len(painted) == drawn


# --- On a terminal -------------------------------------------------------------------------------------


class Seat:
    """Somebody before a terminal on which a command runs: `top`, or the words that are given."""

    def __init__(self, home: Path, *words: str, columns: int = 80, master: str = "fake:") -> None:
        self.shown = b""
        mine, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self._terminal, self._theirs = mine, theirs
        self.modes = termios.tcgetattr(theirs)
        others = ("MESOSCTL_", "NO_COLOR", "COLUMNS", "LINES")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(others)}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "mesosctl", "--master", master, *(words or ("top",))],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**kept, "HOME": str(home), "PYTHONPATH": str(ROOT), "TERM": "xterm", "XDG_STATE_HOME": str(home)},
            start_new_session=True,
            cwd=home,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509  # so that keys make signals
        )

    def see(self, condition: Callable[[bytes], bool], what: str = "") -> None:
        until = time.monotonic() + PATIENCE
        while not condition(self.shown):
            assert time.monotonic() < until, (what, self.shown[-500:])
            if select.select([self._terminal], [], [], 0.1)[0]:
                self.shown += os.read(self._terminal, 1 << 16)

    def press(self, keys: bytes) -> None:
        os.write(self._terminal, keys)

    def press_and_see(self, keys: bytes, says: bytes) -> None:
        """Press keys, and wait for a screen that was drawn after them and says this."""
        before = len(self.shown)
        self.press(keys)
        self.see(lambda shown: says in shown[before:], f"{says!r} after {keys!r}")

    def end(self) -> int:
        """Wait for its end; the screen is given back, the cursor shown, and the modes are those from before."""
        until = time.monotonic() + PATIENCE
        while self.process.poll() is None or select.select([self._terminal], [], [], 0.1)[0]:
            assert time.monotonic() < until, self.shown[-500:]
            if select.select([self._terminal], [], [], 0.05)[0]:
                self.shown += os.read(self._terminal, 1 << 16)
        assert self.shown.rfind(LEFT) > self.shown.rfind(TAKEN) >= 0
        assert self.shown.rfind(b"\x1b[?25h") > self.shown.rfind(b"\x1b[?25l")
        assert termios.tcgetattr(self._theirs) == self.modes
        return self.process.returncode

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._terminal)
        os.close(self._theirs)


@pytest.fixture
def seat(tmp_path):
    taken = Seat(tmp_path)
    yield taken
    taken.close()


DRAWN = b"q quit"


@pytest.mark.terminal
@pytest.mark.process
def test_keys_are_heard_and_q_leaves(seat):
    seat.see(lambda shown: DRAWN in shown)
    seat.press(b"s")
    seat.see(lambda shown: b"by name" in shown)
    seat.press(b"p")
    seat.see(lambda shown: b"paused" in shown)
    seat.press(b"q")
    assert seat.end() == 0


@pytest.mark.terminal
@pytest.mark.process
@pytest.mark.slow
@pytest.mark.parametrize("columns", [80, 200])
def test_each_key_on_a_terminal(tmp_path, columns):
    (tmp_path / "c.toml").write_text(CLUSTER, encoding="utf-8")
    taken = Seat(tmp_path, columns=columns, master="fake:c.toml")
    try:
        taken.see(lambda shown: DRAWN in shown)
        has_weights = b"WEIGHT" in taken.shown
        for keys, says in KEYS_AND_SCREENS:
            taken.press_and_see(keys, says)
            has_weights |= b"WEIGHT" in taken.shown
        assert has_weights is (columns == 200)
        taken.press(b"q")
        assert taken.end() == 0
    finally:
        taken.close()


CLUSTER = """\
[[agents]]
resources = "cpus:4;mem:4096"
count = 30
[[frameworks]]
name = "shop"
role = "web"
answer = "hold"
[[frameworks]]
name = "ranker"
role = "ads"
task = "cpus:1;mem:512MiB"
tasks = 1
"""
KEYS_AND_SCREENS = (
    (b"2", b"ranker"),
    (b"3", b"agent-1"),
    (b"\x1b[B\x1b[6~\x1b[6~j", b"to 23 of 30"),
    (b"\x1b[5~\x1b[5~k\x1b[A", b"agents 1 to"),
    (b"\x1b[F", b"to 30 of 30"),
    (b"\x1b[H", b"agents 1 to"),
    (b"4", b"OLDEST"),
    (b"\t", b"rest of the cluster"),
    (b"\t", b"PRINCIPAL"),
    (b"1", b"rest of the cluster"),
    (b"s", b"sorted by name"),
    (b"r", b"name, reversed"),
    (b"p", b"paused"),
    (b"p", b"updated"),
    (b" ", b"updated"),
    (b"?", b"go on"),
    (b"?", b"rest of the cluster"),
    (b"/", b"Enter ends typing"),
    (b"wex\x7f", "/we█".encode()),
    (b"\r", b"with 'we'"),
    (b"\r", b"Why it is not offered more:"),
    (b"\x1b", b"with 'we'"),
    (b"\x1b", b"ads"),
)
"""Keys, and something of the screen that they lead to."""


@pytest.mark.terminal
@pytest.mark.process
@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130), (signal.SIGQUIT, 130)]
)
def test_a_signal_leaves_the_terminal_as_it_was(seat, number, status):
    seat.see(lambda shown: DRAWN in shown)
    seat.process.send_signal(number)
    assert seat.end() == status


@pytest.mark.terminal
@pytest.mark.process
def test_ctrl_c_twice_is_no_worse(seat):
    seat.see(lambda shown: DRAWN in shown)
    seat.press(b"\x03\x03\x03")
    assert seat.end() == 130


@pytest.mark.terminal
@pytest.mark.process
def test_ctrl_z_gives_the_terminal_back_until_it_goes_on(seat):
    seat.see(lambda shown: DRAWN in shown)
    seat.process.send_signal(signal.SIGTSTP)
    seat.see(lambda shown: shown.rfind(LEFT) > shown.rfind(TAKEN))
    os.waitid(os.P_PID, seat.process.pid, os.WSTOPPED | os.WNOWAIT)
    assert termios.tcgetattr(seat._theirs) == seat.modes
    seat.shown = b""
    seat.process.send_signal(signal.SIGCONT)
    seat.see(lambda shown: TAKEN in shown and DRAWN in shown)
    seat.press(b"q")
    assert seat.end() == 0
