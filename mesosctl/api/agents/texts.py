"""The elements of `GET /slaves` and the lists of resources in them, read from the text of a master's answer.

A cluster has tens of thousands of agents, each with four lists.  What has been read once is found again by its text.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, TypeVar

import msgspec

from mesosctl.api.protobuf_json.buffered_text import Run, Shortcut
from mesosctl.api.protobuf_json.interning import Known, ResourceLists
from mesosctl.api.protobuf_json.streaming import parts
from mesosctl.api.responses import wrong
from mesosctl.model.resource import Resource
from mesosctl.model.resources import Resources

Agent = TypeVar("Agent")
Holding = tuple[Resources, frozenset[str]]
"""Resources without allocation roles, and the roles that they are allocated to."""

EMPTY_LIST, EMPTY_OBJECT = msgspec.Raw(b"[]"), msgspec.Raw(b"{}")


def elements(chunks: Iterable[bytes], shortcut: Shortcut, read: Callable[[Any, str], Agent]) -> Iterator[Agent]:
    """The agents of an answer that arrives in chunks; `read` makes those that `shortcut` leaves from JSON and a place.

    Raises UnexpectedAnswer if there is no list of them; ConversionError if it is not JSON.
    """
    listed: Any = None
    for part in parts(chunks, shortcuts={"slaves": shortcut}):
        if part.path != ("slaves",):
            continue
        if part.place is None:
            listed = part.value
        elif isinstance(part.value, Run):
            yield from part.value.values
        else:
            yield read(part.value, part.where)
    if listed != []:
        raise wrong(listed, "a list", "slaves")


class AgentResources:
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


def holding(entries: Iterable[Resource]) -> Holding:
    """The entries without their allocation roles, and these roles."""
    found = Resources(entries)
    roles = frozenset(entry.allocation_role for entry in found if entry.allocation_role)
    return Resources(found.allocated_to(None)), roles


def text_of(raw: msgspec.Raw) -> str:
    """JSON that was not decoded, as text."""
    return str(raw, "utf-8")
