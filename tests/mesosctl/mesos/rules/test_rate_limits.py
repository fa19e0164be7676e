"""Rate limits that stop a master, that are unwise, and the cost of full queues.

Source: docs/explanation/documents.md, "Rate Limits Configuration".
"""

import pytest

from mesosctl.mesos.errors import RuleViolation
from mesosctl.mesos.rules.rate_limits import (
    _UNLIKELY_CAPACITY,
    MESSAGE_OVERHEAD,
    RateLimit,
    RateLimits,
    check,
    errors,
    limit_warnings,
    plan_memory,
    warnings,
)


def test_errors_come_entry_by_entry_and_the_default_last():
    limits = RateLimits((("a", RateLimit(0)), ("a", RateLimit(-1))), RateLimit(0))
    assert [(remark.field, remark.rule.partition(".")[2]) for remark in errors(limits)] == [
        ("limits[0].qps", "positive-rate"),
        ("limits[1].principal", "duplicate-principal"),
        ("limits[1].qps", "positive-rate"),
        ("aggregate_default_qps", "positive-rate"),
    ]
    assert {remark.level for remark in errors(limits)} == {"error"}
    advice = [remark.hint or "" for remark in errors(limits)]
    assert ["qps" in one for one in advice] == [True, False, True, True]
    assert "aggregate_default_qps" in advice[-1]
    assert "one entry" in advice[1]
    with pytest.raises(RuleViolation, match="Invalid qps: 0") as raised:
        check(limits)
    assert (raised.value.field, raised.value.rule) == ("limits[0].qps", "ratelimit.positive-rate")
    assert raised.value.hint == advice[0]


@pytest.mark.parametrize("limits", [RateLimits(), RateLimits((("", RateLimit()),)), RateLimits((), RateLimit(0.001))])
def test_what_a_master_starts_with(limits):
    check(limits)


WISE = RateLimit(1.0, 10)


@pytest.mark.parametrize(
    ("limits", "found"),
    [
        (RateLimits((("p", WISE),), WISE), []),
        (RateLimits((("p", RateLimit()),), WISE), []),
        (RateLimits((("p", RateLimit(None, 5)),), WISE), [("limits[0].capacity", "capacity-without-rate")]),
        (RateLimits((("p", RateLimit(5)),), WISE), [("limits[0].capacity", "no-capacity")]),
        (RateLimits((("p", RateLimit(5, 0)),), WISE), [("limits[0].capacity", "capacity-zero")]),
        (RateLimits((("p", RateLimit(5, 2**64 - 1)),), WISE), [("limits[0].capacity", "capacity-huge")]),
        (RateLimits((), RateLimit(5)), [("aggregate_default_capacity", "no-capacity")]),
        (RateLimits(), [("aggregate_default_qps", "no-default")]),
        (
            RateLimits((), RateLimit(None, 5)),
            [("aggregate_default_capacity", "capacity-without-rate"), ("aggregate_default_qps", "no-default")],
        ),
    ],
)
def test_what_is_legal_and_unwise(limits, found):
    check(limits)
    remarks = list(warnings(limits))
    assert [(remark.field, remark.rule.partition(".")[2]) for remark in remarks] == found
    for remark in remarks:
        assert remark.level == "warning"
        who = "principal 'p'" if remark.field.startswith("limits[0]") else "frameworks that are not listed"
        assert who in remark.sentence


@pytest.mark.parametrize("word", ["*", "web*", "ANY", "any", "%", "web%"])
def test_a_principal_is_no_pattern(word):
    limits = RateLimits((("p", WISE), (word, WISE)), WISE)
    check(limits)
    (remark,) = warnings(limits)
    assert (remark.level, remark.rule, remark.field) == (
        "warning",
        "ratelimit.no-wildcard",
        "limits[1].principal",
    )
    assert f"'{word}'" in remark.sentence


@pytest.mark.parametrize(
    ("limit", "words", "advice"),
    [
        (RateLimit(None, 5), "is ignored", "give {}qps"),
        (RateLimit(5), "memory", "give {}capacity"),
        (RateLimit(5, 2**64 - 1), str(2**64 - 1), "negative"),
        (RateLimit(5, 0), "capacity 0", None),
    ],
)
def test_what_is_unwise_in_the_limit_of_one_queue(limit, words, advice):
    limits = RateLimits((("other", RateLimit(5)), ("p", limit)), limit)
    for principal, prefix, place in (("p", "", "limits[1]."), (None, "aggregate_default_", "aggregate_default_")):
        (remark,) = limit_warnings(limits, principal)
        assert (remark.level, remark.field) == ("warning", f"{place}capacity")
        assert words in remark.sentence
        assert (remark.hint is None) == (advice is None)
        assert advice is None or advice.format(prefix) in (remark.hint or "")
        assert ("principal 'p'" in remark.sentence) == (principal is not None)
        assert ("not listed" in remark.sentence) == (principal is None)
    assert not list(limit_warnings(limits, "stranger"))


def test_the_largest_likely_capacity_is_not_unwise_and_one_more_is():
    most = RateLimit(1, _UNLIKELY_CAPACITY)
    assert not list(warnings(RateLimits((), most)))
    assert list(warnings(RateLimits((), RateLimit(1, _UNLIKELY_CAPACITY + 1))))


def test_without_a_default_the_advice_is_one():
    (remark,) = warnings(RateLimits())
    assert remark.level == "warning"
    assert "never throttled" in remark.sentence
    assert "aggregate_default_qps" in (remark.hint or "")


def test_a_principal_that_nobody_uses():
    limits = RateLimits((("used", WISE), ("misspelt", WISE)), WISE)
    (remark,) = warnings(limits, {"used": ["a"], "other": ["b"]})
    assert (remark.level, remark.field) == ("warning", "limits[1].principal")
    assert remark.rule == "ratelimit.unused-principal"
    assert "'misspelt'" in remark.sentence
    assert "FrameworkInfo.principal" in (remark.hint or "")


@pytest.mark.parametrize(
    ("used", "hint"),
    [
        ({"ops": ["batch", "web"]}, "framework 'batch' has principal 'ops': give the limit to that"),
        ({None: ["batch"]}, "framework 'batch' has no principal, so only the default can limit it"),
    ],
)
def test_a_principal_that_is_the_name_of_a_framework(used: dict[str | None, list[str]], hint: str):
    (remark,) = warnings(RateLimits((("batch", WISE),), WISE), used)
    assert remark.hint == hint


def test_memory_counts_only_capacities_that_count():
    limits = RateLimits(
        (("a", RateLimit(1, 1000)), ("none", RateLimit(1, 0)), ("free", RateLimit(None, 10**9))), RateLimit(1, 24)
    )
    size = 4096 - MESSAGE_OVERHEAD
    plan = plan_memory(limits, memory=2**23, message_size=size)
    assert (plan.messages, plan.worst_case, plan.head_room, plan.fits) == (1024, 2**22, 2**22, True)
    assert not plan_memory(limits, memory=2**22 - 1, message_size=size).fits


def test_a_queue_without_an_end_never_fits():
    limits = RateLimits((("a", RateLimit(1)),), RateLimit(1))
    plan = plan_memory(limits, memory=2**40, message_size=1)
    assert (plan.unbounded, plan.fits) == (("a", None), False)
