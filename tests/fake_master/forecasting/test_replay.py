"""A replay on a master of its own: agents that come and go, tasks that are lost with them, and when things happen."""

from functools import partial
from itertools import pairwise
from unittest import mock

import pytest

from fake_master.allocator.hierarchical.recurrence import Recurrence
from fake_master.forecasting.replay import ReplayRun
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.cluster.agents import ClusterAgent
from mesosctl.mesos.cluster.snapshot import ClusterSnapshot
from mesosctl.mesos.door.replay import RecordedDemand, ReplayedAgent, ReplayedFramework
from mesosctl.mesos.door.replayed_tasks import ReplayedTask
from mesosctl.whatif.changes import LoseAgents, parse_change
from mesosctl.whatif.played_demand import ReplayOptions, TimedChange, play

SINCE = 1e6
UNTIL = SINCE + 600
SIZE = parse_resources("cpus:2;mem:1024")
LARGE = parse_resources("cpus:8;mem:1024")
CAPABILITIES = ("MULTI_ROLE", "RESERVATION_REFINEMENT")


def agent(number, text="cpus:2;mem:1024", start=SINCE, end=None):
    """An agent, and when it is there."""
    name = f"h{number}"
    return ReplayedAgent(
        ClusterAgent(f"m-S{number}", name, f"slave({number})@{name}:5051", parse_resources(text)), start, end
    )


def task(asked=0.0, lasts=None, size=SIZE, framework="f", role="a", host=None):
    """A task, asked for so many seconds after the beginning."""
    return ReplayedTask(framework, role, size, SINCE + asked, lasts, host)


def demand(agents, tasks, until=UNTIL, **more):
    frameworks = {one.framework_id: (one.framework_id, one.role) for one in tasks}
    known = {name: ReplayedFramework(name, name, (role,), None, CAPABILITIES) for name, role in frameworks.values()}
    return RecordedDemand("c", "1.11.0", SINCE, until, agents, known, tasks, **more)


def played(given, *changes, **options):
    return play(given, changes, ReplayOptions(force=True, **options))[0]


def seconds(times):
    """Whole seconds after the beginning."""
    return [None if time is None else round(time - SINCE) for time in times]


def within_one_run(start, moment):
    """Whether a task starts at a moment, or with the next allocation."""
    return moment <= start - SINCE <= moment + 1


# --- Agents that come and go --------------------------------------------------------------------------


def test_what_waits_for_an_agent_starts_when_it_comes():
    """A small task finds the first agent, and a large one waits for another."""
    given = demand([agent(1), agent(2, "cpus:8;mem:4096", start=SINCE + 300)], [task(), task(size=LARGE)])
    small, large = played(given).starts
    assert within_one_run(small, 0)
    assert within_one_run(large, 300)


def test_an_agent_that_comes_has_what_it_had_on_record_and_no_more():
    given = demand([agent(1), agent(2, start=SINCE + 300)], [task(), task(), task()])
    starts = played(given).starts
    assert within_one_run(starts[0], 0)
    assert within_one_run(starts[1], 300)
    assert starts[2] is None


def test_agents_that_are_there_from_the_beginning_are_there_once():
    given = demand([agent(1), agent(2), agent(3, end=SINCE + 500)], [task() for _ in range(4)])
    assert [start is None for start in played(given).starts] == [False, False, False, True]


def test_an_agent_that_ends_takes_its_tasks_along():
    """One task has ended by then, one is lost, one would have ended later, and what comes after waits in vain."""
    large = agent(1, "cpus:8;mem:8192", end=SINCE + 300)
    given = demand([large], [task(lasts=60.0), task(), task(lasts=590.0), task(320)])
    found = played(given)
    assert [start is None for start in found.starts] == [False, False, False, True]
    assert found.ends[0] == found.starts[0] + 60
    assert seconds(found.ends[1:]) == [300, 300, None]


def test_only_the_tasks_of_the_agent_that_ends_are_lost():
    given = demand([agent(1, end=SINCE + 300), agent(2, "cpus:4;mem:4096")], [task(), task(), task()])
    found = played(given)
    assert None not in found.starts
    assert sorted(seconds(found.ends), key=str) == [300, None, None]


@pytest.mark.parametrize(("end", "lost"), [(UNTIL - 1, True), (UNTIL, False), (UNTIL + 60, False), (None, False)])
def test_an_agent_that_ends_with_the_recording_or_later_loses_nothing(end, lost):
    with mock.patch.object(ReplayRun, "_plain", return_value=None):
        found = played(demand([agent(1, end=end)], [task()]))
    assert found.ends == [end if lost else None]


def test_an_agent_that_a_change_has_taken_away_does_not_end_again():
    given = demand([agent(1, end=SINCE + 300), agent(2)], [task(), task(), task(400)])
    lose = TimedChange("agents lost: h1", LoseAgents(("h1",)), SINCE + 100)
    found = played(given, lose)
    assert sorted(seconds(found.ends[:2]), key=str) == [100, None]
    assert found.starts[2] is None


def test_what_is_left_of_a_cluster_as_it_is_and_where_tasks_run_is_told():
    agents = [agent(1), agent(2)]
    snapshot = ClusterSnapshot("1.11.0", SINCE, agents=tuple(one.agent for one in agents))
    given = demand(agents, [task(host="h2")], snapshot=snapshot)
    found = played(given, TimedChange("agents lost: h1", LoseAgents(("h1",)), SINCE + 100))
    assert found.left_agents == {"m-S2"}
    assert found.added_agents == ()
    assert [(held, taken.scalar_quantities()["cpus"]) for held, taken in found.held.values()] == [("m-S2", 2000)]


# --- What is asked for, and when ----------------------------------------------------------------------


@pytest.mark.parametrize("host", ["h1", "h2"])
def test_a_task_runs_on_the_host_on_which_it_ran_on_record_if_that_is_free(host):
    """Of two equal agents one ends, and the task that ran there with it."""
    given = demand([agent(1, end=SINCE + 300), agent(2)], [task(0.5, host=host)])
    assert seconds(played(given).ends) == [300 if host == "h1" else None]


def test_what_ran_at_the_beginning_takes_its_place_where_it_ran_however_many_share_the_agents():
    """Of two agents, each with tasks of four frameworks: one is offered to one framework after the other."""
    ran = [
        task(0, 100, parse_resources("cpus:0.5"), f"f{place}", f"r{place}", f"h{place % 2 + 1}")._replace(
            started=SINCE, ran_from_the_beginning=True
        )
        for place in range(8)
    ]
    given = demand([agent(1, end=SINCE + 50), agent(2)], ran)
    found = played(given)
    assert seconds(found.ends) == [50, 100] * 4
    assert max(found.starts) - SINCE < 10


def test_a_host_on_which_a_task_ran_on_record_is_offered_as_soon_as_it_asks():
    given = demand([agent(1), agent(2), agent(3)], [task(0, host="h2"), task(0.5, host="h3"), task(0.6, host="h9")])
    assert [round(start - SINCE, 3) for start in played(given).starts] == [0, 0.5, 1.601]


def test_a_framework_without_a_name_is_known_by_its_id():
    given = demand([agent(1)], [task()])
    given.frameworks["f"] = given.frameworks["f"]._replace(name="")
    assert None not in played(given).starts


@pytest.mark.parametrize("can", [True, False])
def test_a_framework_has_the_capabilities_that_it_had_on_record(can):
    """Without GPU_RESOURCES, an agent with gpus is not offered."""
    given = demand([agent(1, "cpus:2;mem:1024;gpus:1")], [task()])
    if can:
        given.frameworks["f"] = given.frameworks["f"]._replace(capabilities=(*CAPABILITIES, "GPU_RESOURCES"))
    assert (None not in played(given).starts) is can


@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize(("first_run", "part"), [(SINCE + 0.25, 0.25), (SINCE + 7.5, 0.5), (SINCE - 2.5, 0.5)])
def test_allocations_run_at_the_recorded_moments(fast, first_run, part):
    """A task that is asked for while the agent is held starts with the first allocation after that."""
    given = demand([agent(1)], [task(0, 60.1), task(0.9, 60.1)], first_run=first_run)
    if fast:
        starts = played(given).starts
    else:
        with mock.patch.object(ReplayRun, "_plain", return_value=None):
            starts = played(given).starts
    assert (starts[1] - SINCE) % 1 == part


@pytest.mark.parametrize("fast", [True, False])
def test_progress_is_told_up_to_all_of_it(fast):
    told: list[float] = []
    given = demand([agent(1), *([] if fast else [agent(2, end=SINCE + 300)])], [task(0, 60.0), task(599.5)])
    play(given, (), ReplayOptions(), told.append)
    assert all(before <= after for before, after in pairwise(told))
    assert all(0 <= part <= 1 for part in told)
    assert told[-1] > 0.99
    assert fast or len(told) >= 200


def test_guarantees_are_told_from_the_moment_of_each_change_on():
    given = demand([agent(1, "cpus:8;mem:8192")], [task()])
    change = partial(TimedChange, "quota")
    found = played(given, change(parse_change("quota:a=cpus:2"), SINCE + 100))
    assert [(at - SINCE, sorted(roles)) for at, roles in found.guarantees] == [(0, []), (100, ["a"])]
    assert found.guarantees[1][1]["a"]["cpus"] == 2000


@pytest.mark.parametrize("refuse", [5.0, 30.0])
def test_repetitions_are_looked_for_only_where_filters_can_end(refuse):
    """Nothing happens for ten minutes, and the same offers are declined: the master is not asked for all of it."""
    tasks = [task(), task(1, framework="g", role="b"), task(2)]
    given = demand([agent(1, "cpus:3;mem:2048"), agent(2, "cpus:1;mem:4096", end=SINCE + 590)], tasks)
    with mock.patch.object(Recurrence, "repeat", autospec=True, side_effect=Recurrence.repeat) as repeated:
        found = played(given, refuse=refuse)
    assert repeated.call_count > 0
    with mock.patch.object(Recurrence, "repeat", return_value=False):
        assert played(given, refuse=refuse).starts == found.starts
