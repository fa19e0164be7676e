"""A list of resources that is found again by its text is the list that a reader of JSON makes."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from mesosctl.mesos.errors import RuleViolation
from mesosctl.mesos.messages.protobuf_json.decoding import DECODER
from mesosctl.mesos.messages.protobuf_json.resource_lists import ResourceLists
from tests.helpers.profiles import examples

ROLES = st.sampled_from(["*", "web", "dev"])


@st.composite
def labelled(draw):
    """A reservation with labels, in either format or in both, which may contradict each other."""
    key, value = st.sampled_from(["t", "labels"]), st.sampled_from(["1", "2", "", None])
    lists = st.lists(st.builds(lambda k, v: {"key": k} | ({} if v is None else {"value": v}), key, value), max_size=2)
    owner = st.builds(lambda pairs, more: {"labels": {"labels": pairs}} | more, lists, st.sampled_from([{}, {"x": 1}]))
    level = {"type": "DYNAMIC", "role": "dev"}
    given = draw(owner | st.just({}))
    other = draw(st.sampled_from([given, {}, {"labels": {}}]) | owner)
    stack = draw(st.sampled_from([[level | given], [level | other], [level, level | {"role": "dev/a"} | given]]))
    both = {"role": "dev", "reservation": given, "reservations": stack}
    return draw(st.sampled_from([both, {"reservations": stack}, {"role": "dev", "reservation": given}]))


STACKS = labelled() | st.sampled_from(
    [
        {},
        {"role": "*"},
        {"role": "web", "reservations": [{"type": "STATIC", "role": "web"}]},
        {"reservations": [{"type": "DYNAMIC", "role": "dev", "labels": {"labels": [{"key": "t", "value": "1"}]}}]},
        {"reservations": [{"type": "DYNAMIC", "role": "*"}]},
        {"revocable": {}},
        {"disk": {"persistence": {"id": "p"}, "volume": {"container_path": "p", "mode": "RW"}}},
        {"unknown": {"allocation_info": {"role": "web"}}},
        {"shared": {}},
    ]
)
VALUES = st.one_of(
    st.sampled_from([0.0, 1, 1.5, 0.0001, -1, 2.125]).map(lambda value: {"type": "SCALAR", "scalar": {"value": value}}),
    st.integers(0, 3).map(lambda end: {"type": "RANGES", "ranges": {"range": [{"begin": 1, "end": end}]}}),
)
ALLOCATIONS: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.just({}),
    ROLES.map(lambda role: {"allocation_info": {"role": role}}),
    st.just({"allocation_info": {}}),
    st.just({"allocation_info": {"role": "web", "more": 1}}),
)


@st.composite
def messages(draw):
    """A message whose members have any order after its value, as the masters of several versions write them."""
    rest = list((draw(STACKS) | draw(ALLOCATIONS)).items())
    name = draw(st.sampled_from(["cpus", "disk", ""]))
    return {"name": name, **draw(VALUES), **dict(draw(st.permutations(rest)))}


@settings(max_examples=examples(150))
@given(st.lists(st.lists(messages(), max_size=3), max_size=12))
def test_lists_are_what_each_of_them_is_alone(lists):
    reader = ResourceLists()
    for one in lists:
        text = json.dumps(one, separators=(",", ":"))
        try:
            expected = ResourceLists().by_role(DECODER.decode(text), "resources")
        except RuleViolation:
            expected = None
        found = reader.by_role_of_text(text)
        assert found == expected


@settings(max_examples=examples(150))
@given(st.lists(st.lists(messages(), min_size=1, max_size=3), max_size=12))
def test_lists_of_a_file_are_what_each_of_them_is_alone(lists):
    reader = ResourceLists()
    for one in lists:
        found = reader.plain_of_text(json.dumps(one))
        try:
            expected = ResourceLists().plain(one, "resources")
        except RuleViolation:
            expected = None
        assert found is None or found == expected
