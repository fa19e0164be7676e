"""The offer filters of a client, packed, because there may be millions of them.

A `RefusedResources` contains what was refused and until when; all filters that come from it at the same moment share
it. A filter is only a pair of an agent's number and a refusal's number, in two sorted arrays: 16 bytes.
"""

from array import array
from bisect import bisect_left, insort
from collections.abc import Iterator
from itertools import count
from typing import Any

from mesosctl.mesos.amounts.resources import Resources

_BITS = 32
_SECOND = (1 << _BITS) - 1


class RefusedResources:
    """Resources that clients have refused until a moment, on any number of agents."""

    __slots__ = ("clients", "number", "refused", "until")

    def __init__(self, number: int, refused: Resources, until: float) -> None:
        self.number = number
        self.refused = refused
        """Without allocation roles."""
        self.until = until
        """When it ends, on the allocator's clock."""
        self.clients: list[Any] = []
        """The clients with filters made of it; some may have dropped theirs since."""

    def covers(self, offer: Resources) -> bool:
        """Whether an offer of this, without allocation roles, is filtered.

        An additional or differently labelled resource is not covered; a smaller offer is.
        """
        return offer is self.refused or self.refused.contains(offer)


class Refusals(dict[int, RefusedResources]):
    """The refusals in force, by their numbers, of which 32 bits have enough for a year of new ones every few ms."""

    def __init__(self) -> None:
        super().__init__()
        self._numbers = count()

    def add(self, refused: Resources, until: float) -> RefusedResources:
        """Return a new refusal."""
        number = next(self._numbers)
        refusal = self[number] = RefusedResources(number, refused, until)
        return refusal

    def remove(self, refusal: RefusedResources) -> None:
        """Forget a refusal of which no filter is left."""
        del self[refusal.number]


class ClientFilters:
    """The offer filters of one client. Agents are identified by their numbers (`Agent.sequence`)."""

    __slots__ = ("_by_agent", "_by_refusal", "_refusals", "count")

    def __init__(self, refusals: Refusals) -> None:
        self._refusals = refusals
        self._by_agent = array("Q")
        """Agent and refusal of each filter, in this order of bits."""
        self._by_refusal = array("Q")
        """Refusal and agent of each."""
        self.count = 0
        """How many there are."""

    def __iter__(self) -> Iterator[tuple[int, RefusedResources]]:
        """Yield (agent, refusal) of each."""
        for pair in self._by_refusal:
            yield pair & _SECOND, self._refusals[pair >> _BITS]

    def add(self, agent: int, refusal: RefusedResources) -> None:
        """Add a filter for refused resources on one agent; twice if they are refused twice."""
        insort(self._by_agent, agent << _BITS | refusal.number)
        insort(self._by_refusal, refusal.number << _BITS | agent)
        self.count += 1

    def cover(self, agent: int, offer: Resources) -> bool:
        """Whether any filter on the agent covers an offer of this, without allocation roles."""
        pairs = self._by_agent
        place, end = bisect_left(pairs, agent << _BITS), len(pairs)
        while place < end and pairs[place] >> _BITS == agent:
            if self._refusals[pairs[place] & _SECOND].covers(offer):
                return True
            place += 1
        return False

    def remove_refusal(self, refusal: RefusedResources) -> list[int]:
        """Drop the filters made of a refusal, and return their agents."""
        return self._remove(self._by_refusal, refusal.number, self._by_agent)

    def remove_agent(self, agent: int) -> None:
        """Drop the filters on an agent."""
        if self.count:
            self._remove(self._by_agent, agent, self._by_refusal)

    def move(self, before: int, after: int) -> None:
        """Give the filters on one agent to another."""
        for number in self._remove(self._by_agent, before, self._by_refusal):
            self.add(after, self._refusals[number])

    def clear(self) -> None:
        """Drop all of them."""
        self._by_agent, self._by_refusal, self.count = array("Q"), array("Q"), 0

    def _remove(self, pairs: "array[int]", first: int, swapped: "array[int]") -> list[int]:
        """Drop the pairs that begin with `first` from both arrays, and return their second numbers."""
        start, end = bisect_left(pairs, first << _BITS), bisect_left(pairs, (first + 1) << _BITS)
        beside = [pair & _SECOND for pair in pairs[start:end]]
        del pairs[start:end]
        for second in beside:
            del swapped[bisect_left(swapped, second << _BITS | first)]
        self.count -= len(beside)
        return beside
