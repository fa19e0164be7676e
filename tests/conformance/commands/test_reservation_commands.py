"""`mesosctl reserve` and its kind on every carrier, the agents' own /state included."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from mesosctl.mesos.messages.protobuf_json.releases import has
from tests.conformance.callers.command_line import run_command
from tests.conformance.masters.carriers import Carrier
from tests.conformance.masters.cluster import Cluster
from tests.conformance.scenarios.setups import STANDARD

AGENT_STATE = (
    "id pid hostname resources reserved_resources unreserved_resources reserved_resources_full "
    "unreserved_resources_full"
).split()
SETUP = STANDARD
NOTHING_USED = {"cpus": 0.0, "disk": 0.0, "gpus": 0.0, "mem": 0.0}
Run = Callable[..., dict[str, Any]]


@pytest.fixture
def run(master: Cluster) -> Run:
    """Run a command that must succeed, and return its JSON."""

    def words(*words: str, status: int = 0) -> dict[str, Any]:
        ran = run_command(master, *words, "-o", "json")
        assert ran.status == status, ran.err
        return json.loads(ran.err if status else ran.out)

    return words


def agent_state(master: Cluster, number: int) -> Any:
    return master.read(f"/slave({number})/state")


def test_an_agent_shows_what_the_master_shows(master: Cluster, carrier: Carrier, run: Run) -> None:
    run("reserve", master.agents()[0]["id"], "cpus:2", "ports:[31000-31009]", "--role", "db", "--label", "b=2")
    shown, state = master.agents()[0], agent_state(master, 1)
    assert {key: state[key] for key in AGENT_STATE} == {key: shown[key] for key in AGENT_STATE}
    assert state["reserved_resources_allocated"] == {}
    assert state["unreserved_resources_allocated"] == NOTHING_USED
    assert state.get("resource_providers") == ([] if has(carrier.profile.release, "1.8.1") else None)


def _sorted(text: str) -> str:
    return ";".join(sorted(text.split(";")))


def test_reserve_refine_and_undo(master: Cluster, run: Run) -> None:
    first, second = (agent["id"] for agent in master.agents())
    [change] = run("reserve", first, "cpus:4", "mem:1GiB", "--role", "eng", "--label", "k=v")["changes"]
    assert (change["by_master"], change["by_agent"]) == (True, True)
    run("reserve", first, "cpus:1", "--role", "eng/web/db", "--under", "eng", "--api", "v1")
    run("reserve", second, "cpus:3", "--role", "ads/video", "--under", "ads")
    listed = run("reservations")["reservations"]
    # In which order an agent has its resources depends on all that was done with them before.
    assert sorted((entry["role"], entry["dynamic"], _sorted(entry["resources"]["text"])) for entry in listed) == [
        ("ads", False, "cpus:5;mem:4096"),
        ("ads/video", True, "cpus:3"),
        ("eng", True, "cpus:3;mem:1024"),
        ("eng/web/db", True, "cpus:1"),
    ]
    run("unreserve", first, "cpus:1", "--role", "eng/web/db")
    run("unreserve", "--role", "ads/video", "--all", "--yes")
    run("unreserve", first, "--role", "eng", "--all", "--yes")
    assert [entry["role"] for entry in run("reservations")["reservations"]] == ["ads"]


def test_volumes(master: Cluster, run: Run) -> None:
    agent = master.agents()[0]["id"]
    run("reserve", agent, "disk:100", "--role", "db")
    run("volumes", "create", agent, "v1", "disk:40", "--role", "db")
    [volume] = run("volumes", "list")["volumes"]
    assert (volume["volume"]["id"], volume["resources"]["text"]) == ("v1", "disk:40")
    assert run("unreserve", agent, "disk:100", "--role", "db", status=6)["error"]["rule"] == "operation.available"
    run("volumes", "destroy", agent, "v1", "--yes")
    run("unreserve", agent, "disk:100", "--role", "db")
    assert run("volumes", "list")["volumes"] == []


@pytest.mark.parametrize("words", [["cpus:0"], ["ports:[]"], ["cpus:1", "mem:0"]])
def test_what_would_kill_a_real_master_does_not_reach_it(master: Cluster, run: Run, words: list[str]) -> None:
    agent = master.agents()[0]["id"]
    assert run("reserve", agent, *words, "--role", "db", status=3)["error"]["rule"] == "operation.above-zero"
    assert master.agents()[0]["reserved_resources"] == {}
