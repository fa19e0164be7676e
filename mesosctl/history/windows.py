"""The window of a question about a recording, and its steps, from what people type."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo

from mesosctl.history.records import MICROS, Micros, RecordedCluster, to_micros
from mesosctl.model.errors import UsageError
from mesosctl.model.notation import parse_span, utc_text

_DAY = 86_400 * MICROS
_MOST_STEPS = 10_000


def parse_time(text: str, field: str, end: Micros) -> Micros:
    """A time: a span before the `end` of the recording, such as 30d, or one in ISO 8601 (UTC unless it says).

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
        return to_micros((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp())
    return end - to_micros(parse_span(text, field))


def window_of(cluster: RecordedCluster, since: str | None, until: str | None) -> tuple[Micros, Micros]:
    """The window that options name, within the recording of a cluster; the whole recording by default.

    Raises UsageError for an empty one.
    """
    first, last = cluster.first_seen, cluster.last_seen
    if first is None or last is None:
        raise UsageError(f"nothing of cluster '{cluster.cluster_id}' is recorded yet", field="--history")
    begin = first if since is None else max(first, parse_time(since, "--since", last))
    end = last if until is None else min(last, parse_time(until, "--until", last))
    if begin >= end:
        span = f"{utc_text(first / MICROS)} to {utc_text(last / MICROS)}"
        raise UsageError(
            "there is no time between --since and --until in the recording"
            if first < last
            else "the recording is empty",
            field="--since",
            hint=f"the recording is from {span}",
        )
    return begin, end


def time_zone(name: str) -> tzinfo:
    """A time zone of IANA's list.  Raises UsageError."""
    from zoneinfo import ZoneInfo

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
