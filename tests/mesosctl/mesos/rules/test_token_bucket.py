"""Permits, queues and the simulation (docs/explanation/documents.md, "Framework Rate Limiting")."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesosctl.mesos.rules.rate_limit_simulation import simulate
from mesosctl.mesos.rules.rate_limits import RateLimit, RateLimits
from mesosctl.mesos.rules.token_bucket import Throttle, TokenBucket

GAPS = st.lists(st.floats(0, 5), min_size=1, max_size=60)


def test_a_high_rate_is_kept_at_any_time_of_day():
    limiter = TokenBucket(qps=1_000_000)
    permits = [limiter.take(1.7e9) for _ in range(100_001)]
    assert permits[-1] == pytest.approx(1.7e9 + 0.1, rel=0, abs=1e-6)


def test_the_first_message_after_a_pause_passes_and_the_second_waits_a_whole_interval():
    limiter = TokenBucket(qps=4)
    assert [limiter.take(0), limiter.take(0), limiter.take(10), limiter.take(10)] == [0, 0.25, 10, 10.25]


def test_capacity_counts_what_was_taken_and_has_not_begun():
    limiter = TokenBucket(qps=1, capacity=2)
    assert [limiter.take(0), limiter.take(0), limiter.take(0)] == [0, 1, None]
    limiter.begin()
    assert limiter.take(0) == 2


def test_capacity_zero_refuses_everything():
    assert TokenBucket(qps=1, capacity=0).take(0) is None


def test_a_reserved_permit_needs_no_room():
    limiter = TokenBucket(qps=1, capacity=1)
    assert limiter.take(0) == 0
    assert limiter.reserve(0) == 1
    limiter.begin()
    assert limiter.take(0) == 2


@given(GAPS, st.floats(0.1, 20))
def test_permits_are_in_order_and_an_interval_apart(gaps, qps):
    limiter, now, permits = TokenBucket(qps), 0.0, []
    for gap in gaps:
        now += gap
        permit = limiter.take(now)
        assert permit is not None
        assert permit >= now
        permits.append(permit)
    assert all(later - earlier >= 1 / qps - 1e-9 for earlier, later in pairwise(permits))


@given(GAPS, st.floats(0.1, 20), st.integers(0, 5))
def test_never_more_wait_than_fit_and_nothing_is_refused_that_fits(gaps, qps, capacity):
    limits = RateLimits((("p", RateLimit(qps, capacity)),))
    now, arrivals = 0.0, []
    for gap in gaps:
        now += gap
        arrivals.append((now, "p"))
    (outcome,) = simulate(limits, arrivals)
    assert outcome.sent == outcome.processed + outcome.refused == len(gaps)
    assert outcome.longest_queue <= capacity
    (unbounded,) = simulate(RateLimits((("p", RateLimit(qps)),)), arrivals)
    if unbounded.longest_queue < capacity:
        assert outcome.refused == 0
        assert outcome.delays == unbounded.delays


def test_each_queue_is_the_right_one():
    throttle = Throttle(
        RateLimits((("p", RateLimit(1)), ("free", RateLimit()), ("ignored", RateLimit(None, 1))), RateLimit(2))
    )
    default = throttle.limiter(None)
    assert default is not None
    assert throttle.limiter("stranger") is default
    assert throttle.limiter("p") is not default
    assert throttle.limiter("free") is throttle.limiter("ignored") is None
    assert Throttle(RateLimits()).limiter("p") is None


def test_a_simulation_tells_who_waits_and_who_overflows():
    limits = RateLimits((("p", RateLimit(1, 2)),), RateLimit(10))
    p, stranger, nameless = simulate(
        limits, [(0, "p"), (0, "p"), (0, "p"), (0.5, "p"), (2, "p"), (0, "s"), (0, None), (7, None)]
    )
    assert (p.sent, p.processed, p.refused, p.first_refused) == (5, 4, 1, 0.5)
    assert p.delays == [0, 1, 2, 1]
    assert p.queue == [(0, 2), (1, 1), (2, 1), (3, 0)]
    assert (stranger.delays, nameless.delays) == ([0], [pytest.approx(0.1), 0])
    assert p.last_processed == 3


def test_a_permit_that_falls_free_makes_room_for_what_arrives_then():
    (outcome,) = simulate(RateLimits((("p", RateLimit(1, 1)),)), [(0, "p"), (0, "p"), (1, "p")])
    assert outcome.refused == 0
