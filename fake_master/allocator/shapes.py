"""Shapes: what is free on an agent, interned, with every value derived from it.

Most agents of a cluster look alike, and an agent looks the same again after an offer was
declined.  So all that a run asks about free resources hangs on one shared object for each
distinct content: what a role may see of it (`Cut`), what a framework of a role would be offered
(`Portion`), and part of that where a quota leaves room for no more (`Part`, of a `Slice`).  All of it depends
on the content alone, so it never becomes wrong, only superfluous.
"""

from dataclasses import replace

from fake_master.allocator.amounts import Pairs, scalar_pairs, written
from fake_master.allocator.eligibility import Eligibility
from fake_master.allocator.parcels import Content, Parcel, Parcels
from mesosctl.core import roles
from mesosctl.core.admission import Taste, Traits
from mesosctl.core.minimum import is_allocatable
from mesosctl.core.quantities import Quantities
from mesosctl.core.resource import Resource
from mesosctl.core.resources import Resources


class Part:
    """Something that one role could be offered of one shape."""

    __slots__ = ("allocatable", "charge", "parcel", "slice")

    def __init__(self, cut_slice: "Slice", eligibility: Eligibility) -> None:
        self.slice = cut_slice
        self.parcel: Parcel = cut_slice.shape.catalogue.parcels.for_role(eligibility.role, cut_slice.content)
        self.charge: Pairs = self.parcel.unreserved
        """What it counts towards quota and headroom."""
        self.allocatable = cut_slice.is_allocatable(eligibility.minimum)

    @property
    def after(self) -> "Shape":
        """The shape that is left, shared volumes in it taken out until the end of the run."""
        return self.slice.after


class Slice:
    """Some resources of a shape, whoever gets them."""

    __slots__ = ("_after", "_allocatable", "content", "shape")

    def __init__(self, shape: "Shape", resources: Resources) -> None:
        self.shape = shape
        self.content = Content(resources)
        self._after: Shape | None = None
        self._allocatable: dict[tuple[Quantities, ...], bool] = {}

    @property
    def after(self) -> "Shape":
        """The shape without them."""
        if self._after is None:
            shape = self.shape
            self._after = shape.catalogue.shape(shape.traits, shape.resources - self.content.plain)
        return self._after

    def is_allocatable(self, minimum: tuple[Quantities, ...]) -> bool:
        """Whether they are worth an offer."""
        found = self._allocatable.get(minimum)
        if found is None:
            found = self._allocatable[minimum] = is_allocatable(self.content.plain, minimum)
        return found


class Cut:
    """What of a shape the frameworks of some roles and capabilities may see."""

    __slots__ = ("_slices", "amounts", "loose", "names", "rest", "shape", "simple", "whole")

    def __init__(self, shape: "Shape", visible: Resources) -> None:
        self.shape = shape
        self.loose = visible.filter(_is_loose)
        """Unreserved non-revocable scalars: what quota and headroom are about."""
        self.rest = visible.filter(lambda entry: not _is_loose(entry))
        """Everything else: reserved, revocable, or not a scalar."""
        pairs = scalar_pairs(self.loose)
        self.names = tuple(name for name, _ in pairs)
        self.amounts = tuple(amount for _, amount in pairs)
        self.simple = len(self.loose) == len(pairs) and not any(
            entry.disk is not None and entry.disk.indivisible for entry in self.loose
        )
        """Whether shrinking is taking the smaller number of each name, and nothing is left to chance."""
        self.whole = Slice(shape, self.rest + self.loose)
        self._slices: dict[tuple[int, ...], Slice] = {self.amounts: self.whole}

    def of_amounts(self, amounts: tuple[int, ...]) -> Slice:
        """The rest, and these amounts of the loose names, in the order of `names`.  For a simple cut."""
        found = self._slices.get(amounts)
        if found is None:
            wanted = dict(zip(self.names, amounts, strict=True))
            entries = [*self.rest, *(_resized(entry, wanted[entry.name]) for entry in self.loose)]
            found = self._slices[amounts] = Slice(self.shape, Resources(entries))
        return found


class Portion:
    """What a framework of a certain eligibility can be offered of a shape, if no bound is in the way."""

    __slots__ = ("_parts", "cut", "eligibility", "whole")

    def __init__(self, cut: Cut, eligibility: Eligibility) -> None:
        self.cut = cut
        self.eligibility = eligibility
        self.whole = Part(cut.whole, eligibility)
        self._parts: dict[tuple[int, ...], Part] = {cut.amounts: self.whole}

    def part(self, resources: Resources) -> Part:
        """Some of it."""
        return Part(Slice(self.cut.shape, resources), self.eligibility)

    def part_of_amounts(self, amounts: tuple[int, ...]) -> Part:
        """The rest and these amounts of the loose names."""
        found = self._parts.get(amounts)
        if found is None:
            found = self._parts[amounts] = Part(self.cut.of_amounts(amounts), self.eligibility)
        return found


class Shape:
    """The free resources of agents that are alike."""

    __slots__ = (
        "_cuts", "_owners", "catalogue", "has_loose", "is_empty", "portions", "resources", "revocable", "traits",
    )  # fmt: skip

    def __init__(self, catalogue: "Catalogue", traits: Traits, resources: Resources) -> None:
        self.catalogue = catalogue
        self.traits = traits
        self.resources = resources
        self.is_empty = not resources
        self.has_loose = any(_is_loose(entry) for entry in resources)
        """Whether there is anything in it that could serve a guarantee."""
        self.revocable: Pairs = scalar_pairs(resources.revocable())
        self.portions: dict[Eligibility, Portion | None] = {}
        """Filled by `portion`; read straight from the inner loops."""
        self._owners = tuple({entry.role: None for entry in resources if entry.is_reserved})
        self._cuts: dict[tuple[tuple[str, ...], Taste], Cut] = {}

    def portion(self, eligibility: Eligibility) -> Portion | None:
        """None where a framework like that can never be offered anything of it."""
        if eligibility in self.portions:
            return self.portions[eligibility]
        found = None
        if eligibility.admits(self.traits):
            cut = self._cut(eligibility.role, eligibility.taste)
            if cut.whole.is_allocatable(eligibility.minimum):
                found = Portion(cut, eligibility)
        self.portions[eligibility] = found
        return found

    def _cut(self, role: str, taste: Taste) -> Cut:
        owners = tuple(owner for owner in self._owners if owner == role or roles.is_strict_subrole(role, owner))
        found = self._cuts.get((owners, taste))
        if found is None:
            visible = self.resources.filter(lambda entry: entry.allocatable_to(role) and taste.accepts(entry))
            found = self._cuts[owners, taste] = Cut(self, visible)
        return found


class Capacity:
    """An agent's total and traits, interned, and what is free of it by what is held."""

    __slots__ = ("_catalogue", "_free", "reserved", "scalars", "total", "traits")

    def __init__(self, catalogue: "Catalogue", traits: Traits, total: Resources) -> None:
        self._catalogue = catalogue
        self.traits = traits
        self.total = total
        self.scalars: Pairs = scalar_pairs(total)
        self.reserved: tuple[tuple[str, Pairs], ...] = tuple(
            (role, scalar_pairs(owned)) for role, owned in total.by_owner().items()
        )
        """Reserved scalars by current owner."""
        self._free: dict[tuple[Parcel, ...], Shape] = {}

    def free(self, held: tuple[Parcel, ...]) -> Shape:
        """The total without what is held; a shared volume is free however many hold it.

        What is held beyond the total is silently ignored, as in Mesos.
        """
        shape = self._free.get(held)
        if shape is None:
            left = self.total
            if held:
                used = Resources(entry for parcel in held for entry in parcel.plain)
                shared = self.total.filter(lambda entry: entry.shared)
                if shared:
                    left = left.filter(_is_own) - used.filter(_is_own) + shared
                else:
                    left -= used
            shape = self._free[held] = self._catalogue.shape(self.traits, left)
            self._catalogue.remembered += 1
        return shape


class Catalogue:
    """Every shape, capacity and parcel in use."""

    def __init__(self) -> None:
        self.parcels = Parcels()
        self._shapes: dict[tuple[Traits, tuple[object, ...]], Shape] = {}
        self._capacities: dict[tuple[Traits, tuple[object, ...]], Capacity] = {}
        self.remembered = 0
        """How often a capacity keeps what is free of it."""

    def __len__(self) -> int:
        return len(self.parcels) + len(self._shapes) + len(self._capacities) + self.remembered

    def shape(self, traits: Traits, resources: Resources) -> Shape:
        """The one shape with this content."""
        key = (traits, written(resources))
        found = self._shapes.get(key)
        if found is None:
            found = self._shapes[key] = Shape(self, traits, resources)
        return found

    def capacity(self, traits: Traits, total: Resources) -> Capacity:
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


def _is_loose(entry: Resource) -> bool:
    return entry.is_scalar and not entry.revocable and not entry.is_reserved


def _is_own(entry: Resource) -> bool:
    return not entry.shared
