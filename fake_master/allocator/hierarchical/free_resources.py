"""What a framework can take in a role, and what an agent asks of it (spec/allocator.md §6)."""

from dataclasses import dataclass, replace

from fake_master.allocator.hierarchical.allocations import (
    Allocation,
    AllocationPool,
    Content,
    Pairs,
    scalar_pairs,
    written,
)
from fake_master.allocator.interface import AgentInfo, FrameworkInfo
from fake_master.allocator.options import Options
from mesosctl.model import roles
from mesosctl.model.offers.admission import AcceptedKinds, AgentFeatures, Capabilities, is_allocatable
from mesosctl.model.quantities import Quantities
from mesosctl.model.resource import Resource
from mesosctl.model.resources import Resources


def traits_of(info: AgentInfo, total: Resources, options: Options) -> AgentFeatures:
    """The traits of an agent with these resources."""
    return AgentFeatures.of(
        info.capabilities,
        total,
        filter_gpus=options.filter_gpu_resources,
        region=info.region,
        master_region=options.region,
    )


@dataclass(frozen=True, slots=True, eq=False)
class Eligibility:
    """Everything about a framework in a role that decides what it can be offered of a given agent.

    Interned by the allocator, so that frameworks alike share one object and, with it, whatever was
    worked out for it.
    """

    role: str
    accepted_kinds: AcceptedKinds
    own_capabilities: Capabilities
    minimum: tuple[Quantities, ...]

    def admits(self, traits: AgentFeatures) -> bool:
        """Whether an agent with these traits can be offered at all."""
        return self.own_capabilities.missing_capability(traits) is None

    def usable(self, resources: Resources) -> Quantities:
        """The part of some resources that a request can name: plain scalars that could be offered."""
        return (
            resources.allocated_to(None)
            .filter(
                lambda entry: (
                    entry.disk is None
                    and not entry.shared
                    and not entry.revocable
                    and entry.allocatable_to(self.role)
                    and self.accepted_kinds.accepts(entry)
                )
            )
            .scalar_quantities()
        )


class Eligibilities:
    """Interned eligibilities."""

    def __init__(self, options: Options) -> None:
        self._minimum = options.min_allocatable_resources
        self._known: dict[tuple[str, frozenset[str], tuple[Quantities, ...]], Eligibility] = {}

    def of(self, info: FrameworkInfo, role: str) -> Eligibility:
        """That of a framework in a role."""
        minimum = info.minimums.get(role, self._minimum)
        key = (role, info.capabilities, minimum)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = Eligibility(
                role, AcceptedKinds.of(info.capabilities), Capabilities.of(role, info.capabilities), minimum
            )
        return found


class Part:
    """Something that one role could be offered of one shape."""

    __slots__ = ("allocatable", "allocation", "charge", "slice")

    def __init__(self, subset: "ResourceSubset", eligibility: Eligibility) -> None:
        self.slice = subset
        self.allocation: Allocation = subset.free_resources.pool.parcels.for_role(eligibility.role, subset.content)
        self.charge: Pairs = self.allocation.unreserved
        """What it counts towards quota and headroom."""
        self.allocatable = subset.is_allocatable(eligibility.minimum)

    @property
    def after(self) -> "FreeResources":
        """The shape that is left, shared volumes in it taken out until the end of the run."""
        return self.slice.after


class ResourceSubset:
    """Some resources of a shape, whoever gets them."""

    __slots__ = ("_after", "_allocatable", "content", "free_resources")

    def __init__(self, free_resources: "FreeResources", resources: Resources) -> None:
        self.free_resources = free_resources
        self.content = Content(resources)
        self._after: FreeResources | None = None
        self._allocatable: dict[tuple[Quantities, ...], bool] = {}

    @property
    def after(self) -> "FreeResources":
        """The shape without them."""
        if self._after is None:
            free_resources = self.free_resources
            self._after = free_resources.pool.free_resources(
                free_resources.traits, free_resources.resources - self.content.plain
            )
        return self._after

    def is_allocatable(self, minimum: tuple[Quantities, ...]) -> bool:
        """Whether they are worth an offer."""
        found = self._allocatable.get(minimum)
        if found is None:
            found = self._allocatable[minimum] = is_allocatable(self.content.plain, minimum)
        return found


class VisibleResources:
    """What of a shape the frameworks of some roles and capabilities may see."""

    __slots__ = ("_slices", "amounts", "free_resources", "names", "rest", "simple", "unreserved_nonrevocable", "whole")

    def __init__(self, free_resources: "FreeResources", visible: Resources) -> None:
        self.free_resources = free_resources
        self.unreserved_nonrevocable = visible.filter(_is_unreserved_nonrevocable)
        """Unreserved non-revocable scalars: what quota and headroom are about."""
        self.rest = visible.filter(lambda entry: not _is_unreserved_nonrevocable(entry))
        """Everything else: reserved, revocable, or not a scalar."""
        pairs = scalar_pairs(self.unreserved_nonrevocable)
        self.names = tuple(name for name, _ in pairs)
        self.amounts = tuple(amount for _, amount in pairs)
        self.simple = len(self.unreserved_nonrevocable) == len(pairs) and not any(
            entry.disk is not None and entry.disk.indivisible for entry in self.unreserved_nonrevocable
        )
        """Whether shrinking is taking the smaller number of each name, and nothing is left to chance."""
        self.whole = ResourceSubset(free_resources, self.rest + self.unreserved_nonrevocable)
        self._slices: dict[tuple[int, ...], ResourceSubset] = {self.amounts: self.whole}

    def of_amounts(self, amounts: tuple[int, ...]) -> ResourceSubset:
        """The rest, and these amounts of the loose names, in the order of `names`.  For a simple cut."""
        found = self._slices.get(amounts)
        if found is None:
            wanted = dict(zip(self.names, amounts, strict=True))
            entries = [*self.rest, *(_resized(entry, wanted[entry.name]) for entry in self.unreserved_nonrevocable)]
            found = self._slices[amounts] = ResourceSubset(self.free_resources, Resources(entries))
        return found


class OfferableResources:
    """What a framework of a certain eligibility can be offered of a shape, if no bound is in the way."""

    __slots__ = ("_parts", "eligibility", "visible_resources", "whole")

    def __init__(self, visible_resources: VisibleResources, eligibility: Eligibility) -> None:
        self.visible_resources = visible_resources
        self.eligibility = eligibility
        self.whole = Part(visible_resources.whole, eligibility)
        self._parts: dict[tuple[int, ...], Part] = {visible_resources.amounts: self.whole}

    def part(self, resources: Resources) -> Part:
        """Some of it."""
        return Part(ResourceSubset(self.visible_resources.free_resources, resources), self.eligibility)

    def part_of_amounts(self, amounts: tuple[int, ...]) -> Part:
        """The rest and these amounts of the loose names."""
        found = self._parts.get(amounts)
        if found is None:
            found = self._parts[amounts] = Part(self.visible_resources.of_amounts(amounts), self.eligibility)
        return found


class FreeResources:
    """The free resources of agents that are alike."""

    __slots__ = (
        "_cuts",
        "_owners",
        "has_unreserved_nonrevocable",
        "is_empty",
        "pool",
        "portions",
        "resources",
        "revocable",
        "traits",
    )  # fmt: skip

    def __init__(self, pool: "InternPool", traits: AgentFeatures, resources: Resources) -> None:
        self.pool = pool
        self.traits = traits
        self.resources = resources
        self.is_empty = not resources
        self.has_unreserved_nonrevocable = any(_is_unreserved_nonrevocable(entry) for entry in resources)
        """Whether there is anything in it that could serve a guarantee."""
        self.revocable: Pairs = scalar_pairs(resources.revocable())
        self.portions: dict[Eligibility, OfferableResources | None] = {}
        """Filled by `offerable`; read straight from the inner loops."""
        self._owners = tuple({entry.role: None for entry in resources if entry.is_reserved})
        self._cuts: dict[tuple[tuple[str, ...], AcceptedKinds], VisibleResources] = {}

    def offerable(self, eligibility: Eligibility) -> OfferableResources | None:
        """None where a framework like that can never be offered anything of it."""
        if eligibility in self.portions:
            return self.portions[eligibility]
        found = None
        if eligibility.admits(self.traits):
            visible_resources = self._visible_resources(eligibility.role, eligibility.accepted_kinds)
            if visible_resources.whole.is_allocatable(eligibility.minimum):
                found = OfferableResources(visible_resources, eligibility)
        self.portions[eligibility] = found
        return found

    def _visible_resources(self, role: str, accepted_kinds: AcceptedKinds) -> VisibleResources:
        owners = tuple(owner for owner in self._owners if owner == role or roles.is_strict_subrole(role, owner))
        found = self._cuts.get((owners, accepted_kinds))
        if found is None:
            visible = self.resources.filter(lambda entry: entry.allocatable_to(role) and accepted_kinds.accepts(entry))
            found = self._cuts[owners, accepted_kinds] = VisibleResources(self, visible)
        return found


class Capacity:
    """An agent's total and traits, interned, and what is free of it by what is held."""

    __slots__ = ("_catalogue", "_free", "reserved", "scalars", "total", "traits")

    def __init__(self, pool: "InternPool", traits: AgentFeatures, total: Resources) -> None:
        self._catalogue = pool
        self.traits = traits
        self.total = total
        self.scalars: Pairs = scalar_pairs(total)
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
                used = Resources(entry for allocation in held for entry in allocation.plain)
                shared = self.total.filter(lambda entry: entry.shared)
                if shared:
                    left = left.filter(_is_own) - used.filter(_is_own) + shared
                else:
                    left -= used
            free_resources = self._free[held] = self._catalogue.free_resources(self.traits, left)
            self._catalogue.remembered += 1
        return free_resources


class InternPool:
    """Every shape, capacity and allocation in use."""

    def __init__(self) -> None:
        self.parcels = AllocationPool()
        self._shapes: dict[tuple[AgentFeatures, tuple[object, ...]], FreeResources] = {}
        self._capacities: dict[tuple[AgentFeatures, tuple[object, ...]], Capacity] = {}
        self.remembered = 0
        """How often a capacity keeps what is free of it."""

    def __len__(self) -> int:
        return len(self.parcels) + len(self._shapes) + len(self._capacities) + self.remembered

    def free_resources(self, traits: AgentFeatures, resources: Resources) -> FreeResources:
        """The one shape with this content."""
        key = (traits, written(resources))
        found = self._shapes.get(key)
        if found is None:
            found = self._shapes[key] = FreeResources(self, traits, resources)
        return found

    def capacity(self, traits: AgentFeatures, total: Resources) -> Capacity:
        """The one capacity with this content."""
        key = (traits, written(total))
        found = self._capacities.get(key)
        if found is None:
            found = self._capacities[key] = Capacity(self, traits, total)
        return found

    def forget(self) -> None:
        """Start over, when more has been seen than is worth remembering."""
        self.parcels.forget()
        self._shapes.clear()
        self._capacities.clear()
        self.remembered = 0


def _resized(entry: Resource, amount: int) -> Resource:
    return entry if entry.value == amount else replace(entry, value=amount)


def _is_unreserved_nonrevocable(entry: Resource) -> bool:
    return entry.is_scalar and not entry.revocable and not entry.is_reserved


def _is_own(entry: Resource) -> bool:
    return not entry.shared
