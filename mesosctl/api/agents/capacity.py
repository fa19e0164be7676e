"""`GET /slaves`, read into what the capacity heuristic needs."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from mesosctl.api.agents.entry import AgentResources, elements, is_in_service
from mesosctl.api.protobuf_json.buffered_text import Shortcut
from mesosctl.api.responses import Once, wrong
from mesosctl.model.quantities import to_milli
from mesosctl.model.quota.capacity import AgentCapacity
from mesosctl.model.resource import Reservation, Resource
from mesosctl.model.resources import Resources


def agents(answer: Any) -> list[AgentCapacity]:
    """Every registered agent; those only recovered from the registry are not among them.  Raises UnexpectedAnswer."""
    listed = answer.get("slaves") if isinstance(answer, dict) else None
    if not isinstance(listed, list):
        raise wrong(listed, "a list", "slaves")
    ids = Once()
    for index, entry in enumerate(listed):
        if isinstance(entry, dict) and isinstance(entry.get("id"), str):
            ids.take(entry["id"], f"slaves[{index}].id")
    read = AgentResources()
    return [_agent(entry, f"slaves[{index}]", read) for index, entry in enumerate(listed)]


class AgentCapacities(NamedTuple):
    """The fields of agents that the capacity heuristic and the completion of names read."""

    capacities: list[AgentCapacity]
    names: list[dict[str, str]]
    """`id` and `hostname` of each that has both."""


def agent_capacities(chunks: Iterable[bytes]) -> AgentCapacities:
    """Like `agents`, but read from an answer while its chunks arrive.  Raises ConversionError if it is not JSON."""
    found, resources, ids = AgentCapacities([], []), AgentResources(), Once()

    def read(entry: Any, where: str) -> tuple[AgentCapacity, Any, Any]:
        return _agent(entry, where, resources), entry.get("id"), entry.get("hostname")

    def shortcuts() -> Mapping[str, Shortcut]:
        from mesosctl.api.agents import texts  # imported late: it loads msgspec

        return texts.capacities(read)

    for index, (capacity, agent_id, hostname) in enumerate(elements(chunks, shortcuts, read)):
        if isinstance(agent_id, str):
            ids.take(agent_id, f"slaves[{index}].id")
        found.capacities.append(capacity)
        if isinstance(agent_id, str) and isinstance(hostname, str):
            found.names.append({"hostname": hostname, "id": agent_id})
    return found


def _agent(entry: Any, where: str, resources: AgentResources) -> AgentCapacity:
    if not isinstance(entry, dict):
        raise wrong(entry, "an object", where)
    full = "unreserved_resources_full" in entry and "reserved_resources_full" in entry
    total = resources.total(entry, where) if full else Resources(_summarised(entry, where))
    return AgentCapacity(total, active=is_in_service(entry))


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
