"""Ranges are sets of numbers, items are sets of names, and values of different kinds do not mix."""

import operator
from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesosctl.mesos.amounts.values import (
    Items,
    Ranges,
    Value,
    as_sent,
    format_value,
    value_add,
    value_contains,
    value_is_empty,
    value_quantity,
    value_subtract,
    value_sum,
    value_times,
    value_type,
)

SPANS = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=4)
RANGES = st.builds(lambda made, spans: made(spans), st.sampled_from([Ranges.of, Ranges.as_sent]), SPANS)
ITEMS = st.lists(st.sampled_from("abcd")).map(Items.of) | st.frozensets(st.sampled_from("abcd")).map(Items)
SCALARS = st.integers(0, 5000)


def numbers(spans):
    return {number for begin, end in spans for number in range(begin, end + 1)}


@given(SPANS)
def test_ranges_have_the_numbers_of_their_spans_and_are_never_adjacent(spans):
    ranges = Ranges.of(spans)
    assert numbers(ranges.spans) == numbers(spans)
    assert all(begin <= end for begin, end in ranges.spans)
    assert all(end + 1 < begin for (_, end), (begin, _) in zip(ranges.spans, ranges.spans[1:], strict=False))
    sent = Ranges.as_sent(spans)
    assert sent == ranges
    assert (sent.sent or sent.spans) == tuple(spans)


@given(RANGES, RANGES)
def test_the_algebra_of_ranges_is_that_of_sets_of_numbers(left, right):
    ours, theirs = numbers(left.spans), numbers(right.spans)
    assert numbers((left + right).spans) == ours | theirs
    assert numbers((left - right).spans) == ours - theirs
    assert left.contains(right) is (ours >= theirs)
    assert left.count() == len(ours)
    assert bool(left) is bool(ours)
    assert str(left) == "[" + ", ".join(f"{begin}-{end}" for begin, end in left.spans) + "]"


@given(SPANS.map(lambda spans: [(min(span), max(span)) for span in spans]), RANGES)
def test_what_is_left_of_ranges_is_shown_in_the_pieces_in_which_they_were_sent(spans, cut):
    """A master coalesces when it adds, not when it subtracts."""
    left = Ranges.as_sent(spans) - cut
    was_coalesced = Ranges.of(spans).spans == tuple(spans)
    pieces = [
        piece
        for span in (spans if was_coalesced else sorted(spans))
        for piece in Ranges.of([(number, number) for number in numbers([span]) - numbers(cut.spans)]).spans
    ]
    assert (left.sent or left.spans) == tuple(pieces)


@given(ITEMS, ITEMS)
def test_the_algebra_of_items_is_that_of_sets_of_names_in_the_order_of_the_first(left, right):
    assert set(left + right) == left.names | right.names
    assert list(left + right)[: left.count()] == list(left)
    assert list(left - right) == [name for name in left if name not in right.names]
    assert left.contains(right) is (left.names >= right.names)
    assert left.count() == len(left.names) == len(list(left))
    assert bool(left) is bool(left.names)
    assert str(left) == "{" + ", ".join(left) + "}"


KINDS = {"SCALAR": SCALARS, "RANGES": RANGES, "SET": ITEMS}


@pytest.mark.parametrize("kind", KINDS)
@given(st.data())
def test_values_of_one_kind_have_the_algebra_of_the_kind(kind, data):
    left, right = data.draw(KINDS[kind]), data.draw(KINDS[kind])
    assert value_type(left) == kind
    assert value_add(left, right) == left + right
    assert value_subtract(left, right) == left - right
    assert value_contains(left, right) is (right <= left if kind == "SCALAR" else left.contains(right))
    assert value_is_empty(left) is not bool(left)
    assert value_quantity(left) == (left if kind == "SCALAR" else left.count() * 1000)
    some = data.draw(st.lists(KINDS[kind], min_size=2, max_size=4))
    assert value_sum(some) == reduce(operator.add, some)
    assert [str(value) for value in (value_sum(some),)] == [str(reduce(operator.add, some))]
    times = data.draw(st.integers(1, 4))
    assert value_times(left, times) == reduce(operator.add, [left] * times)
    assert as_sent(value_times(left, 1)) == as_sent(left), "nothing is calculated"


EXAMPLES: dict[str, Value] = {"SCALAR": 1500, "RANGES": Ranges.of([(1, 2)]), "SET": Items.of("ba")}


@pytest.mark.parametrize("left", EXAMPLES)
@pytest.mark.parametrize("right", EXAMPLES)
def test_values_of_different_kinds_do_not_mix(left, right):
    if left == right:
        return
    assert not value_contains(EXAMPLES[left], EXAMPLES[right])
    for mix, words in (
        (value_add, f"cannot add {right} to {left}"),
        (value_subtract, f"cannot subtract {right} from {left}"),
        (lambda *values: value_sum(values), f"cannot add {' and '.join(sorted([left, right]))}"),
    ):
        with pytest.raises(TypeError) as refused:
            mix(EXAMPLES[left], EXAMPLES[right])
        assert str(refused.value) == words


def test_a_scalar_below_zero_is_empty_and_an_order_is_shown():
    assert value_is_empty(-1)
    assert [format_value(value) for value in EXAMPLES.values()] == ["1.5", "[1-2]", "{b, a}"]
    assert [as_sent(value) for value in EXAMPLES.values()] == [None, (), ("b", "a")]
    assert as_sent(Ranges.as_sent([(3, 4), (1, 2)])) == ((3, 4), (1, 2))
    assert as_sent(Ranges.as_sent([(1, 2), (4, 5)])) == ()


def test_ranges_are_united_as_soon_as_there_are_two():
    apart = Ranges(((1, 2), (3, 4)))
    assert [value_times(apart, count) for count in (1, 2)] == [apart, Ranges(((1, 4),))]
    assert apart - Ranges.of([(9, 9)]) == apart
