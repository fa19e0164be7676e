"""Which agents and entries a framework can be offered at all, and for want of what not (spec/allocator.md §6)."""

from collections.abc import Collection
from typing import NamedTuple, Self

from mesosctl.core.resource import Resource
from mesosctl.core.resources import Resources


class Traits(NamedTuple):
    """What of an agent decides whether a framework may have anything of it at all."""

    has_gpus: bool
    """It has some, and they are kept for those who ask for them."""
    remote: bool
    """In another region than the master."""
    multi_role: bool
    hierarchical_role: bool

    @classmethod
    def of(
        cls,
        capabilities: Collection[str],
        total: Resources,
        *,
        filter_gpus: bool,
        region: str | None,
        master_region: str | None,
    ) -> Self:
        """Those of an agent with these capabilities and resources; a region is None where it has no fault domain."""
        return cls(
            has_gpus=filter_gpus and total.scalar_quantities().get_amount("gpus") > 0,
            remote=None not in (region, master_region) and region != master_region,
            multi_role="MULTI_ROLE" in capabilities,
            hierarchical_role="HIERARCHICAL_ROLE" in capabilities,
        )


class Abilities(NamedTuple):
    """What of a framework in a role decides which agents it may have anything of."""

    gpus: bool
    region_aware: bool
    multi_role: bool
    below_a_role: bool
    """Its role lies below another."""

    @classmethod
    def of(cls, role: str, capabilities: Collection[str]) -> Self:
        """Those of a framework with these capabilities."""
        can = capabilities.__contains__
        return cls(can("GPU_RESOURCES"), can("REGION_AWARE"), can("MULTI_ROLE"), "/" in role)

    def lack(self, traits: Traits) -> str | None:
        """The capability for want of which an agent is not offered, the framework's or the agent's; None for none."""
        if traits.has_gpus and not self.gpus:
            return "GPU_RESOURCES"
        if traits.remote and not self.region_aware:
            return "REGION_AWARE"
        if self.below_a_role and not traits.hierarchical_role:
            return "HIERARCHICAL_ROLE of the agent"
        if self.multi_role and not traits.multi_role:
            return "MULTI_ROLE of the agent"
        return None


class Taste(NamedTuple):
    """Which entries of an agent a framework can take: part of its capabilities."""

    shared: bool
    revocable: bool
    refined: bool

    @classmethod
    def of(cls, capabilities: Collection[str]) -> Self:
        """That of a framework with these capabilities."""
        can = capabilities.__contains__
        return cls(can("SHARED_RESOURCES"), can("REVOCABLE_RESOURCES"), can("RESERVATION_REFINEMENT"))

    def lack(self, entry: Resource) -> str | None:
        """The capability for want of which an entry is not offered; None for none."""
        if entry.shared and not self.shared:
            return "SHARED_RESOURCES"
        if entry.revocable and not self.revocable:
            return "REVOCABLE_RESOURCES"
        if entry.is_refined and not self.refined:
            return "RESERVATION_REFINEMENT"
        return None

    def accepts(self, entry: Resource) -> bool:
        """Whether the entry is of a kind that the framework knows."""
        return self.lack(entry) is None
