"""A holding is the sum of its resources, each counted once under what it is."""

from hypothesis import given
from hypothesis import strategies as st

from mesosctl.mesos.amounts.holding import UsedAndOffered, dominant_share, lumped, regular_part, revocable_part
from mesosctl.mesos.amounts.quantities import Quantities, to_double
from mesosctl.mesos.amounts.resource import Reservation, Resource
from mesosctl.mesos.amounts.values import Ranges

NAMES = ("cpus", "mem", "gpus")
OWNERS = ("ads", "web")
ENTRIES = st.builds(
    lambda name, milli, owner, kind: Resource(
        name,
        milli,
        (Reservation("DYNAMIC", owner),) if owner and kind == "regular" else (),
        revocable=kind != "regular",
        throttleable=kind == "throttleable",
    ),
    st.sampled_from(NAMES),
    st.integers(1, 5000),
    st.sampled_from([None, *OWNERS]),
    st.sampled_from(["regular", "regular", "throttleable", "non-throttleable"]),
)
PARTS = st.lists(ENTRIES, max_size=6)


def amounts(entries, chosen=lambda _: True, name=lambda entry: entry.name):
    """The sums of those that are chosen."""
    found: dict[str, int] = {}
    for entry in entries:
        if chosen(entry):
            found[name(entry)] = found.get(name(entry), 0) + entry.value
    return Quantities(found)


def named(entry):
    return entry.name + "_revocable" * entry.revocable


@given(PARTS, PARTS, st.booleans())
def test_each_resource_is_counted_under_what_it_is(used, offered, lends):
    ports = Resource("ports", Ranges.of([(1, 5)]))
    holding = UsedAndOffered.of([ports, *used], [*offered, ports], lends=lends)
    assert holding.used == amounts(used, name=named)
    assert holding.offered == amounts(offered, name=named)
    assert holding.total == amounts(used + offered, name=named)
    assert holding.revocable == amounts(used, lambda one: one.revocable)
    for shown, entries in ((holding.plain_used, used), (holding.plain_offered, offered)):
        assert shown == amounts(entries, lambda one: not one.revocable and not one.reservations)
    lent = amounts(used + offered, lambda one: one.revocable and not one.throttleable)
    throttleable = amounts(used + offered, lambda one: one.throttleable)
    assert (holding.lent, holding.throttleable) == (
        (lent, throttleable) if lends else (Quantities(), lent + throttleable)
    )
    for by_owner, entries in ((holding.owned_used, used), (holding.owned_offered, offered)):
        owners = {entry.role for entry in entries if entry.reservations}
        assert by_owner == {
            owner: amounts(entries, lambda one, owner=owner: one.reservations and one.role == owner) for owner in owners
        }


FIELDS = (
    "used",
    "offered",
    "plain_used",
    "plain_offered",
    "lent",
    "throttleable",
    "owned_used",
    "owned_offered",
)


@given(st.lists(st.tuples(PARTS, PARTS), max_size=3), st.booleans())
def test_the_sum_of_holdings_is_the_holding_of_everything(parts, lends):
    total = UsedAndOffered.total_of(iter([UsedAndOffered.of(used, offered, lends=lends) for used, offered in parts]))
    whole = UsedAndOffered.of(
        [entry for used, _ in parts for entry in used],
        [entry for _, offered in parts for entry in offered],
        lends=lends,
    )
    assert [getattr(total, name) for name in FIELDS] == [getattr(whole, name) for name in FIELDS]


@given(PARTS, PARTS)
def test_the_dominant_share_is_the_largest_part_of_a_total_and_of_equal_ones_the_first(held, others):
    mine = amounts(held)
    totals = amounts(held, lambda one: one.name != "gpus") + amounts(others, lambda one: one.name != "gpus")
    parts = {name: to_double(mine[name]) / to_double(totals[name]) for name in sorted(mine) if name in totals}
    name, part = dominant_share(mine, totals)
    assert (name, part) == UsedAndOffered.of(held, [], lends=False).dominant(totals) or any(
        one.revocable for one in held
    )
    if not parts:
        assert (name, part) == (None, 0.0)
    else:
        assert part == max(parts.values())
        assert name == next(one for one in parts if parts[one] == part)


@given(PARTS)
def test_revocable_amounts_and_the_others_are_the_lumped_ones(entries):
    both = amounts(entries, name=named)
    assert revocable_part(both) == amounts(entries, lambda one: one.revocable)
    assert regular_part(both) == amounts(entries, lambda one: not one.revocable)
    assert lumped(both) == amounts(entries)
