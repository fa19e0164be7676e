"""Agents whose resources are in JSON, the one way to describe separate disks; and what commands do with these."""

import json
import tomllib

import pytest

from fake_master.sources.agent_tables import AgentSpec
from mesosctl.model.errors import BadInput
from tests.helpers.lab import CommandLine, Lab


def disk(size: float, kind: str, root: str | None = None) -> dict[str, object]:
    source = {"type": kind} | ({} if root is None else {kind.lower(): {"root": root}})
    return {"name": "disk", "type": "SCALAR", "scalar": {"value": size}, "disk": {"source": source}}


def plain(name: str, value: float) -> dict[str, object]:
    return {"name": name, "type": "SCALAR", "scalar": {"value": value}}


ENTRIES = [
    *(plain("cpus", 4), plain("mem", 1024), plain("disk", 10)),
    disk(500, "MOUNT", "/mnt/one"),
    disk(700, "PATH", "/mnt/data"),
    disk(30, "BLOCK"),
    disk(20, "RAW"),
]


def sources(lab: Lab) -> list[tuple[str, float]]:
    (agent,) = lab.agents
    entries = [entry for entry in agent["unreserved_resources_full"] if "disk" in entry]
    return [(entry["disk"]["source"]["type"], entry["scalar"]["value"]) for entry in entries]


def test_an_agent_in_json_has_separate_disks() -> None:
    lab = Lab(json.dumps(ENTRIES))
    assert sources(lab) == [("MOUNT", 500.0), ("PATH", 700.0), ("BLOCK", 30.0), ("RAW", 20.0)]
    assert lab.agents[0]["resources"]["disk"] == 1260.0


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        (plain("cpus", 1) | {"reservations": [{"type": "DYNAMIC", "role": "r"}]}, "is reserved dynamically"),
        (plain("cpus", 1) | {"revocable": {}}, "is revocable"),
        ({"name": "cpus", "type": "SCALAR"}, "a SCALAR resource has a scalar"),
        ({"type": "SCALAR"}, r"Missing required fields: \[0\].name"),
        (
            disk(1, "PATH", "/x")
            | {"disk": {"persistence": {"id": "v"}, "volume": {"container_path": "p", "mode": "RW"}}},
            "is a persistent volume",
        ),
    ],
)
def test_what_no_agent_starts_with(entry: dict[str, object], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        AgentSpec(json.dumps([entry])).configured(0)


def test_a_text_that_is_not_json() -> None:
    with pytest.raises(BadInput, match="resources in JSON"):
        AgentSpec('[{"name": "cpus",]').configured(0)


def test_disks_are_reserved_shown_and_made_volumes() -> None:
    lab = Lab(json.dumps(ENTRIES))
    typed = CommandLine(lab)
    for size, kind, root in ((500, "MOUNT", "/mnt/one"), (100, "PATH", "/mnt/data")):
        payload = json.dumps([disk(size, kind, root) | {"reservations": [{"type": "DYNAMIC", "role": "db"}]}])
        reserved = typed.run("reserve", "agent-1", "-f", "-", stdin=payload)
        assert reserved.status == 0, reserved
    listed = json.loads(typed.run("reservations", "-o", "json").out)["reservations"]
    assert [entry["source"] for entry in listed] == [
        {"type": "MOUNT", "root": "/mnt/one"},
        {"type": "PATH", "root": "/mnt/data"},
    ]
    assert "MOUNT:/mnt/one" in typed.run("reservations", "-o", "wide").out
    made = typed.run("volumes", "create", "agent-1", "v1", "disk:500", "--role", "db", "--path", "data")
    assert made.status == 0, made
    made = typed.run("volumes", "create", "agent-1", "v2", "disk:60", "--role", "db")
    assert made.status == 0, made
    shown = json.loads(typed.run("volumes", "list", "-o", "json").out)["volumes"]
    assert {(entry["volume"]["id"], entry["source"]["type"]) for entry in shown} == {("v1", "MOUNT"), ("v2", "PATH")}


def test_a_cluster_file_keeps_separate_disks() -> None:
    lab = Lab(json.dumps(ENTRIES))
    written = CommandLine(lab).run("export", "--cluster")
    assert written.status == 0, written
    (agent,) = tomllib.loads(written.out)["agents"]
    again = Lab(agent["resources"])
    assert sources(again) == sources(lab)
    assert again.agents[0]["resources"] == lab.agents[0]["resources"]
