"""Agents whose resources are in JSON, the one way to describe separate disks; and what commands do with these."""

import json
from pathlib import Path
from typing import Any

import pytest

from fake_master.sources.agent_tables import AgentSpec
from fake_master.sources.cluster_file import read_cluster
from mesosctl.mesos.errors import BadInput
from mesosctl.mesos.messages.agent_operations import read_create
from mesosctl.mesos.rules.version_profile import DOCUMENTS, PROFILES, Profile
from tests.helpers.lab import CommandLine, Lab


def disk(size: float, kind: str, root: str | None = None) -> dict[str, Any]:
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
        (disk(1, "PATH"), "has no root"),
        (disk(1, "MOUNT", ""), "has no root"),
        (disk(1, "PATH") | {"disk": {"source": {"type": "PATH", "mount": {"root": "/x"}}}}, "has no root"),
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
        AgentSpec(json.dumps([entry])).configured(0, DOCUMENTS)


@pytest.mark.parametrize("profile", PROFILES.values(), ids=lambda profile: profile.name)
def test_only_a_master_of_1_5_does_not_live_with_a_provider_that_an_agent_names(profile: Profile) -> None:
    agent = AgentSpec(json.dumps([plain("cpus", 1), plain("mem", 64) | {"provider_id": {"value": "p"}}]))
    if profile.name == "1.5":
        with pytest.raises(BadInput, match="64MiB mem names a resource provider"):
            agent.configured(0, profile)
    else:
        cpus, mem = agent.configured(0, profile)
        assert (cpus.provider_id, mem.provider_id) == (None, "p")


def test_a_text_that_is_not_json() -> None:
    with pytest.raises(BadInput, match="resources in JSON"):
        AgentSpec('[{"name": "cpus",]').configured(0, DOCUMENTS)


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


def reserved(entry: dict[str, Any]) -> dict[str, Any]:
    return entry | {"reservations": [{"type": "DYNAMIC", "role": "db"}]}


def volume(entry: dict[str, Any], name: str) -> dict[str, Any]:
    about = {"persistence": {"id": name}, "volume": {"container_path": "data", "mode": "RW"}}
    return reserved(entry) | {"disk": entry["disk"] | about}


VOLUMES = [volume(disk(500, "MOUNT", "/mnt/one"), "v1"), volume(disk(60, "PATH", "/mnt/data"), "v2")]
FORMS: dict[str, Any] = {
    "array": VOLUMES,
    "endpoint": {"volumes": VOLUMES},
    "call": {"type": "CREATE_VOLUMES", "create_volumes": {"volumes": VOLUMES}},
    "operation": {"type": "CREATE", "create": {"volumes": VOLUMES}},
}


def lab_with_volumes(form: str = "array") -> Lab:
    lab = Lab(json.dumps(ENTRIES))
    typed = CommandLine(lab)
    payload = [reserved(disk(500, "MOUNT", "/mnt/one")), reserved(disk(500, "PATH", "/mnt/data"))]
    assert typed.run("reserve", "agent-1", "-f", "-", stdin=json.dumps(payload)).status == 0
    made = typed.run("volumes", "create", "agent-1", "-f", "-", stdin=json.dumps(FORMS[form]))
    assert made.status == 0, made
    return lab


@pytest.mark.parametrize("form", FORMS)
def test_volumes_come_from_a_file(form: str) -> None:
    shown = json.loads(CommandLine(lab_with_volumes(form)).run("volumes", "list", "-o", "json").out)["volumes"]
    assert [(entry["volume"]["id"], entry["source"]) for entry in shown] == [
        ("v1", {"type": "MOUNT", "root": "/mnt/one"}),
        ("v2", {"type": "PATH", "root": "/mnt/data"}),
    ]


def test_the_creator_of_a_volume_in_a_file_is_the_principal() -> None:
    (made,) = read_create(json.dumps(VOLUMES[:1]), "a.json", "ops").resources
    assert made.disk is not None
    assert made.disk.principal == "ops"


@pytest.mark.parametrize(
    ("content", "status", "says"),
    [
        ({"destroy_volumes": {"volumes": VOLUMES}}, 3, "this is a request to destroy volumes"),
        ([reserved(disk(500, "MOUNT", "/mnt/one"))], 3, "volumes[0]"),
        ([volume(disk(400, "MOUNT", "/mnt/one"), "v3")], 6, "agent agent-1 does not have"),
        ([VOLUMES[1]], 3, "'v2' is not unique for role 'db'"),
        (3, 3, "it should be an array of volumes, or an object"),
    ],
)
def test_volumes_in_a_file_that_cannot_be(content: object, status: int, says: str) -> None:
    ran = CommandLine(lab_with_volumes()).run("volumes", "create", "agent-1", "-f", "-", stdin=json.dumps(content))
    assert ran.status == status, ran
    assert says in ran.err


def test_of_several_disks_the_file_chooses_one() -> None:
    lab = Lab(json.dumps([*ENTRIES, disk(500, "MOUNT", "/mnt/two")]))
    typed = CommandLine(lab)
    payload = [reserved(disk(500, "MOUNT", root)) for root in ("/mnt/one", "/mnt/two")]
    assert typed.run("reserve", "agent-1", "-f", "-", stdin=json.dumps(payload)).status == 0
    unclear = typed.run("volumes", "create", "agent-1", "v", "disk:500", "--role", "db")
    assert unclear.status == 2
    assert "mesosctl volumes create agent-1 -f FILE reads JSON that names the disk" in unclear.err
    assert typed.run("volumes", "create", "agent-1", "-f", "-", stdin=json.dumps(VOLUMES[:1])).status == 0


def everything(lab: Lab) -> list[str]:
    """All resources of all agents, in no particular order."""
    found = []
    for agent in lab.agents:
        owned = [entry for listed in agent["reserved_resources_full"].values() for entry in listed]
        found += sorted(json.dumps(entry, sort_keys=True) for entry in [*agent["unreserved_resources_full"], *owned])
    return found


def test_a_cluster_file_keeps_separate_disks() -> None:
    lab = lab_with_volumes()
    written = CommandLine(lab).run("export", "--cluster")
    assert (written.status, written.err) == (0, ""), written
    again = Lab()
    again.start(read_cluster(written.out, "x.toml"), takes_over=False)
    assert everything(again) == everything(lab)


def test_a_desired_state_keeps_reservations_of_separate_disks(tmp_path: Path) -> None:
    lab = lab_with_volumes()
    wanted = tmp_path / "wanted.toml"
    assert CommandLine(lab).run("export", "-f", str(wanted)).status == 0
    assert CommandLine(lab).run("diff", "-f", str(wanted)).status == 0
    fresh = Lab(json.dumps(ENTRIES))
    assert CommandLine(fresh).run("diff", "-f", str(wanted)).status == 1
    applied = CommandLine(fresh).run("apply", "-f", str(wanted), "--yes", XDG_STATE_HOME=str(tmp_path))
    assert applied.status == 0, applied
    assert CommandLine(fresh).run("diff", "-f", str(wanted)).status == 0
    held = [entry for entry in map(json.loads, everything(fresh)) if "reservations" in entry]
    assert [(entry["scalar"]["value"], entry["disk"]["source"]["type"]) for entry in held] == [
        (500.0, "MOUNT"),
        (500.0, "PATH"),
    ]


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ("[[reservations]]\nrole = 'db'\nresources = '''[{VOLUME}]'''", "names an owner"),
        ("[[reservations]]\nrole = 'db'\nresources = '''[{MOUNT}, {}]'''", "resources in JSON"),
        ("[[volumes]]\nid = 'v'\nrole = 'db'\nsize = '''[{MOUNT}]'''", r"does not have disk\[MOUNT:/mnt/one\]:500"),
        ("[[volumes]]\nid = 'v'\nrole = 'db'\nsize = '''[{VOLUME}]'''", "is not an amount of disk"),
    ],
)
def test_wrong_disks_in_a_cluster_file(table: str, says: str) -> None:
    table = table.replace("{VOLUME}", json.dumps(VOLUMES[0])).replace("{MOUNT}", json.dumps(ENTRIES[3]))
    text = f"[[agents]]\nhostname = 'a'\nresources = '''{json.dumps(ENTRIES)}'''\n{table}\nagent = 'a'\n"
    with pytest.raises(BadInput, match=says):
        read_cluster(text, "x.toml").start()
