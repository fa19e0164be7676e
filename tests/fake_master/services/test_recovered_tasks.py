"""Tasks over a restart of the fake master: what the agents bring to the next leader, in virtual time."""

from dataclasses import replace
from pathlib import Path

import pytest

from fake_master.sources.agent_tables import AgentSpec
from fake_master.sources.simulated_frameworks import SimulatedFrameworkSpec
from fake_master.state.agents import Absence
from fake_master.state.tasks import TaskOutcome
from mesosctl.mesos.amounts.notation import parse_resources
from tests.helpers.lab import AGENT, Scheduler, lasting

PATIENCE = 600.0
"""Seconds until an agent that is not back counts as unreachable."""
KILLED = pytest.mark.parametrize("killed", [False, True], ids=["ended", "killed"])


@KILLED
def test_what_ran_runs_on(tmp_path: Path, killed: bool) -> None:
    with lasting(tmp_path) as here:
        scheduler = Scheduler(here)
        scheduler.launch("a", "b")
        here.restart(killed=killed)
        assert here.tasks() == {"a": "TASK_RUNNING", "b": "TASK_RUNNING"}
        assert (here.used(), here.framework()["used_resources"]["cpus"]) == (2.0, 2.0)
        scheduler.subscribe()
        assert sorted(scheduler.acknowledge()) == [
            (task, state) for task in "ab" for state in ("TASK_RUNNING", "TASK_STARTING")
        ]
        assert scheduler.offered() == 2.0


def test_updates_that_were_acknowledged_are_not_told_again(tmp_path: Path) -> None:
    with lasting(tmp_path) as here:
        scheduler = Scheduler(here)
        scheduler.run("a")
        here.restart()
        scheduler.subscribe()
        here.wait(10_000)
        assert scheduler.told() == []


def test_an_acknowledgement_is_kept_a_moment_later_even_if_nothing_else_is(tmp_path: Path) -> None:
    with lasting(tmp_path) as here:
        scheduler = Scheduler(here)
        scheduler.run("a")
        here.wait(5)
        here.restart(killed=True)
        scheduler.subscribe()
        assert scheduler.told() == []


def test_the_next_update_follows_the_one_that_was_told_again(tmp_path: Path) -> None:
    with lasting(tmp_path) as here:
        scheduler = Scheduler(here)
        scheduler.launch("a")
        here.restart(killed=True)
        scheduler.subscribe()
        assert scheduler.told() == [("a", "TASK_STARTING")]
        # Somebody new listens: the agent does not wait for its next attempt.
        scheduler.subscribe()
        assert scheduler.acknowledge() == [("a", "TASK_STARTING"), ("a", "TASK_RUNNING")]
        here.wait(10_000)
        assert scheduler.told() == []


@KILLED
def test_an_end_that_was_not_acknowledged_is_told_again_and_holds_nothing(tmp_path: Path, killed: bool) -> None:
    with lasting(tmp_path) as here:
        scheduler = Scheduler(here)
        scheduler.run("a")
        scheduler.ask("KILL", task_id={"value": "a"})
        here.restart(killed=killed)
        assert (here.tasks(), here.used()) == ({"a": "TASK_KILLED"}, 0.0)
        scheduler.subscribe()
        assert scheduler.acknowledge() == [("a", "TASK_KILLED")]
        here.restart()
        assert here.frameworks() == []


@pytest.mark.parametrize(("down", "left"), [(0.0, 60.0), (30.0, 30.0), (500.0, 0.0)])
def test_tasks_run_on_from_where_they_were(tmp_path: Path, down: float, left: float) -> None:
    with lasting(tmp_path, task_outcome=TaskOutcome("TASK_FINISHED", 100.0)) as here:
        scheduler = Scheduler(here)
        scheduler.run("a")
        here.wait(40)
        here.restart(down=down)
        scheduler.subscribe()
        if left:
            here.wait(left - 1)
            assert here.tasks() == {"a": "TASK_RUNNING"}
            here.wait(1)
        assert scheduler.acknowledge() == [("a", "TASK_FINISHED")]
        assert (here.tasks(), here.used()) == ({}, 0.0)


def test_what_was_told_to_end_ends_when_it_would_have(tmp_path: Path) -> None:
    with lasting(tmp_path, task_outcome=TaskOutcome(stop_seconds=10.0)) as here:
        scheduler = Scheduler(here, "TASK_KILLING_STATE")
        scheduler.run("a", "b")
        scheduler.ask("KILL", task_id={"value": "a"})
        here.wait(4)
        here.restart(killed=True, down=2.0)
        scheduler.subscribe()
        assert scheduler.acknowledge() == [("a", "TASK_KILLING")]
        here.wait(3)
        assert here.tasks() == {"a": "TASK_KILLING", "b": "TASK_RUNNING"}
        here.wait(1)
        assert scheduler.acknowledge() == [("a", "TASK_KILLED")]
        assert here.used() == 1.0


def test_what_was_on_its_way_to_the_agent_has_arrived(tmp_path: Path) -> None:
    with lasting(tmp_path) as here:
        here.restart(replace(here.spec, agents=(AgentSpec(AGENT, launch_delay=30.0),)))
        scheduler = Scheduler(here)
        scheduler.launch("a")
        assert here.tasks() == {"a": "TASK_STAGING"}
        here.restart(killed=True)
        assert (here.tasks(), here.used()) == ({"a": "TASK_RUNNING"}, 1.0)


def test_an_executor_lives_as_long_as_its_tasks(tmp_path: Path) -> None:
    with lasting(tmp_path) as here:
        scheduler = Scheduler(here)
        scheduler.run("a", "b", executor="e")
        scheduler.ask("KILL", task_id={"value": "a"})
        here.restart()
        assert [executor["executor_id"] for executor in here.framework()["executors"]] == ["e"]
        assert here.used() == 1.5
        scheduler.subscribe()
        scheduler.ask("KILL", task_id={"value": "b"})
        assert here.used() == 0.0
        here.restart()
        assert (here.framework()["executors"], here.used()) == ([], 0.0)
        assert here.tasks() == {"a": "TASK_KILLED", "b": "TASK_KILLED"}


@KILLED
@pytest.mark.parametrize("by_operator", [False, True])
def test_a_framework_that_was_torn_down_does_not_come_back(tmp_path: Path, killed: bool, by_operator: bool) -> None:
    with lasting(tmp_path) as here:
        scheduler, other = Scheduler(here), Scheduler(here, name="g")
        scheduler.run("a")
        other.run("b")
        if by_operator:
            here.restart()
            here.call("TEARDOWN", framework_id={"value": scheduler.id})
        else:
            scheduler.ask("TEARDOWN")
        here.restart(killed=killed)
        assert [shown["name"] for shown in here.frameworks()] == ["g"]
        assert (here.tasks(), here.used()) == ({"b": "TASK_RUNNING"}, 1.0)


def test_a_recovered_framework_may_stay_away_for_as_long_as_it_likes(tmp_path: Path) -> None:
    with lasting(tmp_path) as here:
        Scheduler(here, failover_timeout=5.0).run("a")
        here.restart()
        here.wait(100_000)
        assert here.framework()["recovered"] is True
        assert here.tasks() == {"a": "TASK_RUNNING"}


def test_a_framework_is_recovered_as_it_described_itself_last(tmp_path: Path) -> None:
    with lasting(tmp_path) as here:
        scheduler = Scheduler(here)
        scheduler.run("a")
        scheduler.info["name"] = "renamed"
        scheduler.subscribe()
        here.restart()
        assert here.framework("renamed")["id"] == scheduler.id


def test_limits_count_what_recovered_frameworks_hold(tmp_path: Path) -> None:
    with lasting(tmp_path, AGENT, AGENT) as here:
        limits = {"cpus": {"value": 3}, "mem": {"value": 10_000}}
        here.call("UPDATE_QUOTA", quota_configs=[{"role": "f", "limits": limits}])
        Scheduler(here).run("a", "b")
        here.restart()
        (role,) = (role for role in here.read("/roles")["roles"] if role["name"] == "f")
        assert role["quota"]["consumed"]["cpus"] == 2.0
        assert Scheduler(here, name="f").offered() == 1.0


def reconcile(scheduler: Scheduler, task: str, agent_id: str) -> list[tuple[str, str]]:
    scheduler.ask("RECONCILE", tasks=[{"task_id": {"value": task}, "agent_id": {"value": agent_id}}])
    return scheduler.told()


def test_an_agent_that_is_late_brings_its_tasks_when_it_comes(tmp_path: Path) -> None:
    with lasting(tmp_path) as here:
        scheduler = Scheduler(here, "PARTITION_AWARE")
        scheduler.run("a")
        (agent,) = here.agents
        there, nobody = here.spec, replace(here.spec, agents=())
        here.restart(nobody)
        scheduler.subscribe()
        assert (here.tasks(), reconcile(scheduler, "a", agent["id"])) == ({}, [])
        here.wait(PATIENCE)
        assert reconcile(scheduler, "a", agent["id"]) == [("a", "TASK_UNREACHABLE")]
        here.restart(there)
        assert (here.tasks(), here.used()) == ({"a": "TASK_RUNNING"}, 1.0)
        scheduler.subscribe()
        assert reconcile(scheduler, "a", agent["id"]) == [("a", "TASK_RUNNING")]


def test_an_agent_that_was_lost_while_masters_changed_says_what_it_still_runs(tmp_path: Path) -> None:
    with lasting(tmp_path) as here:
        absent = AgentSpec(AGENT, absence=Absence(100.0, 1000.0))
        here.restart(replace(here.spec, agents=(absent,)))
        scheduler = Scheduler(here, "PARTITION_AWARE", checkpoint=True)
        scheduler.run("a")
        here.wait(500)
        assert here.tasks() == {"a": "TASK_UNREACHABLE"}
        here.restart()
        assert (here.tasks(), here.agents) == ({}, [])
        scheduler.subscribe()
        here.wait(600)
        assert (here.tasks(), here.used()) == ({"a": "TASK_RUNNING"}, 1.0)
        updates = [update["status"] for update in scheduler.heard("UPDATE")]
        assert [(status["state"], status["reason"]) for status in updates] == [
            ("TASK_RUNNING", "REASON_AGENT_REREGISTERED")
        ]


def test_a_framework_that_ended_while_its_agent_was_away_does_not_come_back(tmp_path: Path) -> None:
    with lasting(tmp_path) as here:
        scheduler = Scheduler(here)
        scheduler.run("a")
        there = here.spec
        here.restart(replace(there, agents=()))
        scheduler.subscribe()
        scheduler.ask("TEARDOWN")
        here.restart(there)
        assert (here.frameworks(), here.used()) == ([], 0.0)


def test_tasks_on_an_agent_that_was_given_up_do_not_come_back(tmp_path: Path) -> None:
    with lasting(tmp_path, AGENT, AGENT) as here:
        scheduler = Scheduler(here)
        scheduler.run("a")
        (agent,) = (agent for agent in here.agents if agent["used_resources"]["cpus"])
        here.call("MARK_AGENT_GONE", agent_id={"value": agent["id"]})
        here.restart()
        assert (here.frameworks(), here.used()) == ([], 0.0)
        here.restart()
        assert here.master.registry.records("agent_task") == {}
        assert here.master.registry.records("agent_framework") == {}


def test_tasks_on_an_unreachable_agent_that_is_given_up_are_forgotten_at_once(tmp_path: Path) -> None:
    with lasting(tmp_path) as here:
        here.restart(replace(here.spec, agents=(AgentSpec(AGENT, absence=Absence(100.0)),)))
        scheduler = Scheduler(here, "PARTITION_AWARE", checkpoint=True)
        scheduler.run("a")
        (agent,) = here.agents
        here.wait(500)
        assert here.tasks() == {"a": "TASK_UNREACHABLE"}
        here.call("MARK_AGENT_GONE", agent_id={"value": agent["id"]})
        assert here.master.registry.records("agent_task") == {}


def test_an_agent_that_is_drained_goes_on_being_drained(tmp_path: Path) -> None:
    with lasting(tmp_path, task_outcome=TaskOutcome(stop_seconds=10.0)) as here:
        scheduler = Scheduler(here)
        scheduler.run("a")
        (agent,) = here.agents
        there = here.spec
        here.restart(replace(there, agents=()))
        here.call("DRAIN_AGENT", drain_agent={}, agent_id={"value": agent["id"]})
        here.restart(there)
        scheduler.subscribe()
        here.wait(5)
        assert scheduler.acknowledge() == []
        here.wait(5)
        assert scheduler.acknowledge() == [("a", "TASK_KILLED")]
        here.wait(1)
        (agent,) = here.agents
        assert (agent["drain_info"]["state"], here.used()) == ("DRAINED", 0.0)


def test_an_agent_without_room_for_what_it_ran_is_another_one(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with lasting(tmp_path) as here:
        Scheduler(here).run("a", "b")
        here.restart(replace(here.spec, agents=("cpus:1;mem:2048",)))
        assert "agent-1 no longer has room" in caplog.text
        assert (here.tasks(), here.used()) == ({}, 0.0)
        here.restart(replace(here.spec, agents=(AGENT,)))
        assert here.tasks() == {}


def test_frameworks_of_the_masters_own_process_end_with_it(tmp_path: Path) -> None:
    resident = SimulatedFrameworkSpec("r", ("r",), parse_resources("cpus:1;mem:512"), tasks=2)
    with lasting(tmp_path, frameworks=(resident,)) as here:
        here.wait(5)
        assert here.used() == 2.0
        here.restart()
        here.wait(5)
        assert (here.used(), len(here.frameworks())) == (2.0, 1)
