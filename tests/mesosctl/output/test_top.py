"""The screen of `top`: its order, its keys, and that it fits whatever terminal it is on."""

import io
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from mesosctl.model.quantities import Limits, Quantities, Quota
from mesosctl.model.quota.role_status import RoleStatus, RoleUsage
from mesosctl.output.top import KEYS, ScreenStatus, TopState, overview_report, sorted_roles, top_screen
from mesosctl.planning.account import Overview, WaitingOffers
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


ROLES = (role("ads", 10, 20, 30), role("batch", 30), role("web", 5, 5))
WAITING = WaitingOffers("spark", "F1", ("ads",), 3, cpus(10), 65.0, was_there=True)


def drawn(shown, width=100, height=30, state=None, around=AROUND):
    stream = io.StringIO()
    console = Console(file=stream, width=width, height=height, highlight=False, force_terminal=False)
    console.print(top_screen(shown, state or TopState(), around, width, height), end="")
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
    state.press("s", 3)
    assert names(drawn(overview(*ROLES), state=state)) == ["ads", "batch", "web"]
    state.press("r", 3)
    assert names(drawn(overview(*ROLES), state=state)) == ["web", "batch", "ads"]
    state.press("s", 3)
    state.press("r", 3)
    assert names(drawn(overview(*ROLES), state=state))[0] == "ads"  # which is below its guarantee
    state.press("p", 3)
    assert "paused" in drawn(overview(*ROLES), state=state)[0]
    state.press("nonsense", 3)
    state.press("up", 3)
    assert state.top == 0


@settings(max_examples=examples(150))
@given(st.integers(20, 220), st.integers(8, 70), st.integers(0, 60), st.integers(0, 12), st.integers(0, 80))
def test_a_screen_has_the_size_of_its_terminal(width, height, count, waiting, scrolled):
    roles = [role(f"role-{n}", n / 10, n / 5, 20, n % 2) for n in range(count)]
    offers = [WAITING] * waiting
    lines = drawn(overview(*roles, offers=offers), width, height, TopState(top=scrolled))
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
    state = TopState(sort="name", top=10_000)
    assert any(line.startswith("r199") for line in drawn(overview(*roles), height=20, state=state))
    state.press("page up", 200)
    assert state.top < 190


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
