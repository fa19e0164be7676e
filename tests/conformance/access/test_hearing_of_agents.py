"""What the operators' event stream tells to whom of an agent that registers: its roles are those that one may see."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.callers.subscribers import Subscription
from tests.conformance.masters.carriers import REAL, Carrier
from tests.conformance.masters.cluster import Cluster, Setup, basic
from tests.conformance.masters.fakes import start_from_file
from tests.conformance.masters.simulated import agents_of

AGENT = "cpus:4;mem:2048;disk:100;cpus(ads):1;mem(web):64;disk(web/a):10"
SEES = {"root": {"ads", "web", "web/a"}, "half": {"web"}, "below": {"web/a"}, "blind": set(), "stranger": set()}
ANY, NONE = {"type": "ANY"}, {"type": "NONE"}
SETUP = Setup(
    flags={"authenticate_http_readwrite": "true", "authenticate_http_readonly": "true"},
    principals=tuple(SEES),
    acls={
        "permissive": False,
        "register_agents": [{"principals": ANY, "agents": ANY}],
        "reserve_resources": [{"principals": ANY, "roles": ANY}],
        "view_roles": [
            {"principals": {"values": ["root"]}, "roles": ANY},
            {"principals": {"values": ["half"]}, "roles": {"values": ["web"]}},
            {"principals": {"values": ["below"]}, "roles": {"values": ["web/%"]}},
            {"principals": {"values": ["blind"]}, "roles": NONE},
        ],
    },
)
FILE = """
[[agents]]
resources = "{agent}"
leaves_after = 1
returns_after = 5
"""


@pytest.fixture
def ending() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def listen(master: Cluster, principal: str) -> Subscription:
    headers = {"Content-Type": "application/json", "Accept": "application/json", **basic(principal)}
    stream = master.subscribers.open("/api/v1", json.dumps({"type": "SUBSCRIBE"}), headers)
    assert stream.status == 200
    return stream


def owners(resources: list[dict[str, Any]]) -> set[str]:
    return {entry["reservations"][-1]["role"] for entry in resources if entry.get("reservations")}


def test_the_roles_of_an_agent_that_registers(carrier: Carrier, ending: ExitStack, tmp_path: Path) -> None:
    if carrier is REAL:
        master = carrier.start(SETUP, tmp_path)
    else:  # the agent of a fake master is away, and comes back
        flags = {**SETUP.all_flags(tmp_path), "agent_ping_timeout": "1secs", "max_agent_ping_timeouts": "1"}
        text = f"mesos_version = '{carrier.version}'\n[flags]\n"
        text += "".join(f"{name} = {json.dumps(value)}\n" for name, value in flags.items()) + FILE.format(agent=AGENT)
        master = start_from_file(text, tmp_path, SETUP, socket="socket" in carrier.needs)
    ending.callback(master.stop)
    streams = {principal: listen(master, principal) for principal in SEES}
    if carrier is REAL:
        ending.enter_context(agents_of(master, [AGENT]))

    def added() -> dict[str, list[dict[str, Any]]]:
        return {
            principal: [event["agent_added"]["agent"] for event in stream.events if event["type"] == "AGENT_ADDED"]
            for principal, stream in streams.items()
        }

    assert master.subscribers.wait(lambda: all(len(heard) == 1 for heard in added().values()))
    for principal, (agent,) in added().items():
        assert owners(agent["total_resources"]) == SEES[principal], principal
        # What it was started with is shown to everybody here, unlike in GET_AGENTS.
        assert owners(agent["agent_info"]["resources"]) == SEES["root"], principal
