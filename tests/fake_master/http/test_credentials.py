"""Access by credentials: every route and every call, with every kind of credentials."""

import base64
import hmac
import json
from collections.abc import Iterable
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from fake_master.http.operator_api import STREAMS
from fake_master.http.page import TOKEN
from fake_master.http.request_response import Realm, Response
from tests.helpers.lab import Lab


def basic(pair: str) -> str:
    return "Basic " + base64.b64encode(pair.encode()).decode()


RIGHT = (basic("ops:secret"), basic("silent:"))
WRONG = {
    "none": None,
    "blank": "",
    "unknown": basic("nobody:secret"),
    "unknown, empty": basic("nobody:"),
    "nobody, empty": basic(":"),
    "wrong": basic("ops:secre"),
    "longer": basic("ops:secrets"),
    "empty": basic("ops:"),
    "of another": basic("silent:secret"),
    "upper case": basic("OPS:secret"),
    "no colon": basic("ops"),
    "two colons": basic("ops:secret:"),
    "no base64": "Basic ops:secret",
    "other scheme": RIGHT[0].replace("Basic", "Bearer"),
    "two schemes": f"Bearer x, {RIGHT[0]}",
    "not ASCII": "Basic " + base64.b64encode(b"ops:\xff").decode(),
    "a zero": basic("ops\0:secret"),
}
METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "get")


@pytest.fixture(params=["documents", "1.11"])
def lab(request: pytest.FixtureRequest, tmp_path: Path) -> Lab:
    return Lab(version=request.param, flags=flags(tmp_path, KINDS))


KINDS = {
    "readonly": Realm.READONLY,
    "readwrite": Realm.READWRITE,
    "frameworks": Realm.SCHEDULER,
}
"""The realm that each of the flags guards; those of agents are guarded with the first."""


def flags(folder: Path, kinds: Iterable[str]) -> dict[str, str]:
    """Flags that guard some realms."""
    path = folder / "credentials"
    known = [{"principal": "ops", "secret": "secret"}, {"principal": "silent", "secret": ""}]
    path.write_text(json.dumps({"credentials": known}), encoding="utf-8")
    return {"credentials": str(path), **{f"authenticate_http_{kind}": "true" for kind in kinds}}


def asked(lab: Lab, method: str, target: str, header: str | None, body: Any = None) -> Response:
    credentials = {} if header is None else {"authorization": header}
    return lab.request(method, target, body, **{"x-page-token": TOKEN}, **credentials)


def guarded(lab: Lab) -> list[str]:
    """Every path that needs credentials."""
    endpoints = lab.application.endpoints
    found = []
    for route in endpoints.routes:
        if route.realm is not None:
            found += [f"/{route.path}", *([f"/master/{route.path}", f"/%6daster/{route.path}"] * route.prefixed)]
    assert {route.realm for route in endpoints.routes} == {None, *Realm} - {Realm.AGENT_READONLY}
    return [*found, *(f"/slave(1)/{route.path}" for route in endpoints.of_agents.routes)]


def calls(lab: Lab) -> list[tuple[str, str]]:
    operators = lab.application.endpoints.operator_api
    schedulers = lab.application.endpoints.scheduler_api.served
    return [
        *(("/api/v1", name) for name in (*operators.calls, *STREAMS, *operators.not_served)),
        *(("/api/v1/scheduler", name) for name in schedulers),
    ]


def everything(lab: Lab) -> list[bytes]:
    """The views of the master, apart from its counters."""
    paths = ("/state", "/slaves", "/quota", "/weights", "/flags", "/maintenance/schedule")
    return [asked(lab, "GET", path, RIGHT[0]).body for path in paths]


@pytest.mark.parametrize("kind", WRONG)
def test_no_route_lets_in_whoever_has_not_the_right_credentials(lab: Lab, kind: str) -> None:
    before = everything(lab)
    for path in guarded(lab):
        for method in METHODS:
            answer = asked(lab, method, path, WRONG[kind])
            assert (answer.status, answer.stream) == (401, None), (method, path)
            assert answer.headers["WWW-Authenticate"].startswith("Basic realm=")
    for path, name in calls(lab):
        answer = asked(lab, "POST", path, WRONG[kind], {"type": name})
        assert (answer.status, answer.stream) == (401, None), name
    assert everything(lab) == before


@pytest.mark.parametrize("header", RIGHT)
def test_every_route_lets_in_whoever_has_the_right_credentials(lab: Lab, header: str) -> None:
    for path in guarded(lab):
        for method in METHODS:
            assert asked(lab, method, path, header).status not in (401, 403), (method, path)
    for path, name in calls(lab):
        assert asked(lab, "POST", path, header, {"type": name}).status not in (401, 403), name


@pytest.mark.parametrize("kind", WRONG)
def test_changes_that_would_succeed_are_not_made(lab: Lab, kind: str) -> None:
    cpus = {"name": "cpus", "type": "SCALAR", "scalar": {"value": 1}}
    level = {"level": 2, "duration": {"nanoseconds": 1}}
    info = {"user": "u", "name": "n", "roles": ["web"]}
    changes: list[tuple[str, str, Any]] = [
        ("POST", "/quota", {"role": "web", "guarantee": [cpus]}),
        ("PUT", "/weights", [{"role": "web", "weight": 2.0}]),
        ("POST", "/maintenance/schedule", {"windows": []}),
        ("POST", "/api/v1", {"type": "SET_LOGGING_LEVEL", "set_logging_level": level}),
        ("POST", "/api/v1/scheduler", {"type": "SUBSCRIBE", "subscribe": {"framework_info": info}}),
    ]
    before = everything(lab)
    for method, path, body in changes:
        assert asked(lab, method, path, WRONG[kind], body).status == 401, path
    assert everything(lab) == before
    assert not lab.master.state.frameworks
    for method, path, body in changes:
        assert asked(lab, method, path, RIGHT[0], body).status in (200, 202), path


@pytest.mark.parametrize("on", [some for count in range(len(KINDS)) for some in combinations(KINDS, count)], ids=str)
def test_where_nobody_authenticates_credentials_are_ignored(tmp_path: Path, on: tuple[str, ...]) -> None:
    """Right or wrong, a request is answered as if it had none; and each realm is guarded by its own flag."""
    lab = Lab(flags=flags(tmp_path, on))
    guarded = {KINDS[kind] for kind in on}
    headers = (None, *RIGHT, *(WRONG[kind] for kind in ("unknown", "wrong", "other scheme", "no base64")))
    guarded |= {Realm.AGENT_READONLY} if Realm.READONLY in guarded else set()
    endpoints = lab.application.endpoints
    reads = [(f"/{route.path}", route.realm) for route in endpoints.routes if route.realm and route.reads]
    reads += [(f"/slave(1)/{route.path}", route.realm) for route in endpoints.of_agents.routes]
    for path, realm in reads:
        known = [asked(lab, "GET", path, header).status for header in headers]
        wanted = [401, known[1], known[1], 401, 401, 401, 401] if realm in guarded else known[:1] * len(headers)
        assert known == wanted, path
        assert known[1] != 401, path
    for path, realm in (("/api/v1", Realm.READWRITE), ("/api/v1/scheduler", Realm.SCHEDULER)):
        known = [asked(lab, "POST", path, header, {"type": "BOGUS"}).status for header in headers]
        assert known == ([401, 400, 400, 401, 401, 401, 401] if realm in guarded else [400] * len(headers)), path


@pytest.mark.parametrize("header", [None, *RIGHT, WRONG["unknown"], WRONG["wrong"]])
@pytest.mark.parametrize("named", ["ops", "somebody", None])
def test_where_nobody_authenticates_the_principal_is_free(
    tmp_path: Path, header: str | None, named: str | None
) -> None:
    """Whoever sent credentials is nobody: it reserves in any name, and a framework has the principal that it names."""
    lab = Lab(flags=flags(tmp_path, ("readonly",)))
    (agent,) = lab.master.state.agents.values()
    owner = {"type": "DYNAMIC", "role": "web"} | ({"principal": named} if named else {})
    part = {"name": "cpus", "type": "SCALAR", "scalar": {"value": 1}, "reservations": [owner]}
    about = {"agent_id": {"value": agent.id}, "resources": [part]}
    for kind in ("RESERVE_RESOURCES", "UNRESERVE_RESOURCES", "RESERVE_RESOURCES"):
        assert asked(lab, "POST", "/api/v1", header, {"type": kind, kind.lower(): about}).status == 202, kind
    (reserved,) = [entry for entry in agent.total if entry.is_reserved]
    assert reserved.reservations[0].principal == named
    info = {"user": "u", "name": "n", "roles": ["web"], "capabilities": [{"type": "MULTI_ROLE"}]}
    info |= {"principal": named} if named else {}
    asked(lab, "POST", "/api/v1/scheduler", header, {"type": "SUBSCRIBE", "subscribe": {"framework_info": info}})
    (framework,) = lab.master.state.frameworks.values()
    assert framework.principal == named


def test_what_needs_no_credentials_changes_nothing(lab: Lab) -> None:
    open_paths = [route for route in lab.application.endpoints.routes if route.realm is None]
    assert sorted(route.path for route in open_paths) == ["health", "redirect", "version"]
    assert all(route.reads is not None for route in open_paths)


def test_every_password_is_compared_once_and_in_constant_time(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of known and unknown principals alike, so that the time of an answer tells nothing."""
    compared: list[tuple[bytes, bytes]] = []
    compare = hmac.compare_digest

    def comparing(one: bytes, other: bytes) -> bool:
        compared.append((one, other))
        return compare(one, other)

    monkeypatch.setattr(hmac, "compare_digest", comparing)
    pairs = ("unknown", "unknown, empty", "nobody, empty", "wrong", "longer", "empty", "of another", "a zero")
    for header in (*RIGHT, *(WRONG[kind] for kind in pairs)):
        compared.clear()
        asked(lab, "GET", "/flags", header)
        assert len(compared) == 1, header
