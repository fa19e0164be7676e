"""The command line against a fake master in the same process, in virtual time."""

from collections.abc import Callable

import pytest

from fake_master.sources.agent_tables import AgentSpec
from fake_master.state.agents import KnownAgent
from tests.helpers.lab import CommandLine, Lab

AGENTS = (
    AgentSpec("cpus:12;mem:6144;disk:1000;ports:[31000-32000]", "one", {"rack": "r1", "slots": 2.0}),
    AgentSpec("cpus:4;mem:2048;cpus(ads):8;mem(ads):4096;disk:500", "two", {"rack": "r2"}, principal="agents"),
    AgentSpec("cpus:16;mem:8192;disk:500", "three", {"rack": "r1"}),
)


class Desk(CommandLine):
    """A person or a script that types at a master, and what is reserved there."""

    def agent(self, hostname: str) -> KnownAgent:
        return next(agent for agent in self.lab.master.state.agents.values() if agent.hostname == hostname)

    def reserved(self, hostname: str) -> str:
        """What is dynamically reserved there, as the master sees it."""
        return str(self.agent(hostname).total.filter(lambda entry: entry.is_dynamically_reserved))


@pytest.fixture
def make_lab() -> Callable[..., Desk]:
    """A lab whose master has these flags."""
    return lambda **flags: Desk(Lab(*AGENTS, now=1_000_000.0, flags=flags))


@pytest.fixture
def lab(make_lab) -> Desk:
    return make_lab()
