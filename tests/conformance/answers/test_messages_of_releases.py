"""Which calls, fields and values each release knows, what its JSON may say, and how it refuses the rest."""

import json
import math
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from fake_master.protobuf.conversion import serialize
from mesosctl.mesos.messages.protobuf_json.decoding import ConversionError
from mesosctl.mesos.messages.protobuf_json.message_tables import Enumeration, Field, Message, mesos_message
from mesosctl.mesos.messages.protobuf_json.messages import read
from mesosctl.mesos.messages.protobuf_json.releases import members_at
from mesosctl.mesos.rules.version_profile import RELEASES
from tests.conformance.callers.frameworks import Framework
from tests.conformance.masters.carriers import REAL, Pool, in_process_of, real_of
from tests.conformance.masters.cluster import Answer, Cluster
from tests.conformance.masters.codec import JSON_ALONE
from tests.conformance.masters.codec import PROTOBUF as PROTOBUF_CODEC
from tests.conformance.masters.judges import JUDGES
from tests.conformance.scenarios.setups import NO_AGENTS
from tests.helpers.needs import needs

SHOWN = ("1.4.3", "1.8.1", "1.11.0")
"""The releases whose answers are written out here."""
MASTER, SCHEDULER = mesos_message("mesos.v1.master.Call"), mesos_message("mesos.v1.scheduler.Call")
PATHS = {MASTER.name: "/api/v1", SCHEDULER.name: "/api/v1/scheduler"}
PROTOBUF = "application/x-protobuf"
Reason = tuple[int, str]
"""The status of an answer, and what it finds at fault."""
_FAULTS = {
    r"Failed to find enum for '(.*)'": "no such name: {}",
    r"Failed to parse '.*' as a JSON number": "no number",
    r"JSON \w+ for field '(\w+)'": "another kind: {}",
    r"Missing required fields": "missing",
    r"Expecting '(\w+)' to be present": "wanted: {}",
    r"Not initialized: (\w+)\.": "wanted: {}",  # the words of 1.5
    r"Framework cannot be found": "no framework",
}


@pytest.fixture(scope="module", params=SHOWN)
def fake(request: pytest.FixtureRequest, pool: Pool) -> Iterator[Cluster]:
    master = pool.start(in_process_of(request.param), NO_AGENTS)
    yield master
    master.stop()


@pytest.fixture(scope="module", params=JUDGES)
@needs(*REAL.needs)
def both(request: pytest.FixtureRequest, pool: Pool) -> Iterator[tuple[Cluster, Cluster]]:
    """The real master of a release, and the fake one."""
    masters = pool.start(real_of(request.param), NO_AGENTS), pool.start(in_process_of(request.param), NO_AGENTS)
    yield masters
    for master in masters:
        master.stop()


@pytest.fixture(scope="module", params=RELEASES)
@needs(*REAL.needs)
def real(request: pytest.FixtureRequest, pool: Pool) -> Iterator[Cluster]:
    """The real master of each release."""
    master = pool.start(real_of(request.param), NO_AGENTS)
    yield master
    master.stop()


def asked(master: Cluster, call: Message, body: Any, *, in_protobuf: bool = False) -> Reason:
    kind = PROTOBUF if in_protobuf else "application/json"
    content = serialize(call.name, body) if in_protobuf else json.dumps(body).encode()
    headers = {"Content-Type": kind, "Accept": "application/json"}
    return reason(master.request("POST", PATHS[call.name], content=content, headers=headers))


def reason(answer: Answer) -> Reason:
    return answer.status, fault_in(answer.content.decode()) if answer.status >= 400 else ""


def fault_in(text: str) -> str:
    found = ((re.search(pattern, text), fault) for pattern, fault in _FAULTS.items())
    return next((fault.format(*match.groups()) for match, fault in found if match), "")


def fault_read(call: Message, body: Any, release: str) -> str:
    """The faults that the reader of a release's messages finds."""
    try:
        read(mesos_message(call.name, release), body)
    except ConversionError as error:
        return fault_in(str(error))
    return ""


def kinds(call: Message) -> list[str]:
    kind = call.fields["type"].type
    assert isinstance(kind, Enumeration)
    return [name for name in kind.values if name != "UNKNOWN"]  # it ends a real master


# --- Calls --------------------------------------------------------------------------------------------

WITH_A_BODY: dict[str, dict[str, Any]] = {
    "UPDATE_QUOTA": {"update_quota": {"quota_configs": []}},
    "DRAIN_AGENT": {"drain_agent": {"agent_id": {"value": "x"}}},
    "RECONCILE_OPERATIONS": {"reconcile_operations": {}},
    "SUPPRESS": {"suppress": {}},
}


def calls() -> Iterator[tuple[Message, dict[str, Any]]]:
    """Every call without a body, and a few with one; the callers are unknown."""
    callers: dict[Message, dict[str, Any]] = {MASTER: {}, SCHEDULER: {"framework_id": {"value": "x"}}}
    for call, caller in callers.items():
        for name in kinds(call):
            if call is SCHEDULER or name != "SUBSCRIBE":
                yield call, {"type": name, **caller}
            if name in WITH_A_BODY:
                yield call, {"type": name, **caller, **WITH_A_BODY[name]}


def test_calls_are_known_and_refused_as_by_the_real_master(both: tuple[Cluster, Cluster]) -> None:
    real, fake = (
        [
            (body["type"], asked(master, call, body, in_protobuf=in_protobuf))
            for call, body in calls()
            for in_protobuf in (False, True)
        ]
        for master in both
    )
    assert fake == real


UNKNOWN = (400, "wanted: type")
SEEN = {
    ("1.4.3", "UPDATE_QUOTA"): ((400, "no such name: UPDATE_QUOTA"), UNKNOWN),
    ("1.8.1", "UPDATE_QUOTA"): ((501, ""), (501, "")),
    ("1.11.0", "UPDATE_QUOTA"): ((200, ""), (200, "")),
    ("1.4.3", "DRAIN_AGENT"): ((400, "no such name: DRAIN_AGENT"), UNKNOWN),
    ("1.8.1", "DRAIN_AGENT"): (UNKNOWN, UNKNOWN),
    ("1.11.0", "DRAIN_AGENT"): ((400, ""), (400, "")),
}
"""Answers of real masters in JSON and in protobuf."""


@pytest.mark.parametrize("call", ["UPDATE_QUOTA", "DRAIN_AGENT"])
def test_a_call_that_a_release_lacks(call: str, fake: Cluster) -> None:
    body = {"type": call, **WITH_A_BODY[call]}
    told = tuple(asked(fake, MASTER, body, in_protobuf=in_protobuf) for in_protobuf in (False, True))
    assert told == SEEN[fake.read("/version")["version"], call]


def test_the_documents_serve_every_call(pool: Pool) -> None:
    master = pool.start(in_process_of("documents"), NO_AGENTS)
    found = {body["type"]: asked(master, call, body) for call, body in calls() if call is MASTER}
    assert not [name for name, (status, told) in found.items() if told == "wanted: type" or status == 501]
    master.stop()


# --- Fields -------------------------------------------------------------------------------------------


class Place(NamedTuple):
    """A field at some depth of a call."""

    call: Message
    names: tuple[str, ...]
    field: Field

    def body(self, value: Any) -> Any:
        """The call with a value in this place."""
        inner = value
        for name in reversed(self.names):
            inner = {name: inner}
        return {"type": "GET_HEALTH" if self.call is MASTER else "SUBSCRIBE", **inner}


def places() -> Iterator[Place]:
    """The first place of each field that not every release has, or that one of them has otherwise."""
    changed = members_at(RELEASES[-1])
    for call in (MASTER, SCHEDULER):
        seen, waiting = {call.name}, [(call, tuple[str, ...]())]
        while waiting:
            message, before = waiting.pop(0)
            for name, field in message.fields.items():
                if name in changed.get(message.name, {}):
                    yield Place(call, (*before, name), field)
                if isinstance(field.type, Message) and field.label != "map" and field.type.name not in seen:
                    seen.add(field.type.name)
                    waiting.append((field.type, (*before, name)))


PLACES = list(places())
STRANGE: dict[str, Any] = {"double": True, "float": True, "int32": True, "int64": True, "uint32": True, "uint64": True}
"""The values that a field refuses, although it takes 7."""


def strange(field: Field) -> Any:
    return STRANGE.get(field.type, 7) if isinstance(field.type, str) else 7


def test_fields_are_read_where_the_real_master_reads_them(both: tuple[Cluster, Cluster]) -> None:
    """A value of another kind is refused in a field that is known, and ignored in one that is not."""
    assert len(PLACES) > 100
    real, fake = (
        {place.names: asked(master, place.call, place.body(strange(place.field))) for place in PLACES}
        for master in both
    )
    assert fake == real


def test_fields_are_read_as_by_each_release(real: Cluster) -> None:
    """By the reader itself, and not by the fake master."""
    release = real.read("/version")["version"]
    for place in PLACES:
        body = place.body(strange(place.field))
        told = asked(real, place.call, body)[1]
        expected = fault_read(place.call, body, release)
        assert ("" if told.startswith("wanted") else told) == expected, place.names


def test_fields_of_later_releases_are_ignored(fake: Cluster) -> None:
    """Those that a release has are refused in its own words, and the rest not even looked at."""
    version = fake.read("/version")["version"]
    for place in PLACES:
        message = mesos_message(place.call.name, version)
        told = asked(fake, place.call, place.body(strange(place.field)))[1]
        is_known = True
        for name in place.names:
            is_known = is_known and name in message.fields
            if is_known and name != place.names[-1]:
                message = message.field(name)
        assert (told == f"another kind: {place.names[-1]}") is is_known, place.names


# --- Values, and what JSON may say --------------------------------------------------------------------

READ: dict[str, dict[str, Any]] = {
    "a name that no enumeration has": {
        "reserve_resources": {"resources": [{"reservations": [{"type": "OF_A_LATER"}]}]}
    },
    "an empty name": {"reserve_resources": {"resources": [{"reservations": [{"type": ""}]}]}},
    "such a name in a list": {"set_quota": {"quota_request": {"guarantee": {"reservations": {"type": "X"}}}}},
    "a name where one is needed": {"reserve_resources": {"resources": [{"type": "OF_A_LATER"}]}},
    "a number in quotes": {"update_weights": {"weight_infos": [{"weight": "1"}]}},
    "a whole number in quotes": {"read_file": {"path": "x", "offset": "1"}},
    "a number with a letter": {"update_weights": {"weight_infos": [{"weight": "1.5f"}]}},
    "no number in quotes": {"update_weights": {"weight_infos": [{"weight": "x"}]}},
    "infinity": {"update_weights": {"weight_infos": [{"weight": "Infinity"}]}},
    "NaN": {"update_weights": {"weight_infos": [{"weight": "NaN"}]}},
    "true in quotes": {"set_quota": {"quota_request": {"force": "true"}}},
    "yes": {"set_quota": {"quota_request": {"force": "yes"}}},
    "null": {"update_weights": {"weight_infos": [{"weight": None}]}},
    "an unknown key": {"whatever": {"x": 1}},
}
SEEN_READ: dict[str, dict[str, Reason]] = {
    "1.4.3": {
        "a name that no enumeration has": (400, "no such name: OF_A_LATER"),
        "an empty name": (400, "no such name: "),
        "such a name in a list": (400, "no such name: X"),
        "a number in quotes": (400, "another kind: weight"),
        "a whole number in quotes": (400, "another kind: offset"),
        "a number with a letter": (400, "another kind: weight"),
        "no number in quotes": (400, "another kind: weight"),
        "infinity": (400, "another kind: weight"),
        "NaN": (400, "another kind: weight"),
        "true in quotes": (400, "another kind: force"),
    },
    "1.8.1": {"infinity": (400, "no number")},
    "1.11.0": {},
}
"""How real masters answer, where they do not answer as the newest."""
NEWEST: dict[str, Reason] = {
    "a name that no enumeration has": (400, "missing"),
    "an empty name": (400, "missing"),
    "such a name in a list": (400, "missing"),
    "a name where one is needed": (400, "no such name: OF_A_LATER"),
    "a number in quotes": (200, ""),
    "a whole number in quotes": (200, ""),
    "a number with a letter": (200, ""),
    "no number in quotes": (400, "no number"),
    "infinity": (200, ""),
    "NaN": (400, "no number"),
    "true in quotes": (200, ""),
    "yes": (400, "another kind: force"),
    "null": (400, "missing"),
    "an unknown key": (200, ""),
}


@pytest.mark.parametrize("case", READ)
def test_values_are_read_as_the_real_master_of_the_release_does(case: str, fake: Cluster) -> None:
    version = fake.read("/version")["version"]
    told = asked(fake, MASTER, {"type": "GET_HEALTH", **READ[case]})
    assert told == (NEWEST | SEEN_READ[version])[case]


def test_values_are_read_as_by_each_release(real: Cluster) -> None:
    release = real.read("/version")["version"]
    bodies = {case: {"type": "GET_HEALTH", **body} for case, body in READ.items()}
    told = {case: asked(real, MASTER, body) for case, body in bodies.items()}
    assert {case: fault for case, (_, fault) in told.items()} == {
        case: fault_read(MASTER, body, release) for case, body in bodies.items()
    }
    if release in SEEN_READ:
        assert told == NEWEST | SEEN_READ[release]


def test_numbers_whose_reading_ends_a_real_master_are_refused(fake: Cluster) -> None:
    """In protobuf, as JSON before 1.10 has none; a real master of 1.8 takes them, and ends when it shows them."""
    ends = fake.read("/version")["version"] == "1.8.1"
    weights = {"type": "UPDATE_WEIGHTS", "update_weights": {"weight_infos": [{"role": "r", "weight": math.inf}]}}
    told = asked(fake, MASTER, weights, in_protobuf=True)
    fake.speak(PROTOBUF_CODEC)
    framework = Framework(fake, "r", failover_timeout=math.nan)
    stream = framework.open()
    fake.speak(JSON_ALONE)
    stream.hang_up()
    assert (told[0], stream.status) == ((400, 400) if ends else (200, 200))
