"""Answers of masters that contradict themselves, or that no master means, are refused with their place."""

import json
from typing import Any

import pytest

from mesosctl.mesos.errors import UnexpectedAnswer
from mesosctl.mesos.exit_status import ExitStatus
from mesosctl.mesos.messages import responses
from mesosctl.mesos.messages.elements.listed_agents import (
    agent_capacities,
    agents,
    agents_in_service,
    registered_agents,
)
from mesosctl.mesos.messages.snapshots.cluster_state import cluster_state
from mesosctl.mesos.rules.version_profile import is_version


def scalar(name: str, value: Any) -> dict[str, Any]:
    return {"name": name, "role": "*", "type": "SCALAR", "scalar": {"value": value}}


def agent(name: str = "a", ports: Any = None, cpus: Any = 1) -> dict[str, Any]:
    entries = [scalar("cpus", cpus)]
    if ports is not None:
        entries.append({"name": "ports", "type": "RANGES", "ranges": {"range": [{"begin": 0, "end": ports}]}})
    lists = {"reserved_resources_full": {}, "unreserved_resources_full": entries}
    lists |= {"used_resources_full": [], "offered_resources_full": []}
    return {"id": name, "hostname": "h", "pid": "p@127.0.0.1:1", "active": True, "attributes": {}, **lists}


def config(role: str, **amounts: float) -> dict[str, Any]:
    return {"role": role, "guarantees": {name: {"value": value} for name, value in amounts.items()}}


@pytest.mark.parametrize(
    ("answer", "path"),
    [
        ({"infos": [{"role": "a"}, {"role": "a"}]}, "infos[1].role"),
        ({"configs": [{"role": "a"}, {"role": "a"}]}, "configs[1].role"),
        ({"infos": [{"role": "a", "guarantee": [scalar("cpus", -5)]}]}, "infos[0].guarantee[0].scalar.value"),
        (
            {"infos": [{"role": "a", "guarantee": [scalar("cpus", 1), scalar("cpus", 2)]}]},
            "infos[0].guarantee[1].name",
        ),
        ({"configs": [config("a", cpus=-1)]}, "configs[0].guarantees.cpus.value"),
        ({"configs": [{"role": "a", "limits": {"cpus": {"value": -1}}}]}, "configs[0].limits.cpus.value"),
        (
            {"infos": [{"role": "a", "guarantee": [scalar("cpus", 1)]}], "configs": [config("a", cpus=2)]},
            "configs[0].guarantees",
        ),
        ({"infos": [{"role": "a"}], "configs": [config("a", cpus=2)]}, "configs[0].guarantees"),
    ],
)
def test_quotas(answer: Any, path: str) -> None:
    with pytest.raises(UnexpectedAnswer) as caught:
        responses.quotas(answer)
    assert (caught.value.field, caught.value.exit_status) == (path, ExitStatus.MASTER_FAILED)


def test_what_infos_and_configs_say_alike_is_believed() -> None:
    infos = [{"role": "a", "guarantee": [scalar("cpus", 1), scalar("mem", 0)]}]
    assert list(responses.quotas({"infos": infos, "configs": [config("a", cpus=1.0)]})) == ["a"]


@pytest.mark.parametrize(
    ("answer", "path"),
    [
        ({"roles": [{"name": "a"}, {"name": "b"}, {"name": "a"}]}, "roles[2].name"),
        ({"roles": [{"name": "a", "allocated": {"cpus": -1}}]}, "roles[0].allocated.cpus"),
        ({"roles": [{"name": "a", "weight": 0}]}, "roles[0].weight"),
        ({"roles": [{"name": "a", "weight": -1}]}, "roles[0].weight"),
    ],
)
def test_roles(answer: Any, path: str) -> None:
    with pytest.raises(UnexpectedAnswer) as caught:
        responses.roles(answer)
    assert caught.value.field == path


@pytest.mark.parametrize(
    ("answer", "path"),
    [
        ([{"role": "a", "weight": 1}, {"role": "a", "weight": 2}], "[1].role"),
        ([{"role": "a", "weight": -2}], "[0].weight"),
        ([{"role": "a", "weight": 0}], "[0].weight"),
    ],
)
def test_weights(answer: Any, path: str) -> None:
    with pytest.raises(UnexpectedAnswer) as caught:
        responses.weights(answer)
    assert caught.value.field == path


READERS = (agent_capacities, registered_agents, agents_in_service)


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("indent", [None, 1])  # as text, and as JSON
@pytest.mark.parametrize("number", [2, 300])
def test_an_agent_that_is_there_twice(read: Any, indent: int | None, number: int) -> None:
    listed = [agent(str(index)) for index in range(number - 1)] + [agent("0")]
    text = json.dumps({"slaves": listed}, indent=indent, separators=None if indent else (",", ":")).encode()
    with pytest.raises(UnexpectedAnswer) as caught:
        read([text])
    assert caught.value.field == f"slaves[{number - 1}].id"


def test_an_agent_that_is_there_twice_in_an_answer_in_one_piece() -> None:
    with pytest.raises(UnexpectedAnswer) as caught:
        agents({"slaves": [agent(), agent()]})
    assert caught.value.field == "slaves[1].id"


@pytest.mark.parametrize("read", [agent_capacities, registered_agents])
@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize(
    "changes", [{"ports": 2**64 - 1}, {"ports": 2**64}, {"ports": 1e300}, {"cpus": -1}, {"ports": -1}]
)
def test_amounts_that_cannot_be(read: Any, indent: int | None, changes: dict[str, Any]) -> None:
    text = json.dumps({"slaves": [agent(**changes)]}, indent=indent, separators=None if indent else (",", ":"))
    with pytest.raises(UnexpectedAnswer) as caught:
        list(read([text.encode()]))
    assert "slaves[0].unreserved_resources_full" in str(caught.value.field)


def test_large_ranges_that_can_be_read_are() -> None:
    (found,) = registered_agents([json.dumps({"slaves": [agent(ports=2**63)]}).encode()])
    assert "ports:[0-9223372036854775808]" in str(found.total)


def state(agents: list[str], frameworks: list[str]) -> bytes:
    def whole(name: str) -> dict[str, Any]:
        info = {"id": {"value": name}, "hostname": "h", "resources": []}
        return {"agent_info": info, "active": True, "pid": "", "total_resources": [], "allocated_resources": []}

    def framework(name: str) -> dict[str, Any]:
        return {"framework_info": {"id": {"value": name}, "name": "n", "user": "u"}, "active": True, "connected": True}

    parts = {
        "get_agents": {"agents": [whole(name) for name in agents]},
        "get_frameworks": {"frameworks": [framework(name) for name in frameworks]},
    }
    return json.dumps({"type": "GET_STATE", "get_state": parts}).encode()


@pytest.mark.parametrize(
    ("agents", "frameworks", "path"),
    [
        (["a", "b", "a"], [], "get_agents.agents[2].agent_info.id.value"),
        ([], ["f", "f"], "get_frameworks.frameworks[1].framework_info.id.value"),
    ],
)
def test_the_state(agents: list[str], frameworks: list[str], path: str) -> None:
    with pytest.raises(UnexpectedAnswer) as caught:
        cluster_state([state(agents, frameworks)])
    assert caught.value.field == path
    assert cluster_state([state(agents[:2], frameworks[:1])])


@pytest.mark.parametrize(
    ("version", "is_one"),
    [
        ("1.11.0", True), ("1.4", True), ("1.9.0-rc1", True), ("10.2", True), ("", False), ("one", False), ("1", False),
        ("1.\u0661.0", False), ("\uff11.4", False), ("v1.4", False), ("1.4444444444444", False), (" 1.4", False),
    ],
)  # fmt: skip
def test_versions(version: str, is_one: bool) -> None:
    assert is_version(version) is is_one
