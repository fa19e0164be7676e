"""The fast way of a replay: it makes the same decisions as the general one, on a master."""

import random
from dataclasses import replace
from unittest import mock

import hypothesis
import pytest
from hypothesis import strategies as st

from fake_master.forecasting.replay import ReplayRun
from fake_master.replay_engine.packed_amounts import Lanes
from fake_master.replay_engine.scalar_replay import (
    ScalarReplay,
    _Bounds,
    _Client,
    _exact_steps,
    _Framework,
    _Node,
    _Order,
    _Role,
    _Shares,
)
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.cluster.agents import ClusterAgent
from mesosctl.mesos.door.replay import RecordedDemand, ReplayedAgent, ReplayedFramework
from mesosctl.mesos.door.replayed_tasks import ReplayedTask
from mesosctl.whatif.changes import parse_change
from mesosctl.whatif.played_demand import ReplayOptions, TimedChange, play

AGENTS = (
    "cpus:4;mem:8192",
    "cpus:8;mem:8192",
    "cpus:2;mem:16384",
    "cpus:8;mem:16384;gpus:4",
    "cpus:3.5;mem:10000;disk:500",
)
SIZES = [
    parse_resources(text)
    for text in ("cpus:1;mem:1024", "cpus:2;mem:4096", "cpus:4;mem:2048", "cpus:0.5", "cpus:2;gpus:1", "mem:3000")
]
ODD_SIZES = [parse_resources(text) for text in ("cpus:0.001;mem:31", "cpus:7;mem:100", "cpus:1;licences:1")]
WAITING_SIZES = [
    parse_resources(text) for text in ("cpus:1;mem:512", "cpus:3;mem:1024", "cpus:1.5;mem:3000", "cpus:4", "mem:2048")
]
CHANGES = (
    "quota:a=cpus:4",
    "quota:b=cpus:3;mem:4096",
    "quota:d=cpus:2",
    "quota:b=cpus:6;gpus:1",
    "limit:a=cpus:4",
    "limit:c=cpus:3;mem:3000",
    "weight:b=3",
    "weight:a=0.5",
)


def demand(chosen):
    """Up to five frameworks in up to four roles, of tasks for which there is mostly no room, on up to five agents."""
    since = chosen.choice([1e6, 1e6 + 0.25, 1234567.1, 1.7e9 + 0.3])
    length = chosen.choice([50, 300, 1000])
    agents = [
        ClusterAgent(f"m-S{number}", f"h{number}", f"slave({number + 1})@127.0.0.1:5051", parse_resources(text))
        for number, text in enumerate(chosen.choices(AGENTS, k=chosen.randint(1, 5)))
    ]
    roles = ["a", "b", "c", "*"][: chosen.randint(1, 4)]
    frameworks = {}
    for number in range(chosen.randint(1, 5)):
        own = tuple(chosen.sample(roles, chosen.randint(1, min(2, len(roles)))))
        gpus = ("GPU_RESOURCES",) if chosen.random() < 0.6 else ()
        name = f"f{number}"
        frameworks[name] = ReplayedFramework(name, name, own, None, (*gpus, "MULTI_ROLE", "RESERVATION_REFINEMENT"))
    grid, span = chosen.choice([1.0, 0.5, 0.1]), length * chosen.choice([0.1, 0.5, 1])
    tasks = []
    for _ in range(chosen.randint(1, 60)):
        framework = frameworks[chosen.choice(list(frameworks))]
        asked = round(chosen.uniform(0, span) / grid) * grid if chosen.random() < 0.8 else chosen.uniform(0, span)
        lasts = chosen.choice([None, 0.0, chosen.uniform(0, 60), float(chosen.randint(1, 200))])
        size = chosen.choice(SIZES if chosen.random() < 0.9 else ODD_SIZES)
        tasks.append(ReplayedTask(framework.id, chosen.choice(framework.roles), size, since + asked, lasts))
    tasks.sort(key=lambda task: task.asked)
    there = [ReplayedAgent(agent, since, None) for agent in agents]
    first_run = chosen.choice([None, since + 0.4])
    return RecordedDemand("c", "1.11.0", since, since + length, there, frameworks, tasks, first_run=first_run)


def preferring(chosen, given):
    """The same demand of tasks that mostly prefer hosts: those of one agent, of two, or of none that is there.

    Some of the first ran at the beginning.
    """
    number = chosen.randint(1, len(given.agents))
    agents = [
        one._replace(agent=replace(one.agent, hostname=f"h{place % number}")) for place, one in enumerate(given.agents)
    ]
    share = chosen.choice([0.3, 1.0])
    hosts = [f"h{place}" for place in range(number + (chosen.random() < 0.3))]
    tasks = [task._replace(host=chosen.choice(hosts)) if chosen.random() < share else task for task in given.tasks]
    ran = chosen.randint(0, 10)
    tasks[:ran] = [task._replace(asked=given.since, ran_from_the_beginning=True) for task in tasks[:ran]]
    return replace(given, agents=agents, tasks=tasks)


def joining(chosen, given):
    """The same demand of frameworks that mostly joined before they asked for anything."""
    joined = {
        name: framework._replace(
            joined=chosen.choice([None, given.since - 5, chosen.uniform(given.since, given.until)])
        )
        for name, framework in given.frameworks.items()
    }
    return replace(given, frameworks=joined)


def waiting(chosen):
    """Two or three frameworks that hold most of one or two agents, and decline what is left of them for a long time.

    Half of the times are around a power of two, where the steps between doubles grow.
    """
    length = chosen.choice([200, 500])
    since = chosen.choice([1e6, 2.0**20 - chosen.randrange(1, 100) + chosen.choice([0.0, 0.1, 0.3])])
    texts = chosen.choices(["cpus:4;mem:4096", "cpus:2;mem:8192", "cpus:6.005;mem:2048"], k=chosen.randint(1, 2))
    agents = [
        ReplayedAgent(
            ClusterAgent(f"m-S{at}", f"h{at}", f"slave({at})@127.0.0.1:5051", parse_resources(text)), since, None
        )
        for at, text in enumerate(texts, 1)
    ]
    frameworks, tasks = {}, []
    for number in range(chosen.randint(2, 3)):
        name, role = f"f{number}", chosen.choice(["a", "b"])
        frameworks[name] = ReplayedFramework(name, name, (role,), None, ("MULTI_ROLE", "RESERVATION_REFINEMENT"))
        for _ in range(chosen.randint(1, 4)):
            asked, lasts = chosen.choice([0.0, chosen.uniform(0, length / 3)]), chosen.uniform(length / 8, length)
            tasks.append(ReplayedTask(name, role, chosen.choice(WAITING_SIZES), since + asked, lasts))
    tasks.sort(key=lambda task: task.asked)
    return RecordedDemand("c", "1.11.0", since, since + length, agents, frameworks, tasks)


def played(given, words, refuse):
    changes = [TimedChange(word, parse_change(word)) for word in words]
    return play(given, changes, ReplayOptions(refuse=refuse, force=True))[0]


def on_a_master(given, words, refuse):
    with mock.patch.object(ReplayRun, "_plain", return_value=None):
        return played(given, words, refuse)


def on_the_fast_way(given, words, refuse):
    with mock.patch.object(ReplayRun, "begin", side_effect=AssertionError("this is plain")):
        return played(given, words, refuse)


def assert_alike_both_ways(chosen, given):
    """Play a demand with some changes on a master and on the fast way, and compare the courses."""
    words, refuse = chosen.sample(CHANGES, chosen.randint(0, 3)), chosen.choice([5.0, 1.0, 2.5, 7.3, 0.0])
    general, fast = on_a_master(given, words, refuse), on_the_fast_way(given, words, refuse)
    assert fast.starts == general.starts
    assert fast.ends == general.ends
    assert fast.guarantees == general.guarantees


@pytest.mark.parametrize("seed", [*range(24), 33, 1863, 2277, 2362, 3091])
def test_random_demand_starts_at_the_same_moments_as_on_a_master(seed):
    chosen = random.Random(seed)
    given = demand(chosen)
    assert_alike_both_ways(chosen, given)


@pytest.mark.parametrize("seed", range(12))
def test_frameworks_that_join_before_they_ask_are_served_as_on_a_master(seed):
    chosen = random.Random(seed)
    given = joining(chosen, demand(chosen))
    assert_alike_both_ways(chosen, given)


@pytest.mark.parametrize("seed", [*range(24), 41, 43, 52, 105])
def test_tasks_that_prefer_hosts_start_at_the_same_moments_as_on_a_master(seed):
    chosen = random.Random(seed)
    given = preferring(chosen, demand(chosen))
    assert_alike_both_ways(chosen, given)


@pytest.mark.parametrize("seed", range(12))
def test_tasks_that_wait_for_a_long_time_start_at_the_same_moments_as_on_a_master(seed):
    chosen = random.Random(seed)
    given = waiting(chosen)
    assert_alike_both_ways(chosen, given)


@pytest.mark.parametrize(
    ("owner", "name", "most"),
    [
        (_Bounds, "_work_out", 85),
        (_Client, "refused_until", 4200),
        (_Framework, "take", 440),
        (_Node, "key", 2280),
        (ScalarReplay, "_refuses_until", 1380),
        (ScalarReplay, "_run", 365),
    ],
)
def test_what_was_found_out_is_kept_until_something_changes(owner, name, most):
    """A demand of 59 tasks on three agents costs a tenth less than this."""
    given = demand(random.Random(9))
    with mock.patch.object(owner, name, autospec=True, side_effect=getattr(owner, name)) as calls:
        played(given, ("quota:a=cpus:4", "quota:b=cpus:3;mem:4096"), 5.0)
    assert most / 2 < calls.call_count < most


WAITING_A_DAY = [
    ReplayedTask("one", "a", parse_resources("cpus:4;mem:2048"), 1e6, 86_000.0),
    ReplayedTask("two", "a", parse_resources("cpus:4;mem:2048"), 1e6 + 10.3, 60.0),
    ReplayedTask("three", "b", parse_resources("cpus:2;mem:4096"), 1e6 + 20.7, 60.0),
]


@pytest.mark.parametrize(
    ("words", "refuse"), [((), 5.0), (("quota:a=cpus:5",), 5.0), (("limit:b=cpus:1",), 5.0), ((), 7.3)]
)
def test_time_in_which_the_same_offers_are_declined_costs_no_runs(words, refuse):
    frameworks = {
        task.framework_id: ReplayedFramework(
            task.framework_id, task.framework_id, (task.role,), None, ("MULTI_ROLE", "RESERVATION_REFINEMENT")
        )
        for task in WAITING_A_DAY
    }
    agents = [
        ReplayedAgent(
            ClusterAgent(f"m-S{at}", f"h{at}", f"slave({at})@127.0.0.1:5051", parse_resources(text)), 1e6, None
        )
        for at, text in enumerate(["cpus:4.5;mem:8192", "cpus:1.5;mem:4096"], 1)
    ]
    given = RecordedDemand("c", "1.11.0", 1e6, 1e6 + 90_000, agents, frameworks, WAITING_A_DAY)
    with mock.patch.object(ScalarReplay, "_run", autospec=True, side_effect=ScalarReplay._run) as runs:
        fast = played(given, words, refuse)
    assert runs.call_count < 200
    assert fast.starts == on_a_master(given, words, refuse).starts


def test_what_a_framework_declined_alone_counts_when_another_waits_too():
    tasks = [
        ReplayedTask("one", "a", parse_resources("cpus:1"), 1e6 + 0.5, 65.0),
        ReplayedTask("two", "b", parse_resources("cpus:4"), 1e6 + 1.5, 60.0),
        ReplayedTask("three", "c", parse_resources("cpus:4"), 1e6 + 60, 60.0),
    ]
    frameworks = {
        task.framework_id: ReplayedFramework(
            task.framework_id, task.framework_id, (task.role,), None, ("MULTI_ROLE", "RESERVATION_REFINEMENT")
        )
        for task in tasks
    }
    agent = ClusterAgent("m-S1", "h1", "slave(1)@127.0.0.1:5051", parse_resources("cpus:4;mem:8192"))
    given = RecordedDemand("c", "1.11.0", 1e6, 1e6 + 300, [ReplayedAgent(agent, 1e6, None)], frameworks, tasks)
    starts = on_a_master(given, (), 5.0).starts
    assert played(given, (), 5.0).starts == starts
    assert None not in starts
    assert starts[2] < starts[1], "two declined more often, so three comes first although its name is the last"


@pytest.mark.parametrize(
    "resources",
    ["cpus:4;mem:4096;ports:[31000-32000]", "cpus(web):2;cpus:2;mem:4096"],
)
def test_what_is_not_plain_is_played_on_a_master(resources):
    task = ReplayedTask("one", "a", parse_resources("cpus:1;mem:1024"), 1e6, 60.0)
    framework = ReplayedFramework("one", "one", ("a",), None, ("MULTI_ROLE", "RESERVATION_REFINEMENT"))
    agent = ClusterAgent("m-S1", "h1", "slave(1)@127.0.0.1:5051", parse_resources(resources))
    given = RecordedDemand("c", "1.11.0", 1e6, 1e6 + 90, [ReplayedAgent(agent, 1e6, None)], {"one": framework}, [task])
    with mock.patch.object(ScalarReplay, "__init__", side_effect=AssertionError("this is not plain")):
        assert played(given, (), 5.0).starts == [pytest.approx(1e6, abs=1.0)]


# --- Single rules, as a master has them -----------------------------------------------------------------


def starts_of(agents, *tasks, length=300.0, since=1e6, words=(), refuse=5.0):
    """The seconds after which tasks start: (framework, role, size, asked, lasts, any host) of each; as on a master."""
    frameworks, asked = {}, []
    for name, role, size, at, lasts, *host in tasks:
        roles = tuple(sorted({of for framework, of, *_ in tasks if framework == name}))
        frameworks[name] = ReplayedFramework(name, name, roles, None, ("MULTI_ROLE", "RESERVATION_REFINEMENT"))
        asked.append(ReplayedTask(name, role, parse_resources(size), since + at, lasts, *host))
    there = [
        ReplayedAgent(
            ClusterAgent(f"m-S{at}", f"h{at}", f"slave({at})@127.0.0.1:5051", parse_resources(text)), since, None
        )
        for at, text in enumerate(agents, 1)
    ]
    given = RecordedDemand("c", "1.11.0", since, since + length, there, frameworks, asked)
    with mock.patch.object(ReplayRun, "begin", side_effect=AssertionError("this is plain")):
        starts = list(played(given, words, refuse).starts)
    assert starts == list(on_a_master(given, words, refuse).starts)
    return [None if start is None else start - since for start in starts]


def test_two_that_take_turns_in_what_a_guarantee_leaves_are_not_left_out():
    """The first stage gives all to b every other time, so that nobody ranks the frameworks of a meanwhile."""
    since, both = 1e6, ("MULTI_ROLE", "RESERVATION_REFINEMENT")
    frameworks = {
        "f": ReplayedFramework("f", "f", ("a", "b"), None, both),
        "g": ReplayedFramework("g", "g", ("a", "c"), None, both),
    }
    rows = (
        ("f", "b", "cpus:2;gpus:1", 39.0, None),
        ("g", "c", "cpus:1;mem:1024", 58.4, 67.0),
        ("g", "c", "mem:3000", 79.0, 35.0),
        ("g", "c", "cpus:2;gpus:1", 100.0, None),
        ("g", "a", "mem:3000", 157.0, 0.0),
    )
    tasks = [ReplayedTask(name, role, parse_resources(size), since + at, lasts) for name, role, size, at, lasts in rows]
    agent = ClusterAgent("m-S1", "h1", "slave(1)@127.0.0.1:5051", parse_resources("cpus:8;mem:8192"))
    given = RecordedDemand("c", "1.11.0", since, since + 400, [ReplayedAgent(agent, since, None)], frameworks, tasks)
    words = ("quota:b=cpus:6;gpus:1",)
    with mock.patch.object(ReplayRun, "_leave_out_repetitions"):
        starts = on_a_master(given, words, 1.0).starts
    assert on_the_fast_way(given, words, 1.0).starts == starts


def test_an_agent_of_which_everything_is_held_is_offered_again_when_that_ends():
    first, second = starts_of(
        ["cpus:2;mem:64"], ("f", "a", "cpus:2;mem:64", 0, 200.0), ("f", "a", "cpus:2;mem:64", 10, 20.0)
    )
    assert first < 2
    assert 0 <= second - first - 200 <= 1


@pytest.mark.parametrize(
    ("hosts", "starts"),
    [(["h1", None], [0, 20]), ([None, "h1"], [0, 20]), (["h2", None], [21, 0]), (["h2", "h1"], [21, 0])],
)
def test_tasks_start_in_the_order_in_which_they_were_asked_for_where_they_want_to(hosts, starts):
    tasks = [("f", "a", "cpus:1", 0.5, 20.0, host) for host in hosts]
    first = starts_of(["cpus:1"], *tasks)
    assert [late - 0.5 for late in first] == pytest.approx(starts, abs=1)


def test_what_ran_from_the_beginning_ends_when_it_did_however_late_it_gets_its_place():
    frameworks, tasks = {}, []
    for name in ("f", "g", "h", "i", "j", "k"):
        frameworks[name] = ReplayedFramework(name, name, (name,), None, ("MULTI_ROLE", "RESERVATION_REFINEMENT"))
        size = parse_resources("cpus:1")
        tasks.append(ReplayedTask(name, name, size, 1e6, 30.0, started=1e6, ran_from_the_beginning=True))
    there = [ReplayedAgent(ClusterAgent("m-S1", "h1", "slave(1)@127.0.0.1:5051", parse_resources("cpus:6")), 1e6, None)]
    given = RecordedDemand("c", "1.11.0", 1e6, 1e6 + 60, there, frameworks, tasks)
    found = played(given, (), 5.0)
    assert list(found.starts) == [1e6 + late for late in range(6)]
    assert list(found.ends) == [1e6 + 30] * 6
    general = on_a_master(given, (), 5.0)
    assert (list(general.starts), list(general.ends)) == (list(found.starts), list(found.ends))


def test_a_log_whose_times_count_from_zero_begins_at_once():
    task = ("f", "a", "cpus:1", 0, 200.0)
    assert starts_of(["cpus:2;mem:64"], task, ("g", "b", "cpus:1", 0, 20.0), since=0.0)[0] == 0
    assert starts_of(["cpus:2;mem:64"], task, since=0.0, words=("quota:a=cpus:1",)) == [0]


def test_what_is_left_below_the_least_offer_is_offered_to_nobody():
    """A hundredth of a cpu, or 32 MiB, is the least that a master offers."""
    found = starts_of(["cpus:1.005;mem:10"], ("f", "a", "cpus:1", 0, 200.0), ("g", "b", "cpus:0.001", 10, 20.0))
    assert 200 <= found[1] <= 202
    assert starts_of(["cpus:1.01;mem:10"], ("f", "a", "cpus:1", 0, 200.0), ("g", "b", "cpus:0.001", 10, 20.0))[1] < 12


@pytest.mark.parametrize("asked", [299.0, 299.5, 300.0, 300.5])
def test_what_is_asked_for_at_the_end_of_the_time(asked):
    starts_of(["cpus:2;mem:64"], ("f", "a", "cpus:1", 0, None), ("f", "a", "cpus:1", asked, None))


@pytest.mark.parametrize("lasts", [298.0, 299.0, 300.0])
def test_what_ends_at_the_end_of_the_time(lasts):
    starts_of(["cpus:2;mem:64"], ("f", "a", "cpus:2", 0, lasts), ("f", "a", "cpus:1", 1, None))


# --- Where sums are exact -------------------------------------------------------------------------------


@hypothesis.given(
    st.integers(1, 40).map(lambda bits: 2.0**bits),
    st.integers(1, 10_000).map(lambda part: part / 64),
    st.integers(1, 640).map(lambda part: part / 64),
    st.integers(0, 640).map(lambda part: part / 64),
)
def test_a_step_is_added_exactly_up_to_the_next_power_of_two(power, before, step, beyond):
    start = power - before
    hypothesis.assume(start >= power / 2)
    steps = _exact_steps(start, step, beyond)
    assert steps <= 0 or start + steps * step + beyond < power
    assert start + (steps + 2) * step + beyond >= power


@pytest.mark.parametrize(("start", "step"), [(1e6, 0.1), (1e6 + 0.3, 1 / 3), (2.0**52, 0.5), (2.0**53, 1.0)])
def test_a_step_between_two_doubles_is_never_added_exactly(start, step):
    assert _exact_steps(start, step) == 0


# --- What a client refuses ------------------------------------------------------------------------------

LANES = Lanes(["cpus", "mem"], 8)
PARTS = st.tuples(st.integers(0, 4), st.integers(0, 4)).map(
    lambda part: LANES.packed({"cpus": part[0], "mem": part[1]})
)


def client():
    shares = _Shares(LANES, [1.0, 1.0])
    framework = mock.Mock()
    framework.name = "f"
    role = _Role("a", _Order(), 1.0, shares)
    return _Client(framework, role, {0}, mock.Mock(), LANES.guards)


@hypothesis.given(st.lists(st.tuples(st.integers(0, 3), PARTS), max_size=8), st.integers(0, 12), PARTS)
def test_a_part_is_refused_until_the_last_filter_that_covers_it_ends(refused, later, part):
    one, now, filters = client(), 10, []
    for passed, declined in refused:
        now += passed
        one.refuse(0, declined, now + 5, now)
        filters.append((now + 5, declined))
    over = now + later
    covering = [end for end, declined in filters if end >= over and LANES.contain(declined, part)]
    assert one.refused_until(0, part, over) == max(covering, default=0)
    assert one.refused_until(1, part, over) == 0


def test_filters_that_have_ended_or_that_a_later_one_covers_are_forgotten():
    small, large, other = (LANES.packed(part) for part in ({"cpus": 1}, {"cpus": 2}, {"mem": 4}))
    one = client()
    for now, part in enumerate([small, large, other, other, small]):
        one.refuse(0, part, now + 50, now)
    assert len(one.filters[0]) == 3
    one.refuse(0, large, 200, 150)
    assert len(one.filters[0]) == 1


def test_what_is_free_goes_to_others_too_when_one_revives():
    """One asks for more than there is.  Without that, another one asks first, which has been offered less often."""
    revives = ("h", "d", "cpus:2", 10.4, None)
    tasks = [
        *(("g", "c", "mem:10", 0, 1.0), ("h", "d", "mem:10", 0, None), ("e", "a", "mem:10", 0, 1.0)),
        ("f", "b", "cpus:1", 2, 8.2),
        ("g", "c", "cpus:1", 5, None),
        ("e", "a", "cpus:1", 10.6, None),
    ]
    waits, late = starts_of(["cpus:1;mem:64"], *tasks, revives)[-3:-1]
    assert (waits, late) == (pytest.approx(10.4), None)
    waits, late = starts_of(["cpus:1;mem:64"], *tasks)[-2:]
    assert (waits, late) == (None, pytest.approx(10.6))


def test_a_task_in_one_of_several_roles_starts_at_once_though_an_agent_goes_to_another_one_first():
    agents, rest = ["cpus:4;mem:64"] * 3, [("f", "a", "cpus:1", 200.0, None), ("f", "c", "cpus:1", 200.0, None)]
    start = starts_of(agents, ("f", "b", "cpus:1", 0, None), ("f", "b", "cpus:1", 10.3, None), *rest)
    assert start[1] == pytest.approx(10.3)


def test_time_in_which_nobody_wants_anything_costs_no_runs():
    with mock.patch.object(ScalarReplay, "_run", autospec=True, side_effect=ScalarReplay._run) as runs:
        starts_of(["cpus:2;mem:64"], *(("f", "a", "cpus:0.1", at, 20.0) for at in range(0, 300, 30)))
    assert runs.call_count < 20, "two for each task: when it is asked for, and the next allocation"


@pytest.mark.parametrize(("mem", "first"), [(14_997, 1), (15_003, 0)])
def test_thousandths_of_a_cpu_count_in_a_share(mem, first):
    """One holds 1.5 of 8 cpus, the other as large a part of the memory, but for a few of 80,000 MiB."""
    found = starts_of(
        ["cpus:8;mem:80000"],
        ("f", "a", "cpus:1.5", 0, None),
        ("g", "b", f"mem:{mem}", 0, None),
        ("h", "c", "cpus:6.5", 2, 100.0),
        ("f", "a", "cpus:6.5", 50, 10.0),
        ("g", "b", "cpus:6.5", 50, 10.0),
    )
    assert 101 <= found[3 + first] <= 104
    assert found[4 - first] > 110


# --- What costs nothing ---------------------------------------------------------------------------------


def calls_of(owner, name, *given, **options):
    """The number of calls of a method while these tasks are played."""
    with mock.patch.object(owner, name, autospec=True, side_effect=getattr(owner, name)) as calls:
        starts_of(*given, **options)
    return calls.call_count


def test_one_role_of_one_framework_is_not_ordered():
    """The framework of the other role wants nothing any more."""
    tasks = [("f", "a", "cpus:1", 0, None), *(("g", "b", "cpus:1", at, 20.0) for at in (50, 55, 60))]
    assert calls_of(_Node, "key", ["cpus:2;mem:64"], *tasks) == 0
    assert calls_of(_Node, "key", ["cpus:2;mem:64"], *tasks, ("f", "a", "cpus:1", 55, None)) > 0


def test_while_everything_is_held_nothing_runs():
    """There are no filters, the ends of which would be a reason to run."""
    tasks = [("f", "a", "cpus:2;mem:64", 0, 280.0), ("g", "b", "cpus:1", 10, 10.0)]
    assert calls_of(ScalarReplay, "_run", ["cpus:2;mem:64"], *tasks, refuse=0.0) < 10


def test_where_a_guarantee_keeps_everything_nobody_is_asked():
    """The role that has it has no framework."""
    words = ("quota:d=cpus:2;mem:64",)
    assert calls_of(ScalarReplay, "_offer_fairly", ["cpus:2;mem:64"], ("f", "a", "cpus:1", 0, None), words=words) == 0


@pytest.mark.parametrize(("every", "is_worth_it"), [(5, False), (50, True)])
def test_repetitions_are_looked_for_where_filters_end_twice_before_anything_else_happens(every, is_worth_it):
    tasks = [("f", "a", "cpus:3", at, None) for at in range(0, 301, every)]
    assert (calls_of(ScalarReplay, "_leave_out_repetitions", ["cpus:2;mem:64"], *tasks) > 0) is is_worth_it
