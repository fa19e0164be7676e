"""What a framework can take in a role, and what an agent asks of it (spec/allocator.md §6)."""

from dataclasses import dataclass
from typing import NamedTuple

from fake_master.allocator.interface import AgentInfo, FrameworkInfo
from fake_master.allocator.options import Options
from mesosctl.core.quantities import Quantities
from mesosctl.core.resources import Resource, Resources


class Traits(NamedTuple):
    """What of an agent decides whether a framework may have anything of it at all."""

    has_gpus: bool
    remote: bool
    """In another region than the master."""
    multi_role: bool
    hierarchical_role: bool


def traits_of(info: AgentInfo, total: Resources, options: Options) -> Traits:
    """The traits of an agent with these resources."""
    return Traits(
        has_gpus=options.filter_gpu_resources and total.scalar_quantities().get_amount("gpus") > 0,
        remote=None not in (info.region, options.region) and info.region != options.region,
        multi_role="MULTI_ROLE" in info.capabilities,
        hierarchical_role="HIERARCHICAL_ROLE" in info.capabilities,
    )


class Taste(NamedTuple):
    """Which entries of an agent a framework can take: part of its capabilities."""

    shared: bool
    revocable: bool
    refined: bool

    def accepts(self, entry: Resource) -> bool:
        """Whether the entry is of a kind that the framework knows."""
        return (
            (self.shared or not entry.shared)
            and (self.revocable or not entry.revocable)
            and (self.refined or not entry.is_refined)
        )


@dataclass(frozen=True, slots=True, eq=False)
class Eligibility:
    """Everything about a framework in a role that decides what it can be offered of a given agent.

    Interned by the allocator, so that frameworks alike share one object and, with it, whatever was
    worked out for it.
    """

    role: str
    taste: Taste
    gpus: bool
    region_aware: bool
    multi_role: bool
    minimum: tuple[Quantities, ...]

    def admits(self, traits: Traits) -> bool:
        """Whether an agent with these traits can be offered at all."""
        return (
            (self.gpus or not traits.has_gpus)
            and (self.region_aware or not traits.remote)
            and (traits.multi_role or not self.multi_role)
            and (traits.hierarchical_role or "/" not in self.role)
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
            can = info.capabilities.__contains__
            taste = Taste(can("SHARED_RESOURCES"), can("REVOCABLE_RESOURCES"), can("RESERVATION_REFINEMENT"))
            found = self._known[key] = Eligibility(
                role, taste, can("GPU_RESOURCES"), can("REGION_AWARE"), can("MULTI_ROLE"), minimum
            )
        return found
