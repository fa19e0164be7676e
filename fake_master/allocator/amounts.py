"""Sums that change in place: thousandths by resource name (spec/allocator.md §1).

`mesosctl.core.quantities` has the immutable forms with the same meaning; these are for the inner
loops, where a new object for every agent would cost more than the decision.
"""

from mesosctl.core.resource import Resource
from mesosctl.core.resources import Resources
from mesosctl.core.values import as_sent

Amounts = dict[str, int]
Pairs = tuple[tuple[str, int], ...]
SharedPart = tuple[Resource, int]
"""A shared entry, as one copy, and how many copies there are."""


def add(amounts: Amounts, pairs: Pairs, times: int = 1) -> None:
    """Add `times` the pairs; a name that comes to zero is dropped."""
    for name, amount in pairs:
        total = amounts.get(name, 0) + amount * times
        if total:
            amounts[name] = total
        else:
            amounts.pop(name, None)


def clamped_subtract(amounts: Amounts, pairs: Pairs) -> None:
    """Subtract as Mesos's quantities do: never below zero, and a zero is dropped."""
    for name, amount in pairs:
        left = amounts.get(name, 0) - amount
        if left > 0:
            amounts[name] = left
        else:
            amounts.pop(name, None)


def difference(left: Amounts, right: Amounts) -> Amounts:
    """What is left of each name, zeros dropped."""
    return {name: rest for name, amount in left.items() if (rest := amount - right.get(name, 0)) > 0}


def written(resources: Resources) -> tuple[object, ...]:
    """What two collections have in common that are not only equal, but shown alike too: as they were sent."""
    entries = tuple(resources)
    sent = tuple(as_sent(entry.value) for entry in entries)
    return (entries, sent) if any(sent) else entries


def scalar_pairs(resources: Resources) -> Pairs:
    """Sums of the scalar entries, a shared one counted once."""
    return tuple(resources.scalar_quantities().items())


class Tally:
    """Amounts with shared volumes in them, each counted once an agent however many copies are held there."""

    __slots__ = ("amounts", "copies")

    def __init__(self) -> None:
        self.amounts: Amounts = {}
        self.copies: dict[tuple[str, Resource], int] = {}

    def add_shared(self, agent: str, parts: tuple[SharedPart, ...]) -> None:
        """Copies arrive on an agent."""
        for entry, copies in parts:
            key = (agent, entry)
            if key not in self.copies:
                add(self.amounts, ((entry.name, _scalar(entry)),))
            self.copies[key] = self.copies.get(key, 0) + copies

    def remove_shared(self, agent: str, parts: tuple[SharedPart, ...]) -> None:
        """Copies leave an agent."""
        for entry, copies in parts:
            key = (agent, entry)
            left = self.copies.get(key, 0) - copies
            if left > 0:
                self.copies[key] = left
            elif self.copies.pop(key, None) is not None:
                add(self.amounts, ((entry.name, -_scalar(entry)),))


def _scalar(entry: Resource) -> int:
    return entry.value if isinstance(entry.value, int) else 0
