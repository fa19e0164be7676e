"""Agents that leave and come back: what becomes of their tasks, in virtual time."""

import json

import pytest

from fake_master.http.request_response import Request
from fake_master.sources.agent_tables import AgentSpec
from fake_master.state.agents import Absence
from fake_master.state.tasks import TaskOutcome
from tests.helpers.lab import AGENT, JSON, PINGS, Lab, Scheduler, scalar

RESERVED = {**scalar("cpus", 1), "reservations": [{"type": "DYNAMIC", "role": "r"}]}


def two_kinds(lab: Lab) -> tuple[Scheduler, Scheduler, str]:
    """A framework that knows of partitions and one that does not, each with a task on the one agent."""
    aware = Scheduler(lab, "PARTITION_AWARE", name="aware")
    agent_id = aware.run("a")
    plain = Scheduler(lab, name="plain")
    assert plain.run("p") == agent_id
    return aware, plain, agent_id


def test_a_machine_that_goes_down_loses_every_task() -> None:
    lab = Lab(AGENT)
    aware, plain, agent_id = two_kinds(lab)
    lab.take_down()
    for framework in (aware, plain):
        assert framework.acknowledge("state", "reason") == [("TASK_LOST", "REASON_AGENT_REMOVED")]
        assert framework.heard("FAILURE") == [{"agent_id": {"value": agent_id}}]
    assert lab.tasks_by_list() == {"completed": {"a": "TASK_LOST", "p": "TASK_LOST"}}
    assert (lab.metric("slave_removals"), lab.metric("tasks_lost"), lab.metric("slaves_active")) == (1, 2, 0)
    assert lab.metric("cpus_total") == 0


def test_a_marked_agent_loses_tasks_by_what_their_framework_understands() -> None:
    lab = Lab(AGENT)
    aware, plain, agent_id = two_kinds(lab)
    lab.about("MARK_AGENT_GONE", agent_id)
    assert aware.acknowledge("state", "reason") == [("TASK_GONE_BY_OPERATOR", "REASON_AGENT_REMOVED_BY_OPERATOR")]
    assert plain.acknowledge("state", "reason") == [("TASK_LOST", "REASON_AGENT_REMOVED")]
    assert lab.tasks_by_list() == {"completed": {"a": "TASK_GONE_BY_OPERATOR"}, "unreachable": {"p": "TASK_LOST"}}
    assert (lab.metric("tasks_gone_by_operator"), lab.metric("tasks_lost")) == (1, 1)


def test_an_agent_that_gets_lost_is_out_of_service_first_and_unreachable_after_five_pings() -> None:
    lab = Lab(AgentSpec(AGENT, absence=Absence(30)))
    aware, plain, agent_id = two_kinds(lab)
    forgetful = Scheduler(lab, "PARTITION_AWARE", name="forgetful", checkpoint=False)
    forgetful.run("f")
    lab.wait(30)
    assert forgetful.acknowledge("state", "reason") == [("TASK_LOST", "REASON_AGENT_DISCONNECTED")]
    assert (aware.acknowledge("state", "reason"), plain.acknowledge("state", "reason")) == ([], [])
    [agent] = lab.agents
    assert (agent["active"], agent["deactivated"], agent["used_resources"]["cpus"]) == (False, False, 2)
    assert (lab.metric("slaves_disconnected"), lab.metric("slaves_unreachable")) == (1, 0)
    lab.wait(PINGS)
    assert aware.acknowledge("state", "reason") == [("TASK_UNREACHABLE", "REASON_AGENT_REMOVED")]
    assert plain.acknowledge("state", "reason") == [("TASK_LOST", "REASON_AGENT_REMOVED")]
    assert forgetful.heard("FAILURE") == [{"agent_id": {"value": agent_id}}]
    assert lab.agents == []
    assert lab.read("/state")["unreachable_slaves"] == 1.0
    shown = lab.tasks_by_list()
    assert shown == {"unreachable": {"a": "TASK_UNREACHABLE", "p": "TASK_LOST"}, "completed": {"f": "TASK_LOST"}}
    names = ("slaves_unreachable", "tasks_unreachable", "slave_removals", "slave_removals/reason_unhealthy")
    assert [lab.metric(name) for name in names] == [1, 1, 1, 1]
    aware.ask("RECONCILE", tasks=[{"task_id": {"value": "x"}, "agent_id": {"value": agent_id}}])
    assert aware.acknowledge("state", "reason") == [("TASK_UNREACHABLE", "REASON_RECONCILIATION")]


@pytest.mark.parametrize("checkpoint", [True, False])
def test_a_task_that_had_ended_before_its_agent_left_stays_what_it_was(*, checkpoint: bool) -> None:
    lab = Lab(AgentSpec(AGENT, absence=Absence(30)))
    framework = Scheduler(lab, name="r", checkpoint=checkpoint)
    framework.run("t")
    framework.ask("KILL", task_id={"value": "t"})
    lab.wait(30 + PINGS)
    assert lab.tasks_by_list() == {"completed": {"t": "TASK_KILLED"}}
    assert {state for _, state in framework.acknowledge()} == {"TASK_KILLED"}
    lab.wait(1000)
    assert framework.acknowledge() == []
    assert (lab.metric("tasks_killed"), lab.metric("tasks_lost")) == (1, 0)


def test_what_happens_on_an_agent_out_of_reach_is_heard_when_it_is_back() -> None:
    lab = Lab(AgentSpec(AGENT, absence=Absence(30, 60)))
    lab.master.state.task_outcome = TaskOutcome("TASK_FINISHED", 40.0)
    framework = Scheduler(lab, name="r")
    framework.run("t")
    lab.wait(45)
    framework.ask("KILL", task_id={"value": "t"})
    assert (framework.acknowledge("state", "reason"), lab.tasks_by_list()) == ([], {"tasks": {"t": "TASK_RUNNING"}})
    lab.wait(20)
    assert framework.acknowledge("state", "reason") == [("TASK_FINISHED", "")]
    assert lab.tasks_by_list() == {"completed": {"t": "TASK_FINISHED"}}


def test_an_operator_gives_up_an_agent_that_nobody_can_reach() -> None:
    lab = Lab(AgentSpec(AGENT, absence=Absence(30, 500)))
    aware, plain, agent_id = two_kinds(lab)
    lab.wait(30 + PINGS)
    aware.acknowledge(), plain.acknowledge()
    lab.about("MARK_AGENT_GONE", agent_id)
    assert aware.acknowledge("state", "reason") == [("TASK_GONE_BY_OPERATOR", "REASON_AGENT_REMOVED_BY_OPERATOR")]
    assert plain.acknowledge("state", "reason") == [("TASK_LOST", "REASON_AGENT_REMOVED")]
    assert lab.tasks_by_list() == {"completed": {"a": "TASK_GONE_BY_OPERATOR", "p": "TASK_LOST"}}
    assert [lab.metric(name) for name in ("tasks_lost", "tasks_unreachable", "slaves_unreachable")] == [1, 0, 0]
    lab.wait(1000)
    assert lab.agents == []


def test_an_agent_that_can_be_reached_again_is_the_same_with_its_tasks() -> None:
    lab = Lab(AgentSpec(AGENT, absence=Absence(30, 200)))
    aware, plain, agent_id = two_kinds(lab)
    lab.wait(30 + PINGS)
    aware.acknowledge(), plain.acknowledge()
    lab.wait(100)
    assert aware.acknowledge("state", "reason") == [("TASK_RUNNING", "REASON_AGENT_REREGISTERED")]
    assert plain.acknowledge("state", "reason") == [("TASK_RUNNING", "REASON_AGENT_REREGISTERED")]
    [agent] = lab.agents
    assert (agent["id"], agent["active"], agent["used_resources"]["cpus"]) == (agent_id, True, 2)
    assert lab.tasks_by_list() == {"tasks": {"a": "TASK_RUNNING", "p": "TASK_RUNNING"}}
    assert (lab.metric("slave_reregistrations"), lab.metric("slaves_unreachable")) == (1, 0)
    assert (lab.metric("tasks_running"), lab.metric("tasks_unreachable")) == (2, 0)
    lab.wait(1.5)
    [offered] = [offer for of in (aware, plain) for event in of.heard("OFFERS") for offer in event["offers"]]
    assert {entry["name"]: entry["scalar"]["value"] for entry in offered["resources"]} == {"cpus": 2, "mem": 2048}


def test_an_agent_back_before_the_last_ping_was_never_lost() -> None:
    lab = Lab(AgentSpec(AGENT, absence=Absence(30, 60)))
    aware, _plain, agent_id = two_kinds(lab)
    lab.wait(300)
    assert aware.acknowledge("state", "reason") == []
    assert [agent["id"] for agent in lab.agents if agent["active"]] == [agent_id]
    assert aware.heard("FAILURE") == []


@pytest.mark.parametrize(("gone", "state"), [(False, "TASK_KILLED"), (True, "TASK_GONE_BY_OPERATOR")])
def test_an_agent_is_drained_when_the_last_end_of_a_task_is_acknowledged(*, gone: bool, state: str) -> None:
    lab = Lab(AGENT)
    aware, plain, agent_id = two_kinds(lab)
    lab.about("DRAIN_AGENT", agent_id, mark_gone=gone)
    assert aware.acknowledge("state", "reason") == [(state, "REASON_AGENT_DRAINING")]
    [agent] = lab.agents
    assert agent["drain_info"] == {"state": "DRAINING", "config": {"mark_gone": gone}}
    assert agent["estimated_drain_start_time_seconds"] == lab.clock()
    assert plain.acknowledge("state", "reason") == [("TASK_KILLED", "REASON_AGENT_DRAINING")]
    assert [agent["drain_info"]["state"] for agent in lab.agents] == ([] if gone else ["DRAINED"])
    assert len(plain.heard("FAILURE")) == gone


def test_an_agent_that_is_drained_out_of_reach_is_drained_when_it_is_back() -> None:
    lab = Lab(AgentSpec(AGENT, absence=Absence(30, 200)))
    aware, plain, agent_id = two_kinds(lab)
    lab.wait(30 + PINGS)
    lab.about("DRAIN_AGENT", agent_id)
    aware.acknowledge(), plain.acknowledge()
    lab.wait(100)
    assert [state for _, state in aware.acknowledge()] == ["TASK_RUNNING", "TASK_KILLED"]
    assert [agent["drain_info"]["state"] for agent in lab.agents] == ["DRAINING"]
    plain.acknowledge()
    assert [agent["drain_info"]["state"] for agent in lab.agents] == ["DRAINED"]


def test_a_machine_back_up_starts_its_agent_as_a_new_one_with_what_it_had_promised() -> None:
    lab = Lab(AGENT, AGENT)
    body = {"agent_id": {"value": lab.agents[0]["id"]}, "resources": [RESERVED]}
    lab.call("RESERVE_RESOURCES", **body)
    machine = lab.take_down()
    assert lab.ids() == ["S1"]
    assert lab.application.handle(Request("GET", "/slave(1)/state")).status == 404
    assert lab.post("/machine/up", [machine]) == 200
    assert sorted(lab.ids()) == ["S1", "S2"]
    back = next(agent for agent in lab.agents if agent["hostname"] == "agent-1")
    assert back["reserved_resources"]["r"]["cpus"] == 1
    assert (back["active"], lab.metric("slave_registrations")) == (True, 3)
    lab.take_down()
    lab.post("/machine/up", [machine])
    assert sorted(lab.ids()) == ["S1", "S3"]


@pytest.mark.parametrize("call", ["MARK_AGENT_GONE", "DRAIN_AGENT", "DEACTIVATE_AGENT"])
def test_a_change_that_cannot_be_kept_leaves_the_agent_where_it_was(monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    lab = Lab(AGENT)
    agent_id = lab.agents[0]["id"]

    def fail() -> None:
        raise OSError("no space left")

    monkeypatch.setattr(lab.master.registry, "_commit", fail)
    content = json.dumps({"type": call, call.lower(): {"agent_id": {"value": agent_id}}})
    with pytest.raises(OSError, match="no space"):
        lab.application.handle(Request("POST", "/api/v1", JSON, content.encode()))
    monkeypatch.undo()
    [agent] = lab.agents
    assert (agent["id"], agent["active"], agent["deactivated"]) == (agent_id, True, False)
    assert "drain_info" not in agent
