"""An operation on several entries keeps the rules if each of them alone does, and they do together."""

from collections.abc import Callable, Sequence
from functools import partial

import pytest
from hypothesis import event, example, given, settings
from hypothesis import strategies as st

from mesosctl.mesos.amounts.resource import Reservation, Resource
from mesosctl.mesos.amounts.values import value_is_empty
from mesosctl.mesos.rules.reservations.operations import check_create, check_destroy
from mesosctl.mesos.rules.reservations.rules import Requester, check_reserve, check_unreserve
from tests.conformance.test_quota_verdicts import rule_of
from tests.conformance.test_reservation_verdicts import PLAIN, entries
from tests.helpers.profiles import examples

TOGETHER = {"operation.one-provider", "operation.whole-gpus", "reserve.nothing-twice", "create.unique-id"}
"""Rules about all entries of an operation."""
CHECKS: dict[str, Callable[[Sequence[Resource]], None]] = {
    "reserved": lambda some: check_reserve(some, Requester("ops")),
    "unreserved": check_unreserve,
    "created": lambda some: check_create(some, Requester("ops"), existing=[]),
    "destroyed": lambda some: check_destroy(some, existing=PLAIN["created"], in_use=[]),
}


def counts(action: str, entry: Resource) -> bool:
    """Whether an entry is checked in company too: a RESERVE passes over an entry of nothing beside others."""
    return action != "reserved" or not value_is_empty(entry.value)


@pytest.mark.parametrize("action", CHECKS)
@settings(max_examples=examples(240))
@given(data=st.data())
def test_a_rule_is_broken_by_one_of_the_entries_or_by_all_together(action, data):
    some = data.draw(st.lists(entries(action).filter(partial(counts, action)), min_size=2, max_size=4))
    alone = [rule_of(partial(CHECKS[action], [one])) for one in some]
    whole = rule_of(lambda: CHECKS[action](some))
    broken = set(filter(None, alone))
    event(f"{len(broken)} alone, {'none' if whole is None else 'broken'} together")
    if broken & TOGETHER:  # an entry that breaks one about all alone may break another in company
        assert whole is not None or broken <= TOGETHER
    elif broken:
        assert whole in broken | TOGETHER
    else:  # one about all may hide another of the same entry
        assert whole is None or whole in TOGETHER
    # And whatever stands first.
    again = rule_of(lambda: CHECKS[action](data.draw(st.permutations(some))))
    assert (again is None) == (whole is None)


WEB = Reservation("DYNAMIC", "web", "ops")
STACKS = (
    (WEB,),
    (WEB, Reservation("DYNAMIC", "web/shop", "ops")),
    (WEB, Reservation("DYNAMIC", "web/shop", "ops"), Reservation("DYNAMIC", "web/shop/cart", "ops")),
    (WEB, Reservation("DYNAMIC", "web/ads", "ops")),
    (WEB._replace(principal="other"),),
    (Reservation("DYNAMIC", "ads", "ops"),),
)


@settings(max_examples=examples(120))
@example(before=[STACKS[0], STACKS[1]], after=[STACKS[5], STACKS[5]])
@example(before=[STACKS[1], STACKS[3]], after=[STACKS[5], STACKS[5]])
@example(before=[STACKS[5], STACKS[5]], after=[STACKS[1], STACKS[2]])
@given(
    before=st.lists(st.sampled_from(STACKS), min_size=2, max_size=3),
    after=st.lists(st.sampled_from(STACKS[:4] + STACKS[5:]), min_size=2, max_size=3),
)
def test_a_reserve_with_a_source_goes_from_one_whole_stack_to_one_other(
    before: list[tuple[Reservation, ...]], after: list[tuple[Reservation, ...]]
) -> None:
    """All levels of all entries are the same on each side."""

    def side(stacks: list[tuple[Reservation, ...]]) -> list[Resource]:
        # The same amounts on both sides, however many entries they are in.
        first, *others = stacks
        return [Resource("cpus", 12_000 - 1000 * len(others), first), *(Resource("cpus", 1000, one) for one in others)]

    broken = rule_of(lambda: check_reserve(side(after), Requester("ops"), source=side(before)))
    mixed = len(set(before)) > 1 or len(set(after)) > 1
    event("mixed" if mixed else "one stack each")
    assert (broken == "reserve.one-stack") is mixed
    assert mixed or broken is None
