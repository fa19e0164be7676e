"""Calls in protobuf: what the real master answers, and the same as the fake answers in JSON."""

import json
import math
from collections.abc import Iterator

import pytest

from tests.conformance.callers.frameworks import Framework, amounts
from tests.conformance.conftest import pool
from tests.conformance.masters.carriers import IN_PROCESS, REAL, SOCKET, Carrier, Pool, speaking
from tests.conformance.masters.cluster import Answer, Cluster
from tests.conformance.masters.codec import PROTOBUF
from tests.conformance.masters.comparing import steady
from tests.conformance.scenarios.scenario import Step, config, post_quota, send, update_quota
from tests.conformance.scenarios.setups import STANDARD
from tests.helpers.needs import needs

__all__ = ["pool"]

TYPE = "application/x-protobuf"
CHANGES: tuple[Step, ...] = (
    post_quota("ads", cpus=10, mem=4096),
    update_quota(config("web", {"cpus": 2}, {"cpus": 4.5, "mem": 1024}), config("batch", {}, {"gpus": 0})),
    send("PUT", "/weights", [{"role": "web", "weight": 2}, {"role": "web/shop", "weight": 0.5}]),
)
CALLS = (
    "GET_AGENTS",
    "GET_EXECUTORS",
    "GET_FLAGS",
    "GET_FRAMEWORKS",
    "GET_HEALTH",
    "GET_LOGGING_LEVEL",
    "GET_MAINTENANCE_SCHEDULE",
    "GET_MAINTENANCE_STATUS",
    "GET_MASTER",
    "GET_OPERATIONS",
    "GET_QUOTA",
    "GET_ROLES",
    "GET_STATE",
    "GET_TASKS",
    "GET_VERSION",
    "GET_WEIGHTS",
)


def _changed(carrier: Carrier, pool: Pool) -> Iterator[Cluster]:
    master = pool.start(speaking(PROTOBUF, carrier), STANDARD)
    for step in CHANGES:
        answer = master.request(step.method, step.path, content=step.content, headers=step.headers)
        assert answer.status == 200, (step, answer)
    yield master
    master.stop()


@pytest.fixture(scope="module")
@needs(*REAL.needs)
def real(pool: Pool) -> Iterator[Cluster]:
    yield from _changed(REAL, pool)


@pytest.fixture(scope="module", params=(IN_PROCESS, SOCKET), ids=str)
def fake(request: pytest.FixtureRequest, pool: Pool) -> Iterator[Cluster]:
    yield from _changed(request.param, pool)


@pytest.fixture(params=(IN_PROCESS, SOCKET, REAL), ids=str)
def any_master(request: pytest.FixtureRequest, pool: Pool) -> Iterator[Cluster]:
    master = pool.start(speaking(PROTOBUF, request.param), STANDARD)
    yield master
    master.stop()


@pytest.mark.parametrize("call", CALLS)
def test_answers_are_those_of_the_real_master(call: str, real: Cluster, fake: Cluster) -> None:
    wanted, given = real.call(call), fake.call(call)
    assert given.status == wanted.status == 200
    assert steady(given.json()) == steady(wanted.json())


# Bytes of a call, and the headers; None leaves the type out.
HEALTH = b"\x08\x01"
EXCHANGES = {
    "protobuf": (HEALTH, TYPE, TYPE),
    "both": (HEALTH, TYPE, f"{TYPE},application/json"),
    "any": (HEALTH, TYPE, "*/*"),
    "any application": (HEALTH, TYPE, "application/*"),
    "shouted": (HEALTH, TYPE, TYPE.upper()),
    "json unwanted": (HEALTH, TYPE, f"application/json;q=0, {TYPE}"),
    "less wanted": (HEALTH, TYPE, f"{TYPE};q=0.5, application/json;q=0.1"),
    "text wanted": (HEALTH, TYPE, "text/html"),
    "asked in json": (b'{"type":"GET_HEALTH"}', "application/json", TYPE),
    "no type": (HEALTH, None, TYPE),
    "parameters": (HEALTH, f"{TYPE}; charset=utf-8", TYPE),
    "another type": (HEALTH, "application/protobuf", TYPE),
    "empty": (b"", TYPE, TYPE),
    "cut": (b"\x08", TYPE, TYPE),
    "json": (b'{"type":"GET_HEALTH"}', TYPE, TYPE),
    "wrong wire type": (b"\x0a\x01a", TYPE, TYPE),
    "wrong wire type and the right one": (b"\x0a\x01a" + HEALTH, TYPE, TYPE),
    "unknown type": (b"\x08\xff\x01", TYPE, TYPE),
    "unknown field": (HEALTH + b"\xfa\x7f\x01x", TYPE, TYPE),
    "unknown group": (HEALTH + b"\xfb\x7f\xfc\x7f", TYPE, TYPE),
    "group without an end": (HEALTH + b"\xfb\x7f", TYPE, TYPE),
    "end of no group": (HEALTH + b"\xfc\x7f", TYPE, TYPE),
    "field zero": (HEALTH + b"\x02\x01a", TYPE, TYPE),
    "wire type six": (HEALTH + b"\x0e", TYPE, TYPE),
    "length beyond the end": (HEALTH + b"\xfa\x7f\xff\xff\xff\xff\x0f", TYPE, TYPE),
    "varint of eleven bytes": (b"\x08" + b"\xff" * 10 + b"\x01", TYPE, TYPE),
    "type twice": (b"\x08\x0b" + HEALTH, TYPE, TYPE),
    "long varint": (b"\x08\x81\x80\x80\x80\x80\x80\x80\x80\x80\x00", TYPE, TYPE),
    "required field missing": (b"\x08\x0f\x7a\x00", TYPE, TYPE),
    "no body of the type": (b"\x08\x0f", TYPE, TYPE),
    "text that is no UTF-8": (b"\x08\x0f\x7a\x03\x0a\x01\xff", TYPE, TYPE),
}


def _exchange(master: Cluster, path: str, exchange: tuple[bytes, str | None, str]) -> Answer:
    body, content_type, accept = exchange
    headers = {"Accept": accept} | ({} if content_type is None else {"Content-Type": content_type})
    return master.request("POST", path, content=body, headers=headers)


@pytest.mark.parametrize("name", EXCHANGES)
def test_operator_calls_are_read_as_the_real_master_does(name: str, real: Cluster, fake: Cluster) -> None:
    wanted, given = (_exchange(master, "/api/v1", EXCHANGES[name]) for master in (real, fake))
    assert given.status == wanted.status
    assert given.headers.get("Content-Type") == wanted.headers.get("Content-Type")


SUBSCRIBE = {
    "empty": b"",
    "no body": b"\x10\x01",
    "required field missing": b"\x10\x01\x1a\x00",
    "name missing": b"\x10\x01\x1a\x05\x0a\x03\x0a\x01u",
    "unknown type": b"\x10\x63",
    "body without type": b"\x1a\x08\x0a\x06\x0a\x01u\x12\x01n",
    "another body": b"\x10\x01\x2a\x00",
    "decline of nobody": b"\x0a\x03\x0a\x01x\x10\x04\x2a\x00",
    "revive of nobody": b"\x0a\x03\x0a\x01x\x10\x05",
    "acknowledge without agent": b"\x0a\x03\x0a\x01x\x10\x08\x42\x00",
}


@pytest.mark.parametrize("name", SUBSCRIBE)
def test_scheduler_calls_are_read_as_the_real_master_does(name: str, real: Cluster, fake: Cluster) -> None:
    exchange = (SUBSCRIBE[name], TYPE, TYPE)
    wanted, given = (_exchange(master, "/api/v1/scheduler", exchange) for master in (real, fake))
    assert (given.status, given.headers.get("Content-Type")) == (wanted.status, wanted.headers.get("Content-Type"))


def test_a_framework_lives_in_protobuf(any_master: Cluster) -> None:
    """Subscribed, offered, a reservation, failed over, gone: every step in protobuf."""
    framework = Framework(any_master, "ads", labels={"labels": [{"key": "k", "value": "v"}]}).subscribe()
    assert framework.stream.headers["Content-Type"] == TYPE
    offers = framework.offers(agents=len(any_master.setup.agents))
    # Either may come first.
    assert any_master.subscribers.wait(lambda: {"type": "HEARTBEAT"} in framework.stream.events)
    first = max(offers, key=lambda offer: amounts(offer["resources"]).get("cpus", 0))
    reserved = {
        "name": "cpus",
        "type": "SCALAR",
        "scalar": {"value": 1.5},
        "allocation_info": {"role": "ads"},
        "reservations": [{"type": "DYNAMIC", "role": "ads", "labels": {"labels": [{"key": "a", "value": "b"}]}}],
    }
    framework.accept([first], {"type": "RESERVE", "reserve": {"resources": [reserved]}})
    again = framework.offers()[0]
    assert amounts(again["resources"])["cpus(ads)"] == amounts(first["resources"]).get("cpus(ads)", 0) + 1.5
    framework.decline([again, *(offer for offer in offers if offer is not first)], 3600.0)
    before = framework.stream
    framework.subscribe()
    told = {"type": "ERROR", "error": {"message": "Framework failed over"}}
    assert any_master.subscribers.wait(lambda: told in before.events)
    framework.leave()
    assert framework.closed()
    shown = any_master.call("GET_FRAMEWORKS").json()["get_frameworks"]["completed_frameworks"]
    assert shown[0]["framework_info"]["labels"] == {"labels": [{"key": "k", "value": "v"}]}


def test_an_operator_listens_in_protobuf(any_master: Cluster) -> None:
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    stream = any_master.subscribers.open("/api/v1", json.dumps({"type": "SUBSCRIBE"}), headers)
    assert stream.headers["Content-Type"] == TYPE
    Framework(any_master, "ads").subscribe()
    assert any_master.subscribers.wait(lambda: any(e["type"] == "FRAMEWORK_ADDED" for e in stream.events))
    assert [event["type"] for event in stream.events[:2]] == ["SUBSCRIBED", "HEARTBEAT"]
    agents = stream.events[0]["subscribed"]["get_state"]["get_agents"]["agents"]
    assert len(agents) == len(any_master.setup.agents)


NO_AMOUNTS = (math.nan, math.inf, -math.inf)


@pytest.mark.parametrize("amount", NO_AMOUNTS, ids=str)
def test_amounts_that_json_does_not_have_are_refused_as_by_the_real_master(
    amount: float, real: Cluster, fake: Cluster
) -> None:
    """Not asked: a negative zero, which kills a real master, and a weight that is no number, which it takes."""
    config = {"role": "x", "limits": {"cpus": {"value": amount}}}
    minimum = {"min_allocatable_resources": {"quantities": [{"quantities": {"cpus": {"value": amount}}}]}}
    told = []
    for master in (real, fake):
        agent = master.agents()[0]["id"]
        scalar = {"name": "cpus", "type": "SCALAR", "scalar": {"value": amount}}
        reserved = {**scalar, "reservations": [{"type": "DYNAMIC", "role": "ads"}]}
        quota = {"quota_request": {"force": True, "role": "x", "guarantee": [scalar]}}
        reserve = {"agent_id": {"value": agent}, "resources": [reserved]}
        framework = Framework(master, "ads", offer_filters={"ads": minimum})
        assert framework.open().status == 200
        told.append(
            (
                master.call("RESERVE_RESOURCES", reserve_resources=reserve).status,
                master.call("UPDATE_QUOTA", update_quota={"quota_configs": [config]}).status,
                master.call("SET_QUOTA", set_quota=quota).status,
                framework.next("ERROR")["error"]["message"],
            )
        )
    assert told[0] == told[1]
