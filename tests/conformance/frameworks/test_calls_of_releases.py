"""Calls of frameworks that releases answer differently."""

from typing import Any

import pytest

from mesosctl.mesos.messages.protobuf_json.releases import has
from tests.conformance.callers.frameworks import Framework, amounts
from tests.conformance.callers.joining import quick, shown
from tests.conformance.callers.subscribers import Event
from tests.conformance.masters.carriers import Carrier, Pool, each_of
from tests.conformance.scenarios.reserving import disk, dynamic

SETUP = quick("cpus:4;mem:2048;disk:100")
RELEASES = ("1.4.3", "1.8.1", "1.11.0")
ENDS_IN = ("1.8.1", "1.11.0")
"""The releases of which a real master ends when it counts a call of the type UNKNOWN."""
FEEDBACK = "1.8.1"
"""The first release in which an operation may have an id, and volumes may shrink."""

each_release = pytest.mark.parametrize("carrier", each_of(*RELEASES), ids=str)
with_feedback = pytest.mark.parametrize(
    "carrier", each_of(*(release for release in RELEASES if has(release, FEEDBACK))), ids=str
)


@pytest.mark.parametrize(
    "carrier", [of for of in each_of(*RELEASES) if not (of.needs and of.version in ENDS_IN)], ids=str
)
@pytest.mark.parametrize("body", [{}, {"kill": {"task_id": {"value": "t"}}}], ids=["bare", "with another's body"])
def test_a_call_of_the_type_unknown(carrier: Carrier, pool: Pool, body: Event) -> None:
    framework = Framework(pool.lend(carrier, SETUP), "ads").subscribe()
    answer = framework.call("UNKNOWN", **body)
    assert answer.status == (400 if carrier.version in ENDS_IN else 501)
    framework.leave()


@each_release
def test_another_principal(carrier: Carrier, pool: Pool) -> None:
    master = pool.lend(carrier, SETUP)
    framework = Framework(master, "ads", principal="p", failover_timeout=100.0).subscribe()
    framework.info |= {"principal": "q", "user": "v", "checkpoint": True, "webui_url": "w"}
    stream = framework.open()
    assert master.subscribers.wait(lambda: bool(stream.events))
    is_taken = carrier.version != "1.11.0"
    assert stream.events[0]["type"] == ("SUBSCRIBED" if is_taken else "ERROR")
    [now] = shown(master, framework)
    assert [now[name] for name in ("principal", "user", "checkpoint")] == ["p", "u", False]
    assert now["webui_url"] == ("w" if is_taken else "")
    master.request("POST", "/teardown", content=f"frameworkId={framework.id}")
    stream.hang_up()


@each_release
@pytest.mark.parametrize("framework_id", ["a/b", ".."])
def test_an_id_that_no_folder_can_have(carrier: Carrier, pool: Pool, framework_id: str) -> None:
    master = pool.start(carrier, SETUP)  # what has been removed does not come back
    framework = Framework(master, "ads")
    framework.id = framework_id
    stream = framework.open()
    assert master.subscribers.wait(lambda: bool(stream.events))
    assert stream.events[0]["type"] == ("SUBSCRIBED" if carrier.version == "1.4.3" else "ERROR")
    master.stop()


@each_release
def test_a_task_that_its_agent_does_not_know(carrier: Carrier, pool: Pool) -> None:
    framework = Framework(pool.lend(carrier, SETUP), "ads", capabilities=("MULTI_ROLE", "PARTITION_AWARE")).subscribe()
    [offer] = framework.offers()
    asked = {"task_id": {"value": "t"}, "agent_id": offer["agent_id"]}
    framework.ask("RECONCILE", reconcile={"tasks": [asked]})
    state = framework.next("UPDATE")["update"]["status"]["state"]
    assert state == ("TASK_UNKNOWN" if carrier.version == "1.4.3" else "TASK_GONE")
    framework.leave()


@with_feedback
def test_what_a_shrink_lost_sight_of_outlives_the_framework(carrier: Carrier, pool: Pool) -> None:
    master, owner = pool.lend(carrier, SETUP), [dynamic("ads")]
    made = disk(10, *owner, persistence={"id": "v"}, volume={"mode": "RW", "container_path": "p"})
    agent = {"value": master.agents()[0]["id"]}
    for kind, body in (
        ("RESERVE_RESOURCES", {"resources": [disk(30, *owner)]}),
        ("CREATE_VOLUMES", {"volumes": [made]}),
    ):
        assert master.call(kind, **{kind.lower(): {"agent_id": agent, **body}}).status == 202
    framework = Framework(master, "ads").subscribe()
    shrink = {"type": "SHRINK_VOLUME", "shrink_volume": {"volume": made, "subtract": {"value": 4.0}}}
    framework.accept(framework.offers(), shrink)
    framework.settle()
    framework.leave()
    framework = Framework(master, "ads").subscribe()
    [offer] = framework.offers()
    framework.leave()
    plain = [entry for entry in offer["resources"] if "disk" not in entry]
    # 20 beside the volume, and 4 that it had.
    assert amounts(plain)["disk(ads)"] == (24.0 if carrier.version == "1.11.0" else 20.0)
    pool.discard(master)


@with_feedback
def test_an_operation_is_shown_with_the_body_of_another(carrier: Carrier, pool: Pool) -> None:
    master = pool.lend(carrier, SETUP)
    framework = Framework(master, "ads").subscribe()
    reserve: dict[str, Any] = {"resources": [disk(5, dynamic("ads"))]}
    other = {"volumes": [{"name": "y", "type": "SCALAR", "role": "web"}, {"name": "z", "type": "RANGES", "role": "*"}]}
    sent = {"type": "RESERVE", "id": {"value": "o"}, "reserve": reserve, "destroy": other}
    framework.accept(framework.offers(), sent)
    framework.next("UPDATE_OPERATION_STATUS")
    [found] = master.call("GET_OPERATIONS").json()["get_operations"]["operations"]
    assert found["info"]["destroy"]["volumes"] == [
        {"name": "y", "type": "SCALAR", "reservations": [{"type": "STATIC", "role": "web"}]},
        {"name": "z", "type": "RANGES"},
    ]
    framework.leave()
