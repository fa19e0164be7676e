"""Agents that are unreachable: counted and named in the list, and found by those who give them up."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import httpx
import pytest

from fake_master.sources.agent_tables import AgentSpec
from fake_master.state.agents import Absence
from mesosctl.__main__ import main
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.cluster.tasks import ListedTask
from mesosctl.show.output_formats import write
from mesosctl.tasks.report import task_list
from tests.helpers.lab import CommandLine, Lab
from tests.helpers.lab.scheduler import Scheduler
from tests.helpers.surroundings import InMemory

MINUTES = 300.0


class WithoutRegistry(CommandLine):
    """A principal that may not read the registry."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if request.url.path == "/registrar(1)/registry":
            return httpx.Response(403)
        return super().handle_request(request)


@pytest.fixture
def lab() -> Lab:
    leaving = [
        AgentSpec("cpus:8;mem:4096", f"node-{number}", absence=Absence(10.0 * number, None)) for number in (2, 3)
    ]
    lab = Lab(AgentSpec("cpus:8;mem:4096", "node-1"), *leaving)
    for _ in range(30):
        lab.wait(MINUTES / 30)
    assert len(lab.agents) == 1
    return lab


def lost(lab: Lab) -> list[str]:
    return list(lab.master.state.known_agents.unreachable())


@pytest.mark.parametrize("terminal", [False, True])
def test_the_list_says_how_many_and_which(lab: Lab, terminal: bool) -> None:
    shown = CommandLine(lab).run("agents", terminal=terminal, NO_COLOR="1", COLUMNS="400").out
    (sentence,) = (line for line in shown.splitlines() if "unreachable" in line)
    assert sentence.startswith("2 agents are unreachable: ")
    assert all(agent_id in sentence for agent_id in lost(lab))
    assert f"mesosctl agents gone {lost(lab)[0]}" in sentence


def test_programs_are_told_which_and_since_when(lab: Lab) -> None:
    unreachable = lab.master.state.known_agents.unreachable()
    found = CommandLine(lab).run("agents", "-o", "json").json["unreachable"]
    assert {agent["id"]: agent["since"] for agent in found} == unreachable


def test_without_the_registry_their_number_is_known(lab: Lab) -> None:
    commands = WithoutRegistry(lab)
    assert "2 agents are unreachable; their ids are in /registrar(1)/registry" in commands.run("agents").out
    ran = commands.run("agents", "gone", lost(lab)[0], "--yes", terminal=True, COLUMNS="200")
    assert ran.status == 0, "a whole id is one that the principal has from elsewhere"


@pytest.fixture
def with_tasks() -> tuple[Lab, Scheduler]:
    """A master with an unreachable agent, on which two tasks of a framework ran, and no other."""
    lab = Lab(AgentSpec("cpus:8;mem:4096", "node-2", absence=Absence(60.0, None)))
    db = Scheduler(lab, "PARTITION_AWARE", name="db")
    db.run("t1", "t2")
    for _ in range(30):
        lab.wait(MINUTES / 30)
    assert len(lost(lab)) == 1
    return lab, db


@pytest.mark.parametrize("words", [("frameworks",), ("snapshot", "-f", "cluster.json")])
def test_it_is_said_how_many_there_are_and_whose_tasks(
    with_tasks: tuple[Lab, Scheduler], words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = CommandLine(with_tasks[0]).run(*words)
    assert ran.status == 0
    assert "1 agent is unreachable, with 2 tasks (2 of db)" in ran.err


def test_programs_are_told_how_many_tasks_of_whom(with_tasks: tuple[Lab, Scheduler]) -> None:
    lab, db = with_tasks
    assert CommandLine(lab).run("frameworks", "-o", "json").json["unreachable_tasks"] == {db.id: 2}
    commands = CommandLine(lab)
    assert commands.run("frameworks", "db", "-o", "json").json["unreachable_tasks"] == {}
    assert commands.asked == ["POST /api/v1 GET_FRAMEWORKS"]


def test_what_would_happen_is_shown_and_does_not_happen(with_tasks: tuple[Lab, Scheduler]) -> None:
    lab, _ = with_tasks
    (agent_id,) = lost(lab)
    ran = CommandLine(lab).run("agents", "gone", agent_id, "--dry-run", "-o", "json")
    assert ran.status == 0, ran.err
    plan, change = ran.json["would"]
    (leaving,) = plan["agents"]
    assert (leaving["id"], leaving["status"], leaving["tasks"]) == (agent_id, "unreachable", 2)
    assert leaving["out_of_reach"] == {"db": 2}
    assert [(one["id"], one["status"]) for one in change["changes"]] == [(agent_id, "gone")]
    shown = CommandLine(lab).run("agents", "gone", agent_id, "--dry-run").out
    assert "OUT OF REACH" in shown
    assert lost(lab) == [agent_id]


def test_a_snapshot_without_their_registry_says_so(with_tasks: tuple[Lab, Scheduler]) -> None:
    commands = WithoutRegistry(with_tasks[0])
    assert any("unreachable agents" in sentence for sentence in commands.run("snapshot").json["untold"])
    assert "unreachable_agents" not in commands.run("snapshot").json


def test_a_cluster_from_a_snapshot_has_them_too(
    with_tasks: tuple[Lab, Scheduler], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    lab, db = with_tasks
    file = tmp_path / "cluster.json"
    assert CommandLine(lab).run("snapshot", "-f", str(file)).status == 0

    def ask(*words: str) -> Any:
        environment = InMemory(variables={"MESOSCTL_MASTER": f"fake:{file}"})
        assert main((*words, "-o", "json"), environment) == 0, environment.err
        return json.loads(environment.out)

    assert [agent["id"] for agent in ask("agents")["unreachable"]] == lost(lab)
    assert {task["id"] for task in ask("tasks")["tasks"] if task["state"] == "TASK_UNREACHABLE"} == {"t1", "t2"}
    ask("agents", "gone", lost(lab)[0], "--yes")
    assert ask("agents")["unreachable"] == []
    ended = [(task["framework_id"], task["state"]) for task in ask("tasks", "--all")["tasks"]]
    assert ended == [(db.id, "TASK_GONE_BY_OPERATOR")] * 2


def test_a_list_of_tasks_says_whose_are_on_them() -> None:
    lost, runs = "TASK_UNREACHABLE", "TASK_RUNNING"
    states = [("db", lost), ("db", lost), ("ads", lost), ("ads", runs)]
    shown = [
        ListedTask(f"t{number}", "", f"F{name}", name, "web", "A1", None, state, parse_resources("cpus:1"), 0.0)
        for number, (name, state) in enumerate(states)
    ]
    for draws in (False, True):
        stream = StringIO()
        write(task_list(shown, [], empty=""), "table", stream, draws=draws, colours=False, width=200)
        assert "3 tasks (1 of ads, 2 of db)" in stream.getvalue()


def test_a_list_of_some_agents_reads_no_registry(lab: Lab) -> None:
    commands = CommandLine(lab)
    assert "unreachable" not in commands.run("agents", "node-1").out
    assert commands.asked == ["GET /slaves"]


@pytest.mark.parametrize("part", [slice(None), slice(-2, None)])
def test_they_are_given_up_by_id(lab: Lab, part: slice) -> None:
    first, second = lost(lab)
    ran = CommandLine(lab).run("agents", "gone", first[part], "--yes", terminal=True, NO_COLOR="1", COLUMNS="200")
    assert ran.status == 0, ran.err
    assert "unreachable" in ran.out + ran.err
    assert "recovering" not in ran.out + ran.err
    assert lost(lab) == [second]


def test_an_id_that_is_not_in_the_registry_is_not_found(lab: Lab) -> None:
    unknown = lost(lab)[0].rpartition("-")[0] + "-S9"
    assert CommandLine(lab).run("agents", "gone", unknown, "--yes").status == 5
