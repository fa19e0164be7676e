"""Resources, spans, times and lists, as people read and write them.

Resources have the syntax of an agent's --resources, `cpus:12;mem(ads):6144;ports:[31000-32000]`, with units for mem and
disk added (Mesos documentation, "Attributes and Resources").
"""

import math
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from mesosctl.mesos import roles
from mesosctl.mesos.amounts.quantities import (
    SIGN,
    Quantities,
    format_milli,
    is_part,
    parse_amount,
    part_of,
    ranges_hint,
    refuse_sign,
)
from mesosctl.mesos.amounts.resource import Reservation, Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.amounts.values import Items, Ranges, Value, value_type
from mesosctl.mesos.errors import RuleViolation, UsageError

_SPAN = re.compile(r"\s*(\d+)\s*-\s*(\d+)\s*", re.ASCII)
_LARGEST_NUMBER = 2**64 - 1


def parse_entries(text: str, default_role: str = roles.DEFAULT_ROLE, whole: Quantities | None = None) -> list[Resource]:
    """The entries of a resource text, one by one and in order, zero amounts included.

    A role other than "*" makes a STATIC reservation, as on an agent.  `cpus:50%` is that part of `whole`.  Raises
    RuleViolation.
    """
    return [_parse_entry(token, default_role, whole) for token in text.split(";") if token.strip()]


def parse_of_agents(
    text: str, default_role: str = roles.DEFAULT_ROLE, whole: Quantities | None = None
) -> list[Resource]:
    """The entries of a text about agents: like `parse_entries`, but `ports:31000` is that one port.

    Agents have ports as ranges, so no agent has a plain number of ports. Raises RuleViolation.
    """
    return [_as_port(entry) for entry in parse_entries(text, default_role, whole)]


def _as_port(entry: Resource) -> Resource:
    value = entry.value
    if entry.name != "ports" or not isinstance(value, int):
        return entry
    port, rest = divmod(value, 1000)
    if rest:
        raise RuleViolation(
            f"ports: {format_milli(value)} is not a port",
            field="ports",
            rule="resource.ranges",
            hint=ranges_hint("ports"),
        )
    return replace(entry, value=Ranges.of([(port, port)]))


def parse_resources(text: str, default_role: str = roles.DEFAULT_ROLE, *, of_agents: bool = False) -> Resources:
    """A resource text as a collection: equal kinds merged, empty values gone; `of_agents` as in `parse_of_agents`.

    Raises RuleViolation, also if one name is given with two types.
    """
    entries = (parse_of_agents if of_agents else parse_entries)(text, default_role)
    check_one_type(entries)
    return Resources(entries)


def check_one_type(entries: Sequence[Resource]) -> None:
    """Raises RuleViolation if one name is given with two types."""
    types: dict[str, str] = {}
    for entry in entries:
        kind = types.setdefault(entry.name, value_type(entry.value))
        if kind != value_type(entry.value):
            raise RuleViolation(
                f"{entry.name} is given both as {kind} and as {value_type(entry.value)}",
                field=entry.name,
                rule="resource.one-type",
            )


def _parse_entry(token: str, default_role: str, whole: Quantities | None = None) -> Resource:
    if (parts := _separated_by_commas(token)) is not None:
        raise RuleViolation(
            f"'{token.strip()}' has commas between resources",
            field=token.strip(),
            rule="resource.text",
            hint=f"separate them with semicolons, in quotes: {shlex.quote(';'.join(parts))}"
            if len(parts) > 1
            else f"write {parts[0]}, without a comma",
        )
    head, colon, value_text = token.partition(":")
    if not colon or ":" in value_text:
        raise RuleViolation(
            f"'{token.strip()}' is not NAME:VALUE",
            field=token.strip(),
            rule="resource.text",
            hint=_example(token.strip(), of_agent=whole is not None),
        )
    name, role = _split_head(head.strip(), token.strip(), default_role)
    refuse_sign(name, value_text.strip())
    value = _parse_value(name, value_text.strip(), whole)
    reservations = () if role == roles.DEFAULT_ROLE else (Reservation("STATIC", role),)
    return Resource(name, value, reservations)


def parse_changed(text: str, now: Mapping[str, int]) -> dict[str, int]:
    """The amounts of a text in which `cpus:+2` is meant as two more than `now`; others keep their amounts.

    One may be below zero.  Raises RuleViolation.
    """
    changed = dict(now)
    for sign, entry in _meant(text):
        if not isinstance(entry.value, int) or entry.is_reserved:
            raise RuleViolation(f"{entry.name} is not a plain amount", field=entry.name, rule=SIGN)
        amount = -entry.value if sign == "-" else entry.value
        changed[entry.name] = now.get(entry.name, 0) + amount if sign else amount
    return changed


def changed_names(text: str) -> list[str]:
    """The resources whose amounts have a sign in a text.  Raises RuleViolation for other faults."""
    return [entry.name for sign, entry in _meant(text) if sign]


def _meant(text: str) -> Iterator[tuple[str, Resource]]:
    """Each entry without its sign, which may be empty."""
    for token in filter(str.strip, text.split(";")):
        found = _WITH_SIGN.fullmatch(token)
        (entry,) = parse_entries(token if found is None else found[1] + found[3])
        yield "" if found is None else found[2], entry


_WITH_SIGN = re.compile(r"([^:]*:\s*)([+-])(.*)", re.DOTALL)
_BETWEEN_COMMAS = re.compile(r"(?:\[[^\]]*\]|\{[^}]*\}|[^,])+")
"""A part of a text that has no comma, but in brackets."""
_BEGINS_RESOURCE = re.compile(r"[^:]*[^:\d][^:]*:")


def _separated_by_commas(token: str) -> list[str] | None:
    """Return the resources that commas separate or follow; None if there are none: ports:[1-2,5-6], cpus:1,5."""
    between = _BETWEEN_COMMAS.findall(token)
    if between == [token]:
        return None
    parts = [part.strip() for part in between if part.strip()]
    return parts if parts and all(map(_BEGINS_RESOURCE.match, parts)) else None


def _example(token: str, *, of_agent: bool) -> str:
    """A hint for a word that is not NAME:VALUE; parts are those of an agent alone."""
    if of_agent and is_part(token):
        return f"name each resource: cpus:{token} mem:{token}"
    return "for example, cpus:12 or mem:6GiB"


def _split_head(head: str, token: str, default_role: str) -> tuple[str, str]:
    """`name(role)` or `name`."""
    opening, closing = head.find("("), head.find(")")
    if opening == -1 and closing == -1:
        name, role = head, default_role
    elif 0 <= opening < closing == len(head) - 1 and head.count("(") == head.count(")") == 1:
        name, role = head[:opening].strip(), head[opening + 1 : closing].strip()
    else:
        raise RuleViolation(f"'{token}' has mismatched parentheses", field=token, rule="resource.text")
    if not name:
        raise RuleViolation(f"'{token}' has no resource name", field=token, rule="resource.name")
    return name, roles.check_role(role, field=token)


def _parse_value(name: str, text: str, whole: Quantities | None) -> Value:
    if whole is not None and name != "ports" and is_part(text):
        return part_of(name, text, whole)
    if text.startswith("["):
        return _parse_ranges(name, text)
    if text.startswith("{"):
        return _parse_set(name, text)
    return parse_amount(name, text)


def _parse_ranges(name: str, text: str) -> Ranges:
    inner = text[1:-1]
    if not text.endswith("]") or "[" in inner or "]" in inner:
        raise RuleViolation(f"{name}: '{text}' has mismatched brackets", field=name, rule="resource.ranges")
    spans = []
    for part in inner.split(",") if inner.strip() else []:
        match = _SPAN.fullmatch(part)
        if match is None or len(part) > 64:
            raise RuleViolation(
                f"{name}: '{part.strip()}' is not BEGIN-END",
                field=name,
                rule="resource.ranges",
                hint=ranges_hint(name),
            )
        begin, end = int(match[1]), int(match[2])
        if begin > end or end > _LARGEST_NUMBER:
            raise RuleViolation(f"{name}: {begin}-{end} is not a range", field=name, rule="resource.ranges")
        spans.append((begin, end))
    return Ranges.of(spans)


def _parse_set(name: str, text: str) -> Items:
    inner = text[1:-1]
    if not text.endswith("}") or "{" in inner or "}" in inner:
        raise RuleViolation(f"{name}: '{text}' has mismatched braces", field=name, rule="resource.set")
    names = [part.strip() for part in inner.split(",") if part.strip()]
    if len(set(names)) != len(names):
        raise RuleViolation(f"{name}: '{text}' contains an item twice", field=name, rule="resource.set")
    return Items.of(names)


_SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)\s*([KMGT]?)(?:i?B)?", re.ASCII | re.IGNORECASE)
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}


def parse_bytes(text: str, field: str) -> int:
    """Bytes of "2GiB", "512MB" or "1024"; KB to TB are powers of 1024, as in Mesos.

    Raises UsageError unless at least one byte.
    """
    match = _SIZE.fullmatch(text.strip())
    size = int(float(match[1]) * 1024 ** _POWERS[match[2].upper()]) if match is not None else 0
    if size < 1:
        raise UsageError(f"'{text}' is not a size", field=field, hint="for example, 2GiB, 512MiB or 1KiB")
    return size


def format_bytes(size: int) -> str:
    """Bytes for people: "1.5 GiB"; below zero with a sign."""
    value, sign = float(abs(size)), "-" if size < 0 else ""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024:
            return f"{sign}{round(value, 2):g} {unit}"
        value /= 1024
    return f"{sign}{round(value, 2):g} TiB"


_SPAN_PART = re.compile(r"(\d{1,12}(?:\.\d{1,9})?)\s*([a-z]*)", re.ASCII)
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


_FRACTION = re.compile(r"((?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)(%?)", re.ASCII)
_SPAN_HINT = "for example, 500ms, 30s, 10m or 1h30m"
LONGEST_SPAN = 10_000 * 366 * 86_400.0
"""Seconds; no calendar has more."""
LONGEST_WAIT = 1e8
"""Seconds: three years, which every clock can wait."""


def parse_fraction(text: str) -> float:
    """A part of a whole, written as 0.2 or 20%; NaN if it is neither."""
    found = _FRACTION.fullmatch(text.strip())
    return float(found[1]) / (100 if found[2] else 1) if found else math.nan


def parse_span(text: str, field: str, most: float = LONGEST_SPAN) -> float:
    """Seconds of "90", "1.5s", "10m", "1h30m", or of Mesos's own "10mins".

    Raises UsageError unless it is above zero and at most `most`, and if a unit is unknown, missing next to another, or
    repeated.
    """
    parts = [] if _SPAN_PART.sub("", text).strip() else _SPAN_PART.findall(text)
    units = [_MESOS_NAMES.get(unit, unit) for _, unit in parts]
    is_span = parts and all(unit in _SECONDS for unit in units)
    if not is_span or (len(units) > 1 and (len(set(units)) < len(units) or "" in units)):
        raise UsageError(f"'{text}' is not a span of time", field=field, hint=_SPAN_HINT)
    seconds = sum(float(number) * _SECONDS[unit] for (number, _), unit in zip(parts, units, strict=True))
    if seconds <= 0:
        raise _not_above_zero(text, field)
    if seconds > most:
        raise UsageError(f"'{text:.60}' is longer than {most / 86_400:,.0f} days", field=field, hint=_SPAN_HINT)
    return seconds


def _not_above_zero(text: str, field: str) -> UsageError:
    return UsageError(f"'{text}' is not above zero", field=field, hint=_SPAN_HINT)


def parse_seconds(text: str, field: str, least: float = 0.0, most: float = LONGEST_WAIT) -> float:
    """Seconds of a plain number, or of a span as `parse_span` reads it.

    Raises UsageError unless it is above zero, and from `least` to `most`.
    """
    if text.lstrip().startswith("+"):
        raise UsageError(f"'{text}' is not a span of time: it has a sign", field=field, hint=_SPAN_HINT)
    try:
        seconds = float(text)
    except ValueError:
        seconds = parse_span(text, field, most)
    if not math.isfinite(seconds):
        raise UsageError(
            f"{field} is {text}: it must be a finite number of seconds, or a span such as 30s",
            field=field,
            hint=_SPAN_HINT,
        )
    if least == 0 and seconds <= 0:
        raise _not_above_zero(text, field)
    if seconds > most:
        raise UsageError(f"{field} is {text}: it must be at most {most:.0f} seconds", field=field, hint=_SPAN_HINT)
    if seconds < least:
        raise UsageError(
            f"{field} is {text}: it must be at least {least:g} seconds",
            field=field,
            hint="for example, 30, 500ms, 5s or 1h30m",
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


_SHORTEST_IN_DAYS = 48 * 3600
"""Seconds; up to here people count hours."""
_LONGEST_IN_DAYS = 1e12
"""Seconds; of a longer span, the digits would say nothing."""


def utc_minute(seconds: float) -> str:
    """A time for people, in UTC: "2026-01-01 00:00"."""
    return utc_text(seconds)[: len("2026-01-01T00:00")].replace("T", " ")


def utc_second(seconds: float) -> str:
    """A time for people, in UTC: "2026-01-01 00:00:00"."""
    return utc_text(seconds)[: len("2026-01-01T00:00:00")].replace("T", " ")


def utc_moment(seconds: float, step: float) -> str:
    """A time of a series that has one every `step` seconds: with its second if that is less than a minute."""
    return utc_second(seconds) if step < 60 else utc_minute(seconds)


def format_span(seconds: float) -> str:
    """A span for people, two units at most: "1.50s", "2m05s", "3h20m", "3d04h"."""
    if seconds < 10:
        return f"{seconds:.2f}s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02d}s"
    if seconds >= _LONGEST_IN_DAYS:
        return f"{seconds:.3g}s"
    if whole >= _SHORTEST_IN_DAYS:
        hours = round(seconds / 3600)
        return f"{hours // 24}d{hours % 24:02d}h"
    minutes = round(seconds / 60)
    return f"{minutes // 60}h{minutes % 60:02d}m"


_DIGITS = re.compile(r"([0-9]+)")


def natural(name: str) -> tuple[object, ...]:
    """The key by which people sort names: agent-2 before agent-10."""
    parts = _DIGITS.split(name)
    numbers = [part.lstrip("0") for part in parts[1::2]]
    return tuple(zip(parts[::2], [*((len(number), number) for number in numbers), (0, "")], strict=True)), name


FEW = 3
"""Names in a sentence that has more to say than these names."""


def listed(names: Sequence[str], most: int = 5) -> str:
    """`a, b and 3 more`: the first few names, and how many more there are."""
    more = f" {and_more(len(names) - most)}" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def and_more(left: int) -> str:
    """`and 3 more`: the end of a list of which only the first are shown."""
    return f"and {left} more"


def counted(number: int, noun: str) -> str:
    """`1 task`, `2 tasks`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
