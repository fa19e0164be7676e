"""Authorization of actions upon roles: one table of principals, actions and roles on every master."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.conformance.callers.owning import owned, reserve, unreserve
from tests.conformance.masters.cluster import Cluster, Setup, basic
from tests.conformance.scenarios.scenario import scalars

ROLES = ("web", "web/a", "ads")
# What the rules say of each principal and role, whatever the action; None where no rule speaks of them.
SAID: dict[str, dict[str, bool | None]] = {
    "root": {"web": True, "web/a": True, "ads": True},
    "web-only": {"web": True, "web/a": False, "ads": False},
    "below-web": {"web": False, "web/a": True, "ads": False},
    "nobody": {"web": False, "web/a": False, "ads": False},
    "open-ended": {"web": True, "web/a": None, "ads": None},
    "stranger": {"web": None, "web/a": None, "ads": None},
}
# The same of those who undo what others reserved or made.
UNDOES: dict[str, dict[str, bool | None]] = {
    "root": {"root": True, "stranger": True},
    "web-only": {"root": False, "stranger": False},
    "nobody": {"root": False, "stranger": False},
    "open-ended": {"root": True, "stranger": None},
    "stranger": {"root": None, "stranger": None},
}
ANY, NONE = {"type": "ANY"}, {"type": "NONE"}


def rule(principal: str, subject: str, *values: str, **entity: str) -> dict[str, Any]:
    return {"principals": {"values": [principal]}, subject: {"values": list(values)} if values else entity}


ABOUT_ROLES = [
    rule("root", "roles", **ANY),
    rule("web-only", "roles", "web"),
    rule("web-only", "roles", **NONE),
    rule("below-web", "roles", "web/%"),
    rule("below-web", "roles", **NONE),
    rule("nobody", "roles", **NONE),
    rule("open-ended", "roles", "web"),
]


def about_owners(subject: str) -> list[dict[str, Any]]:
    return [
        rule("root", subject, **ANY),
        rule("web-only", subject, **NONE),
        rule("nobody", subject, **NONE),
        rule("open-ended", subject, "root"),
    ]


def setup(*, permissive: bool) -> Setup:
    about_roles = "get_quotas update_quotas update_weights view_roles reserve_resources create_volumes".split()
    return Setup(
        agents=("cpus:12;mem:6144;disk:1000",),
        flags={"authenticate_http_readwrite": "true", "authenticate_http_readonly": "true"},
        principals=tuple(SAID),
        acls={
            "permissive": permissive,
            "register_agents": [{"principals": ANY, "agents": ANY}],
            **dict.fromkeys(about_roles, ABOUT_ROLES),
            "unreserve_resources": about_owners("reserver_principals"),
            "destroy_volumes": about_owners("creator_principals"),
        },
    )


SETUPS = {permissive: setup(permissive=permissive) for permissive in (True, False)}


def expected(table: dict[str, dict[str, bool | None]], *, permissive: bool) -> dict[tuple[str, str], bool]:
    return {
        (principal, target): permissive if said is None else said
        for principal, row in table.items()
        for target, said in row.items()
    }


def allowed(status: int, *, done: int) -> bool:
    """What a status says; anything but the two is another fault."""
    assert status in (done, 403), status
    return status == done


def played(table: dict[str, dict[str, bool | None]], act: Callable[[str, str], bool]) -> dict[tuple[str, str], bool]:
    return {(principal, target): act(principal, target) for principal, row in table.items() for target in row}


def set_quota(master: Cluster, role: str, *, by: str) -> int:
    body = json.dumps({"role": role, "force": True, "guarantee": scalars(cpus=1)})
    return master.request("POST", "/quota", content=body, headers=basic(by)).status


def give_quota(master: Cluster, *roles: str) -> None:
    """Quotas for these roles and for nobody else."""
    master.clear_quota()
    for role in roles:
        assert set_quota(master, role, by="root") == 200


# Mesos knows no quota of a nested role.
SAID_OF_QUOTA = {
    principal: {role: said for role, said in row.items() if "/" not in role} for principal, row in SAID.items()
}


def test_setting_a_quota(master: Cluster, permissive: bool) -> None:
    def act(principal: str, role: str) -> bool:
        master.clear_quota()
        return allowed(set_quota(master, role, by=principal), done=200)

    assert played(SAID_OF_QUOTA, act) == expected(SAID_OF_QUOTA, permissive=permissive)


def test_removing_a_quota(master: Cluster, permissive: bool) -> None:
    def act(principal: str, role: str) -> bool:
        give_quota(master, role)
        return allowed(call(master, "REMOVE_QUOTA", {"role": role}, by=principal), done=200)

    assert played(SAID_OF_QUOTA, act) == expected(SAID_OF_QUOTA, permissive=permissive)


def test_seeing_a_quota(master: Cluster, permissive: bool) -> None:
    give_quota(master, "web", "ads")

    def act(principal: str, role: str) -> bool:
        answer = master.request("GET", "/quota", headers=basic(principal))
        assert answer.status == 200
        return role in [info["role"] for info in answer.json().get("infos", ())]

    assert played(SAID_OF_QUOTA, act) == expected(SAID_OF_QUOTA, permissive=permissive)


def test_setting_a_weight(master: Cluster, permissive: bool) -> None:
    def act(principal: str, role: str) -> bool:
        body = json.dumps([{"role": role, "weight": 2}])
        return allowed(master.request("PUT", "/weights", content=body, headers=basic(principal)).status, done=200)

    assert played(SAID, act) == expected(SAID, permissive=permissive)


@pytest.mark.parametrize(
    ("path", "roles"),
    [
        ("/weights", lambda answer: [entry["role"] for entry in answer]),
        ("/roles", lambda answer: [entry["name"] for entry in answer["roles"]]),
    ],
    ids=["weights", "roles"],
)
def test_seeing_roles(master: Cluster, permissive: bool, path: str, roles: Callable[[Any], list[str]]) -> None:
    weights = json.dumps([{"role": role, "weight": 3} for role in ROLES])
    assert master.request("PUT", "/weights", content=weights, headers=basic("root")).status == 200

    def act(principal: str, role: str) -> bool:
        answer = master.request("GET", path, headers=basic(principal))
        assert answer.status == 200
        return role in roles(answer.json())

    assert played(SAID, act) == expected(SAID, permissive=permissive)


def test_reserving(master: Cluster, permissive: bool) -> None:
    def act(principal: str, role: str) -> bool:
        part = owned(role, principal, cpus=1)
        may = allowed(reserve(master, part, by=principal), done=202)
        if may:
            assert unreserve(master, part, by="root") == 202
        return may

    assert played(SAID, act) == expected(SAID, permissive=permissive)


def test_creating_volumes(master: Cluster, permissive: bool) -> None:
    def act(principal: str, role: str) -> bool:
        part = owned(role, "root", disk=10)
        assert reserve(master, part, by="root") == 202
        status = volumes(master, "CREATE_VOLUMES", volume(part, principal), by=principal)
        may = allowed(status, done=202)
        if may:
            assert volumes(master, "DESTROY_VOLUMES", volume(part, principal), by="root") == 202
        assert unreserve(master, part, by="root") == 202
        return may

    assert played(SAID, act) == expected(SAID, permissive=permissive)


def test_unreserving_what_somebody_reserved(master: Cluster, permissive: bool) -> None:
    def act(principal: str, owner: str) -> bool:
        part = owned("ads", owner, cpus=1)
        assert reserve(master, part, by=owner) == 202
        may = allowed(unreserve(master, part, by=principal), done=202)
        if not may:
            assert unreserve(master, part, by="root") == 202
        return may

    table = UNDOES if permissive else without(UNDOES, "stranger")
    assert played(table, act) == expected(table, permissive=permissive)


def test_destroying_what_somebody_created(master: Cluster, permissive: bool) -> None:
    def act(principal: str, owner: str) -> bool:
        part = owned("ads", "root", disk=10)
        assert reserve(master, part, by="root") == 202
        made = volume(part, owner)
        assert volumes(master, "CREATE_VOLUMES", made, by=owner) == 202
        may = allowed(volumes(master, "DESTROY_VOLUMES", made, by=principal), done=202)
        if not may:
            assert volumes(master, "DESTROY_VOLUMES", made, by="root") == 202
        assert unreserve(master, part, by="root") == 202
        return may

    table = UNDOES if permissive else without(UNDOES, "stranger")
    assert played(table, act) == expected(table, permissive=permissive)


def without(table: dict[str, dict[str, bool | None]], owner: str) -> dict[str, dict[str, bool | None]]:
    """The table without what `owner` made: where no rule lets it make anything."""
    return {
        principal: {target: said for target, said in row.items() if target != owner} for principal, row in table.items()
    }


def volume(part: list[dict[str, Any]], creator: str) -> list[dict[str, Any]]:
    disk = {
        "persistence": {"id": "volume", "principal": creator},
        "volume": {"container_path": "data", "mode": "RW"},
    }
    return [entry | {"disk": disk} for entry in part]


def volumes(master: Cluster, name: str, resources: list[dict[str, Any]], *, by: str) -> int:
    return call(master, name, {"agent_id": {"value": master.agents()[0]["id"]}, "volumes": resources}, by=by)


def call(master: Cluster, name: str, body: dict[str, Any], *, by: str) -> int:
    headers = {"Content-Type": "application/json", "Accept": "application/json", **basic(by)}
    content = json.dumps({"type": name, name.lower(): body})
    return master.request("POST", "/api/v1", content=content, headers=headers).status


@pytest.mark.parametrize("path", ["/quota", "/weights", "/slaves", "/state", "/roles", "/metrics/snapshot"])
@pytest.mark.parametrize(
    "headers",
    [{}, basic("root", "wrong"), basic("unknown"), {"Authorization": "Bearer x"}, {"Authorization": "Basic %%%"}],
    ids=["none", "wrong-secret", "unknown", "another-scheme", "not-base64"],
)
def test_without_the_right_credentials(master: Cluster, path: str, headers: dict[str, str]) -> None:
    answer = master.request("GET", path, headers=headers)
    assert answer.status == 401
    assert answer.headers["www-authenticate"].startswith('Basic realm="mesos-master-read')
