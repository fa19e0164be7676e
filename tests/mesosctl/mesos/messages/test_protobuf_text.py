"""Protobuf text: what a master shows of --acls is what it was given."""

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mesosctl.mesos.messages import protobuf_text
from mesosctl.mesos.messages.acls import ACLS, acls_of_master, from_json, to_text
from mesosctl.mesos.messages.protobuf_json.messages import read
from mesosctl.mesos.rules.acls import Acls
from tests.conformance.histories.random_acls import AclDice
from tests.helpers.lab import Lab
from tests.helpers.profiles import examples

OF_A_REAL_MASTER = (
    'permissive: true\nupdate_quotas {\n  principals {\n    values: "ops"\n  }\n  roles {\n    type: ANY\n  }\n}\n'
    "update_quotas {\n  principals {\n    type: NONE\n  }\n  roles {\n    type: ANY\n  }\n}\n"
)
GIVEN = {
    "update_quotas": [
        {"roles": {"type": "ANY"}, "principals": {"values": ["ops"]}},
        {"principals": {"type": "NONE"}, "roles": {"type": "ANY"}},
    ],
    "permissive": True,
}


def test_acls_are_written_as_a_real_master_shows_them():
    assert to_text(GIVEN) == OF_A_REAL_MASTER
    assert acls_of_master({"flags": {"authorizers": "local", "acls": OF_A_REAL_MASTER}}) == from_json(GIVEN)


@settings(max_examples=examples(100))
@given(st.integers(0, 10**9))
def test_what_is_shown_is_what_was_given(seed: int):
    value = AclDice(seed).file(odd=False)
    value.pop("set_quotas", None)
    assert from_json(protobuf_text.from_text(to_text(value))) == from_json(value)


@given(st.text())
def test_any_text_is_quoted_and_read_back(text: str):
    entity = {"principals": {"values": [text, "a"]}, "roles": {"values": [text]}}
    value = read(ACLS, {"update_quotas": [entity]})
    assert read(ACLS, protobuf_text.from_text(protobuf_text.to_text(ACLS, value))) == value


@pytest.mark.parametrize("text", ["{", "}", "a {", "a { b: 1 } }", 'a: "x', "a", "a: 1 }"])
def test_what_is_not_protobuf_text(text: str):
    with pytest.raises(ValueError, match=r"expected|closed"):
        protobuf_text.from_text(text)
    assert acls_of_master({"flags": {"authorizers": "local", "acls": text}}) is None


def test_without_acls_everything_is_allowed_unless_a_module_decides():
    assert acls_of_master({"flags": {"authorizers": "local"}}) == Acls()
    assert acls_of_master({"flags": {"authorizers": "com_example_Authorizer"}}) is None
    assert acls_of_master({"flags": {"authorizers": "com_example_Authorizer", "acls": OF_A_REAL_MASTER}}) is None


@pytest.mark.parametrize("seed", range(5))
def test_the_fake_master_shows_them_like_a_real_one(seed: int):
    value = AclDice(random.Random(seed).randrange(10**6)).file(odd=False) | {"view_flags": []}
    value.pop("set_quotas", None)
    lab = Lab("cpus:1;mem:64", version="1.11", flags={"acls": json.dumps(value)})
    shown = lab.master.state.flags.shown["acls"]
    assert shown == to_text(value)
