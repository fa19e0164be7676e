"""The surroundings of a command in this process: its streams lie in memory, and are read when it has ended."""

import io
import json
from dataclasses import dataclass, field
from typing import Any

from mesosctl.cli.environment import Environment


class Terminal(io.StringIO):
    """Somebody looks on."""

    def isatty(self) -> bool:
        return True


@dataclass(slots=True)
class InMemory(Environment):
    """An environment that reads nothing and is looked at by nobody, unless a test gives it other streams."""

    stdin: io.StringIO = field(default_factory=io.StringIO)
    stdout: io.StringIO = field(default_factory=io.StringIO)
    stderr: io.StringIO = field(default_factory=io.StringIO)

    @property
    def out(self) -> str:
        """What it has written to standard output."""
        return self.stdout.getvalue()

    @property
    def err(self) -> str:
        """What it has written to standard error."""
        return self.stderr.getvalue()


@dataclass
class Ran:
    """How a command ended, and what it wrote."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """Its output, which is one JSON object."""
        value: dict[str, Any] = json.loads(self.out)
        return value

    @property
    def lines(self) -> list[dict[str, Any]]:
        """The JSON objects of its output, one a line."""
        return [json.loads(line) for line in self.out.splitlines() if line.startswith("{") and line.endswith("}")]
