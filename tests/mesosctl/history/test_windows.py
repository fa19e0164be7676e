"""The window of a question, and days that have 23 or 25 hours."""

from datetime import UTC, datetime
from itertools import pairwise

import pytest

from mesosctl.history.records import MICROS, RecordedCluster
from mesosctl.history.windows import boundaries, parse_time, time_zone, window_of
from mesosctl.mesos.errors import UsageError

HOUR = 3600 * MICROS


def at(text):
    return round(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * MICROS


def test_a_day_is_as_long_as_it_was_in_its_zone():
    since, until = at("2026-03-28T12:00"), at("2026-03-31T12:00")
    edges = boundaries(since, until, 24 * HOUR, time_zone("Europe/Berlin"))
    assert edges == (at("2026-03-28T23:00"), at("2026-03-29T22:00"), at("2026-03-30T22:00"))
    autumn = boundaries(at("2026-10-24T12:00"), at("2026-10-26T12:00"), 24 * HOUR, time_zone("Europe/Berlin"))
    assert [b - a for a, b in pairwise(autumn)] == [25 * HOUR]


def test_shorter_steps_count_from_midnight():
    edges = boundaries(at("2026-01-01T05:30"), at("2026-01-01T18:00"), 6 * HOUR, UTC)
    assert edges == (at("2026-01-01T06:00"), at("2026-01-01T12:00"))


def test_spans_count_back_from_the_end_of_the_recording():
    cluster = RecordedCluster("c", "m", first_seen=at("2026-01-01T00:00"), last_seen=at("2026-02-01T00:00"))
    assert window_of(cluster, "1d", None) == (at("2026-01-31T00:00"), cluster.last_seen)
    assert window_of(cluster, "90d", "2026-01-02T00:00Z") == (cluster.first_seen, at("2026-01-02T00:00"))
    assert parse_time("2026-01-01T01:00+02:00", "--since", 0) == at("2025-12-31T23:00")
    with pytest.raises(UsageError, match="no time between"):
        window_of(cluster, "1d", "2d")


def test_too_many_steps_are_refused():
    with pytest.raises(UsageError, match="steps"):
        boundaries(0, 10_002 * HOUR, HOUR, UTC)


@pytest.mark.parametrize("text", ["soon", "2026-13-01"])
def test_what_is_no_time_is_refused_for_its_option(text):
    with pytest.raises(UsageError, match=f"'{text}'") as refused:
        parse_time(text, "--since", 0)
    assert refused.value.field == "--since"
    assert refused.value.hint


def test_a_zone_that_does_not_exist_is_refused():
    with pytest.raises(UsageError, match="'Mars/North'") as refused:
        time_zone("Mars/North")
    assert refused.value.field == "--timezone"
    assert "Europe/Berlin" in str(refused.value.hint)


def test_a_window_that_begins_or_ends_with_a_step_has_no_boundary_there():
    days = [at(f"2026-03-0{day}T00:00:00+00:00") for day in (1, 2, 3)]
    assert boundaries(days[0], days[2], 86_400 * MICROS, UTC) == (days[1],)


def test_of_a_cluster_that_was_never_seen_there_is_no_window():
    with pytest.raises(UsageError, match="'c'") as refused:
        window_of(RecordedCluster("c", "http://c"), None, None)
    assert refused.value.field == "--history"
