"""The laws of cost, on random recordings, against fractions that are added up moment by moment."""

import json
from dataclasses import replace
from datetime import UTC, date, datetime
from fractions import Fraction
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mesosctl.history.records import Gap, RecordedAgent, RecordedFramework, RecordedSetting, RecordedTask
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.usage.cost import CostOptions, cost, rounded
from mesosctl.usage.prices import UNITS, load
from tests.helpers.profiles import examples
from tests.mesosctl.history.memory import CLUSTER, MemoryRecording
from tests.mesosctl.usage.dense import FRAMEWORKS, dense
from tests.mesosctl.usage.plain_cost import HOUR, Plain, as_toml, half_up

BEGIN = round(datetime(2026, 9, 20, tzinfo=UTC).timestamp()) * 10**6
HOURS = 24 * 90
"""Until 19 December: clocks change in Berlin and New York in October and November, in Apia nowhere any more."""
ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe")
ROLES = ("a", "a/x", "b", "b/y", "c")
times = st.builds(
    lambda hour, micros: BEGIN + hour * HOUR + micros, st.integers(0, HOURS), st.sampled_from([0, 0, 1, 333_333_333])
)
spans = st.tuples(times, times).map(sorted).filter(lambda span: span[0] < span[1])
SLACK = Resources([Resource("cpus", 2000, revocable=True)])
held = st.sampled_from(
    [
        *map(parse_resources, ("cpus:1;mem:2048", "cpus:0.001;disk:7", "cpus:3;gpus:1", "mem:700")),
        parse_resources("cpus(b):1;mem(b):64;cpus:1", of_agents=True),
        parse_resources("cpus(a/x):2", of_agents=True),
        parse_resources("cpus:0.5") + SLACK,
    ]
)
totals = st.sampled_from(
    [
        parse_resources(text, of_agents=True)
        for text in ("cpus:8;mem:16384;disk:999", "cpus:4;cpus(b):3;mem(b):512;mem:4096;gpus:2", "cpus:2;cpus(a/x):5")
    ]
)


@st.composite
def agents(draw):
    """The rows of some agents, of which each has one at a time, or none."""
    rows = []
    for name in sorted(draw(st.sets(st.sampled_from(["n1", "n2", "n3"])))):
        edges = sorted(draw(st.sets(times, min_size=1, max_size=4)))
        stays = draw(st.booleans())
        for number, (start, end) in enumerate(zip(edges, [*edges[1:], None], strict=True)):
            if stays or number % 2 == 0:
                attributes = draw(st.sampled_from([{}, {"type": "gpu"}, {"rack": 3.0, "type": "gpu"}]))
                rows.append(RecordedAgent(name, "host", draw(totals), start, end, attributes=attributes))
    return rows


@st.composite
def tasks(draw):
    start, end = draw(spans)
    return RecordedTask(
        draw(st.sampled_from(sorted(FRAMEWORKS))), f"t{draw(times)}", draw(st.sampled_from(ROLES)), draw(held),
        draw(st.sampled_from(["n1", "n2", "n3", "n4", None])), start=start, end=draw(st.sampled_from([end, None])),
    )  # fmt: skip


@st.composite
def quotas(draw):
    """The quota of one role, which changes."""
    role = draw(st.sampled_from(["a", "b", "c"]))
    edges = sorted(draw(st.sets(times, min_size=2, max_size=4)))
    found = []
    for start, end in pairwise(edges):
        amounts = draw(st.dictionaries(st.sampled_from(["cpus", "mem", "gpus"]), st.integers(1, 40)))
        guarantees = {name: {"value": amount} for name, amount in amounts.items()}
        found.append(RecordedSetting("quota", role, json.dumps({"guarantees": guarantees}), start, end))
    return found


@st.composite
def histories(draw):
    by_role = {one[0].name: one for one in draw(st.lists(quotas(), max_size=3))}
    return MemoryRecording(
        of_agents=draw(agents()),
        of_frameworks=[RecordedFramework(name, name, ROLES, 0, None, of) for name, of in FRAMEWORKS.items()],
        of_tasks=draw(st.lists(tasks(), max_size=8)),
        of_settings=[one for settings in by_role.values() for one in settings],
        of_gaps=[Gap(*span) for span in draw(st.lists(spans, max_size=2))],
    )  # fmt: skip


tables = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "cpu_hour": st.sampled_from(["0.031", "0.000001", "7.5", "0"]),
            "mem_gib_hour": st.sampled_from(["0.004", "0.123457"]),
            "disk_gib_hour": st.just("0.01"),
            "gpu_hour": st.sampled_from(["1.35", "2"]),
            "attributes": st.sampled_from([{"type": "gpu"}, {"rack": 3.0}]),
            "from": st.dates(date(2026, 9, 1), date(2026, 12, 10)),
        },
    ).filter(lambda table: any(key.endswith("_hour") for key in table)),
    min_size=1,
    max_size=4,
)


def options_for(prices, zone, since, until, **more):
    return CostOptions(since, until, load(as_toml(prices), "prices.toml", zone), zone, **more)


def found_in(of_month):
    return {(cell.key, cell.part): cell.cost for cell in of_month.cells}


def check(found, plain, cells, seen):
    """Every cell is within a cent, and every total exact."""
    assert [month.number for month in found.months] == sorted(cells)
    for month in found.months:
        exact = cells[month.number]
        assert month.seen == seen[month.number]
        assert month.total == half_up(sum(exact.values()))
        shown = found_in(month)
        for cell in {*exact, *shown}:
            assert abs(shown.get(cell, 0) - exact.get(cell, Fraction(0)) * 100) <= 1, (month.number, cell)


KEYS = {
    "role": lambda task: task.role,
    "framework": lambda task: task.framework_id,
    "principal": lambda task: FRAMEWORKS[task.framework_id],
    "agent": lambda task: task.agent_id or "unknown",
}


@pytest.mark.parametrize("by", KEYS)
@given(history=histories(), prices=tables, zone=st.sampled_from(ZONES).map(ZoneInfo), span=spans, old=st.booleans())
@settings(max_examples=examples(40), deadline=None)
def test_cells_are_what_was_held_at_each_moment(by, history, prices, zone, span, old):
    cluster = replace(CLUSTER, mesos_profile="documents" if old else "1.11")
    found = cost(history, cluster, options_for(prices, zone, *span, by=by))
    plain = Plain(history, prices, zone, counts_reserved=not old)
    check(found, plain, *plain.months(span, KEYS[by], by_role=by == "role"))
    assert found.unseen == span[1] - span[0] - sum(month.seen for month in found.months)


SEEDS = st.integers(0, 10**9)


def worked_out_twice(seed, by="role", sharing=None):
    """The cost of a dense recording, and the cells and the time that was seen, by the plain way."""
    made = dense(seed)
    prices = load(as_toml(made.tables), "prices.toml", made.zone)
    found = cost(made.history, made.cluster, CostOptions(made.since, made.until, prices, made.zone, by, sharing))
    plain = Plain(made.history, made.tables, made.zone, counts_reserved=made.cluster.mesos_profile != "documents")
    cells, seen = plain.months((made.since, made.until), KEYS[by], by_role=by == "role")
    plain.share_idle(cells, sharing)
    return found, plain, cells, seen


@pytest.mark.parametrize("by", KEYS)
@given(seed=SEEDS)
@settings(max_examples=examples(60))
def test_cells_of_recordings_in_which_much_happens(by, seed):
    check(*worked_out_twice(seed, by))


@pytest.mark.parametrize("sharing", ["use", "guarantee", "evenly"])
@given(seed=SEEDS)
@settings(max_examples=examples(30))
def test_idle_cost_is_shared_as_it_is_in_the_plain_way(sharing, seed):
    check(*worked_out_twice(seed, sharing=sharing))


@given(seed=SEEDS)
@settings(max_examples=examples(30))
def test_a_month_is_the_same_alone_and_among_others(seed):
    """So the sums of months are those of the span."""
    made = dense(seed)
    prices = load(as_toml(made.tables), "prices.toml", made.zone)
    whole = cost(made.history, made.cluster, CostOptions(made.since, made.until, prices, made.zone))
    for month in whole.months:
        alone = cost(made.history, made.cluster, CostOptions(month.start, month.end, prices, made.zone))
        assert alone.months == (month,)


CENT = UNITS // 100


@example({("c", "used"): CENT // 2, ("b", "used"): CENT // 2})  # of equals, the first by name, whatever came first
@example({("a", "used"): CENT * 5 // 4, ("b", "used"): CENT * 7 // 4})
@example({("a", "used"): CENT // 2})  # a half goes up
@given(cells=st.dictionaries(st.tuples(st.text("ab", min_size=1), st.sampled_from(["used", "kept"])),
                             st.integers(0, 10 * UNITS).map(lambda units: units // 7)))  # fmt: skip
def test_cells_are_rounded_within_the_total_by_largest_remainder(cells):
    shown = {cell[:2]: cell.cost for cell in rounded(cells)}
    assert sum(shown.values()) == half_up(Fraction(sum(cells.values()), UNITS))
    remainders = {
        key: Fraction(value * 100, UNITS) - Fraction(value * 100, UNITS).__floor__() for key, value in cells.items()
    }
    up = {key for key in cells if shown[key] > Fraction(cells[key] * 100, UNITS) and remainders[key]}
    for key in up:
        for other in cells.keys() - up:
            assert (-remainders[key], key) < (-remainders[other], other)
