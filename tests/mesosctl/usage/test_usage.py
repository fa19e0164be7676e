"""The laws of usage, on random histories, against a count of what is held in each microsecond."""

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
from mesosctl.usage.calculation import By, UsageOptions, usage
from tests.helpers.profiles import examples
from tests.mesosctl.history.memory import CLUSTER, MemoryRecording

END = 24
"""Microseconds of a random history."""
ROLES = ("a", "a/x", "b")
FRAMEWORKS = {"f1": "p1", "f2": "p1", "f3": "p2"}
times = st.integers(0, END)
spans = st.tuples(times, times).map(sorted).filter(lambda span: span[0] < span[1])
held = st.sampled_from(
    [
        parse_resources(text, of_agents=True)
        for text in ("cpus:1;mem:2", "cpus:0.001", "cpus:3", "gpus:0.5;mem:1", "mem:7;ports:[1-3]", "cpus(b):1;mem:1")
    ]
)


@st.composite
def tasks(draw):
    start, end = draw(spans)
    return RecordedTask(
        draw(st.sampled_from(sorted(FRAMEWORKS))), f"t{draw(times)}", draw(st.sampled_from(ROLES)), draw(held),
        draw(st.sampled_from(["n1", "n2", None])), start=start, end=draw(st.sampled_from([end, end, None])),
        is_executor=draw(st.booleans()),
    )  # fmt: skip


@st.composite
def agents(draw):
    start, end = draw(spans)
    total = parse_resources(draw(st.sampled_from(["cpus:8;mem:16", "cpus:4;mem:64;gpus:2", "cpus:2;cpus(b):3;mem:9"])))
    return RecordedAgent(draw(st.sampled_from(["n1", "n2"])), "host", total, start, draw(st.sampled_from([end, None])))


@st.composite
def histories(draw):
    some = st.lists
    quota = '{"role": "b", "guarantees": {"cpus": {"value": 2}}, "limits": {"cpus": {"value": 5}}}'
    return MemoryRecording(
        of_agents=draw(some(agents(), max_size=4)),
        of_frameworks=[RecordedFramework(name, name, ROLES, 0, None, of) for name, of in FRAMEWORKS.items()],
        of_tasks=draw(some(tasks(), max_size=12)),
        of_gaps=[Gap(*span) for span in draw(some(spans, max_size=3))],
        of_settings=[RecordedSetting("quota", "b", quota, *span) for span in draw(some(spans, max_size=1))],
        of_suppressions=[
            Suppression(framework, "b", draw(st.booleans()), *draw(spans)) for framework in draw(some(
                st.sampled_from(sorted(FRAMEWORKS)), unique=True, max_size=3))
        ],
    )  # fmt: skip


KEYS: dict[By, Callable[[RecordedTask], str]] = {
    "role": lambda task: task.role,
    "framework": lambda task: task.framework_id,
    "principal": lambda task: FRAMEWORKS[task.framework_id],
    "agent": lambda task: task.agent_id or "unknown",
}


def holds(row, at):
    return row.start <= at and (row.end is None or at < row.end)


class Counted:
    """The resources that are held, microsecond by microsecond."""

    def __init__(self, history, options):
        self.used: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.peak: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.shares: defaultdict[str, list[float]] = defaultdict(list)
        self.total: Counter[str] = Counter()
        self.seen = 0
        self.below = self.below_unknown = 0
        key = KEYS[options.by]
        for at in range(options.since, options.until):
            if any(holds(gap, at) for gap in history.of_gaps):
                continue
            self.seen += 1
            total: Counter[str] = Counter()
            for agent in history.of_agents:
                if holds(agent, at):
                    total.update(agent.total.scalar_quantities())
            self.total.update(total)
            now: defaultdict[str, Counter[str]] = defaultdict(Counter)
            for task in history.of_tasks:
                if holds(task, at):
                    now[key(task)].update(task.resources.scalar_quantities())
            for one, held_now in now.items():
                self.used[one].update(held_now)
                for name, amount in held_now.items():
                    self.peak[one][name] = max(amount, self.peak[one][name])
                share = max((amount / total[name] for name, amount in held_now.items() if total[name]), default=0.0)
                self.shares[one].append(share)
            self._judge(history, at, now)
        self.lifetimes: defaultdict[str, list[int]] = defaultdict(list)
        for task in history.of_tasks:
            if task.end is not None and options.since < task.end <= options.until and not task.is_executor:
                self.lifetimes[key(task)].append(task.end - task.start)

    def _judge(self, history, at, now):
        if not any(holds(one, at) for one in history.of_settings):
            return
        reserved = sum(
            entry.value for agent in history.of_agents if holds(agent, at) for entry in agent.total if entry.role == "b"
        )
        taken = sum(
            entry.value for task in history.of_tasks if holds(task, at) for entry in task.resources if entry.role == "b"
        )
        if now["b"]["cpus"] + reserved - taken >= 2000:
            return
        told = {one.framework_id: one.suppressed for one in history.of_suppressions if holds(one, at)}
        wishes = [told.get(framework) for framework in FRAMEWORKS]
        if False in wishes:
            self.below += 1
        elif None in wishes:
            self.below_unknown += 1


@settings(max_examples=examples(150))
@given(histories(), spans, st.sampled_from(sorted(KEYS)), st.lists(times, unique=True, max_size=3))
def test_usage_is_what_is_held_in_each_microsecond(history, window, by, edges):
    since, until = window
    options = UsageOptions(since, until, by, tuple(sorted(edge for edge in edges if since < edge < until)))
    use, counted = usage(history, CLUSTER, options), Counted(history, options)
    assert use.whole.seen == counted.seen == sum(step.seen for step in use.steps)
    assert use.whole.total == {name: value for name, value in counted.total.items() if value}
    for row in use.rows:
        whole = row.whole
        assert {name: value for name, value in whole.used.items() if value} == dict(counted.used[row.key])
        assert whole.peak == dict(counted.peak[row.key])
        shares = sorted([*counted.shares[row.key], *[0.0] * (counted.seen - len(counted.shares[row.key]))])
        if shares:
            assert whole.mean_share(counted.seen) == pytest.approx(sum(shares) / len(shares))
            rank = -(-95 * len(shares) // 100)
            assert whole.share_at(95, counted.seen) == shares[rank - 1]
        assert sorted(whole.lifetimes) == sorted(counted.lifetimes[row.key])
        parts: Counter[str] = Counter()
        for part in row.steps:
            parts.update(part.used)
        assert not row.steps or parts == Counter(whole.used)
        if row.key == "b" and by == "role":
            assert (whole.below_guarantee, whole.below_guarantee_unknown) == (counted.below, counted.below_unknown)
    assert {row.key for row in use.rows} >= set(counted.used)


@settings(max_examples=examples(60))
@given(histories(), spans)
def test_the_sums_over_roles_agents_and_the_cluster_are_equal_to_the_last_unit(history, window):
    sums = []
    for by in KEYS:
        use = usage(history, CLUSTER, UsageOptions(window[0], window[1], by))
        over_rows: Counter[str] = Counter()
        for row in use.rows:
            over_rows.update(row.whole.used)
        assert over_rows == Counter(use.together.used)
        sums.append(over_rows)
        assert sum(row.whole.tasks for row in use.rows) == use.together.tasks
    assert all(one == sums[0] for one in sums)


def test_a_shared_volume_counts_once_while_anybody_holds_it():
    volume = Resource(
        "disk",
        5000,
        (Reservation("DYNAMIC", "a", "p"),),
        disk=Disk("v", principal="p", container_path="d"),
        shared=True,
    )

    def task(name, framework, start, end):
        return RecordedTask(framework, name, "a", Resources([volume]), "n1", start=start, end=end)

    history = MemoryRecording(of_tasks=[task("t1", "f1", 0, 6), task("t2", "f2", 2, 9), task("t3", "f1", 12, 14)])
    use = usage(history, CLUSTER, UsageOptions(0, 20, "framework"))
    assert {row.key: row.whole.used["disk"] for row in use.rows} == {"f1": (6 + 2) * 5000, "f2": 3 * 5000}
    assert use.together.used["disk"] == 11 * 5000


def test_reserved_and_idle_is_what_its_tasks_do_not_use_of_it():
    agent = RecordedAgent("n1", "h", parse_resources("cpus(a):4;cpus:8"), 0)
    task = RecordedTask("f1", "t", "a", parse_resources("cpus(a):3;cpus:1"), "n1", start=2, end=5)
    use = usage(MemoryRecording(of_agents=[agent], of_tasks=[task]), CLUSTER, UsageOptions(0, 10))
    (row,) = use.rows
    assert row.whole.reserved_idle["cpus"] == 4000 * 7 + 1000 * 3
    assert row.whole.used["cpus"] == 4000 * 3


def test_a_role_has_what_those_below_it_hold_beside_its_own():
    history = MemoryRecording(
        of_tasks=[
            RecordedTask("f", "t", "a/x", parse_resources("cpus:1"), start=0, end=4),
            RecordedTask("f", "u", "a", parse_resources("cpus:2"), start=0, end=1),
        ]
    )
    rows = {row.key: row for row in usage(history, CLUSTER, UsageOptions(0, 10)).rows}
    assert rows["a"].whole.used["cpus"] == 2000
    assert rows["a"].subtree is not None
    assert rows["a"].subtree.used == {"cpus": 6000}


def test_the_decayed_share_halves_with_each_half_life():
    def task(framework, start, end):
        return RecordedTask(framework, "t", framework, parse_resources("cpus:1"), start=start, end=end)

    history = MemoryRecording(of_tasks=[task("early", 0, 10), task("late", 20, 30)])
    use = usage(history, CLUSTER, UsageOptions(0, 30, "role", half_life=10))
    decayed = {row.key: row.whole.decayed["cpus"] for row in use.rows}
    assert Fraction(decayed["late"] / decayed["early"]).limit_denominator(1000) == 4


def test_lifetimes_are_of_tasks_that_ended_in_the_window():
    history = MemoryRecording(
        of_tasks=[
            RecordedTask("f", f"t{end}", "a", parse_resources("cpus:1"), start=0, end=end)
            for end in (2, 4, 6, 50, None)
        ]
    )
    (row,) = usage(history, CLUSTER, UsageOptions(1, 20)).rows
    assert row.whole.tasks == 5
    assert (row.whole.lifetime_at(50), row.whole.lifetime_at(95)) == (4, 6)


@pytest.mark.parametrize(("since", "until", "ids"), [(0, 5, "a"), (5, 9, "bc"), (9, 20, "d"), (0, 20, "abcd")])
def test_a_task_without_hours_counts_in_the_one_window_in_which_it_is(since, until, ids):
    at = {"a": 0, "b": 5, "c": 5, "d": 20}
    held = parse_resources("cpus:1")
    of_tasks = [RecordedTask("f", one, "a", held, start=moment, end=moment) for one, moment in at.items()]
    cluster = replace(CLUSTER, last_seen=20)
    (row,) = usage(MemoryRecording(of_tasks=of_tasks), cluster, UsageOptions(since, until)).rows
    assert (row.whole.tasks, len(row.whole.lifetimes), dict(row.whole.used)) == (len(ids), len(ids), {})


@pytest.mark.parametrize(("since", "until"), [(0, 20), (0, 6), (6, 20), (9, 20)])
def test_a_task_that_came_back_with_its_agent_counts_once_in_each_window(since, until):
    first = RecordedTask("f", "t", "a", parse_resources("cpus:1"), "n1", start=0, end=5, state="TASK_UNREACHABLE")
    again = replace(first, start=8, end=20, run=1, state="TASK_FINISHED")
    (row,) = usage(MemoryRecording(of_tasks=[first, again]), CLUSTER, UsageOptions(since, until)).rows
    assert row.whole.tasks == 1
