"""Resources and their algebra (spec/reservation.md §2 and §4).

A `Resource` is one entry; `Resources` an ordered, immutable collection in which entries of the
same kind are merged where Mesos merges them.  The order is part of the value's behaviour: it is
visible in offers and decides which entry a subtraction takes first.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from mesosctl.core import roles
from mesosctl.core.labels import Labels
from mesosctl.core.quantities import Quantities
from mesosctl.core.values import (
    Value,
    format_value,
    value_add,
    value_contains,
    value_is_empty,
    value_quantity,
    value_subtract,
    value_type,
)

ReservationType = Literal["STATIC", "DYNAMIC"]
Revocability = Literal["regular", "throttleable", "non-throttleable"]
"""Not to be taken back; slack of use, which may be throttled; or slack of allocation, lent by its owner."""
REVOCABILITIES: tuple[Revocability, ...] = ("regular", "throttleable", "non-throttleable")


@dataclass(frozen=True, slots=True)
class Reservation:
    """One level of a reservation stack.

    `labels` None means that the message had no labels at all, which is a different kind from an
    empty list.
    """

    type: ReservationType
    role: str
    principal: str | None = None
    labels: Labels | None = None

    def __str__(self) -> str:
        parts = [self.type, self.role]
        if self.principal is not None:
            parts.append(self.principal)
        if self.labels is not None:
            parts.append(str(self.labels))
        return "(" + ",".join(parts) + ")"


@dataclass(frozen=True, slots=True)
class DiskSource:
    """Where a disk comes from; RAW and BLOCK disks of a provider, PATH and MOUNT of the agent."""

    type: Literal["PATH", "MOUNT", "BLOCK", "RAW"]
    root: str | None = None
    vendor: str | None = None
    id: str | None = None
    profile: str | None = None


@dataclass(frozen=True, slots=True)
class Disk:
    """Disk information.  Only the source and the persistence id take part in Mesos's comparison."""

    persistence_id: str | None = None
    source: DiskSource | None = None
    principal: str | None = None
    container_path: str | None = None
    mode: Literal["RW", "RO"] | None = None
    host_path: str | None = None

    @property
    def identity(self) -> tuple[DiskSource | None, str | None]:
        """What makes two disks the same disk."""
        return self.source, self.persistence_id

    @property
    def indivisible(self) -> bool:
        """Whether a part of it is not a smaller copy of it: MOUNT, BLOCK, RAW with an id, a volume."""
        if self.persistence_id is not None:
            return True
        if self.source is None:
            return False
        return self.source.type in ("MOUNT", "BLOCK") or (self.source.type == "RAW" and self.source.id is not None)

    @property
    def never_merges(self) -> bool:
        """Whether two equal ones stay two entries."""
        return self.indivisible

    def __str__(self) -> str:
        parts = []
        if self.source is not None:
            parts.append(self.source.type + (f":{self.source.root}" if self.source.root else ""))
        if self.persistence_id is not None:
            parts.append(f"{self.persistence_id}:{self.container_path or ''}")
        return ",".join(parts)


Kind = tuple[
    str,
    str,
    str | None,
    tuple[Reservation, ...],
    tuple[DiskSource | None, str | None] | None,
    bool,
    str | None,
    bool,
    bool,
]


@dataclass(frozen=True, slots=True)
class Resource:
    """One entry: a name, a value, and everything that keeps it apart from other entries.

    `copies` is more than one only for a shared volume, which may be held several times at once.
    """

    name: str
    value: Value
    reservations: tuple[Reservation, ...] = ()
    allocation_role: str | None = None
    disk: Disk | None = None
    revocable: bool = False
    shared: bool = False
    provider_id: str | None = None
    copies: int = 1
    throttleable: bool = False
    """Only of what is revocable: `throttle_info`, which Mesos 1.11 does not know (spec/oversubscription.md §2)."""

    @property
    def kind(self) -> Kind:
        """Equal for two entries exactly if Mesos sees the same metadata in both."""
        return (
            self.name,
            value_type(self.value),
            self.allocation_role,
            self.reservations,
            self.disk.identity if self.disk is not None else None,
            self.revocable,
            self.provider_id,
            self.shared,
            self.throttleable,
        )

    @property
    def revocability(self) -> Revocability:
        """Whether it may be taken back, and how."""
        if not self.revocable:
            return "regular"
        return "throttleable" if self.throttleable else "non-throttleable"

    @property
    def role(self) -> str:
        """The role of the current owner: the top of the stack, or "*"."""
        return self.reservations[-1].role if self.reservations else roles.DEFAULT_ROLE

    @property
    def is_reserved(self) -> bool:
        """Whether anybody owns it."""
        return bool(self.reservations)

    @property
    def is_dynamically_reserved(self) -> bool:
        """Whether the current owner reserved it while the cluster ran."""
        return bool(self.reservations) and self.reservations[-1].type == "DYNAMIC"

    @property
    def is_statically_reserved(self) -> bool:
        """Whether the agent itself was started with this reservation (whatever refines it)."""
        return bool(self.reservations) and self.reservations[0].type == "STATIC"

    @property
    def is_refined(self) -> bool:
        """Whether one reservation stands upon another."""
        return len(self.reservations) > 1

    @property
    def is_persistent_volume(self) -> bool:
        """Whether it is a disk with a persistence id."""
        return self.disk is not None and self.disk.persistence_id is not None

    @property
    def is_scalar(self) -> bool:
        """Whether its value is an amount."""
        return isinstance(self.value, int)

    def allocatable_to(self, role: str) -> bool:
        """Whether the allocator may offer it to `role`: unreserved, or reserved to it or an ancestor."""
        owner = self.role
        return not self.reservations or owner == role or roles.is_strict_subrole(role, owner)

    def with_value(self, value: Value) -> "Resource":
        """The same entry with another value; many times faster than `replace`, and sums are made of it."""
        return Resource(
            self.name,
            value,
            self.reservations,
            self.allocation_role,
            self.disk,
            self.revocable,
            self.shared,
            self.provider_id,
            self.copies,
            self.throttleable,
        )

    def merges_with(self, other: "Resource") -> bool:
        """Whether adding `other` enlarges this entry instead of making a second one."""
        if self.name != other.name or self.kind != other.kind:
            return False
        if self.shared:
            return self.value == other.value
        return not self.never_merges

    @property
    def never_merges(self) -> bool:
        """Whether an equal one stays an entry of its own; shared volumes are counted instead."""
        return not self.shared and self.disk is not None and self.disk.never_merges

    def yields(self, other: "Resource") -> bool:
        """Whether `other` may be subtracted from this entry at all."""
        if self.name != other.name or self.kind != other.kind:
            return False
        if self.shared or (self.disk is not None and self.disk.indivisible):
            return self.value == other.value
        return True

    def contains(self, other: "Resource") -> bool:
        """Whether this single entry covers `other`."""
        if not self.yields(other):
            return False
        if self.shared:
            return self.copies >= other.copies
        return value_contains(self.value, other.value)

    def __str__(self) -> str:
        text = self.name
        if self.allocation_role is not None:
            text += f"(allocated: {self.allocation_role})"
        if self.reservations:
            text += "(reservations: [" + ",".join(map(str, self.reservations)) + "])"
        if self.disk is not None:
            text += f"[{self.disk}]"
        if self.revocable:
            text += "{REV,THROTTLE}" if self.throttleable else "{REV}"
        if self.shared:
            text += "<SHARED>"
        text += ":" + format_value(self.value)
        return text + f"<{self.copies}>" if self.shared else text


class Resources:
    """An ordered collection of entries, merged as Mesos merges them.  Immutable.

    Over-subtraction is silent and an entry that becomes empty is replaced by the last one, as in
    Mesos; use `contains` first where that matters.
    """

    __slots__ = ("_entries",)

    def __init__(self, entries: Iterable[Resource] = ()) -> None:
        self._entries = tuple(_merged(entries))

    @classmethod
    def _trusted(cls, entries: Iterable[Resource]) -> "Resources":
        made = cls.__new__(cls)
        made._entries = tuple(entries)
        return made

    def __iter__(self) -> Iterator[Resource]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __add__(self, other: "Resources") -> "Resources":
        merged = list(self._entries)
        for entry in other:
            _add(merged, entry)
        return Resources._trusted(merged)

    def __sub__(self, other: "Resources") -> "Resources":
        left = list(self._entries)
        for entry in other:
            _subtract(left, entry)
        return Resources._trusted(left)

    def contains(self, other: "Resources") -> bool:
        """Whether each entry of `other` is covered; only volumes are used up while looking."""
        left = list(self._entries)
        for wanted in other:
            if not any(entry.contains(wanted) for entry in left):
                return False
            if wanted.is_persistent_volume:
                _subtract(left, wanted)
        return True

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Resources):
            return NotImplemented
        return self.contains(other) and other.contains(self)

    __hash__ = None  # type: ignore[assignment]  # equality ignores order, so hashing the entries would lie

    def __str__(self) -> str:
        return "; ".join(map(str, self._entries)) if self._entries else "{}"

    def __repr__(self) -> str:
        return f"<Resources {self}>"

    def filter(self, wanted: Callable[[Resource], bool]) -> "Resources":
        """The entries for which `wanted` is true, in order."""
        return Resources._trusted(entry for entry in self._entries if wanted(entry))

    def unreserved(self) -> "Resources":
        """The entries nobody owns."""
        return self.filter(lambda entry: not entry.reservations)

    def reserved(self, role: str | None = None) -> "Resources":
        """The entries whose current owner is `role`, or any owner."""
        return self.filter(lambda entry: entry.is_reserved and role in (None, entry.role))

    def by_owner(self) -> dict[str, "Resources"]:
        """Reserved entries by current owner; no roll-up to ancestors."""
        found: dict[str, list[Resource]] = {}
        for entry in self._entries:
            if entry.reservations:
                found.setdefault(entry.role, []).append(entry)
        return {role: Resources._trusted(entries) for role, entries in found.items()}

    def revocable(self) -> "Resources":
        """The entries that may be taken back."""
        return self.filter(lambda entry: entry.revocable)

    def non_revocable(self) -> "Resources":
        """The entries that may not be taken back."""
        return self.filter(lambda entry: not entry.revocable)

    @property
    def revocability(self) -> Revocability | Literal["mixed"]:
        """That of every entry; nothing at all is regular."""
        kinds = {entry.revocability for entry in self._entries}
        return "mixed" if len(kinds) > 1 else next(iter(kinds), "regular")

    def by_revocability(self) -> dict[Revocability, "Resources"]:
        """The entries by how they may be taken back, in the order of `REVOCABILITIES`; none that are empty."""
        parts = {kind: self.filter(lambda entry, kind=kind: entry.revocability == kind) for kind in REVOCABILITIES}  # type: ignore[misc]
        return {kind: part for kind, part in parts.items() if part}

    def scalars(self) -> "Resources":
        """The entries that are amounts."""
        return self.filter(lambda entry: entry.is_scalar)

    def allocatable_to(self, role: str) -> "Resources":
        """What the allocator may offer to `role`."""
        return self.filter(lambda entry: entry.allocatable_to(role))

    def to_unreserved(self) -> "Resources":
        """The same amounts with every stack cleared, merged anew."""
        return Resources(replace(entry, reservations=()) for entry in self._entries)

    def push_reservation(self, reservation: Reservation) -> "Resources":
        """Put `reservation` on top of every stack, merged anew."""
        return Resources(replace(entry, reservations=(*entry.reservations, reservation)) for entry in self._entries)

    def pop_reservation(self) -> "Resources":
        """Take the top off every stack, merged anew.  Every entry must be reserved."""
        return Resources(replace(entry, reservations=entry.reservations[:-1]) for entry in self._entries)

    def allocated_to(self, role: str | None) -> "Resources":
        """The same entries, one by one, marked as allocated to `role` (None clears the mark)."""
        return Resources._trusted(replace(entry, allocation_role=role) for entry in self._entries)

    def scalar_quantities(self) -> Quantities:
        """Sums of the scalar entries by name; a shared volume counts once."""
        sums: dict[str, int] = {}
        for entry in self._entries:
            if isinstance(entry.value, int):
                sums[entry.name] = sums.get(entry.name, 0) + entry.value
        return Quantities(sums)

    def quantities(self) -> Quantities:
        """Sums of all entries by name; sets and ranges by count."""
        sums: dict[str, int] = {}
        for entry in self._entries:
            sums[entry.name] = sums.get(entry.name, 0) + value_quantity(entry.value)
        return Quantities(sums)


def _merged(entries: Iterable[Resource]) -> list[Resource]:
    """As adding one by one does, in time proportional to their number however many of them merge."""
    merged: list[Resource] = []
    places: dict[Kind, int] = {}
    sums: dict[int, Value] = {}
    for entry in entries:
        if entry.shared or entry.never_merges:
            _add(merged, entry)
        elif not value_is_empty(entry.value):
            place = places.setdefault(entry.kind, len(merged))
            if place == len(merged):
                merged.append(entry)
            else:
                sums[place] = value_add(sums.get(place, merged[place].value), entry.value)
    for place, value in sums.items():
        merged[place] = merged[place].with_value(value)
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
