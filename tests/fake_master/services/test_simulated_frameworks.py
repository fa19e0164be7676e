"""Frameworks of a cluster file: they compete inside the fake master, in virtual time."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_master.http.application import Application
from fake_master.http.request_response import Request
from fake_master.master import Master
from fake_master.sources.cluster_file import ClusterSpec, read_cluster
from fake_master.sources.simulated_frameworks import SimulatedFrameworkSpec
from fake_master.sources.simulation import simulate
from fake_master.state.clock import VirtualClock
from fake_master.state.frameworks import KnownFramework
from fake_master.state.tasks import TaskOutcome
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.amounts.quantities import Quantities
from mesosctl.mesos.errors import BadInput
from tests import EXAMPLES
from tests.helpers.cluster_files import read_cluster_file

EXAMPLE = EXAMPLES / "drf.toml"
AGENT = "cpus:4;mem:4096"


TASKS = {
    "outcome": st.sampled_from(["finished", "failed", "killed", "lost"]),
    "seconds": st.integers(0, 30),
    "stop_seconds": st.integers(0, 5),
}


@given(st.fixed_dictionaries({}, optional=TASKS))
def test_tasks_end_by_themselves_only_if_the_table_says_how_or_when(table: dict[str, Any]) -> None:
    """An empty table, or one that only says how long a task takes to end, changes nothing of that."""
    text = "".join(f"{key} = {json.dumps(value)}\n" for key, value in table.items())
    frameworks = '[[agents]]\nresources = "cpus:2"\n[[frameworks]]\nname = "f"\ntask = "cpus:1"\ntasks = 1\n'
    spec = read_cluster(f"{frameworks}[tasks]\n{text}", "x.toml")
    clock = VirtualClock(1000.0)
    master = spec.start(clock=clock)
    for _ in range(40):
        clock.sleep(1.0)
        master.advance()
    (framework,) = master.state.frameworks.values()
    wanted = f"TASK_{table.get('outcome', 'finished').upper()}"
    assert {task.state for task in framework.completed_tasks} == (
        {wanted} if {"outcome", "seconds"} & table.keys() else set()
    )


def play(*frameworks: SimulatedFrameworkSpec, seconds: float = 3.0, fate: TaskOutcome | None = None) -> Master:
    """A master after so many seconds."""
    clock = VirtualClock(1000.0)
    spec = ClusterSpec((AGENT,), "1.11", frameworks=frameworks, task_outcome=fate or TaskOutcome())
    master = spec.start(clock=clock)
    master.advance()
    clock.sleep(seconds)
    master.advance()
    return master


def resident(name: str, task: str = "cpus:1;mem:512", **more: Any) -> SimulatedFrameworkSpec:
    return SimulatedFrameworkSpec(name, (name,), parse_resources(task), **more)


def running(master: Master) -> dict[str, int]:
    return {
        framework.name: sum(not task.is_terminal for task in framework.all_tasks().values())
        for framework in master.state.frameworks.values()
    }


def test_the_example_of_the_paper() -> None:
    sharing = simulate(read_cluster_file(EXAMPLE), 100)
    assert [step.framework[-1] for step in sharing.steps] == ["2", "1", "1", "2", "1"]
    shares = [round(max(h.share for h in step.holdings if h.framework == step.framework), 3) for step in sharing.steps]
    assert shares == [0.333, 0.222, 0.444, 0.667, 0.667]
    assert sharing.tasks == {"framework 1": 3, "framework 2": 2}
    assert dict(sharing.steps[-1].allocated.items()) == {"cpus": 9000, "mem": 14 * 1024 * 1000}
    assert sharing.ended


def test_a_dry_run_stops_where_the_steps_run_out() -> None:
    sharing = simulate(read_cluster_file(EXAMPLE), 2)
    assert (len(sharing.steps), sharing.ended) == (2, False)


def test_as_many_as_fit_and_no_more_than_wanted() -> None:
    assert running(play(resident("greedy"))) == {"greedy": 4}
    assert running(play(resident("large", "cpus:3;mem:512"))) == {"large": 1}
    assert running(play(resident("modest", tasks=2))) == {"modest": 2}
    assert running(play(resident("slow", per_offer=1), seconds=1.0)) == {"slow": 2}
    assert running(play(resident("odd", tasks=3, per_offer=2))) == {"odd": 3}


def test_one_declines_and_one_holds() -> None:
    master = play(resident("no", "cpus:1", answer="decline", refuse_seconds=100.0), resident("yes", tasks=1))
    assert running(master) == {"no": 0, "yes": 1}
    holder = play(resident("hold", answer="hold"))
    assert len(holder.state.offers) == 1


def test_tasks_end_as_the_file_says_and_make_room_for_others() -> None:
    master = play(resident("f", tasks=4), seconds=25.0, fate=TaskOutcome("TASK_FAILED", 10.0))
    (framework,) = master.state.frameworks.values()
    assert framework.counts["tasks/terminal/task_failed"] == 8
    assert running(master) == {"f": 4}
    assert {task.state for task in framework.completed_tasks} == {"TASK_FAILED"}


def test_one_that_comes_later_is_not_there_before() -> None:
    spec = resident("late", tasks=1, after=2.0)
    assert running(play(spec, seconds=1.9)) == {}
    assert running(play(spec, seconds=2.5)) == {"late": 1}
    sharing = simulate(ClusterSpec((AGENT,), "1.11", frameworks=(resident("early", tasks=1), spec)), 10)
    assert [len(step.holdings) for step in sharing.steps] == [2, 2]
    assert sharing.frameworks == ("early", "late")


def test_sums_agree_with_the_tasks() -> None:
    master = play(resident("f", "cpus:0.7;mem:100"), resident("g", "cpus:0.3;mem:300"), seconds=8.0)
    (agent,) = master.state.agents.values()
    for framework in master.state.frameworks.values():
        held = parse_resources("")
        for task in framework.all_tasks().values():
            held += task.resources
        assert framework.used() == held
    everybodys = Quantities.total(framework.used().quantities() for framework in master.state.frameworks.values())
    assert agent.used.quantities() == everybodys


def test_views_tell_of_tasks() -> None:
    master = play(resident("f", tasks=2))
    application = Application(master)

    def read(path: str) -> dict[str, Any]:
        return json.loads(application.handle(Request("GET", path)).body)

    (task, _) = read("/tasks")["tasks"]
    assert (task["state"], task["role"], task["resources"]["cpus"]) == ("TASK_RUNNING", "f", 1.0)
    (framework,) = read("/frameworks")["frameworks"]
    assert framework["used_resources"]["cpus"] == 2.0
    assert len(framework["tasks"]) == 2
    (role,) = read("/roles")["roles"]
    assert role["allocated"] == {"cpus": 2.0, "mem": 1024.0}
    (agent,) = read("/state-summary")["slaves"]
    assert (agent["TASK_RUNNING"], agent["used_resources"]["cpus"]) == (2, 2.0)
    assert read("/metrics/snapshot")["master/tasks_running"] == 2.0
    assert read("/metrics/snapshot")["master/cpus_used"] == 2.0


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("[[frameworks]]\nname = 3", "frameworks[0].name"),
        ("[[frameworks]]\nname = 'f'", "frameworks[0].task"),
        ("[[frameworks]]\ntask = 'cpus'", "frameworks[0].task"),
        ("[[frameworks]]\ntask = 'ports:[1-2]'", "frameworks[0].task"),
        ("[[frameworks]]\ntask = 'cpus:1'\nanswer = 'maybe'", "frameworks[0].answer"),
        ("[[frameworks]]\ntask = 'cpus:1'\ntasks = 0", "frameworks[0].tasks"),
        ("[[frameworks]]\ntask = 'cpus:1'\nwish = 1", "frameworks[0].wish"),
        ("[[frameworks]]\ntask = 'cpus:1'\nrole = 'a'\nroles = ['b']", "frameworks[0].roles"),
        ("[[frameworks]]\ntask = 'cpus:1'\nrole = 'a b'", "frameworks[0].role"),
        ("[[frameworks]]\ntask = 'cpus:1'\nafter = -1", "frameworks[0].after"),
        ("[[frameworks]]\ntask = 'cpus:1'\nrole = 'a b'\nafter = 5", "frameworks[0].role"),
        ("frameworks = 1", "frameworks"),
        ("[tasks]\noutcome = 'lucky'", "tasks.outcome"),
        ("[tasks]\nseconds = -1", "tasks.seconds"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, text: str, field: str) -> None:
    file = tmp_path / "cluster.toml"
    file.write_text(text)
    with pytest.raises(BadInput) as raised:
        read_cluster_file(file).start()
    assert raised.value.field == field


# --- Rate limits --------------------------------------------------------------------------------------


def throttled(limit: str, *frameworks: SimulatedFrameworkSpec, seconds: float) -> Master:
    clock = VirtualClock(1000.0)
    flags = {"rate_limits": f'{{"limits": [{limit}]}}'}
    master = ClusterSpec((AGENT,) * 4, "1.11", flags, frameworks).start(clock=clock)
    for _ in range(int(seconds)):
        master.advance()
        clock.sleep(1.0)
    master.advance()
    return master


def test_calls_are_counted_under_the_principal_of_the_framework() -> None:
    master = play(resident("f", tasks=2, per_offer=1, principal="p"), resident("g", tasks=1))
    metrics = master.rate_limiting.metrics()
    # A request for two tasks; two offers accepted, each with a request for the rest; two updates of each task.
    assert metrics["frameworks/p/messages_received"] == metrics["frameworks/p/messages_processed"]
    assert metrics["frameworks/p/messages_received"] >= 6
    assert not any("None" in name for name in metrics)


def test_two_frameworks_of_one_principal_share_its_rate() -> None:
    slow = '{"principal": "p", "qps": 0.5}'
    spec = [resident(name, tasks=4, per_offer=1, refuse_seconds=0.1, principal="p") for name in ("f", "g")]
    master = throttled(slow, *spec, seconds=10)
    metrics = master.rate_limiting.metrics()
    # One at once, and one every two seconds.
    assert metrics["frameworks/p/messages_processed"] == 6
    assert metrics["frameworks/p/messages_received"] > 6


def test_a_throttled_framework_does_not_launch_more_than_it_wants() -> None:
    master = throttled('{"principal": "p", "qps": 1}', resident("f", tasks=3, per_offer=1, principal="p"), seconds=60)
    assert running(master) == {"f": 3}


def test_the_others_are_served_at_once_while_one_is_throttled() -> None:
    slow = resident("slow", tasks=4, principal="p")
    master = throttled('{"principal": "p", "qps": 0.01}', slow, resident("fast", tasks=4, principal="q"), seconds=5)
    assert running(master)["fast"] == 4
    assert running(master)["slow"] < 4


def test_a_framework_that_overflows_its_queue_is_cut_off() -> None:
    flood = resident("flood", tasks=16, per_offer=1, refuse_seconds=0.1, principal="p")
    master = throttled('{"principal": "p", "qps": 0.2, "capacity": 1}', flood, seconds=30)
    assert not any(framework.active for framework in master.state.frameworks.values())


# --- Those that want no more ------------------------------------------------------------------------


def only(master: Master) -> KnownFramework:
    (framework,) = master.state.frameworks.values()
    return framework


def test_one_that_runs_all_it_wants_suppresses_its_roles_and_declines_nothing_more() -> None:
    framework = only(play(resident("f", tasks=2), seconds=30.0))
    declined = framework.counts["offers/declined"]
    assert framework.suppressed == {"f"}
    assert declined <= 1
    assert only(play(resident("g", tasks=5), seconds=30.0)).suppressed == set()


def test_one_revives_its_roles_when_a_task_ends_but_never_those_in_which_it_wants_nothing() -> None:
    spec = SimulatedFrameworkSpec("f", ("f", "g"), parse_resources("cpus:1;mem:512"), tasks=2, suppressed=("g",))
    master = play(spec, seconds=25.0, fate=TaskOutcome("TASK_FINISHED", 10.0))
    assert only(master).counts["tasks/terminal/task_finished"] == 4
    assert running(master) == {"f": 2}
    assert {task.role for task in only(master).completed_tasks} == {"f"}


def test_tasks_that_end_as_they_start_are_launched_again_once_per_allocation_interval() -> None:
    master = play(resident("brief", tasks=1), seconds=10.0, fate=TaskOutcome("TASK_FAILED", 0.0))
    assert 10 <= len(only(master).completed_tasks) <= 12


def test_a_suppress_that_waited_for_its_permit_is_dropped_if_a_task_has_ended_meanwhile() -> None:
    clock = VirtualClock(1000.0)
    flags = {"rate_limits": '{"limits": [{"principal": "p", "qps": 0.2}]}'}
    master = ClusterSpec((AGENT,), "1.11", flags, (resident("f", tasks=1, principal="p"),)).start(clock=clock)
    framework = only(master)
    told = set()
    for second in range(100):
        master.advance()
        told.add((framework.alive, bool(framework.suppressed)))
        if framework.alive and second < 20:
            master.task_runner.kill(framework, next(iter(framework.all_tasks().values())))
        clock.sleep(1.0)
    assert (0, True) not in told
    assert (framework.alive, sorted(framework.suppressed)) == (1, ["f"])
