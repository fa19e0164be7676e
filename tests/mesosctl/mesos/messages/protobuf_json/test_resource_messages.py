"""Every resource that the documents of reservations print goes in and comes out as printed there.

The documents show a framework's offers and operations before and after RESERVATION_REFINEMENT, and
the bodies of /reserve and /unreserve; `ENGINEERING` and the like are their roles.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesosctl.mesos.amounts.resource import Labels, Reservation, Resource
from mesosctl.mesos.errors import RuleViolation
from mesosctl.mesos.messages.protobuf_json.messages import read
from mesosctl.mesos.messages.resources import RESOURCE, resource_error, to_json, to_model

ENGINEERING = {"type": "DYNAMIC", "role": "engineering", "principal": "p"}
BACKEND = {"type": "DYNAMIC", "role": "engineering/backend", "principal": "framework"}
PRE_OFFERED = {"role": "*"}
PRE_RESERVED = {"role": "engineering", "reservation": {"principal": "framework"}}
POST_OFFERED = {"reservations": [ENGINEERING]}
POST_RESERVED = {"reservations": [ENGINEERING, BACKEND]}
OPERATOR = {"reservations": [{"type": "DYNAMIC", "role": "ads", "principal": "operator"}]}


def scalar(name, value, allocated, owner):
    allocation = {"allocation_info": {"role": allocated}} if allocated else {}
    return {"name": name, "type": "SCALAR", "scalar": {"value": value}, **allocation, **owner}


DOCUMENTED = [
    pytest.param(style, scalar(name, value, allocated, owner), id=f"{which} {name}")
    for which, style, allocated, owner, amounts in (
        ("an offer before refinement", "PRE", "engineering", PRE_OFFERED, (12, 6144)),
        ("a reserve before refinement", "PRE", "engineering", PRE_RESERVED, (8, 4096)),
        ("an offer for a refinement", "POST", "engineering/backend", POST_OFFERED, (12, 6144)),
        ("a refining reserve", "POST", "engineering/backend", POST_RESERVED, (8, 4096)),
        ("an operator's reserve", "POST", None, OPERATOR, (8, 4096)),
    )
    for name, value in zip(("cpus", "mem"), amounts, strict=True)
]


def core(message):
    return to_model(read(RESOURCE, message))


@pytest.mark.parametrize(("style", "printed"), DOCUMENTED)
def test_a_documented_resource_comes_out_as_it_went_in(style, printed):
    assert to_json(core(printed), style) == printed


@pytest.mark.parametrize(("style", "printed"), DOCUMENTED)
def test_the_format_of_the_endpoints_means_the_same(style, printed):
    resource = core(printed)
    assert core(to_json(resource, "ENDPOINT")) == resource


def test_one_reservation_in_three_formats():
    resource = Resource("cpus", 1000, (Reservation("DYNAMIC", "r", "p"),))
    before, stack = (
        {"role": "r", "reservation": {"principal": "p"}},
        {"reservations": [{"type": "DYNAMIC", "role": "r", "principal": "p"}]},
    )
    plain = {"name": "cpus", "type": "SCALAR", "scalar": {"value": 1.0}}
    assert to_json(resource, "PRE") == plain | before
    assert to_json(resource, "POST") == plain | stack
    assert to_json(resource, "ENDPOINT") == plain | before | stack


def test_a_refined_reservation_has_no_older_format():
    resource = Resource("cpus", 1000, (Reservation("DYNAMIC", "r"), Reservation("DYNAMIC", "r/x")))
    assert not {"role", "reservation"} & to_json(resource, "ENDPOINT").keys()
    with pytest.raises(ValueError, match="refined"):
        to_json(resource, "PRE")


def levels(*pairs):
    return {"reservations": [{"type": kind, "role": role} for kind, role in pairs]}


@pytest.mark.parametrize(
    ("owner", "valid"),
    [
        ({"role": "r"} | levels(("STATIC", "r")), True),
        ({"role": "r"} | levels(("DYNAMIC", "r")), False),
        ({"role": "q"} | levels(("STATIC", "r")), False),
        (levels(("STATIC", "r"), ("STATIC", "r/x")), False),
        (levels(("DYNAMIC", "r"), ("DYNAMIC", "r")), False),
        (levels(("DYNAMIC", "r"), ("DYNAMIC", "rx")), False),
        (levels(("STATIC", "r"), ("DYNAMIC", "r/x/y")), True),
        (levels(("DYNAMIC", "*")), False),
        ({"role": "*", "reservation": {}}, False),
        ({"role": "r", "reservation": {"role": "r"}}, False),
    ],
)
def test_which_owners_are_valid(owner, valid):
    message = read(RESOURCE, scalar("cpus", 1, None, owner))
    assert (resource_error(message) is None) is valid


@pytest.mark.parametrize(
    "message",
    [
        {"name": "ports", "type": "RANGES", "ranges": {"range": [{"begin": 5, "end": 3}]}},
        {"name": "ports", "type": "RANGES", "ranges": {"range": [{"begin": 1, "end": 5}, {"begin": 3, "end": 7}]}},
        {"name": "disks", "type": "SET", "set": {"item": ["a", "a"]}},
        {"name": "cpus", "type": "SCALAR", "scalar": {"value": -1}},
        {"name": "cpus", "type": "SCALAR"},
        {"name": "note", "type": "TEXT"},
        {"name": "", "type": "SCALAR", "scalar": {"value": 1}},
        {"name": "cpus", "type": "SCALAR", "scalar": {"value": 1}, "disk": {}},
        {"name": "cpus", "type": "SCALAR", "scalar": {"value": 1}, "shared": {}},
    ],
)
def test_broken_values(message):
    with pytest.raises(RuleViolation):
        core(message)


SPANS = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 4)), max_size=6)


@given(SPANS)
def test_ranges_overlap_as_a_master_compares_them(spans):
    ranges = [{"begin": begin, "end": begin + more} for begin, more in spans]
    overlap = any(
        one["begin"] <= later["begin"] <= one["end"] for n, one in enumerate(ranges) for later in ranges[n + 1 :]
    )
    problem = resource_error(read(RESOURCE, {"name": "ports", "type": "RANGES", "ranges": {"range": ranges}}))
    assert (problem is not None) is overlap


def test_zero_is_a_value():
    assert core({"name": "cpus", "type": "SCALAR", "scalar": {"value": 0}}).value == 0


def test_labels_come_out_in_the_order_in_which_they_went_in():
    labels = {"labels": [{"key": "b", "value": "2"}, {"key": "a"}, {"key": "a", "value": ""}]}
    printed = scalar("cpus", 1, None, {"reservations": [{"type": "DYNAMIC", "role": "r", "labels": labels}]})
    assert to_json(core(printed), "POST") == printed


def test_no_labels_are_another_thing_than_an_empty_list_of_them():
    without, empty = Reservation("DYNAMIC", "r"), Reservation("DYNAMIC", "r", labels=Labels())
    assert without != empty
    for level in (without, empty):
        resource = Resource("cpus", 1000, (level,))
        assert core(to_json(resource, "POST")) == resource
