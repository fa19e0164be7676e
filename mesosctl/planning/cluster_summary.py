"""A cluster at one moment, summed up: at one time of a dry run, and as `top` shows it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mesosctl.model.quantities import Quantities, Quota, to_double
from mesosctl.model.quota.capacity import total_guarantees, unpromised
from mesosctl.model.quota.role_status import RoleStatus, RoleUsage
from mesosctl.planning.message_rates import Rates


@dataclass(frozen=True, slots=True)
class HeldResources:
    """The resources that one role or framework uses and is offered."""

    used: Quantities = field(default_factory=Quantities)
    """By tasks and executors."""
    offered: Quantities = field(default_factory=Quantities)

    @property
    def total(self) -> Quantities:
        """Used and offered, which the allocator does not distinguish."""
        return self.used + self.offered

    def dominant(self, totals: Quantities) -> tuple[str | None, float]:
        """The resource of which it holds the largest part of the cluster, and that part; weights are not in it."""
        parts = {
            name: to_double(milli) / to_double(totals[name]) for name, milli in self.total.items() if name in totals
        }
        name = max(parts, key=lambda part: parts[part], default=None)
        return (None, 0.0) if name is None else (name, parts[name])


@dataclass(frozen=True, slots=True)
class LikeAgents:
    """Agents in service that look the same, and how much of one a role could get."""

    unreserved: Quantities
    idle: Quantities
    """The part of `unreserved` that no task uses; offers of it can be rescinded."""
    reserved: tuple[tuple[str, Quantities], ...] = ()
    """By owner."""

    def whole(self, role: str) -> Quantities:
        """The most that such an agent could give to `role` while nothing ran there."""
        return self._with_own(self.unreserved, role)

    def now(self, role: str) -> Quantities:
        """The same alongside the tasks that run there now."""
        return self._with_own(self.idle, role)

    def _with_own(self, amounts: Quantities, role: str) -> Quantities:
        """Return the amounts, and those reserved for the role or for roles below it."""
        below = role + "/"
        own = [held for owner, held in self.reserved if owner == role or owner.startswith(below)]
        return Quantities.total([amounts, *own]) if own else amounts


@dataclass(frozen=True, slots=True)
class ClusterSummary:
    """A cluster at one moment, summed up.  Scalars only, in thousandths."""

    totals: Quantities
    """Of the agents in service."""
    capacity: Quantities
    """The amounts that guarantees may promise."""
    free: Quantities
    """Unreserved, on agents in service, neither used nor offered."""
    roles: Mapping[str, HeldResources] = field(default_factory=dict)
    frameworks: Mapping[str, HeldResources] = field(default_factory=dict)
    """By id."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Of frameworks, by id."""
    quotas: Mapping[str, Quota] = field(default_factory=dict)
    counted: Mapping[str, Quantities] = field(default_factory=dict)
    """By role with quota: what counts towards its guarantee, including reserved and idle if that counts."""
    consumed: Mapping[str, Quantities] = field(default_factory=dict)
    """The part of `counted` that is not merely offered."""
    asking: frozenset[str] = frozenset()
    """Roles in which, or below which, a framework is subscribed."""
    like_agents: Mapping[LikeAgents, int] = field(default_factory=dict)
    """How many agents look like each."""

    def status(self, role: str) -> RoleStatus:
        """Return a role with its quota, and what it uses and is offered of that."""
        consumed = self.consumed.get(role, Quantities())
        offered = self.counted.get(role, Quantities()) - consumed
        usage = RoleUsage(consumed=consumed, offered=offered, frameworks=int(role in self.asking))
        return RoleStatus(role, self.quotas.get(role, Quota()), usage)

    def shortfall(self, role: str) -> Quantities:
        """Return the part of the guarantee of `role` that is not met."""
        quota = self.quotas.get(role)
        return Quantities() if quota is None else quota.guarantees - self.counted.get(role, Quantities())

    def unmet(self) -> dict[str, Quantities]:
        """The shortfall of each role with quota that counts: all of it if a framework is subscribed.

        For a role without frameworks, free resources are kept back, in the order of names.
        """
        left = self.free
        found: dict[str, Quantities] = {}
        for role in sorted(self.quotas, key=lambda name: (name not in self.asking, name)):
            lacking = self.shortfall(role)
            found[role] = lacking if role in self.asking else lacking - left
            left -= lacking
        return found

    @property
    def promised(self) -> Quantities:
        """Guarantees of all top-level roles."""
        return total_guarantees(self.quotas)

    @property
    def unpromised(self) -> Quantities:
        """The largest guarantee that would pass the capacity heuristic for a role without one."""
        return unpromised(self.quotas, self.capacity)

    @property
    def owed(self) -> Quantities:
        """The sum of unmet guarantees; that much of `free` is held back for them."""
        return Quantities.total(self.shortfall(role) for role in self.quotas if "/" not in role)


@dataclass(frozen=True, slots=True)
class WaitingOffers:
    """The offers that one framework has not answered."""

    framework: str
    framework_id: str
    roles: tuple[str, ...]
    offers: int
    resources: Quantities
    oldest: float
    """Seconds for which its oldest offer has been seen."""
    was_there: bool = False
    """Whether that offer existed at the first reading, and so is older: a master does not show when it made an
    offer.
    """


@dataclass(frozen=True, slots=True)
class Share:
    """The resource of which a role uses, or is guaranteed, the largest part of the cluster; as fractions."""

    resource: str
    used: float
    guarantee: float
    limit: float | None


@dataclass(frozen=True, slots=True)
class Overview:
    """A cluster at one moment."""

    taken_at: float
    """In seconds since 1970."""
    version: str
    total: Quantities
    """Of the agents in service."""
    used: Quantities
    """By tasks and executors."""
    offered: Quantities
    agents: Mapping[str, int] = field(default_factory=dict)
    """How many there are in each state."""
    frameworks: int = 0
    roles: Sequence[RoleStatus] = ()
    offers: Sequence[WaitingOffers] = ()
    """The longest waiting first."""
    throttled: Sequence[Rates] = ()
    """Principals of which messages wait because of a rate limit."""
    unknown: Sequence[str] = ()
    """The data that this principal may not see."""
    idle: Quantities = field(default_factory=Quantities)
    """Reserved, and neither used nor offered; nothing if the master does not say (before 1.9)."""

    def share(self, role: RoleStatus) -> Share | None:
        """Return the share of a role; None if it has nothing, and is promised nothing."""
        used = Quantities() if role.usage is None else role.usage.used
        names = [name for name in dict.fromkeys([*used, *role.quota.guarantees]) if self.total.get(name)]

        def part(amounts: Mapping[str, int], name: str) -> float:
            return amounts.get(name, 0) / self.total[name]

        if not names:
            return None
        name = max(names, key=lambda one: (part(used, one), part(role.quota.guarantees, one)))
        limit = role.quota.limits.get(name)
        return Share(
            name,
            part(used, name),
            part(role.quota.guarantees, name),
            None if limit is None else limit / self.total[name],
        )
