"""Spans of time as a person types them, and as Mesos writes them."""

import math
import re

from mesosctl.core.errors import UsageError

_SPAN = re.compile(r"(\d{1,12}(?:\.\d{1,9})?)\s*([a-z]*)", re.ASCII)
_SECONDS = {"ms": 0.001, "": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_MESOS_NAMES = {"secs": "s", "mins": "m", "hrs": "h", "days": "d"}
_MESOS_DURATION = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,18})?)(ns|us|ms|secs|mins|hrs|days|weeks)")
_MESOS_SECONDS = {
    "ns": 1e-9,
    "us": 1e-6,
    "ms": 1e-3,
    "secs": 1.0,
    "mins": 60.0,
    "hrs": 3600.0,
    "days": 86400.0,
    "weeks": 604800.0,
}


def parse_span(text: str, field: str) -> float:
    """Seconds of "90", "1.5s", "10m", "2h", or of Mesos's own "10mins".  Raises UsageError unless above zero."""
    match = _SPAN.fullmatch(text.strip())
    if match is not None:
        number, unit = match.groups()
        factor = _SECONDS.get(_MESOS_NAMES.get(unit, unit))
        if factor is not None and float(number) > 0:
            return float(number) * factor
        if factor is not None:
            raise UsageError(f"'{text}' is no time at all", field=field, hint="write for example 500ms, 30s, 10m or 1h")
    raise UsageError(f"'{text}' is not a span of time", field=field, hint="write for example 500ms, 30s, 10m or 1h")


def parse_seconds(text: str, field: str, least: float) -> float:
    """Seconds of a plain number, or of a span as `parse_span` reads it.  Raises UsageError below `least`."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = parse_span(text, field)
    if not least <= seconds < math.inf:
        raise UsageError(
            f"{field} is {text}: it has to be at least {least:g} seconds",
            field=field,
            hint="write for example 30, 500ms, 5s or 2m",
        )
    return seconds


def parse_duration(text: str) -> float:
    """Seconds of a Mesos duration such as "250ms" or "10mins".  Raises ValueError."""
    match = _MESOS_DURATION.fullmatch(text)
    if match is None:
        raise ValueError(f"'{text}' is not a duration: write a number and ns, us, ms, secs, mins, hrs, days or weeks")
    return float(match[1]) * _MESOS_SECONDS[match[2]]


def utc_text(seconds: float) -> str:
    """A time of day in UTC as ISO 8601 writes it, "2030-12-31T23:59:59.999Z", from seconds since 1970."""
    from datetime import UTC, datetime

    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def format_span(seconds: float) -> str:
    """A span for people, two units at most: "1.50s", "2m05s", "3h20m"."""
    if seconds < 10:
        return f"{seconds:.2f}s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02d}s"
    minutes = round(seconds / 60)
    return f"{minutes // 60}h{minutes % 60:02d}m"
