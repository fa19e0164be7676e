"""Roles as commands report them: their usage, how it compares with their quota, and a weight that was set."""

from typing import Literal, NamedTuple

from mesosctl.model.quantities import Quantities, Quota


class RoleUsage(NamedTuple):
    """The resources of a role and the roles below it; sets and ranges by count (Mesos documentation, `/roles`)."""

    consumed: Quantities | None = None
    """Allocated, or reserved and idle; None if the master does not show it (before 1.9)."""
    allocated: Quantities = Quantities()
    offered: Quantities = Quantities()
    reserved: Quantities = Quantities()
    frameworks: int = 0
    weight: float = 1.0

    @property
    def used(self) -> Quantities:
        """The part that counts towards the quota and is not in an offer."""
        return self.allocated if self.consumed is None else self.consumed


Standing = Literal[
    "below guarantee",
    "no frameworks",
    "met by offers",
    "met",
    "met (at limit)",
    "at limit",
    "over limit",
    "no quota",
    "unknown",
]
"""The status of a role and its quota; `no frameworks` means below its guarantee, but no framework is subscribed."""


class RoleStatus(NamedTuple):
    """A role, mostly one with quota; `usage` is None if it was not requested or is not visible."""

    role: str
    quota: Quota
    usage: RoleUsage | None = None

    @property
    def weight(self) -> float | None:
        """The weight of the role; None if the usage is unknown."""
        return None if self.usage is None else self.usage.weight

    @property
    def missing(self) -> Quantities:
        """The part of the guarantee that is neither used nor offered; empty if the usage is unknown."""
        if self.usage is None:
            return Quantities()
        return self.quota.guarantees - (self.usage.used + self.usage.offered)

    @property
    def standing(self) -> Standing:
        """The status of the role."""
        guarantees, limits = self.quota.guarantees, self.quota.limits
        if not guarantees and not limits:
            return "no quota"
        if self.usage is None:
            return "unknown"
        if self.missing:
            return "below guarantee" if self.usage.frameworks else "no frameworks"
        used = self.usage.used
        if any(used.get(name, 0) > milli for name, milli in limits.items()):
            return "over limit"
        if guarantees - used:
            return "met by offers"
        if any(milli and used.get(name, 0) == milli for name, milli in limits.items()):
            return "met (at limit)" if guarantees else "at limit"
        return "met"


class WeightChange(NamedTuple):
    """A weight that was set; a role without one has weight 1."""

    role: str
    before: float
    after: float
    confirmed: bool = True
    """Whether it was read back."""
