"""The reasons, one function each: does it hold, and with which figures (Mesos source, the hierarchical allocator).

`holds` is true only where the master's own figures show it, and None where no master shows it.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from mesosctl.model import roles
from mesosctl.model import version_profile as profile
from mesosctl.model.errors import MesosctlError, RuleViolation
from mesosctl.model.offers.constraints import RegexLimits, excluded_agents
from mesosctl.model.offers.offers import Reason
from mesosctl.model.quantities import Quantities, Quota
from mesosctl.model.roles import Priorities
from mesosctl.operations import offer_context
from mesosctl.operations.offer_context import OfferContext


def all_reasons(context: OfferContext) -> list[Reason]:
    """Every reason there is, those that hold first and those that no master shows last."""
    found = list(_each(context))
    return sorted(found, key=lambda reason: {True: 0, False: 1, None: 2}[reason.holds])


def _each(context: OfferContext) -> Iterator[Reason]:
    yield _subscription(context)
    yield _suppressed(context)
    yield _service(context)
    yield _nothing_free(context)
    yield _reserved_for_others(context)
    yield _minimum(context)
    yield _capability(context)
    yield _headroom(context)
    yield _limit(context)
    yield _filters(context)
    yield from _priority(context)
    yield _share(context)
    yield _constraints(context)
    yield _recovery(context)
    yield from offer_context.reasons(context)
    yield Reason("agent whitelist", None, "no master shows which agents its whitelist names")


def _subscription(context: OfferContext) -> Reason:
    framework = context.framework
    if not framework.connected:
        return Reason("not connected", True, "the framework is disconnected: it is offered nothing until it is back")
    return Reason("not connected", not framework.active, f"connected, {'' if framework.active else 'not '}active")


def _suppressed(context: OfferContext) -> Reason:
    value = context.figure(f"/{context.framework.id}/roles/{context.role}/suppressed")
    if value is None:
        return Reason("suppressed", None, "this master has no metric for the roles that the framework has suppressed")
    return Reason("suppressed", bool(value), f"role {context.role} is {'' if value else 'not '}suppressed")


def _service(context: OfferContext) -> Reason:
    active = sum(agent.active for agent in context.agents)
    out = [agent for agent in context.agents if not agent.active]
    draining = sum(agent.draining for agent in out)
    deactivated = sum(agent.deactivated for agent in out) - draining
    parts = {"draining": draining, "deactivated": deactivated, "disconnected": len(out) - draining - deactivated}
    listed = "".join(f", {count} {what}" for what, count in parts.items() if count > 0)
    return Reason("no agent in service", not active, f"{active} of {len(context.agents)} agents are in service{listed}")


def _nothing_free(context: OfferContext) -> Reason:
    free = Quantities.total(agent.free.quantities() for agent in context.agents if agent.active)
    used = Quantities.total(agent.used.quantities() for agent in context.agents)
    offered = Quantities.total(agent.offered.quantities() for agent in context.agents)
    return Reason("nothing free", not free, f"free {free}; used {used}; offered {offered}")


def _reserved_for_others(context: OfferContext) -> Reason:
    others = Quantities.total(
        agent.free.filter(lambda entry: not entry.allocatable_to(context.role)).quantities()
        for agent in context.agents
        if agent.active
    )
    return Reason(
        "reserved for others",
        bool(others) and not context.usable(),
        f"of what is free, {others} is reserved for other roles",
    )


def _minimum(context: OfferContext) -> Reason:
    usable, enough = context.usable(), context.sufficient()
    least = " or ".join(map(str, context.minimum())) or "anything"
    return Reason(
        "below the minimum",
        bool(usable) and not enough,
        f"{len(enough)} of {len(usable)} agents with something free have the minimum of an offer, {least}",
    )


def _capability(context: OfferContext) -> Reason:
    """Agents that have enough and cannot be offered to this framework."""
    standing = {agent.id: agent for agent in context.agents}
    enough = context.sufficient()
    lacking = Counter(filter(None, (context.lacking(standing[agent_id], free) for agent_id, free in enough.items())))
    listed = ", ".join(f"{name} on {count}" for name, count in lacking.items()) or "none"
    return Reason(
        "missing capability",
        bool(enough) and lacking.total() == len(enough),
        f"of {len(enough)} agents with enough {lacking.total()} are excluded because the framework lacks: {listed}",
    )


def _headroom(context: OfferContext) -> Reason:
    name = "guarantees' headroom"
    if not context.usage:
        return Reason(name, None, "this principal may not see roles")
    own = roles.top_level(context.role)
    lacking = Quantities.total(
        quota.guarantees - (_consumed(context, role) or Quantities())
        for role, quota in context.quotas.items()
        if role != own and "/" not in role
    )
    free = Quantities.total(
        agent.free.unreserved().non_revocable().scalar_quantities() for agent in context.agents if agent.active
    )
    left = free - lacking
    held_back = bool(lacking) and bool(free) and not any(left.get_amount(part) for part in ("cpus", "mem"))
    return Reason(
        name, held_back, f"the guarantees of other roles still lack {lacking}; of {free} that is free, {left} is left"
    )


def _consumed(context: OfferContext, role: str) -> Quantities | None:
    """Return the amounts that the allocator counts: allocated, offered, and reserved but idle."""
    held = context.usage.get(role)
    if held is None:
        return None
    return (held.allocated if held.consumed is None else held.consumed) + held.offered


def _limit(context: OfferContext) -> Reason:
    role = roles.top_level(context.role)
    quota = context.quotas.get(role, Quota())
    if not quota.limits:
        return Reason("limit reached", False, f"role {role} has no limits")
    held = _consumed(context, role) or Quantities()
    left = {name: max(0, limit - held.get_amount(name)) for name, limit in quota.limits.items()}
    return Reason(
        "limit reached",
        any(left.get(name) == 0 for name in ("cpus", "mem")),
        f"role {role} holds {held} of its limits {quota.limits}",
    )


def _filters(context: OfferContext) -> Reason:
    count = context.figure(f"allocator/mesos/offer_filters/roles/{context.role}/active")
    if count is None:
        return Reason("filters", None, "this master has no metric for refusals in this role")
    sharing = sum(context.role in framework.roles for framework in context.everybody)
    sentence = (
        f"{count:.0f} refusals are in force in role {context.role}; no master shows for which agents and until when"
    )
    if count and sharing > 1:
        return Reason("filters", None, f"{sentence}, nor which of its {sharing} frameworks refused")
    return Reason("filters", bool(count), sentence)


def _priorities(context: OfferContext) -> Priorities | None:
    """Those of a master with the strict priority allocator; None where roles have none."""
    if context.flags.get("allocator") != profile.STRICT_PRIORITY_ALLOCATOR:
        return None
    try:
        return Priorities.parse(context.flags.get("priorities", ""))
    except RuleViolation:
        return None


def _priority(context: OfferContext) -> Iterator[Reason]:
    """Only a master that serves roles by priority has this reason."""
    priorities = _priorities(context)
    if priorities is None:
        return
    own = priorities.of(context.role)
    served = {role for framework in context.everybody if framework.active for role in framework.roles}
    ahead = sorted((role for role in served if priorities.of(role) > own), key=lambda role: -priorities.of(role))
    listed = ", ".join(f"{role} ({priorities.of(role)})" for role in ahead) or "none"
    preemption = "on" if context.flags.get("preemption") == "true" else "off"
    yield Reason(
        "behind by priority",
        bool(ahead),
        f"role {context.role} has priority {own}; served before it: {listed}; preemption is {preemption}",
    )


def _share(context: OfferContext) -> Reason:
    ending = "/shares/dominant"
    prefix = "allocator/mesos/roles/"
    shares = {
        name.removeprefix(prefix).removesuffix(ending): value
        for name, value in (context.figures or {}).items()
        if name.startswith(prefix) and name.endswith(ending)
    }
    own = shares.get(context.role)
    if own is None:
        return Reason("others are served first", None, "this master has no metric for shares")
    priorities = _priorities(context) or Priorities()
    before = sorted(
        role
        for role, share in shares.items()
        if share < own
        and not roles.is_strict_subrole(role, context.role)
        and priorities.of(role) == priorities.of(context.role)
    )
    sentence = f"dominant share {own:.3f}; lower: {', '.join(before) or 'none'}"
    return Reason("others are served first", None if before else False, sentence)


def _constraints(context: OfferContext) -> Reason:
    name, constraints = "offer constraints", context.framework.offer_constraints
    if context.role not in constraints.get("role_constraints", {}):
        return Reason(name, False, "the framework has no constraints in this role")
    try:
        excludes = excluded_agents(constraints, RegexLimits.of({**profile.DEFAULTS, **context.flags}))[context.role]
    except (MesosctlError, ValueError) as error:
        return Reason(name, None, f"the framework has constraints that cannot be evaluated here: {error}")
    enough = context.sufficient()
    names = context.agent_names()
    out = sorted(names[agent.id] for agent in context.agents if agent.id in enough and excludes(agent))
    return Reason(
        name,
        bool(enough) and len(out) == len(enough),
        f"of {len(enough)} agents with enough the framework's own constraints exclude {len(out)}{_named(out)}",
    )


def _named(hosts: Sequence[str], most: int = 3) -> str:
    """A few of them, in brackets."""
    return f" ({', '.join(hosts[:most])}{', …' if len(hosts) > most else ''})" if hosts else ""


def _recovery(context: OfferContext) -> Reason:
    """Held back only where there is quota, until most agents are back or the time is over (allocator.md §3)."""
    name = "recovery mode"
    if not context.awaited:
        return Reason(name, False, "the master waits for no agents after a failover")
    known = context.awaited + len(context.agents)
    try:
        needed = int(known * profile.recovery_factor(context.flags))
        longest = profile.recovery_seconds(context.flags)
    except ValueError as error:
        return Reason(name, None, f"{context.awaited} agents are awaited after a failover; flag unreadable: {error}")
    up = (context.figures or {}).get("master/uptime_secs")
    sentence = (
        f"{len(context.agents)} of {known} agents are back after a failover; nothing is offered until {needed} are, "
        f"or for {longest:g} s"
    )
    if not context.usage:
        return Reason(name, None, f"{sentence}, where there is quota; this principal may not see roles")
    if not context.quotas:
        return Reason(name, False, f"{sentence}, but only where there is quota")
    if up is None:
        return Reason(name, None, f"{sentence}; this master does not show how long it has been up")
    waiting = len(context.agents) < needed and up < longest
    return Reason(name, waiting, f"{sentence}; it has been up for {up:.0f} s")
