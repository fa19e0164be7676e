"""A whole state is the same, whether its elements are read as text, many at once, or one by one."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesosctl.client.response_body import event_of
from mesosctl.mesos.errors import UnexpectedAnswer
from mesosctl.mesos.messages.events import EventReader
from mesosctl.mesos.messages.protobuf_json.decoding import ConversionError

LONG = 400
"""Elements: text of so many is long enough for the reader of many."""


def amounts(role=None, **values):
    allocation = {} if role is None else {"allocation_info": {"role": role}}
    return [
        {"name": name, "type": "SCALAR", "scalar": {"value": value}, **allocation} for name, value in values.items()
    ]


def task(number, state="TASK_RUNNING"):
    status = {"reason": "REASON_COMMAND", "state": state, "timestamp": 1000.5 + number}
    return {
        "agent_id": {"value": f"S{number % 7}"},
        "framework_id": {"value": f"F{number % 3}"},
        "name": "é" * (number % 3),
        "resources": amounts(f"r{number % 4}", cpus=1 + number % 5 / 10, mem=64),
        "state": state,
        "statuses": [{"state": "TASK_STARTING", "timestamp": 1000.25}, status][: number % 3],
        "task_id": {"value": f"t-{number}"},
    }


def agent(number):
    info = {
        "attributes": [{"name": "rack", "text": {"value": f"r{number % 5}"}, "type": "TEXT"}],
        "hostname": f"h{number}",
        "id": {"value": f"S{number}"},
        "port": 5051,
    }
    registered = {"registered_time": {"nanoseconds": 5_000_000_000 + number}} if number % 2 else {}
    return {"active": True, "agent_info": info, **registered, "total_resources": amounts(cpus=4, mem=4096 + number)}


def executor(number):
    info = {
        "executor_id": {"value": f"e{number}"},
        "framework_id": {"value": f"F{number % 3}"},
        "resources": amounts("r1", cpus=0.1),
    }
    return {"agent_id": {"value": f"S{number % 7}"}, "executor_info": info}


def framework(number):
    info = {"capabilities": [{"type": "MULTI_ROLE"}], "id": {"value": f"F{number}"}, "name": "n", "roles": ["r1", "r2"]}
    return {
        "framework_info": info,
        "offers": [{"id": {"value": "o"}}] * 3,
        "registered_time": {"nanoseconds": 7 * 10**9},
    }


def subscribed(many):
    state = {
        "get_agents": {"agents": list(map(agent, range(many)))},
        "get_executors": {"executors": list(map(executor, range(many)))},
        "get_frameworks": {"frameworks": list(map(framework, range(3)))},
        "get_tasks": {
            "completed_tasks": [task(number, "TASK_FINISHED") for number in range(many)],
            "tasks": list(map(task, range(many))),
            "unreachable_tasks": [task(number, "TASK_UNREACHABLE") for number in range(5)],
        },
    }
    return {"type": "SUBSCRIBED", "subscribed": {"get_state": state, "heartbeat_interval_seconds": 15}}


def in_chunks(text, size=4096):
    return [text[at : at + size] for at in range(0, len(text), size)]


def test_elements_are_the_same_many_at_once_and_one_by_one():
    event = subscribed(LONG)
    many = EventReader().state(in_chunks(json.dumps(event, separators=(",", ":"), ensure_ascii=False).encode()))
    # A reader of many only takes text as a master writes it.
    one_by_one = EventReader().state(in_chunks(json.dumps(event, indent=1).encode()))
    assert many == one_by_one
    assert (len(many.agents), len(many.tasks), len(many.ended)) == (LONG, 2 * LONG, LONG + 5)
    fourth = many.tasks[LONG + 5] if many.tasks[0].is_executor else many.tasks[5]
    assert (fourth.id, fourth.role, fourth.reason, fourth.first_time, fourth.last_time) == (
        "t-5", "r1", "REASON_COMMAND", 1000.25, 1005.5,
    )  # fmt: skip
    assert many.ended[4].time == 1000.25
    assert many.agents[3].agent.attributes == {"rack": "r3"}


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ({"get_tasks": {"tasks": [{"state": "TASK_RUNNING"}]}}, "framework_id"),
        ({"get_tasks": {"tasks": 5}}, "a list"),
        ({"get_agents": [1]}, "an object"),
    ],
)
def test_a_state_that_is_not_as_documented_is_refused(part, said):
    event = {"type": "SUBSCRIBED", "subscribed": {"get_state": part}}
    with pytest.raises(UnexpectedAnswer) as refused:
        EventReader().state([json.dumps(event).encode()])
    assert said in refused.value.message


def test_another_first_event_is_refused():
    with pytest.raises(UnexpectedAnswer):
        EventReader().state([b'{"type":"HEARTBEAT"}'])


def added(number):
    return {"type": "TASK_ADDED", "task_added": {"task": task(number)}}


def updated(number):
    told = {"framework_id": {"value": "F1"}, "state": "TASK_FINISHED"}
    status = {"reason": "REASON_COMMAND", "task_id": {"value": f"t-{number}"}, "timestamp": number / 8}
    return {"type": "TASK_UPDATED", "task_updated": {**told, "status": status}}


def looked_at_closely(record):
    reader, event = EventReader(), event_of(record)
    return {"TASK_ADDED": reader.task, "TASK_UPDATED": reader.change}.get(event["type"], lambda _: None)(event)


@pytest.mark.parametrize("event", [added, updated])
def test_a_change_of_a_task_is_read_quickly_as_a_master_writes_it(event):
    for number in range(6):
        record = json.dumps(event(number), separators=(",", ":"), ensure_ascii=False).encode()
        quick = EventReader().change_of(record)
        assert quick is not None
        assert quick == looked_at_closely(record)


_DAMAGE = (b"", b'"', b"}", b"null", b"1e999", b"00", b"-", b"\\ud800", b"\\u00e9", b"\xff", b" ", b"[]", b"NaN", b"1.")


@given(
    st.sampled_from([added, updated]),
    st.integers(0, 5),
    st.booleans(),
    st.lists(st.tuples(st.integers(0, 700), st.integers(0, 9), st.sampled_from(_DAMAGE)), max_size=2),
)
def test_a_change_that_is_read_quickly_is_what_a_closer_look_finds(event, number, is_compact, damage):
    record = json.dumps(event(number), separators=(",", ":") if is_compact else None).encode()
    for at, length, other in damage:
        record = record[:at] + other + record[at + length :]
    quick = EventReader().change_of(record)
    if quick is not None:
        try:
            assert looked_at_closely(record) == quick
        except ConversionError as error:
            raise AssertionError(f"{record!r} is no JSON") from error
