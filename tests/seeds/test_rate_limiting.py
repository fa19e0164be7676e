"""Mesos's document "Framework Rate Limiting": what it is and how it is configured, sentence by sentence.

Each is named by its opening words.  What it promises of a master is tried on the fake one, in virtual time; the
comparison with a real one is tests/conformance/frameworks/test_rate_limits.py.
"""

import json

import pytest

from fake_master.state.flags import MasterFlags
from mesosctl.mesos.errors import BadInput
from mesosctl.mesos.messages.rate_limits import from_json
from mesosctl.mesos.messages.strict.reading import read_json
from mesosctl.mesos.rules.rate_limit_simulation import parse_traffic, simulate
from mesosctl.mesos.rules.rate_limits import RateLimit, RateLimits, errors, plan_memory, warnings
from mesosctl.mesos.rules.token_bucket import Throttle
from tests.helpers.lab import Lab, Scheduler
from tests.seeds.rate_limiting import BROKEN, NUMBERED, P_1, P_1_2, SAMPLE

# --- What is Framework Rate Limiting -----------------------------------------------------------------------


def test_every_later_master_has_the_flag():
    assert MasterFlags.parse({"rate_limits": json.dumps(SAMPLE)}).rate_limits == from_json(SAMPLE)
    for version in ("documents", "1.11"):
        framework = Scheduler(Lab(rate_limits=P_1, version=version), principal="p")
        framework.send("a", "b")
        assert framework.processed == ["a"]


def test_a_flood_of_batch_work_does_not_delay_production():
    limits = from_json({"limits": [{"principal": "batch", "qps": 10}, {"principal": "production"}]})
    batch, production = simulate(limits, parse_traffic(["batch=10000", "production=100/s*10"]))
    assert batch.longest_delay > 900
    assert production.longest_delay == 0


def test_each_framework_has_the_qps_of_its_principal():
    cluster = Lab(rate_limits={"limits": [{"principal": "p", "qps": 1}, {"principal": "q", "qps": 2}]})
    p, q = Scheduler(cluster, principal="p"), Scheduler(cluster, principal="q")
    p.send(*NUMBERED)
    q.send(*NUMBERED)
    cluster.at(2)
    assert (len(p.processed), len(q.processed)) == (3, 5)


def test_the_rate_is_never_above_qps():
    cluster = Lab(rate_limits=P_1)
    framework = Scheduler(cluster, principal="p")
    framework.send(*NUMBERED)
    for second in range(9):
        cluster.at(second + 0.999)
        assert len(framework.processed) == second + 1


def test_what_waits_is_kept_and_processed_without_being_sent_again():
    cluster = Lab(rate_limits=P_1)
    framework = Scheduler(cluster, principal="p")
    framework.send("a", "b", "c")
    assert cluster.counters() == {"p": (3, 1)}
    cluster.at(2)
    assert framework.processed == ["a", "b", "c"]


# --- Rate Limits Configuration -----------------------------------------------------------------------------


def test_the_sample_is_taken_with_its_braces_and_refused_without():
    assert not list(errors(from_json(SAMPLE)))
    with pytest.raises(BadInput, match=r"line 1, column 3: expected '{', which opens the object"):
        read_json(BROKEN, "file")
    with pytest.raises(BadInput, match=r"line 3, column 7: expected '{', because an entry of an array is an object"):
        read_json("{\n" + BROKEN + "}", "file")
    with pytest.raises(BadInput):
        MasterFlags.parse({"rate_limits": "{" + BROKEN + "}"})


def test_foo_bar_and_baz():
    arrivals = parse_traffic(["foo=100002", "bar=100002", "baz=100002"])
    foo, bar, baz = simulate(from_json(SAMPLE), arrivals)
    assert (foo.processed, foo.refused) == (100_001, 1)
    assert foo.longest_delay == pytest.approx(100_000 / 55.5)
    assert bar.refused == 0
    assert bar.longest_delay == pytest.approx(100_001 / 300)
    assert (baz.refused, baz.longest_delay) == (0, 0)


@pytest.mark.slow
def test_qux_and_a_framework_without_a_principal_share_the_default():
    qux, nameless = simulate(from_json(SAMPLE), parse_traffic(["qux=500000", "-=500002"]))
    assert qux.longest_delay == pytest.approx(499_999 / 333)
    assert nameless.longest_delay == pytest.approx(1_000_000 / 333)
    assert (qux.refused, nameless.refused) == (0, 1)


# --- Configuration Notes -----------------------------------------------------------------------------------


def test_an_entry_has_a_principal_that_no_other_has():
    with pytest.raises(BadInput, match="it is missing"):
        MasterFlags.parse({"rate_limits": '{"limits": [{"qps": 1}]}'})
    with pytest.raises(BadInput, match="Duplicate principal p found"):
        MasterFlags.parse({"rate_limits": '{"limits": [{"principal": "p"}, {"principal": "p"}]}'})
    with pytest.raises(BadInput, match="Duplicate principal p found"):
        MasterFlags.parse({"rate_limits": '{"limits": [{"principal": "p", "qps": 1}, {"principal": "p", "qps": 2}]}'})


def test_nothing_else_of_a_framework_is_matched():
    cluster = Lab(rate_limits=P_1)
    named, written_otherwise = Scheduler(cluster, principal="q", name="p", user="p"), Scheduler(cluster, principal="P")
    named.send("a", "b")
    written_otherwise.send("a", "b")
    assert named.processed == written_otherwise.processed == ["a", "b"]


def test_the_combined_traffic_of_a_principal_is_throttled():
    cluster = Lab(rate_limits=P_1)
    first, second = Scheduler(cluster, principal="p"), Scheduler(cluster, principal="p")
    first.send("a", "b")
    second.send("c")
    cluster.at(1)
    assert (first.processed, second.processed) == (["a", "b"], [])
    cluster.at(2)
    assert second.processed == ["c"]


def test_qps_is_optional_and_counted_by_the_second():
    (outcome,) = simulate(from_json({"limits": [{"principal": "p", "qps": 55.5}]}), parse_traffic(["p=556"]))
    assert outcome.last_processed == pytest.approx(10)
    assert from_json({"limits": [{"principal": "p"}]}).queue_of("p") == ("p", RateLimit())


def test_a_pause_does_not_pay_for_a_burst():
    cluster = Lab(rate_limits=P_1)
    framework = Scheduler(cluster, principal="p")
    cluster.at(1000)
    framework.send("a", "b", "c")
    assert framework.processed == ["a"]


def test_a_rate_too_high_to_keep_loses_nothing_and_keeps_the_order():
    cluster = Lab(rate_limits={"limits": [{"principal": "p", "qps": 1e9}]})
    framework = Scheduler(cluster, principal="p")
    framework.send(*NUMBERED)
    cluster.at(1)
    assert tuple(framework.processed) == NUMBERED


def test_an_entry_without_qps_is_not_throttled_whatever_the_default():
    cluster = Lab(rate_limits={"limits": [{"principal": "p"}], "aggregate_default_qps": 0.001})
    framework = Scheduler(cluster, principal="p")
    framework.send(*NUMBERED)
    assert tuple(framework.processed) == NUMBERED


def test_the_capacity_is_shared_by_the_frameworks_of_a_principal():
    cluster = Lab(rate_limits=P_1_2)
    first, second = Scheduler(cluster, principal="p"), Scheduler(cluster, principal="p")
    first.send("processed", "b")
    second.send("c", "d")
    assert (first.errors, len(second.errors)) == ([], 1)


def test_without_a_capacity_nothing_is_refused():
    cluster = Lab(rate_limits=P_1)
    framework = Scheduler(cluster, principal="p")
    framework.send(*(f"t{number}" for number in range(500)))
    assert framework.errors == []
    assert cluster.counters() == {"p": (500, 1)}


def test_a_capacity_too_high_or_not_set_is_warned_of():
    not_set, too_high = RateLimits((("p", RateLimit(1)),)), RateLimits((("p", RateLimit(1, 10**9)),))
    assert "ratelimit.no-capacity" in [remark.rule for remark in warnings(not_set)]
    assert not plan_memory(not_set, memory=2**31, message_size=1024).fits
    assert plan_memory(too_high, memory=2**31, message_size=1024).head_room < 0


def test_a_capacity_alone_is_ignored_and_warned_of():
    limits = {"limits": [{"principal": "p", "capacity": 1}]}
    framework = Scheduler(Lab(rate_limits=limits), principal="p")
    framework.send(*NUMBERED)
    assert (tuple(framework.processed), framework.errors) == (NUMBERED, [])
    assert "ratelimit.capacity-without-rate" in [remark.rule for remark in warnings(from_json(limits))]


def test_the_default_bounds_what_strangers_put_on_the_master():
    cluster = Lab(rate_limits={"aggregate_default_qps": 1, "aggregate_default_capacity": 3})
    strangers = [Scheduler(cluster, principal=f"stranger-{number}") for number in range(5)]
    for stranger in strangers:
        stranger.send("a")
    assert [len(stranger.processed) for stranger in strangers] == [1, 0, 0, 0, 0]
    assert [len(stranger.errors) for stranger in strangers] == [0, 0, 0, 0, 1]


def test_whoever_is_not_listed_stands_in_the_default_queue():
    limits = from_json(SAMPLE)
    assert limits.queue_of("qux") == limits.queue_of(None) == (None, RateLimit(333, 1_000_000))
    assert limits.queue_of("baz") == ("baz", RateLimit())


def test_the_combined_traffic_of_strangers_is_throttled():
    cluster = Lab(rate_limits={"aggregate_default_qps": 1})
    first, second = Scheduler(cluster, principal="a"), Scheduler(cluster, principal="b")
    first.send("1")
    second.send("2")
    first.send("3")
    cluster.at(1)
    assert (first.processed, second.processed) == (["1"], ["2"])


def test_a_default_capacity_alone_is_ignored_and_warned_of():
    limits = {"aggregate_default_capacity": 1}
    framework = Scheduler(Lab(rate_limits=limits), principal="p")
    framework.send(*NUMBERED)
    assert tuple(framework.processed) == NUMBERED
    assert "aggregate_default_capacity" in [remark.field for remark in warnings(from_json(limits))]


def test_without_a_default_strangers_are_not_throttled():
    framework = Scheduler(Lab(rate_limits=P_1), principal="stranger")
    framework.send(*NUMBERED)
    assert tuple(framework.processed) == NUMBERED


def test_the_implicit_way_and_the_explicit_one_have_the_same_effect_now():
    implicit, explicit = from_json(P_1), from_json({"limits": [*P_1["limits"], {"principal": "q"}]})
    assert Throttle(implicit).limiter("q") is Throttle(explicit).limiter("q") is None
    assert (implicit.queue_of("q")[0], explicit.queue_of("q")[0]) == (None, "q")


def test_a_missing_default_is_warned_of():
    (remark,) = (remark for remark in warnings(from_json(P_1)) if remark.rule == "ratelimit.no-default")
    assert remark.hint is not None
    assert "list trusted principals without qps" in remark.hint
