"""Spans of time as a person types them."""

import re

from mesosctl.core.errors import UsageError

_SPAN = re.compile(r"(\d{1,12}(?:\.\d{1,9})?)\s*([a-z]*)", re.ASCII)
_SECONDS = {"ms": 0.001, "": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_MESOS_NAMES = {"secs": "s", "mins": "m", "hrs": "h", "days": "d"}


def parse_span(text: str, field: str) -> float:
    """Seconds of "90", "1.5s", "10m", "2h", or of Mesos's own "10mins".  Raises UsageError unless above zero."""
    match = _SPAN.fullmatch(text.strip())
    if match is not None:
        number, unit = match.groups()
        factor = _SECONDS.get(_MESOS_NAMES.get(unit, unit))
        if factor is not None and float(number) > 0:
            return float(number) * factor
    raise UsageError(f"'{text}' is not a span of time", field=field, hint="write for example 30s, 10m or 1h")


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
