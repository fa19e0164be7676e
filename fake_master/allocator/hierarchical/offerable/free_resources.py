"""Free resources of similar agents, and the parts that similar frameworks can be offered.

Everything here is interned by content. It depends on nothing else, so it never becomes wrong.
"""

from dataclasses import replace

from fake_master.allocator.hierarchical.offerable.allocations import (
    Allocation,
    AllocationPool,
    Content,
    Pairs,
    interning_key,
    is_unreserved_nonrevocable,
    scalar_pairs,
)
from fake_master.allocator.hierarchical.offerable.eligibility import Eligibility
from mesosctl.mesos import roles
from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.rules.offers.frameworks import AcceptedKinds, AgentFeatures, is_allocatable


class OfferedPart:
    """Resources that one role could be offered of some free resources."""

    __slots__ = ("allocation", "is_allocatable", "quota_charge", "subset")

    def __init__(self, subset: "ResourceSubset", eligibility: Eligibility, *, is_allocatable: bool) -> None:
        self.subset = subset
        self.allocation: Allocation = subset.free_resources.pool.allocations.for_role(eligibility.role, subset.content)
        self.quota_charge: Pairs = self.allocation.unreserved
        """Amounts that count towards quota and headroom."""
        self.is_allocatable = is_allocatable
        """Whether an offer of it reaches the minimum."""


class ResourceSubset:
    """Some of the free resources, the same for every role that could get them."""

    __slots__ = ("_left_free", "content", "free_resources")

    def __init__(self, free_resources: "FreeResources", resources: Resources) -> None:
        self.free_resources = free_resources
        self.content = Content(resources)
        self._left_free: FreeResources | None = None

    @property
    def left_free(self) -> "FreeResources":
        """The free resources without these; offered shared volumes are missing too, until the end of the run."""
        if self._left_free is None:
            free_resources = self.free_resources
            self._left_free = free_resources.pool.free_resources(
                free_resources.features, free_resources.resources - self.content.resources
            )
        return self._left_free

    def part_for(self, eligibility: Eligibility) -> OfferedPart:
        """Return these as a part for a role."""
        return OfferedPart(
            self, eligibility, is_allocatable=is_allocatable(self.content.resources, eligibility.minimum)
        )


class VisibleResources:
    """The free resources that frameworks of some roles and capabilities may see."""

    __slots__ = (
        "_subsets",
        "amounts",
        "free_resources",
        "full",
        "names",
        "shrinks_by_name",
        "uncounted",
        "unreserved_nonrevocable",
    )

    def __init__(self, free_resources: "FreeResources", visible: Resources) -> None:
        self.free_resources = free_resources
        counted, uncounted, full = visible.with_last(is_unreserved_nonrevocable)
        self.unreserved_nonrevocable = counted
        """The visible scalars that count towards quota and headroom."""
        self.uncounted = uncounted
        """The other visible resources: reserved, revocable, or not a scalar."""
        self.full = ResourceSubset(free_resources, full)
        pairs = self.full.content.unreserved
        self.names = tuple(name for name, _ in pairs)
        self.amounts = tuple(amount for _, amount in pairs)
        self.shrinks_by_name = len(self.unreserved_nonrevocable) == len(pairs) and not any(
            entry.disk is not None and entry.disk.indivisible for entry in self.unreserved_nonrevocable
        )
        """Whether each counted name is one divisible entry, so that shrinking is unambiguous."""
        self._subsets = {self.amounts: self.full}

    def of_amounts(self, amounts: tuple[int, ...]) -> ResourceSubset:
        """Return the uncounted resources with these amounts of `names`; only where `shrinks_by_name`."""
        found = self._subsets.get(amounts)
        if found is None:
            wanted = dict(zip(self.names, amounts, strict=True))
            entries = [
                *self.uncounted,
                *(_resized(entry, wanted[entry.name]) for entry in self.unreserved_nonrevocable),
            ]
            found = self._subsets[amounts] = ResourceSubset(self.free_resources, Resources(entries))
        return found


class OfferableResources:
    """The free resources that frameworks of one eligibility can be offered, quota apart: enough for an offer."""

    __slots__ = ("_parts", "eligibility", "full", "visible_resources")

    def __init__(self, visible_resources: VisibleResources, eligibility: Eligibility) -> None:
        self.visible_resources = visible_resources
        self.eligibility = eligibility
        self.full = OfferedPart(visible_resources.full, eligibility, is_allocatable=True)
        """All of it."""
        self._parts = {visible_resources.amounts: self.full}

    def part(self, resources: Resources) -> OfferedPart:
        """Return the part with just these resources."""
        return ResourceSubset(self.visible_resources.free_resources, resources).part_for(self.eligibility)

    def part_of_amounts(self, amounts: tuple[int, ...]) -> OfferedPart:
        """Return the part with the uncounted resources and these amounts; only if they shrink by name."""
        found = self._parts.get(amounts)
        if found is None:
            found = self._parts[amounts] = self.visible_resources.of_amounts(amounts).part_for(self.eligibility)
        return found


class FreeResources:
    """The free resources of agents with the same features and content."""

    __slots__ = (
        "_visible",
        "features",
        "is_all_reserved",
        "is_empty",
        "offerable_by_eligibility",
        "owners",
        "pool",
        "resources",
        "revocable",
    )  # fmt: skip

    def __init__(self, pool: "InternPool", features: AgentFeatures, resources: Resources) -> None:
        self.pool = pool
        self.features = features
        self.resources = resources
        self.is_empty = not resources
        revocable = resources.revocable()
        self.revocable: Pairs = scalar_pairs(revocable) if revocable else ()
        self.offerable_by_eligibility: dict[Eligibility, OfferableResources | None] = {}
        """Filled by `offerable`; read straight from the inner loops."""
        self.owners = tuple({entry.role: None for entry in resources if entry.reservations})
        """The roles for which something is reserved."""
        self.is_all_reserved = all(entry.reservations for entry in resources)
        self._visible: dict[tuple[tuple[str, ...], AcceptedKinds], VisibleResources] = {}

    def offerable(self, eligibility: Eligibility) -> OfferableResources | None:
        """Return what such frameworks can be offered; None if that is never anything."""
        if eligibility in self.offerable_by_eligibility:
            return self.offerable_by_eligibility[eligibility]
        found = None
        if eligibility.admits(self.features):
            visible_resources = self._visible_resources(eligibility.role, eligibility.accepted_kinds)
            if is_allocatable(visible_resources.full.content.resources, eligibility.minimum):
                found = OfferableResources(visible_resources, eligibility)
        self.offerable_by_eligibility[eligibility] = found
        return found

    def _visible_resources(self, role: str, accepted_kinds: AcceptedKinds) -> VisibleResources:
        owners = tuple(owner for owner in self.owners if owner == role or roles.is_strict_subrole(role, owner))
        found = self._visible.get((owners, accepted_kinds))
        if found is None:
            visible = self.resources.filter(lambda entry: entry.allocatable_to(role) and accepted_kinds.accepts(entry))
            found = self._visible[owners, accepted_kinds] = VisibleResources(self, visible)
        return found


class Capacity:
    """An agent's total and features, interned, and its free resources by what is held."""

    __slots__ = ("_free", "_pool", "features", "nonrevocable", "reserved", "scalars", "total")

    def __init__(self, pool: "InternPool", features: AgentFeatures, total: Resources) -> None:
        self._pool = pool
        self.features = features
        self.total = total
        self.scalars: Pairs = scalar_pairs(total)
        self.nonrevocable: Pairs = scalar_pairs(total.non_revocable())
        self.reserved: tuple[tuple[str, Pairs], ...] = tuple(
            (role, scalar_pairs(owned)) for role, owned in total.by_owner().items()
        )
        """Reserved scalars by current owner."""
        self._free: dict[tuple[Allocation, ...], FreeResources] = {}

    def free(self, held: tuple[Allocation, ...]) -> FreeResources:
        """The total without what is held; a shared volume is free however many hold it.

        What is held beyond the total is silently ignored, as in Mesos.
        """
        free_resources = self._free.get(held)
        if free_resources is None:
            left = self.total
            if held:
                used = Resources(entry for allocation in held for entry in allocation.without_role)
                shared = self.total.filter(lambda entry: entry.shared)
                if shared:
                    left = left.filter(_is_own) - used.filter(_is_own) + shared
                else:
                    left -= used
            free_resources = self._free[held] = self._pool.free_resources(self.features, left)
            self._pool.remembered += 1
        return free_resources


class InternPool:
    """Interns free resources, capacities and allocations."""

    def __init__(self) -> None:
        self.allocations = AllocationPool()
        self._free_resources: dict[tuple[AgentFeatures, tuple[object, ...]], FreeResources] = {}
        self._capacities: dict[tuple[AgentFeatures, tuple[object, ...]], Capacity] = {}
        self.remembered = 0
        """The most free resources that a capacity caches."""

    def __len__(self) -> int:
        return len(self.allocations) + len(self._free_resources) + len(self._capacities) + self.remembered

    def free_resources(self, features: AgentFeatures, resources: Resources) -> FreeResources:
        """Return the one object with this content."""
        key = (features, interning_key(resources))
        found = self._free_resources.get(key)
        if found is None:
            found = self._free_resources[key] = FreeResources(self, features, resources)
        return found

    def capacity(self, features: AgentFeatures, total: Resources) -> Capacity:
        """Return the one capacity with this content."""
        key = (features, interning_key(total))
        found = self._capacities.get(key)
        if found is None:
            found = self._capacities[key] = Capacity(self, features, total)
        return found

    def forget(self) -> None:
        """Start over, when the cache has become too large."""
        self.allocations.forget()
        self._free_resources.clear()
        self._capacities.clear()
        self.remembered = 0


def _resized(entry: Resource, amount: int) -> Resource:
    return entry if entry.value == amount else replace(entry, value=amount)


def _is_own(entry: Resource) -> bool:
    return not entry.shared
