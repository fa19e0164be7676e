"""Agents: what reaches them, what they show themselves, and what survives a restart."""

from pathlib import Path
from typing import Any

import pytest

from fake_master.registry.sqlite import SqliteRegistry
from fake_master.services.agents.checkpointed_resources import DoesNotFit
from fake_master.sources.agent_tables import AgentSpec
from fake_master.state.agents import KnownAgent
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.amounts.resource import Reservation
from mesosctl.mesos.errors import BadInput
from tests.helpers.lab.master import Lab
from tests.helpers.reserving import push, reserved_entries

LARGE = "cpus:8;mem:4096;disk:2048"


def reserve(lab: Lab, **amounts: float) -> int:
    return lab.post_form("/reserve", resources=reserved_entries("r", **amounts))


def agent_of(lab: Lab) -> KnownAgent:
    (agent,) = lab.master.state.agents.values()
    return agent


def shown_by_the_agent(lab: Lab) -> Any:
    return lab.read("/slave(1)/state")


def shown_by_the_master(lab: Lab) -> Any:
    (entry,) = lab.agents
    return entry


def test_an_agent_shows_what_it_was_told() -> None:
    lab = Lab(LARGE)
    assert reserve(lab, cpus=2, mem=512) == 202
    state, entry = shown_by_the_agent(lab), shown_by_the_master(lab)
    for key in (
        "id pid hostname resources reserved_resources unreserved_resources reserved_resources_full "
        "unreserved_resources_full"
    ).split():
        assert state[key] == entry[key]
    assert state["reserved_resources"]["r"]["cpus"] == 2.0
    assert state["unreserved_resources_allocated"] == {"cpus": 0.0, "disk": 0.0, "gpus": 0.0, "mem": 0.0}


@pytest.mark.parametrize("path", ["/slave(2)/state", "/slave(1)", "/slave(1)/nothing", "/slave(x)/state"])
def test_other_paths_are_nobodys(path: str) -> None:
    assert Lab(LARGE).request("GET", path).status == 404


def test_a_lost_message_is_never_shown_by_the_agent() -> None:
    lab = Lab(AgentSpec(LARGE, loses=1))
    assert reserve(lab, cpus=2) == 202
    assert "r" in shown_by_the_master(lab)["reserved_resources"]
    assert shown_by_the_agent(lab)["reserved_resources"] == {}


def test_a_late_message_is_shown_late() -> None:
    lab = Lab(AgentSpec(LARGE, delay=1.5))
    reserve(lab, cpus=2)
    lab.wait(1.4)
    assert shown_by_the_agent(lab)["reserved_resources"] == {}
    lab.wait(0.2)
    assert shown_by_the_agent(lab)["reserved_resources"]["r"]["cpus"] == 2.0


def test_an_agent_that_cannot_do_it_comes_back_with_what_it_has() -> None:
    lab = Lab(AgentSpec(LARGE, loses=1))
    reserve(lab, cpus=2)
    assert lab.post_form("/unreserve", resources=reserved_entries("r", cpus=1)) == 202
    assert shown_by_the_master(lab)["reserved_resources"] == {}


def test_an_agent_with_less_than_it_promised_refuses_to_start() -> None:
    lab = Lab("cpus:8;mem:4096")
    reserve(lab, cpus=8, mem=2048)
    with pytest.raises(DoesNotFit), lab.master.transaction():
        lab.master.checkpointed_resources.restart(agent_of(lab), parse_resources("cpus:4;mem:2048"))
    assert shown_by_the_master(lab)["active"] is False
    assert lab.request("GET", "/slave(1)/state").status == 404


def test_an_agent_with_other_resources_starts_where_its_promises_fit() -> None:
    lab = Lab(LARGE)
    reserve(lab, cpus=8, mem=2048, disk=1024)
    info = {"persistence": {"id": "v"}, "volume": {"mode": "RW", "container_path": "data"}}
    (reserved,) = reserved_entries("r", disk=1024)
    assert lab.post_form("/create-volumes", volumes=[{**reserved, "disk": info}]) == 202
    with lab.master.transaction():
        lab.master.checkpointed_resources.restart(agent_of(lab), parse_resources("cpus:12;mem:2048;disk:1024"))
    assert shown_by_the_master(lab)["unreserved_resources"]["cpus"] == 4.0
    assert shown_by_the_agent(lab)["reserved_resources"]["r"] == {
        "cpus": 8.0,
        "disk": 1024.0,
        "gpus": 0.0,
        "mem": 2048.0,
    }


def test_what_an_agent_kept_outlives_the_master(tmp_path: Path) -> None:
    first = Lab(AgentSpec(LARGE, "node"), registry=lambda: SqliteRegistry(tmp_path / "r.sqlite"))
    reserve(first, cpus=2)
    agent_of(first).faults.loses = 1
    reserve(first, mem=512)
    first.master.registry.close()
    second = Lab(AgentSpec(LARGE, "node"), registry=lambda: SqliteRegistry(tmp_path / "r.sqlite"))
    assert agent_of(second).total == parse_resources("cpus:6;mem:4096;disk:2048") + push(
        parse_resources("cpus:2"), Reservation("DYNAMIC", "r")
    )
    second.master.registry.close()


def test_a_cluster_file_with_less_than_was_promised_is_refused(tmp_path: Path) -> None:
    first = Lab(AgentSpec(LARGE, "node"), registry=lambda: SqliteRegistry(tmp_path / "r.sqlite"))
    reserve(first, cpus=8)
    first.master.registry.close()
    registry = SqliteRegistry(tmp_path / "r.sqlite")
    with pytest.raises(BadInput, match="refuses to start"):
        Lab(AgentSpec("cpus:4;mem:4096", "node"), registry=lambda: registry)
    registry.close()
