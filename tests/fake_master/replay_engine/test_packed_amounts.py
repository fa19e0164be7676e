"""Amounts packed into one integer are calculated with as each of them alone."""

from hypothesis import given
from hypothesis import strategies as st

from fake_master.replay_engine.packed_amounts import Lanes

NAMES = ("cpus", "gpus", "mem")
MOST = 5_000
AMOUNTS = st.fixed_dictionaries(dict.fromkeys(NAMES, st.integers(0, MOST)))


@given(AMOUNTS, AMOUNTS)
def test_each_resource_is_compared_and_subtracted_alone(one, other):
    lanes = Lanes(NAMES, MOST)
    first, second = lanes.packed(one), lanes.packed(other)
    assert lanes.amounts(first) == [one[name] for name in NAMES]
    assert lanes.contain(first, second) == all(one[name] >= other[name] for name in NAMES)
    assert lanes.amounts(lanes.rest(first, second)) == [max(0, one[name] - other[name]) for name in NAMES]
    assert lanes.amounts(lanes.least(first, second)) == [min(one[name], other[name]) for name in NAMES]


def test_what_is_more_than_any_sum_is_the_most():
    lanes = Lanes(NAMES, MOST)
    packed = lanes.packed({"gpus": 10**9}, otherwise=float("inf"))
    assert lanes.amounts(packed) == [lanes.most] * len(NAMES)
    assert lanes.most >= MOST
