"""`GET /slaves`, read into what the capacity heuristic needs (Mesos documentation, "HTTP Endpoints")."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from sys import intern
from typing import Any

from mesosctl.api.protobuf_json.decoding import ConversionError
from mesosctl.api.protobuf_json.interning import Entries, Known, resource_at
from mesosctl.api.protobuf_json.messages import read
from mesosctl.api.protobuf_json.streaming import parts
from mesosctl.api.resources import RESOURCE, to_core
from mesosctl.api.responses import NATURAL, text, texts, undocumented, wrong
from mesosctl.model.errors import RuleViolation, UnexpectedAnswer
from mesosctl.model.quantities import to_milli
from mesosctl.model.quota.capacity import AgentCapacity
from mesosctl.model.reservations.holdings import AgentStatus, RegisteredAgent
from mesosctl.model.reservations.rules import ALL_CAPABILITIES
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
    found, known = AgentCapacities(), Entries()
    for entry, where in in_turn(chunks):
        found.capacities.append(_agent(entry, where, known.read))
        if isinstance(entry.get("id"), str) and isinstance(entry.get("hostname"), str):
            found.names.append({"hostname": entry["hostname"], "id": entry["id"]})
    return found


def in_turn(chunks: Iterable[bytes]) -> Iterator[tuple[Any, str]]:
    """The entries of an answer that arrives in chunks, and their places.

    Raises UnexpectedAnswer if there is no list of them; ConversionError if it is not JSON.
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


@dataclass(frozen=True, slots=True)
class AgentUsage:
    """An agent in or out of service; resources without allocation roles."""

    id: str
    hostname: str
    active: bool
    deactivated: bool
    draining: bool
    capabilities: frozenset[str]
    total: Resources
    used: Resources
    offered: Resources
    attributes: tuple[tuple[str, str | float], ...] = ()
    region: str | None = None
    zone: str | None = None

    @property
    def free(self) -> Resources:
        """Neither used nor offered."""
        return self.total - self.used - self.offered


def agent_usages(answer: Any) -> tuple[list[AgentUsage], int]:
    """Every registered agent, and how many are awaited after a failover.  Raises UnexpectedAnswer."""
    found = []
    for index, capacity in enumerate(agents(answer)):
        where = f"slaves[{index}]"
        try:
            found.append(_agent_usage(answer["slaves"][index], capacity, where))
        except NATURAL as error:
            raise undocumented(error, where) from None
    awaited = answer.get("recovered_slaves", [])
    if not isinstance(awaited, list):
        raise wrong(awaited, "a list", "recovered_slaves")
    return found, len(awaited)


def _agent_usage(entry: Any, capacity: AgentCapacity, where: str) -> AgentUsage:
    return AgentUsage(
        id=text(entry.get("id", "")),
        hostname=text(entry.get("hostname", "")),
        active=capacity.active,
        deactivated=entry.get("deactivated") is True,
        draining="drain_info" in entry,
        capabilities=frozenset(texts(entry.get("capabilities", []))),
        total=capacity.total,
        used=_listed(entry.get("used_resources_full", []), f"{where}.used_resources_full"),
        offered=_listed(entry.get("offered_resources_full", []), f"{where}.offered_resources_full"),
        attributes=_attributes(entry.get("attributes", {}), f"{where}.attributes"),
        **_domain(entry.get("domain", {}), f"{where}.domain"),
    )


def _attributes(part: Any, where: str) -> tuple[tuple[str, str | float], ...]:
    if not isinstance(part, dict):
        raise wrong(part, "an object", where)
    return tuple((name, value if isinstance(value, str) else float(value)) for name, value in part.items())


def _domain(part: Any, where: str) -> dict[str, str | None]:
    """Region and zone, if it has a fault domain."""
    fault = part.get("fault_domain", {}) if isinstance(part, dict) else None
    if not isinstance(fault, dict):
        raise wrong(part, "an object with a fault_domain", where)
    return {key: fault[key]["name"] if key in fault else None for key in ("region", "zone")}


def _listed(part: Any, where: str) -> Resources:
    if not isinstance(part, list):
        raise wrong(part, "a list", where)
    try:
        return Resources(to_core(read(RESOURCE, message, where), where) for message in part).allocated_to(None)
    except (ConversionError, RuleViolation) as error:
        raise UnexpectedAnswer(f"the master's answer is not as documented: {error}", field=where) from None


def _status(entry: Mapping[str, Any], where: str) -> AgentStatus:
    """Return the status of an agent. If it is out of service for several reasons, the operator's own comes first."""
    drain = entry.get("drain_info")
    if drain is not None:
        if not isinstance(drain, dict):
            raise wrong(drain, "an object", f"{where}.drain_info")
        return "drained" if drain.get("state") == "DRAINED" else "draining"
    if entry.get("deactivated") is True:
        return "deactivated"
    return "disconnected" if entry.get("active") is False else "active"


_FULL = ("reserved_resources_full", "unreserved_resources_full")


def registered_agents(chunks: Iterable[bytes]) -> list[RegisteredAgent]:
    """Every registered agent, with its full resources, read from an answer while its chunks arrive.

    Raises UnexpectedAnswer; ConversionError if it is not JSON.
    """
    reader = _Reader()
    return [reader.agent(entry, where) for entry, where in in_turn(chunks)]


def agent_state(answer: Any) -> Resources:
    """Return the resources in an agent's own `/state`.  Raises UnexpectedAnswer."""
    if not isinstance(answer, dict):
        raise wrong(answer, "an object", "")
    return _Reader().total(answer, "state")


class _Reader:
    """Reads agents; values that are equal in thousands of agents are shared."""

    def __init__(self) -> None:
        self._entries = Entries()
        self._resources: Known[str, Resources] = Known()
        self._holdings: Known[str, tuple[Resources, frozenset[str]]] = Known()
        self._sets: Known[frozenset[str], frozenset[str]] = Known()

    def agent(self, entry: Any, where: str) -> RegisteredAgent:
        """One element of `slaves`."""
        if not isinstance(entry, dict):
            raise wrong(entry, "an object", where)
        for key in ("id", "hostname", "pid"):
            if not isinstance(entry.get(key), str):
                raise wrong(entry.get(key), "a string", f"{where}.{key}")
        attributes = entry.get("attributes", {})
        if not isinstance(attributes, dict):
            raise wrong(attributes, "an object", f"{where}.attributes")
        used, users = self._held(entry, f"{where}.used_resources_full")
        offered, offerees = self._held(entry, f"{where}.offered_resources_full")
        domain = _domain(entry.get("domain", {}), f"{where}.domain")
        return RegisteredAgent(
            id=entry["id"],
            hostname=entry["hostname"],
            pid=entry["pid"],
            total=self.total(entry, where),
            used=used,
            offered=offered,
            users=self._sets.get(users | offerees, lambda: users | offerees),
            attributes={
                intern(name): intern(value) if isinstance(value, str) else value for name, value in attributes.items()
            },
            capabilities=self._capabilities(entry.get("capabilities"), f"{where}.capabilities"),
            active=entry.get("active") is not False and entry.get("deactivated") is not True,
            status=_status(entry, where),
            region=domain["region"],
            zone=domain["zone"],
        )

    def _held(self, entry: Mapping[str, Any], where: str) -> tuple[Resources, frozenset[str]]:
        """The resources in the list at `where`, and the roles that they are allocated to."""
        messages = entry.get(where.rpartition(".")[2], [])
        return self._holdings.get(repr(messages), lambda: self._allocated(messages, where))

    def _capabilities(self, listed: Any, where: str) -> frozenset[str]:
        try:
            found = frozenset(texts(listed)) if isinstance(listed, list) else ALL_CAPABILITIES
        except NATURAL as error:
            raise undocumented(error, where) from None
        return self._sets.get(found, lambda: found)

    def total(self, entry: dict[str, Any], where: str) -> Resources:
        """Everything that an agent has."""
        for key in _FULL:
            if key not in entry:
                raise wrong(None, "every resource with its reservations", f"{where}.{key}")
        told = repr([entry[key] for key in _FULL])
        return self._resources.get(told, lambda: Resources(listed(entry, where, self._entries.read)))

    def _allocated(self, messages: Any, where: str) -> tuple[Resources, frozenset[str]]:
        if not isinstance(messages, list):
            raise wrong(messages, "a list", where)
        found: list[Resource] = []
        for index, message in enumerate(messages):
            path = f"{where}[{index}]"
            try:
                found.append(self._entries.read(message, path))
            except (ConversionError, RuleViolation) as error:
                raise UnexpectedAnswer(f"the master's answer is not as documented: {error}", field=path) from None
        roles = frozenset(entry.allocation_role for entry in found if entry.allocation_role)
        return Resources(Resources(found).allocated_to(None)), roles
