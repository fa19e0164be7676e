"""`GET /slaves`, read into what the capacity heuristic needs."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from mesosctl.api.agents.texts import AgentResources, elements
from mesosctl.api.protobuf_json.decoding import ConversionError
from mesosctl.api.protobuf_json.interning import Entries, resource_at
from mesosctl.api.protobuf_json.typed_elements import TypedElements
from mesosctl.api.responses import wrong
from mesosctl.model.errors import RuleViolation, UnexpectedAnswer
from mesosctl.model.quantities import to_milli
from mesosctl.model.quota.capacity import AgentCapacity
from mesosctl.model.resource import Reservation, Resource
from mesosctl.model.resources import Resources

Reader = Callable[[Any, str], Resource]
"""Reads the Resource message at a place."""


def agents(answer: Any) -> list[AgentCapacity]:
    """Every registered agent; those only recovered from the registry are not among them.  Raises UnexpectedAnswer."""
    listed = answer.get("slaves") if isinstance(answer, dict) else None
    if not isinstance(listed, list):
        raise wrong(listed, "a list", "slaves")
    return [_agent(entry, f"slaves[{index}]") for index, entry in enumerate(listed)]


@dataclass(frozen=True, slots=True)
class AgentCapacities:
    """The fields of agents that the capacity heuristic and the completion of names read."""

    capacities: list[AgentCapacity] = field(default_factory=list)
    names: list[dict[str, str]] = field(default_factory=list)
    """`id` and `hostname` of each that has both."""


def agent_capacities(chunks: Iterable[bytes]) -> AgentCapacities:
    """Like `agents`, but read from an answer while its chunks arrive.  Raises ConversionError if it is not JSON."""
    found, known, resources = AgentCapacities(), Entries(), AgentResources()

    def of_text(entry: _Agent) -> _Named:
        total = resources.total(entry.unreserved_resources_full, entry.reserved_resources_full)
        return AgentCapacity(total, active=entry.active and not entry.deactivated), entry.id, entry.hostname

    def of_json(entry: Any, where: str) -> _Named:
        return _agent(entry, where, known.read), entry.get("id"), entry.get("hostname")

    for capacity, agent_id, hostname in elements(chunks, TypedElements(_Agent, of_text).read, of_json):
        found.capacities.append(capacity)
        if isinstance(agent_id, str) and isinstance(hostname, str):
            found.names.append({"hostname": hostname, "id": agent_id})
    return found


class _Agent(msgspec.Struct, gc=False):
    """An element of `slaves` as most are."""

    id: str
    hostname: str
    reserved_resources_full: dict[str, msgspec.Raw]
    unreserved_resources_full: msgspec.Raw
    active: bool = True
    deactivated: bool = False


_Named = tuple[AgentCapacity, Any, Any]
"""The capacity of an agent, its id and its host name."""


def _agent(entry: Any, where: str, reader: Reader = resource_at) -> AgentCapacity:
    if not isinstance(entry, dict):
        raise wrong(entry, "an object", where)
    full = "unreserved_resources_full" in entry and "reserved_resources_full" in entry
    total = Resources(listed(entry, where, reader) if full else _summarised(entry, where))
    return AgentCapacity(total, active=is_in_service(entry))


def is_in_service(entry: Mapping[str, Any]) -> bool:
    """Whether an element of `slaves` is in service."""
    return entry.get("active") is not False and entry.get("deactivated") is not True


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
    """Only amounts, from a master without these lists; reservations count as static ones."""
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
