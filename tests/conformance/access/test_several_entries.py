"""One request about what several principals reserved or made: every entry is authorized by its own, or none counts."""

import json
from collections.abc import Sequence
from itertools import combinations
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.conformance.masters.cluster import Cluster, Setup, basic
from tests.conformance.scenarios.reserving import cpus, disk, dynamic, mem

ANY, NONE = {"type": "ANY"}, {"type": "NONE"}
# Whose reservations and volumes each may undo.
MAY = {"root": ("root", "p", "q"), "p": ("p", "root"), "q": ("q",)}


def setup(*, permissive: bool) -> Setup:
    def rules(subject: str) -> list[dict[str, Any]]:
        named = [{"principals": {"values": [by]}, subject: {"values": list(of)}} for by, of in MAY.items()]
        return [*named, {"principals": ANY, subject: NONE}]

    return Setup(
        agents=("cpus:8;mem:2048;disk:1000",),
        flags={"authenticate_http_readwrite": "true", "authenticate_http_readonly": "true"},
        principals=tuple(MAY),
        acls={
            "permissive": permissive,
            **{
                name: [{"principals": ANY, "roles": ANY}]
                for name in ("reserve_resources", "create_volumes", "view_roles")
            },
            "register_agents": [{"principals": ANY, "agents": ANY}],
            "unreserve_resources": rules("reserver_principals"),
            "destroy_volumes": rules("creator_principals"),
        },
    )


SETUPS = {permissive: setup(permissive=permissive) for permissive in (True, False)}
# Whoever is last in a stack reserved it; those below have no say.
ENTRIES = {
    "p": cpus(1, dynamic("web", "p")),
    "q": mem(64, dynamic("ads", "q")),
    "q, under p": cpus(1, dynamic("web", "p"), dynamic("web/x", "q")),
    "p, under q": mem(64, dynamic("web", "q"), dynamic("web/x", "p")),
    "root, under q and p": cpus(1, dynamic("ads", "q"), dynamic("ads/x", "p"), dynamic("ads/x/y", "root")),
}
COMPANIES = [chosen for count in (1, 2, 3) for chosen in combinations(ENTRIES, count)]


def sent(master: Cluster, door: str, kind: str, field: str, entries: Sequence[Any], *, by: str) -> int:
    agent = master.agents()[0]["id"]
    if door == "form":
        path = "/" + kind.lower().replace("_resources", "").replace("_", "-")
        content = urlencode({"slaveId": agent, field: json.dumps(entries)})
        return master.request("POST", path, content=content, headers=basic(by)).status
    body = {"type": kind, kind.lower(): {"agent_id": {"value": agent}, field: list(entries)}}
    headers = {"Content-Type": "application/json", "Accept": "application/json", **basic(by)}
    return master.request("POST", "/api/v1", content=json.dumps(body), headers=headers).status


def reserved(master: Cluster, entry: dict[str, Any]) -> None:
    """Each level by its own principal."""
    for level, owner in enumerate(entry["reservations"], 1):
        part = {**entry, "reservations": entry["reservations"][:level]}
        assert sent(master, "form", "RESERVE_RESOURCES", "resources", [part], by=owner["principal"]) == 202


def shown(master: Cluster) -> Any:
    agent = master.agents()[0]
    return agent["reserved_resources_full"], agent["unreserved_resources_full"]


@pytest.mark.parametrize("by", MAY)
@pytest.mark.parametrize("door", ["form", "call"])
def test_reservations_are_undone_together_if_each_could_be_alone(master: Cluster, door: str, by: str) -> None:
    for names in COMPANIES:
        entries = [ENTRIES[name] for name in names]
        for entry in entries:
            reserved(master, entry)
        before = shown(master)
        may = all(entry["reservations"][-1]["principal"] in MAY[by] for entry in entries)
        assert sent(master, door, "UNRESERVE_RESOURCES", "resources", entries, by=by) == (202 if may else 403), names
        assert may or shown(master) == before, names
        master.clear_reservations()


def test_volumes_are_destroyed_together_if_each_could_be_alone(master: Cluster) -> None:
    for owner in ("p", "q"):
        reserved(master, disk(100, dynamic("web", owner)))
    for by, theirs in MAY.items():
        for creators in (("p",), ("q",), ("p", "q"), ("q", "p"), ("root", "q")):
            volumes = []
            for number, creator in enumerate(creators):
                made = {
                    "persistence": {"id": f"v{number}", "principal": creator},
                    "volume": {"container_path": "data", "mode": "RW"},
                }
                volumes.append(disk(10, dynamic("web", "pq"[number % 2]), **made))
                assert sent(master, "form", "CREATE_VOLUMES", "volumes", volumes[-1:], by=creator) == 202
            may = all(creator in theirs for creator in creators)
            status = sent(master, "call", "DESTROY_VOLUMES", "volumes", volumes, by=by)
            assert status == (202 if may else 403), (by, creators)
            if not may:
                assert sent(master, "form", "DESTROY_VOLUMES", "volumes", volumes, by="root") == 202
