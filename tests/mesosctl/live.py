"""A fake master as a live one: the command line over a transport that writes down what is asked."""

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from fake_master.sources.simulated_frameworks import SimulatedFrameworkSpec
from mesosctl.__main__ import main
from tests.helpers.lab import CommandLine, Lab
from tests.helpers.surroundings import InMemory, Terminal

AGENTS = ("cpus:4;mem:4096;disk:1000",) * 4


class Live(CommandLine):
    """Two frameworks that hold what they are offered, in virtual time that only moves when a test says so."""

    def __init__(self, version: str = "1.11", agents: Sequence[str] = AGENTS, **flags: str) -> None:
        frameworks = tuple(
            SimulatedFrameworkSpec(name, (role,), answer="hold") for name, role in (("spark", "ads"), ("shop", "web"))
        )
        super().__init__(Lab(*agents, version=version, frameworks=frameworks, flags=flags))
        self.wait(2.0)

    def wait(self, seconds: float) -> None:
        self.lab.wait(seconds)

    def read(self, path: str) -> Any:
        return self.lab.read(path)

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
