"""Files of ACLs: every fault at once, and what a file without faults means to a master."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_master.state.acls import Authorizer
from mesosctl.acls.file import read_acls
from mesosctl.mesos.errors import BadInput
from mesosctl.mesos.messages.acls import OBJECT_FIELDS
from mesosctl.mesos.messages.protobuf_json.decoding import ConversionError
from tests.conformance.histories.random_acls import NAMES, OBJECTS, AclDice

ANY = {"type": "ANY"}


def found(text: str) -> list[tuple[str, int | None, str]]:
    return [(one.field, one.line, one.sentence) for one in read_acls(text).findings]


def test_every_fault_at_once():
    text = """{
  "permisive": false,
  "permissive": 3,
  "update_quota": [],
  "set_quotas": [],
  "update_weights": [{"principals": {"value": ["ops"]}, "role": {"type": "any"}}],
  "drain_agents": [{"principals": {"type": "Any"}, "agents": {"values": ["a"]}}],
  "reserve_resources": {"principals": {"type": "ANY"}},
  "get_endpoints": [{"principals": {"type": "ANY"}, "paths": {"values": ["/flags", 3]}}, 1]
}"""
    fields = {field: line for field, line, _ in found(text)}
    assert fields == {
        "permisive": 2,
        "permissive": 3,
        "update_quota": 4,
        "set_quotas": 5,
        "update_weights[0].role": 6,
        "update_weights[0].principals.value": 6,
        "update_weights[0].roles": 6,
        "drain_agents[0].principals.type": 7,
        "drain_agents[0].agents": 7,
        "reserve_resources": 8,
        "get_endpoints[0].paths.values[1]": 9,
        "get_endpoints[1]": 9,
    }


@pytest.mark.parametrize(
    ("document", "hint"),
    [
        ({"permisive": False}, "did you mean permissive?"),
        ({"update_quota": []}, "did you mean update_quotas?"),
        ({"set_quotas": []}, "update_quotas replaced it in Mesos 1.3"),
        ({"view_roles": [{"principals": {"type": "Any"}, "roles": ANY}]}, "did you mean ANY?"),
        ({"view_roles": [{"principals": {"value": ["a"]}, "roles": ANY}]}, "did you mean values?"),
        (
            {"get_endpoints": [{"principals": ANY, "paths": {"values": ["/flags"]}}]},
            "the paths are /containers, /files/debug, /logging/toggle, /metrics/snapshot, /monitor/statistics",
        ),
    ],
)
def test_what_was_meant(document: dict[str, Any], hint: str):
    (one,) = read_acls(json.dumps(document)).findings
    assert (one.level, one.hint) == ("error", hint)


def test_of_a_text_that_is_not_json_the_first_place_is_named():
    text = '{"permissive": false,,\n"update_quota": []}'
    assert [(field, line) for field, line, _ in found(text)] == [("line 1, column 22", 1)]


@pytest.mark.parametrize("text", ["", "[]", "3", "{", "[" * 100_000, '{"permissive": true, "permissive": false}'])
def test_what_is_no_file_of_acls_has_an_error(text: str):
    assert read_acls(text).acls is None


def test_warnings_have_the_line_of_their_rule():
    rules = ({"principals": ANY, "roles": {"type": "NONE"}}, {"principals": {"values": ["a"]}, "roles": ANY})
    text = '{"update_quotas": [\n' + ",\n".join(map(json.dumps, rules)) + "]}"
    assert [(field, line) for field, line, _ in found(text)] == [("update_quotas[1]", 3)]


@given(st.integers(0, 10**9), st.booleans(), st.sampled_from(("p", "q", "root", "nobody", None)))
def test_a_file_without_errors_means_the_same_to_a_master(seed: int, odd: bool, principal: str | None):
    document = AclDice(seed).file(odd=odd)
    file = read_acls(json.dumps(document))
    try:
        master: Authorizer | None = Authorizer.from_json(document)
    except (ConversionError, BadInput):
        master = None
    if master is None:
        assert file.acls is None
        return
    if file.acls is None:  # a master ignores actions and types that it does not know
        return
    for action, objects in OBJECTS.items():
        if action in OBJECT_FIELDS:
            for name in (*NAMES.get(objects, ()), "x", "r/x/y", None):
                assert file.acls.allows(action, principal, name) is master.allows(action, principal, name)
