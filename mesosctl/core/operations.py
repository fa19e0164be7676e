"""What an operation does to resources (spec/reservation.md §4).

An operation is one or more conversions: something is taken out of a collection and something else
is put in its place.  Amounts never change.  When it may be done is said by `reservation_rules` and `volume_rules`.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from mesosctl.core.errors import Conflict
from mesosctl.core.resource import Resource
from mesosctl.core.resources import Resources
from mesosctl.core.volume_rules import plain_disk


@dataclass(frozen=True, slots=True)
class Conversion:
    """One step: what it takes away and what it puts in its place.

    With nothing consumed it only adds (a further copy of a shared volume).  `to_the_last` says that no
    copy of what is consumed may be left.
    """

    consumed: Resources
    converted: Resources
    to_the_last: bool = False

    def apply(self, to: Resources) -> Resources:
        """`to` with the step done.  Raises Conflict where it does not contain what is consumed."""
        if not to.contains(self.consumed):
            raise Conflict(f"{to} does not contain {self.consumed}", rule="operation.contained")
        left = to - self.consumed
        kinds = {entry.kind for entry in self.consumed} if self.to_the_last else set()
        if any(entry.kind in kinds for entry in left):
            raise Conflict(f"{to} has further copies of {self.consumed}", rule="operation.last-copy")
        return left + self.converted


def apply_all(to: Resources, conversions: Iterable[Conversion]) -> Resources:
    """Every step in turn.  Raises Conflict."""
    for conversion in conversions:
        to = conversion.apply(to)
    return to


def reserve(resources: Resources, source: Resources | None = None) -> list[Conversion]:
    """From what lies below the top reservation, or from `source`, to `resources`."""
    return [Conversion(resources.pop_reservation() if source is None else source, resources)]


def unreserve(resources: Resources) -> list[Conversion]:
    """From each entry to what lies below its top reservation, which may be of use to the next."""
    alone = (Resources([entry]) for entry in resources)
    return [Conversion(entry, entry.pop_reservation()) for entry in alone]


def create(volumes: Resources) -> list[Conversion]:
    """From plain disk to each volume."""
    return [Conversion(Resources([plain_disk(volume)]), Resources([volume])) for volume in volumes]


def destroy(volumes: Resources) -> list[Conversion]:
    """From each volume to plain disk; what it held is gone."""
    return [
        Conversion(Resources([volume]), Resources([plain_disk(volume)]), to_the_last=volume.shared)
        for volume in volumes
    ]


def grow(volume: Resource, addition: Resource) -> list[Conversion]:
    """From a volume and a free piece of the same disk to a larger volume."""
    grown = replace(volume, value=_amount(volume) + _amount(addition))
    return [Conversion(Resources([volume, addition]), Resources([grown]))]


def shrink(volume: Resource, subtract: int) -> list[Conversion]:
    """From a volume to a smaller one and a free piece of `subtract` thousandths."""
    left = replace(volume, value=_amount(volume) - subtract)
    freed = replace(plain_disk(volume), value=subtract)
    return [Conversion(Resources([volume]), Resources([left, freed]))]


def _amount(resource: Resource) -> int:
    assert isinstance(resource.value, int), "a disk is an amount"
    return resource.value
