"""Rate limits as a master reads --rate_limits, leniently, and as /flags shows them.

Source: Mesos documentation, "Framework Rate Limiting".

`api.files.rate_limits` reads the files that people write.

A real master shows the flag as protobuf text, not as the JSON it was given:

    limits {
      qps: 55.5
      principal: "foo"
      capacity: 100000
    }
    aggregate_default_qps: 333
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from mesosctl.api.protobuf_json.message_tables import mesos_message
from mesosctl.api.protobuf_json.messages import read
from mesosctl.api.responses import wrong
from mesosctl.model.errors import UnexpectedAnswer
from mesosctl.model.rate_limits import RateLimit, RateLimits
from mesosctl.planning.message_rates import Counts, HttpFramework

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


# --- Protobuf text ----------------------------------------------------------------------------------


def to_text(limits: RateLimits) -> str:
    """The configuration as /flags shows it, fields in the order of their numbers."""
    lines = []
    for principal, limit in limits.entries:
        lines.append("limits {")
        lines.extend(f"  {name}: {text}" for name, text in _texts({"qps": limit.qps}))
        lines.append(f"  principal: {_quoted(principal)}")
        lines.extend(f"  {name}: {text}" for name, text in _texts({"capacity": limit.capacity}))
        lines.append("}")
    default = {"aggregate_default_qps": limits.default.qps, "aggregate_default_capacity": limits.default.capacity}
    lines.extend(f"{name}: {text}" for name, text in _texts(default))
    return "".join(line + "\n" for line in lines)


def _texts(fields: Mapping[str, float | None]) -> Iterator[tuple[str, str]]:
    for name, value in fields.items():
        if isinstance(value, int):
            yield name, str(value)
        elif value is not None:
            short = f"{value:.15g}"
            yield name, short if float(short) == value else f"{value:.17g}"


def _quoted(text: str) -> str:
    named = {ord('"'): '\\"', ord("'"): "\\'", ord("\\"): "\\\\", 10: "\\n", 13: "\\r", 9: "\\t"}
    return '"' + "".join(named.get(b) or (chr(b) if 32 <= b < 127 else f"\\{b:03o}") for b in text.encode()) + '"'


_TOKEN = re.compile(
    r'\s*(?:(?P<open>\w+)\s*:?\s*\{|(?P<close>\})|(?P<name>\w+)\s*:\s*(?P<value>"(?:[^"\\]|\\.)*"|[^\s"}]+))'
)
_ESCAPE = re.compile(rb"\\([0-7]{1,3}|.)", re.DOTALL)
_NAMED = {b"n": b"\n", b"r": b"\r", b"t": b"\t"}


def from_flag(text: str) -> RateLimits:
    """The value of `rate_limits` in /flags: protobuf text, or JSON.  Raises UnexpectedAnswer."""
    try:
        if text.lstrip().startswith("{"):
            from mesosctl.api.protobuf_json.decoding import decode

            return from_json(decode(text))
        return from_json(_from_text(text))
    except ValueError as error:
        raise UnexpectedAnswer(f"the master's rate limits cannot be read: {error}", field="flags.rate_limits") from None


def _from_text(text: str) -> dict[str, Any]:
    """Text format with at most one level of messages.  Raises ValueError."""
    top: dict[str, Any] = {"limits": []}
    current, at, end = top, 0, len(text.rstrip())
    while at < end:
        token = _TOKEN.match(text, at)
        if token is None:
            raise ValueError(f"'{text[at : at + 20].strip()}' is not expected")
        at = token.end()
        if token["open"]:
            current = {}
            top["limits"].append(current)
        elif token["close"]:
            current = top
        else:
            value = token["value"]
            current[token["name"]] = _unquoted(value) if value.startswith('"') else value
    return top


def _unquoted(text: str) -> str:
    def unescaped(match: re.Match[bytes]) -> bytes:
        code = match[1]
        return bytes([int(code, 8)]) if code.isdigit() else _NAMED.get(code, code)

    return _ESCAPE.sub(unescaped, text[1:-1].encode()).decode()


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


def message_counts(answer: Any) -> dict[str, Counts]:
    """`GET /metrics/snapshot`: the counters by principal.

    A principal is part of the name unescaped, even with slashes, so only the ends of a name are compared.
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
