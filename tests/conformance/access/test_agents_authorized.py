"""Agents with static reservations, and ACLs that say for which roles agents may reserve, on both masters."""

import json
import os
import socket
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from fake_master.sources.cluster_file import ClusterSpec
from tests.conformance.masters.processes import Process, hold_port, wait_until_ready
from tests.conformance.masters.real import RUNNER, START_SECONDS, unless_misread

MIXED = "cpus:4;mem:1024;disk:10;ports:[1-2];cpus(ads):2"
PLAIN = "cpus:1;mem:512;disk:10;ports:[1-2]"
WHOLLY = "cpus(ads):3;mem(ads):100;disk(ads):10;ports(ads):[1-2]"
AGENTS = {"mixed": MIXED, "plain": PLAIN, "wholly": WHOLLY}
Registered = Callable[[dict[str, Any], int], set[str]]


def acls(*roles: str) -> dict[str, Any]:
    """Anybody may reserve for these roles, and for no others."""
    anybody = {"type": "ANY"}
    allowed = [{"principals": anybody, "roles": {"values": list(roles)}}] if roles else []
    return {"reserve_resources": [*allowed, {"principals": anybody, "roles": {"type": "NONE"}}]}


def on_the_fake(rules: dict[str, Any], _: int) -> set[str]:
    master = ClusterSpec(tuple(AGENTS.values()), "1.11", {"acls": json.dumps(rules)}).start()
    names = dict(zip(("agent-1", "agent-2", "agent-3"), AGENTS, strict=True))
    return {names[agent.hostname] for agent in master.state.agents.values()}


@pytest.fixture
def on_the_real(tmp_path: Path) -> Any:
    started: list[tuple[Process, socket.socket]] = []
    clients = ExitStack()

    def attempt(rules: dict[str, Any], expected: int) -> set[str]:
        held = hold_port()
        port = held.getsockname()[1]
        process = Process(
            [os.environ[RUNNER], *AGENTS.values()],
            tmp_path / "master.log",
            environment={"PORT": str(port), "MESOS_ACLS": json.dumps(rules), "GLOG_minloglevel": "2"},
        )
        started.append((process, held))
        client = clients.enter_context(httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False))

        def agents() -> list[dict[str, Any]]:
            return list(client.get("/slaves").json()["slaves"])

        # One that is refused asks again and again: what it asked more often than it registered, it was refused.
        def decided() -> bool:
            try:
                asked = client.get("/metrics/snapshot").json().get("master/messages_register_slave", 0)
                return len(agents()) == expected and asked >= len(AGENTS)
            except (httpx.TransportError, ValueError):
                return False

        wait_until_ready(decided, process, START_SECONDS)
        by_cpus = {6.0: "mixed", 1.0: "plain", 3.0: "wholly"}
        return {by_cpus[agent["resources"]["cpus"]] for agent in agents()}

    yield lambda rules, expected: unless_misread(lambda: attempt(rules, expected))
    clients.close()
    for process, held in started:
        process.stop()
        held.close()


@pytest.fixture(
    params=[
        pytest.param("real", marks=[pytest.mark.real_master, pytest.mark.process, pytest.mark.socket]),
        "fake",
    ]
)
def registered(request: pytest.FixtureRequest) -> Registered:
    return on_the_fake if request.param == "fake" else request.getfixturevalue("on_the_real")


def test_an_agent_with_a_reservation_needs_the_star_for_its_unreserved_part(registered: Registered):
    assert registered(acls("ads"), 2) == {"plain", "wholly"}


def test_with_both_roles_every_agent_registers(registered: Registered):
    assert registered(acls("ads", "*"), 3) == {"mixed", "plain", "wholly"}


def test_without_a_reservation_nobody_asks(registered: Registered):
    assert registered(acls(), 1) == {"plain"}
