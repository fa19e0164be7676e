"""Authorization beyond roles: frameworks, machines, agents and flags, one table on every master."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.conformance.callers.frameworks import Framework
from tests.conformance.masters.carriers import Carrier, Pool
from tests.conformance.masters.cluster import Cluster, Setup, basic

ANY, NONE = {"type": "ANY"}, {"type": "NONE"}
# Action → the field of its object, and a value that one principal may act upon and another may not.
OBJECTS = {
    "view_frameworks": ("users", "u"),
    "teardown_frameworks": ("framework_principals", "owner"),
    "update_maintenance_schedules": ("machines", None),
    "get_maintenance_schedules": ("machines", None),
    "start_maintenances": ("machines", None),
    "stop_maintenances": ("machines", None),
    "get_maintenance_statuses": ("machines", None),
    "mark_agents_gone": ("agents", None),
    "drain_agents": ("agents", None),
    "deactivate_agents": ("agents", None),
    "reactivate_agents": ("agents", None),
    "view_flags": ("flags", None),
    "set_log_level": ("level", None),
}
# What the rules say of each; None where no rule speaks of them.
SAID: dict[str, bool | None] = {"root": True, "nobody": False, "named": True, "other": False, "stranger": None}


def rules(subject: str, value: str | None) -> list[dict[str, Any]]:
    def rule(principal: str, entity: dict[str, Any]) -> dict[str, Any]:
        return {"principals": {"values": [principal]}, subject: entity}

    named = ANY if value is None else {"values": [value]}
    other = NONE if value is None else {"values": ["somebody-else"]}
    listed = [rule("root", ANY), rule("nobody", NONE), rule("named", named), rule("other", other)]
    # Somebody else's is allowed; about all others "other" is told no.
    return [*listed, *([] if value is None else [rule("other", NONE)])]


def setup(*, permissive: bool, authenticates: bool = True) -> Setup:
    flags = {"authenticate_http_readwrite": "true", "authenticate_http_readonly": "true"} if authenticates else {}
    return Setup(
        agents=("cpus:4;mem:2048",),
        flags=flags,
        principals=tuple(SAID) if authenticates else (),
        acls={
            "permissive": permissive,
            "register_agents": [{"principals": ANY, "agents": ANY}],
            "register_frameworks": [{"principals": ANY, "roles": ANY}],
            **{action: rules(*subject) for action, subject in OBJECTS.items()},
        },
    )


SETUPS = {permissive: setup(permissive=permissive) for permissive in (True, False)}
OPEN = {permissive: setup(permissive=permissive, authenticates=False) for permissive in (True, False)}


@pytest.fixture
def framework(master: Cluster) -> Iterator[Framework]:
    joined = Framework(master, "web", principal="owner").subscribe()
    yield joined
    joined.stream.hang_up()


def expected(*, permissive: bool) -> dict[str, bool]:
    return {principal: permissive if said is None else said for principal, said in SAID.items()}


def call(master: Cluster, name: str, body: dict[str, Any] | None, *, by: str | None) -> int:
    headers = {"Content-Type": "application/json", "Accept": "application/json", **(basic(by) if by else {})}
    content = json.dumps({"type": name} | ({} if body is None else {name.lower(): body}))
    return master.request("POST", "/api/v1", content=content, headers=headers).status


@pytest.mark.parametrize("path", ["/frameworks", "/state", "/state-summary"])
def test_seeing_frameworks(master: Cluster, framework: Framework, permissive: bool, path: str) -> None:
    def sees(principal: str) -> bool:
        answer = master.request("GET", path, headers=basic(principal))
        assert answer.status == 200
        return framework.id in [entry["id"] for entry in answer.json()["frameworks"]]

    assert {principal: sees(principal) for principal in SAID} == expected(permissive=permissive)


def test_tearing_a_framework_down(master: Cluster, permissive: bool) -> None:
    def tears(principal: str) -> bool:
        joined = Framework(master, "web", principal="owner").subscribe()
        status = call(master, "TEARDOWN", {"framework_id": {"value": joined.id}}, by=principal)
        assert status in (200, 403), status
        joined.stream.hang_up()
        return status == 200

    assert {principal: tears(principal) for principal in SAID} == expected(permissive=permissive)


def test_seeing_flags(master: Cluster, permissive: bool) -> None:
    def sees(principal: str) -> bool:
        status = master.request("GET", "/flags", headers=basic(principal)).status
        assert status in (200, 403)
        assert call(master, "GET_FLAGS", None, by=principal) == status
        assert ("flags" in master.request("GET", "/state", headers=basic(principal)).json()) is (status == 200)
        return status == 200

    assert {principal: sees(principal) for principal in SAID} == expected(permissive=permissive)


def logging_level(master: Cluster, level: object, seconds: float, *, by: str) -> int:
    duration = {"nanoseconds": int(seconds * 1e9)}
    return call(master, "SET_LOGGING_LEVEL", {"level": level, "duration": duration}, by=by)


def test_the_logging_level(master: Cluster, permissive: bool) -> None:
    def level() -> int:
        types = {"Content-Type": "application/json", "Accept": "application/json"}
        headers = {**types, **basic("nobody")}  # whom no rule keeps from looking
        answer = master.request("POST", "/api/v1", content='{"type":"GET_LOGGING_LEVEL"}', headers=headers)
        assert answer.status == 200
        shown = answer.json()
        assert shown["type"] == "GET_LOGGING_LEVEL"
        assert set(shown["get_logging_level"]) == {"level"}
        return int(shown["get_logging_level"]["level"])

    done = {who: logging_level(master, 0, 0, by=who) for who in SAID}
    assert {who: status == 200 for who, status in done.items()} == expected(permissive=permissive)
    assert set(done.values()) <= {200, 403}
    for bad in (None, {}, {"level": 1}, {"duration": {"nanoseconds": 1}}, {"level": "x", "duration": {}}):
        assert call(master, "SET_LOGGING_LEVEL", bad, by="root") == 400
    before = level()
    for wanted, seconds in ((3, 600), ("2", 600), (100, 600), (4294967295, 600), (before, 600)):
        assert logging_level(master, wanted, seconds, by="root") == 200
        assert level() == int(wanted)


def test_everybody_sees_metrics(master: Cluster) -> None:
    assert {master.request("GET", "/metrics/snapshot", headers=basic(who)).status for who in SAID} == {200}
    assert {call(master, "GET_METRICS", {}, by=who) for who in SAID} == {200}


WINDOW = {"machine_ids": [{"hostname": "far-away", "ip": "10.0.0.9"}], "unavailability": {"start": {"nanoseconds": 0}}}
SCHEDULE = {"schedule": {"windows": [WINDOW]}}
MACHINES = {"machines": WINDOW["machine_ids"]}


@pytest.fixture
def scheduled(master: Cluster) -> Iterator[Cluster]:
    assert call(master, "UPDATE_MAINTENANCE_SCHEDULE", SCHEDULE, by="root") == 200
    yield master
    call(master, "STOP_MAINTENANCE", MACHINES, by="root")
    assert call(master, "UPDATE_MAINTENANCE_SCHEDULE", {"schedule": {}}, by="root") == 200


def test_scheduling_maintenance(scheduled: Cluster, permissive: bool) -> None:
    done = {principal: call(scheduled, "UPDATE_MAINTENANCE_SCHEDULE", SCHEDULE, by=principal) for principal in SAID}
    assert {who: status == 200 for who, status in done.items()} == expected(permissive=permissive)
    assert set(done.values()) <= {200, 403}


@pytest.mark.parametrize(("name", "undo"), [("START_MAINTENANCE", "STOP_MAINTENANCE"), ("STOP_MAINTENANCE", "")])
def test_taking_machines_down_and_up(scheduled: Cluster, permissive: bool, name: str, undo: str) -> None:
    def acts(principal: str) -> bool:
        if name == "STOP_MAINTENANCE":
            assert call(scheduled, "UPDATE_MAINTENANCE_SCHEDULE", SCHEDULE, by="root") == 200
            assert call(scheduled, "START_MAINTENANCE", MACHINES, by="root") == 200
        status = call(scheduled, name, MACHINES, by=principal)
        assert status in (200, 403), status
        if status == 200 and undo:
            assert call(scheduled, undo, MACHINES, by="root") == 200
            assert call(scheduled, "UPDATE_MAINTENANCE_SCHEDULE", SCHEDULE, by="root") == 200
        if status == 403 and name == "STOP_MAINTENANCE":
            assert call(scheduled, name, MACHINES, by="root") == 200
        return status == 200

    assert {principal: acts(principal) for principal in SAID} == expected(permissive=permissive)


@pytest.mark.parametrize("path", ["/maintenance/schedule", "/maintenance/status"])
def test_seeing_maintenance(scheduled: Cluster, permissive: bool, path: str) -> None:
    def sees(principal: str) -> bool:
        answer = scheduled.request("GET", path, headers=basic(principal))
        assert answer.status == 200
        return b"far-away" in answer.content

    assert {principal: sees(principal) for principal in SAID} == expected(permissive=permissive)


@pytest.mark.parametrize(
    ("name", "allowed"),
    [("MARK_AGENT_GONE", 404), ("DRAIN_AGENT", 400), ("DEACTIVATE_AGENT", 400), ("REACTIVATE_AGENT", 400)],
)
def test_agents_that_are_not_there(master: Cluster, permissive: bool, name: str, allowed: int) -> None:
    """Who may act is told that there is no such agent; who may not is told that first."""
    done = {who: call(master, name, {"agent_id": {"value": "nobody"}}, by=who) for who in SAID}
    wanted = {who: allowed if may else 403 for who, may in expected(permissive=permissive).items()}
    assert done == wanted


@pytest.mark.parametrize("permissive_setup", OPEN, ids=["permissive", "strict"])
def test_without_authentication_rules_about_principals_speak_of_nobody(
    carrier: Carrier, pool: Pool, permissive_setup: bool
) -> None:
    master = pool.lend(carrier, OPEN[permissive_setup])
    wanted = 200 if permissive_setup else 403
    # Whatever credentials are shown, nobody looks at them.
    for headers in ({}, basic("root", "x")):
        assert master.request("GET", "/flags", headers=headers).status == wanted
    assert call(master, "UPDATE_MAINTENANCE_SCHEDULE", SCHEDULE, by=None) == wanted
    assert call(master, "MARK_AGENT_GONE", {"agent_id": {"value": "nobody"}}, by=None) == (
        404 if permissive_setup else 403
    )
    if permissive_setup:
        assert call(master, "UPDATE_MAINTENANCE_SCHEDULE", {"schedule": {}}, by=None) == 200
