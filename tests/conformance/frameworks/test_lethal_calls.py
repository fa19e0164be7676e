"""Scheduler calls that end a real master: the fake one refuses each and lives, and the real one is never asked."""

from typing import Any

import pytest

from tests.conformance.callers.frameworks import Framework
from tests.conformance.callers.joining import Join, quick
from tests.conformance.callers.operations import reserve, unreserve
from tests.conformance.callers.owning import owned
from tests.conformance.callers.tasks import custom, executor, group, joined, launch, refusal, task
from tests.conformance.masters.carriers import EVERY_CARRIER, REAL, Carrier
from tests.conformance.scenarios.scenario import scalars

SETUP = quick("cpus:4;mem:2048;disk:1000;ports:[31000-31009]")
TEXT = {"name": "note", "type": "TEXT", "text": {"value": "x"}}
WITH_TEXT = [*scalars(cpus=0.1, mem=32, disk=10), TEXT]


@pytest.fixture(scope="session", params=[carrier for carrier in EVERY_CARRIER if carrier is not REAL], ids=str)
def carrier(request: pytest.FixtureRequest) -> Carrier:
    """Each fake master in turn."""
    found: Carrier = request.param
    return found


def lives(framework: Framework, offer: dict[str, Any]) -> bool:
    """Whether the master offers the same again."""
    return bool(framework.offers()[0]["resources"] == offer["resources"])


def test_a_call_of_type_unknown(join: Join) -> None:
    framework = joined(join)
    offer = framework.offers()[0]
    assert framework.call("UNKNOWN").status == 400
    framework.decline([offer], refuse=0)
    assert lives(framework, offer)


def test_a_group_with_one_task_id_twice(join: Join) -> None:
    framework = joined(join)
    offer = framework.offers()[0]
    framework.accept([offer], group(executor(framework), task(offer, "t"), task(offer, "t")))
    assert refusal(framework, "t", "t")[0] == "REASON_TASK_GROUP_INVALID"
    assert lives(framework, offer)


@pytest.mark.parametrize("of", ["task", "executor"])
@pytest.mark.parametrize("in_group", [False, True], ids=["LAUNCH", "LAUNCH_GROUP"])
def test_a_resource_of_type_text_in_what_is_launched(join: Join, of: str, in_group: bool) -> None:
    framework = joined(join)
    offer = framework.offers()[0]
    text: dict[str, Any] = {"resources": WITH_TEXT}
    of_task, of_executor = (text, {}) if of == "task" else ({}, text)
    if in_group:
        operation = group(executor(framework, **of_executor), task(offer, "t", **of_task))
    else:
        operation = launch(task(offer, "t", command=None, executor=custom(framework, **of_executor), **of_task))
    framework.accept([offer], operation)
    assert refusal(framework, "t")[0] == ("REASON_TASK_GROUP_INVALID" if in_group else "REASON_TASK_INVALID")
    assert lives(framework, offer)


@pytest.mark.parametrize("of", ["LAUNCH", "LAUNCH_GROUP", "RESERVE"])
def test_a_reservation_for_nobody_in_the_body_of_another_kind(join: Join, of: str) -> None:
    framework = joined(join, principal="p")
    offer = framework.offers()[0]
    unread = {"resources": [{"name": "mem", "type": "SCALAR", "role": "*", "reservation": {}}]}
    operation = {
        "LAUNCH": launch(task(offer, "t")),
        "LAUNCH_GROUP": group(executor(framework), task(offer, "t")),
        "RESERVE": reserve(owned("ads", "p", cpus=1)),
    }[of]
    framework.accept([offer], {**operation, "unreserve": unread})
    if of != "RESERVE":
        assert "would end a real master" in refusal(framework, "t")[1]
    assert lives(framework, offer)


def test_a_resource_of_type_text_in_a_reserve(join: Join) -> None:
    framework = joined(join, principal="p")
    offer = framework.offers()[0]
    (reservation,) = owned("ads", "p", cpus=1)[0]["reservations"]
    framework.accept([offer], reserve([TEXT | {"reservations": [reservation]}]))
    assert lives(framework, offer)


def volume(size: float, name: str = "v1", **more: Any) -> dict[str, Any]:
    disk = {"persistence": {"id": name, "principal": "p"}, "volume": {"mode": "RW", "container_path": "data"}}
    return owned("ads", "p", disk=size)[0] | {"disk": disk, **more}


def create(*entries: dict[str, Any]) -> dict[str, Any]:
    return {"type": "CREATE", "create": {"volumes": list(entries)}}


def destroy(*entries: dict[str, Any]) -> dict[str, Any]:
    return {"type": "DESTROY", "destroy": {"volumes": list(entries)}}


ONE, NONE = owned("ads", "p", cpus=1), owned("ads", "p", mem=0)
OF_NOTHING: dict[str, tuple[list[dict[str, Any]], dict[str, Any]]] = {
    "a reserve": ([], reserve(NONE)),
    "an unreserve": ([], unreserve(NONE)),
    "an unreserve that does something as well": ([reserve(ONE)], unreserve([*ONE, *NONE])),
    "a create": ([], create(volume(0))),
    "a create that does something as well": ([reserve(owned("ads", "p", disk=10))], create(volume(10), volume(0, "w"))),
    "a destroy that does something as well": (
        [reserve(owned("ads", "p", disk=10)), create(volume(10))],
        destroy(volume(10), volume(0, "w")),
    ),
}


@pytest.mark.parametrize(("before", "operation"), OF_NOTHING.values(), ids=OF_NOTHING)
def test_an_operation_on_nothing(join: Join, before: list[dict[str, Any]], operation: dict[str, Any]) -> None:
    framework = joined(join, principal="p")
    framework.accept(framework.offers(), *before)
    offer = framework.offers()[0]
    framework.accept([offer], operation)
    assert lives(framework, offer)


def test_a_minimum_of_an_offer_that_cannot_be_counted(join: Join) -> None:
    framework = joined(join)
    offer = framework.offers()[0]
    minimum = {"min_allocatable_resources": {"quantities": [{"quantities": {"cpus": {"value": 1e16}}}]}}
    info = {**framework.info, "id": {"value": framework.id}, "offer_filters": {"eng": minimum}}
    assert framework.call("UPDATE_FRAMEWORK", update_framework={"framework_info": info}).status == 400
    framework.decline([offer], refuse=0)
    assert lives(framework, offer)
    framework.info["offer_filters"] = {"ads": minimum}
    other = Framework(framework.cluster, "ads", offer_filters={"ads": minimum})
    assert framework.open().status == other.open().status == 400


def test_a_shared_volume_that_is_there(join: Join) -> None:
    capabilities = ("MULTI_ROLE", "RESERVATION_REFINEMENT", "SHARED_RESOURCES")
    framework = joined(join, principal="p", capabilities=capabilities)
    offer = framework.offers()[0]
    shared = create(volume(10, shared={}))
    framework.accept([offer], reserve(owned("ads", "p", disk=10)), shared, shared)
    offer = framework.offers()[0]
    assert sum("shared" in entry for entry in offer["resources"]) == 1
    framework.accept([offer], shared)
    assert lives(framework, offer)
