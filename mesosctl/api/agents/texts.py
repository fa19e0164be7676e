"""The elements of `GET /slaves` in long answers, read from their text.

A cluster has tens of thousands of agents, each with four lists of resources.  What has been read once is found again
by its text.
"""

from collections.abc import Mapping
from itertools import chain

import msgspec

from mesosctl.api.agents.entry import (
    Holding,
    attributes_of,
    capabilities_of,
    domain_of,
    holding,
    status_of,
    why_out_of_service,
)
from mesosctl.api.protobuf_json.buffered_text import Shortcut
from mesosctl.api.protobuf_json.decoding import DECODER
from mesosctl.api.protobuf_json.resource_lists import Known, ResourceLists
from mesosctl.api.protobuf_json.typed_elements import EMPTY_LIST, EMPTY_OBJECT, TypedElements, text_of
from mesosctl.model.errors import UnexpectedAnswer
from mesosctl.model.quota.capacity import AgentCapacity
from mesosctl.model.reservations.holdings import RegisteredAgent
from mesosctl.model.resource import Resource
from mesosctl.model.resources import Resources


def agents_in_service() -> Shortcut:
    """Read elements into ids, each with why the agent is out of service; None if it is not."""

    def of_text(entry: _Element) -> tuple[str, str | None]:
        if entry.active and not entry.deactivated:
            return entry.id, None
        has_drain = not isinstance(entry.drain_info, msgspec.UnsetType)
        return entry.id, why_out_of_service(draining=has_drain, deactivated=entry.deactivated)

    return TypedElements(_Element, of_text).read


def capacities() -> Shortcut:
    """Read elements into the capacity of an agent, its id and its host name."""
    resources = _AgentResources()

    def of_text(entry: _ElementWithTotal) -> tuple[AgentCapacity, str, str]:
        total = resources.total(entry.unreserved_resources_full, entry.reserved_resources_full)
        return AgentCapacity(total, active=entry.active and not entry.deactivated), entry.id, entry.hostname

    return TypedElements(_ElementWithTotal, of_text).read


def registered_agents() -> Shortcut:
    """Read elements into registered agents."""
    return TypedElements(_WholeElement, _RegisteredAgents().agent).read


class _Element(msgspec.Struct, gc=False, kw_only=True):
    """An element of `slaves` as most are."""

    id: str
    active: bool = True
    deactivated: bool = False
    drain_info: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class _ElementWithTotal(_Element, kw_only=True):
    hostname: str
    reserved_resources_full: dict[str, msgspec.Raw]
    unreserved_resources_full: msgspec.Raw


class _WholeElement(_ElementWithTotal, kw_only=True):
    pid: str
    used_resources_full: msgspec.Raw = EMPTY_LIST
    offered_resources_full: msgspec.Raw = EMPTY_LIST
    attributes: msgspec.Raw = EMPTY_OBJECT
    capabilities: msgspec.Raw = msgspec.Raw(b"null")
    domain: msgspec.Raw = EMPTY_OBJECT


class _RegisteredAgents:
    """Reads such elements; raises one of `NATURAL` for what needs a closer look.  Equal values are shared."""

    def __init__(self) -> None:
        self._resources = _AgentResources()
        self._sets: Known[frozenset[str], frozenset[str]] = Known()
        self._attributes: Known[str, Mapping[str, str | float]] = Known()
        self._capabilities: Known[str, frozenset[str]] = Known()
        self._domains: Known[str, Mapping[str, str | None]] = Known()

    def agent(self, entry: _WholeElement) -> RegisteredAgent:
        """The agent that an element shows."""
        try:
            return self._agent(entry)
        except UnexpectedAnswer as error:  # which names no place: that of the element is not known here
            raise ValueError(entry.id) from error

    def _agent(self, entry: _WholeElement) -> RegisteredAgent:
        attributes, capabilities, domain = map(text_of, (entry.attributes, entry.capabilities, entry.domain))
        drain = None if isinstance(entry.drain_info, msgspec.UnsetType) else DECODER.decode(text_of(entry.drain_info))
        used, users = self._resources.held(entry.used_resources_full)
        offered, offerees = self._resources.held(entry.offered_resources_full)
        either = users | offerees
        region_and_zone = self._domains.get(domain, lambda: domain_of(DECODER.decode(domain), "domain"))
        return RegisteredAgent(
            id=entry.id,
            hostname=entry.hostname,
            pid=entry.pid,
            total=self._resources.total(entry.unreserved_resources_full, entry.reserved_resources_full),
            used=used,
            offered=offered,
            users=self._sets.get(either, lambda: either),
            attributes=self._attributes.get(
                attributes, lambda: attributes_of(DECODER.decode(attributes), "attributes")
            ),
            capabilities=self._capabilities.get(
                capabilities, lambda: capabilities_of(DECODER.decode(capabilities), "capabilities")
            ),
            active=entry.active and not entry.deactivated,
            status=status_of(drain, "", active=entry.active, deactivated=entry.deactivated),
            region=region_and_zone["region"],
            zone=region_and_zone["zone"],
        )


class _AgentResources:
    """Reads lists of resources as text; raises ValueError for what needs a closer look."""

    def __init__(self) -> None:
        self._lists = ResourceLists()
        self._totals: Known[tuple[str, ...], Resources] = Known()
        self._holdings: Known[str, Holding] = Known()

    def total(self, unreserved: msgspec.Raw, reserved: Mapping[str, msgspec.Raw]) -> Resources:
        """Everything that an agent has, from the unreserved entries and the reserved ones by role."""
        texts = tuple(map(text_of, (unreserved, *reserved.values())))
        return self._totals.get(texts, lambda: Resources(chain.from_iterable(map(self._entries, texts))))

    def _entries(self, text: str) -> list[Resource]:
        return [entry.with_allocation_role(role) for role, entry in self._lists.entries_of_text(text)]

    def held(self, listed: msgspec.Raw) -> Holding:
        """The resources that tasks and executors, or offers, hold."""
        text = text_of(listed)
        return self._holdings.get(text, lambda: self._held(text))

    def _held(self, text: str) -> Holding:
        found = self._lists.entries_of_text(text)
        if any(entry.shared or entry.never_merges for _, entry in found):
            return holding(entry.with_allocation_role(role) for role, entry in found)
        return Resources(entry for _, entry in found), frozenset(role for role, _ in found if role)
