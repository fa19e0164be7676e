"""The comparison of a cluster at two moments: who gains, loses and starves, and what is left."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from mesosctl.mesos.amounts.holding import UsedAndOffered
from mesosctl.mesos.amounts.quantities import Quantities
from mesosctl.mesos.cluster.account import ClusterAccount
from mesosctl.mesos.cluster.message_rates import Simulation
from mesosctl.mesos.cluster.role_status import RoleStatus
from mesosctl.mesos.cluster.snapshot import ClusterSnapshot
from mesosctl.mesos.door.forecast import (
    ASSUMPTIONS,
    AgentLoss,
    AnsweredChange,
    Assumption,
    ChangedAmounts,
    Eviction,
    Forecast,
    GuaranteeFit,
    HeadroomChange,
    HolderChange,
    Kind,
    Rescission,
    Starvation,
    TriedChange,
    Unknown,
)
from mesosctl.mesos.door.upgrade import Upgrade

# An offer must have these to be useful; no task runs on ports and disk alone.
_ESSENTIAL = ("cpus", "mem", "gpus")


@dataclass(frozen=True, slots=True)
class RunSummary:
    """The terms of a forecast: its changes and its options."""

    snapshot: ClusterSnapshot
    cycles: int
    seconds: float
    assume: Assumption
    answers: tuple[AnsweredChange, ...] = ()
    rescinded: tuple[Rescission, ...] = ()
    evicted: tuple[Eviction, ...] = ()
    changes: tuple[TriedChange, ...] = ()
    lost: tuple[AgentLoss, ...] = ()
    """Agents that were taken away for it."""
    wants: str | None = None
    """The demand of the frameworks, if it is known rather than assumed."""
    asked_again: bool = False
    """Whether frameworks that suppress offers asked again for what they lost."""
    offers_suspended: float = 0.0
    """Seconds without any offer after a failover."""
    restarted: bool = False
    """Whether the master was restarted for it."""
    traffic: Simulation | None = None
    """Recorded messages under other rate limits."""
    upgrade: Upgrade | None = None
    """The release of the master that leads afterwards, if it is another one."""


def share_changes(
    before: ClusterAccount, after: ClusterAccount
) -> tuple[tuple[HolderChange, ...], tuple[HolderChange, ...]]:
    """Every role and every framework that has, or had, anything or a guarantee; roles and frameworks apart."""
    named = sorted({*before.roles, *after.roles, *before.quotas, *after.quotas})
    unmet = after.unmet()
    roles = tuple(
        replace(
            _share_change("role", role, role, before, after),
            kept=after.kept.get(role, Quantities()),
            unmet=unmet.get(role, Quantities()),
        )
        for role in named
    )
    names = {**before.names, **after.names}
    ids = sorted({*before.frameworks, *after.frameworks}, key=lambda framework_id: (names[framework_id], framework_id))
    return roles, tuple(_share_change("framework", names[known_id], known_id, before, after) for known_id in ids)


def _share_change(kind: Kind, name: str, key: str, before: ClusterAccount, after: ClusterAccount) -> HolderChange:
    held = [(m.roles if kind == "role" else m.frameworks).get(key, UsedAndOffered()) for m in (before, after)]
    first, last = held[0].dominant(before.totals), held[1].dominant(after.totals)
    quotas = [m.quotas.get(key) if kind == "role" else None for m in (before, after)]
    guarantees = [None if quota is None or not quota.guarantees else quota.guarantees for quota in quotas]
    limits = [None if quota is None or not quota.limits else quota.limits for quota in quotas]
    return HolderChange(
        kind=kind,
        name=name,
        id=key,
        before=held[0],
        after=held[1],
        share_before=first[1],
        share_after=last[1],
        dominant=(last if last[1] >= first[1] else first)[0],
        guarantee=guarantees[1],
        guarantee_before=guarantees[0],
        limit=limits[1],
        limit_before=limits[0],
    )


def starving(before: ClusterAccount, after: ClusterAccount, everybody: Sequence[HolderChange]) -> Iterator[Starvation]:
    """Yield roles below their guarantee, and frameworks that ran something and have nothing; not the removed ones.

    Rescinding an unanswered offer starves nobody: see `unoffered`.
    """
    unmet = before.unmet()
    can_be_met = after.capacity.contains(after.promised) and after.totals.contains(after.promised)
    for role, short in sorted(after.unmet().items()):
        if not short:
            continue
        was_short = unmet.get(role, Quantities())
        guarantee = after.quotas[role].guarantees
        old = before.quotas.get(role)
        counted, held = after.counted.get(role, Quantities()), after.roles.get(role, UsedAndOffered())
        yield Starvation(
            "role",
            role,
            "guarantee",
            short,
            caused=not was_short.contains(short),
            before=was_short,
            was_met_by_offers=before.status(role).standing == "met by offers",
            guarantee=guarantee,
            has=counted,
            uncounted=held.plain_used + held.plain_offered - counted,
            is_asked_for=role in after.asking,
            is_raised=old is None or not old.guarantees.contains(guarantee),
            can_be_met=can_be_met,
        )
    for party in _left_with_nothing(before, after, everybody):
        if _has(party.before.used):
            yield Starvation(party.kind, party.name, "nothing", party.before.used, caused=True)


def unoffered(
    before: ClusterAccount, after: ClusterAccount, everybody: Sequence[HolderChange]
) -> Iterator[HolderChange]:
    """Yield frameworks and roles that ran nothing, held offers, and are no longer offered anything."""
    return (change for change in _left_with_nothing(before, after, everybody) if not _has(change.before.used))


def at_limit(before: ClusterAccount, after: ClusterAccount) -> Iterator[RoleStatus]:
    """Yield roles that are at or above a limit afterwards, unless they were before, and the limits are the same.

    A guarantee that caps its role is no limit that somebody set: `quota set` tells of it.
    """
    for role in sorted(() if after.guarantee_is_limit else after.quotas):
        was, status = before.status(role), after.status(role)
        if status.reached and (was.quota.limits != status.quota.limits or was.reached.keys() != status.reached.keys()):
            yield status


def _left_with_nothing(
    before: ClusterAccount, after: ClusterAccount, everybody: Sequence[HolderChange]
) -> Iterator[HolderChange]:
    """Yield those that used or were offered something, are still there, and have nothing of either kind."""
    had_askers, have_askers = before.asking_at_or_below, after.asking_at_or_below
    for party in everybody:
        if party.kind == "framework":
            gone = party.id not in after.frameworks
        else:
            gone = party.id in had_askers and party.id not in have_askers
        if not gone and _has(party.before.total) and not _has(party.after.total):
            yield party


def _has(amounts: Quantities) -> bool:
    return any(amounts.get_amount(name) for name in _ESSENTIAL)


def fits(summary: ClusterAccount) -> Iterator[GuaranteeFit]:
    """For every guarantee, the number of agents on which all of it fits."""
    for role, quota in sorted(summary.quotas.items()):
        guarantee = quota.guarantees
        if not guarantee:
            continue
        largest: dict[str, int] = dict.fromkeys(guarantee, 0)
        on_whole = on_now = 0
        for room, count in summary.like_agents.items():
            whole = room.whole(role)
            largest = {name: max(most, whole.get_amount(name)) for name, most in largest.items()}
            on_whole += count if whole.contains(guarantee) else 0
            on_now += count if room.now(role).contains(guarantee) else 0
        yield GuaranteeFit(role, guarantee, on_whole, on_now, Quantities(largest))


def headroom(before: ClusterAccount, after: ClusterAccount) -> HeadroomChange:
    """Return the resources left, before and after."""
    return HeadroomChange(
        ChangedAmounts(before.unpromised, after.unpromised),
        ChangedAmounts(before.free, after.free),
        ChangedAmounts(before.owed, after.owed),
        ChangedAmounts(before.headroom, after.headroom),
    )


def unknowns(course: RunSummary) -> Iterator[Unknown]:
    """Yield the facts that a snapshot leaves out, with the assumption for each."""
    yield Unknown("what frameworks want", course.wants or ASSUMPTIONS[course.assume])
    if course.asked_again:
        yield Unknown(
            "what frameworks with suppressed offers do if they lose tasks",
            "they send REVIVE for the roles of these tasks, run as much again, and suppress offers again",
        )
    yield Unknown(
        "how often each framework has been served so far, which breaks ties",
        "equally often; then the framework id decides",
    )
    yield Unknown("the order in which an allocation visits agents", "that of the snapshot; a real master shuffles them")
    yield Unknown("tasks that end or start meanwhile", "none")
    yield Unknown("whether this principal may make the change", "it may")
    for sentence in course.snapshot.unknown:
        what, _, assumed = sentence.partition(": ")
        yield Unknown(what, assumed)


def forecast(before: ClusterAccount, after: ClusterAccount, course: RunSummary) -> Forecast:
    """Compare two moments."""
    roles, frameworks = share_changes(before, after)
    return Forecast(
        version=course.snapshot.version,
        mesos_profile=course.snapshot.profile.name,
        taken_at=course.snapshot.taken_at,
        agents=sum(before.like_agents.values()),
        agents_after=sum(after.like_agents.values()),
        seconds=course.seconds,
        cycles=course.cycles,
        assume=course.assume,
        changes=course.changes,
        lost=course.lost,
        answers=course.answers,
        rescinded=course.rescinded,
        evicted=course.evicted,
        roles=roles,
        frameworks=frameworks,
        starving=tuple(starving(before, after, [*roles, *frameworks])),
        unoffered=tuple(unoffered(before, after, [*roles, *frameworks])),
        at_limit=tuple(at_limit(before, after)),
        fits=tuple(fits(after)),
        headroom=headroom(before, after),
        totals_before=before.totals,
        totals=after.totals,
        unknowns=tuple(unknowns(course)),
        offers_suspended=course.offers_suspended,
        restarted=course.restarted,
        traffic=course.traffic,
        upgrade=course.upgrade,
    )
