"""Cluster files that say when an agent gets lost, and frameworks that live on then."""

from pathlib import Path

import pytest

from fake_master.sources.agent_tables import AgentSpec
from fake_master.state.agents import Absence
from fake_master.state.clock import VirtualClock
from mesosctl.mesos.errors import BadInput
from tests.helpers.cluster_files import read_cluster_file
from tests.helpers.lab import AGENT, Lab


def test_residents_go_on_elsewhere_when_their_agent_gets_lost(tmp_path: Path) -> None:
    path = tmp_path / "cluster.toml"
    path.write_text(
        f'[[agents]]\nresources = "{AGENT}"\nleaves_after = 30\n[[agents]]\nresources = "{AGENT}"\n'
        '[[frameworks]]\nname = "batch"\ntask = "cpus:1;mem:512"\ntasks = 4\nper_offer = 2\n'
    )
    clock = VirtualClock(1000.0)
    master = read_cluster_file(path).start(clock=clock)

    def running() -> dict[str, int]:
        [framework] = master.state.frameworks.values()
        tasks = [task for task in framework.all_tasks().values() if not task.is_terminal]
        return {
            host: sum(task.agent_id == agent.id for task in tasks)
            for host, agent in master.state.known_agents.hosts.items()
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
    assert refused.value.field == f"agents[0].{field}"


@pytest.mark.parametrize(("version", "status"), [("1.11", 200), ("documents", 409)])
def test_whether_a_disconnected_agent_counts_towards_capacity(version: str, status: int) -> None:
    lab = Lab(AgentSpec("cpus:12;mem:6144", absence=Absence(30)), AgentSpec("cpus:12;mem:6144"), version=version)
    guarantee = [
        {"name": "cpus", "type": "SCALAR", "scalar": {"value": 20}},
        {"name": "mem", "type": "SCALAR", "scalar": {"value": 1}},
    ]
    lab.wait(31)
    assert lab.metric("slaves_disconnected") == 1
    assert lab.post("/quota", {"role": "r1", "guarantee": guarantee}) == status
