"""Calendar months of a time zone, as spans of time."""

from collections.abc import Iterator
from datetime import datetime, tzinfo

from mesosctl.history.records import MICROS, Micros, to_micros

_LAST = 9999 * 12 + 11


def month_begin(number: int, zone: tzinfo) -> Micros:
    """The first moment of a month; `number` counts from January of year 0."""
    return to_micros(datetime(number // 12, number % 12 + 1, 1, tzinfo=zone).timestamp())


def month_end(number: int, zone: tzinfo) -> Micros:
    """The first moment after a month; the last December of the calendar has no month after it."""
    if number == _LAST:
        return month_begin(number, zone) + 31 * 86_400 * MICROS
    return month_begin(number + 1, zone)


def month_at(at: Micros, zone: tzinfo) -> int:
    """The number of the month that has this moment."""
    day = datetime.fromtimestamp(at // MICROS, zone)
    return day.year * 12 + day.month - 1


def month_text(number: int) -> str:
    """A month as `2026-11`."""
    return f"{number // 12:04}-{number % 12 + 1:02}"


def months_of(since: Micros, until: Micros, zone: tzinfo) -> Iterator[tuple[int, Micros, Micros]]:
    """Yield each month of a span, with the first and the last moment of it in the span."""
    number = month_at(since, zone)
    while since < until:
        end = until if number == _LAST else min(until, month_end(number, zone))
        yield number, since, end
        since, number = end, number + 1
