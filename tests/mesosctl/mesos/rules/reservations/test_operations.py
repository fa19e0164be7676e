"""Conversions: what an operation takes and gives, and the laws that hold for all."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.amounts.resource import Disk, Labels, Reservation, Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.amounts.values import Ranges
from mesosctl.mesos.errors import Conflict, RuleViolation
from mesosctl.mesos.rules.reservations import operations
from mesosctl.mesos.rules.reservations.operations import apply_all, common_bottom
from mesosctl.mesos.rules.reservations.rules import Requester, check_reserve
from tests.helpers.reserving import push
from tests.helpers.resource_strategies import stacks

BY_P = Reservation("DYNAMIC", "role", "p")
AGENT = parse_resources("cpus:1;mem:512;disk(role):1000")


def reserved(text: str) -> Resources:
    return push(parse_resources(text), BY_P)


def test_reserve():
    after = apply_all(parse_resources("cpus:1;mem:512"), operations.reserve(reserved("cpus:1")))
    assert after == parse_resources("mem:512") + reserved("cpus:1")
    with pytest.raises(Conflict):
        apply_all(parse_resources("cpus:1;mem:512"), operations.reserve(reserved("cpus:2")))


def volume(amount: int, *, shared: bool) -> Resource:
    disk = Disk(persistence_id="v", container_path="data", mode="RW")
    return Resource("disk", amount * 1000, (Reservation("STATIC", "role"),), disk=disk, shared=shared)


def test_create_and_destroy():
    made = Resources([volume(200, shared=True)])
    after = apply_all(AGENT, operations.create(made))
    assert after == parse_resources("cpus:1;mem:512;disk(role):800") + made
    assert apply_all(after, operations.destroy(made)) == AGENT
    with pytest.raises(Conflict):
        apply_all(AGENT, operations.create(Resources([volume(2000, shared=True)])))


def test_a_shared_volume_is_destroyed_with_its_last_copy():
    shared = volume(200, shared=True)
    with pytest.raises(Conflict):
        apply_all(Resources([shared, shared]), operations.destroy(Resources([shared])))


def test_what_two_stacks_share():
    foo, bar, baz = (Reservation("DYNAMIC", role) for role in ("foo", "foo/bar", "foo/baz"))
    assert common_bottom([foo, bar], [foo, baz]) == (foo,)
    assert common_bottom([foo, bar], []) == ()
    assert common_bottom([foo], [foo, bar]) == (foo,)


STACKS = stacks()
AMOUNTS = st.integers(1, 10_000)
ENTRIES = st.builds(Resource, st.sampled_from(["cpus", "mem"]), AMOUNTS, STACKS) | st.builds(
    lambda begin, length, stack: Resource("ports", Ranges.of([(begin, begin + length)]), stack),
    st.integers(0, 30),
    st.integers(0, 9),
    STACKS,
)
COLLECTIONS = st.lists(ENTRIES, min_size=1, max_size=6).map(Resources)
TOPS = st.builds(Reservation, st.just("DYNAMIC"), st.just("a/b/c"), st.sampled_from([None, "", "p"]))


@given(COLLECTIONS, TOPS)
def test_what_is_pushed_comes_off_again(some: Resources, top: Reservation):
    pushed = push(some, top)
    assert all(entry.reservations[-1] == top for entry in pushed)
    assert pushed.pop_reservation() == some
    assert pushed.quantities() == some.quantities()


@given(COLLECTIONS, st.data())
def test_reserving_and_unreserving_is_as_if_nothing_had_been(some: Resources, data: st.DataObject):
    part = Resources([data.draw(st.sampled_from(list(some)))])
    refined = push(part, data.draw(TOPS))
    after = apply_all(some, operations.reserve(refined))
    assert after.quantities() == some.quantities()
    assert after.contains(refined)
    assert apply_all(after, operations.unreserve(refined)) == some


@given(COLLECTIONS, COLLECTIONS)
def test_a_conversion_is_done_whole_or_not_at_all(some: Resources, wanted: Resources):
    [conversion] = operations.reserve(push(wanted, BY_P))
    if some.contains(wanted):
        assert conversion.apply(some) == some - wanted + push(wanted, BY_P)
    else:
        with pytest.raises(Conflict):
            conversion.apply(some)


@given(st.permutations([("a", "1"), ("b", "2"), ("b", None), ("a", "1")]))
def test_labels_are_equal_in_any_order_and_counted(pairs):
    given_so, sorted_so = Labels(pairs), Labels(sorted(pairs, key=str))
    assert given_so == sorted_so
    assert hash(given_so) == hash(sorted_so)
    assert list(given_so) == list(pairs)
    assert given_so != Labels(pairs[1:])


@pytest.mark.parametrize(
    ("rule", "changed"),
    [
        ("reserve.dynamic", {"reservations": (Reservation("STATIC", "role"),)}),
        ("operation.unallocated", {"allocation_role": "role"}),
        ("reserve.revocable", {"revocable": True}),
        ("reserve.principal", {"reservations": (Reservation("DYNAMIC", "role", "q"),)}),
        ("reserve.principal", {"reservations": (Reservation("DYNAMIC", "role"),)}),
    ],
)
def test_a_broken_rule_is_named_with_the_entry_that_breaks_it(rule, changed):
    right = Resource("cpus", 1000, (BY_P,))
    check_reserve([right], Requester("p"))
    with pytest.raises(RuleViolation) as caught:
        check_reserve([right, replace(right, **changed)], Requester("p"))
    assert caught.value.rule == rule
    assert str(caught.value.field).startswith("resources[1].")


def test_nothing_is_given_to_two_owners_at_once():
    ports = Resource("ports", Ranges.of([(1, 4)]), (BY_P,))
    other = (Reservation("DYNAMIC", "other"),)
    check_reserve([ports, replace(ports, value=Ranges.of([(5, 6)]), reservations=other)], Requester())
    check_reserve([ports, replace(ports, value=Ranges.of([(3, 6)]))], Requester())
    with pytest.raises(RuleViolation) as caught:
        check_reserve([ports, replace(ports, value=Ranges.of([(4, 6)]), reservations=other)], Requester())
    assert caught.value.rule == "reserve.nothing-twice"


@pytest.mark.parametrize("capability", ["HIERARCHICAL_ROLE", "RESERVATION_REFINEMENT"])
def test_an_agent_must_know_what_a_stack_needs(capability):
    refined = [Resource("cpus", 1000, (BY_P, Reservation("DYNAMIC", "role/x")))]
    check_reserve(refined, Requester())
    known = {"HIERARCHICAL_ROLE", "RESERVATION_REFINEMENT"} - {capability}
    with pytest.raises(RuleViolation):
        check_reserve(refined, Requester(), agent_capabilities=known)


def test_a_framework_reserves_for_the_role_of_its_offer_while_it_has_that_role():
    resource = Resource("cpus", 1000, (Reservation("DYNAMIC", "a"),))
    check_reserve([resource], Requester(framework_roles=frozenset({"a", "b"}), offer_role="a"))
    for roles, offered in (({"a", "b"}, "b"), ({"b"}, "a"), (set(), "a")):
        with pytest.raises(RuleViolation) as raised:
            check_reserve([resource], Requester(framework_roles=frozenset(roles), offer_role=offered))
        assert raised.value.rule == "reserve.offer-role"
