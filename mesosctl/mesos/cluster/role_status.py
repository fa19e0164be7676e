"""Roles as commands report them: their usage, how it compares with their quota, and a weight that was set."""

from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple

from mesosctl.mesos.amounts.quantities import Limits, Quantities, Quota
from mesosctl.mesos.cluster.guarantees import GuaranteeState, guarantee_state


class RoleWeight(NamedTuple):
    """A weight that was set."""

    role: str
    weight: float


class RoleUsage(NamedTuple):
    """The resources of a role and the roles below it (Mesos documentation, "HTTP Endpoints", "/roles").

    Sets and ranges are by count.  Revocable amounts are apart, as `cpus_revocable`, if the frameworks could be read.
    """

    consumed: Quantities | None = None
    """Allocated, or reserved and idle; None if the master does not show it (before 1.9)."""
    allocated: Quantities = Quantities()
    """By tasks and executors."""
    offered: Quantities = Quantities()
    reserved: Quantities = Quantities()
    frameworks: int = 0
    """Those that are subscribed to the role itself."""
    weight: float = 1.0
    idle: Quantities | None = None
    """Reserved, and neither used nor offered; None if that is unknown."""
    towards_guarantee: Quantities | None = None
    """The part that counts towards the guarantee, without offers; None if that is unknown."""
    offered_towards_guarantee: Quantities | None = None
    """The part of `offered` that would count too: neither reserved nor revocable."""
    subscribers: int | None = None
    """Frameworks that are subscribed to it or to a role below it; None if that is unknown."""
    wanting: bool | None = None
    """Whether a framework wants offers in the role itself; None if that is unknown."""

    @property
    def counted(self) -> Quantities:
        """Used or reserved: what counts towards the guarantee and is not in an offer."""
        if self.towards_guarantee is not None:
            return self.towards_guarantee
        return self.allocated if self.consumed is None else self.consumed

    @property
    def counted_with_offers(self) -> Quantities:
        """The same with what is offered."""
        offered = self.offered_towards_guarantee
        return self.counted + (self.offered if offered is None else offered)

    @property
    def limited(self) -> Quantities:
        """The part that counts towards limits."""
        return self.allocated if self.consumed is None else self.consumed


Standing = Literal[
    "below guarantee",
    "wants no more",
    "wanting unknown",
    "no frameworks",
    "met by offers",
    "met",
    "met (at limit)",
    "within limit",
    "at limit",
    "over limit",
    "no quota",
    "unknown",
]
"""The status of a role and its quota.

`within limit`, `at limit` and `over limit` are said of roles without a guarantee too.
`no frameworks`, `wants no more` and `wanting unknown` mean below its guarantee, but no framework is subscribed to the
role itself, none wants offers, or the master does not show whether one does.
"""


class RoleStatus(NamedTuple):
    """A role, mostly one with quota; `usage` is None if it was not requested or is not visible."""

    role: str
    quota: Quota
    usage: RoleUsage | None = None
    kept: Quantities | None = None
    """The part of what its guarantee lacks that lies free for it; None if that is unknown."""
    guarantee_is_limit: bool = False
    """Whether its guarantee caps it, as on Mesos 1.4 to 1.8."""

    @property
    def limits(self) -> Limits:
        """The bounds of what it gets: its limits, or its guarantee where that caps it."""
        return self.quota.bounds(guarantee_is_limit=self.guarantee_is_limit)

    @property
    def weight(self) -> float | None:
        """The weight of the role; None if the usage is unknown."""
        return None if self.usage is None else self.usage.weight

    @property
    def used(self) -> Quantities:
        """The resources of its tasks and executors; empty if the usage is unknown."""
        return Quantities() if self.usage is None else self.usage.allocated

    @property
    def counted(self) -> Quantities:
        """Used or reserved: the part that counts towards the guarantee; empty if the usage is unknown."""
        return Quantities() if self.usage is None else self.usage.counted

    @property
    def missing(self) -> Quantities:
        """The part of the guarantee that is neither used nor offered; empty if the usage is unknown."""
        return Quantities() if self.usage is None else self.quota.guarantees - self.usage.counted_with_offers

    @property
    def unmet(self) -> Quantities | None:
        """The part of `missing` that is not kept either; None if that is unknown."""
        missing = self.missing
        if self.usage is None or (missing and (self.usage.wanting is None or self.kept is None)):
            return None
        return missing if self.kept is None else missing - self.kept

    @property
    def guarantee_state(self) -> GuaranteeState | None:
        """Whether its guarantee is met, kept or unmet; None without one, or if that is unknown."""
        unmet = self.unmet
        return (
            None if unmet is None or not self.quota.guarantees else guarantee_state(self.missing, self.missing - unmet)
        )

    @property
    def reached(self) -> Quantities:
        """The amounts that it uses or has reserved at or above its limits, of each resource that has one."""
        if self.usage is None:
            return Quantities()
        used = self.usage.counted if self.guarantee_is_limit else self.usage.limited
        return Quantities(
            {name: used[name] for name, bound in self.limits.items() if name in used and used[name] >= bound}
        )

    def share_of(self, totals: Quantities) -> "Share | None":
        """Return its share of a cluster of `totals`; None if it has nothing, and is promised nothing."""
        used = self.counted
        names = [name for name in dict.fromkeys([*used, *self.quota.guarantees]) if totals.get(name)]

        def part(amounts: Mapping[str, int], name: str) -> float:
            return amounts.get(name, 0) / totals[name]

        if not names:
            return None
        name = max(names, key=lambda name: (part(used, name), part(self.quota.guarantees, name)))
        limit = self.quota.limits.get(name)
        guarantee = part(self.quota.guarantees, name)
        return Share(name, part(used, name), guarantee, None if limit is None else limit / totals[name])

    def limit_sentence(self, text: Callable[[Quantities], str], *, would: bool = False) -> str:
        """Return what it has `reached` in a sentence, of a role that `would` have; `text` writes its amounts."""
        reached, limits = self.reached, self.limits
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
        guarantees, limits = self.quota.guarantees, self.limits
        if not guarantees and not limits:
            return "no quota"
        if self.usage is None:
            return "unknown"
        if self.missing:
            if not self.usage.frameworks:  # no release offers the guarantee to frameworks in roles below
                return "no frameworks"
            if self.usage.wanting is None:
                return "wanting unknown"
            return "below guarantee" if self.usage.wanting else "wants no more"
        reached = self.reached
        if any(milli > limits[name] for name, milli in reached.items()):
            return "over limit"
        if guarantees - self.usage.counted:
            return "met by offers"
        if reached:
            return "met (at limit)" if guarantees else "at limit"
        return "met" if guarantees else "within limit"


class Share(NamedTuple):
    """The resource of which a role uses, or is guaranteed, the largest part of the cluster; as fractions."""

    resource: str
    used: float
    guarantee: float
    limit: float | None


class AppliedWeight(NamedTuple):
    """A weight that was set; a role without one has weight 1."""

    role: str
    before: float
    after: float
    confirmed: bool = True
    """Whether it was read back."""
