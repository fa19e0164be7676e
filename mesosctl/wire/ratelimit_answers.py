"""What a master says of rate limits, read into values of core (spec/ratelimits.md §6)."""

from collections import Counter
from typing import Any

from mesosctl.core.message_rates import Counts
from mesosctl.core.ratelimit import RateLimits
from mesosctl.wire.answers import wrong
from mesosctl.wire.ratelimit import from_flag

_PREFIX = "frameworks/"
_RECEIVED, _PROCESSED = "/messages_received", "/messages_processed"


def rate_limits(answer: Any) -> RateLimits | None:
    """`GET /flags`: what the master runs with, or None where it was started without."""
    flags = answer.get("flags") if isinstance(answer, dict) else None
    if not isinstance(flags, dict):
        raise wrong(flags, "an object", "flags")
    text = flags.get("rate_limits")
    if text is None:
        return None
    if not isinstance(text, str):
        raise wrong(text, "a string", "flags.rate_limits")
    return from_flag(text)


def message_counts(answer: Any) -> dict[str, Counts]:
    """`GET /metrics/snapshot`: the counters by principal.

    A principal stands in the name as it is, slashes and all, so only the ends of a name are looked at.
    """
    if not isinstance(answer, dict):
        raise wrong(answer, "an object", "")
    found = {}
    for name, value in answer.items():
        if name.startswith(_PREFIX) and name.endswith(_RECEIVED):
            principal = name[len(_PREFIX) : -len(_RECEIVED)]
            found[principal] = Counts(
                _count(value, name), _count(answer.get(name[: -len(_RECEIVED)] + _PROCESSED, 0), name)
            )
    return dict(sorted(found.items()))


def uptime(answer: Any) -> float | None:
    """`GET /metrics/snapshot`: seconds since the master started, or None where it does not say."""
    value = answer.get("master/uptime_secs") if isinstance(answer, dict) else None
    return float(value) if isinstance(value, int | float) else None


def principals(answer: Any) -> Counter[str | None]:
    """`GET /frameworks`: how many registered frameworks use each principal, None included."""
    listed = answer.get("frameworks", []) if isinstance(answer, dict) else None
    if not isinstance(listed, list) or not all(isinstance(entry, dict) for entry in listed):
        raise wrong(listed, "a list", "frameworks")
    return Counter(entry.get("principal") for entry in listed)


def _count(value: Any, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise wrong(value, "a number", name)
    return int(value)
