"""`GET /slaves`, read into agents with their reservations and what is in use of them."""

from collections.abc import Iterable, Mapping
from sys import intern
from typing import Any

import msgspec

from mesosctl.api.agents.capacity import is_in_service, listed
from mesosctl.api.agents.texts import EMPTY_LIST, EMPTY_OBJECT, AgentResources, Holding, elements, holding, text_of
from mesosctl.api.protobuf_json.decoding import DECODER, ConversionError
from mesosctl.api.protobuf_json.interning import Entries, Known
from mesosctl.api.protobuf_json.typed_elements import TypedElements
from mesosctl.api.responses import NATURAL, texts, undocumented, wrong
from mesosctl.model.errors import RuleViolation, UnexpectedAnswer
from mesosctl.model.reservations.holdings import AgentStatus, RegisteredAgent
from mesosctl.model.reservations.rules import ALL_CAPABILITIES
from mesosctl.model.resource import Resource
from mesosctl.model.resources import Resources

_FULL = ("reserved_resources_full", "unreserved_resources_full")


def registered_agents(chunks: Iterable[bytes]) -> list[RegisteredAgent]:
    """Every registered agent, with its full resources, read from an answer while its chunks arrive.

    Raises UnexpectedAnswer; ConversionError if it is not JSON.
    """
    return list(elements(chunks, TypedElements(_Agent, _TextReader().agent).read, _Reader().agent))


def agent_state(answer: Any) -> Resources:
    """Return the resources in an agent's own `/state`.  Raises UnexpectedAnswer."""
    if not isinstance(answer, dict):
        raise wrong(answer, "an object", "")
    return _Reader().total(answer, "state")


class _Agent(msgspec.Struct, gc=False):
    """An element of `slaves` as most are."""

    id: str
    hostname: str
    pid: str
    reserved_resources_full: dict[str, msgspec.Raw]
    unreserved_resources_full: msgspec.Raw
    used_resources_full: msgspec.Raw = EMPTY_LIST
    offered_resources_full: msgspec.Raw = EMPTY_LIST
    attributes: msgspec.Raw = EMPTY_OBJECT
    capabilities: msgspec.Raw = msgspec.Raw(b"null")
    domain: msgspec.Raw = EMPTY_OBJECT
    drain_info: msgspec.Raw = msgspec.Raw(b"null")
    active: bool = True
    deactivated: bool = False


class _TextReader:
    """Reads such elements; raises one of `NATURAL` for what needs a closer look.  Equal values are shared."""

    def __init__(self) -> None:
        self._resources = AgentResources()
        self._sets: Known[frozenset[str], frozenset[str]] = Known()
        self._attributes: Known[str, Mapping[str, str | float]] = Known()
        self._capabilities: Known[str, frozenset[str]] = Known()
        self._domains: Known[str, Mapping[str, str | None]] = Known()

    def agent(self, entry: _Agent) -> RegisteredAgent:
        """The agent that an element shows."""
        try:
            return self._agent(entry)
        except UnexpectedAnswer as error:  # which names no place: that of the element is not known here
            raise ValueError(entry.id) from error

    def _agent(self, entry: _Agent) -> RegisteredAgent:
        attributes, capabilities, domain, drain = map(
            text_of, (entry.attributes, entry.capabilities, entry.domain, entry.drain_info)
        )
        used, users = self._resources.held(entry.used_resources_full)
        offered, offerees = self._resources.held(entry.offered_resources_full)
        either = users | offerees
        region_and_zone = self._domains.get(domain, lambda: _domain(DECODER.decode(domain), "domain"))
        return RegisteredAgent(
            id=entry.id,
            hostname=entry.hostname,
            pid=entry.pid,
            total=self._resources.total(entry.unreserved_resources_full, entry.reserved_resources_full),
            used=used,
            offered=offered,
            users=self._sets.get(either, lambda: either),
            attributes=self._attributes.get(attributes, lambda: _attributes(DECODER.decode(attributes), "attributes")),
            capabilities=self._capabilities.get(
                capabilities, lambda: _capabilities(DECODER.decode(capabilities), "capabilities")
            ),
            active=entry.active and not entry.deactivated,
            status=_status(DECODER.decode(drain), "", active=entry.active, deactivated=entry.deactivated),
            region=region_and_zone["region"],
            zone=region_and_zone["zone"],
        )


class _Reader:
    """Reads agents from decoded JSON; values that are equal in thousands of agents are shared."""

    def __init__(self) -> None:
        self._entries = Entries()
        self._resources: Known[str, Resources] = Known()
        self._holdings: Known[str, Holding] = Known()
        self._sets: Known[frozenset[str], frozenset[str]] = Known()

    def agent(self, entry: Any, where: str) -> RegisteredAgent:
        """One element of `slaves`."""
        if not isinstance(entry, dict):
            raise wrong(entry, "an object", where)
        for key in ("id", "hostname", "pid"):
            if not isinstance(entry.get(key), str):
                raise wrong(entry.get(key), "a string", f"{where}.{key}")
        attributes = _attributes(entry.get("attributes", {}), f"{where}.attributes")
        used, users = self._held(entry, f"{where}.used_resources_full")
        offered, offerees = self._held(entry, f"{where}.offered_resources_full")
        domain = _domain(entry.get("domain", {}), f"{where}.domain")
        capabilities = _capabilities(entry.get("capabilities"), f"{where}.capabilities")
        return RegisteredAgent(
            id=entry["id"],
            hostname=entry["hostname"],
            pid=entry["pid"],
            total=self.total(entry, where),
            used=used,
            offered=offered,
            users=self._sets.get(users | offerees, lambda: users | offerees),
            attributes=attributes,
            capabilities=self._sets.get(capabilities, lambda: capabilities),
            active=is_in_service(entry),
            status=_status(
                entry.get("drain_info"),
                where,
                active=entry.get("active") is not False,
                deactivated=entry.get("deactivated") is True,
            ),
            region=domain["region"],
            zone=domain["zone"],
        )

    def _held(self, entry: Mapping[str, Any], where: str) -> Holding:
        """The resources in the list at `where`, and the roles that they are allocated to."""
        messages = entry.get(where.rpartition(".")[2], [])
        return self._holdings.get(repr(messages), lambda: self._allocated(messages, where))

    def total(self, entry: dict[str, Any], where: str) -> Resources:
        """Everything that an agent has."""
        for key in _FULL:
            if key not in entry:
                raise wrong(None, "every resource with its reservations", f"{where}.{key}")
        told = repr([entry[key] for key in _FULL])
        return self._resources.get(told, lambda: Resources(listed(entry, where, self._entries.read)))

    def _allocated(self, messages: Any, where: str) -> Holding:
        if not isinstance(messages, list):
            raise wrong(messages, "a list", where)
        found: list[Resource] = []
        for index, message in enumerate(messages):
            path = f"{where}[{index}]"
            try:
                found.append(self._entries.read(message, path))
            except (ConversionError, RuleViolation) as error:
                raise UnexpectedAnswer(f"the master's answer is not as documented: {error}", field=path) from None
        return holding(found)


def _attributes(part: Any, where: str) -> Mapping[str, str | float]:
    if not isinstance(part, dict):
        raise wrong(part, "an object", where)
    return {intern(name): intern(value) if isinstance(value, str) else value for name, value in part.items()}


def _capabilities(part: Any, where: str) -> frozenset[str]:
    try:
        return frozenset(texts(part)) if isinstance(part, list) else ALL_CAPABILITIES
    except NATURAL as error:
        raise undocumented(error, where) from None


def _domain(part: Any, where: str) -> Mapping[str, str | None]:
    """Region and zone, if it has a fault domain."""
    fault = part.get("fault_domain", {}) if isinstance(part, dict) else None
    if not isinstance(fault, dict):
        raise wrong(part, "an object with a fault_domain", where)
    try:
        return {key: fault[key]["name"] if key in fault else None for key in ("region", "zone")}
    except NATURAL as error:
        raise undocumented(error, where) from None


def _status(drain: Any, where: str, *, active: bool, deactivated: bool) -> AgentStatus:
    """Return the status of an agent. If it is out of service for several reasons, the operator's own comes first."""
    if drain is not None:
        if not isinstance(drain, dict):
            raise wrong(drain, "an object", f"{where}.drain_info")
        return "drained" if drain.get("state") == "DRAINED" else "draining"
    if deactivated:
        return "deactivated"
    return "active" if active else "disconnected"
