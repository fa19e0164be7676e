"""Spans of time as people type them, and times as programs read them."""

import pytest

from mesosctl.mesos.amounts.notation import parse_seconds, utc_text
from mesosctl.mesos.errors import UsageError


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("30", 30),
        ("0.5", 0.5),
        ("1e3", 1000),
        ("500ms", 0.5),
        ("5s", 5),
        ("2m", 120),
        ("1h", 3600),
        ("10mins", 600),
        ("1h30m", 5400),
    ],
)
def test_seconds_are_a_number_or_a_span(text, seconds):
    assert parse_seconds(text, "--timeout", 0.001) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "soon", "5 minutes", "-5s", "0", "-1", "nan", "inf", "0.0001s", "s5"])
def test_what_is_no_span_is_refused(text):
    with pytest.raises(UsageError) as error:
        parse_seconds(text, "--timeout", 0.001)
    assert error.value.field == "--timeout"
    assert "500ms" in (error.value.hint or "")


def test_a_time_of_day_is_written_in_utc():
    assert utc_text(1_900_000_000.25) == "2030-03-17T17:46:40.250Z"
