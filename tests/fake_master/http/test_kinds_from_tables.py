"""Requests made from the tables of messages: each is taken or refused, and never more than that.

A field is tried the day it is described.  `tests/endurance/fuzz` tries histories of such requests for longer.
"""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, find, given, settings
from hypothesis import strategies as st

from fake_master.http.operator_api import CALL as OPERATOR_CALL
from fake_master.http.request_response import Request
from fake_master.http.scheduler_api import CALL as SCHEDULER_CALL
from fake_master.state.flags import MasterFlags
from mesosctl.mesos.errors import BadInput, RuleViolation
from mesosctl.mesos.messages.protobuf_json.decoding import ConversionError, decode
from mesosctl.mesos.messages.protobuf_json.message_tables import Field, Message, mesos_message
from mesosctl.mesos.messages.protobuf_json.messages import read
from mesosctl.mesos.messages.resources import RESOURCE, to_model
from mesosctl.mesos.messages.snapshots import snapshot
from tests.endurance.fuzz.json_texts import Pairs, write
from tests.endurance.fuzz.messages import json_of
from tests.helpers.lab import Lab, Scheduler
from tests.helpers.lab.command_line import CommandLine
from tests.helpers.lab.master import JSON
from tests.helpers.profiles import examples

patient = settings(max_examples=examples(60), suppress_health_check=list(HealthCheck), deadline=None)
DESCRIBED = {
    "a task": mesos_message("mesos.v1.TaskInfo"),
    "a framework's call": SCHEDULER_CALL,
    "an operator's call": OPERATOR_CALL,
    "ACLs": mesos_message("mesos.ACLs"),
    "rate limits": mesos_message("mesos.v1.RateLimits"),
    "a resource": RESOURCE,
    "a state": mesos_message("mesos.v1.master.Response.GetState"),
}


@pytest.mark.parametrize("message", DESCRIBED.values(), ids=DESCRIBED)
def test_a_field_is_drawn_the_day_it_is_described(message: Message) -> None:
    described = Message(message.name, {**message.fields, "novelty": Field("string", "required")})
    found = find(json_of(described), lambda value: isinstance(value, Pairs) and "novelty" in dict(value.items))
    assert isinstance(dict(found.items)["novelty"], str)


@patient
@given(json_of(DESCRIBED["a task"]))
def test_a_task_is_launched_or_refused(info: Any) -> None:
    lab = Lab("cpus:4;mem:2048;disk:100;ports:[31000-31009]")
    framework = Scheduler(lab)
    (offer,) = framework.offers()
    body = {
        "type": "ACCEPT",
        "framework_id": {"value": framework.id},
        "accept": {
            "offer_ids": [offer["id"]],
            "operations": [{"type": "LAUNCH", "launch": {"task_infos": ["THE TASK"]}}],
        },
    }
    text = (
        json.dumps(body)
        .encode()
        .replace(b'"THE TASK"', write(info).replace(b"@A1", offer["agent_id"]["value"].encode()))
    )
    _answered(lab, "/api/v1/scheduler", text, **{"mesos-stream-id": framework.stream.id})
    lab.wait(5)
    assert lab.read("/state")["frameworks"]


@patient
@given(
    json_of(SCHEDULER_CALL, kind="") | json_of(OPERATOR_CALL, kind=""),
    st.sampled_from(["/api/v1/scheduler", "/api/v1"]),
)
def test_a_call_is_answered(call: Any, path: str) -> None:
    lab = Lab()
    _answered(lab, path, write(call))
    lab.wait(5)
    lab.read("/slaves")


def _answered(lab: Lab, path: str, body: bytes, **headers: str) -> None:
    answer = lab.application.handle(Request("POST", path, JSON | headers, body))
    assert answer.status < 500 or answer.status == 501, (answer, body)  # what is not served says so


@patient
@given(st.sampled_from(["acls", "rate_limits"]), st.data())
def test_a_flag_is_read_or_refused(flag: str, data: st.DataObject) -> None:
    message = DESCRIBED["ACLs" if flag == "acls" else "rate limits"]
    text = write(data.draw(json_of(message))).decode(errors="surrogateescape")
    if text.startswith("{"):  # else it names a file
        with suppress(BadInput):
            MasterFlags.parse({flag: text})


@patient
@given(json_of(RESOURCE))
def test_a_resource_is_read_or_refused(value: Any) -> None:
    # A ValueError is of what is no JSON at all, or of an amount that no master takes.
    with suppress(ConversionError, RuleViolation, ValueError):
        to_model(read(RESOURCE, decode(write(value).decode(errors="surrogateescape"))))


SNAPSHOT = json.loads(CommandLine(Lab()).run("snapshot").out)


@patient
@given(json_of(DESCRIBED["a state"]), st.sampled_from(sorted(SNAPSHOT)))
def test_a_snapshot_with_another_part_is_read_or_refused(state: Any, key: str) -> None:
    """A part of the file is what a master might answer."""
    part = write(state)
    text = json.dumps({**SNAPSHOT, key: "THE PART"}).encode().replace(b'"THE PART"', part)
    with suppress(BadInput):
        snapshot.load(text)
