"""The values that commands on quota report: usage and status of a role, findings of a check, a change that was made."""

from typing import TYPE_CHECKING, Literal, NamedTuple

from mesosctl.model.quantities import Quantities, Quota

if TYPE_CHECKING:
    pass  # a command that only reads quota needs none


class RoleUsage(NamedTuple):
    """The resources of a role and the roles below it; sets and ranges by count (Mesos documentation, `/roles`)."""

    consumed: Quantities | None = None
    """Allocated, and reserved without being in use; None where a master does not say (before 1.9)."""
    allocated: Quantities = Quantities()
    offered: Quantities = Quantities()
    reserved: Quantities = Quantities()
    frameworks: int = 0
    weight: float = 1.0


class RoleStatus(NamedTuple):
    """A role with quota; `usage` is None where it was not asked for or may not be seen."""

    role: str
    quota: Quota
    usage: RoleUsage | None = None


class Finding(NamedTuple):
    """One rule and whether a request keeps it; None where it could not be checked."""

    rule: str
    passed: bool | None
    sentence: str
    hint: str | None = None


class QuotaCheck(NamedTuple):
    """Whether a quota would be accepted, rule by rule, and how much room there is.

    The amounts are None where agents or quotas may not be seen.
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
