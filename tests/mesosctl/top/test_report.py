"""The screen of `top`: its order, its keys, and that it fits whatever terminal it is on."""

import io
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console, Group
from rich.text import Text

from mesosctl.mesos.amounts.quantities import Limits, Quantities, Quota
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.cluster.account import Overview, WaitingOffers
from mesosctl.mesos.cluster.holdings import RegisteredAgent
from mesosctl.mesos.cluster.role_status import RoleStatus, RoleUsage
from mesosctl.mesos.rules.offers.frameworks import ListedFramework
from mesosctl.top.report import (
    KEYS,
    LARGE,
    ScreenStatus,
    TopState,
    large_table,
    overview_report,
    sorted_roles,
    top_screen,
)
from tests.helpers.profiles import examples

AROUND = ScreenStatus("http://host:5050", 2.0, is_live=True, events=("agent node-1 left",))


def cpus(amount):
    return Quantities({"cpus": round(amount * 1000)}) if amount else Quantities()


def role(name, used, guarantee=0, limit=None, frameworks=1):
    limits = Limits({} if limit is None else {"cpus": limit * 1000})
    usage = RoleUsage(consumed=cpus(used), frameworks=frameworks, wanting=True)
    return RoleStatus(name, Quota(cpus(guarantee), limits), usage)


def overview(*roles, offers=()):
    return Overview(0.0, "1.11.0", cpus(100), cpus(40), cpus(10), {"active": 3}, 2, roles, offers)


NAMES = ["ads", "batch", "web"]
ROLES = (role("ads", 10, 20, 30), role("batch", 30), role("web", 5, 5))
WAITING = WaitingOffers("spark", "F1", ("ads",), 3, cpus(10), 65.0, was_there=True)


def drawn(shown, width=100, height=30, state=None, around=AROUND):
    stream = io.StringIO()
    console = Console(file=stream, width=width, height=height, highlight=False, force_terminal=False)
    state = state or TopState()
    console.print(top_screen(shown, state, around, width, height, large_table(shown, state, None)), end="")
    return stream.getvalue().split("\n")


def names(lines):
    return [line.split()[0] for line in lines if line.split() and line.split()[0] in {"ads", "batch", "web"}]


def test_a_share_is_a_bar_of_the_whole_cluster():
    lines = drawn(overview(*ROLES), width=117)  # bars of forty cells
    ads = next(line for line in lines if line.startswith("ads"))
    assert "████▒▒▒▒░░░░" + "·" * 28 in ads
    assert ads.split()[:4] == ["ads", "below", "guarantee", "10%"]
    assert "10/20/30" in ads


def test_offers_say_for_how_long_they_have_been_out_at_least():
    assert any("3  1m05s or more  ads" in line for line in drawn(overview(*ROLES, offers=(WAITING,))))


def test_the_first_line_says_when_it_is_updated_and_how_roles_are_sorted():
    assert "updated at each event and every 2s  sorted by share" in drawn(overview(*ROLES))[0]
    asked = ScreenStatus("m", 5.0)
    assert "updated every 5s  sorted by name" in drawn(overview(*ROLES), state=TopState(sort="name"), around=asked)[0]


@pytest.mark.parametrize(
    ("width", "says"), [(100, "40 used, 16 reserved and idle, 10 offered of 100"), (55, "40 used, 16 idle, 10 offered")]
)
def test_what_is_reserved_and_idle_has_a_part_of_the_bar(width, says):
    line = drawn(replace(overview(*ROLES), idle=cpus(16)), width)[2]
    assert says in line
    cells = line.split()[1]
    assert [cells.count(glyph) > 0 for glyph in "█▒▞░"] == [True] * 4
    assert "idle" not in drawn(overview(*ROLES), width)[2]


@pytest.mark.parametrize(("width", "title"), [(120, "USED OR RESERVED/GUARANTEE/LIMIT"), (80, "AMOUNTS")])
def test_the_amounts_say_that_what_is_reserved_counts(width, title):
    lines = drawn(overview(*ROLES), width)
    assert any(line.startswith("ROLE") and title in line for line in lines)
    (legend,) = (line for line in lines if "· rest of the cluster" in line)
    assert "used or reserved" in legend


def test_keys_sort_reverse_pause_and_scroll():
    state = TopState()
    assert names(drawn(overview(*ROLES), state=state)) == ["batch", "ads", "web"]
    state.press("s", NAMES)
    assert names(drawn(overview(*ROLES), state=state)) == ["ads", "batch", "web"]
    state.press("r", NAMES)
    assert names(drawn(overview(*ROLES), state=state)) == ["web", "batch", "ads"]
    state.press("s", NAMES)
    state.press("r", NAMES)
    assert names(drawn(overview(*ROLES), state=state))[0] == "ads"  # which is below its guarantee
    state.press("p", NAMES)
    assert "paused" in drawn(overview(*ROLES), state=state)[0]
    state.press("nonsense", NAMES)
    state.press("up", NAMES)
    assert (state.top, state.selected) == (0, 0)


@settings(max_examples=examples(150))
@given(
    st.integers(20, 220), st.integers(8, 70), st.integers(0, 60), st.integers(0, 12), st.integers(0, 80),
    st.sampled_from(LARGE), st.sampled_from(["", "1", "zz"]), st.booleans(), st.sampled_from([None, "role-1", "gone"]),
)  # fmt: skip
def test_a_screen_has_the_size_of_its_terminal(width, height, count, waiting, scrolled, large, letters, helping, one):
    roles = [role(f"role-{n}", n / 10, n / 5, 20, n % 2) for n in range(count)]
    offers = [WAITING] * waiting
    lines = drawn(
        overview(*roles, offers=offers),
        width,
        height,
        TopState(selected=scrolled, large=large, filter=letters, helping=helping, role=one),
    )
    assert len(lines) == height
    assert max(map(len, lines)) <= width
    assert lines[-1].startswith(KEYS[:10])


def test_a_master_that_is_lost_is_told_and_the_last_reading_stays():
    lost = ScreenStatus("m", 2.0, trouble="connection refused")
    lines = drawn(overview(*ROLES), around=lost)
    assert "connection refused; trying again" in lines[2]
    assert names(lines) == ["batch", "ads", "web"]


def test_everything_stays_reachable_by_scrolling():
    roles = [role(f"r{n:03}", n / 10) for n in range(200)]
    state = TopState(sort="name", selected=10_000)
    assert any(line.startswith("r199") for line in drawn(overview(*roles), height=20, state=state))
    state.press("page up", [one.role for one in roles])
    assert state.selected == 189
    state.press("page up", [one.role for one in roles])
    assert any(line.startswith("r179") for line in drawn(overview(*roles), height=20, state=state))


def test_once_is_a_report_with_a_document():
    document = overview_report(overview(*ROLES, offers=(WAITING,))).document().model_dump()
    assert document["kind"] == "top"
    assert document["offers"][0]["offers"] == 3
    assert [one["role"] for one in document["roles"]] == ["ads", "batch", "web"]


@pytest.mark.parametrize("sort", ["share", "name", "status"])
def test_an_order_has_every_role_once(sort):
    found = sorted_roles(overview(*ROLES), sort)
    assert sorted(one.role for one in found) == ["ads", "batch", "web"]
    assert sorted_roles(overview(*ROLES), sort, reverse=True) == found[::-1]


def listed(name, *roles):
    return ListedFramework(id=f"id-{name}", name=name, roles=roles, suppressed=frozenset())


LISTED = replace(overview(*ROLES, offers=(WAITING,)), listed=(listed("spark", "ads"), listed("cron", "batch")))


def pressed(*keys, shown=LISTED, aside=None):
    """The screen's state after these keys."""
    state = TopState()
    for key in keys:
        state.press(key, large_table(shown, state, aside).names)
    return state


@pytest.mark.parametrize("width", [80, 200])
@pytest.mark.parametrize(
    ("keys", "title", "first"),
    [
        (("1",), "ROLE ", "batch"),
        (("2",), "FRAMEWORK ", "spark"),
        (("3",), "reading …", None),
        (("4",), "FRAMEWORK ", "spark"),
        (("tab",), "FRAMEWORK ", "spark"),
        (("tab", "tab", "tab", "tab"), "ROLE ", "batch"),
    ],
)
def test_a_number_or_tab_chooses_the_large_table(width, keys, title, first):
    lines = drawn(LISTED, width, state=pressed(*keys))
    at = next(number for number, line in enumerate(lines) if line.startswith(title))
    assert first is None or first in "".join(lines[at + 1 : at + 3])


def test_a_wide_terminal_shows_more_of_each_role():
    narrow, wide = (" ".join(drawn(LISTED, width)) for width in (80, 200))
    assert [("WEIGHT" in text, "MISSING" in text) for text in (narrow, wide)] == [(False, False), (True, True)]


def test_frameworks_stand_below_roles_where_there_is_room():
    assert any(line.startswith("cron") for line in drawn(LISTED, height=50))
    assert not any(line.startswith("cron") for line in drawn(LISTED, height=16))


def test_letters_filter_until_enter_and_escape_shows_everything():
    state = pressed("/", "q", "backspace", "a", "s", "x", "backspace", "backspace")
    assert (state.filter, state.is_over) == ("a", False)
    assert "/a█" in drawn(LISTED, state=state)[-1]
    assert names(drawn(LISTED, state=state)) == ["batch", "ads"]
    state.press("enter", NAMES)
    assert drawn(LISTED, state=state)[-1].startswith(KEYS[:10])
    state.press("escape", NAMES)
    assert names(drawn(LISTED, state=state)) == ["batch", "ads", "web"]
    assert "no name has 'zz'" in " ".join(drawn(LISTED, state=pressed("2", "/", "z", "z")))


def typed(letters, table, aside=None):
    """The lines that a filter leaves of a table."""
    return large_table(HOSTILE, pressed(table, "/", *letters, shown=HOSTILE, aside=aside), aside).names


HOSTILE = replace(
    LISTED,
    listed=(
        ListedFramework("m-0001", "spark", ("ads",)),
        ListedFramework("m-0002", "m-0001", ("ads",), unclear=frozenset(("name",))),
        ListedFramework("m-0003", "id:m", ("ads",), unclear=frozenset(("name",))),
    ),
    offers=tuple(
        replace(WAITING, framework_id=f"m-000{n}", framework=name) for n, name in enumerate(("spark", "m-0001"), 1)
    ),
)
AGENTS = [
    RegisteredAgent("m-S0", "node-1", "", Resources()),
    RegisteredAgent("m-S1", "S0", "", Resources(), unclear=frozenset(("host",))),
]


@pytest.mark.parametrize(
    ("letters", "table", "left"),
    [
        ("m-0001", "2", ["name:m-0001"]),  # as it is shown
        ("id:m-0001", "2", ["spark"]),
        ("name:m-0001", "2", ["name:m-0001"]),
        ("name:id:", "2", ["name:id:m"]),
        ("id:", "2", ["spark", "name:m-0001", "name:id:m"]),
        ("host:", "2", []),
        ("id:m-0002", "4", ["name:m-0001"]),
        ("name:spark", "4", ["spark"]),
        ("S0", "3", ["host:S0"]),
        ("id:m-S0", "3", ["node-1"]),
        ("host:S0", "3", ["host:S0"]),
        ("name:", "3", []),
    ],
)
def test_a_kind_in_front_of_a_filter_decides_which_name_has_the_letters(letters, table, left):
    assert sorted(typed(letters, table, aside=AGENTS)) == sorted(left)


def test_a_filter_by_a_name_that_a_table_lacks_says_so():
    text = " ".join(drawn(HOSTILE, state=pressed("2", "/", *"host:x", shown=HOSTILE)))
    assert "no framework has a host name" in text
    assert "no offer is outstanding" in " ".join(drawn(overview(*ROLES), state=pressed("4", "/", *"id:x")))


def test_enter_shows_the_chosen_role_alone_and_escape_goes_back():
    state = pressed("down", "enter")
    assert state.role == "ads"
    text = " ".join(drawn(LISTED, state=state, height=40))
    assert "spark" in text
    assert "cron" not in text
    assert "Why it is not offered more:" in text
    state.press("escape", NAMES)
    assert (state.role, state.is_over) == (None, False)


def test_help_names_every_key_and_any_key_ends_it():
    text = " ".join(drawn(LISTED, state=pressed("?"), height=40))
    for word in ("Tab", "Enter", "space", "Esc", "quit", "/", "reverse"):
        assert word in text
    assert not pressed("?", "x").helping
    assert pressed("?", "", "", "").helping  # no key was pressed for a while
    assert pressed("?", "q").is_over


@pytest.mark.parametrize("before", [("?",), ("2", "down"), ("/", "a"), ("down", "enter", "down"), ("p",)])
def test_waiting_for_a_key_changes_nothing(before):
    assert pressed(*before, "", "") == pressed(*before)


@pytest.mark.parametrize("keys", [("q",), ("escape",), ("eof",), ("/", "x", "eof"), ("enter", "q")])
def test_it_is_left(keys):
    assert pressed(*keys).is_over


@pytest.mark.parametrize("width", [80, 200])
@pytest.mark.parametrize(("keys", "chosen"), [(("down",), "ads"), (("2", "down"), "spark"), (("4",), "spark")])
def test_the_chosen_line_is_marked(width, keys, chosen):
    state = pressed(*keys)
    screen = top_screen(LISTED, state, AROUND, width, 40, large_table(LISTED, state, None))
    assert isinstance(screen, Group)
    lines = [line for line in screen.renderables if isinstance(line, Text)]
    (marked,) = (line for line in lines if any(span.style == "reverse" for span in line.spans))
    assert marked.plain.startswith(chosen)


def test_the_chosen_line_stays_on_the_screen():
    roles = [role(f"r{n:03}", n / 10) for n in range(200)]
    state = TopState(sort="name")
    for _ in range(60):
        state.press("down", [one.role for one in roles])
        drawn(overview(*roles), height=20, state=state)
    assert any(line.startswith("r060") for line in drawn(overview(*roles), height=20, state=state))
