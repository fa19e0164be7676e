"""The account of a cluster: what every agent, role and framework has, wants and may get at one moment.

Every screen shows this and adds nothing up itself.  `Accounts` makes it from a source: a snapshot (`account_of`), or
the state of a fake master.  `roles_as_shown` makes the part about roles from the sums that a master shows, which are
short however many agents it has.  A property of the tests says that both agree.

*Used* is what tasks and executors hold.  A framework *wants* offers in a role if it is active, does not suppress the
role and, where it is known how many tasks it wants, runs fewer.  Where a master does not show which roles it
suppresses, wanting is unknown, and a forecast assumes that it wants.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import NamedTuple

from mesosctl.mesos import roles as role_names
from mesosctl.mesos.amounts.holding import (
    HoldingSums,
    Pairs,
    ResourceParts,
    UsedAndOffered,
    lumped,
    parts_of,
    regular_part,
    sums_by_owner,
)
from mesosctl.mesos.amounts.identity import IdentityCache
from mesosctl.mesos.amounts.quantities import REVOCABLE, Quantities, Quota, add_up
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.cluster.guarantees import common_part, kept_of
from mesosctl.mesos.cluster.holdings import RegisteredAgent
from mesosctl.mesos.cluster.message_rates import PrincipalRates
from mesosctl.mesos.cluster.role_status import RoleStatus, RoleUsage
from mesosctl.mesos.cluster.snapshot import ClusterSnapshot
from mesosctl.mesos.rules.offers.frameworks import ListedFramework
from mesosctl.mesos.rules.quota.capacity import capacity, total_guarantees, unpromised
from mesosctl.mesos.rules.version_profile import Profile

_NOTHING = Quantities()
_NO_RESOURCES = Resources()


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
class ClusterAccount:
    """The account of a whole cluster.  Scalars only, in thousandths; sums of a role include the roles below it."""

    totals: Quantities
    """Of the agents in service."""
    capacity: Quantities
    """The amounts that guarantees may promise."""
    free: Quantities
    """Unreserved, on agents in service, neither used nor offered."""
    registered: Quantities = field(default_factory=Quantities)
    """Of all registered agents."""
    idle: Quantities = field(default_factory=Quantities)
    """Reserved, on registered agents, and neither used nor offered."""
    slack: Quantities = field(default_factory=Quantities)
    """Beyond the totals: what tasks hold and do not use, as registered agents report."""
    agents: Mapping[str, int] = field(default_factory=dict)
    """How many are in service (`active`) and out of it (`inactive`)."""
    by_agent: Mapping[str, "AgentBalance"] = field(default_factory=dict, compare=False)
    """Every registered agent of a snapshot, by id; with its ports and volumes, which are in none of the sums.

    Empty for the account of a running master, which is made so often that its many agents are only added up.
    """
    roles: Mapping[str, UsedAndOffered] = field(default_factory=dict)
    frameworks: Mapping[str, UsedAndOffered] = field(default_factory=dict)
    """By id."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Of frameworks, by id."""
    quotas: Mapping[str, Quota] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)
    """Those that were set; every other role has 1."""
    reserved: Mapping[str, Quantities] = field(default_factory=dict)
    """By role."""
    idle_of: Mapping[str, Quantities] = field(default_factory=dict)
    """By role, the part of `reserved` that is neither used nor offered."""
    subscribed: Mapping[str, int] = field(default_factory=dict)
    """How many frameworks are subscribed to each role, or still hold something in it."""
    subscribers: Mapping[str, int] = field(default_factory=dict)
    """The same with the roles below each."""
    counted: Mapping[str, Quantities] = field(default_factory=dict)
    """By role: what counts towards a guarantee, including reserved and idle if that counts."""
    consumed: Mapping[str, Quantities] = field(default_factory=dict)
    """The part of `counted` that is not merely offered."""
    limited: Mapping[str, Quantities] = field(default_factory=dict)
    """By role: what counts towards limits; `consumed` in /roles."""
    asking: frozenset[str] = frozenset()
    """Roles in which a framework wants offers, or may want them.

    Those above are not among them: no release offers their guarantee to a framework in a role below.
    """
    unsure: frozenset[str] = frozenset()
    """Those of `asking` in which it is unknown whether one wants them."""
    like_agents: Mapping[LikeAgents, int] = field(default_factory=dict)
    """How many agents in service look like each."""
    guarantee_is_limit: bool = False
    """Whether a guarantee caps its role."""
    kept: Mapping[str, Quantities] = field(init=False)
    """The part of the shortfall of each role with quota that lies free for it."""

    def __post_init__(self) -> None:
        lacking = {role: self.shortfall(role) for role in self.quotas}
        object.__setattr__(self, "kept", kept_of(lacking, self.asking, self.free))

    @property
    def used(self) -> Quantities:
        """By tasks and executors."""
        return Quantities.total(holding.used for holding in self.frameworks.values())

    @property
    def offered(self) -> Quantities:
        """By offers that are not answered."""
        return Quantities.total(holding.offered for holding in self.frameworks.values())

    @property
    def lent(self) -> Quantities:
        """The part of both that is lent."""
        return Quantities.total(holding.lent for holding in self.frameworks.values())

    @property
    def throttleable(self) -> Quantities:
        """The part of both that is slack of use."""
        return Quantities.total(holding.throttleable for holding in self.frameworks.values())

    @property
    def known_roles(self) -> list[str]:
        """Every role that anything names, and its ancestors, by name."""
        named = (self.roles, self.quotas, self.weights, self.reserved, self.subscribed)
        return sorted(role_names.with_ancestors(chain.from_iterable(named)))

    def status(self, role: str) -> RoleStatus:
        """Return one role: its quota, and what it holds."""
        holding = self.roles.get(role, UsedAndOffered())
        consumed = self.consumed.get(role, _NOTHING)
        reserved = self.reserved.get(role, _NOTHING)
        usage = RoleUsage(
            consumed=self.limited.get(role, consumed),
            allocated=holding.used,
            offered=holding.offered,
            reserved=reserved,
            frameworks=self.subscribed.get(role, 0),
            weight=self.weights.get(role, 1.0),
            idle=self.idle_of.get(role, _NOTHING),
            towards_guarantee=consumed,
            offered_towards_guarantee=self.counted.get(role, _NOTHING) - consumed,
            subscribers=self.subscribers.get(role, int(role in self.asking)),
            wanting=None if role in self.unsure else role in self.asking,
        )
        quota, kept = self.quotas.get(role, Quota()), self.kept.get(role, _NOTHING)
        return RoleStatus(role, quota, usage, kept, self.guarantee_is_limit)

    @property
    def asking_at_or_below(self) -> frozenset[str]:
        """Roles in which, or below which, a framework wants offers, or may want them."""
        return frozenset(role_names.with_ancestors(self.asking))

    def shortfall(self, role: str) -> Quantities:
        """Return the part of the guarantee of `role` that is not met."""
        quota = self.quotas.get(role)
        return Quantities() if quota is None else quota.guarantees - self.counted.get(role, Quantities())

    def unmet(self) -> dict[str, Quantities]:
        """The rest of the shortfall of each role with quota."""
        return {role: self.shortfall(role) - kept for role, kept in self.kept.items()}

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
        """The sum of what guarantees lack."""
        return Quantities.total(self.shortfall(role) for role in self.quotas if "/" not in role)

    @property
    def headroom(self) -> Quantities:
        """The part of `free` that an allocator keeps back for guarantees."""
        return common_part(self.owed, self.free)


def holding_of_owners(holdings: Iterable[UsedAndOffered]) -> dict[str, Quantities]:
    """Return what is used or offered of reservations, by their owner."""
    return sums_by_owner(part for holding in holdings for part in (holding.owned_used, holding.owned_offered))


def rolled_up(amounts: Mapping[str, Quantities]) -> dict[str, Quantities]:
    """Return the amounts of roles, each counted for its ancestors too."""
    found: dict[str, Quantities] = {}
    for role, held in amounts.items():
        for name in (role, *role_names.ancestors(role)):
            found[name] = found[name] + held if name in found else held
    return found


def _idle(role: str, reserved: Quantities, in_use: Mapping[str, Quantities]) -> Quantities:
    """Return what is reserved for a role or below it, and neither used nor offered."""
    below = role + "/"
    return reserved - Quantities.total(
        amounts for owner, amounts in in_use.items() if owner == role or owner.startswith(below)
    )


def roles_as_shown(
    usages: Mapping[str, RoleUsage],
    quotas: Mapping[str, Quota],
    frameworks: Sequence[ListedFramework] | None,
    profile: Profile,
    reserved: Mapping[str, Quantities] | None = None,
) -> dict[str, RoleStatus]:
    """Return the account of every role by name, from /roles, /quota and GET_FRAMEWORKS, as a master shows them.

    `reserved` is what is reserved for each role itself, where /roles does not show it; None if it does, or if it is
    unknown.
    `frameworks` is None if they could not be read: then revocable resources are not told from others, and what counts
    towards a guarantee is what /roles says.
    """
    known = sorted({*usages, *quotas})
    if reserved is not None:
        subtrees = rolled_up(reserved)
        usages = {role: usage._replace(reserved=subtrees.get(role, _NOTHING)) for role, usage in usages.items()}
    if frameworks is None:
        capped = profile.guarantee_is_limit
        return {
            role: RoleStatus(role, quotas.get(role, Quota()), usages.get(role), guarantee_is_limit=capped)
            for role in known
        }
    held: dict[str, list[UsedAndOffered]] = {}
    alone: dict[str, list[UsedAndOffered]] = {}
    wanting: dict[str, list[bool | None]] = {}
    subscribers: Counter[str] = Counter()
    for framework in frameworks:
        for role, holding in framework.holdings.items():
            alone.setdefault(role, []).append(holding)
            for name in (role, *role_names.ancestors(role)):
                held.setdefault(name, []).append(holding)
        wants = {role: framework.wants_offers_in(role) for role in framework.roles}
        for role, wish in wants.items():
            wanting.setdefault(role, []).append(wish)
        subscribers.update(role_names.with_ancestors(wants))
    in_use = holding_of_owners(holding for framework in frameworks for holding in framework.holdings.values())
    found = {}
    for role in known:
        usage = usages.get(role)
        if usage is not None:
            usage = _with_frameworks(role, usage, UsedAndOffered.total_of(held.get(role, ())), in_use, profile)
            if not profile.subroles_consume_quota:
                own = UsedAndOffered.total_of(alone.get(role, ()))
                usage = usage._replace(
                    towards_guarantee=own.plain_used + (reserved or {}).get(role, _NOTHING),
                    offered_towards_guarantee=own.plain_offered,
                )
            usage = usage._replace(subscribers=subscribers[role], wanting=_any(wanting.get(role, ())))
        found[role] = RoleStatus(role, quotas.get(role, Quota()), usage, guarantee_is_limit=profile.guarantee_is_limit)
    return found


def with_kept(roles: Mapping[str, RoleStatus], read_free: Callable[[], Quantities | None]) -> dict[str, RoleStatus]:
    """Return roles with what is kept for each guarantee.

    `read_free` says what is free, None if that is unknown. It is asked only if that matters: a role lacks something,
    and none of its frameworks asks for it.
    """
    asking = {
        role for role, status in roles.items() if status.usage is not None and status.usage.wanting in (True, None)
    }
    lacking = {role: status.missing for role, status in roles.items() if status.quota.guarantees}
    is_needed = any(amounts and role not in asking for role, amounts in lacking.items())
    free = read_free() if is_needed else _NOTHING
    kept = dict.fromkeys(asking, _NOTHING) if free is None else kept_of(lacking, asking, free)
    return {role: status._replace(kept=kept.get(role)) for role, status in roles.items()}


def _any(answers: Sequence[bool | None]) -> bool | None:
    """Whether one is yes; None if none is, and one is unknown."""
    if any(answers):
        return True
    return None if None in answers else False


def _with_frameworks(
    role: str, usage: RoleUsage, holding: UsedAndOffered, in_use: Mapping[str, Quantities], profile: Profile
) -> RoleUsage:
    """Return what /roles shows of a role, with what only frameworks show: revocable and reserved parts."""
    used, offered = lumped(holding.used), lumped(holding.offered)
    reservations = usage.reserved if profile.reservations_consume_quota else _NOTHING
    return usage._replace(
        # Sums of frameworks that this principal may not see are in /roles alone, and count as regular.
        allocated=(usage.allocated - used) + holding.used,
        offered=(usage.offered - offered) + holding.offered,
        idle=_idle(role, usage.reserved, in_use),
        towards_guarantee=(usage.allocated - used) + holding.plain_used + reservations,
        offered_towards_guarantee=(usage.offered - offered) + holding.plain_offered,
    )


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
    throttled: Sequence[PrincipalRates] = ()
    """Principals of which messages wait because of a rate limit."""
    unknown: Sequence[str] = ()
    """The data that this principal may not see."""
    idle: Quantities = field(default_factory=Quantities)
    """Reserved, and neither used nor offered; nothing if the master does not say (before 1.9)."""
    revocable: Quantities = field(default_factory=Quantities)
    """In use beyond `used`: revocable resources, under the plain names."""
    listed: Sequence[ListedFramework] = ()
    """The frameworks, as far as this principal may see them."""
    recovery: str = ""
    """Why nothing is offered after a failover, and until when; empty if it is over."""


# --- The account of a whole cluster -----------------------------------------------------------------


def idle_of(roles: Iterable[RoleStatus]) -> Quantities:
    """Return what is reserved and neither used nor offered, for any role; a role contains those below it."""
    top_level = (status.usage for status in roles if status.usage is not None and "/" not in status.role)
    return Quantities.total(usage.idle for usage in top_level if usage.idle is not None)


def offered_to(frameworks: Iterable[ListedFramework]) -> Quantities:
    """Return what is in the offers that these frameworks have not answered."""
    return Quantities.total(framework.offered for framework in frameworks)


class AgentBalance(NamedTuple):
    """One registered agent: what there is of it, what is in use, and what is left.

    With ports, sets, volumes and owners, as lists show them.  A sum of scalars over many agents is made once for each
    object that they share.
    """

    id: str
    total: Resources
    used: Resources
    """By tasks and executors."""
    offers: Sequence[Resources]
    """Of each offer that is not answered, or of all of them together."""
    is_in_service: bool

    @property
    def offered(self) -> Resources:
        """By all of its offers."""
        return self.offers[0] if len(self.offers) == 1 else Resources.sum_of(self.offers)

    @property
    def left(self) -> Resources:
        """The resources that are neither used nor offered, reserved or not."""
        left: Resources = _LEFT.of(self.total, self.used, self.offered)
        return left

    @property
    def free(self) -> Resources:
        """The same, of which a master can offer something: none while it is out of service."""
        return self.left if self.is_in_service else _NO_RESOURCES

    @property
    def reserved(self) -> Mapping[str, Quantities]:
        """The amounts that are reserved, by owner."""
        return {role: owned.quantities() for role, owned in sorted(self.total.by_owner().items())}

    @property
    def idle(self) -> Resources:
        """Its reserved resources that are neither used nor offered."""
        return self.left.reserved()

    @property
    def free_for_all(self) -> Resources:
        """Its unreserved resources that are neither used nor offered; none while it is out of service."""
        return self.free.filter(lambda entry: not entry.is_reserved and not entry.revocable)

    @property
    def slack(self) -> Resources:
        """Resources that its tasks hold and do not use, as it reports: revocable, and beyond its regular resources."""
        return self.total.revocable()

    @property
    def lent(self) -> Resources:
        """The part of its idle reservations that is lent, in use or offered: revocable, and beyond its total."""
        held = Resources([*self.used, *self.offered])
        return held.filter(lambda entry: entry.revocability == "non-throttleable") - self.slack

    @property
    def whole(self) -> Resources:
        """Everything that is used or could be: its total, and what is lent of it."""
        return self.total + self.lent


_LEFT = IdentityCache(lambda total, used, offered: total - used - offered)


def agent_as_shown(agent: RegisteredAgent) -> AgentBalance:
    """Return the account of an agent, as GET_AGENTS or /slaves shows it."""
    return AgentBalance(agent.id, agent.total, agent.used, (agent.offered,), agent.active)


class AgentSums(NamedTuple):
    """The sums over some agents, in scalars; see the same figures of `ClusterAccount`."""

    free: Quantities
    idle: Quantities
    lent: Quantities


def sums_of_agents(agents: Sequence[AgentBalance]) -> AgentSums:
    """Return what is free, reserved and idle, and lent of some agents."""
    return AgentSums(
        Quantities.total(balance.free_for_all.scalar_quantities() for balance in agents),
        Quantities.total(balance.idle.scalar_quantities() for balance in agents),
        Quantities.total(balance.lent.scalar_quantities() for balance in agents),
    )


class HeldSource(NamedTuple):
    """Resources that a framework uses, or is offered, in one of its roles."""

    framework_id: str
    role: str
    resources: Resources


class FrameworkSource(NamedTuple):
    """A framework, and the roles in which it wants offers."""

    id: str
    name: str
    roles: frozenset[str]
    """Those that it is subscribed to, or still holds something in."""
    wanting: frozenset[str]
    """Those in which it wants offers, or may want them."""
    is_unsure: bool = False
    """Whether it is unknown in which of these it does."""


class ClusterSource(NamedTuple):
    """A cluster whose account is made."""

    profile: Profile
    agents: Iterable[AgentBalance]
    frameworks: Sequence[FrameworkSource]
    used: Iterable[HeldSource]
    offered: Iterable[HeldSource]
    quotas: Mapping[str, Quota]
    weights: Mapping[str, float]
    capacity: Quantities
    lends: bool = False
    """Whether the master lends idle reservations."""
    limits_count_revocable: bool = True


def account_of(snapshot: ClusterSnapshot) -> ClusterAccount:
    """Return the account of a snapshot."""
    source = _source_of(snapshot)
    return replace(Accounts().of(source), by_agent={balance.id: balance for balance in source.agents})


def _source_of(snapshot: ClusterSnapshot) -> ClusterSource:
    sums = _SumsOfParts()
    used: dict[str, list[Resources]] = {}
    offered: dict[str, list[Resources]] = {}
    for usage in snapshot.usages:
        used.setdefault(usage.agent_id, []).append(usage.resources)
    for offer in snapshot.offers:
        offered.setdefault(offer.agent_id, []).append(offer.resources)
    holds: dict[str, set[str]] = {}
    for usage in snapshot.usages:
        holds.setdefault(usage.framework_id, set()).add(usage.role)
    return ClusterSource(
        profile=snapshot.profile,
        agents=[
            AgentBalance(
                agent.id,
                agent.total,
                sums.of(tuple(used.get(agent.id, ()))),
                offered.get(agent.id, ()),
                agent.active,
            )
            for agent in snapshot.agents
        ],
        frameworks=[
            FrameworkSource(
                framework.id,
                framework.name,
                frozenset(framework.roles).union(holds.get(framework.id, ())),
                frozenset(framework.roles).difference(framework.suppressed or ()) if framework.active else frozenset(),
                framework.suppressed is None,
            )
            for framework in snapshot.frameworks
        ],
        used=[HeldSource(held.framework_id, held.role, held.resources) for held in snapshot.usages],
        offered=[
            HeldSource(outstanding.framework_id, outstanding.role, outstanding.resources)
            for outstanding in snapshot.offers
        ],
        quotas=snapshot.quotas,
        weights=snapshot.weights,
        capacity=capacity(snapshot.agents, snapshot.profile),
        lends=snapshot.lending is not None,
        limits_count_revocable=snapshot.lending is None,
    )


class _SumsOfParts:
    """Sums of several resources; a sum of the same objects is made once."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, ...], tuple[tuple[Resources, ...], Resources]] = {}

    def of(self, parts: tuple[Resources, ...]) -> Resources:
        if not parts:
            return _NO_RESOURCES
        if len(parts) == 1:
            return parts[0]
        key = tuple(map(id, parts))
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = parts, Resources.sum_of(parts)
        return found[1]


class _Total(NamedTuple):
    """The amounts that an agent has."""

    amounts: Pairs
    """Without revocable ones."""
    slack: Pairs
    """The revocable ones."""
    unreserved: Pairs
    reserved: tuple[tuple[str, Pairs], ...]
    """By owner."""


class _AgentAmounts:
    """The amounts of agents that differ in ports and labels at most; equal only to itself."""

    __slots__ = ("free", "idle", "kept", "total")

    def __init__(self, total: _Total, used: ResourceParts, offers: Sequence[ResourceParts]) -> None:
        self.total = total
        self.idle = _without(dict(total.unreserved), used.plain)
        """The part of what is unreserved that no task uses."""
        self.free = _without(self.idle, *(offer.plain for offer in offers))
        """The part of it that is not offered."""
        kept: dict[str, int] = {}
        in_use = Counter[tuple[str, str]]()
        for parts in (used, *offers):
            for owner, pairs in parts.owned:
                for name, amount in pairs:
                    in_use[owner, name] += amount
        for owner, pairs in total.reserved:
            for name, amount in pairs:
                kept[name] = kept.get(name, 0) + max(0, amount - in_use[owner, name])
        self.kept = kept
        """Reserved, and neither used nor offered."""

    def like_agents(self) -> LikeAgents:
        return LikeAgents(
            unreserved=Quantities(dict(self.total.unreserved)),
            idle=Quantities(self.idle),
            reserved=tuple((owner, Quantities(dict(owned))) for owner, owned in self.total.reserved),
        )


class _KnownParts:
    """The parts of resources.  An object that many agents or offers share is read once."""

    def __init__(self) -> None:
        self._parts: dict[ResourceParts, ResourceParts] = {}
        """Each once: most amounts repeat, whatever the ports and labels beside them."""
        self.of = IdentityCache(self._read, most=None).of

    def _read(self, resources: Resources) -> ResourceParts:
        parts = parts_of(resources)
        return self._parts.setdefault(parts, parts)


class Accounts:
    """Makes the account of a cluster each time that it is asked for; agents of equal resources are added up once."""

    def __init__(self) -> None:
        self._parts = _KnownParts()
        self._totals: dict[_Total, _Total] = {}
        """Each once, so that it is found as an object."""
        self._total_of = IdentityCache(self._total, most=None).of
        self._of_amounts = IdentityCache(lambda total, used, *offers: _AgentAmounts(total, used, offers), most=None).of
        """By the total, and by what is used and offered of it."""
        self._of_resources = IdentityCache(self._amounts_of, most=None).of
        """The same by all these resources."""

    def of(self, source: ClusterSource) -> ClusterAccount:
        """Return the account of this moment."""
        by_role, own_of_role, by_framework = self._holdings(source)
        frameworks = {framework.id: by_framework.get(framework.id, UsedAndOffered()) for framework in source.frameworks}
        sums: dict[str, dict[str, int]] = {name: {} for name in ("totals", "registered", "free", "idle", "slack")}
        reserved: dict[str, dict[str, int]] = {}
        like_agents: dict[LikeAgents, int] = {}
        states = {"active": 0, "inactive": 0}
        for (of_agent, is_in_service), agents in self._agents_by_amounts(source.agents).items():
            amounts = _times(of_agent.total.amounts, agents)
            add_up(sums["registered"], amounts)
            add_up(sums["slack"], _times(of_agent.total.slack, agents))
            add_up(sums["idle"], _times(of_agent.kept.items(), agents))
            for owner, owned in of_agent.total.reserved:
                add_up(reserved.setdefault(owner, {}), _times(owned, agents))
            states["active" if is_in_service else "inactive"] += agents
            if is_in_service:
                add_up(sums["totals"], amounts)
                add_up(sums["free"], _times(of_agent.free.items(), agents))
                like = of_agent.like_agents()
                like_agents[like] = like_agents.get(like, 0) + agents
        nobody = UsedAndOffered()
        reserved_for = rolled_up({role: Quantities(owned) for role, owned in reserved.items()})
        in_use = holding_of_owners(frameworks.values())
        used_of_owners = rolled_up(sums_by_owner(holding.owned_used for holding in frameworks.values()))
        counts_reserved = source.profile.reservations_consume_quota
        counting = by_role, reserved_for
        if not source.profile.subroles_consume_quota:
            counting = own_of_role, {role: Quantities(owned) for role, owned in reserved.items()}
        consumed, limited = {}, {}
        for role in {*by_role, *source.quotas, *reserved_for}:
            plain, kept = counting[0].get(role, nobody).plain_used, counting[1].get(role, _NOTHING)
            consumed[role] = plain + kept if counts_reserved else plain
            holding, own = by_role.get(role, nobody), reserved_for.get(role, _NOTHING)
            limited[role] = lumped(holding.used) if source.limits_count_revocable else regular_part(holding.used)
            if counts_reserved:
                limited[role] += own - used_of_owners.get(role, _NOTHING)
        return ClusterAccount(
            **{name: Quantities(amounts) for name, amounts in sums.items()},
            capacity=source.capacity,
            agents=states,
            by_agent={},
            frameworks=frameworks,
            names={framework.id: framework.name for framework in source.frameworks},
            quotas={role: quota for role, quota in source.quotas.items() if not quota.is_default},
            weights=source.weights,
            roles=by_role,
            reserved=reserved_for,
            idle_of={role: _idle(role, amounts, in_use) for role, amounts in reserved_for.items()},
            subscribed=Counter(role for framework in source.frameworks for role in framework.roles),
            subscribers=Counter(
                role for framework in source.frameworks for role in role_names.with_ancestors(framework.roles)
            ),
            counted={role: consumed[role] + counting[0].get(role, nobody).plain_offered for role in consumed},
            consumed=consumed,
            limited=limited,
            asking=_asking(source.frameworks),
            unsure=_asking(framework for framework in source.frameworks if framework.is_unsure)
            - _asking(framework for framework in source.frameworks if not framework.is_unsure),
            like_agents=like_agents,
            guarantee_is_limit=source.profile.guarantee_is_limit,
        )

    def _holdings(
        self, source: ClusterSource
    ) -> tuple[dict[str, UsedAndOffered], dict[str, UsedAndOffered], dict[str, UsedAndOffered]]:
        """Return the holding of each role, with those below it, and alone if that matters, and of each framework."""
        by_role: dict[str, HoldingSums] = {}
        alone: dict[str, HoldingSums] = {}
        by_framework: dict[str, HoldingSums] = {}
        for held, add in ((source.used, HoldingSums.use), (source.offered, HoldingSums.offer)):
            for framework_id, role, resources in held:
                parts = self._parts.of(resources)
                add(by_framework.setdefault(framework_id, HoldingSums()), parts)
                if not source.profile.subroles_consume_quota:
                    add(alone.setdefault(role, HoldingSums()), parts)
                for name in (role, *role_names.ancestors(role)):
                    add(by_role.setdefault(name, HoldingSums()), parts)
        made = [
            {name: sums.holding(lends=source.lends) for name, sums in sorted(of.items())}
            for of in (by_role, alone, by_framework)
        ]
        return made[0], made[1], made[2]

    def _agents_by_amounts(self, agents: Iterable[AgentBalance]) -> dict[tuple[_AgentAmounts, bool], int]:
        """Return the amounts of agents and whether they are in service, and how many agents have each."""
        counts: dict[tuple[_AgentAmounts, bool], int] = {}
        for agent in agents:
            found = self._of_resources(agent.total, agent.used, *agent.offers)
            counts[found, agent.is_in_service] = counts.get((found, agent.is_in_service), 0) + 1
        return counts

    def _amounts_of(self, total: Resources, used: Resources, *offers: Resources) -> _AgentAmounts:
        held = [self._parts.of(resources) for resources in (used, *offers)]
        return self._of_amounts(self._total_of(total), *held)

    def _total(self, resources: Resources) -> _Total:
        made = _total(self._parts.of(resources))
        return self._totals.setdefault(made, made)


def _total(parts: ResourceParts) -> _Total:
    amounts: dict[str, int] = {}
    slack: dict[str, int] = {}
    add_up(amounts, [(name, milli) for name, milli in parts.named if not name.endswith(REVOCABLE)])
    add_up(slack, (*parts.lent, *parts.throttleable))
    unreserved: dict[str, int] = {}
    for name, amount in parts.plain:
        unreserved[name] = unreserved.get(name, 0) + amount  # a sum, so that nothing is shown as it was sent
    owned = tuple((owner, tuple(Quantities(_sum(pairs)).items())) for owner, pairs in sorted(parts.owned))
    return _Total(tuple(amounts.items()), tuple(slack.items()), tuple(unreserved.items()), owned)


def _sum(pairs: Pairs) -> dict[str, int]:
    sums: dict[str, int] = {}
    add_up(sums, pairs)
    return sums


def _times(amounts: Iterable[tuple[str, int]], count: int) -> Iterable[tuple[str, int]]:
    """Multiply; a single amount is shown as it was sent, and a product has forgotten that."""
    return amounts if count == 1 else [(name, amount * count) for name, amount in amounts]


def _asking(frameworks: Iterable[FrameworkSource]) -> frozenset[str]:
    return frozenset(role for framework in frameworks for role in framework.wanting)


def _without(amounts: Mapping[str, int], *others: Pairs) -> dict[str, int]:
    """Subtract; as in `Quantities`, no amount falls below zero."""
    left = dict(amounts)
    for other in others:
        for name, amount in other:
            if name in left:
                left[name] = max(0, left[name] - amount)
    return left
