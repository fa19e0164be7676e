"""Rates from counters, across everything that happens to counters."""

import pytest

from mesosctl.mesos.cluster.message_rates import CounterReading, MessageCounts, observe, rates, suggest
from mesosctl.mesos.rules.rate_limits import RateLimit, RateLimits


def reading(at: float, uptime: float | None = None, **counts: tuple[int, int]) -> CounterReading:
    return CounterReading(
        at, at + 100 if uptime is None else uptime, {name: MessageCounts(*pair) for name, pair in counts.items()}
    )


def test_rates_between_two_readings():
    (one,) = rates(reading(0, p=(10, 10)), reading(5, p=(60, 30)), None)
    assert (one.status, one.arriving, one.processing, one.backlog) == ("steady", 10, 4, 30)


def test_the_first_reading_tells_no_rate():
    (one,) = rates(None, reading(0, p=(60, 30)), None)
    assert (one.status, one.arriving, one.processing) == ("new", None, None)


def test_counters_that_come_and_go():
    gone, new = rates(reading(0, a=(5, 5)), reading(5, b=(1, 1)), None)
    assert (gone.principal, gone.status, gone.arriving) == ("a", "gone", None)
    assert (new.principal, new.status, new.arriving) == ("b", "new", None)


def test_counters_that_restart_tell_no_rate_below_zero():
    (one,) = rates(reading(0, p=(100, 100)), reading(5, p=(3, 3)), None)
    assert (one.status, one.arriving) == ("restarted", None)


def test_a_new_master_restarts_counters_even_where_they_are_higher_by_now():
    (one,) = rates(reading(0, uptime=900, p=(10, 10)), reading(5, uptime=2, p=(50, 50)), None)
    assert one.status == "restarted"


@pytest.mark.parametrize("uptime", [2, 100_000])
def test_the_next_leader_may_have_been_up_for_longer(uptime):
    (one,) = rates(reading(0, uptime=900, p=(10, 10)), reading(5, uptime=uptime, p=(50, 50)), None)
    assert one.status == "restarted"


def test_a_master_that_does_not_tell_its_uptime():
    before, now = (CounterReading(at, None, {"p": MessageCounts(at, at)}) for at in (0, 5))
    (one,) = rates(before, now, None)
    assert (one.status, one.arriving) == ("steady", 1)


def full(before: tuple[int, int], now: tuple[int, int], qps: float = 4, capacity: int = 10) -> bool:
    (one,) = rates(reading(0, p=before), reading(5, p=now), RateLimits((("p", RateLimit(qps, capacity)),)))
    assert one.seconds_to_full is None or not one.is_full
    return one.is_full


def test_a_queue_is_full_where_more_comes_than_it_holds():
    assert full((60, 30), (110, 50))
    assert full((0, 0), (30, 20))
    assert not full((0, 0), (29, 20))
    assert full((50, 40), (70, 60))  # as much comes as the limit lets through, and nothing was refused yet


def test_messages_that_were_refused_long_ago_make_no_full_queue():
    assert not full((60, 30), (65, 35))  # one message a second is not what 4 a second let through of a full queue
    assert not full((60, 30), (60, 50))


def test_a_queue_without_room_is_full_as_soon_as_anything_comes():
    assert full((0, 0), (5, 0), capacity=0)
    assert not full((0, 0), (0, 0), capacity=0)


def test_the_time_until_a_capacity_is_full():
    limits = RateLimits((("p", RateLimit(4, 100)),))
    (one,) = rates(reading(0, p=(10, 10)), reading(5, p=(60, 30)), limits)
    assert one.seconds_to_full == pytest.approx((100 - 30) / 6)
    (shrinking,) = rates(reading(0, p=(60, 10)), reading(5, p=(60, 30)), limits)
    assert shrinking.seconds_to_full is None


def test_all_who_share_the_default_fill_one_queue():
    limits = RateLimits((("p", RateLimit(1)),), RateLimit(2, 50))
    found = rates(reading(0, p=(0, 0), a=(0, 0), b=(0, 0)), reading(10, p=(99, 0), a=(15, 10), b=(15, 10)), limits)
    assert {one.principal: one.seconds_to_full for one in found} == {"a": 40.0, "b": 40.0, "p": None}


def test_refused_messages_are_no_backlog_beyond_the_capacity():
    limits = RateLimits((("p", RateLimit(1, 2)),))
    (one,) = rates(None, reading(0, p=(1000, 10)), limits)
    assert one.backlog == 2


def test_observing_leaves_out_what_cannot_be_told():
    readings = [
        reading(0, p=(0, 0)),
        reading(10, p=(100, 100)),
        reading(20, uptime=1, p=(5, 5)),
        reading(30, uptime=11, p=(35, 35), q=(9, 9)),
    ]
    p, q = observe(readings)
    assert (p.principal, p.mean, p.peak) == ("p", 6.5, 10)
    assert (q.principal, q.mean, q.peak) == ("q", 0, 0)


def test_a_suggestion_covers_the_peak_and_a_burst():
    observed = observe([reading(0, p=(0, 0), q=(0, 0)), reading(10, p=(105, 105), q=(1, 1))])
    limits = suggest(observed, headroom=2, burst=30)
    assert limits == RateLimits((("p", RateLimit(21, 630)), ("q", RateLimit(1, 30))), RateLimit(21, 630))
