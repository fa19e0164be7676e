"""The figures of each role in the course of a replay are those that one finds second by second."""

import math
import random
from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.amounts.quantities import Quantities
from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.door.replay import (
    Played,
    RecordedDemand,
    Replay,
    ReplayDeviation,
    RoleOutcome,
    calibrate,
    fits_on,
    limit_text,
    never_fitting,
    outcomes,
    waiting_over_time,
)
from mesosctl.mesos.door.replayed_tasks import ReplayedTask
from tests.helpers.profiles import examples

SINCE, UNTIL = 1000, 1060
WINDOW = range(SINCE, UNTIL)
SIZES = [parse_resources(text) for text in ("cpus:1;mem:1024", "cpus:2;mem:512", "mem:100")]
GUARANTEES = [Quantities(), *(parse_resources(text).scalar_quantities() for text in ("cpus:1", "cpus:3;mem:512"))]
ROLES = ("a", "a/x", "ab", "b")


def _course(seed: int) -> tuple[RecordedDemand, Played]:
    """Tasks on record and in a replay, at whole seconds, some before the window or after it."""
    chosen = random.Random(seed)

    def span() -> int | None:
        return chosen.choice([None, 0, chosen.randint(1, 15), chosen.randint(1, 15), chosen.randint(1, 80)])

    tasks: list[ReplayedTask] = []
    starts: list[float | None] = []
    ends: list[float | None] = []
    never_fit = []
    for place in range(chosen.randint(0, 12)):
        asked = chosen.randint(SINCE - 10, chosen.choice([SINCE + 20, UNTIL - 1]))
        recorded, waits, lasts = span(), span(), span()
        fits = chosen.random() < 0.8
        task = ReplayedTask(
            "F",
            chosen.choice(ROLES),
            chosen.choice(SIZES),
            asked,
            span(),
            started=None if recorded is None else asked + recorded,
            start_is_known=chosen.random() < 0.7,
            ran_from_the_beginning=chosen.random() < 0.2,
            is_executor=chosen.random() < 0.2,
        )
        start = None if waits is None or not fits else min(UNTIL - 1, max(asked, SINCE) + waits)
        if not fits:
            never_fit.append(place)
        tasks.append(task)
        starts.append(start)
        ends.append(None if start is None or lasts is None else start + lasts)
    guarantees = [
        (at, {role: chosen.choice(GUARANTEES) for role in ("a", "b") if chosen.random() < 0.7})
        for at in (SINCE, SINCE + 20)
    ]
    return RecordedDemand("c", "1.11.0", SINCE, UNTIL, [], {}, tasks), Played(starts, ends, never_fit, guarantees)


_COURSES = st.integers(0, 2**32).map(_course)


def _rank(values: list[float], percent: int) -> float | None:
    return sorted(values)[max(1, math.ceil(percent * len(values) / 100)) - 1] if values else None


def _sums(tasks: Iterable[tuple[ReplayedTask, float]]) -> dict[str, float]:
    """Thousandths times seconds by resource, of tasks and their seconds."""
    sums: dict[str, float] = {}
    for task, seconds in tasks:
        for name, milli in task.resources.scalar_quantities().items():
            sums[name] = sums.get(name, 0) + milli * seconds
    return sums


def _runs(played: Played, place: int, second: float) -> bool:
    start, end = played.starts[place], played.ends[place]
    return start is not None and start <= second and (end is None or second < end)


@settings(max_examples=examples(600))
@given(_COURSES, st.sampled_from([0, 10, 30]))
def test_waits_and_what_is_served_of_each_role(course, limit):
    demand, played = course
    found = outcomes(demand, played, limit)
    for role in ROLES:
        own = [place for place, task in enumerate(demand.tasks) if task.role == role and not task.is_executor]
        fitting = [place for place in own if place not in played.never_fit]
        if not own:
            assert role not in found or found[role].tasks == 0
            continue
        of_role = found[role]
        started = [place for place in fitting if played.starts[place] is not None]
        assert (of_role.tasks, of_role.never_fit, of_role.started) == (
            len(own),
            len(own) - len(fitting),
            len(started),
        )
        waits = [
            (UNTIL if played.starts[place] is None else played.starts[place]) - demand.tasks[place].asked
            for place in fitting
            if not demand.tasks[place].ran_from_the_beginning
        ]
        assert of_role.median_wait == _rank(waits, 50)
        assert of_role.p95_wait == _rank(waits, 95)
        assert of_role.longest_wait == max(waits, default=None)
        assert of_role.above_limit == sum(wait > limit for wait in waits)
        demanded, served = [], []
        for place in fitting:
            task = demand.tasks[place]
            first = max(task.asked, SINCE)
            wanted = [
                second for second in WINDOW if first <= second < first + (99 if task.lasts is None else task.lasts)
            ]
            demanded.append((task, len(wanted)))
            served.append((task, sum(_runs(played, place, second) for second in WINDOW)))
        assert of_role.demanded == _sums(demanded)
        assert of_role.served == _sums(served)


@settings(max_examples=examples(600))
@given(_COURSES)
def test_a_role_is_short_while_a_task_below_it_waits_and_less_than_its_guarantee_is_held(course):
    demand, played = course
    found = outcomes(demand, played, 10)
    (_, early), (turn, late) = played.guarantees
    for role in ("a", "b"):
        below = [
            place
            for place, task in enumerate(demand.tasks)
            if f"{task.role}/".startswith(f"{role}/") and place not in played.never_fit
        ]
        short = 0
        for second in WINDOW:
            guarantee = (early if second < turn else late).get(role, Quantities())
            running = [(demand.tasks[place], 1) for place in below if _runs(played, place, second)]
            waits = any(
                demand.tasks[place].asked <= second and (played.starts[place] is None or second < played.starts[place])
                for place in below
            )
            held = _sums(running)
            short += waits and any(held.get(name, 0) < milli for name, milli in guarantee.items())
        assert (found[role].below_guarantee if role in found else 0) == short


@settings(max_examples=examples(600))
@given(_COURSES, st.sampled_from([1, 2, 7, 60]))
def test_how_many_tasks_wait_at_each_moment(course, points):
    demand, played = course
    found = waiting_over_time(demand, played, points)
    moments = [SINCE + point * (UNTIL - SINCE) / points for point in range(points)]
    for role in ROLES:
        waiting = [
            sum(
                task.role == role
                and not task.is_executor
                and place not in played.never_fit
                and task.asked <= moment
                and (played.starts[place] is None or moment < played.starts[place])
                for place, task in enumerate(demand.tasks)
            )
            for moment in moments
        ]
        assert found.get(role, [0] * points) == waiting
        assert (role in found) is any(waiting)


@settings(max_examples=examples(600))
@given(_COURSES, st.sampled_from([0.5, 1, 5]))
def test_how_far_a_replay_is_from_its_recording(course, interval):
    demand, played = course
    found = calibrate(demand, played, interval)
    known = [
        (task.started, played.starts[place])
        for place, task in enumerate(demand.tasks)
        if task.started is not None and task.start_is_known and not task.ran_from_the_beginning
    ]
    assert found.compared == len(known)
    assert found.off == sum(start is None or abs(start - recorded) > interval for recorded, start in known)
    differences: dict[str, float] = {}
    for role in ROLES:
        recorded, replayed = [], []
        for place, task in enumerate(demand.tasks):
            if task.role == role:
                replayed.append((task, sum(_runs(played, place, second) for second in WINDOW)))
            if task.role == role and task.started is not None:
                end = math.inf if task.lasts is None else task.started + task.lasts
                recorded.append((task, sum(task.started <= second < end for second in WINDOW)))
        before, after = _sums(recorded), _sums(replayed)
        parts = [abs(after.get(name, 0) - amount) / amount for name, amount in before.items() if amount]
        if parts:
            differences[role] = max(parts)
    assert found.worst_hours == max(differences.values(), default=0.0)
    if found.worst_role is None:
        assert not differences
    else:
        assert differences[found.worst_role] == found.worst_hours


@pytest.mark.parametrize(("start", "off"), [(1001.3, 0), (1001.4, 1), (999.3, 0), (999.2, 1)])
def test_a_start_off_by_exactly_the_interval_is_not_off(start, off):
    task = ReplayedTask("one", "web", SIZES[0], 990, 60.0, started=1000.3)
    demand = RecordedDemand("c", "1.11.0", 1000, 1100, [], {}, [task])
    assert calibrate(demand, Played([start], [start + 60], (), []), 1.0).off == off


def test_of_roles_that_differ_equally_the_first_is_named():
    tasks = [ReplayedTask("one", role, SIZES[0], 1000, 60.0, started=1000) for role in ("web", "ads")]
    demand = RecordedDemand("c", "1.11.0", 1000, 1100, [], {}, tasks)
    assert calibrate(demand, Played([1000, 1000], [1030, 1030], (), []), 1.0).worst_role == "web"


def test_nothing_compared_is_not_off():
    assert ReplayDeviation(0, 0, 0.0, None).part_off == 0.0
    assert ReplayDeviation(4, 1, 0.1, "web").distance == 0.25


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (86_400, "1d"),
        (172_800, "2d"),
        (129_600, "36h"),
        (3600, "1h"),
        (5400, "90m"),
        (60, "1m"),
        (45, "45s"),
        (90, "1m30s"),
    ],
)
def test_a_limit_is_said_as_short_as_it_can_be(seconds, text):
    assert limit_text(seconds) == text


def test_a_role_is_not_short_before_its_guarantee_was_set_or_when_it_has_all_of_it():
    task = ReplayedTask("one", "web", parse_resources("cpus:2;mem:1024"), 1000)
    other = ReplayedTask("two", "web", parse_resources("cpus:9"), 1000)
    demand = RecordedDemand("c", "1.11.0", 1000, 1100, [], {}, [task, other])
    guarantee = {"web": parse_resources("cpus:2;mem:512").scalar_quantities()}
    least = {"web": parse_resources("cpus:0.001").scalar_quantities()}
    for start, short in ((1000, 0), (1050, 10), (None, 60)):
        for one in (guarantee, least):
            found = outcomes(demand, Played([start, None], [None, None], (), [(1040, one)]), 10)
            assert found["web"].below_guarantee == short


def test_waits_are_exact_to_a_microsecond_and_one_at_the_limit_is_not_above_it():
    tasks = [ReplayedTask("one", "web", parse_resources("cpus:1"), 1000, 60.0) for _ in range(20)]
    demand = RecordedDemand("c", "1.11.0", 1000, 1100, [], {}, tasks)
    starts: list[float | None] = [*(1000 + 0.1 * place for place in range(18)), 1010, 1012.345_678_4]
    found = outcomes(demand, Played(starts, [None] * 20, (), []), 10)["web"]
    assert (found.p95_wait, found.longest_wait, found.above_limit) == (10, 12.345678, 1)


def test_a_role_without_tasks_has_a_guarantee_and_nothing_else():
    demand = RecordedDemand("c", "1.11.0", 1000, 1100, [], {}, [])
    guarantee = {"web": parse_resources("cpus:2").scalar_quantities()}
    assert outcomes(demand, Played([], [], (), [(1000, guarantee)]), 10) == {"web": RoleOutcome()}


def test_a_role_that_is_on_one_side_alone_has_no_tasks_on_the_other():
    demand = RecordedDemand("c", "1.11.0", 1000, 1100, [], {}, [])
    some, more = RoleOutcome(tasks=1), RoleOutcome(tasks=2)
    replay = Replay(demand, 10, ReplayDeviation(0, 0, 0.0, None), {"a": some, "b": some}, {"b": more, "c": more})
    assert [replay.outcome(role) for role in replay.roles] == [
        (some, RoleOutcome()),
        (some, more),
        (RoleOutcome(), more),
    ]


@pytest.mark.parametrize(("unasked", "is_known"), [(1, True), (2, False)])
def test_waits_are_unknown_if_nobody_recorded_when_many_of_those_that_came_were_asked_for(unasked, is_known):
    """What ran from the beginning, executors and what never fits say nothing about waits, however many they are."""
    size = parse_resources("cpus:1")
    tasks = [ReplayedTask("f", "web", size, 1000, asked_is_known=place >= unasked) for place in range(100)]
    tasks += [ReplayedTask("f", "web", size, 1000, ran_from_the_beginning=True)] * 100
    tasks += [ReplayedTask("f", "web", size, 1000, is_executor=True)] * 100
    tasks += [ReplayedTask("f", "web", parse_resources("cpus:99"), 1000)] * 100
    demand = RecordedDemand("c", "1.11.0", 1000, 1100, [], {}, tasks)
    starts: list[float | None] = [1000.0] * 300 + [None] * 100
    found = outcomes(demand, Played(starts, [None] * 400, range(300, 400), []), 10)
    assert (found["web"].came, found["web"].unasked) == (100, unasked)
    replay = Replay(demand, 10, ReplayDeviation(0, 0, 0.0, None), found, found)
    assert (replay.unknown is None) is is_known


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        ((0, 50), (50, 0), "without the changes, 50 tasks of web had not started"),
        ((50, 0), (30, 40), "40 tasks of web had not started"),
        ((0, 1), (1, 10), "10 tasks of web had not started"),
    ],
)
def test_the_unknown_waits_of_a_role_are_counted_where_they_are(before, after, says):
    """Tasks above the limit, and tasks of which that is unknown."""
    was, now = (
        {"web": RoleOutcome(tasks=100, started=50, above_limit=side[0], undecided=side[1])} for side in (before, after)
    )
    demand = RecordedDemand("c", "1.11.0", 1000, 1100, [], {}, [])
    replay = Replay(demand, 10, ReplayDeviation(0, 0, 0.0, None), was, now)
    assert replay.unknown is not None
    assert replay.unknown.startswith(says)


def test_a_task_that_starts_when_it_asks_waits_for_zero_seconds_not_for_minus_zero():
    asked = 1e9 + 0.3
    task = ReplayedTask("one", "web", parse_resources("cpus:1"), asked, 60.0)
    demand = RecordedDemand("c", "1.11.0", 1e9, 1e9 + 100, [], {}, [task])
    started = asked - 1e-7  # times since 1970 are no more exact than this
    of_web = outcomes(demand, Played([started], [started + 60], (), []), 3600.0)["web"]
    assert [str(of_web.median_wait), str(of_web.longest_wait)] == ["0.0", "0.0"]


@pytest.mark.parametrize(
    ("agent", "fits"),
    [
        ("cpus:2;mem:1024", True),
        ("cpus:2;mem:1023", False),
        ("cpus(web):1;cpus:1;mem:1024", True),
        ("cpus(ads):1;cpus:1;mem:1024", False),
        ("cpus:2;mem:1024;disk(web):9", True),
    ],
)
def test_a_task_fits_on_what_is_unreserved_or_reserved_for_its_role(agent, fits):
    total = parse_resources(agent)
    size = parse_resources("cpus:2;mem:1024")
    assert fits_on(total, "web", size.scalar_quantities()) is fits
    other = ReplayedTask("one", "other", parse_resources("cpus:1"), 1e9)
    task = ReplayedTask("one", "web", size, 1e9)
    totals = [parse_resources("cpus:1"), parse_resources("cpus:1"), total]
    small = ReplayedTask("one", "web", parse_resources("cpus:0.5"), 1e9)
    assert never_fitting([small, other, task, other, task], totals) == (frozenset() if fits else {2, 4})


def test_a_role_that_has_a_thousandth_less_than_its_guarantee_is_short():
    tasks = [ReplayedTask("one", "web", Resources([Resource("cpus", milli)]), 1000) for milli in (1999, 5000)]
    demand = RecordedDemand("c", "1.11.0", 1000, 1100, [], {}, tasks)
    guarantee = {"web": Quantities({"cpus": 2000})}
    found = outcomes(demand, Played([1000, None], [None, None], (), [(1000, guarantee)]), 10)
    assert found["web"].below_guarantee == 100


@pytest.mark.parametrize(
    ("ran", "lasts", "end"), [(True, 30.0, 1040.0), (True, 0.0, 1010.0), (True, None, None), (False, 30.0, None)]
)
def test_what_ran_from_the_beginning_ends_when_it_did(ran, lasts, end):
    task = ReplayedTask("F", "a", SIZES[0], 1010.0, lasts, ran_from_the_beginning=ran)
    assert task.ends == end
