"""The usage of one short recording, calculated by hand: each integral, share, peak, wish and name of it."""

import json
from dataclasses import replace

import pytest

from mesosctl.history.records import (
    Gap,
    RecordedAgent,
    RecordedFramework,
    RecordedSetting,
    RecordedTask,
    Suppression,
)
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.amounts.resource import Disk, Reservation, Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.usage.calculation import KeyUsage, UsageOptions, usage
from tests.mesosctl.history.memory import CLUSTER, MemoryRecording


def task(framework, name, role, text, agent, start, end, **more) -> RecordedTask:
    return RecordedTask(framework, name, role, parse_resources(text), agent, start=start, end=end, **more)


QUOTA = '{"role": "a", "guarantees": {"cpus": {"value": 4}}, "limits": {"cpus": {"value": 6}}}'
RECORDING = MemoryRecording(
    of_agents=[
        RecordedAgent("n1", "h1", parse_resources("cpus:8;cpus(a):2;mem:100", of_agents=True), 0),
        RecordedAgent("n2", "h2", parse_resources("cpus:10;mem:100", of_agents=True), 0, 80),
    ],
    of_frameworks=[
        RecordedFramework("f1", "one", ("a/x",), 0, None, "p1"),
        RecordedFramework("f2", "two", ("b",), 0),
    ],
    of_tasks=[
        task("f1", "t1", "a/x", "cpus:1;mem:10", "n1", 0, 30),
        task("f2", "t2", "b", "cpus:5", "n2", 20, 70),
        task("f1", "t3", "a", "cpus(a):2", "n1", 65, None),
        task("f1", "e", "a", "cpus:1", None, 70, 80, is_executor=True),
    ],
    of_suppressions=[Suppression("f1", "a/x", False, 10, 20), Suppression("f1", "a/x", True, 20, 60)],
    of_settings=[RecordedSetting("quota", "a", QUOTA, 10, 90)],
    of_gaps=[Gap(40, 50)],
)
OPTIONS = UsageOptions(0, 100, boundaries=(60,))


@pytest.fixture
def use():
    return usage(RECORDING, CLUSTER, OPTIONS)


@pytest.fixture
def rows(use):
    return {row.key: row for row in use.rows}


def test_the_cluster_is_counted_while_it_is_seen(use):
    assert (use.whole.start, use.whole.end, use.whole.seen, use.unseen) == (0, 100, 90, 10)
    assert use.whole.total == {"cpus": 1_600_000, "mem": 16_000_000}
    assert [(step.start, step.end, step.seen) for step in use.steps] == [(0, 60, 50), (60, 100, 40)]
    assert [step.total["cpus"] for step in use.steps] == [1_000_000, 600_000]
    assert (use.cluster, use.options, use.has_imports) == (CLUSTER, OPTIONS, False)


def test_all_together_is_the_sum_of_the_rows(use):
    together = use.together
    assert together.used == {"cpus": 310_000, "mem": 300_000}
    assert together.peak == {"cpus": 7000, "mem": 10_000}
    assert (together.tasks, sorted(together.lifetimes)) == (3, [30, 50])


@pytest.mark.parametrize(
    ("key", "used", "of_steps", "peak", "tasks", "lifetimes"),
    [
        ("a", 80_000, [0, 80_000], 3000, [0, 1], []),
        ("a/x", 30_000, [30_000, 0], 1000, [1, 0], [30]),
        ("b", 200_000, [150_000, 50_000], 5000, [1, 0], [50]),
    ],
)
def test_what_a_role_used(rows, key, used, of_steps, peak, tasks, lifetimes):
    row = rows[key]
    assert (row.name, row.whole.used["cpus"], row.whole.peak["cpus"]) == (key, used, peak)
    assert [step.used.get("cpus", 0) for step in row.steps] == of_steps
    assert [step.tasks for step in row.steps] == tasks
    assert row.whole.tasks == sum(tasks)
    assert list(row.whole.lifetimes) == lifetimes
    assert set(rows) == {"a", "a/x", "b"}


def test_what_is_reserved_and_guaranteed(rows):
    a = rows["a"]
    assert [step.reserved_idle["cpus"] for step in a.steps] == [100_000, 10_000]
    assert (a.whole.reserved_idle["cpus"], a.whole.guaranteed["cpus"], a.whole.limited["cpus"]) == (
        110_000,
        280_000,
        420_000,
    )
    assert (a.subtree.used, a.subtree.reserved_idle) == ({"cpus": 110_000, "mem": 300_000}, {"cpus": 110_000})
    assert rows["a/x"].subtree.used == {"cpus": 30_000, "mem": 300_000}
    assert not rows["b"].whole.guaranteed


def test_the_dominant_shares(rows):
    assert rows["a"].whole.shares == {0.1: 5, 0.15: 10, 0.2: 20}
    assert rows["a/x"].whole.shares == {0.05: 30}
    assert rows["b"].whole.shares == {0.25: 40}
    assert rows["b"].whole.mean_share(90) == pytest.approx(0.25 * 40 / 90)
    assert [rows["b"].whole.share_at(percent, 90) for percent in (50, 60, 100)] == [0.0, 0.25, 0.25]
    assert [rows["a"].whole.share_at(percent, 90) for percent in (61, 62, 70, 100)] == [0.0, 0.1, 0.15, 0.2]
    assert [rows["b"].whole.share_at(percent, 100) for percent in (60, 61)] == [0.0, 0.25]


def test_a_role_below_its_guarantee_wants_more_or_not_or_that_is_unknown(rows):
    a = rows["a"]
    assert [step.below_guarantee for step in a.steps] == [10, 0]
    assert [step.below_guarantee_unknown for step in a.steps] == [0, 30]
    assert (a.whole.below_guarantee, a.whole.below_guarantee_unknown) == (10, 30)
    assert (rows["b"].whole.below_guarantee, rows["b"].whole.below_guarantee_unknown) == (0, 0)


def test_a_role_with_known_demand_wants_more_while_a_task_waits():
    waiting = [
        task("f1", "t5", "a", "cpus:0.5", "n1", 15, 20, asked=5),
        replace(task("f1", "t6", "a/x", "cpus:1", None, None, None), asked=55, lasts=20),
    ]
    recording = replace(RECORDING, of_tasks=[*RECORDING.of_tasks, *waiting])
    a = next(row for row in usage(recording, CLUSTER, OPTIONS).rows if row.key == "a")
    assert [step.below_guarantee for step in a.steps] == [5 + 5, 15]
    assert a.whole.below_guarantee_unknown == 0


def test_a_role_that_has_its_guarantee_wants_nothing_of_it():
    recording = replace(RECORDING, of_tasks=[task("f1", "t", "a", "cpus:2", "n2", 0, 15)])
    a = next(row for row in usage(recording, CLUSTER, OPTIONS).rows if row.key == "a")
    assert a.whole.below_guarantee == 5  # from 15 to 20: what is reserved and idle counts, too


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        ("framework", {"f1": ("one", 110_000), "f2": ("two", 200_000)}),
        ("principal", {"p1": ("p1", 110_000), "unknown": ("unknown", 200_000)}),
        ("agent", {"n1": ("h1", 100_000), "n2": ("h2", 200_000), "unknown": ("unknown", 10_000)}),
    ],
)
def test_rows_by_another_key(by, expected):
    use = usage(RECORDING, CLUSTER, UsageOptions(0, 100, by))
    assert {row.key: (row.name, row.whole.used["cpus"]) for row in use.rows} == expected
    assert all(row.subtree is None and row.steps == () for row in use.rows)
    assert not any(row.whole.reserved_idle for row in use.rows)


def test_a_task_of_a_framework_that_was_not_recorded_has_no_known_principal():
    history = MemoryRecording(of_tasks=[task("gone", "t", "a", "cpus:1", "n1", 0, 30)])
    assert [row.key for row in usage(history, CLUSTER, UsageOptions(0, 100, "principal")).rows] == ["unknown"]


def test_a_window_inside_counts_what_is_held_in_it():
    use = usage(RECORDING, CLUSTER, UsageOptions(25, 66))
    rows = {row.key: row.whole for row in use.rows}
    assert use.whole.seen == 31
    assert {key: part.used["cpus"] for key, part in rows.items()} == {"a": 2000, "a/x": 5000, "b": 155_000}
    assert list(rows["a/x"].lifetimes) == [30]


def test_a_task_that_ends_at_the_end_of_the_window_ended_in_it():
    use = usage(RECORDING, CLUSTER, UsageOptions(0, 30))
    assert list(use.together.lifetimes) == [30]


def test_parts_add_up():
    one, other = KeyUsage(), KeyUsage()
    for part, times in ((one, 1), (other, 2)):
        for amounts in (part.used, part.reserved_idle, part.guaranteed, part.limited):
            amounts["k"] = 10 * times
        part.decayed["k"] = 10.0 * times
        part.shares[0.5] = 10 * times
        part.peak.update({"k": 5 * times, str(times): 7})
        part.below_guarantee, part.below_guarantee_unknown, part.tasks = times, 3 * times, 4 * times
        part.lifetimes.append(times)
    one.add(other)
    for amounts in (one.used, one.reserved_idle, one.guaranteed, one.limited):
        assert amounts == {"k": 30}
    assert (one.shares, one.decayed) == ({0.5: 30}, {"k": 30.0})
    assert one.peak == {"k": 10, "1": 7, "2": 7}
    assert (one.below_guarantee, one.below_guarantee_unknown, one.tasks) == (3, 9, 12)
    assert list(one.lifetimes) == [1, 2]


def test_of_a_window_in_which_nothing_was_seen_the_shares_are_zero():
    part = KeyUsage()
    assert (part.mean_share(0), part.share_at(95, 0), part.lifetime_at(50)) == (0.0, 0.0, None)


def test_a_share_of_a_short_time_among_a_long_one_is_in_the_last_percentile():
    part = KeyUsage()
    part.shares[0.1] = 5
    assert [part.share_at(percent, 1000) for percent in (99, 100)] == [0.0, 0.1]
    part.shares[0.2] = 995
    assert [part.share_at(percent, 1000) for percent in (0, 1, 100)] == [0.0, 0.2, 0.2]
    part.shares[0.1], part.shares[0.2] = 995, 5
    assert [part.share_at(percent, 1000) for percent in (99, 100)] == [0.1, 0.2]


def test_each_of_four_steps_has_what_is_held_in_it():
    use = usage(RECORDING, CLUSTER, UsageOptions(0, 100, boundaries=(25, 60, 75)))
    b = next(row for row in use.rows if row.key == "b")
    assert [step.used.get("cpus", 0) for step in b.steps] == [25_000, 125_000, 50_000, 0]
    assert [step.tasks for step in b.steps] == [1, 0, 0, 0]
    assert [list(step.lifetimes) for step in b.steps] == [[], [], [50], []]
    assert [step.seen for step in use.steps] == [25, 25, 15, 25]
    assert b.whole.used["cpus"] == 200_000


def only_row(history: MemoryRecording, key: str) -> KeyUsage:
    return next(row for row in usage(history, CLUSTER, OPTIONS).rows if row.key == key).whole


def quota(cpus: float, start: int, end: int | None = None) -> RecordedSetting:
    value = json.dumps({"role": "a", "guarantees": {"cpus": {"value": cpus}}})
    return RecordedSetting("quota", "a", value, start, end)


def test_a_quota_that_another_one_follows_is_promised_until_then():
    a = only_row(MemoryRecording(of_settings=[quota(4, 0, 50), quota(2, 50, 70), quota(1, 80)]), "a")
    assert a.guaranteed == {"cpus": 4000 * 50 + 2000 * 20 + 1000 * 20}
    assert (a.shares, a.mean_share(100)) == ({}, 0.0)


@pytest.mark.parametrize("listed", [1, -1])
def test_a_role_wants_nothing_once_its_framework_has_left_it(listed):
    stays = [RecordedFramework("f", "f", roles, *span) for roles, span in (
        (("a",), (0, 20)), (("a", "b"), (20, 40)), (("a",), (60, 70)))]  # fmt: skip
    told = [Suppression("f", "a", False, 0, 100)]
    history = MemoryRecording(of_frameworks=stays[::listed], of_suppressions=told, of_settings=[quota(0.001, 0)])
    a = only_row(history, "a")
    assert (a.below_guarantee, a.below_guarantee_unknown) == (40 + 10, 0)


@pytest.mark.parametrize(
    ("end", "expected"),
    [({}, 80), ({"lasts": 15}, 15), ({"start": 30}, 10), ({"start": 30, "lasts": 50}, 10)],
    ids=["for ever", "until it gives up", "until it starts", "until it starts, whatever it would have taken"],
)
def test_how_long_a_task_waits(end, expected):
    waiting = RecordedTask("f", "t", "a", parse_resources("mem:1"), asked=20, **end)
    a = only_row(MemoryRecording(of_tasks=[waiting], of_settings=[quota(4, 0)]), "a")
    assert a.below_guarantee == expected


def test_the_decayed_use_is_the_integral_in_half_lives():
    history = MemoryRecording(
        of_tasks=[task("f", "t", "a", "cpus:1", "n", 0, 10), task("f", "u", "a", "cpus:2", "n", 5, 10),
                  task("f", "v", "b", "cpus:1", "n", 20, 30)],
        of_gaps=[Gap(0, 5)],
    )  # fmt: skip
    rows = {row.key: row.whole for row in usage(history, CLUSTER, UsageOptions(0, 30, half_life=5)).rows}
    assert rows["a"].decayed["cpus"] == pytest.approx(3000 * (2**-4 - 2**-5))
    assert rows["b"].decayed["cpus"] == pytest.approx(1000 * (1 - 2**-2))
    more = replace(history, of_tasks=[*history.of_tasks, task("f", "w", "a", "cpus:4", "n", 20, 25)])
    a = next(row.whole for row in usage(more, CLUSTER, UsageOptions(0, 30, half_life=5)).rows if row.key == "a")
    assert a.decayed["cpus"] == pytest.approx(3000 * (2**-4 - 2**-5) + 4000 * (2**-1 - 2**-2))


def test_resources_of_every_form_are_counted_beside_those_that_cannot_be():
    text = parse_resources("ports:[1-3];cpus(a):1;mem:5", of_agents=True)
    dynamic = (Reservation("DYNAMIC", "a", "p"),)
    volume = Resource("disk", 7000, dynamic, disk=Disk("v", principal="p", container_path="d"), shared=True)
    total = Resources([volume, *text, Resource("cpus", 3000, dynamic)])
    use = usage(MemoryRecording(of_agents=[RecordedAgent("n", "h", total, 0)]), CLUSTER, OPTIONS)
    assert use.whole.total == {"cpus": 400_000, "mem": 500_000, "disk": 700_000}
    assert use.rows[0].whole.reserved_idle == {"cpus": 400_000, "disk": 700_000}


def test_what_is_held_of_a_reservation_that_no_agent_shows_is_not_idle():
    history = MemoryRecording(
        of_agents=[RecordedAgent("n", "h", parse_resources("cpus:0.001"), 0)],
        of_tasks=[task("f", "t", "a", "cpus(a):0.002", None, 0, 50)],
    )
    a = only_row(history, "a")
    assert (a.reserved_idle.get("cpus", 0), a.shares) == (0, {2.0: 50})


def test_a_role_with_known_demand_wants_more_as_long_as_one_of_its_tasks_waits():
    def waits(name, asked, start):
        return RecordedTask("f", name, "a/x", parse_resources("mem:1"), asked=asked, start=start, end=90)

    history = MemoryRecording(
        of_frameworks=[RecordedFramework("f", "f", ("a/x",), 0)],
        of_tasks=[waits("t", 10, 30), waits("u", 20, 50)],
        of_settings=[quota(4, 0)],
    )
    a = only_row(history, "a")
    assert (a.below_guarantee, a.below_guarantee_unknown) == (40, 0)


@pytest.mark.parametrize(("owner", "idle"), [("a", 100 - 7), (None, 0)])
def test_a_shared_volume_is_of_the_total_and_idle_while_no_task_holds_it(owner, idle):
    by = () if owner is None else (Reservation("DYNAMIC", owner, "p"),)
    volume = Resources([Resource("disk", 5000, by, disk=Disk("v", principal="p", container_path="d"), shared=True)])
    history = MemoryRecording(
        of_agents=[RecordedAgent("n", "h", volume, 0, None), RecordedAgent("m", "h", volume, 0, 40)],
        of_tasks=[RecordedTask("f", name, "a", volume, "n", start=start, end=end) for name, start, end in (
            ("t", 2, 6), ("u", 4, 9))],
    )  # fmt: skip
    use = usage(history, CLUSTER, UsageOptions(0, 100))
    (a,) = use.rows
    assert use.whole.total == {"disk": 5000 * 140}
    assert a.whole.used == {"disk": 5000 * 7}
    assert a.whole.shares == {0.5: 7}
    assert list(a.whole.lifetimes) == [4, 5]
    assert a.whole.reserved_idle.get("disk", 0) == 5000 * (idle + 40 * (owner is not None))
