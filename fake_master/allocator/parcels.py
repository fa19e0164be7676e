"""Parcels: resources that one role holds or is offered, with everything the books ask about them.

The same amounts change hands over and over, so a parcel is made once and recognised afterwards:
by the identity of its `Resources` object where the master hands back what it was given, else by
value.  Identity is a shortcut, never a need.
"""

from collections.abc import Iterable
from dataclasses import replace

from fake_master.allocator.amounts import Pairs, SharedPart, scalar_pairs, written
from mesosctl.core.resource import Resource
from mesosctl.core.resources import Resources


class Content:
    """Resources without allocation roles, and their sums, which are the same whoever gets them."""

    __slots__ = ("has_shared", "plain", "reserved", "revocable", "scalars", "unreserved")

    def __init__(self, plain: Resources) -> None:
        self.plain = plain
        self.has_shared = any(entry.shared for entry in plain)
        own = plain.filter(lambda entry: not entry.shared) if self.has_shared else plain
        self.scalars: Pairs = scalar_pairs(own)
        """Sums of what is not shared; so are the next three, which add up to it."""
        self.reserved: Pairs = scalar_pairs(own.reserved())
        self.unreserved: Pairs = scalar_pairs(own.filter(_is_loose))
        self.revocable: Pairs = scalar_pairs(own.unreserved().revocable())


class Parcel:
    """Content that one role has.  Immutable; equal only to itself."""

    __slots__ = ("plain", "reserved", "revocable", "role", "scalars", "shared", "tagged", "unreserved")

    def __init__(self, role: str, tagged: Resources, content: Content) -> None:
        self.role = role
        """The allocation role."""
        self.tagged = tagged
        """With the allocation role in each entry."""
        self.plain = content.plain
        """Without it."""
        self.scalars = content.scalars
        self.reserved = content.reserved
        self.unreserved = content.unreserved
        self.revocable = content.revocable
        self.shared: tuple[SharedPart, ...] = ()
        if content.has_shared:
            self.shared = tuple((replace(entry, copies=1), entry.copies) for entry in tagged if entry.shared)


class Parcels:
    """Every parcel in use."""

    def __init__(self) -> None:
        self._by_identity: dict[int, Parcel] = {}
        self._by_value: dict[tuple[str, tuple[object, ...]], Parcel] = {}

    def __len__(self) -> int:
        return len(self._by_value)

    def forget(self) -> None:
        """Start over; parcels in use live on, and are merely not recognised."""
        self._by_identity.clear()
        self._by_value.clear()

    def for_role(self, role: str, content: Content) -> Parcel:
        """The content, allocated to `role`."""
        tagged = content.plain.allocated_to(role)
        key = (role, written(tagged))
        parcel = self._by_value.get(key)
        if parcel is None:
            parcel = self._keep(key, Parcel(role, tagged, content))
        return parcel

    def of(self, tagged: Resources) -> Parcel:
        """Resources with one allocation role.  Raises ValueError if they have none, or several."""
        parcel = self._by_identity.get(id(tagged))
        if parcel is not None:
            return parcel
        key = (allocation_role(tagged), written(tagged))
        parcel = self._by_value.get(key)
        if parcel is None:
            parcel = self._keep(key, Parcel(key[0], tagged, Content(tagged.allocated_to(None))))
        return parcel

    def by_role(self, tagged: Resources) -> list[Parcel]:
        """Resources with any allocation roles, a parcel for each, by name."""
        roles = sorted({entry.allocation_role or "" for entry in tagged})
        if len(roles) == 1:
            return [self.of(tagged)]
        return [self.of(tagged.filter(lambda entry, role=role: entry.allocation_role == role)) for role in roles]  # type: ignore[misc]

    def merged(self, parcels: Iterable[Parcel]) -> Parcel:
        """One parcel of several of the same role."""
        first, *others = parcels
        if not others:
            return first
        tagged = first.tagged
        for parcel in others:
            tagged += parcel.tagged
        return self.of(tagged)

    def _keep(self, key: tuple[str, tuple[object, ...]], parcel: Parcel) -> Parcel:
        self._by_value[key] = parcel
        # The parcel keeps the object alive, so its id cannot come to mean another.
        self._by_identity[id(parcel.tagged)] = parcel
        return parcel


def _is_loose(entry: Resource) -> bool:
    return not entry.reservations and not entry.revocable


def allocation_role(tagged: Resources) -> str:
    """The one role to which all entries are allocated.  Raises ValueError."""
    roles = {entry.allocation_role for entry in tagged}
    role = next(iter(roles)) if len(roles) == 1 else None
    if role is None:
        raise ValueError(f"resources must have one allocation role, not {roles or 'none'}: {tagged}")
    return role
