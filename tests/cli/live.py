"""A fake master as a live one: the command line over a transport that writes down what is asked."""

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx

from fake_master.carriers.in_process import InProcessTransport
from fake_master.cluster import ClusterSpec
from fake_master.master.clocks import VirtualClock
from fake_master.master.residents import ResidentSpec
from mesosctl.__main__ import main
from tests.surroundings import InMemory, Terminal

AGENTS = ("cpus:4;mem:4096;disk:1000",) * 4


class Live(httpx.BaseTransport):
    """Two frameworks that hold what they are offered, in virtual time that only moves when a test says so."""

    def __init__(self, version: str = "1.11", agents: Sequence[str] = AGENTS, **flags: str) -> None:
        self.clock = VirtualClock()
        frameworks = tuple(
            ResidentSpec(name, (role,), answer="hold") for name, role in (("spark", "ads"), ("shop", "web"))
        )
        spec = ClusterSpec(agents=tuple(agents), mesos_version=version, frameworks=frameworks, flags=flags)
        self.master = spec.start(clock=self.clock)
        self._carrier = InProcessTransport(self.master, self.clock.sleep)
        self.asked: list[str] = []
        self.wait(2.0)

    def wait(self, seconds: float) -> None:
        self.clock.sleep(seconds)
        self.master.advance()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        call = json.loads(request.read())["type"] if request.url.path == "/api/v1" else ""
        self.asked.append(f"{request.method} {request.url.path} {call}".strip())
        return self._carrier.handle_request(request)

    @property
    def changes(self) -> list[str]:
        """What was asked beside reads."""
        return [one for one in self.asked if not one.startswith("GET ") and "POST /api/v1 GET_" not in one]

    def read(self, path: str) -> Any:
        return json.loads(self._carrier.handle_request(httpx.Request("GET", f"http://live{path}")).read())

    def state(self) -> str:
        """All that a dry run must leave alone."""
        return json.dumps([self.read(path) for path in ("/quota", "/weights", "/slaves", "/frameworks")])


@dataclass
class Said:
    status: int
    out: str
    err: str
    live: Live = field(repr=False)

    @property
    def json(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.out)
        return document


def ask(live: Live, *words: str, terminal: bool = False, **variables: str) -> Said:
    """Type words against it."""
    stream = Terminal if terminal else io.StringIO
    environment = InMemory(
        stderr=stream(),
        variables={"MESOSCTL_MASTER": "http://live:5050"} | variables,
        transport=live,
    )
    status = main(words, environment)
    return Said(status, environment.out, environment.err, live)
