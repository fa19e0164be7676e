"""Agents that leave and come back: what becomes of their tasks, in virtual time, and what another process sees."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from fake_master.cluster import AgentSpec, ClusterSpec, read_cluster_file
from fake_master.http.application import Application
from fake_master.http.exchange import Request
from fake_master.master.agents import Absence
from fake_master.master.clocks import VirtualClock
from fake_master.master.registry import Registry
from fake_master.master.registry_sqlite import SqliteRegistry
from fake_master.master.tasks import TaskFate
from mesosctl.core.errors import BadInput
from mesosctl.wire import recordio

AGENT = "cpus:4;mem:2048"
JSON = {"content-type": "application/json", "accept": "application/json"}
SPAN = {"start": {"nanoseconds": 1}}
PINGS = 75.0
"""Seconds until an agent that does not answer counts as unreachable: five pings."""
RESERVED = {
    "name": "cpus",
    "type": "SCALAR",
    "scalar": {"value": 1},
    "reservations": [{"type": "DYNAMIC", "role": "r"}],
}


class Scheduler:
    """A framework that launches what it is told to and hears everything."""

    def __init__(self, lab: "Lab", name: str, *capabilities: str, checkpoint: bool = True) -> None:
        self._lab = lab
        listed = [{"type": named} for named in ("MULTI_ROLE", "RESERVATION_REFINEMENT", *capabilities)]
        info = {"user": "u", "name": name, "roles": [name], "capabilities": listed, "checkpoint": checkpoint}
        body = {"type": "SUBSCRIBE", "subscribe": {"framework_info": info}}
        answer = lab.application.handle(Request("POST", "/api/v1/scheduler", JSON, json.dumps(body).encode()))
        assert answer.stream is not None
        self._stream = answer.stream
        self._events: list[dict[str, Any]] = []
        self.id = self.heard("SUBSCRIBED")[0]["framework_id"]["value"]

    def heard(self, kind: str) -> list[dict[str, Any]]:
        """What every event of a kind held, and forget it."""
        self._events += [json.loads(record) for record in recordio.decode(self._stream.take())]
        found = [event[kind.lower()] for event in self._events if event["type"] == kind]
        self._events = [event for event in self._events if event["type"] != kind]
        return found

    def call(self, kind: str, **body: Any) -> None:
        headers = {**JSON, "mesos-stream-id": self._stream.id}
        content = json.dumps({"type": kind, "framework_id": {"value": self.id}, kind.lower(): body})
        answer = self._lab.application.handle(Request("POST", "/api/v1/scheduler", headers, content.encode()))
        assert answer.status == 202, answer

    def launch(self, task: str) -> str:
        """One task on the first agent that is offered, and the agent's id; every other offer is declined."""
        self._lab.wait(1.5)
        offers = [offer for event in self.heard("OFFERS") for offer in event["offers"]]
        first, *others = offers
        info = {
            "name": task,
            "task_id": {"value": task},
            "agent_id": first["agent_id"],
            "command": {"value": "true"},
            "resources": [{"name": "cpus", "type": "SCALAR", "scalar": {"value": 1}}],
        }
        operation = {"type": "LAUNCH", "launch": {"task_infos": [info]}}
        refuse = {"refuse_seconds": 10000}
        self.call("ACCEPT", offer_ids=[first["id"]], operations=[operation], filters=refuse)
        if others:
            self.call("DECLINE", offer_ids=[offer["id"] for offer in others], filters=refuse)
        self.acknowledge()
        return str(first["agent_id"]["value"])

    def acknowledge(self) -> list[tuple[str, str]]:
        """State and reason of every update, acknowledged as long as there are any to acknowledge."""
        seen = []
        while updates := self.heard("UPDATE"):
            for status in (update["status"] for update in updates):
                seen.append((status["state"], status.get("reason", "")))
                if "uuid" in status:
                    self.call(
                        "ACKNOWLEDGE", agent_id=status["agent_id"], task_id=status["task_id"], uuid=status["uuid"]
                    )
        return seen


class Lab:
    """A master in virtual time."""

    def __init__(
        self,
        *agents: AgentSpec | str,
        registry: Registry | None = None,
        now: float = 1000.0,
        version: str = "1.11",
    ) -> None:
        self.clock = VirtualClock(now)
        self.master = ClusterSpec(agents=agents, mesos_version=version).start(registry, clock=self.clock)
        self.application = Application(self.master)

    def wait(self, seconds: float) -> None:
        self.clock.sleep(seconds)
        self.application.tick()

    def get(self, path: str) -> Any:
        answer = self.application.handle(Request("GET", path))
        assert answer.status == 200, answer
        return json.loads(answer.body)

    def post(self, path: str, body: Any) -> int:
        return self.application.handle(Request("POST", path, {}, json.dumps(body).encode())).status

    def call(self, kind: str, **body: Any) -> Any:
        content = json.dumps({"type": kind, kind.lower(): body})
        answer = self.application.handle(Request("POST", "/api/v1", JSON, content.encode()))
        assert answer.status in (200, 202), answer
        return json.loads(answer.body)[kind.lower()] if answer.body else None

    def about(self, kind: str, agent_id: str, **more: Any) -> None:
        self.call(kind, agent_id={"value": agent_id}, **more)

    def take_down(self, hostname: str = "agent-1") -> dict[str, str]:
        machine = {"hostname": hostname, "ip": "127.0.0.1"}
        windows = [{"machine_ids": [machine], "unavailability": SPAN}]
        assert self.post("/maintenance/schedule", {"windows": windows}) == 200
        assert self.post("/machine/down", [machine]) == 200
        return machine

    @property
    def agents(self) -> list[Any]:
        return list(self.get("/slaves")["slaves"])

    def ids(self) -> list[str]:
        """The last part of every registered agent's id."""
        return [agent["id"].rpartition("-")[2] for agent in self.agents]

    def metric(self, name: str) -> float:
        return float(self.get("/metrics/snapshot")[f"master/{name}"])

    def tasks(self) -> Mapping[str, dict[str, str]]:
        """By list of GET_TASKS: state by task id."""
        shown = self.call("GET_TASKS")
        return {
            key.removesuffix("_tasks"): {task["task_id"]["value"]: task["state"] for task in listed}
            for key, listed in shown.items()
            if listed
        }


def two_kinds(lab: Lab) -> tuple[Scheduler, Scheduler, str]:
    """A framework that knows of partitions and one that does not, each with a task on the one agent."""
    aware = Scheduler(lab, "aware", "PARTITION_AWARE")
    agent_id = aware.launch("a")
    plain = Scheduler(lab, "plain")
    assert plain.launch("p") == agent_id
    return aware, plain, agent_id


def test_a_machine_that_goes_down_loses_every_task() -> None:
    lab = Lab(AGENT)
    aware, plain, agent_id = two_kinds(lab)
    lab.take_down()
    for framework in (aware, plain):
        assert framework.acknowledge() == [("TASK_LOST", "REASON_AGENT_REMOVED")]
        assert framework.heard("FAILURE") == [{"agent_id": {"value": agent_id}}]
    assert lab.tasks() == {"completed": {"a": "TASK_LOST", "p": "TASK_LOST"}}
    assert (lab.metric("slave_removals"), lab.metric("tasks_lost"), lab.metric("slaves_active")) == (1, 2, 0)
    assert lab.metric("cpus_total") == 0


def test_a_marked_agent_loses_tasks_by_what_their_framework_understands() -> None:
    lab = Lab(AGENT)
    aware, plain, agent_id = two_kinds(lab)
    lab.about("MARK_AGENT_GONE", agent_id)
    assert aware.acknowledge() == [("TASK_GONE_BY_OPERATOR", "REASON_AGENT_REMOVED_BY_OPERATOR")]
    assert plain.acknowledge() == [("TASK_LOST", "REASON_AGENT_REMOVED")]
    assert lab.tasks() == {"completed": {"a": "TASK_GONE_BY_OPERATOR"}, "unreachable": {"p": "TASK_LOST"}}
    assert (lab.metric("tasks_gone_by_operator"), lab.metric("tasks_lost")) == (1, 1)


def test_an_agent_that_gets_lost_is_out_of_service_first_and_unreachable_after_five_pings() -> None:
    lab = Lab(AgentSpec(AGENT, absence=Absence(30)))
    aware, plain, agent_id = two_kinds(lab)
    forgetful = Scheduler(lab, "forgetful", "PARTITION_AWARE", checkpoint=False)
    forgetful.launch("f")
    lab.wait(30)
    assert forgetful.acknowledge() == [("TASK_LOST", "REASON_AGENT_DISCONNECTED")]
    assert (aware.acknowledge(), plain.acknowledge()) == ([], [])
    [agent] = lab.agents
    assert (agent["active"], agent["deactivated"], agent["used_resources"]["cpus"]) == (False, False, 2)
    assert (lab.metric("slaves_disconnected"), lab.metric("slaves_unreachable")) == (1, 0)
    lab.wait(PINGS)
    assert aware.acknowledge() == [("TASK_UNREACHABLE", "REASON_AGENT_REMOVED")]
    assert plain.acknowledge() == [("TASK_LOST", "REASON_AGENT_REMOVED")]
    assert forgetful.heard("FAILURE") == [{"agent_id": {"value": agent_id}}]
    assert lab.agents == []
    assert lab.get("/state")["unreachable_slaves"] == 1.0
    assert lab.tasks() == {"unreachable": {"a": "TASK_UNREACHABLE", "p": "TASK_LOST"}, "completed": {"f": "TASK_LOST"}}
    names = ("slaves_unreachable", "tasks_unreachable", "slave_removals", "slave_removals/reason_unhealthy")
    assert [lab.metric(name) for name in names] == [1, 1, 1, 1]
    aware.call("RECONCILE", tasks=[{"task_id": {"value": "x"}, "agent_id": {"value": agent_id}}])
    assert aware.acknowledge() == [("TASK_UNREACHABLE", "REASON_RECONCILIATION")]


@pytest.mark.parametrize("checkpoint", [True, False])
def test_a_task_that_had_ended_before_its_agent_left_stays_what_it_was(*, checkpoint: bool) -> None:
    lab = Lab(AgentSpec(AGENT, absence=Absence(30)))
    framework = Scheduler(lab, "r", checkpoint=checkpoint)
    framework.launch("t")
    framework.call("KILL", task_id={"value": "t"})
    lab.wait(30 + PINGS)
    assert lab.tasks() == {"completed": {"t": "TASK_KILLED"}}
    assert {state for state, _ in framework.acknowledge()} == {"TASK_KILLED"}
    lab.wait(1000)
    assert framework.acknowledge() == []
    assert (lab.metric("tasks_killed"), lab.metric("tasks_lost")) == (1, 0)


def test_what_happens_on_an_agent_out_of_reach_is_heard_when_it_is_back() -> None:
    lab = Lab(AgentSpec(AGENT, absence=Absence(30, 60)))
    lab.master.task_fate = TaskFate("TASK_FINISHED", 40.0)
    framework = Scheduler(lab, "r")
    framework.launch("t")
    lab.wait(45)
    framework.call("KILL", task_id={"value": "t"})
    assert (framework.acknowledge(), lab.tasks()) == ([], {"tasks": {"t": "TASK_RUNNING"}})
    lab.wait(20)
    assert framework.acknowledge() == [("TASK_FINISHED", "")]
    assert lab.tasks() == {"completed": {"t": "TASK_FINISHED"}}


def test_an_operator_gives_up_an_agent_that_nobody_can_reach() -> None:
    lab = Lab(AgentSpec(AGENT, absence=Absence(30, 500)))
    aware, plain, agent_id = two_kinds(lab)
    lab.wait(30 + PINGS)
    aware.acknowledge(), plain.acknowledge()
    lab.about("MARK_AGENT_GONE", agent_id)
    assert aware.acknowledge() == [("TASK_GONE_BY_OPERATOR", "REASON_AGENT_REMOVED_BY_OPERATOR")]
    assert plain.acknowledge() == [("TASK_LOST", "REASON_AGENT_REMOVED")]
    assert lab.tasks() == {"completed": {"a": "TASK_GONE_BY_OPERATOR", "p": "TASK_LOST"}}
    assert [lab.metric(name) for name in ("tasks_lost", "tasks_unreachable", "slaves_unreachable")] == [1, 0, 0]
    lab.wait(1000)
    assert lab.agents == []


def test_an_agent_that_can_be_reached_again_is_the_same_with_its_tasks() -> None:
    lab = Lab(AgentSpec(AGENT, absence=Absence(30, 200)))
    aware, plain, agent_id = two_kinds(lab)
    lab.wait(30 + PINGS)
    aware.acknowledge(), plain.acknowledge()
    lab.wait(100)
    assert aware.acknowledge() == [("TASK_RUNNING", "REASON_AGENT_REREGISTERED")]
    assert plain.acknowledge() == [("TASK_RUNNING", "REASON_AGENT_REREGISTERED")]
    [agent] = lab.agents
    assert (agent["id"], agent["active"], agent["used_resources"]["cpus"]) == (agent_id, True, 2)
    assert lab.tasks() == {"tasks": {"a": "TASK_RUNNING", "p": "TASK_RUNNING"}}
    assert (lab.metric("slave_reregistrations"), lab.metric("slaves_unreachable")) == (1, 0)
    assert (lab.metric("tasks_running"), lab.metric("tasks_unreachable")) == (2, 0)
    lab.wait(1.5)
    [offered] = [offer for of in (aware, plain) for event in of.heard("OFFERS") for offer in event["offers"]]
    assert {entry["name"]: entry["scalar"]["value"] for entry in offered["resources"]} == {"cpus": 2, "mem": 2048}


def test_an_agent_back_before_the_last_ping_was_never_lost() -> None:
    lab = Lab(AgentSpec(AGENT, absence=Absence(30, 60)))
    aware, _plain, agent_id = two_kinds(lab)
    lab.wait(300)
    assert aware.acknowledge() == []
    assert [agent["id"] for agent in lab.agents if agent["active"]] == [agent_id]
    assert aware.heard("FAILURE") == []


@pytest.mark.parametrize(("gone", "state"), [(False, "TASK_KILLED"), (True, "TASK_GONE_BY_OPERATOR")])
def test_an_agent_is_drained_when_the_last_end_of_a_task_is_acknowledged(*, gone: bool, state: str) -> None:
    lab = Lab(AGENT)
    aware, plain, agent_id = two_kinds(lab)
    lab.about("DRAIN_AGENT", agent_id, mark_gone=gone)
    assert aware.acknowledge() == [(state, "REASON_AGENT_DRAINING")]
    [agent] = lab.agents
    assert agent["drain_info"] == {"state": "DRAINING", "config": {"mark_gone": gone}}
    assert agent["estimated_drain_start_time_seconds"] == lab.clock()
    assert plain.acknowledge() == [("TASK_KILLED", "REASON_AGENT_DRAINING")]
    assert [agent["drain_info"]["state"] for agent in lab.agents] == ([] if gone else ["DRAINED"])
    assert len(plain.heard("FAILURE")) == gone


def test_an_agent_that_is_drained_out_of_reach_is_drained_when_it_is_back() -> None:
    lab = Lab(AgentSpec(AGENT, absence=Absence(30, 200)))
    aware, plain, agent_id = two_kinds(lab)
    lab.wait(30 + PINGS)
    lab.about("DRAIN_AGENT", agent_id)
    aware.acknowledge(), plain.acknowledge()
    lab.wait(100)
    assert [state for state, _ in aware.acknowledge()] == ["TASK_RUNNING", "TASK_KILLED"]
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


def registry(folder: Path) -> Registry:
    return SqliteRegistry(folder / "registry.sqlite")


def test_a_restarted_master_remembers_who_is_away_drained_or_out_of_service(tmp_path: Path) -> None:
    agents = [AGENT] * 5
    lab = Lab(*agents, registry=registry(tmp_path))
    ids = {agent["hostname"]: agent["id"] for agent in lab.agents}
    machine = lab.take_down("agent-1")
    lab.about("MARK_AGENT_GONE", ids["agent-2"])
    lab.about("DRAIN_AGENT", ids["agent-3"])
    lab.about("DEACTIVATE_AGENT", ids["agent-4"])
    again = Lab(*agents, registry=registry(tmp_path), now=2000.0)
    assert [lab.get(path) for path in ("/maintenance/schedule", "/maintenance/status")] == [
        again.get(path) for path in ("/maintenance/schedule", "/maintenance/status")
    ]
    shown = {agent["hostname"]: (agent["id"], agent["active"]) for agent in again.agents}
    assert shown == {f"agent-{n}": (ids[f"agent-{n}"], n == 5) for n in (3, 4, 5)}
    assert [agent["drain_info"]["state"] for agent in again.agents if "drain_info" in agent] == ["DRAINED"]
    again.post("/machine/up", [machine])
    assert "S5" in again.ids()
    assert ids["agent-2"] not in {agent["id"] for agent in again.agents}


def test_another_process_on_the_same_registry_is_followed(tmp_path: Path) -> None:
    here, there = (Lab(AGENT, AGENT, AGENT, registry=registry(tmp_path)) for _ in range(2))
    ids = {agent["hostname"]: agent["id"] for agent in here.agents}
    framework = Scheduler(here, "r")
    here.wait(1.5)
    assert len(framework.heard("OFFERS")[0]["offers"]) == 3
    machine = there.take_down()
    there.about("MARK_AGENT_GONE", ids["agent-2"])
    there.about("DEACTIVATE_AGENT", ids["agent-3"])
    assert here.ids() == ["S2"]
    assert {event["agent_id"]["value"] for event in framework.heard("FAILURE")} == {ids["agent-1"], ids["agent-2"]}
    assert here.agents[0]["deactivated"]
    there.post("/machine/up", [machine])
    assert sorted(here.ids()) == ["S2", "S3"]
    assert here.post("/machine/down", [machine]) == 400


def test_an_agent_that_was_lost_stays_so_over_a_restart(tmp_path: Path) -> None:
    spec = AgentSpec(AGENT, absence=Absence(30, 500))
    lab = Lab(spec, registry=registry(tmp_path))
    lab.wait(0)
    lab.wait(30)
    lab.wait(PINGS)
    assert lab.ids() == []
    away = Lab(spec, registry=registry(tmp_path), now=1200.0)
    away.wait(1)
    assert (away.ids(), away.get("/state")["unreachable_slaves"]) == ([], 1.0)
    back = Lab(spec, registry=registry(tmp_path), now=2000.0)
    back.wait(1)
    assert (back.ids(), back.get("/state")["unreachable_slaves"]) == (["S0"], 0.0)


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


def test_residents_go_on_elsewhere_when_their_agent_gets_lost(tmp_path: Path) -> None:
    path = tmp_path / "cluster.toml"
    path.write_text(
        f'[[agents]]\nresources = "{AGENT}"\nleaves_after = 30\n[[agents]]\nresources = "{AGENT}"\n'
        '[[frameworks]]\nname = "batch"\ntask = "cpus:1;mem:512"\ntasks = 4\nper_offer = 2\n'
    )
    clock = VirtualClock(1000.0)
    master = read_cluster_file(path).start(clock=clock)

    def running() -> dict[str, int]:
        [framework] = master.frameworks.values()
        tasks = [task for task in framework.tasks.values() if not task.is_terminal]
        return {
            host: sum(task.agent_id == agent.id for task in tasks) for host, agent in master.membership.hosts.items()
        }

    clock.sleep(20)
    master.advance()
    assert running() == {"agent-1": 2, "agent-2": 2}
    clock.sleep(100)
    master.advance()
    assert running() == {"agent-1": 0, "agent-2": 4}


def test_a_cluster_file_says_when_an_agent_gets_lost(tmp_path: Path) -> None:
    path = tmp_path / "cluster.toml"
    path.write_text(f'[[agents]]\nresources = "{AGENT}"\nleaves_after = 30\nreturns_after = 90.5\n')
    assert read_cluster_file(path).agents == (AgentSpec(AGENT, absence=Absence(30.0, 90.5)),)


@pytest.mark.parametrize(
    ("lines", "field"),
    [
        ("leaves_after = -1", "leaves_after"),
        ('leaves_after = "soon"', "leaves_after"),
        ("leaves_after = true", "leaves_after"),
        ("returns_after = 5", "returns_after"),
        ("leaves_after = 5\nreturns_after = 5", "returns_after"),
    ],
)
def test_times_of_absence_that_cannot_be(tmp_path: Path, lines: str, field: str) -> None:
    path = tmp_path / "cluster.toml"
    path.write_text(f'[[agents]]\nresources = "{AGENT}"\n{lines}\n')
    with pytest.raises(BadInput) as refused:
        read_cluster_file(path)
    assert refused.value.field == field


@pytest.mark.parametrize(("version", "status"), [("1.11", 200), ("1.4", 409)])
def test_qh_23_whether_a_disconnected_agent_counts_towards_capacity(version: str, status: int) -> None:
    lab = Lab(AgentSpec("cpus:12;mem:6144", absence=Absence(30)), AgentSpec("cpus:12;mem:6144"), version=version)
    guarantee = [
        {"name": "cpus", "type": "SCALAR", "scalar": {"value": 20}},
        {"name": "mem", "type": "SCALAR", "scalar": {"value": 1}},
    ]
    lab.wait(31)
    assert lab.metric("slaves_disconnected") == 1
    assert lab.post("/quota", {"role": "r1", "guarantee": guarantee}) == status
