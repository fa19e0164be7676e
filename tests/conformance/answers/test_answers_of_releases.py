"""Answers and events of the v1 APIs have the members that the release of the master gives them, in both formats."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from mesosctl.mesos.messages.protobuf_json.message_tables import ONLY_IN_JSON, Enumeration, Message, mesos_message
from mesosctl.mesos.messages.protobuf_json.releases import has
from mesosctl.mesos.rules.version_profile import RELEASES
from tests.conformance.callers.frameworks import HEADERS, Framework
from tests.conformance.callers.joining import quick
from tests.conformance.masters.carriers import REAL, Pool, in_process_of, real_of
from tests.conformance.masters.cluster import Cluster
from tests.conformance.masters.codec import JSON_ALONE, PROTOBUF
from tests.conformance.masters.judges import JUDGES
from tests.helpers.needs import needs

SETUP = quick("cpus:4;mem:2048;disk:100;ports:[31000-31009]")
RESPONSE, EVENT = "mesos.v1.master.Response", "mesos.v1.master.Event"
READINGS = sorted(
    name
    for name in mesos_message("mesos.v1.master.Call").types
    if name.startswith("GET_") and name not in ("GET_METRICS", "GET_LOGGING_LEVEL", "GET_ROLES")
)
"""GET_ROLES is another one before 1.9, in more than its members."""
FILTER = {"min_allocatable_resources": {"quantities": [{"quantities": {"cpus": {"value": 0.5}}}]}}
Told = dict[str, set[str]]
"""The members of each answer, each with the kinds of its values."""


def members(value: Any, path: str = "") -> Iterator[str]:
    """The paths of a document, with the types of what is there."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield from members(part, f"{path}.{name}")
    elif isinstance(value, list):
        yield f"{path}[]"
        for part in value:
            yield from members(part, f"{path}[]")
    else:
        yield f"{path}: {type(value).__name__}"


def documents(master: Cluster) -> Iterator[tuple[str, Any]]:
    """The answers and events about a cluster with a quota, a weight, and a framework that has reserved."""
    guarantee = [{"name": "cpus", "type": "SCALAR", "scalar": {"value": 1}}]
    for method, path, body in (
        ("POST", "/quota", {"role": "r", "guarantee": guarantee}),
        ("PUT", "/weights", [{"role": "r", "weight": 2}]),
    ):
        assert master.request(method, path, content=json.dumps(body)).status == 200
    operator = master.subscribers.open("/api/v1", '{"type": "SUBSCRIBE"}', HEADERS)
    framework = Framework(master, "r", labels={"labels": [{"key": "k"}]}, offer_filters={"r": FILTER}).subscribe()
    (offer,) = framework.offers()
    reserved = {**guarantee[0], "allocation_info": {"role": "r"}, "reservations": [{"type": "DYNAMIC", "role": "r"}]}
    framework.accept([offer], {"type": "RESERVE", "reserve": {"resources": [reserved]}})
    framework.offers()
    for codec in (JSON_ALONE, PROTOBUF):
        master.speak(codec)
        for name in READINGS:
            answer = master.call(name)
            yield f"{name} in {codec.name}", answer.json() if answer.status == 200 else answer.status
    master.speak(JSON_ALONE)
    framework.leave()
    assert master.subscribers.wait(lambda: any(event["type"] == "FRAMEWORK_REMOVED" for event in operator.events))
    for event in operator.events:
        yield f"{event['type']} to operators", event
    for event in framework.stream.events:
        yield f"{event['type']} to frameworks", event


def told(master: Cluster) -> Told:
    found: Told = {}
    for name, document in documents(master):
        found.setdefault(name, set()).update(members(document))
    return found


@pytest.fixture(params=JUDGES)
@needs(*REAL.needs)
def both(request: pytest.FixtureRequest, pool: Pool) -> Iterator[tuple[Cluster, Cluster]]:
    """The real master of a release, and the fake one."""
    masters = pool.start(real_of(request.param), SETUP), pool.start(in_process_of(request.param), SETUP)
    yield masters
    for master in masters:
        master.stop()


def test_members_are_those_of_the_real_master(both: tuple[Cluster, Cluster]) -> None:
    real, fake = map(told, both)
    assert fake == real


def unknown(message: Message, document: Any, path: str) -> Iterator[str]:
    """The members and the values that a message does not have."""
    for name, part in document.items():
        field = message.fields.get(name)
        if field is None:
            if name not in ONLY_IN_JSON.get(message.name, {}):
                yield f"{path}.{name}"
            continue
        for one in part if isinstance(part, list) else [part]:
            if isinstance(field.type, Message):
                parts = [one["value"]] if field.label == "map" and isinstance(part, list) else [one]
                for inner in one.values() if field.label == "map" and isinstance(part, dict) else parts:
                    yield from unknown(field.type, inner, f"{path}.{name}")
            elif isinstance(field.type, Enumeration) and one not in field.type.values:
                yield f"{path}.{name}: {one}"


@pytest.mark.parametrize("release", RELEASES)
def test_no_member_of_a_later_release_is_written(release: str, pool: Pool) -> None:
    master = pool.start(in_process_of(release), SETUP)
    for name, document in documents(master):
        if isinstance(document, dict) and not name.endswith("frameworks"):
            message = mesos_message(EVENT if name.endswith("operators") else RESPONSE, release)
            assert list(unknown(message, document, name)) == []
    master.stop()


@pytest.mark.parametrize("release", ["documents", *RELEASES])
def test_until_1_9_lists_without_elements_are_left_out(release: str, pool: Pool) -> None:
    master = pool.start(in_process_of(release), SETUP)
    shows = release == "documents" or has(release, "1.10.0")
    assert ("completed_frameworks" in master.call("GET_FRAMEWORKS").json()["get_frameworks"]) is shows
    agent = master.call("GET_STATE").json()["get_state"]["get_agents"]["agents"][0]
    assert ("checkpoint" in agent["agent_info"]) is shows
    master.stop()


@pytest.mark.parametrize(("release", "written"), [("1.8.1", [{"key": "r", "value": {}}]), ("1.9.0", {"r": {}})])
def test_a_map_is_a_list_of_entries_before_1_9(release: str, written: Any, pool: Pool) -> None:
    master = pool.start(in_process_of(release), SETUP)
    framework = Framework(master, "r", offer_filters={"r": {}}).subscribe()
    (shown,) = master.call("GET_FRAMEWORKS").json()["get_frameworks"]["frameworks"]
    assert shown["framework_info"]["offer_filters"] == written
    framework.leave()
    master.stop()


def test_an_operator_of_1_4_hears_no_heartbeat(pool: Pool) -> None:
    heard = {}
    for release in ("1.4.3", "1.5.3"):
        master = pool.start(in_process_of(release), SETUP)
        stream = master.subscribers.open("/api/v1", '{"type": "SUBSCRIBE"}', HEADERS)
        heard[release] = [event["type"] for event in stream.events], "heartbeat" in str(stream.events[0])
        master.stop()
    assert heard == {"1.4.3": (["SUBSCRIBED"], False), "1.5.3": (["SUBSCRIBED", "HEARTBEAT"], True)}
