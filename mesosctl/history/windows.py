"""The window of a question about a recording, and its steps, from what people type."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

from mesosctl.history.months import month_at, month_begin
from mesosctl.history.records import MICROS, Gap, Micros, RecordedCluster, to_micros
from mesosctl.mesos.amounts.notation import parse_span, utc_text
from mesosctl.mesos.errors import UsageError

_DAY = 86_400 * MICROS
_MOST_STEPS = 10_000
_FIRST_YEAR = 1970
_MONTH = re.compile(r"(\d{4})-(0[1-9]|1[0-2])", re.ASCII)
_MONTHS = re.compile(r"(\d{1,3})\s*mo", re.ASCII)


def parse_time(text: str, field: str, end: Micros, zone: tzinfo = UTC) -> Micros:
    """A time: a span before the `end` of the recording, such as 30d, or one in ISO 8601 (in `zone` unless it says).

    Raises UsageError.
    """
    if "-" in text:
        try:
            at = datetime.fromisoformat(text)
        except ValueError:
            raise UsageError(
                f"'{text}' is not a time",
                field=field,
                hint="write 2026-03-01, 2026-03-01T08:00Z, or a span such as 30d",
            ) from None
        return to_micros((at if at.tzinfo else at.replace(tzinfo=zone)).timestamp())
    return end - to_micros(parse_span(text, field))


def window_of(cluster: RecordedCluster, since: str | None, until: str | None) -> tuple[Micros, Micros]:
    """The window that options name, within the recording of a cluster; the whole recording by default.

    Raises UsageError for an empty one.
    """
    asked = asked_window(cluster, since, until)
    first, last = _recorded(cluster)
    return max(first, asked.since), min(last, asked.until)


@dataclass(frozen=True, slots=True)
class AskedWindow:
    """A window as it was asked for, and what of it lies before the recording began and after it ended."""

    since: Micros
    until: Micros
    outside: tuple[Gap, ...] = ()


def asked_window(
    cluster: RecordedCluster, since: str | None, until: str | None, zone: tzinfo = UTC, month: str | None = None
) -> AskedWindow:
    """The window that options name, of which some is in the recording of a cluster; the whole recording by default.

    Raises UsageError for an empty one, and for a month with another span.
    """
    first, last = _recorded(cluster)
    if month is not None and (since is not None or until is not None):
        raise UsageError("--month is a span of its own", field="--month", hint="leave out --since and --until")
    if month is not None:
        begin, end = _month(month, zone)
    else:
        begin = first if since is None else parse_time(since, "--since", last, zone)
        end = last if until is None else parse_time(until, "--until", last, zone)
    if max(begin, first) >= min(end, last):
        span = f"{utc_text(first / MICROS)} to {utc_text(last / MICROS)}"
        raise UsageError(
            "the recording is empty"
            if first >= last
            else f"nothing of {month} is in the recording"
            if month is not None
            else "there is no time between --since and --until in the recording",
            field="--since" if month is None else "--month",
            hint=f"the recording is from {span}",
        )
    outside = [Gap(*span) for span in ((begin, first), (last, end)) if span[0] < span[1]]
    return AskedWindow(begin, end, tuple(outside))


def _recorded(cluster: RecordedCluster) -> tuple[Micros, Micros]:
    """The first and the last moment of a recording.  Raises UsageError if it has none."""
    first, last = cluster.first_seen, cluster.last_seen
    if first is None or last is None:
        raise UsageError(f"nothing of cluster '{cluster.cluster_id}' is recorded yet", field="--history")
    return first, last


def _month(text: str, zone: tzinfo) -> tuple[Micros, Micros]:
    """A calendar month, such as 2026-11.  Raises UsageError."""
    found = _MONTH.fullmatch(text.strip())
    number = int(found[1]) * 12 + int(found[2]) - 1 if found else 0
    if not found or not _FIRST_YEAR * 12 <= number < 9999 * 12:
        raise UsageError(f"'{text}' is not a month", field="--month", hint="for example, 2026-11")
    return month_begin(number, zone), month_begin(number + 1, zone)


def time_zone(name: str) -> tzinfo:
    """A time zone of IANA's list.  Raises UsageError."""
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise UsageError(
            f"there is no time zone '{name}'", field="--timezone", hint="for example, Europe/Berlin or UTC"
        ) from None


def step_of(text: str, field: str) -> Micros:
    """A span of a second or more, for a step or a half-life.  Raises UsageError."""
    seconds = parse_span(text, field)
    if seconds < 1:
        raise UsageError(f"'{text}' is shorter than a second", field=field, hint="for example, 6h, 1d or 90m")
    return to_micros(seconds)


def months_of_step(text: str) -> int | None:
    """How many calendar months a step has, such as 3 of `3mo`; None for a span of another kind.

    Raises UsageError for none.
    """
    found = _MONTHS.fullmatch(text.strip())
    if found is None:
        return None
    if not int(found[1]):
        raise UsageError(f"'{text}' is not above zero", field="--step", hint="for example, 1mo")
    return int(found[1])


def month_boundaries(since: Micros, until: Micros, months: int, zone: tzinfo) -> tuple[Micros, ...]:
    """The first moments of months in a window, some months apart, counted from the month in which it begins."""
    first, last = month_at(since, zone), month_at(until, zone)
    edges = (month_begin(number, zone) for number in range(first + months, last + 1, months))
    return tuple(edge for edge in edges if since < edge < until)


def boundaries(since: Micros, until: Micros, step: Micros, zone: tzinfo) -> tuple[Micros, ...]:
    """The moments between two steps; steps of whole days begin at midnight, others are counted from midnight.

    A day has 23 or 25 hours where clocks are changed.  Raises UsageError for too many steps.
    """
    if (until - since) // step > _MOST_STEPS:
        raise UsageError(
            f"more than {_MOST_STEPS} steps", field="--step", hint="make the steps longer, or the window shorter"
        )
    return tuple(edge for edge in _edges(since, until, step, zone) if since < edge < until)


def _edges(since: Micros, until: Micros, step: Micros, zone: tzinfo) -> Iterator[Micros]:
    first = datetime.fromtimestamp(since / MICROS, zone).date()

    def midnight(days: int) -> Micros:
        try:
            day = first + timedelta(days=days)
        except OverflowError:  # after the year 9999, and so after `until`
            return until
        return to_micros(datetime(day.year, day.month, day.day, tzinfo=zone).timestamp())

    if step % _DAY == 0:
        days = 0
        while (edge := midnight(days)) < until:
            yield edge
            days += step // _DAY
        return
    edge = midnight(0)
    while edge < until:
        yield edge
        edge += step
