"""Allocations, and sums that change in place: thousandths by resource name.

`mesosctl.mesos.amounts.quantities` has the immutable forms with the same meaning; these are for the inner
loops, where a new object for every agent would cost more than the decision.
"""

from collections.abc import Iterable
from dataclasses import replace

from mesosctl.mesos.amounts.identity import IdentityCache
from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.amounts.values import as_sent

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
    """Return `left` minus `right` by name; only what is above zero."""
    return {name: rest for name, amount in left.items() if (rest := amount - right.get(name, 0)) > 0}


def is_unreserved_nonrevocable(entry: Resource) -> bool:
    """Whether quota counts the entry: scalars that are neither reserved nor revocable."""
    return not entry.reservations and not entry.revocable and isinstance(entry.value, int)


def interning_key(resources: Resources) -> tuple[object, ...]:
    """Return a key that is the same for collections that are equal and were sent in the same form."""
    entries = tuple(resources)
    sent = [as_sent(entry.value) for entry in entries]
    return (entries, tuple(sent)) if any(sent) else entries


def scalar_pairs(resources: Resources) -> Pairs:
    """Sums of the scalar entries, a shared one counted once."""
    return tuple(resources.scalar_quantities().items())


def _pairs(amounts: Amounts) -> Pairs:
    return tuple(sorted(amounts.items()))


class Tally:
    """Amounts with shared volumes in them, each counted once an agent however many copies are held there."""

    __slots__ = ("amounts", "copies")

    def __init__(self) -> None:
        self.amounts: Amounts = {}
        self.copies: dict[tuple[str, Resource], int] = {}

    def add_shared(self, agent: str, parts: tuple[SharedPart, ...]) -> None:
        """Count copies on an agent."""
        for entry, copies in parts:
            key = (agent, entry)
            if key not in self.copies:
                add(self.amounts, ((entry.name, _scalar(entry)),))
            self.copies[key] = self.copies.get(key, 0) + copies

    def remove_shared(self, agent: str, parts: tuple[SharedPart, ...]) -> None:
        """Remove copies from an agent."""
        for entry, copies in parts:
            key = (agent, entry)
            left = self.copies.get(key, 0) - copies
            if left > 0:
                self.copies[key] = left
            elif self.copies.pop(key, None) is not None:
                add(self.amounts, ((entry.name, -_scalar(entry)),))

    def without_shared(self) -> Amounts:
        """Return the amounts of what is not shared."""
        amounts = dict(self.amounts)
        for _, entry in self.copies:
            amounts[entry.name] -= _scalar(entry)
        return amounts


def _scalar(entry: Resource) -> int:
    return entry.value if isinstance(entry.value, int) else 0


class Content:
    """Resources without allocation roles, and their sums, which do not depend on the recipient."""

    __slots__ = ("has_shared", "reserved", "resources", "revocable", "scalars", "unreserved")

    def __init__(self, resources: Resources) -> None:
        self.resources = resources
        self.has_shared = False
        scalars: Amounts = {}
        reserved: Amounts = {}
        unreserved: Amounts = {}
        revocable: Amounts = {}
        for entry in resources:
            if entry.shared:
                self.has_shared = True
            elif isinstance(entry.value, int):
                own = reserved if entry.reservations else revocable if entry.revocable else unreserved
                for amounts in (scalars, own):
                    amounts[entry.name] = amounts.get(entry.name, 0) + entry.value
        self.scalars = _pairs(scalars)
        """Sums of what is not shared; so are the next three, which add up to it."""
        self.reserved = _pairs(reserved)
        self.unreserved = _pairs(unreserved)
        self.revocable = _pairs(revocable)


class Allocation:
    """Content that one role has.  Immutable; equal only to itself."""

    __slots__ = ("reserved", "revocable", "role", "scalars", "shared", "unreserved", "with_role", "without_role")

    def __init__(self, role: str, tagged: Resources, content: Content) -> None:
        self.role = role
        """The allocation role."""
        self.with_role = tagged
        """With the allocation role in each entry."""
        self.without_role = content.resources
        """Without it."""
        self.scalars = content.scalars
        self.reserved = content.reserved
        self.unreserved = content.unreserved
        self.revocable = content.revocable
        self.shared: tuple[SharedPart, ...] = ()
        if content.has_shared:
            self.shared = tuple((replace(entry, copies=1), entry.copies) for entry in tagged if entry.shared)


class AllocationPool:
    """Every allocation in use."""

    def __init__(self) -> None:
        self._by_value: dict[tuple[str, tuple[object, ...]], Allocation] = {}
        self._given = IdentityCache(self._made_of)
        """By the identity of resources: those of an offer and of a thousand tasks are mostly the same objects."""

    def __len__(self) -> int:
        return len(self._by_value)

    def forget(self) -> None:
        """Start over; allocations in use stay valid, but are no longer recognised."""
        self._by_value.clear()
        self._given = IdentityCache(self._made_of)

    def for_role(self, role: str, content: Content) -> Allocation:
        """The content, allocated to `role`."""
        return self._interned(Allocation(role, content.resources.allocated_to(role), content))

    def of(self, tagged: Resources) -> Allocation:
        """Resources with one allocation role.  Raises ValueError if they have none, or several."""
        return self._given.of(tagged)

    def _made_of(self, tagged: Resources) -> Allocation:
        return self._interned(Allocation(allocation_role(tagged), tagged, Content(tagged.allocated_to(None))))

    def by_role(self, tagged: Resources) -> list[Allocation]:
        """Resources with any allocation roles, an allocation for each, by name."""
        roles = sorted({entry.allocation_role or "" for entry in tagged})
        if len(roles) == 1:
            return [self.of(tagged)]
        return [self.of(tagged.filter(lambda entry, role=role: entry.allocation_role == role)) for role in roles]  # type: ignore[misc]

    def merged(self, allocations: Iterable[Allocation]) -> Allocation:
        """One allocation of several of the same role."""
        first, *others = allocations
        if not others:
            return first
        tagged = first.with_role
        for allocation in others:
            tagged += allocation.with_role
        return self._made_of(tagged)

    def rest(self, whole: Allocation, part: Allocation) -> Allocation | None:
        """One allocation without another of the same role; None if nothing is left.

        Raises ValueError if it does not contain the other.
        """
        if not whole.with_role.contains(part.with_role):
            raise ValueError(f"{whole.with_role}, not {part.with_role}")
        left = whole.with_role - part.with_role
        return self._made_of(left) if left else None

    def _interned(self, made: Allocation) -> Allocation:
        # One search: to hash the resources takes longer than to make an allocation of them.
        return self._by_value.setdefault((made.role, interning_key(made.with_role)), made)


def allocation_role(tagged: Resources) -> str:
    """The one role to which all entries are allocated.  Raises ValueError."""
    roles = {entry.allocation_role for entry in tagged}
    role = next(iter(roles)) if len(roles) == 1 else None
    if role is None:
        raise ValueError(f"resources must have one allocation role, not {roles or 'none'}: {tagged}")
    return role
