"""Calls of frameworks that releases answer differently."""

import getpass
from typing import Any

import pytest

from mesosctl.mesos.messages.protobuf_json.releases import has
from mesosctl.mesos.rules.version_profile import TERMINAL_STATES
from tests.conformance.callers.frameworks import HEADERS, Framework, amounts
from tests.conformance.callers.joining import quick, shown
from tests.conformance.callers.subscribers import Event
from tests.conformance.callers.tasks import launch, task
from tests.conformance.masters.carriers import Carrier, Pool, each_of
from tests.conformance.masters.judges import JUDGES
from tests.conformance.scenarios.reserving import cpus, disk, dynamic

SETUP = quick("cpus:4;mem:2048;disk:100")
RELEASES = JUDGES
FIRST_THAT_ENDS = "1.7.3"
"""The first release of which a real master ends when it counts a call of the type UNKNOWN."""
MANY_DIGITS = 1.0000000000000002
FEEDBACK = "1.8.1"
"""The first release whose agents report operations, so that they may have ids."""


def is_from(first: str, carrier: Carrier) -> bool:
    """Whether a carrier is of this release or a later one."""
    return has(carrier.profile.release, first)


each_release = pytest.mark.parametrize("carrier", each_of(*RELEASES), ids=str)
with_feedback = pytest.mark.parametrize(
    "carrier", each_of(*(release for release in RELEASES if has(release, FEEDBACK))), ids=str
)


@pytest.mark.parametrize(
    "carrier", [of for of in each_of(*RELEASES) if not (of.needs and is_from(FIRST_THAT_ENDS, of))], ids=str
)
@pytest.mark.parametrize("body", [{}, {"kill": {"task_id": {"value": "t"}}}], ids=["bare", "with another's body"])
def test_a_call_of_the_type_unknown(carrier: Carrier, pool: Pool, body: Event) -> None:
    framework = Framework(pool.lend(carrier, SETUP), "ads").subscribe()
    answer = framework.call("UNKNOWN", **body)
    assert answer.status == (400 if is_from(FIRST_THAT_ENDS, carrier) else 501)
    framework.leave()


@each_release
def test_another_principal(carrier: Carrier, pool: Pool) -> None:
    master = pool.lend(carrier, SETUP)
    framework = Framework(master, "ads", principal="p", failover_timeout=100.0).subscribe()
    framework.info |= {"principal": "q", "user": "v", "checkpoint": True, "webui_url": "w"}
    stream = framework.open()
    assert master.subscribers.wait(lambda: bool(stream.events))
    is_taken = not is_from("1.9.0", carrier)
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
    assert stream.events[0]["type"] == ("ERROR" if is_from("1.8.1", carrier) else "SUBSCRIBED")
    master.stop()


@each_release
def test_a_framework_that_was_removed_while_it_was_connected(carrier: Carrier, pool: Pool) -> None:
    master = pool.lend(carrier, SETUP)
    framework = Framework(master, "ads").subscribe()
    framework.leave()
    [gone] = shown(master, framework, "completed_frameworks")
    assert (gone["active"], gone["connected"]) == (False, not is_from("1.10.0", carrier))


@each_release
def test_operators_hear_of_a_task_that_had_ended_when_its_framework_left(carrier: Carrier, pool: Pool) -> None:
    master = pool.lend(carrier, SETUP)
    listener = master.subscribers.open("/api/v1", '{"type":"SUBSCRIBE"}', HEADERS)
    framework = Framework(master, "ads", user=getpass.getuser()).subscribe()
    [offer] = framework.offers()
    framework.accept([offer], launch(task(offer, "t")))
    if not carrier.needs:  # a real one fails here
        framework.ask("KILL", kill={"task_id": {"value": "t"}})

    def heard(kind: str) -> list[Event]:
        return [event for event in listener.events if event["type"] == kind]

    def has_ended() -> bool:
        return any(event["task_updated"]["state"] in TERMINAL_STATES for event in heard("TASK_UPDATED"))

    assert master.subscribers.wait(has_ended), listener.events
    framework.leave()
    assert master.subscribers.wait(lambda: bool(heard("FRAMEWORK_REMOVED")))
    listener.hang_up()
    reasons = [event["task_updated"]["status"].get("reason") for event in heard("TASK_UPDATED")]
    assert reasons.count("REASON_FRAMEWORK_REMOVED") == int(is_from("1.7.3", carrier))


@each_release
def test_an_operation_on_what_several_providers_have(carrier: Carrier, pool: Pool) -> None:
    master, owner = pool.lend(carrier, SETUP), [dynamic("ads")]
    resources = [cpus(1, *owner), disk(5, *owner) | {"provider_id": {"value": "y"}}]
    agent = {"value": master.agents()[0]["id"]}
    answer = master.call("RESERVE_RESOURCES", reserve_resources={"agent_id": agent, "resources": resources})
    assert answer.status == (400 if is_from("1.5.3", carrier) else 409)


@each_release
def test_numbers_in_events_have_as_many_digits_as_in_answers(carrier: Carrier, pool: Pool) -> None:
    master = pool.lend(carrier, SETUP)
    framework = Framework(master, "ads", failover_timeout=MANY_DIGITS)
    listeners = [master.subscribers.open("/api/v1", '{"type":"SUBSCRIBE"}', HEADERS)]
    framework.subscribe()
    listeners.append(master.subscribers.open("/api/v1", '{"type":"SUBSCRIBE"}', HEADERS))
    first, second = listeners
    assert master.subscribers.wait(lambda: bool(second.events) and any(map(_is_added, first.events)))
    added = next(filter(_is_added, first.events))
    [known] = second.events[0]["subscribed"]["get_state"]["get_frameworks"]["frameworks"]
    wanted = MANY_DIGITS if is_from("1.7.3", carrier) else 1.0
    for told in (added["framework_added"]["framework"], known):
        assert told["framework_info"]["failover_timeout"] == wanted
    assert shown(master, framework)[0]["failover_timeout"] == wanted
    framework.leave()
    for listener in listeners:
        listener.hang_up()


def _is_added(event: Event) -> bool:
    return bool(event["type"] == "FRAMEWORK_ADDED")


@each_release
def test_a_task_that_its_agent_does_not_know(carrier: Carrier, pool: Pool) -> None:
    framework = Framework(pool.lend(carrier, SETUP), "ads", capabilities=("MULTI_ROLE", "PARTITION_AWARE")).subscribe()
    [offer] = framework.offers()
    asked = {"task_id": {"value": "t"}, "agent_id": offer["agent_id"]}
    framework.ask("RECONCILE", reconcile={"tasks": [asked]})
    state = framework.next("UPDATE")["update"]["status"]["state"]
    assert state == ("TASK_GONE" if is_from("1.5.3", carrier) else "TASK_UNKNOWN")
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
    assert amounts(plain)["disk(ads)"] == (24.0 if is_from("1.10.0", carrier) else 20.0)
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
