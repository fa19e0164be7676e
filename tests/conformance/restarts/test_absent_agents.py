"""Agents that are away: not back at a new master, unreachable, and forgotten by the registry."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.callers.command_line import run_for_json
from tests.conformance.callers.frameworks import Framework
from tests.conformance.callers.operations import operation_status
from tests.conformance.masters.carriers import REAL, Carrier
from tests.conformance.masters.cluster import Cluster, Setup
from tests.conformance.masters.fakes import start_from_file
from tests.conformance.masters.simulated import agents_of

AGENT = "cpus:4;mem:2048;disk:100"
PINGS = {"agent_ping_timeout": "1secs", "max_agent_ping_timeouts": "1"}
FORGETS = {"registry_gc_interval": "2secs", "registry_max_agent_count": "0"}
FILE = """
mesos_version = "{version}"

[flags]
{flags}

[[agents]]
resources = "{agent}"
leaves_after = 1
"""
Start = Callable[[dict[str, str]], Cluster]


def reconciled(framework: Framework, agent_id: str) -> dict[str, Any]:
    """The answer of a master about an operation on an agent that it does not know."""
    asked = {"operation_id": {"value": "one"}, "agent_id": {"value": agent_id}}
    framework.ask("RECONCILE_OPERATIONS", reconcile_operations={"operations": [asked]})
    status = operation_status(framework)
    assert (status["operation_id"], status["agent_id"]) == (asked["operation_id"], asked["agent_id"])
    return status


@pytest.fixture
def start_with_leaving_agent(carrier: Carrier, tmp_path: Path) -> Iterator[Start]:
    """Start a master whose only agent registers and does not answer pings."""
    ending = ExitStack()

    def start(more: dict[str, str]) -> Cluster:
        flags = {**PINGS, **more}
        if carrier is REAL:
            master = carrier.start(Setup(flags=flags), tmp_path)
            ending.callback(master.stop)
            ending.enter_context(agents_of(master, [AGENT]))
            return master
        lines = "\n".join(f'{name} = "{value}"' for name, value in flags.items())
        text = FILE.format(version=carrier.version, agent=AGENT, flags=lines)
        master = start_from_file(text, tmp_path, Setup(), socket="socket" in carrier.needs)
        ending.callback(master.stop)
        return master

    with ending:
        yield start


def test_an_agent_that_the_registry_forgets(start_with_leaving_agent: Start) -> None:
    master = start_with_leaving_agent(FORGETS)
    agent = {"value": master.agents()[0]["id"]}
    capabilities = ("MULTI_ROLE", "RESERVATION_REFINEMENT", "PARTITION_AWARE")
    framework = Framework(master, "ads", capabilities=capabilities).subscribe()
    unreachable = "master/slave_unreachable_completed"
    assert master.subscribers.wait(lambda: master.read("/metrics/snapshot")[unreachable] == 1.0)

    def state() -> str:
        framework.ask("RECONCILE", reconcile={"tasks": [{"task_id": {"value": "t"}, "agent_id": agent}]})
        return str(framework.next("UPDATE")["update"]["status"]["state"])

    assert master.subscribers.wait(lambda: state() == "TASK_UNKNOWN")
    assert master.read("/state")["unreachable_slaves"] == 0.0


def test_an_operation_on_an_agent_that_is_unreachable(start_with_leaving_agent: Start) -> None:
    master = start_with_leaving_agent({})
    agent = master.agents()[0]["id"]
    framework = Framework(master, "ads").subscribe()
    assert master.subscribers.wait(lambda: master.read("/state")["unreachable_slaves"] == 1.0)
    status = reconciled(framework, agent)
    assert (status["state"], status["message"]) == ("OPERATION_UNREACHABLE", "Reconciliation: Agent is unreachable")


def test_the_registry_has_the_id_of_an_unreachable_agent_by_which_it_is_given_up(
    start_with_leaving_agent: Start,
) -> None:
    master = start_with_leaving_agent({})
    agent = master.agents()[0]["id"]
    assert master.subscribers.wait(lambda: master.read("/state")["unreachable_slaves"] == 1.0)
    (entry,) = master.read("/registrar(1)/registry")["unreachable"]["slaves"]
    since = entry["timestamp"]["nanoseconds"]
    assert entry == {"id": {"value": agent}, "timestamp": {"nanoseconds": since}, "deactivated": False}
    status, shown = run_for_json(master, "agents")
    assert (status, [lost["id"] for lost in shown["unreachable"]]) == (0, [agent])
    assert shown["unreachable"][0]["since"] == pytest.approx(since / 1e9)
    status, plan = run_for_json(master, f"agents gone {agent}", "--yes", "--no-wait")
    assert status == 0, plan
    registry = master.read("/registrar(1)/registry")
    (gone,) = registry["gone"]["slaves"]
    assert gone == {"id": {"value": agent}, "timestamp": gone["timestamp"]}
    assert "unreachable" not in registry or not registry["unreachable"].get("slaves")
    assert run_for_json(master, "agents")[1]["unreachable"] == []


def test_an_operation_on_an_agent_that_is_not_back(carrier: Carrier, tmp_path: Path) -> None:
    kept = {"registry": "replicated_log"} if carrier is REAL else {"registry": "sqlite", "work_dir": str(tmp_path)}
    text = f"{AGENT};ports:[31000-31009]"
    carrier.start(Setup(agents=(text, text), flags=kept), tmp_path).stop()
    second = carrier.start(Setup(agents=(text,), flags=kept), tmp_path)
    try:
        (awaited,) = second.read("/slaves")["recovered_slaves"]
        status = reconciled(Framework(second, "ads").subscribe(), awaited["id"])
        said = "Reconciliation: Agent is recovered but has not re-registered"
        assert (status["state"], status["message"]) == ("OPERATION_RECOVERING", said)
    finally:
        second.stop()
