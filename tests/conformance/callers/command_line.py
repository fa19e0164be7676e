"""The command line, in this process, on the master of a test."""

import io
import json
from typing import Any, Self

import httpx

from mesosctl.__main__ import main
from tests.conformance.masters.cluster import Cluster
from tests.helpers.surroundings import InMemory, Ran


class Kept(httpx.BaseTransport):
    """A transport that stays open when the command that used it ends."""

    def __init__(self, transport: httpx.BaseTransport) -> None:
        self.handle_request = transport.handle_request  # type: ignore[method-assign]

    def __enter__(self) -> Self:
        return self

    def close(self) -> None:
        """Leave it open."""


def run_command(master: Cluster, *words: str, stdin: str = "", **variables: str) -> Ran:
    """Type words; `variables` are those of the environment beside the address of the master."""
    environment = InMemory(
        stdin=io.StringIO(stdin),
        variables={"MESOSCTL_MASTER": master.address, **variables},
        transport=None if master.transport is None else Kept(master.transport),
    )
    status = main(words, environment)
    return Ran(status, environment.out, environment.err)


def run_for_json(master: Cluster, words: str, *more: str, **variables: str) -> tuple[int, Any]:
    """The exit status, and the JSON of standard output or of the error."""
    ran = run_command(master, "-o", "json", *words.split(), *more, **variables)
    errors = [line for line in ran.err.splitlines() if line.startswith("{")]
    return ran.status, json.loads(ran.out) if ran.out else json.loads(errors[-1])["error"]
