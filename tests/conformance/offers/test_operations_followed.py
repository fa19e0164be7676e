"""Offer operations after their ACCEPT: reconciliation, acknowledgements, GET_OPERATIONS, counters."""

import base64
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

import pytest

from tests.conformance.callers.frameworks import Framework, amounts
from tests.conformance.callers.joining import quick
from tests.conformance.callers.operations import acknowledge, operation_status, reserve, unreserve
from tests.conformance.callers.owning import owned
from tests.conformance.masters.carriers import Carrier, skip_before
from tests.conformance.masters.cluster import Cluster

SETUP = quick("cpus:12;mem:6144;disk:1000;ports:[31000-31009]")
COUNTED = ("master/operations/", "operation_status", "reconcile_operations", "messages_launch", "messages_decline")


def counters(master: Cluster) -> dict[str, float]:
    figures: Mapping[str, float] = master.read("/metrics/snapshot")
    return {name: value for name, value in figures.items() if any(part in name for part in COUNTED)}


def moved(before: Mapping[str, float], after: Mapping[str, float]) -> dict[str, float]:
    """By how much, without the part that all names share and without what each framework has of its own."""
    names = {name for name in after if "/frameworks/" not in name}
    steps = {name.removeprefix("master/"): after[name] - before.get(name, 0.0) for name in names}
    return {name: step for name, step in steps.items() if step}


def shown_operations(master: Cluster) -> list[dict[str, Any]]:
    answer: dict[str, Any] = master.call("GET_OPERATIONS").json()["get_operations"]
    found: list[dict[str, Any]] = answer.get("operations", [])
    return found


def ask(framework: Framework, **named: str) -> dict[str, Any]:
    """RECONCILE_OPERATIONS of one, or of all, and what is told of it."""
    wanted = [{name: {"value": value} for name, value in named.items()}] if named else []
    framework.ask("RECONCILE_OPERATIONS", reconcile_operations={"operations": wanted})
    # What is not acknowledged within ten seconds is told once more, with its uuid.
    while "uuid" in (status := operation_status(framework)):
        pass
    return status


TOLD = "1.8.1"
"""The first release that tells of each operation with an id, and counts operations."""
UNTOLD = "an operation with an id is not done, or the release knows no ids"


def test_an_operation_is_shown_until_it_is_acknowledged(start: Any, carrier: Carrier) -> None:
    skip_before(TOLD, carrier, UNTOLD)
    with start(SETUP) as (master, join):
        framework = join("ads", principal="p").subscribe()
        offer = framework.offers()[0]
        assert shown_operations(master) == []
        framework.accept([offer], reserve(owned("ads", "p", cpus=1), id={"value": "one"}))
        status = operation_status(framework)
        (entry,) = shown_operations(master)
        (resource,) = owned("ads", "p", cpus=1)
        assert entry == {
            "framework_id": {"value": framework.id},
            "agent_id": offer["agent_id"],
            "info": {
                "type": "RESERVE",
                "id": {"value": "one"},
                "reserve": {"resources": [resource | {"allocation_info": {"role": "ads"}}]},
            },
            "latest_status": status,
            "statuses": [status],
            "uuid": entry["uuid"],
        }
        acknowledge(framework, status)
        assert master.subscribers.wait(lambda: shown_operations(master) == [])
        framework.accept(framework.offers(), reserve(owned("ads", "p", cpus=1)))
        assert amounts(framework.offers()[0]["resources"])["cpus(ads)"] == 2.0
        assert shown_operations(master) == []


def test_reconciling_operations(start: Any, carrier: Carrier) -> None:
    skip_before(TOLD, carrier, UNTOLD)
    with start(SETUP) as (_, join):
        framework = join("ads", principal="p").subscribe()
        offer = framework.offers()[0]
        agent = offer["agent_id"]
        framework.accept([offer], reserve(owned("ads", "p", cpus=1), id={"value": "one"}))
        finished = operation_status(framework)
        without_uuid = {name: value for name, value in finished.items() if name != "uuid"}
        assert ask(framework, operation_id="one", agent_id=agent["value"]) == without_uuid
        assert ask(framework, operation_id="one") == without_uuid
        assert ask(framework) == without_uuid

        unknown = {"operation_id": {"value": "nope"}, "state": "OPERATION_UNKNOWN"}
        assert ask(framework, operation_id="nope") == unknown | {
            "message": "Reconciliation: Operation is unknown and no 'agent_id' was provided"
        }
        assert ask(framework, operation_id="nope", agent_id=agent["value"]) == unknown | {
            "message": "Reconciliation: Operation is unknown",
            "agent_id": agent,
        }
        assert ask(framework, operation_id="nope", agent_id="zz") == unknown | {
            "message": "Reconciliation: Both operation and agent are unknown",
            "agent_id": {"value": "zz"},
        }
        assert ask(framework, operation_id="nope", agent_id=agent["value"], resource_provider_id="rp") == unknown | {
            "agent_id": agent,
            "resource_provider_id": {"value": "rp"},
        }
        acknowledge(framework, finished)
        framework.ask("RECONCILE_OPERATIONS", reconcile_operations={"operations": []})
        framework.none_of("UPDATE_OPERATION_STATUS")
        assert framework.call("RECONCILE_OPERATIONS", reconcile_operations={"operations": [{}]}).status == 400


def test_operations_on_an_agent_that_is_gone(start: Any, carrier: Carrier) -> None:
    skip_before(TOLD, carrier, UNTOLD)
    with start(SETUP) as (master, join):
        framework = join("ads", principal="p").subscribe()
        offer = framework.offers()[0]
        agent = offer["agent_id"]
        framework.accept([offer], reserve(owned("ads", "p", cpus=1), id={"value": "one"}))
        assert operation_status(framework)["state"] == "OPERATION_FINISHED"
        assert master.call("MARK_AGENT_GONE", mark_agent_gone={"agent_id": agent}).status == 200
        gone = {"operation_id": {"value": "one"}, "state": "OPERATION_GONE_BY_OPERATOR", "agent_id": agent}
        assert operation_status(framework) == gone | {"message": "Agent has been marked gone"}
        assert shown_operations(master) == []
        asked = ask(framework, operation_id="one", agent_id=agent["value"])
        assert asked == gone | {"message": "Reconciliation: Agent marked gone by operator"}


def test_what_operations_count(start: Any, carrier: Carrier) -> None:
    skip_before(TOLD, carrier, "operations are not counted")
    with start(SETUP) as (master, join):
        framework = join("ads", principal="p").subscribe()
        before = counters(master)
        framework.accept(framework.offers(), reserve(owned("ads", "p", cpus=2)))
        offer = framework.offers()[0]
        done = {"operations/total": 1, "operations/finished": 1, "operations/reserve/total": 1}
        done |= {"operations/reserve/finished": 1, "messages_operation_status_update": 1}
        done |= {"valid_operation_status_updates": 1}
        # The agent tells the master what became of it in its own time.
        assert master.subscribers.wait(lambda: moved(before, counters(master)) == done), moved(before, counters(master))

        before = counters(master)
        framework.accept([offer], unreserve(owned("ads", "p", cpus=100)))
        offer = framework.offers()[0]
        refused = {"operations/total": 1, "operations/error": 1}
        assert moved(before, counters(master)) == refused | {
            "operations/unreserve/total": 1,
            "operations/unreserve/error": 1,
        }
        figures = master.read("/metrics/snapshot")
        own = f"master/frameworks/f/{framework.id}/operations"
        assert (figures[own], figures[f"{own}/reserve"], figures[f"{own}/unreserve"]) == (1.0, 1.0, 0.0)

        before = counters(master)
        framework.accept([{"id": {"value": "nope"}}], reserve(owned("ads", "p", cpus=1), id={"value": "i"}))
        assert (
            operation_status(framework)["message"]
            == "Operation attempted with invalid offers: Offer nope is no longer valid"
        )
        assert moved(before, counters(master))["operations/reserve/error"] == 1

        framework.decline([offer], refuse=1000)
        before = counters(master)
        answer = master.call(
            "RESERVE_RESOURCES", reserve_resources={"agent_id": offer["agent_id"], "resources": owned("web", cpus=1)}
        )
        assert answer.status == 202

        def counted() -> bool:
            steps = moved(before, counters(master))
            return {name: steps.get(name) for name in done} == done

        assert master.subscribers.wait(counted), moved(before, counters(master))


def fresh_uuid() -> str:
    return base64.b64encode(uuid4().bytes).decode()


@pytest.mark.parametrize(
    ("change", "gives"),
    [
        ({"uuid": "AA=="}, 400),
        ({"uuid": "AAAAAAAAAAAAAAAAAAAAAA=="}, 400),
        ({"agent_id": None}, 400),
        ({}, 202),
    ],
)
def test_acknowledgements_that_fit_nothing(start: Any, carrier: Carrier, change: dict[str, Any], gives: int) -> None:
    skip_before("1.6.2", carrier, "acknowledgements of operations are not counted")
    with start(SETUP) as (master, join):
        framework = join("ads").subscribe()
        agent = framework.offers()[0]["agent_id"]
        body = {"agent_id": agent, "uuid": fresh_uuid(), "operation_id": {"value": "nope"}, **change}
        body = {name: value for name, value in body.items() if value is not None}
        assert framework.call("ACKNOWLEDGE_OPERATION_STATUS", acknowledge_operation_status=body).status == gives
        counter = "master/invalid_operation_status_update_acknowledgements"
        assert master.subscribers.wait(lambda: counters(master)[counter] == 1.0)


@pytest.mark.parametrize("field", ["agent_id", "uuid"])
def test_acknowledgements_of_tasks_are_counted(start: Any, carrier: Carrier, field: str) -> None:
    is_counted = field == "agent_id" or carrier.profile.counts_broken_acknowledgements
    with start(SETUP) as (master, join):
        framework = join("ads").subscribe()
        agent = framework.offers()[0]["agent_id"]
        wrong = {"agent_id": {"value": "zz"}, "uuid": "AA=="}[field]
        good = {"agent_id": agent, "uuid": fresh_uuid(), "task_id": {"value": "t"}}
        assert framework.call("ACKNOWLEDGE", acknowledge=good).status == 202
        answer = framework.call("ACKNOWLEDGE", acknowledge=good | {field: wrong})
        assert answer.status == (202 if field == "agent_id" else 400)

        def counted() -> bool:
            figures = master.read("/metrics/snapshot")
            kinds = ("valid", "invalid")
            return [figures[f"master/{kind}_status_update_acknowledgements"] for kind in kinds] == [
                1.0,
                float(is_counted),
            ]

        assert master.subscribers.wait(counted)


def test_what_a_resize_leaves_behind(start: Any, carrier: Carrier) -> None:
    """The freed part of a shrunken volume stays allocated to its framework for as long as there is one, or for ever."""
    skip_before("1.6.2", carrier, "volumes keep their size")
    with start(SETUP) as (_, join):
        framework = join("ads", principal="p").subscribe()
        (free,) = owned("ads", "p", disk=100)

        def volume(size: float) -> dict[str, Any]:
            disk = {"persistence": {"id": "v1", "principal": "p"}, "volume": {"mode": "RW", "container_path": "data"}}
            return free | {"scalar": {"value": size}, "disk": disk}

        def disks() -> tuple[float, float, float]:
            """Unreserved, reserved and volume, of the next offer."""
            entries = [entry for entry in framework.offers()[0]["resources"] if entry["name"] == "disk"]
            kinds = [(bool(entry.get("reservations")), "disk" in entry) for entry in entries]
            sizes = dict(zip(kinds, (entry["scalar"]["value"] for entry in entries), strict=True))
            return sizes[False, False], sizes.get((True, False), 0.0), sizes.get((True, True), 0.0)

        def again(*operations: dict[str, Any]) -> tuple[float, float, float]:
            last = [event for event in framework.stream.events if event["type"] == "OFFERS"][-1]
            framework.accept(last["offers"]["offers"], *operations)
            return disks()

        def shrink(size: float, by: float) -> dict[str, Any]:
            return {"type": "SHRINK_VOLUME", "shrink_volume": {"volume": volume(size), "subtract": {"value": by}}}

        framework.offers()
        create = {"type": "CREATE", "create": {"volumes": [volume(50)]}}
        assert again(reserve([free]), create) == (900.0, 50.0, 50.0)
        assert again(shrink(50, 20)) == (900.0, 50.0, 30.0)
        addition = free | {"scalar": {"value": 10.0}}
        grow = {"type": "GROW_VOLUME", "grow_volume": {"volume": volume(30), "addition": addition}}
        destroy = {"type": "DESTROY", "destroy": {"volumes": [volume(40)]}}
        assert again(grow, destroy) == (900.0, 40.0, 40.0)  # what has grown is not there for the next operation
        assert again(shrink(40, 5), shrink(35, 5)) == (900.0, 40.0, 35.0)
        more = free | {"scalar": {"value": 7.0}}
        assert again(shrink(35, 5), reserve([more])) == (893.0, 47.0, 30.0)

        other = join("ads", principal="p").subscribe()
        framework.leave()
        framework = other
        lost = 0.0 if carrier.profile.framework_leaves_nothing else 30.0
        assert disks() == (893.0, 77.0 - lost, 30.0)


def test_messages_that_are_counted_otherwise_than_one_thinks(start: Any) -> None:
    with start(SETUP) as (master, join):
        framework = join("ads").subscribe()
        framework.accept(framework.offers())
        framework.leave()
        assert framework.closed()

        def counted() -> bool:
            figures = master.read("/metrics/snapshot")
            names = ("messages_launch_tasks", "messages_unregister_framework")
            # An agent that registers twice, for want of an answer, tells what it has twice.
            return [figures[f"master/{name}"] for name in names] == [0.0, 0.0] and figures[
                "master/messages_update_slave"
            ] >= 1.0

        assert master.subscribers.wait(counted)
