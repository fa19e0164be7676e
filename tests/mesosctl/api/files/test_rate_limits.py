"""Rate limits as JSON and as protobuf text, and where JSON is broken."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesosctl.api.files.rate_limits import RateLimits as Message
from mesosctl.api.protobuf_json.decoding import ConversionError
from mesosctl.api.rate_limits import from_flag, from_json, message_counts, principals, rate_limits, to_text
from mesosctl.model.errors import UnexpectedAnswer
from mesosctl.model.rate_limits import RateLimit, RateLimits
from mesosctl.planning.message_rates import Counts

LIMIT = st.builds(
    RateLimit,
    st.none() | st.floats(min_value=1e-9, max_value=1e15, allow_nan=False),
    st.none() | st.integers(0, 2**53),
)
LIMITS = st.builds(RateLimits, st.lists(st.tuples(st.text(), LIMIT), max_size=4).map(tuple), LIMIT)


@given(LIMITS)
def test_json_and_flag_text_bring_back_the_same_value(limits):
    assert from_json(Message.of(limits).content()) == limits
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
    ) == {"a/b c": Counts(3, 1)}
    assert principals({"frameworks": [{"principal": "p", "name": "a"}, {"name": "b"}, {"principal": "p"}]}) == {
        "p": ["a", ""],
        None: ["b"],
    }


@pytest.mark.parametrize("answer", [None, [], {"flags": 1}, {"flags": {"rate_limits": 1}}])
def test_flags_that_no_master_gives(answer):
    with pytest.raises(UnexpectedAnswer):
        rate_limits(answer)
