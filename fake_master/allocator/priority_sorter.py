"""Strict priority: clients of a higher priority first, whatever they hold (seeds/drf.txt, the strict priority module).

Each priority has a sorter of its own, in which its clients share as the options say: clients of
equal priority are served fairly, and their dominant share decides nothing beyond that.  What is
allocated to one priority moves nobody of another.
"""

from collections.abc import Callable, Iterable, Iterator

from fake_master.allocator.amounts import Amounts
from fake_master.allocator.parcels import Parcel
from fake_master.allocator.sorter import Node, Sorter
from mesosctl.core.priorities import Priorities


class PrioritySorter:
    """Clients by priority; an `Ordering`."""

    def __init__(self, priorities: Priorities, make: Callable[[], Sorter]) -> None:
        self._priorities = priorities
        self._make = make
        """Makes the sorter of one priority."""
        self._levels: dict[int, Sorter] = {}
        """By priority, the highest first."""
        self._weights: dict[str, float] = {}

    @property
    def order_lasts(self) -> bool:
        """Whether `order` gives the same again as long as nothing is allocated to those clients."""
        return all(level.order_lasts for level in self._levels.values())

    def walk(self) -> Iterator[Node]:
        """Active clients, priority by priority; each of them is put in order when its turn comes."""
        for level in list(self._levels.values()):
            yield from level.walk()

    def order(self, leaves: Iterable[Node]) -> list[Node]:
        """These active clients of different top-level roles, as `walk` would meet them."""
        by_level: dict[int, list[Node]] = {}
        for leaf in leaves:
            by_level.setdefault(self._priorities.of(leaf.client_path), []).append(leaf)
        return [leaf for level in sorted(by_level, reverse=True) for leaf in self._levels[level].order(by_level[level])]

    def share(self, path: str) -> float:
        """The weighted dominant share of a client."""
        return self._level(path).share(path)

    def add(self, path: str, client: object = None) -> Node:
        """Add an inactive client."""
        return self._level(path).add(path, client)

    def remove(self, path: str) -> None:
        """Remove a client."""
        self._level(path).remove(path)

    def activate(self, path: str) -> None:
        """Let the client take part in the order."""
        self._level(path).activate(path)

    def deactivate(self, path: str) -> None:
        """Leave the client out of the order."""
        self._level(path).deactivate(path)

    def update_weight(self, path: str, weight: float) -> None:
        """Set the weight of a path; it counts among clients of the same priority."""
        self._weights[path] = weight
        for level in self._levels.values():
            level.update_weight(path, weight)

    def allocated(self, leaf: Node, agent: str, parcel: Parcel, *, counted: bool = True) -> None:
        """The client got something."""
        self._level(leaf.client_path).allocated(leaf, agent, parcel, counted=counted)

    def unallocated(self, leaf: Node, agent: str, parcel: Parcel) -> None:
        """The client gave something back."""
        self._level(leaf.client_path).unallocated(leaf, agent, parcel)

    def allocation(self, path: str) -> Amounts:
        """What a client holds, zeros left out."""
        return self._level(path).allocation(path)

    def _level(self, path: str) -> Sorter:
        priority = self._priorities.of(path)
        level = self._levels.get(priority)
        if level is None:
            level = self._levels[priority] = self._make()
            for known, weight in self._weights.items():
                level.update_weight(known, weight)
            self._levels = {number: self._levels[number] for number in sorted(self._levels, reverse=True)}
        return level
