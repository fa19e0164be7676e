"""`GET /slaves`, read into what the capacity heuristic needs (spec/endpoints.md §2)."""

from collections.abc import Iterator, Mapping
from typing import Any

from mesosctl.core.errors import RuleViolation, UnexpectedAnswer
from mesosctl.core.quota import AgentCapacity
from mesosctl.core.resources import Reservation, Resource, Resources
from mesosctl.core.scalars import to_milli
from mesosctl.wire.answers import wrong
from mesosctl.wire.decoding import ConversionError
from mesosctl.wire.messages import read
from mesosctl.wire.resources import RESOURCE, to_core


def agents(answer: Any) -> list[AgentCapacity]:
    """Every registered agent; those only recovered from the registry are not among them.  Raises UnexpectedAnswer."""
    listed = answer.get("slaves") if isinstance(answer, dict) else None
    if not isinstance(listed, list):
        raise wrong(listed, "a list", "slaves")
    return [_agent(entry, f"slaves[{index}]") for index, entry in enumerate(listed)]


def _agent(entry: Any, where: str) -> AgentCapacity:
    if not isinstance(entry, dict):
        raise wrong(entry, "an object", where)
    full = "unreserved_resources_full" in entry and "reserved_resources_full" in entry
    total = Resources(listed(entry, where) if full else _summarised(entry, where))
    return AgentCapacity(total, active=entry.get("active") is not False and entry.get("deactivated") is not True)


def listed(entry: Mapping[str, Any], where: str) -> Iterator[Resource]:
    """Every resource with its reservations, from the lists that only `/slaves` has."""
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
                yield to_core(read(RESOURCE, message, path), path)
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
