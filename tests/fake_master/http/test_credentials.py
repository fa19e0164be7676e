"""Access by credentials: every route and every call, with every kind of credentials."""

import base64
import hmac
import json
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


@pytest.fixture(params=["1.4", "1.11"])
def lab(request: pytest.FixtureRequest, tmp_path: Path) -> Lab:
    path = tmp_path / "credentials"
    known = [{"principal": "ops", "secret": "secret"}, {"principal": "silent", "secret": ""}]
    path.write_text(json.dumps({"credentials": known}), encoding="utf-8")
    guarded = {f"authenticate_http_{kind}": "true" for kind in ("readonly", "readwrite", "frameworks")}
    return Lab(version=request.param, flags={"credentials": str(path), **guarded})


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
