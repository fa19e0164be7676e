"""The capacity heuristic: the amounts that a cluster can promise, whether its quotas fit, and how much room is left.

Source: Mesos documentation, "Quota", "Capacity Heuristic Check".
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple, Protocol

from mesosctl.mesos.amounts.amount_text import in_words
from mesosctl.mesos.amounts.identity import occurrences
from mesosctl.mesos.amounts.quantities import Limits, Quantities, Quota, add_up
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.errors import Conflict
from mesosctl.mesos.exit_status import Answer
from mesosctl.mesos.rules.version_profile import Profile


class CountedAgent(Protocol):
    """Anything with the part of a registered agent that the capacity heuristic reads."""

    @property
    def total(self) -> Resources: ...  # noqa: D102

    @property
    def active(self) -> bool: ...  # noqa: D102


class AgentCapacity(NamedTuple):
    """The part of a registered agent that the capacity heuristic reads."""

    total: Resources
    active: bool = True
    """Connected and not deactivated."""


def capacity(agents: Iterable[CountedAgent], profile: Profile) -> Quantities:
    """Return the amounts that the cluster can promise: `total - statically reserved` of the agents in service.

    On newer masters reserved resources count too, and so do inactive agents.
    """
    counted = (agent.total for agent in agents if agent.active or profile.capacity_includes_inactive_agents)
    sums: dict[str, int] = {}
    for total, count in occurrences(counted):  # thousands of agents share a few objects
        add_up(sums, [(name, amount * count) for name, amount in _promised(total, profile)])
    return Quantities(sums)


def _promised(total: Resources, profile: Profile) -> list[tuple[str, int]]:
    """Return the amounts of one agent that count."""
    includes_static = profile.capacity_includes_static_reservations
    return [
        (entry.name, entry.value)
        for entry in total
        if isinstance(entry.value, int)
        and not entry.revocable
        and (includes_static or not entry.reservations or not entry.is_statically_reserved)
    ]


def total_guarantees(quotas: Mapping[str, Quota]) -> Quantities:
    """Return the sum of all guarantees; a parent's guarantee already contains its children's."""
    return Quantities.total(quota.guarantees for role, quota in quotas.items() if "/" not in role)


def check_capacity(quotas: Mapping[str, Quota], available: Quantities) -> None:
    """The heuristic: `available >= total quota`, request included; equality passes.  Raises Conflict."""
    needed = total_guarantees(quotas)
    if not available.contains(needed):
        short = Quantities({name: amount - available.get_amount(name) for name, amount in needed.items()})
        raise Conflict(
            f"not enough capacity: guarantees add up to {in_words(needed)}, but the cluster has "
            f"{in_words(available)} ({in_words(short)} too much)",
            field="guarantee",
            rule="quota.capacity",
            hint="ask for less, or wait until more agents have registered",
            override="force",
        )


def unpromised(quotas: Mapping[str, Quota], available: Quantities) -> Quantities:
    """Return the largest quota that would pass for a role without one.

    No quota passes while more of any resource is guaranteed than there is.
    """
    promised = total_guarantees(quotas)
    return available - promised if available.contains(promised) else Quantities()


# --- The answers of `quota room` and `quota check` --------------------------------------------------


class CheckedRule(NamedTuple):
    """One rule and whether a request keeps it; None if it could not be checked."""

    rule: str
    passed: bool | None
    sentence: str
    hint: str | None = None


class GuaranteeRoom(NamedTuple):
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
    limits: Limits = Limits()
    """The present limits of the role, which no guarantee may exceed; `quota update` leaves them as they are."""

    @property
    def overcommitted(self) -> Quantities:
        """The amounts that are guaranteed to others beyond the capacity."""
        return self.promised - self.capacity

    @property
    def bounding(self) -> Limits:
        """Those of the limits that allow less than the cluster has left."""
        left = self.capacity - self.promised
        return Limits({name: bound for name, bound in self.limits.items() if bound < left.get_amount(name)})


class CapacityCheck(NamedTuple):
    """Whether a quota would be accepted, rule by rule, and how much room there is.

    The amounts are None if agents or quotas are not visible.
    """

    role: str
    requested: Quantities
    findings: tuple[CheckedRule, ...]
    capacity: Quantities | None = None
    promised: Quantities | None = None
    """The sum of the guarantees of all other roles."""
    largest: Quantities | None = None
    """The largest quota that would pass for this role."""
    limits: Limits = Limits()
    """Those that `quota set` would set."""

    @property
    def passed(self) -> bool:
        """Whether no rule is broken."""
        return self.answer != "no"

    @property
    def answer(self) -> Answer:
        """Whether it would be accepted; unknown if what a master does not show could refuse it."""
        results = [finding.passed for finding in self.findings]
        return "no" if False in results else "unknown" if None in results else "yes"

    @property
    def verdict(self) -> str:
        """The answer in a sentence."""
        limits = Quantities(self.limits)
        wish = f"{in_words(self.requested)} for {self.role}" if self.requested else "it"
        if limits and not self.requested:
            wish = f"a limit of {in_words(limits)} for {self.role}"
        broken = [finding for finding in self.findings if finding.passed is False]
        if broken:
            more = f"; other rules broken: {len(broken) - 1}" if len(broken) > 1 else ""
            return f"NO: {wish} would be refused: {broken[0].sentence}{more}"
        unknown = sum(finding.passed is None for finding in self.findings)
        if unknown:
            return f"PERHAPS: {wish} breaks no rule that was checked; not checked: {unknown}"
        return f"YES: {wish} would be accepted"

    @property
    def has_quota(self) -> bool:
        """Whether the role certainly has quota already."""
        return any(finding.rule == "quota.already-set" and finding.passed is False for finding in self.findings)
