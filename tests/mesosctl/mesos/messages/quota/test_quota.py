"""Requests of quota as JSON: the documented ones, and those that a master would refuse."""

import json
from typing import Any

import pytest

from mesosctl.mesos.amounts.notation import parse_entries
from mesosctl.mesos.errors import BadInput, RuleViolation
from mesosctl.mesos.messages.quota.calls import read_quota_request

DOCUMENTED: dict[str, Any] = {
    "role": "role1",
    "guarantee": [
        {"name": "cpus", "type": "SCALAR", "scalar": {"value": 12}},
        {"name": "mem", "type": "SCALAR", "scalar": {"value": 6144}},
    ],
}


def test_the_documented_request():
    request = read_quota_request(json.dumps(DOCUMENTED), "file")
    assert request.to_model() == parse_entries("cpus:12;mem:6144")


def test_numbers_may_be_quoted_as_a_master_allows():
    quoted = DOCUMENTED | {"guarantee": [{"name": "cpus", "type": "SCALAR", "scalar": {"value": "1.5"}}]}
    assert read_quota_request(json.dumps(quoted), "file").to_model() == parse_entries("cpus:1.5")


@pytest.mark.parametrize(("said", "meant"), [(True, True), ("true", True), ("false", False)])
def test_force_as_a_master_takes_it(said, meant):
    assert read_quota_request(json.dumps(DOCUMENTED | {"force": said}), "file").force is meant


@pytest.mark.parametrize("said", ["yes", "on", 1, 0, "True"])
def test_force_as_no_master_takes_it(said):
    with pytest.raises(BadInput, match="force: it should be true or false"):
        read_quota_request(json.dumps(DOCUMENTED | {"force": said}), "file")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", " is not JSON: line 1, column 1: expected a value, found the end"),
        ('{"role": "a",\n "guarantee": [1,]}', " is not JSON: line 2, column 17: there is a comma too many before ']'"),
        ('{"role": NaN}', ": role: it should be a finite number"),
    ],
)
def test_where_a_payload_is_no_json(text, told):
    with pytest.raises(BadInput) as refused:
        read_quota_request(text, "file")
    assert refused.value.message.startswith(f"file{told}")


def test_a_null_is_an_absent_field():
    null = DOCUMENTED["guarantee"][0] | {"role": None}
    assert read_quota_request(json.dumps(DOCUMENTED | {"guarantee": [null]}), "file").to_model() == parse_entries(
        "cpus:12"
    )


def test_text_which_aborts_a_master_makes_no_value():
    text = {"name": "a", "type": "TEXT", "text": {"value": "b"}}
    with pytest.raises((BadInput, RuleViolation)):
        read_quota_request(json.dumps(DOCUMENTED | {"guarantee": [text]}), "file").to_model()


@pytest.mark.parametrize(
    "text",
    [
        '{"role": "a", "role": "b", "guarantee": []}',
        '{"role": "a", "guarantee": [{"name": "cpus", "type": "SCALAR", "scalar": {"value": 1, "value": 2}}]}',
    ],
)
def test_a_key_that_stands_twice_is_named(text):
    with pytest.raises(BadInput, match=r"the key '(role|value)' appears twice"):
        read_quota_request(text, "file")


@pytest.mark.parametrize("key", ["reservations", "disk", "revocable", "allocation_info", "provider_id", "ranges"])
def test_a_guarantee_is_plain(key):
    entry = {"name": "cpus", "type": "SCALAR", "scalar": {"value": 1}, key: {}}
    with pytest.raises(BadInput, match=f"no key '{key}' here") as refused:
        read_quota_request(json.dumps({"role": "a", "guarantee": [entry]}), "file")
    assert refused.value.field == f"guarantee[0].{key}"


def test_an_amount_too_fine_is_found_by_its_place():
    entry = {"name": "cpus", "type": "SCALAR", "scalar": {"value": 0.0001}}
    request = read_quota_request(json.dumps({"role": "a", "guarantee": [entry]}), "file")
    with pytest.raises(RuleViolation, match="finer") as refused:
        request.to_model()
    assert refused.value.field == "guarantee[0].scalar.value"
    assert refused.value.hint == "write cpus:0.001"


@pytest.mark.parametrize(
    ("payload", "words"),
    [
        ({"role": 1}, "role: it should be a string"),
        ({"rolle": "a"}, "rolle: there is no key 'rolle' here"),
        ({"role": "a", "guarantee": {}}, "guarantee: it should be an array"),
        ([], "the top level: it should be an object"),
        ({"guarantee": [{"name": "", "type": "SCALAR", "scalar": {"value": 1}}]}, "name: it should not be empty"),
        ({"guarantee": [{"name": "cpus", "type": "SET?"}]}, "type: it should be 'SCALAR'"),
    ],
)
def test_a_mistake_is_told_in_plain_words(payload, words):
    with pytest.raises(BadInput) as refused:
        read_quota_request(json.dumps(payload), "file")
    assert words in refused.value.message
