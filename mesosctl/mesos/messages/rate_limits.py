"""Rate limits as a master reads --rate_limits, leniently, and as /flags shows them.

Source: Mesos documentation, "Framework Rate Limiting".

`files.rate_limits` reads the files that people write.

A real master shows the flag as protobuf text, not as the JSON it was given.
"""

import re
from collections.abc import Mapping
from typing import Any

from mesosctl.mesos.cluster.message_rates import HttpFramework, MessageCounts
from mesosctl.mesos.errors import UnexpectedAnswer
from mesosctl.mesos.messages import protobuf_text
from mesosctl.mesos.messages.protobuf_json.message_tables import mesos_message
from mesosctl.mesos.messages.protobuf_json.messages import read
from mesosctl.mesos.messages.responses import wrong
from mesosctl.mesos.rules.rate_limits import RateLimit, RateLimits

_RATE_LIMITS = mesos_message("mesos.v1.RateLimits")


def from_json(value: Any) -> RateLimits:
    """Decoded JSON as a master reads it; the rules of the model are not checked.  Raises ConversionError."""
    message = read(_RATE_LIMITS, value)
    return RateLimits(
        tuple(
            (entry["principal"], RateLimit(entry.get("qps"), entry.get("capacity")))
            for entry in message.get("limits", ())
        ),
        RateLimit(message.get("aggregate_default_qps"), message.get("aggregate_default_capacity")),
    )


# --- As /flags shows them ---------------------------------------------------------------------------


def to_text(limits: RateLimits) -> str:
    """The configuration as /flags shows it."""
    message = {
        "limits": [
            _set({"qps": limit.qps, "principal": principal, "capacity": limit.capacity})
            for principal, limit in limits.entries
        ],
        **_set({"aggregate_default_qps": limits.default.qps, "aggregate_default_capacity": limits.default.capacity}),
    }
    return protobuf_text.to_text(_RATE_LIMITS, message)


def _set(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def from_flag(text: str) -> RateLimits:
    """The value of `rate_limits` in /flags: protobuf text, or JSON.  Raises UnexpectedAnswer."""
    try:
        if text.lstrip().startswith("{"):
            from mesosctl.mesos.messages.protobuf_json.decoding import decode

            return from_json(decode(text))
        return from_json(protobuf_text.from_text(text))
    except ValueError as error:
        raise UnexpectedAnswer(f"the master's rate limits cannot be read: {error}", field="flags.rate_limits") from None


_PREFIX = "frameworks/"
_RECEIVED, _PROCESSED = "/messages_received", "/messages_processed"


def rate_limits(answer: Any) -> RateLimits | None:
    """`GET /flags`: the rate limits of the master, or None if it was started without."""
    flags = answer.get("flags") if isinstance(answer, dict) else None
    if not isinstance(flags, dict):
        raise wrong(flags, "an object", "flags")
    text = flags.get("rate_limits")
    if text is None:
        return None
    if not isinstance(text, str):
        raise wrong(text, "a string", "flags.rate_limits")
    return from_flag(text)


def message_counts(answer: Any) -> dict[str, MessageCounts]:
    """`GET /metrics/snapshot`: the counters by principal.

    A principal is part of the name unescaped, even with slashes, so only the ends of a name are compared.
    """
    if not isinstance(answer, dict):
        raise wrong(answer, "an object", "")
    found = {}
    for name, value in answer.items():
        if name.startswith(_PREFIX) and name.endswith(_RECEIVED):
            principal = name[len(_PREFIX) : -len(_RECEIVED)]
            found[principal] = MessageCounts(
                _count(value, name), _count(answer.get(name[: -len(_RECEIVED)] + _PROCESSED, 0), name)
            )
    return dict(sorted(found.items()))


_CALLS = re.compile(r"master/frameworks/.*/([^/]+)/calls")


def framework_calls(answer: Any) -> dict[str, float]:
    """`GET /metrics/snapshot`: the calls of each framework so far, by its id; masters before 1.9 do not count them."""
    found = {}
    for name, value in answer.items() if isinstance(answer, dict) else ():
        match = _CALLS.fullmatch(name)
        if match and isinstance(value, int | float):
            found[match[1]] = float(value)
    return found


def http_frameworks(answer: Any) -> list[HttpFramework]:
    """`GET /frameworks`: the frameworks that use the HTTP API; a driver has a pid."""
    listed = answer.get("frameworks", []) if isinstance(answer, dict) else []
    return [
        HttpFramework(str(entry["id"]), str(entry.get("name", "")), entry.get("principal"))
        for entry in listed
        if isinstance(entry, dict) and "id" in entry and not entry.get("pid")
    ]


def uptime(answer: Any) -> float | None:
    """`GET /metrics/snapshot`: seconds since the master started, or None if it does not say."""
    value = answer.get("master/uptime_secs") if isinstance(answer, dict) else None
    return float(value) if isinstance(value, int | float) else None


def principals(answer: Any) -> dict[str | None, list[str]]:
    """`GET /frameworks`: the names of the registered frameworks that use each principal, None included."""
    listed = answer.get("frameworks", []) if isinstance(answer, dict) else None
    if not isinstance(listed, list) or not all(isinstance(entry, dict) for entry in listed):
        raise wrong(listed, "a list", "frameworks")
    found: dict[str | None, list[str]] = {}
    for entry in listed:
        found.setdefault(entry.get("principal"), []).append(str(entry.get("name", "")))
    return found


def _count(value: Any, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise wrong(value, "a number", name)
    return int(value)
