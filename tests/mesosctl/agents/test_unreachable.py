"""Agents that are unreachable: counted and named in the list, and found by those who give them up."""

from io import StringIO
from pathlib import Path

import httpx
import pytest

from fake_master.sources.agent_tables import AgentSpec
from fake_master.state.agents import Absence
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.cluster.tasks import ListedTask
from mesosctl.show.output_formats import write
from mesosctl.tasks.report import task_list
from tests.helpers.lab import CommandLine, Lab

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


@pytest.mark.parametrize("words", [("frameworks",), ("snapshot", "-f", "cluster.json")])
def test_what_leaves_them_out_says_so(
    lab: Lab, words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = CommandLine(lab).run(*words)
    assert ran.status == 0
    assert "2 agents are unreachable, and left out" in ran.err


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
        assert "3 tasks are on unreachable agents: 1 of ads, 2 of db" in stream.getvalue()


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
