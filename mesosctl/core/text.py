"""Resources as Mesos writes them in text: `cpus:12;mem(ads):6144;ports:[31000-32000]`.

The syntax is that of an agent's --resources (spec/reservation.md §2.2), with units for mem and
disk added.
"""

import re
from dataclasses import replace

from mesosctl.core import roles
from mesosctl.core.errors import RuleViolation
from mesosctl.core.resource import Reservation, Resource
from mesosctl.core.resources import Resources
from mesosctl.core.scalars import PORTS_HINT, format_milli, parse_amount
from mesosctl.core.values import Items, Ranges, Value, value_type

_SPAN = re.compile(r"\s*(\d+)\s*-\s*(\d+)\s*", re.ASCII)
_LARGEST_NUMBER = 2**64 - 1


def parse_entries(text: str, default_role: str = roles.DEFAULT_ROLE) -> list[Resource]:
    """The entries of a resource text, one by one and in order, zero amounts included.

    A role other than "*" makes a STATIC reservation, as on an agent.  Raises RuleViolation.
    """
    return [_parse_entry(token, default_role) for token in text.split(";") if token.strip()]


def parse_of_agents(text: str, default_role: str = roles.DEFAULT_ROLE) -> list[Resource]:
    """The entries of a text about what agents have: as `parse_entries`, and `ports:31000` is that one port.

    Agents have ports as ranges, so that a plain number of them would be a resource that no agent has.
    Raises RuleViolation.
    """
    return [_as_port(entry) for entry in parse_entries(text, default_role)]


def _as_port(entry: Resource) -> Resource:
    value = entry.value
    if entry.name != "ports" or not isinstance(value, int):
        return entry
    port, rest = divmod(value, 1000)
    if rest:
        raise RuleViolation(
            f"ports: {format_milli(value)} is no port", field="ports", rule="resource.ranges", hint=PORTS_HINT
        )
    return replace(entry, value=Ranges.of([(port, port)]))


def parse_resources(text: str, default_role: str = roles.DEFAULT_ROLE, *, of_agents: bool = False) -> Resources:
    """A resource text as a collection: equal kinds merged, empty values gone; `of_agents` as in `parse_of_agents`.

    Raises RuleViolation, also where one name is given with two types.
    """
    entries = (parse_of_agents if of_agents else parse_entries)(text, default_role)
    types: dict[str, str] = {}
    for entry in entries:
        kind = types.setdefault(entry.name, value_type(entry.value))
        if kind != value_type(entry.value):
            raise RuleViolation(
                f"{entry.name} is given both as {kind} and as {value_type(entry.value)}",
                field=entry.name,
                rule="resource.one-type",
            )
    return Resources(entries)


def _parse_entry(token: str, default_role: str) -> Resource:
    head, colon, value_text = token.partition(":")
    if not colon or ":" in value_text:
        raise RuleViolation(
            f"'{token.strip()}' is not NAME:VALUE",
            field=token.strip(),
            rule="resource.text",
            hint=_likely_text(token.strip()),
        )
    name, role = _split_head(head.strip(), token.strip(), default_role)
    value = _parse_value(name, value_text.strip())
    if isinstance(value, int) and value < 0:
        raise RuleViolation(f"{name}: {value_text.strip()} is below zero", field=name, rule="resource.positive")
    reservations = () if role == roles.DEFAULT_ROLE else (Reservation("STATIC", role),)
    return Resource(name, value, reservations)


def _likely_text(token: str) -> str:
    """A hint: what was probably meant by something that is not NAME:VALUE."""
    name, equals, value = token.partition("=")
    if equals and name and value and ":" not in token:
        return f"write {name}:{value}"
    return "write for example cpus:12 or mem:6GiB"


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


def _parse_value(name: str, text: str) -> Value:
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
                hint=PORTS_HINT.replace("ports", name),
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
        raise RuleViolation(f"{name}: '{text}' names an item twice", field=name, rule="resource.set")
    return Items.of(names)
