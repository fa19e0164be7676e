"""Mesos's document "Framework Rate Limiting": handling "capacity exceeded"."""

from mesosctl.mesos.cluster.message_rates import CounterReading, MessageCounts, rates
from mesosctl.mesos.messages.rate_limits import from_json
from mesosctl.mesos.rules.rate_limit_simulation import parse_traffic, simulate
from mesosctl.mesos.rules.rate_limits import RateLimit, RateLimits
from tests.helpers.lab import Lab, Scheduler
from tests.seeds.rate_limiting import P_1_2


def test_an_overflow_is_an_error_and_the_end_of_the_stream():
    framework = Scheduler(Lab(rate_limits=P_1_2), principal="p")
    framework.send("1", "2", "3")
    assert (framework.errors, framework.stream.closed) == ([], False)
    framework.send("4")
    assert framework.errors == ["Message mesos.scheduler.Call dropped: capacity(2) exceeded"]
    assert framework.stream.closed


def test_after_an_overflow_tasks_run_and_the_framework_is_registered():
    cluster = Lab(rate_limits=P_1_2)
    framework = Scheduler(cluster, principal="p", failover_timeout=60.0)
    framework.launch("task")
    framework.send("1", "2", "3")
    assert len(framework.errors) == 1
    cluster.at(10)
    (shown,) = cluster.frameworks()
    assert [task["id"] for task in shown["tasks"]] == ["task"]


def test_after_an_overflow_the_framework_fails_over_and_goes_on():
    cluster = Lab(rate_limits=P_1_2)
    framework = Scheduler(cluster, principal="p", failover_timeout=60.0)
    framework.send("1", "2", "3", "4")
    cluster.at(10)
    framework.subscribe()
    framework.send("5")
    assert framework.processed == ["1", "5"]
    assert cluster.frameworks()[0]["connected"] is True


def test_no_master_alerts_early_so_the_tool_tells_when_a_queue_will_be_full():
    limits = RateLimits((("p", RateLimit(1, 100)),))
    (one,) = rates(
        CounterReading(0, 0, {"p": MessageCounts(0, 0)}), CounterReading(10, 10, {"p": MessageCounts(30, 10)}), limits
    )
    assert one.seconds_to_full == 40
    framework = Scheduler(Lab(rate_limits=P_1_2), principal="p")
    framework.send("1", "2", "3")
    assert {event["type"] for event in framework.events} == {"SUBSCRIBED", "HEARTBEAT", "OFFERS", "UPDATE"}


def test_a_scheduler_that_throttles_itself_is_not_refused_and_a_short_burst_passes():
    limits = from_json(P_1_2)
    (flooding,) = simulate(limits, parse_traffic(["p=2/s*20"]))
    (patient,) = simulate(limits, parse_traffic(["p=1/s*20"]))
    (bursting,) = simulate(limits, parse_traffic(["p=3", "p=3@10"]))
    assert flooding.refused > 0
    assert patient.refused == bursting.refused == 0


def test_a_production_framework_that_is_listed_without_qps_never_gets_the_error():
    cluster = Lab(
        rate_limits={
            "limits": [{"principal": "production"}],
            "aggregate_default_qps": 1,
            "aggregate_default_capacity": 1,
        }
    )
    framework = Scheduler(cluster, principal="production")
    framework.send(*(f"t{number}" for number in range(500)))
    assert (framework.errors, len(framework.processed)) == ([], 500)


def test_a_master_without_the_flag_throttles_nobody():
    cluster = Lab()
    framework = Scheduler(cluster, principal="p")
    framework.send(*(f"t{number}" for number in range(500)))
    assert cluster.counters() == {"p": (500, 500)}
    assert "rate_limits" not in cluster.read("/flags")["flags"]
