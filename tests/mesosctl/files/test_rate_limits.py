"""Rate limits as JSON and as protobuf text, and where JSON is broken."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_master.state import flag_values
from mesosctl.files.rate_limits import RateLimitsMessage
from mesosctl.mesos.cluster.message_rates import MessageCounts
from mesosctl.mesos.errors import BadInput, UnexpectedAnswer
from mesosctl.mesos.messages.protobuf_json.decoding import ConversionError
from mesosctl.mesos.messages.rate_limits import from_flag, from_json, message_counts, principals, rate_limits, to_text
from mesosctl.mesos.rules.rate_limits import RateLimit, RateLimits
from mesosctl.ratelimit.file import validate

LIMIT = st.builds(
    RateLimit,
    st.none() | st.floats(min_value=1e-9, max_value=1e15, allow_nan=False),
    st.none() | st.integers(0, 2**53),
)
LIMITS = st.builds(RateLimits, st.lists(st.tuples(st.text(), LIMIT), max_size=4).map(tuple), LIMIT)


NUMBERS = st.one_of(
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([-1, -0.5, 1.5, 2**53, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 1e30, -1e30, -5]),
)
CAPACITIES = NUMBERS | st.integers(-20, 2**60).map(str)


@given(st.lists(CAPACITIES, max_size=3), st.none() | CAPACITIES)
def test_a_capacity_is_what_a_master_reads_and_told_where_that_is_another_number(capacities, default):
    """The fake master reads each as a real one does; a file with any of them starts a master."""
    document = {
        "limits": [{"principal": f"p{at}", "qps": 1, "capacity": one} for at, one in enumerate(capacities)],
        "aggregate_default_qps": 1,
        **({} if default is None else {"aggregate_default_capacity": default}),
    }
    text = json.dumps(document)
    checked = validate(text, "limits.json", "limits.json")
    assert checked.limits == flag_values.rate_limits(text)
    assert checked.valid
    told = {one.field for one in checked.remarks if one.rule in ("ratelimit.capacity-read", "ratelimit.capacity-huge")}
    read = [limit.capacity for _, limit in checked.limits.entries]
    for at, (written, capacity) in enumerate(zip(capacities, read, strict=True)):
        is_another = capacity != json.loads(str(written) if isinstance(written, str) else json.dumps(written))
        assert f"limits[{at}].capacity" in told or not is_another
        assert f"limits[{at}].capacity" not in told or is_another or (capacity or 0) > 2**53


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("-1", 2**64 - 1),
        ("-5", 2**64 - 5),
        ("1.5", 1),
        ("-0.5", 0),
        ("1e30", 0),
        (str(2**64 - 1), 0),
        (str(2**64), 0),
    ],
)
def test_what_a_real_master_reads(written, read):
    """As 1.4.3 and 1.11.0 show it in their flags."""
    text = f'{{"limits": [{{"principal": "p", "qps": 1, "capacity": {written}}}]}}'
    ((_, limit),) = validate(text, "limits.json", "limits.json").limits.entries
    assert limit.capacity == read


@pytest.mark.parametrize("odd", ["true", '"x"', "[]", "{}", "Infinity", "1e999", "NaN"])
def test_what_is_no_number_is_refused(odd):
    with pytest.raises(BadInput) as refused:
        validate(f'{{"aggregate_default_capacity": {odd}}}', "limits.json", "limits.json")
    assert "aggregate_default_capacity" in refused.value.message


@given(LIMITS)
def test_json_and_flag_text_bring_back_the_same_value(limits):
    assert from_json(RateLimitsMessage.of(limits).content()) == limits
    assert from_flag(to_text(limits)) == limits


@pytest.mark.parametrize(
    ("value", "limits"),
    [
        ({}, RateLimits()),
        ({"limits": {"principal": "p"}}, RateLimits((("p", RateLimit()),))),
        ({"limits": [{"principal": "p", "qps": "2.5", "capacity": "3"}]}, RateLimits((("p", RateLimit(2.5, 3)),))),
        ({"limits": None, "aggregate_default_qps": 1, "unknown": []}, RateLimits((), RateLimit(1.0))),
        ({"limits": [{"principal": "p", "qps": 1, "capacity": -1}]}, RateLimits((("p", RateLimit(1, 2**64 - 1)),))),
    ],
)
def test_what_a_master_reads(value, limits):
    assert from_json(value) == limits


@pytest.mark.parametrize(
    "value", [[], {"limits": [{}]}, {"limits": {}}, {"limits": ["p"]}, {"limits": [{"principal": 1}]}]
)
def test_what_a_master_does_not_read(value):
    with pytest.raises(ConversionError):
        from_json(value)


def test_a_flag_may_be_json_too_and_must_be_something():
    assert from_flag('{"aggregate_default_qps": 2}') == RateLimits((), RateLimit(2.0))
    for broken in ("limits { qps }", "{", "limits { qps: fast }"):
        with pytest.raises(UnexpectedAnswer):
            from_flag(broken)


def test_answers_of_a_master():
    assert rate_limits({"flags": {}}) is None
    assert rate_limits({"flags": {"rate_limits": "aggregate_default_qps: 2\n"}}) == RateLimits((), RateLimit(2.0))
    assert message_counts(
        {
            "frameworks/a/b c/messages_received": 3.0,
            "frameworks/a/b c/messages_processed": 1.0,
            "master/frameworks/x/messages_received": 9.0,
            "frameworks_active": 1.0,
        }
    ) == {"a/b c": MessageCounts(3, 1)}
    assert principals({"frameworks": [{"principal": "p", "name": "a"}, {"name": "b"}, {"principal": "p"}]}) == {
        "p": ["a", ""],
        None: ["b"],
    }


@pytest.mark.parametrize("answer", [None, [], {"flags": 1}, {"flags": {"rate_limits": 1}}])
def test_flags_that_no_master_gives(answer):
    with pytest.raises(UnexpectedAnswer):
        rate_limits(answer)
