"""The throttle before scheduler calls, in virtual time (docs/explanation/documents.md, "Framework Rate Limiting")."""

import json

import pytest

from fake_master.state.flags import MasterFlags
from mesosctl.mesos.errors import BadInput
from tests.helpers.lab import Lab, Scheduler

P_1 = {"limits": [{"principal": "p", "qps": 1}]}
P_1_2 = {"limits": [{"principal": "p", "qps": 1, "capacity": 2}]}
REFUSED = "Message mesos.scheduler.Call dropped: capacity({}) exceeded"


# --- Worked examples ------------------------------------------------------


def test_1_without_limits_everything_is_processed_at_once_and_counted():
    cluster = Lab()
    framework = Scheduler(cluster, principal="p")
    framework.send("a", "b", "c")
    assert framework.processed == ["a", "b", "c"]
    assert cluster.counters() == {"p": (3, 3)}


def test_2_one_message_an_interval_in_order():
    cluster = Lab(rate_limits=P_1)
    framework = Scheduler(cluster, principal="p")
    framework.send("a", "b", "c")
    assert framework.processed == ["a"]
    cluster.at(0.999)
    assert framework.processed == ["a"]
    cluster.at(1)
    assert framework.processed == ["a", "b"]
    cluster.at(2)
    assert framework.processed == ["a", "b", "c"]


def test_3_idle_time_is_not_saved_up():
    cluster = Lab(rate_limits={"limits": [{"principal": "p", "qps": 0.5}]})
    framework = Scheduler(cluster, principal="p")
    framework.send("a")
    cluster.at(10)
    framework.send("b", "c")
    assert framework.processed == ["a", "b"]
    cluster.at(11.9)
    assert framework.processed == ["a", "b"]
    cluster.at(12)
    assert framework.processed == ["a", "b", "c"]


def test_4_and_rl_2_an_entry_without_qps_is_never_throttled():
    cluster = Lab(rate_limits={"limits": [{"principal": "p", "qps": 1}, {"principal": "q"}]})
    p, q = Scheduler(cluster, principal="p"), Scheduler(cluster, principal="q")
    p.send("a", "b")
    q.send("c", "d")
    assert (p.processed, q.processed) == (["a"], ["c", "d"])
    assert cluster.counters() == {"p": (2, 1), "q": (2, 2)}
    cluster.at(1)
    assert p.processed == ["a", "b"]


def test_5_frameworks_with_one_principal_share_its_rate():
    cluster = Lab(rate_limits=P_1)
    first, second = Scheduler(cluster, principal="p"), Scheduler(cluster, principal="p")
    first.send("a")
    second.send("b")
    assert (first.processed, second.processed) == (["a"], [])
    cluster.at(1)
    assert second.processed == ["b"]


def test_6_the_default_is_shared_by_all_others_and_by_those_without_a_principal():
    cluster = Lab(rate_limits={"aggregate_default_qps": 1})
    unlisted, nameless = Scheduler(cluster, principal="r"), Scheduler(cluster)
    unlisted.send("a")
    nameless.send("b")
    assert (unlisted.processed, nameless.processed) == (["a"], [])
    cluster.at(1)
    assert nameless.processed == ["b"]
    assert cluster.counters() == {"r": (1, 1)}


def test_7_and_rl_3_what_exceeds_the_capacity_is_refused():
    cluster = Lab(rate_limits=P_1_2)
    framework = Scheduler(cluster, principal="p")
    framework.send("1", "2", "3", "4", "5")
    assert framework.errors == [REFUSED.format(2)]
    assert cluster.counters() == {"p": (5, 1)}
    cluster.at(1)
    assert cluster.counters() == {"p": (5, 2)}
    cluster.at(2)
    assert cluster.counters() == {"p": (5, 3)}


def test_8_a_capacity_without_a_rate_is_ignored():
    cluster = Lab(rate_limits={"limits": [{"principal": "p", "capacity": 1}]})
    framework = Scheduler(cluster, principal="p")
    framework.send("a", "b", "c")
    assert framework.processed == ["a", "b", "c"]


def test_9_a_teardown_waits_its_turn_and_takes_the_counters_along():
    cluster = Lab(rate_limits=P_1)
    framework = Scheduler(cluster, principal="p")
    framework.send("a", "b")
    assert framework.call("TEARDOWN").status == 202
    cluster.at(1)
    assert cluster.counters() == {"p": (3, 2)}
    cluster.at(2)
    assert cluster.counters() == {}
    assert cluster.frameworks() == []


def test_10_a_listed_principal_does_not_touch_the_default():
    cluster = Lab(rate_limits={"limits": [{"principal": "p", "qps": 5}], "aggregate_default_qps": 1})
    p, other = Scheduler(cluster, principal="p"), Scheduler(cluster, principal="r")
    p.send("a", "b")
    other.send("c")
    assert (p.processed, other.processed) == (["a"], ["c"])
    cluster.at(0.2)
    assert p.processed == ["a", "b"]


def test_11_the_default_capacity_is_shared_too():
    cluster = Lab(rate_limits={"aggregate_default_qps": 1, "aggregate_default_capacity": 1})
    r, s = Scheduler(cluster, principal="r"), Scheduler(cluster, principal="s")
    r.send("a", "b")
    s.send("c")
    assert (r.errors, s.errors) == ([], [REFUSED.format(1)])


# --- Counters --------------------------------------------------------------------------------------------


def test_counters_come_and_go_with_the_framework():
    cluster = Lab()
    nameless, framework = Scheduler(cluster), Scheduler(cluster, principal="p")
    assert cluster.counters() == {"p": (0, 0)}
    framework.send("a")
    nameless.send("b")
    assert cluster.counters() == {"p": (1, 1)}
    framework.call("TEARDOWN")
    assert cluster.counters() == {}
    Scheduler(cluster, principal="p")
    assert cluster.counters() == {"p": (0, 0)}


def test_a_principal_stands_in_the_name_as_it_is():
    cluster = Lab()
    Scheduler(cluster, principal="a/b c").send("t")
    assert cluster.counters() == {"a/b c": (1, 1)}


def test_counters_stay_while_another_framework_has_the_principal():
    cluster = Lab()
    one, other = Scheduler(cluster, principal="p"), Scheduler(cluster, principal="p")
    one.call("TEARDOWN")
    assert cluster.counters() == {"p": (1, 1)}
    other.send("a")
    assert cluster.counters() == {"p": (2, 2)}


def test_disconnection_keeps_the_counters():
    cluster = Lab()
    framework = Scheduler(cluster, principal="p", failover_timeout=60.0)
    framework.send("a")
    framework.stream.abandon()
    assert cluster.counters() == {"p": (1, 1)}
    cluster.at(60)
    assert cluster.counters() == {}


@pytest.mark.parametrize("limits", [P_1, {"limits": [{"principal": "", "qps": 1}]}])
def test_neither_a_subscription_nor_a_refused_call_is_counted(limits):
    cluster = Lab(rate_limits=limits)
    principal = limits["limits"][0]["principal"]
    framework = Scheduler(cluster, principal=principal)
    framework.subscribe()
    assert framework.call("DECLINE").status == 400
    assert cluster.counters() == {principal: (0, 0)}


def test_a_call_that_is_answered_with_its_result_is_counted_and_not_delayed():
    cluster = Lab(rate_limits=P_1)
    framework = Scheduler(cluster, principal="p")
    framework.send("a", "b")
    assert (
        framework.call("UPDATE_FRAMEWORK", framework_info=framework.info | {"id": {"value": framework.id}}).status
        == 200
    )
    assert cluster.counters() == {"p": (3, 2)}


# --- Overflow, failover, disconnection ---------------------------------------------------------------------


def test_an_overflow_closes_the_stream_and_nothing_else_until_the_queue_is_empty():
    cluster = Lab(rate_limits=P_1_2)
    framework = Scheduler(cluster, principal="p", failover_timeout=60.0)
    framework.send("1", "2", "3", "4")
    assert framework.stream.closed
    assert cluster.frameworks()[0]["connected"] is True
    cluster.at(2)
    assert cluster.frameworks()[0]["connected"] is True
    cluster.at(3)
    assert cluster.frameworks()[0]["connected"] is False
    cluster.at(63)
    assert cluster.frameworks() == []


@pytest.mark.parametrize("refused", [("4",), ("4", "4 again")])
def test_after_an_overflow_the_framework_can_fail_over(refused):
    cluster = Lab(rate_limits=P_1_2)
    framework = Scheduler(cluster, principal="p", failover_timeout=60.0)
    framework.send("1", "2", "3", *refused)
    framework.subscribe()
    cluster.at(3.5)
    assert cluster.frameworks()[0]["connected"] is True
    framework.send("5")
    cluster.at(4)
    assert framework.processed == ["1", "5"]


def test_calls_of_an_older_stream_are_ignored_when_their_turn_comes():
    cluster = Lab(rate_limits=P_1)
    framework = Scheduler(cluster, principal="p")
    framework.send("a", "b")
    framework.subscribe()
    cluster.at(1)
    assert framework.processed == ["a"]
    assert cluster.counters() == {"p": (2, 1)}


def test_a_lost_connection_does_not_overtake_what_it_carried():
    cluster = Lab(rate_limits=P_1)
    framework = Scheduler(cluster, principal="p", failover_timeout=60.0)
    framework.send("a", "b")
    framework.stream.abandon()
    cluster.at(1)
    assert cluster.counters() == {"p": (2, 2)}
    assert cluster.frameworks()[0]["connected"] is True
    cluster.at(2)
    assert cluster.frameworks()[0]["connected"] is False


def test_a_lost_connection_that_need_not_wait_is_lost_at_once():
    cluster = Lab(rate_limits=P_1)
    framework = Scheduler(cluster, principal="p", failover_timeout=60.0)
    framework.stream.abandon()
    assert [known.connected for known in cluster.master.state.frameworks.values()] == [False]


def test_an_accept_that_waited_finds_the_cluster_as_it_is_then():
    cluster = Lab(rate_limits=P_1)
    framework = Scheduler(cluster, principal="p")
    framework.send("first")
    framework.accept(framework.heard("OFFERS")[0]["offers"][0], "t")
    (shown,) = cluster.frameworks()
    assert (len(shown["offers"]), shown["tasks"]) == (1, [])
    cluster.at(1)
    assert [task["id"] for task in cluster.frameworks()[0]["tasks"]] == ["t"]


def test_an_overflow_kills_no_task():
    cluster = Lab(rate_limits={"limits": [{"principal": "p", "qps": 1, "capacity": 1}]})
    framework = Scheduler(cluster, principal="p", failover_timeout=60.0)
    framework.accept(framework.heard("OFFERS")[0]["offers"][0], "t")
    framework.send("a", "b")
    assert framework.errors == [REFUSED.format(1)]
    cluster.at(5)
    (shown,) = cluster.frameworks()
    assert shown["connected"] is False
    assert [task["id"] for task in shown["tasks"]] == ["t"]


def cut_off(failover_timeout: float) -> tuple[Lab, Scheduler]:
    """A framework that runs a task and has sent too many messages, with its queue empty again."""
    cluster = Lab(rate_limits={"limits": [{"principal": "p", "qps": 1, "capacity": 1}]})
    framework = Scheduler(cluster, principal="p", failover_timeout=failover_timeout)
    framework.accept(framework.heard("OFFERS")[0]["offers"][0], "t")
    framework.send("a", "b")
    cluster.at(5)
    return cluster, framework


def test_an_overflow_deactivates_the_framework_and_its_offers_go_to_others():
    cluster, framework = cut_off(60.0)
    (shown,) = cluster.frameworks()
    assert (shown["active"], shown["connected"], shown["offers"]) == (False, False, [])
    assert framework.stream.closed


def test_after_an_overflow_tasks_live_for_the_failover_timeout():
    cluster, _ = cut_off(60.0)
    cluster.at(60)
    assert [task["id"] for task in cluster.frameworks()[0]["tasks"]] == ["t"]
    cluster.at(70)
    assert cluster.frameworks() == []


def test_without_a_failover_timeout_tasks_live_while_the_scheduler_is_there():
    cluster, framework = cut_off(0.0)
    cluster.at(10_000)
    assert [task["id"] for task in cluster.frameworks()[0]["tasks"]] == ["t"]
    framework.stream.left()
    cluster.at(10_001)
    assert cluster.frameworks() == []


def test_a_scheduler_that_leaves_before_its_turn_is_gone_in_its_turn():
    cluster = Lab(rate_limits=P_1_2)
    framework = Scheduler(cluster, principal="p", failover_timeout=0.0)
    framework.send("1", "2", "3", "4")
    framework.stream.left()
    cluster.at(2)
    assert len(cluster.frameworks()) == 1
    cluster.at(3.5)
    assert cluster.frameworks() == []


def test_a_scheduler_that_subscribed_again_is_not_ended_by_its_old_connection():
    cluster, framework = cut_off(0.0)
    old = framework.stream
    framework.subscribe()
    old.left()
    cluster.at(20)
    assert cluster.frameworks()[0]["connected"] is True
    # From now on it ends as others do.
    framework.stream.abandon()
    cluster.at(30)
    assert cluster.frameworks() == []


# --- The flag ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"limits": [{"principal": "pp"}, {"principal": "pp"}]}', "Duplicate principal pp found in RateLimits"),
        ('{"limits": [{"principal": "p", "qps": 0}]}', "Invalid qps: 0. It must be a positive number"),
        ('{"limits": [{"principal": "p", "qps": "-2.5"}]}', "Invalid qps: -2.5. It must be a positive number"),
        ('{"aggregate_default_qps": 0}', "Invalid aggregate_default_qps: 0. It must be a positive number"),
        ('{"limits": [{"qps": 1}]}', "limits[0].principal: it is missing"),
        ('{"limits": {}}', "limits: it should be an array"),
        ('{"limits": [{"principal": "p", "qps": 0}, ...], "x": 1}', "expected a value, found '...], \"x\": 1}'"),
        ('{"limits": [{"principal": "p", "qps": 0}], "x": 1}', "x: there is no key 'x'"),
        ('{"limits": [{"principal": "p", "qps": 0}], "x": 1}', "limits[0].qps: Invalid qps: 0"),
        ('{"limits": [', "Not JSON"),
        ("/nonexistent/limits.json", "cannot be read"),
    ],
)
def test_a_configuration_that_stops_the_start(text, said):
    with pytest.raises(BadInput, match="--rate_limits") as raised:
        MasterFlags.parse({"rate_limits": text})
    assert said in raised.value.message
    assert raised.value.field == "rate_limits"


def test_the_flag_is_a_path_or_a_file_url_too(tmp_path):
    (tmp_path / "limits.json").write_text(json.dumps(P_1))
    for source in (str(tmp_path / "limits.json"), f"file://{tmp_path}/limits.json", json.dumps(P_1)):
        assert MasterFlags.parse({"rate_limits": source}).rate_limits.entries[0][0] == "p"


def test_flags_show_it_as_a_real_master_does():
    limits = {"limits": [{"principal": "p", "qps": 1, "capacity": 2}, {"principal": "q"}], "aggregate_default_qps": 2.5}
    shown = Lab(rate_limits=limits).read("/flags")["flags"]["rate_limits"]
    assert shown == (
        'limits {\n  qps: 1\n  principal: "p"\n  capacity: 2\n}\n'
        'limits {\n  principal: "q"\n}\n'
        "aggregate_default_qps: 2.5\n"
    )


def test_switched_off_it_leaves_http_frameworks_alone_as_a_real_master_does():
    cluster = Lab(rate_limits=P_1, flags={"rate_limit_http": "false"})
    framework = Scheduler(cluster, principal="p")
    framework.send("a", "b")
    assert framework.processed == ["a", "b"]
    framework.call("TEARDOWN")
    assert cluster.counters() == {"p": (0, 0)}
    assert "rate_limit_http" not in cluster.read("/flags")["flags"]


def test_switched_off_it_lets_no_lost_connection_wait():
    cluster = Lab(rate_limits=P_1, flags={"rate_limit_http": "false"})
    for framework in [Scheduler(cluster, name=name, principal="p", failover_timeout=60.0) for name in ("f", "g")]:
        framework.stream.abandon()
    assert [known["connected"] for known in cluster.frameworks()] == [False, False]


# --- Who is throttled -------------------------------------------------------------------------------------


@pytest.mark.parametrize("applies", [True, False])
def test_whose_calls_may_wait_and_how_many_do(applies):
    limits = {
        "limits": [{"principal": "p", "qps": 1, "capacity": 9}, {"principal": "free"}],
        "aggregate_default_qps": 2,
    }
    cluster = Lab(rate_limits=limits, flags={} if applies else {"rate_limit_http": "false"})
    schedulers = {name: Scheduler(cluster, name=name, principal=name) for name in ("p", "free", "other")}
    schedulers["p"].send("a", "b", "c")
    rate_limiting = cluster.master.rate_limiting
    may_wait = {
        framework.name: rate_limiting.throttles(framework) for framework in cluster.master.state.frameworks.values()
    }
    assert may_wait == {"p": applies, "free": False, "other": applies}
    queues = {principal: (waiting, limit.qps, limit.capacity) for principal, waiting, limit in rate_limiting.queues()}
    assert queues == {"p": (2 * applies, 1, 9), "other": (0, 2, None)}
