"""Resources as a collection, and its algebra (Mesos documentation, "Attributes and Resources").

`Resources` is ordered and immutable, and entries of the same kind are merged if Mesos merges
them.  The order is part of the value's behaviour: it is visible in offers and decides which entry a
subtraction takes first.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import chain
from typing import Literal, Self

from mesosctl.mesos.amounts.amount_text import enumerated
from mesosctl.mesos.amounts.quantities import REVOCABLE, Quantities
from mesosctl.mesos.amounts.resource import REVOCABILITIES, Kind, Resource, Revocability
from mesosctl.mesos.amounts.values import (
    Value,
    value_add,
    value_is_empty,
    value_quantity,
    value_subtract,
    value_sum,
    value_times,
)


class Resources(tuple[Resource, ...]):
    """An ordered collection of entries, merged as Mesos merges them.  Immutable.

    Over-subtraction is silent and an entry that becomes empty is replaced by the last one, as in
    Mesos; use `contains` first if that matters.
    """

    __slots__ = ()

    def __new__(cls, entries: Iterable[Resource] = ()) -> Self:
        """Merge the entries."""
        return super().__new__(cls, _merged(entries))

    @classmethod
    def sum_of(cls, parts: "Sequence[Resources]") -> "Resources":
        """Return the collection of all entries of `parts`, in order; an object that is there often is added once.

        Thousands of offers share the same few objects.
        """
        counts = Counter(map(id, parts))
        if len(counts) == len(parts):
            return cls(chain.from_iterable(parts))
        once = dict(zip(map(id, parts), parts, strict=True))
        if any(entry.shared or entry.never_merges for part in once.values() for entry in part):
            return cls(chain.from_iterable(parts))
        return cls(
            entry.with_value(value_times(entry.value, counts[of])) if counts[of] > 1 else entry
            for of, part in once.items()
            for entry in part
        )

    @classmethod
    def _trusted(cls, entries: Iterable[Resource]) -> "Resources":
        """Return a collection of entries that need no merging."""
        return tuple.__new__(cls, entries)

    def __add__(self, other: "Resources") -> "Resources":  # type: ignore[override]  # a sum, not a longer tuple
        merged = list(self)
        for entry in other:
            _add(merged, entry)
        return Resources._trusted(merged)

    def __sub__(self, other: "Resources") -> "Resources":
        left = list(self)
        for entry in other:
            _subtract(left, entry)
        return Resources._trusted(left)

    def contains(self, other: "Resources") -> bool:
        """Whether each entry of `other` is covered; only volumes are used up while looking."""
        left = list(self)
        for needed in other:
            if not any(entry.contains(needed) for entry in left):
                return False
            if needed.is_persistent_volume:
                _subtract(left, needed)
        return True

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Resources):
            return NotImplemented
        return tuple.__eq__(self, other) or (self.contains(other) and other.contains(self))

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None  # type: ignore[assignment]  # equality ignores order, so hashing the entries would lie

    @property
    def in_words(self) -> str:
        """The entries in a sentence; "nothing" for none."""
        return enumerated([entry.in_words for entry in self])

    def text(self, *, with_roles: bool = True) -> str:
        """The entries as text, with the roles to which they are allocated, or without."""
        return "; ".join([entry.text(with_role=with_roles) for entry in self]) if self else "{}"

    __str__ = text

    def __repr__(self) -> str:
        return f"<Resources {self}>"

    def filter(self, needed: Callable[[Resource], bool]) -> "Resources":
        """The entries for which `needed` is true, in order."""
        return Resources._trusted([entry for entry in self if needed(entry)])

    def with_last(self, needed: Callable[[Resource], bool]) -> "tuple[Resources, Resources, Resources]":
        """The entries for which `needed` is true, the others, and all: the others first."""
        last: list[Resource] = []
        others: list[Resource] = []
        for entry in self:
            (last if needed(entry) else others).append(entry)
        return Resources._trusted(last), Resources._trusted(others), Resources._trusted([*others, *last])

    def unreserved(self) -> "Resources":
        """The unreserved entries."""
        return self.filter(lambda entry: not entry.reservations)

    def reserved(self, role: str | None = None) -> "Resources":
        """The entries whose current owner is `role`, or any owner."""
        return self.filter(lambda entry: entry.is_reserved and role in (None, entry.role))

    def by_owner(self) -> dict[str, "Resources"]:
        """Reserved entries by current owner; no roll-up to ancestors."""
        found: dict[str, list[Resource]] = {}
        for entry in self:
            if entry.reservations:
                found.setdefault(entry.role, []).append(entry)
        return {role: Resources._trusted(entries) for role, entries in found.items()}

    def revocable(self) -> "Resources":
        """The revocable entries."""
        return self.filter(lambda entry: entry.revocable)

    def non_revocable(self) -> "Resources":
        """The entries that are not revocable."""
        return self.filter(lambda entry: not entry.revocable)

    @property
    def revocability(self) -> Revocability | Literal["mixed"]:
        """The revocability of all entries; an empty collection is regular."""
        kinds = {entry.revocability for entry in self}
        return "mixed" if len(kinds) > 1 else next(iter(kinds), "regular")

    def by_revocability(self) -> dict[Revocability, "Resources"]:
        """Return the entries by revocability, in the order of `REVOCABILITIES`, without empty groups."""
        found: dict[Revocability, list[Resource]] = {}
        for entry in self:
            found.setdefault(entry.revocability, []).append(entry)
        if len(found) < 2:
            return dict.fromkeys(found, self)
        return {kind: Resources._trusted(found[kind]) for kind in REVOCABILITIES if kind in found}

    def scalars(self) -> "Resources":
        """The entries that are amounts."""
        return self.filter(lambda entry: entry.is_scalar)

    def allocatable_to(self, role: str) -> "Resources":
        """Return the entries that the allocator may offer to `role`."""
        return self.filter(lambda entry: entry.allocatable_to(role))

    def to_unreserved(self) -> "Resources":
        """The same amounts with every stack cleared, merged again."""
        return Resources(replace(entry, reservations=()) for entry in self)

    def pop_reservation(self) -> "Resources":
        """Remove the top of every stack, and merge again.  Every entry must be reserved."""
        return Resources(replace(entry, reservations=entry.reservations[:-1]) for entry in self)

    def allocated_to(self, role: str | None) -> "Resources":
        """The same entries, one by one, marked as allocated to `role` (None clears the mark)."""
        return Resources._trusted([entry.with_allocation_role(role) for entry in self])

    def scalar_quantities(self) -> Quantities:
        """Sums of the scalar entries by name; a shared volume counts once."""
        sums: dict[str, int] = {}
        for entry in self:
            name, value = entry.name, entry.value
            if isinstance(value, int):
                sums[name] = sums[name] + value if name in sums else value
        return Quantities(sums)

    def quantities(self) -> Quantities:
        """Sums of all entries by name; sets and ranges by count."""
        sums: dict[str, int] = {}
        for entry in self:
            name, amount = entry.name, value_quantity(entry.value)
            sums[name] = sums[name] + amount if name in sums else amount
        return Quantities(sums)

    def separate_quantities(self) -> Quantities:
        """The same with revocable ones apart, as `cpus_revocable`."""
        sums: dict[str, int] = {}
        for entry in self:
            name, amount = entry.name + REVOCABLE * entry.revocable, value_quantity(entry.value)
            sums[name] = sums[name] + amount if name in sums else amount
        return Quantities(sums)


def _merged(entries: Iterable[Resource]) -> list[Resource]:
    """Add entries in linear time, with the result of adding them one by one."""
    merged: list[Resource] = []
    # Comparing kinds takes time, and the entries of an agent or an offer mostly differ in their names.
    alone: dict[str, int] = {}
    places: dict[Kind, int] = {}
    parts: dict[int, list[Value]] = {}
    """The values to add up, by place: the ports of a thousand tasks are sorted once."""
    for entry in entries:
        if entry.shared or (entry.disk is not None and entry.never_merges):
            _add(merged, entry)
        elif not value_is_empty(entry.value):
            first = alone.setdefault(entry.name, len(merged))
            if first == len(merged):
                merged.append(entry)
                continue
            if merged[first].merges_with(entry):
                parts.setdefault(first, [merged[first].value]).append(entry.value)
                continue
            place = places.setdefault(entry.kind, len(merged))
            if place == len(merged):
                merged.append(entry)
            else:
                parts.setdefault(place, [merged[place].value]).append(entry.value)
    for place, values in parts.items():
        merged[place] = merged[place].with_value(value_sum(values))
    return merged


def _add(entries: list[Resource], entry: Resource) -> None:
    if value_is_empty(entry.value):
        return
    for position, present in enumerate(entries):
        if present.merges_with(entry):
            if entry.shared:
                entries[position] = replace(present, copies=present.copies + entry.copies)
            else:
                entries[position] = present.with_value(value_add(present.value, entry.value))
            return
    entries.append(entry)


def _subtract(entries: list[Resource], entry: Resource) -> None:
    if value_is_empty(entry.value):
        return
    for position, present in enumerate(entries):
        if not present.yields(entry):
            continue
        if entry.shared:
            left = replace(present, copies=present.copies - entry.copies)
            gone = left.copies <= 0
        else:
            left = present.with_value(value_subtract(present.value, entry.value))
            gone = value_is_empty(left.value)
        if not gone:
            entries[position] = left
            return
        last = entries.pop()
        if position < len(entries):
            entries[position] = last
        return


def find(targets: Resources, within: Resources) -> Resources | None:
    """Entries of `within` that make up `targets`, with the stacks found there; None if one cannot be had.

    For each target the entries of its own role come first, then unreserved ones, then all others.  Like in Mesos, each
    target is searched separately in the whole collection, and at most one entry of each of the three groups is used
    before the next group.
    """
    found = Resources()
    for target in targets:
        pieces = _find_one(target, within)
        if pieces is None:
            return None
        found += pieces
    return found


def _find_one(target: Resource, within: Resources) -> Resources | None:
    found, left = Resources(), within
    missing = Resources([target]).to_unreserved()
    for group in _groups(target):
        for entry in left.filter(group):
            plain = Resources([entry]).to_unreserved()
            if plain.contains(missing):
                return found + Resources(replace(part, reservations=entry.reservations) for part in missing)
            if missing.contains(plain):
                found += Resources([entry])
                left -= Resources([entry])
                missing -= plain
                break
    return None


def _groups(target: Resource) -> list[Callable[[Resource], bool]]:
    anybodys: list[Callable[[Resource], bool]] = [lambda entry: not entry.is_reserved, lambda _: True]
    if not target.is_reserved:
        return anybodys
    return [lambda entry: entry.is_reserved and entry.role == target.role, *anybodys]
