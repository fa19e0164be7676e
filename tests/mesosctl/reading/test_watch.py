"""A list with --watch on a terminal: keys scroll it, and leaving gives the terminal back."""

import signal

import pytest
from rich.text import Text

from mesosctl.show.report import Column, Report
from mesosctl.show.screen import moved
from mesosctl.show.scrolling import ScrollingList
from tests.helpers.waiting import PATIENCE
from tests.mesosctl.top.test_top import Seat

CLUSTER = """\
[[agents]]
resources = "cpus:4;mem:4096"
count = 60
"""
KEYS_AND_PLACES = (
    (b"\x1b[B", 2),
    (b"j", 3),
    (b"k", 2),
    (b"\x1b[A", 1),
    (b"\x1b[6~", 20),
    (b"\x1b[6~", 39),
    (b"\x1b[5~", 20),
    (b"\x1b[4~", 43),
    (b"\x1b[1~", 1),
    (b"\x1b[F", 43),
    (b"\x1b[H", 1),
)
"""Keys, and the first line that they lead to on a terminal of 24 lines, of which 20 have rows."""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "c.toml").write_text(CLUSTER, encoding="utf-8")
    return tmp_path


@pytest.mark.terminal
@pytest.mark.process
@pytest.mark.slow
@pytest.mark.parametrize("columns", [80, 200])
def test_each_key_scrolls_and_q_leaves_the_last_lines(folder, columns):
    seat = Seat(folder, "agents", "list", "--watch", columns=columns, master="fake:c.toml")
    try:
        seat.see(lambda shown: b"lines 1 to 20 of 62" in shown)
        for keys, first in KEYS_AND_PLACES:
            seat.press_and_see(keys, f"lines {first} to {first + 19} of 62".encode())
        before = len(seat.shown)
        seat.press(b"\x1b[F")
        seat.see(lambda shown: b"agent-60" in shown[before:])
        seat.press(b"q")
        assert seat.end() == 0
        left = seat.shown[seat.shown.rfind(b"\x1b[?1049l") :]
        assert b"AGENT" in left
        assert b"agent-60" in left
        assert b"agent-1 " not in left
        assert b"quit" not in left
    finally:
        seat.close()


@pytest.mark.terminal
@pytest.mark.process
@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_leaves_the_terminal_as_it_was(folder, number, status):
    seat = Seat(folder, "agents", "list", "--watch", master="fake:c.toml")
    try:
        seat.see(lambda shown: b"lines 1 to 20 of 62" in shown)
        seat.process.send_signal(number)
        assert seat.end() == status
    finally:
        seat.close()


@pytest.mark.terminal
@pytest.mark.process
def test_a_mistake_is_told_before_the_screen_is_taken(folder):
    seat = Seat(folder, "agents", "list", "no-such-agent", "--watch", master="fake:c.toml")
    try:
        seat.see(lambda shown: b"mesosctl:" in shown)
        assert seat.process.wait(PATIENCE) == 5
        assert b"\x1b[?1049h" not in seat.shown
    finally:
        seat.close()


class Screen:
    """A screen of no terminal, on which keys are pressed; it has what was drawn last."""

    def __init__(self, *keys):
        self.keys, self.lines, self.is_taken = list(keys), [], False
        self.drawn = []
        """What each view was made of."""

    def __enter__(self):
        self.is_taken = True
        return self

    def __exit__(self, *_):
        self.is_taken = False

    def shows(self, values, width, height):
        return self.drawn[-1:] == [(values, width, height)]

    def show(self, view, values, width, height):
        self.drawn.append((values, width, height))
        self.lines = [str(line) for line in view.renderables]
        assert len(self.lines) == height
        assert all(Text(line).cell_len <= width for line in self.lines)

    def key(self, _):
        return self.keys.pop(0)


def listed(count):
    rows = [[f"role-{number}", "x"] for number in range(count)]
    return Report((Column("ROLE"), Column("OF")), rows, (), lambda: pytest.fail("a screen needs no document"), list)


def scrolling(screen, size):
    return ScrollingList(screen, lambda: size, "mesosctl roles --watch", wide=False, clock=lambda: 0.0)


def test_titles_stay_while_rows_scroll():
    screen = Screen("page down", "q")
    with scrolling(screen, (100, 10)) as shown:
        assert not screen.is_taken
        shown.show(listed(30))
        assert screen.is_taken
        assert not shown.wait(1.0)
    assert not screen.is_taken
    assert screen.lines[1].split() == ["ROLE", "OF"]
    assert screen.lines[2].split() == ["role-6", "x"]
    assert "lines 7 to 13 of 30" in screen.lines[-1]


def test_a_list_is_drawn_again_only_if_it_changes():
    screen = Screen("", "", "down", "", "x", "up", "", "q")
    with scrolling(screen, (100, 10)) as shown:
        shown.show(listed(30))
        assert not shown.wait(1.0)
        assert len(screen.drawn) == 3  # the reading, and what two keys have moved
        shown.show(listed(30))
        assert len(screen.drawn) == 4


def test_a_list_that_became_short_is_shown_from_its_end():
    screen = Screen("end", "q")
    with scrolling(screen, (100, 10)) as shown:
        shown.show(listed(30))
        shown.wait(1.0)
        shown.show(listed(9))
        assert "lines 3 to 9 of 9" in screen.lines[-1]
        shown.show(listed(3))
        assert "all lines are shown" in screen.lines[-1]


def test_trouble_is_told_until_the_next_reading():
    screen = Screen()
    with scrolling(screen, (100, 10)) as shown:
        shown.show(listed(3))
        shown.tell("the master is away")
        assert screen.lines[-1].startswith("the master is away")
        shown.show(listed(3))
        assert "away" not in screen.lines[-1]


@pytest.mark.parametrize(
    ("key", "place"),
    [("up", 4), ("k", 4), ("down", 6), ("j", 6), ("page up", 0), ("page down", 9), ("home", 0), ("end", 9), ("x", 5)],
)
def test_a_key_leads_to_a_place_of_the_list(key, place):
    assert moved(5, key, page=6, last=9) == place
