"""The values that commands on quota and weights report: usage and status of a role, a check, changes that were made."""

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


class Finding(NamedTuple):
    """One rule and whether a request keeps it; None if it could not be checked."""

    rule: str
    passed: bool | None
    sentence: str
    hint: str | None = None


class QuotaRoom(NamedTuple):
    """The quota that a cluster can still guarantee."""

    role: str | None
    """The role that it is for; None for one without quota."""
    guarantee: Quantities | None
    """The present guarantee of the role; None if it has no quota, or no role was named."""
    capacity: Quantities
    promised: Quantities
    """The sum of the guarantees of all other roles."""
    largest: Quantities
    """The largest guarantee that would be accepted; empty while more is guaranteed than there is."""

    @property
    def overcommitted(self) -> Quantities:
        """The amounts that are guaranteed to others beyond the capacity."""
        return self.promised - self.capacity


class QuotaCheck(NamedTuple):
    """Whether a quota would be accepted, rule by rule, and how much room there is.

    The amounts are None if agents or quotas are not visible.
    """

    role: str
    requested: Quantities
    findings: tuple[Finding, ...]
    capacity: Quantities | None = None
    promised: Quantities | None = None
    """The sum of the guarantees of all other roles."""
    largest: Quantities | None = None
    """The largest quota that would pass for this role."""

    @property
    def passed(self) -> bool:
        """Whether no rule is broken."""
        return all(finding.passed is not False for finding in self.findings)

    @property
    def has_quota(self) -> bool:
        """Whether the role certainly has quota already."""
        return any(finding.rule == "quota.already-set" and finding.passed is False for finding in self.findings)


class QuotaChange(NamedTuple):
    """A change that was made: the quota before and after, None for no quota."""

    role: str
    before: Quota | None
    after: Quota | None
    confirmed: bool = True
    """Whether it was read back."""
    limit_given: bool = True
    """Whether the limits were given."""

    @property
    def done(self) -> Literal["set", "updated", "removed"]:
        """The change in one word."""
        if self.after is None:
            return "removed"
        return "set" if self.before is None else "updated"


class WeightChange(NamedTuple):
    """A weight that was set; a role without one has weight 1."""

    role: str
    before: float
    after: float
    confirmed: bool = True
    """Whether it was read back."""
