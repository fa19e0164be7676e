"""A holding in a cluster: the resources that tasks use and that offers keep, revocable ones apart.

Scalars only, in thousandths.  Revocable amounts have a name of their own, `cpus_revocable`, as in Mesos's JSON.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from mesosctl.mesos.amounts.quantities import REVOCABLE, Quantities, to_double
from mesosctl.mesos.amounts.resource import Resource

Pairs = tuple[tuple[str, int], ...]
"""Thousandths by name."""


@dataclass(frozen=True, slots=True)
class UsedAndOffered:
    """The resources that an agent's tasks, a framework or a role uses and is offered."""

    used: Quantities = field(default_factory=Quantities)
    """By tasks and executors; revocable ones as `cpus_revocable`."""
    offered: Quantities = field(default_factory=Quantities)
    plain_used: Quantities = field(default_factory=Quantities, compare=False)
    """The part of `used` that is neither reserved nor revocable."""
    plain_offered: Quantities = field(default_factory=Quantities, compare=False)
    lent: Quantities = field(default_factory=Quantities, compare=False)
    """The part of both that is lent: an owner's idle reservations, which it may take back; under the plain names."""
    throttleable: Quantities = field(default_factory=Quantities, compare=False)
    """The part of both that tasks do not use, as agents report, and that may be throttled; under the plain names."""
    owned_used: Mapping[str, Quantities] = field(default_factory=dict, compare=False)
    """The reserved part of `used`, by owner."""
    owned_offered: Mapping[str, Quantities] = field(default_factory=dict, compare=False)

    @classmethod
    def of(cls, used: Iterable[Resource], offered: Iterable[Resource], *, lends: bool = False) -> "UsedAndOffered":
        """The holding that these resources are; `lends` says whether the master lends idle reservations."""
        sums = HoldingSums()
        sums.use(parts_of(used))
        sums.offer(parts_of(offered))
        return sums.holding(lends=lends)

    @classmethod
    def total_of(cls, holdings: "Iterable[UsedAndOffered]") -> "UsedAndOffered":
        """The sum of any number of holdings."""
        parts = list(holdings)
        if len(parts) == 1:
            return parts[0]

        def total(name: str) -> Quantities:
            return Quantities.total(getattr(part, name) for part in parts)

        return cls(
            total("used"),
            total("offered"),
            total("plain_used"),
            total("plain_offered"),
            total("lent"),
            total("throttleable"),
            sums_by_owner(part.owned_used for part in parts),
            sums_by_owner(part.owned_offered for part in parts),
        )

    @property
    def total(self) -> Quantities:
        """Used and offered, which the allocator does not distinguish."""
        return self.used + self.offered

    @property
    def revocable(self) -> Quantities:
        """The revocable part of `used`, under the plain names."""
        return revocable_part(self.used)

    def dominant(self, totals: Quantities) -> tuple[str | None, float]:
        """The resource of which it holds the largest part of the cluster, and that part; weights are not in it."""
        return dominant_share(self.total, totals)


_SUMMED = ("used", "offered", "plain_used", "plain_offered", "lent", "throttleable")


def dominant_share(amounts: Quantities, totals: Quantities) -> tuple[str | None, float]:
    """The resource of which `amounts` are the largest part of `totals`, the first of equal ones; and that part."""
    parts = {name: to_double(milli) / to_double(totals[name]) for name, milli in amounts.items() if name in totals}
    name = max(parts, key=lambda part: parts[part], default=None)
    return (None, 0.0) if name is None else (name, parts[name])


def revocable_part(amounts: Quantities) -> Quantities:
    """Return the amounts that are named `cpus_revocable`, as `cpus`."""
    return Quantities(
        {name.removesuffix(REVOCABLE): milli for name, milli in amounts.items() if name.endswith(REVOCABLE)}
    )


def regular_part(amounts: Quantities) -> Quantities:
    """Return the amounts that are not revocable."""
    return Quantities({name: milli for name, milli in amounts.items() if not name.endswith(REVOCABLE)})


def lumped(amounts: Quantities) -> Quantities:
    """Return revocable amounts together with the others, as /roles shows them."""
    return regular_part(amounts) + revocable_part(amounts)


def sums_by_owner(parts: Iterable[Mapping[str, Quantities]]) -> dict[str, Quantities]:
    """Add up amounts by owner."""
    found: dict[str, Quantities] = {}
    for part in parts:
        for owner, amounts in part.items():
            found[owner] = found[owner] + amounts if owner in found else amounts
    return found


class ResourceParts(NamedTuple):
    """The scalars of some resources, by what they are."""

    named: Pairs
    """All of them, revocable ones as `cpus_revocable`."""
    plain: Pairs
    """Neither reserved nor revocable."""
    lent: Pairs
    """Revocable and not throttleable; only a master that lends makes the difference."""
    throttleable: Pairs
    owned: tuple[tuple[str, Pairs], ...]


def parts_of(resources: Iterable[Resource]) -> ResourceParts:
    """Divide resources into their parts."""
    named: list[tuple[str, int]] = []
    plain: list[tuple[str, int]] = []
    kinds: dict[str, list[tuple[str, int]]] = {"non-throttleable": [], "throttleable": []}
    owned: dict[str, list[tuple[str, int]]] = {}
    for entry in resources:
        if not isinstance(entry.value, int):
            continue
        pair = entry.name, entry.value
        if entry.revocable:
            named.append((entry.name + REVOCABLE, entry.value))
            kinds[entry.revocability].append(pair)
            continue
        named.append(pair)
        if entry.reservations:
            owned.setdefault(entry.role, []).append(pair)
        else:
            plain.append(pair)
    return ResourceParts(
        tuple(named),
        tuple(plain),
        tuple(kinds["non-throttleable"]),
        tuple(kinds["throttleable"]),
        tuple((owner, tuple(pairs)) for owner, pairs in owned.items()),
    )


class HoldingSums:
    """A holding that is being added up."""

    __slots__ = ("_amounts", "_owned")

    def __init__(self) -> None:
        self._amounts: dict[str, dict[str, int]] = {name: {} for name in _SUMMED}
        self._owned: dict[str, dict[str, dict[str, int]]] = {"owned_used": {}, "owned_offered": {}}

    def use(self, parts: ResourceParts) -> None:
        """Add what tasks and executors use."""
        self._add("used", parts)

    def offer(self, parts: ResourceParts) -> None:
        """Add what an offer keeps."""
        self._add("offered", parts)

    def _add(self, which: str, parts: ResourceParts) -> None:
        sums = self._amounts
        for name, pairs in (
            (which, parts.named),
            ("plain_" + which, parts.plain),
            ("lent", parts.lent),
            ("throttleable", parts.throttleable),
        ):
            if pairs:
                _add_up(sums[name], pairs)
        for owner, pairs in parts.owned:
            _add_up(self._owned["owned_" + which].setdefault(owner, {}), pairs)

    def holding(self, *, lends: bool) -> UsedAndOffered:
        """The sums so far; a master that does not `lend` has no revocable resources but slack of use."""
        used, offered, plain_used, plain_offered, lent, throttleable = (
            Quantities(self._amounts[name]) for name in _SUMMED
        )
        if not lends:
            lent, throttleable = Quantities(), lent + throttleable
        owned_used, owned_offered = (
            {owner: Quantities(amounts) for owner, amounts in by_owner.items()} for by_owner in self._owned.values()
        )
        return UsedAndOffered(used, offered, plain_used, plain_offered, lent, throttleable, owned_used, owned_offered)


def _add_up(sums: dict[str, int], pairs: Pairs) -> None:
    for name, amount in pairs:
        sums[name] = sums.get(name, 0) + amount
