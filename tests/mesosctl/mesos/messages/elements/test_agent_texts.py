"""Elements of /slaves that are read from their text mean what they mean as JSON."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mesosctl.mesos.errors import UnexpectedAnswer
from mesosctl.mesos.messages.elements.listed_agents import agent_capacities, agents_in_service, registered_agents
from mesosctl.mesos.messages.protobuf_json.decoding import ConversionError
from tests.helpers.profiles import examples
from tests.mesosctl.mesos.messages.layouts import in_another_layout, long


def scalar(name, value, **more):
    return {"name": name, "type": "SCALAR", "scalar": {"value": value}, **more}


def ports(begin, end, **more):
    return {"name": "ports", "type": "RANGES", "ranges": {"range": [{"begin": begin, "end": end}]}, "role": "*", **more}


def allocated(role):
    return {"allocation_info": {"role": role}}


OWNER = {"type": "DYNAMIC", "role": "web", "labels": {"labels": [{"key": "ticket", "value": "T1"}]}}
VOLUME = {"persistence": {"id": "v1"}, "volume": {"mode": "RW", "container_path": "data"}}
DISK = scalar("disk", 64.0, reservations=[OWNER], disk=VOLUME)


def agent(number):
    return {
        "id": f"m-S{number}",
        "hostname": f"h{number}",
        "port": 5051,
        "attributes": {"rack": f"r{number % 2}", "slots": 2.0},
        "pid": f"slave(1)@10.0.0.{number}:5051",
        "registered_time": 1700000000.0,
        "resources": {"cpus": 24.0, "ports": "[31000-32000]"},
        "active": True,
        "deactivated": number == 3,
        "version": "1.11.0",
        "capabilities": ["MULTI_ROLE", "RESERVATION_REFINEMENT"],
        "domain": {"fault_domain": {"region": {"name": "here"}, "zone": {"name": "z"}}},
        **({"drain_info": {"state": "DRAINING"}} if number == 4 else {}),
        "reserved_resources_full": {
            "web": [scalar("cpus", 6.5, reservations=[OWNER]), DISK],
            "dev": [scalar("cpus", 1.0, role="dev", reservations=[{"type": "STATIC", "role": "dev"}])],
        },
        "unreserved_resources_full": [scalar("cpus", 24.0, role="*"), ports(31000, 32000)],
        # Entries of several roles, in turn: what comes first is shown first.
        "used_resources_full": [
            ports(31000, 31000, **allocated("web")),
            scalar("mem", 10.5 + number, role="*", **allocated("dev")),
            scalar("cpus", 1.0, role="*", **allocated("dev")),
            scalar("cpus", 0.5, role="*", **allocated("web")),
            ports(31001, 31001, **allocated("dev")),
            {**DISK, "shared": {}, **allocated("web")},
            {**DISK, "shared": {}, **allocated("web/shop")},
        ],
        "offered_resources_full": [scalar("cpus", 2.0, role="*", **allocated("*"))],
    }


ANSWER = {"slaves": [agent(number) for number in range(6)], "recovered_slaves": [{"id": "m-S9"}]}
TEXT = json.dumps(ANSWER, separators=(",", ":"))
READERS = (registered_agents, agent_capacities, agents_in_service)


def read(reader, text):
    try:
        found = reader([long(text).encode()])
    except ConversionError:
        return "no JSON"  # the place differs with the layout
    except UnexpectedAnswer as error:
        return str(error)
    if reader is registered_agents:  # resources are equal in any order
        return found, [str((one.total, one.used, one.offered)) for one in found]
    return found


def test_every_part_is_there():
    found, texts = read(registered_agents, TEXT)
    assert (found, texts) == read(registered_agents, in_another_layout(TEXT))
    assert [one.status for one in found] == ["active", "active", "active", "deactivated", "draining", "active"]
    assert {(one.hostname, one.zone, one.attributes["rack"]) for one in found} >= {("h1", "z", "r1")}
    assert found[0].users == {"web", "dev", "web/shop", "*"}
    assert [entry.name for entry in found[0].used] == ["ports", "mem", "cpus", "disk"]
    assert found[0].used.quantities().get_amount("cpus") == 1500
    service = agents_in_service([TEXT.encode()])
    assert (service.registered, service.awaited) == (6, 1)
    assert service.out_of_service == {"m-S3": "deactivated"}


@pytest.mark.parametrize("reader", READERS)
def test_the_layout_makes_no_difference(reader):
    assert read(reader, TEXT) == read(reader, in_another_layout(TEXT))


CHANGES = ['"', "}", "]", "{", "[", ",", "0", "-", "\\", "\\ud800", "null", " ", "\x01", "1e999", "[]", "true"]


@settings(max_examples=examples(400), deadline=None)
@given(st.sampled_from(READERS), st.integers(0, len(TEXT)), st.integers(0, 8), st.sampled_from(CHANGES))
def test_damage_means_the_same_in_any_layout(reader, at, more, changed):
    text = TEXT[:at] + changed + TEXT[at + more :]
    assert read(reader, text) == read(reader, in_another_layout(text))


@settings(max_examples=examples(200), deadline=None)
@given(st.sampled_from(READERS), st.data())
def test_members_may_be_missing_or_of_another_kind(reader, data):
    answer = json.loads(TEXT)
    entry = data.draw(st.sampled_from(answer["slaves"][1:]))
    while True:
        key = data.draw(st.sampled_from(sorted(entry)))
        if not isinstance(entry[key], dict) or data.draw(st.booleans()):
            break
        entry = entry[key]
    if data.draw(st.booleans()):
        del entry[key]
    else:
        entry[key] = data.draw(st.sampled_from([None, 3, "x", True, [], {}, [3], [{"name": "x"}], {"value": 3}]))
    text = json.dumps(answer, separators=(",", ":"))
    assert read(reader, text) == read(reader, in_another_layout(text))


@pytest.mark.parametrize("size", [1, 100, 5000])
def test_chunks_mean_what_the_whole_means(size):
    body = long(TEXT).encode()
    chunks = [body[at : at + size] for at in range(0, len(body), size)]
    assert registered_agents(chunks) == registered_agents([body])
