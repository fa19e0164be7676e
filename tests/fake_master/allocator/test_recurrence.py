"""Periods that a recurrence leaves out: each count of offers stays on its side of the others."""

import math
from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from fake_master.allocator.hierarchical.recurrence import periods_with_the_same_order
from tests.helpers.profiles import examples

_FAR = 150
"""Periods; the counts of these examples meet before that, or never."""


@settings(max_examples=examples(900))
@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 4)), max_size=3))
def test_no_count_comes_so_near_to_another_that_it_might_pass_it_within_a_period(counts):
    grown = [(then, then + growth) for then, growth in counts]

    def is_apart(one: tuple[int, int], other: tuple[int, int], period: int) -> bool:
        """Whether one is on its present side, further away than both grow in a period; 0 is the present one."""
        growth, others_growth = one[1] - one[0], other[1] - other[0]
        side = math.copysign(1, one[1] - other[1])
        distance = (one[1] - other[1] + period * (growth - others_growth)) * side
        return distance > growth + others_growth

    pairs = [(one, other) for one, other in combinations(grown, 2) if one[1] - one[0] != other[1] - other[0]]
    left_out = next(
        (period for period in range(_FAR) if not all(is_apart(*pair, period + 1) for pair in pairs)), math.inf
    )
    if not all(is_apart(*pair, period) for pair in pairs for period in (-1, 0)):
        left_out = 0
    assert periods_with_the_same_order(grown) == left_out
