"""A home for the run, and a stand-in for a master: enough of /quota, /slaves, /roles and /version, with its moods."""

import io
import json
import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from mesosctl.__main__ import main
from tests.helpers.surroundings import InMemory, Ran, Terminal

pytest_plugins = (
    "pytester",
    "tests.helpers.needs",
    "tests.helpers.profiles",
    "tests.helpers.browser",
    "tests.helpers.devtools",
)

OF_TESTS = {"MESOSCTL_FUZZ_EXAMPLES"}
OF_THE_USER = ("MESOSCTL_", "XDG_", "NO_COLOR", "FORCE_COLOR")


def pytest_configure(config: pytest.Config) -> None:
    """The contexts, masters and names of whoever runs the tests are left alone, and change no test.

    Nor does a shell that starts them in the background, and has them and all their programs ignore Ctrl-C.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    home = tempfile.TemporaryDirectory(prefix="mesosctl-tests-", ignore_cleanup_errors=True)
    config.add_cleanup(home.cleanup)
    for name in list(os.environ):
        if name.startswith(OF_THE_USER) and name not in OF_TESTS:
            del os.environ[name]
    os.environ["HOME"] = home.name


AGENT = {"resources": {"cpus": 12.0, "mem": 6144.0, "disk": 1000.0, "ports": "[31000-32000]"}}
RESERVING_AGENT = {
    "resources": {"cpus": 12.0, "mem": 6144.0},
    "reserved_resources": {"ads": {"cpus": 8.0, "mem": 4096.0}},
    "unreserved_resources": {"cpus": 4.0, "mem": 2048.0},
}
Behaviour = Callable[[httpx.Request], httpx.Response]


@dataclass
class StandIn(httpx.BaseTransport):
    """Quotas by role, as entries of `infos`.  `instead["POST /quota"]` is used up before the usual behaviour."""

    version: str = "1.11.0"
    quotas: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    limits: dict[str, dict[str, Any]] = field(default_factory=dict)
    agents: list[dict[str, Any]] = field(default_factory=lambda: [AGENT, RESERVING_AGENT])
    roles: list[dict[str, Any]] = field(default_factory=list)
    flags: dict[str, str] = field(default_factory=lambda: {"authorizers": "local"})
    instead: dict[str, list[Behaviour]] = field(default_factory=dict)
    requests: list[httpx.Request] = field(default_factory=list)
    passed: float = 0.0
    """Seconds by which the clock is ahead: what pauses take, and a request that takes long."""

    def sleep(self, seconds: float) -> None:
        self.passed += seconds

    @property
    def asked(self) -> list[str]:
        return [f"{request.method} {request.url.path}" for request in self.requests]

    @property
    def is_documents(self) -> bool:
        """Whether it is the documents' master, whose number no release has."""
        return self.version == "1.4.0"

    @property
    def changed(self) -> list[str]:
        return [line for line in self.asked if not line.startswith("GET")]

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.read()
        self.requests.append(request)
        planned = self.instead.get(f"{request.method} {request.url.path}")
        return (planned.pop(0) if planned else self.usual)(request)

    def usual(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path.removeprefix("/master")
        if request.method == "GET":
            return httpx.Response(200, json=self._read(path))
        body = json.loads(request.content or b"{}")
        if path == "/api/v1":
            return self._call(body)
        if request.method == "DELETE":
            role = path.removeprefix("/quota/")
            return self._remove(role)
        return self._set(body)

    def _read(self, path: str) -> dict[str, Any]:
        infos = [{"role": role, "guarantee": guarantee} for role, guarantee in self.quotas.items()]
        configs = [
            {
                "role": role,
                "guarantees": {r["name"]: r["scalar"] for r in guarantee},
                "limits": self.limits.get(role, {}),
            }
            for role, guarantee in self.quotas.items()
        ]
        shown = {"infos": infos} | ({} if self.is_documents else {"configs": configs})
        slaves = [{"unreserved_resources": agent["resources"], "active": True} | agent for agent in self.agents]
        answers: dict[str, dict[str, Any]] = {
            "/version": {"version": self.version, "git_tag": "documents" if self.is_documents else self.version},
            "/quota": shown if infos else {},
            "/slaves": {"slaves": slaves},
            "/roles": {"roles": self.roles},
            "/flags": {"flags": self.flags},
        }
        return answers[path]

    def _call(self, body: dict[str, Any]) -> httpx.Response:
        if body["type"] == "GET_FRAMEWORKS":
            return httpx.Response(200, json={"type": "GET_FRAMEWORKS", "get_frameworks": {}})
        if body["type"] == "SET_QUOTA":
            return self._set(body["set_quota"]["quota_request"])
        for config in body["update_quota"]["quota_configs"]:
            guarantees = config.get("guarantees", {}).items()
            self.quotas[config["role"]] = [{"name": n, "type": "SCALAR", "scalar": v} for n, v in guarantees]
            self.limits[config["role"]] = config.get("limits", {})
        return httpx.Response(200)

    def _set(self, body: dict[str, Any]) -> httpx.Response:
        if body["role"] in self.quotas:
            return httpx.Response(400, text="already has quota")
        self.quotas[body["role"]] = body["guarantee"]
        if not self.is_documents:
            self.limits[body["role"]] = {r["name"]: r["scalar"] for r in body["guarantee"]}
        return httpx.Response(200)

    def _remove(self, role: str) -> httpx.Response:
        if self.quotas.pop(role, None) is None:
            return httpx.Response(400, text=f"Role '{role}' has no quota set")
        self.limits.pop(role, None)
        return httpx.Response(200)


def guarantee(**amounts: float) -> list[dict[str, Any]]:
    return [{"name": name, "type": "SCALAR", "scalar": {"value": value}} for name, value in amounts.items()]


@pytest.fixture
def entries() -> Callable[..., list[dict[str, Any]]]:
    return guarantee


@pytest.fixture
def cluster() -> Iterator[StandIn]:
    """A stand-in; what a test plans for a request that is never sent proves nothing, and fails."""
    stand_in = StandIn()
    yield stand_in
    never_asked = stand_in.instead.keys() - set(stand_in.asked)
    assert not never_asked, f"planned, but never asked for: {sorted(never_asked)}; asked: {stand_in.asked}"


@pytest.fixture
def run(cluster: StandIn) -> Callable[..., Ran]:
    """Run the command line against the stand-in; `terminal` is what a person would answer there."""

    def run_words(*words: str, stdin: str = "", terminal: bool = False, **variables: str) -> Ran:
        stream = Terminal if terminal else io.StringIO
        environment = InMemory(
            stdin=stream(stdin),
            stdout=stream(),
            stderr=stream(),
            variables={"MESOSCTL_MASTER": "http://master:5050"} | variables,
            ask_secret=lambda _: "typed",
            clock=lambda: time.monotonic() + cluster.passed,
            sleep=cluster.sleep,
            transport=cluster,
        )
        status = main(words, environment)
        return Ran(status, environment.out, environment.err)

    return run_words
