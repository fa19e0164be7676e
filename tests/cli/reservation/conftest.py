"""The command line against a fake master in the same process, in virtual time."""

import io
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from fake_master.carriers.in_process import InProcessTransport
from fake_master.cluster import AgentSpec, ClusterSpec
from fake_master.master.agents import Agent
from fake_master.master.master import Master
from mesosctl.__main__ import main
from tests.conftest import Ran
from tests.surroundings import InMemory, Terminal

AGENTS = (
    AgentSpec("cpus:12;mem:6144;disk:1000;ports:[31000-32000]", "one", {"rack": "r1", "slots": 2.0}),
    AgentSpec("cpus:4;mem:2048;cpus(ads):8;mem(ads):4096;disk:500", "two", {"rack": "r2"}, principal="agents"),
    AgentSpec("cpus:16;mem:8192;disk:500", "three", {"rack": "r1"}),
)


@dataclass
class Lab:
    """A master, and a person or a script that types at it.  Sleeping only moves the clock."""

    master: Master
    transport: InProcessTransport
    now: float = 1_000_000.0
    paths: list[str] = field(default_factory=list)

    def run(self, *words: str, stdin: str = "", terminal: bool = False, **variables: str) -> Ran:
        stream = Terminal if terminal else io.StringIO
        environment = InMemory(
            stdin=stream(stdin),
            stdout=stream(),
            stderr=stream(),
            variables={"MESOSCTL_MASTER": "http://127.0.0.1:5050", **variables},
            ask_secret=lambda _: "typed",
            clock=lambda: self.now,
            sleep=self.sleep,
            transport=self.transport,
        )
        status = main(words, environment)
        return Ran(status, environment.out, environment.err)

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def agent(self, hostname: str) -> Agent:
        return next(agent for agent in self.master.agents.values() if agent.hostname == hostname)

    def reserved(self, hostname: str) -> str:
        """What is dynamically reserved there, as the master sees it."""
        return str(self.agent(hostname).total.filter(lambda entry: entry.is_dynamically_reserved))


class Recording(InProcessTransport):
    """Remembers what was asked."""

    def __init__(self, master: Master) -> None:
        super().__init__(master)
        self.asked: list[str] = []

    def handle_request(self, request):
        self.asked.append(f"{request.method} {request.url.path}")
        return super().handle_request(request)

    @property
    def changed(self) -> list[str]:
        return [line for line in self.asked if not line.startswith("GET")]


@pytest.fixture
def make_lab(tmp_path) -> Callable[..., Lab]:
    """A lab whose master has these flags."""

    def make(**flags: str) -> Lab:
        made: list[Lab] = []
        spec = ClusterSpec(agents=AGENTS, mesos_version="1.11", flags=flags)
        master = spec.start(clock=lambda: made[0].now if made else 1_000_000.0)
        made.append(Lab(master, Recording(master)))
        return made[0]

    return make


@pytest.fixture
def lab(make_lab) -> Lab:
    return make_lab()
