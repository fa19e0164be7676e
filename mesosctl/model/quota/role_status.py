"""Roles as commands report them: their usage, how it compares with their quota, and a weight that was set."""

from collections.abc import Callable
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
    def reached(self) -> Quantities:
        """The amounts that it uses or has reserved at or above its limits, of each resource that has one."""
        used = Quantities() if self.usage is None else self.usage.used
        return Quantities(
            {name: used[name] for name, bound in self.quota.limits.items() if name in used and used[name] >= bound}
        )

    def limit_sentence(self, text: Callable[[Quantities], str], *, would: bool = False) -> str:
        """Return what it has `reached` in a sentence, of a role that `would` have; `text` writes its amounts."""
        reached, limits = self.reached, self.quota.limits
        is_over = any(milli > limits[name] for name, milli in reached.items())
        bounds = text(Quantities({name: limits[name] for name in reached}))
        uses, gets = ("would use or have reserved", "would get") if would else ("uses or has reserved", "gets")
        return (
            f"{self.role} {uses} {text(reached)}, {'more than' if is_over else 'all of'} its limit of {bounds}: "
            f"it {gets} no more {' or '.join(reached)}"
        )

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
        reached = self.reached
        if any(milli > limits[name] for name, milli in reached.items()):
            return "over limit"
        if guarantees - used:
            return "met by offers"
        if reached:
            return "met (at limit)" if guarantees else "at limit"
        return "met"


class WeightChange(NamedTuple):
    """A weight that was set; a role without one has weight 1."""

    role: str
    before: float
    after: float
    confirmed: bool = True
    """Whether it was read back."""
