"""Subscribing, failing over, going: OP-16 to OP-26, TD-1 and the checks before a call is taken."""

import itertools
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from mesosctl.mesos.messages.protobuf_json.messages import UNKNOWN_NAMES_ARE_ABSENT
from mesosctl.mesos.messages.protobuf_json.releases import has
from tests.conformance.callers.frameworks import HEADERS, PATH, Framework
from tests.conformance.callers.joining import Join, joining, quick, shown
from tests.conformance.masters.carriers import Carrier, Pool, skip_before
from tests.conformance.masters.cluster import Cluster, Setup

FIRST_WITH_HEARTBEATS, FIRST_WITH_FRAMEWORK_METRICS = "1.5.3", "1.7.3"
NUMBERS = itertools.count()
SELDOM = Setup(agents=("cpus:4;mem:2048;disk:100;ports:[31000-31009]",), flags={"allocation_interval": "1hrs"})


def test_first_events(join: Join) -> None:
    framework = join("ads").subscribe()
    first = framework.stream.events[0]
    assert first["type"] == "SUBSCRIBED"
    assert set(first["subscribed"]) == {"framework_id", "heartbeat_interval_seconds", "master_info"}
    assert first["subscribed"]["heartbeat_interval_seconds"] == 15.0
    # Heartbeats and offers come from two actors of a real master: either may be written first.
    kinds = framework.kinds({"SUBSCRIBED", "HEARTBEAT", "OFFERS"})
    assert kinds[0] == "SUBSCRIBED"
    assert set(kinds[1:]) == {"HEARTBEAT", "OFFERS"}
    assert kinds.count("OFFERS") == 1
    assert framework.stream.headers["Content-Type"] == "application/json"


REFUSED = {
    "a role that cannot be": {"roles": ["a b"]},
    "roles without MULTI_ROLE": {"roles": ["a"], "capabilities": []},
    "role with MULTI_ROLE": {"roles": [], "role": "a"},
    "a role twice": {"roles": ["a", "a"]},
}


@pytest.mark.parametrize("info", REFUSED.values(), ids=REFUSED)
def test_a_refused_info_gets_one_error_and_the_end(join: Join, info: dict[str, Any]) -> None:
    framework = join(**info)
    assert framework.open().status == 200
    assert framework.closed()
    assert [event["type"] for event in framework.stream.events] == ["ERROR"]


def test_a_role_outside_the_whitelist(carrier: Carrier, pool: Pool) -> None:
    with joining(pool.lend(carrier, quick("cpus:1", flags={"roles": "ads"}))) as join:
        outsider = join("web")
        outsider.open()
        assert outsider.closed()
        assert [event["type"] for event in outsider.stream.events] == ["ERROR"]
        join("ads").subscribe().offers()


def test_a_suppressed_role_that_is_not_subscribed(join: Join, carrier: Carrier) -> None:
    if not carrier.profile.honours_suppressed_roles:
        pytest.skip("this release does not look at them")
    framework = join("a")
    framework.open(suppressed_roles=["b"])
    assert framework.closed()
    assert framework.stream.events[0]["error"]["message"] == "Suppressed role 'b' is not contained in the list of roles"


@pytest.mark.parametrize("framework_id", ["a/b", "..", "a\x7f", "é" * 128])
def test_an_id_that_cannot_be(join: Join, carrier: Carrier, framework_id: str) -> None:
    if not carrier.profile.checks_framework_ids:
        pytest.skip("this release takes any id")
    framework = join("a")
    framework.id = framework_id
    framework.open()
    assert framework.closed()
    assert [event["type"] for event in framework.stream.events] == ["ERROR"]
    assert framework.call("REVIVE").status == 400


@pytest.mark.parametrize("framework_id", ["a b", "é", "#?%20&", "x" * 255])
def test_an_odd_id_that_can_be(join: Join, master: Cluster, framework_id: str) -> None:
    framework = join("a")
    framework.id = f"{next(NUMBERS)}{framework_id}"[:255]  # what has been removed does not come back
    wanted = framework.id
    assert framework.subscribe().id == wanted
    framework.ask("REVIVE")
    assert [entry["id"] for entry in shown(master, framework)] == [wanted]


def test_an_empty_id_is_none(join: Join) -> None:
    framework = join("a")
    framework.id = ""
    assert framework.subscribe().id != ""


def test_capabilities_are_shown_as_they_were_named(join: Join, master: Cluster, carrier: Carrier) -> None:
    names = ("REVOCABLE_RESOURCES", "MULTI_ROLE", "OF_A_LATER_MASTER", "MULTI_ROLE")
    framework = join("a", capabilities=names)
    if not has(carrier.profile.release, UNKNOWN_NAMES_ARE_ABSENT):
        assert framework.open().status == 400
        return
    framework.subscribe()
    (entry,) = shown(master, framework)
    assert entry["capabilities"] == ["REVOCABLE_RESOURCES", "MULTI_ROLE", "UNKNOWN", "MULTI_ROLE"]


INFO = {"user": "u", "name": "n", "roles": ["a"], "capabilities": [{"type": "MULTI_ROLE"}]}


def subscribing(info: Any) -> str:
    return json.dumps({"type": "SUBSCRIBE", "subscribe": {"framework_info": info}})


BAD_REQUESTS: dict[str, tuple[int, str, str, dict[str, str]]] = {
    "no user": (400, "POST", subscribing({"name": "n"}), {}),
    "no framework_info": (400, "POST", '{"type":"SUBSCRIBE","subscribe":{}}', {}),
    "no subscribe": (400, "POST", '{"type":"SUBSCRIBE"}', {}),
    "no type": (400, "POST", "{}", {}),
    "an unknown type": (400, "POST", '{"type":"NOPE"}', {}),
    "not JSON": (400, "POST", "{", {}),
    "an id in the info alone": (400, "POST", subscribing({**INFO, "id": {"value": "x"}}), {}),
    "a stream id": (400, "POST", subscribing(INFO), {"Mesos-Stream-Id": "x"}),
    "Accept text/html": (406, "POST", subscribing(INFO), {"Accept": "text/html"}),
    "Content-Type text/plain": (415, "POST", subscribing(INFO), {"Content-Type": "text/plain"}),
    "a charset": (415, "POST", subscribing(INFO), {"Content-Type": "application/json; charset=utf-8"}),
    "GET": (405, "GET", "", {}),
    "no framework_id": (400, "POST", '{"type":"REVIVE"}', {"Mesos-Stream-Id": "x"}),
    "no accept": (400, "POST", '{"type":"ACCEPT","framework_id":{"value":"x"}}', {"Mesos-Stream-Id": "x"}),
    "an unknown framework": (400, "POST", '{"type":"REVIVE","framework_id":{"value":"x"}}', {"Mesos-Stream-Id": "x"}),
}


@pytest.mark.parametrize(("status", "method", "content", "headers"), BAD_REQUESTS.values(), ids=BAD_REQUESTS)
def test_bad_requests(master: Cluster, status: int, method: str, content: str, headers: dict[str, str]) -> None:
    answer = master.request(method, PATH, content=content, headers=HEADERS | headers)
    assert (answer.status, bool(answer.content)) == (status, True), answer


def test_stream_ids(join: Join) -> None:
    framework = join("ads").subscribe()
    assert framework.call("REVIVE", stream_id=None).status == 400
    assert framework.call("REVIVE", stream_id="wrong").status == 400
    assert framework.call("REVIVE").status == 202


def test_calls_without_effect(join: Join) -> None:
    framework = join("ads").subscribe()
    offer = framework.offers()[0]
    framework.ask("DECLINE", decline={"offer_ids": [{"value": "nope"}]})
    framework.ask("ACCEPT", accept={"offer_ids": []})
    framework.ask("REVIVE", revive={"roles": ["other"]})
    framework.ask("SUPPRESS", suppress={"roles": ["other"]})
    framework.ask("REQUEST", request={"requests": []})
    framework.none_of("RESCIND")
    framework.decline([offer], refuse=0)
    assert framework.offers()[0]["agent_id"] == offer["agent_id"]


def test_a_call_after_disconnection(join: Join, master: Cluster) -> None:
    framework = join("ads", failover_timeout=1000.0).subscribe()
    framework.offers()
    framework.stream.hang_up()
    assert master.subscribers.wait(lambda: not shown(master, framework)[0]["connected"])
    assert framework.call("REVIVE").status == 403
    entry = shown(master, framework)[0]
    assert (entry["active"], entry["offers"], entry["failover_timeout"]) == (False, [], 1000.0)


def test_failover_while_connected(join: Join, master: Cluster) -> None:
    framework = join("ads", failover_timeout=60.0).subscribe()
    first_offer = framework.offers()[0]
    old = framework.stream
    framework.subscribe()
    assert master.subscribers.wait(lambda: old.closed)
    assert [event["type"] for event in old.events[-1:]] == ["ERROR"]
    assert old.events[-1]["error"]["message"] == "Framework failed over"
    assert old.headers["Mesos-Stream-Id"] != framework.stream.headers["Mesos-Stream-Id"]
    assert framework.call("REVIVE", stream_id=old.headers["Mesos-Stream-Id"]).status == 400
    assert framework.offers()[0]["id"] != first_offer["id"]
    assert "reregistered_time" in shown(master, framework)[0]


def test_a_failover_that_leaves_a_role_rescinds_what_it_was_offered_there(
    join: Join, master: Cluster, carrier: Carrier
) -> None:
    framework = join("ads", "eng", failover_timeout=60.0).subscribe()
    (offer,) = framework.offers()
    left = offer["allocation_info"]["role"]
    old = framework.stream
    framework.info["roles"] = [role for role in ("ads", "eng") if role != left]
    framework.subscribe()
    assert master.subscribers.wait(lambda: old.closed)
    assert [event["type"] for event in old.events[-2:]] == ["RESCIND", "ERROR"]
    assert old.events[-2]["rescind"]["offer_id"] == offer["id"]
    (again,) = framework.offers()
    assert again["allocation_info"]["role"] != left
    if has(carrier.profile.release, FIRST_WITH_FRAMEWORK_METRICS):
        assert counted(master, framework, "offers/rescinded") == 1.0


def test_what_a_framework_was_offered_when_it_went_away_counts_as_rescinded(
    join: Join, master: Cluster, carrier: Carrier
) -> None:
    skip_before(FIRST_WITH_FRAMEWORK_METRICS, carrier, "frameworks have no metrics")
    framework = join("ads", failover_timeout=60.0).subscribe()
    framework.offers()
    framework.stream.hang_up()
    assert master.subscribers.wait(lambda: not shown(master, framework)[0]["connected"])
    assert master.subscribers.wait(lambda: counted(master, framework, "offers/rescinded") == 1.0)
    assert counted(master, framework, "events/rescind") == 1.0


def counted(master: Cluster, framework: Framework, what: str) -> float:
    """One of a framework's own metrics."""
    (value,) = (
        value
        for name, value in master.read("/metrics/snapshot").items()
        if name.startswith("master/frameworks/") and name.endswith(f"/{framework.id}/{what}")
    )
    return float(value)


def test_an_offer_that_nobody_answers_is_rescinded_in_time(carrier: Carrier, pool: Pool) -> None:
    master = pool.lend(carrier, quick("cpus:4;mem:2048", flags={"offer_timeout": "2secs"}))
    with joining(master) as new:
        first, second = new("ads").subscribe(), new("ads").subscribe()
        (offer,) = first.offers()
        assert first.next("RESCIND")["rescind"]["offer_id"] == offer["id"]
        # Without a filter; whoever has had fewer offers comes first.
        (offer,) = second.offers()
        assert second.next("RESCIND")["rescind"]["offer_id"] == offer["id"]


def test_the_failover_timeout(join: Join, master: Cluster) -> None:
    framework = join("ads", failover_timeout=1.0).subscribe()
    framework.offers()
    framework.stream.hang_up()
    gone = master.subscribers.wait(lambda: bool(shown(master, framework, "completed_frameworks")))
    assert gone
    assert shown(master, framework) == []


def test_teardown(join: Join, master: Cluster) -> None:
    framework = join("ads").subscribe()
    framework.offers()
    assert master.request("POST", "/teardown", content="").status == 400
    assert master.request("POST", "/teardown", content="frameworkId=nope").status == 400
    assert master.request("GET", "/teardown").status == 405
    answer = master.request("POST", "/teardown", content=f"frameworkId={framework.id}")
    assert (answer.status, answer.content) == (200, b"")
    assert framework.closed()
    assert framework.stream.events[-1]["type"] in ("OFFERS", "HEARTBEAT")
    assert framework.call("REVIVE").status == 400
    framework.open()
    assert framework.closed()
    assert framework.stream.events == [{"type": "ERROR", "error": {"message": "Framework has been removed"}}]


def test_a_framework_tears_itself_down(join: Join, master: Cluster) -> None:
    framework = join("ads").subscribe()
    framework.offers()
    framework.leave()
    assert framework.closed()
    assert master.read("/roles")["roles"] == [] or all(
        role["name"] != "ads" or not role["frameworks"] for role in master.read("/roles")["roles"]
    )


def test_unknown_tasks(join: Join) -> None:
    framework = join("ads").subscribe()
    agent = framework.offers()[0]["agent_id"]
    for kind, body in (
        ("RECONCILE", {"reconcile": {"tasks": [{"task_id": {"value": "t"}, "agent_id": agent}]}}),
        ("RECONCILE", {"reconcile": {"tasks": [{"task_id": {"value": "t"}}]}}),
        ("KILL", {"kill": {"task_id": {"value": "t"}, "agent_id": agent}}),
    ):
        framework.ask(kind, **body)
        status = framework.next("UPDATE")["update"]["status"]
        assert status["state"] == "TASK_LOST"
        assert status["source"] == "SOURCE_MASTER"
        assert status["reason"] == "REASON_RECONCILIATION"
        named = "agent_id" in json.dumps(body)
        assert status["message"] == "Reconciliation: Task is unknown" + (" to the agent" if named else "")
        assert ("agent_id" in status) == named
        assert "uuid" not in status
    framework.ask("RECONCILE", reconcile={"tasks": []})
    framework.none_of("UPDATE")


@pytest.mark.parametrize("known", [True, False])
def test_unknown_tasks_for_the_partition_aware(join: Join, carrier: Carrier, known: bool) -> None:
    state = "TASK_GONE" if known and carrier.profile.tasks_unknown_to_agents_are_gone else "TASK_UNKNOWN"
    framework = join("ads", capabilities=("MULTI_ROLE", "PARTITION_AWARE")).subscribe()
    agent = framework.offers()[0]["agent_id"] if known else {"value": "nope"}
    framework.ask("RECONCILE", reconcile={"tasks": [{"task_id": {"value": "t"}, "agent_id": agent}]})
    assert framework.next("UPDATE")["update"]["status"]["state"] == state


def test_update_framework(join: Join, master: Cluster, carrier: Carrier) -> None:
    skip_before("1.9.0", carrier, "there is no UPDATE_FRAMEWORK")
    framework = join("ads", principal="p").subscribe()
    framework.offers()
    info = {**framework.info, "id": {"value": framework.id}}

    def update(**changes: Any) -> int:
        return framework.call("UPDATE_FRAMEWORK", update_framework={"framework_info": {**info, **changes}}).status

    assert update(roles=["ads", "web"]) == 200
    assert shown(master, framework)[0]["roles"] == ["ads", "web"]
    assert update(roles=["a b"]) == 400
    assert update(principal="q") == 400
    assert update(user="somebody else") == 400
    assert update(id={"value": "another"}) == 400
    assert update(id=None) == 400
    framework.none_of("RESCIND")
    assert update(roles=["web"]) == 200
    framework.next("RESCIND")
    assert framework.offers()[0]["allocation_info"] == {"role": "web"}


def test_operators_hear_of_frameworks(join: Join, master: Cluster, carrier: Carrier) -> None:
    listener = master.subscribers.open("/api/v1", '{"type":"SUBSCRIBE"}', HEADERS)
    try:
        assert listener.status == 200
        framework = join("ads").subscribe()
        framework.leave()
        wanted = ["SUBSCRIBED", "FRAMEWORK_ADDED", "FRAMEWORK_REMOVED"]

        def told() -> list[dict[str, Any]]:
            return [event for event in listener.events if event["type"] != "HEARTBEAT"]

        # A heartbeat as well, whenever it comes.
        beats = int(has(carrier.profile.release, FIRST_WITH_HEARTBEATS))
        assert master.subscribers.wait(lambda: len(listener.events) >= len(told()) + beats >= len(wanted) + beats)
        assert [event["type"] for event in told()] == wanted
        first, added, removed = told()
        assert set(first["subscribed"]["get_state"]) == {"get_tasks", "get_executors", "get_frameworks", "get_agents"}
        assert added["framework_added"]["framework"]["framework_info"]["id"] == {"value": framework.id}
        assert removed["framework_removed"]["framework_info"]["name"] == "f"
    finally:
        listener.hang_up()


def test_who_subscribes_again_keeps_user_and_checkpoint(join: Join, master: Cluster, carrier: Carrier) -> None:
    framework = join("ads", labels={"labels": []}, failover_timeout=100.0).subscribe()
    framework.info |= {"user": "somebody else", "checkpoint": True, "hostname": "h"}
    framework.subscribe()
    [now] = shown(master, framework)
    assert (now["user"], now["checkpoint"], now["hostname"]) == ("u", False, "h")
    (told,) = [
        of for of in master.call("GET_FRAMEWORKS").json()["get_frameworks"]["frameworks"] if _id(of) == framework.id
    ]
    assert told["framework_info"]["labels"] == {}
    framework.info["principal"] = "q"
    if carrier.profile.refuses_another_principal:
        framework.open()
        assert framework.closed()
        assert [event["type"] for event in framework.stream.events] == ["ERROR"]
    else:
        framework.subscribe()
        [now] = shown(master, framework)
        assert "principal" not in now


def _id(framework: dict[str, Any]) -> str:
    return str(framework["framework_info"]["id"]["value"])


def test_operators_hear_of_what_changed_alone(join: Join, master: Cluster, carrier: Carrier) -> None:
    skip_before("1.9.0", carrier, "there is no UPDATE_FRAMEWORK")
    framework = join("ads", "web").subscribe()
    info = {**framework.info, "id": {"value": framework.id}}
    with _listening(master) as told:
        for roles in (["web", "ads"], ["ads", "web"], ["ads"]):
            changed = {"framework_info": {**info, "roles": roles}}
            assert framework.call("UPDATE_FRAMEWORK", update_framework=changed).status == 200
        framework.leave()
        assert master.subscribers.wait(lambda: "FRAMEWORK_REMOVED" in told())
        assert told() == ["SUBSCRIBED", "FRAMEWORK_UPDATED", "FRAMEWORK_REMOVED"]


def test_operators_hear_at_once_of_a_framework_that_hung_up(carrier: Carrier, pool: Pool) -> None:
    # Nothing else is due for an hour, and nobody asks the master anything.
    master = pool.lend(carrier, SELDOM)
    with joining(master) as join, _listening(master) as told:
        join("ads").subscribe().stream.hang_up()
        assert master.subscribers.wait(lambda: "FRAMEWORK_REMOVED" in told()), told()


def test_who_is_replaced_hears_of_the_offers_that_its_roles_cost_it(join: Join, master: Cluster) -> None:
    framework = join("ads").subscribe()
    framework.offers()
    before = framework.stream
    framework.info["roles"] = ["web"]
    framework.subscribe()
    assert framework.offers()[0]["allocation_info"] == {"role": "web"}
    assert master.subscribers.wait(lambda: before.closed)
    heard = [event["type"] for event in before.events if event["type"] != "HEARTBEAT"]
    assert heard == ["SUBSCRIBED", "OFFERS", "RESCIND", "ERROR"]


@contextmanager
def _listening(master: Cluster) -> Iterator[Callable[[], list[str]]]:
    """What an operator has heard, heartbeats left out."""
    listener = master.subscribers.open("/api/v1", '{"type":"SUBSCRIBE"}', HEADERS)
    try:
        assert master.subscribers.wait(lambda: bool(listener.events))
        yield lambda: [event["type"] for event in listener.events if event["type"] != "HEARTBEAT"]
    finally:
        listener.hang_up()


def test_a_heartbeat_every_fifteen_seconds(join: Join, master: Cluster, carrier: Carrier) -> None:
    if carrier.name not in ("in-process", "in-process-documents"):
        pytest.skip("fifteen real seconds")
    framework = join("ads").subscribe()
    framework.next("HEARTBEAT")
    framework.none_of("HEARTBEAT", 14.9)
    framework.next("HEARTBEAT", 0.2)
