"""The words of traffic that `mesosctl ratelimit simulate` takes."""

import pytest

from mesosctl.mesos.amounts.notation import format_span, parse_span
from mesosctl.mesos.errors import UsageError
from mesosctl.mesos.rules.rate_limit_simulation import parse_traffic


def test_streams_and_bursts_in_order_of_time():
    assert parse_traffic(["a=2/s*1.5@1", "b=2@1.2", "-=1"]) == [
        (0, None),
        (1, "a"),
        (1.2, "b"),
        (1.2, "b"),
        (1.5, "a"),
        (2, "a"),
    ]


def test_a_principal_may_hold_an_equals_sign_and_may_be_empty():
    assert parse_traffic(["x=y=1", "=1"]) == [(0, "x=y"), (0, "")]


@pytest.mark.parametrize("word", ["", "a", "a=", "a=fast", "a=1/s", "a=0/s*5", "a=1/s*5@", "a=-1", "a=1/s*x"])
def test_what_is_no_traffic(word):
    with pytest.raises(UsageError, match="is not traffic"):
        parse_traffic([word])


def test_too_much_traffic():
    with pytest.raises(UsageError, match="more than"):
        parse_traffic(["a=999999/s*999999"])


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 90),
        ("1.5s", 1.5),
        ("10m", 600),
        ("2h", 7200),
        ("250ms", 0.25),
        ("10mins", 600),
        ("1h30m", 5400),
        ("1m 1.5s", 61.5),
    ],
)
def test_spans(text, seconds):
    assert parse_span(text, "--for") == seconds


@pytest.mark.parametrize("text", ["", "s", "-1s", "1 fortnight", "1m30", "1m2m", "30 30", "1h-3m"])
def test_what_is_no_span(text):
    with pytest.raises(UsageError, match="is not a span of time"):
        parse_span(text, "--for")


@pytest.mark.parametrize("text", ["0", "0s", "0.0"])
def test_no_time_at_all_is_no_span(text):
    with pytest.raises(UsageError, match="is not above zero"):
        parse_span(text, "--for")


def test_spans_for_people():
    assert [format_span(s) for s in (0, 9.994, 59.4, 60, 125, 3599, 7260, 172_799, 273_600, 1e300)] == [
        "0.00s",
        "9.99s",
        "59s",
        "1m00s",
        "2m05s",
        "59m59s",
        "2h01m",
        "48h00m",
        "3d04h",
        "1e+300s",
    ]
