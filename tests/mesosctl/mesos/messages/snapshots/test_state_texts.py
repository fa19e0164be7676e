"""GET_STATE as a master writes it, without blanks, means what it means in any other layout."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mesosctl.mesos.errors import UnexpectedAnswer
from mesosctl.mesos.messages.protobuf_json.decoding import ConversionError
from mesosctl.mesos.messages.snapshots.cluster_state import cluster_state
from tests.helpers.profiles import examples
from tests.mesosctl.mesos.messages.layouts import in_another_layout, long


def scalar(name, value, **more):
    return {"name": name, "type": "SCALAR", "scalar": {"value": value}, **more}


def held(role, cpus=1.5):
    ports = {"name": "ports", "type": "RANGES", "ranges": {"range": [{"begin": 31000, "end": 31001}]}}
    allocation = {"allocation_info": {"role": role}}
    return [scalar("cpus", cpus, **allocation), {**ports, **allocation}, scalar("mem", 0.1, role="*", **allocation)]


def agent(number):
    owner = {"type": "DYNAMIC", "role": "web", "labels": {"labels": [{"key": "ticket", "value": "T1"}]}}
    total = [scalar("cpus", 24.0, role="*"), scalar("mem", 1024.0, reservations=[owner])]
    return {
        "agent_info": {
            "hostname": f"h{number}",
            "port": 5051,
            "resources": total,
            "id": {"value": f"m-S{number}"},
            "attributes": [{"name": "rack", "type": "TEXT", "text": {"value": f"r{number % 2}"}}],
            "domain": {"fault_domain": {"region": {"name": "here"}, "zone": {"name": "z"}}},
        },
        "active": True,
        "deactivated": number == 3,
        "version": "1.11.0",
        "pid": f"slave(1)@10.0.0.{number}:5051",
        "registered_time": {"nanoseconds": 1700000000000000000 + number},
        "total_resources": total,
        "capabilities": [{"type": "MULTI_ROLE"}, {"type": "RESERVATION_REFINEMENT"}],
        "allocated_resources": [*held("web", 3), *held("dev")],
        "offered_resources": [],
    }


def task(number):
    return {
        "name": f"t{number}",
        "task_id": {"value": f"t{number}"},
        "framework_id": {"value": "m-0000"},
        "agent_id": {"value": f"m-S{number % 4}"},
        "state": "TASK_FINISHED" if number == 5 else "TASK_RUNNING",
        "resources": held(("web", "dev")[number % 2]),
        "statuses": [{"task_id": {"value": f"t{number}"}, "state": "TASK_RUNNING", "timestamp": 1.5 + number}],
        **({"labels": {"labels": [{"key": "a"}]}} if number % 3 == 0 else {}),
    }


def executor(number):
    info = {"executor_id": {"value": f"e{number}"}, "framework_id": {"value": "m-0000"}, "resources": held("dev", 0.5)}
    return {"agent_id": {"value": f"m-S{number}"}, "executor_info": info}


def offer(number):
    return {
        "id": {"value": f"m-O{number}"},
        "framework_id": {"value": "m-0000"},
        "agent_id": {"value": f"m-S{number}"},
        "hostname": f"h{number}",
        "resources": held("web", 4),
        "attributes": [{"name": "slots", "type": "SCALAR", "scalar": {"value": 2}}],
        "allocation_info": {"role": "web"},
    }


FRAMEWORK = {
    "framework_info": {
        "user": "nobody",
        "name": "shop",
        "id": {"value": "m-0000"},
        "roles": ["web", "dev"],
        "capabilities": [{"type": "MULTI_ROLE"}],
    },
    "active": True,
    "connected": True,
    "offers": [offer(number) for number in range(4)],
    "recovered": False,
}
ANSWER = {
    "type": "GET_STATE",
    "get_state": {
        "get_tasks": {"tasks": [task(number) for number in range(8)]},
        "get_executors": {"executors": [executor(number) for number in range(3)]},
        "get_frameworks": {"frameworks": [FRAMEWORK]},
        "get_agents": {"agents": [agent(number) for number in range(4)]},
    },
}
TEXT = json.dumps(ANSWER, separators=(",", ":"))


def read(text):
    try:
        return cluster_state([long(text).encode()])
    except ConversionError:
        return "no JSON"  # the place differs with the layout
    except UnexpectedAnswer as error:
        return str(error)


def test_every_part_is_there():
    state = read(TEXT)
    assert state == read(in_another_layout(TEXT))
    assert [one.id for one in state.agents if one.active] == ["m-S0", "m-S1", "m-S2"]
    assert {(one.hostname, one.zone, one.attributes["rack"]) for one in state.agents} >= {("h1", "z", "r1")}
    assert sum(usage.tasks for usage in state.usages) == 7
    assert [(one.id, one.framework, one.stacked_format) for one in state.offers][:1] == [("m-O0", "shop", False)]


CHANGES = ['"', "}", "]", "{", "[", ",", "0", "-", "\\", "\\ud800", "null", " ", "\x01", "1e999", "[]", "true"]


@settings(max_examples=examples(400), deadline=None)
@given(st.integers(0, len(TEXT)), st.integers(0, 8), st.sampled_from(CHANGES))
def test_damage_means_the_same_in_any_layout(at, more, changed):
    text = TEXT[:at] + changed + TEXT[at + more :]
    assert read(text) == read(in_another_layout(text))


@pytest.mark.parametrize("value", [None, {}, {"nanoseconds": None}, {"nanoseconds": "1"}, {"nanoseconds": True}, 3])
@pytest.mark.parametrize("key", ["registered_time", "reregistered_time"])
def test_times_of_any_kind(key, value):
    answer = json.loads(TEXT)
    answer["get_state"]["get_agents"]["agents"][1][key] = value
    text = json.dumps(answer, separators=(",", ":"))
    assert read(text) == read(in_another_layout(text))


@settings(max_examples=examples(100), deadline=None)
@given(st.data())
def test_members_may_be_missing_or_of_another_kind(data):
    answer = json.loads(TEXT)
    lists = [("get_tasks", "tasks"), ("get_executors", "executors"), ("get_agents", "agents")]
    group, name = data.draw(st.sampled_from(lists))
    entry = data.draw(st.sampled_from(answer["get_state"][group][name][1:]))
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
    assert read(text) == read(in_another_layout(text))


@pytest.mark.parametrize("size", [1, 7, 100, 1000])
def test_chunks_mean_what_the_whole_means(size):
    body = long(TEXT).encode()
    assert cluster_state(body[at : at + size] for at in range(0, len(body), size)) == read(TEXT)


def test_offers_that_stand_twice_are_the_last():
    twice = TEXT.replace('"recovered":false', f'"offers":[{json.dumps(offer(2), separators=(",", ":"))}]')
    assert [one.id for one in read(twice).offers] == ["m-O2"]
