"""`GET /slaves`, read into what the capacity heuristic needs (spec/endpoints.md §2)."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from mesosctl.core.capacity import AgentCapacity
from mesosctl.core.errors import RuleViolation, UnexpectedAnswer
from mesosctl.core.resource import Reservation, Resource
from mesosctl.core.resources import Resources
from mesosctl.core.scalars import to_milli
from mesosctl.wire.answers import wrong
from mesosctl.wire.decoding import ConversionError
from mesosctl.wire.parts import parts
from mesosctl.wire.resource_lists import Entries, resource_at

Reader = Callable[[Any, str], Resource]
"""Reads the Resource message that stands at a place."""


def agents(answer: Any) -> list[AgentCapacity]:
    """Every registered agent; those only recovered from the registry are not among them.  Raises UnexpectedAnswer."""
    listed = answer.get("slaves") if isinstance(answer, dict) else None
    if not isinstance(listed, list):
        raise wrong(listed, "a list", "slaves")
    return [_agent(entry, f"slaves[{index}]") for index, entry in enumerate(listed)]


@dataclass(frozen=True, slots=True)
class Registered:
    """All that the capacity heuristic, and whoever completes their names, wants of many agents."""

    capacities: list[AgentCapacity] = field(default_factory=list)
    names: list[dict[str, str]] = field(default_factory=list)
    """`id` and `hostname` of each that has both."""


def registered(chunks: Iterable[bytes]) -> Registered:
    """As `agents`, of an answer that comes in chunks, read as it comes.  Raises ConversionError where it is no JSON."""
    found, known = Registered(), Entries()
    for entry, where in in_turn(chunks):
        found.capacities.append(_agent(entry, where, known.read))
        if isinstance(entry.get("id"), str) and isinstance(entry.get("hostname"), str):
            found.names.append({"hostname": entry["hostname"], "id": entry["id"]})
    return found


def in_turn(chunks: Iterable[bytes]) -> Iterator[tuple[Any, str]]:
    """The entries of an answer that comes in chunks, and where they stand.

    Raises UnexpectedAnswer where there is no list of them; ConversionError where it is no JSON.
    """
    listed: Any = None
    for part in parts(chunks):
        if part.path == ("slaves",) and part.place is not None:
            yield part.value, part.where
        elif part.path == ("slaves",):
            listed = part.value
    if listed != []:
        raise wrong(listed, "a list", "slaves")


def _agent(entry: Any, where: str, reader: Reader = resource_at) -> AgentCapacity:
    if not isinstance(entry, dict):
        raise wrong(entry, "an object", where)
    full = "unreserved_resources_full" in entry and "reserved_resources_full" in entry
    total = Resources(listed(entry, where, reader) if full else _summarised(entry, where))
    return AgentCapacity(total, active=entry.get("active") is not False and entry.get("deactivated") is not True)


def listed(entry: Mapping[str, Any], where: str, reader: Reader = resource_at) -> Iterator[Resource]:
    """Every resource with its reservations, from the lists that only `/slaves` has; `reader` reads one."""
    reserved = entry["reserved_resources_full"]
    if not isinstance(reserved, dict):
        raise wrong(reserved, "an object", f"{where}.reserved_resources_full")
    parts = {"unreserved_resources_full": entry["unreserved_resources_full"]}
    parts |= {f"reserved_resources_full.{role}": part for role, part in reserved.items()}
    for key, part in parts.items():
        if not isinstance(part, list):
            raise wrong(part, "a list", f"{where}.{key}")
        for index, message in enumerate(part):
            path = f"{where}.{key}[{index}]"
            try:
                yield reader(message, path)
            except (ConversionError, RuleViolation) as error:
                raise UnexpectedAnswer(f"the master's answer is not as documented: {error}", field=path) from None


def _summarised(entry: Mapping[str, Any], where: str) -> Iterator[Resource]:
    """Amounts alone, from a master without these lists; what is reserved counts as reserved by the agent."""
    reserved = entry.get("reserved_resources", {})
    if not isinstance(reserved, dict):
        raise wrong(reserved, "an object", f"{where}.reserved_resources")
    for role, part in reserved.items():
        for resource in _amounts(part, f"{where}.reserved_resources.{role}"):
            yield Resource(resource.name, resource.value, (Reservation("STATIC", role),))
    yield from _amounts(entry.get("unreserved_resources"), f"{where}.unreserved_resources")


def _amounts(part: Any, where: str) -> Iterator[Resource]:
    if not isinstance(part, dict):
        raise wrong(part, "an object", where)
    for name, amount in part.items():
        if isinstance(amount, str) or name.endswith("_revocable"):
            continue
        if isinstance(amount, bool) or not isinstance(amount, int | float):
            raise wrong(amount, "a number", f"{where}.{name}")
        yield Resource(name, to_milli(amount))
