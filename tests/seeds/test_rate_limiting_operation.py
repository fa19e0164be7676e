"""Mesos's document "Framework Rate Limiting": watching traffic and choosing limits."""

import pytest

from mesosctl.mesos.cluster.message_rates import CounterReading, MessageCounts, observe, rates, suggest
from mesosctl.mesos.messages.rate_limits import from_json, message_counts
from mesosctl.mesos.rules.rate_limit_simulation import parse_traffic, simulate
from mesosctl.mesos.rules.rate_limits import MESSAGE_OVERHEAD, plan_memory
from tests.helpers.lab import Lab, Scheduler
from tests.seeds.rate_limiting import NUMBERED, P_1, SAMPLE

# --- Monitoring Framework Traffic --------------------------------------------------------------------------


def test_counters_are_there_as_long_as_the_framework():
    cluster = Lab()
    assert cluster.counters() == {}
    framework = Scheduler(cluster, principal="p")
    assert cluster.counters() == {"p": (0, 0)}
    framework.call("TEARDOWN")
    assert cluster.counters() == {}


def test_the_names_of_the_two_counters():
    cluster = Lab()
    Scheduler(cluster, principal="foo").send("a")
    metrics = cluster.read("/metrics/snapshot")
    assert metrics["frameworks/foo/messages_received"] == metrics["frameworks/foo/messages_processed"] == 1.0


def test_the_difference_is_what_waits():
    free, throttled = Lab(), Lab(rate_limits=P_1)
    Scheduler(free, principal="p").send(*NUMBERED)
    Scheduler(throttled, principal="p").send(*NUMBERED)
    assert free.counters() == {"p": (10, 10)}
    assert throttled.counters() == {"p": (10, 1)}


def test_rates_are_derived_from_counters():
    cluster = Lab(rate_limits=P_1)
    framework = Scheduler(cluster, principal="p")
    readings = []
    for second in (0, 10):
        cluster.at(second)
        metrics = cluster.read("/metrics/snapshot")
        readings.append(CounterReading(second, metrics["master/uptime_secs"], message_counts(metrics)))
        framework.send(*(f"t{number}" for number in range(50)))
    (one,) = rates(readings[0], readings[1], None)
    assert (one.arriving, one.processing, one.backlog) == (5, 1.1, 39)


def test_mean_and_peak_are_told():
    readings = [
        CounterReading(at, at, {"p": MessageCounts(n, n)}) for at, n in ((0, 0), (10, 10), (20, 100), (30, 100))
    ]
    (one,) = observe(readings)
    assert one.mean == pytest.approx(10 / 3)
    assert one.peak == 9


# --- Configuring Rate Limits -------------------------------------------------------------------------------


def test_a_suggestion_starts_with_a_large_qps():
    readings = [CounterReading(at, at, {"p": MessageCounts(n, n)}) for at, n in ((0, 0), (10, 10), (20, 100))]
    limits = suggest(observe(readings), headroom=2, burst=30)
    assert limits.by_principal()["p"].qps == 18
    (outcome,) = simulate(limits, parse_traffic(["p=1/s*10", "p=9/s*10@10"]))
    assert outcome.longest_delay == 0


def test_even_a_large_qps_lets_others_go_first():
    cluster = Lab(rate_limits={"limits": [{"principal": "batch", "qps": 1000000}]})
    batch, production = Scheduler(cluster, principal="batch"), Scheduler(cluster, principal="production")
    batch.send("a", "b")
    production.send("c", "d")
    assert (batch.processed, production.processed) == (["a"], ["c", "d"])


def test_all_capacities_are_summed_up():
    plan = plan_memory(from_json(SAMPLE), memory=2**31, message_size=1024)
    assert plan.messages == 1_100_000
    assert plan.worst_case + plan.head_room == 2**31


def test_a_message_in_a_queue_takes_more_than_its_own_size():
    empty, large = (plan_memory(from_json(SAMPLE), memory=2**40, message_size=size) for size in (0, 10**6))
    assert empty.worst_case == 1_100_000 * MESSAGE_OVERHEAD
    assert large.worst_case - empty.worst_case == 1_100_000 * 10**6
    assert 2.1 * 1024 <= MESSAGE_OVERHEAD <= 4.7 * 1024


def test_a_suggestion_holds_a_burst_and_leaves_head_room():
    readings = [CounterReading(at, at, {"p": MessageCounts(n, n)}) for at, n in ((0, 0), (10, 1000))]
    limits = suggest(observe(readings), headroom=2, burst=30)
    (outcome,) = simulate(limits, parse_traffic(["p=100/s*60", "p=3000@30"]))
    assert outcome.refused == 0
    plan = plan_memory(limits, memory=2**31, message_size=1024)
    assert plan.head_room > 0.9 * 2**31
