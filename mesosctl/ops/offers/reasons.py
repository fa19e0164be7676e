"""The reasons, one function each: does it hold, and with which figures (spec/allocator.md §5, §6 and §8).

`holds` is true only where the master's own figures show it, and None where no master tells.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from mesosctl.core import master_flags, roles
from mesosctl.core.errors import MesosctlError, RuleViolation
from mesosctl.core.offer_constraints import excluded_agents
from mesosctl.core.offers import Reason
from mesosctl.core.priorities import Priorities
from mesosctl.core.quantities import Quantities, Quota
from mesosctl.core.regexes import RegexLimits
from mesosctl.ops.offers import lending
from mesosctl.ops.offers.scene import Scene


def all_reasons(scene: Scene) -> list[Reason]:
    """Every reason there is, those that hold first and those that no master tells last."""
    found = list(_each(scene))
    return sorted(found, key=lambda reason: {True: 0, False: 1, None: 2}[reason.holds])


def _each(scene: Scene) -> Iterator[Reason]:
    yield _subscription(scene)
    yield _suppressed(scene)
    yield _service(scene)
    yield _nothing_free(scene)
    yield _reserved_for_others(scene)
    yield _minimum(scene)
    yield _capability(scene)
    yield _headroom(scene)
    yield _limit(scene)
    yield _filters(scene)
    yield from _priority(scene)
    yield _share(scene)
    yield _constraints(scene)
    yield _recovery(scene)
    yield from lending.reasons(scene)
    yield Reason("agent whitelist", None, "no master tells which agents its whitelist names")


def _subscription(scene: Scene) -> Reason:
    framework = scene.framework
    if not framework.connected:
        return Reason("not connected", True, "the framework is disconnected: it is offered nothing until it is back")
    return Reason("not connected", not framework.active, f"connected, {'' if framework.active else 'not '}active")


def _suppressed(scene: Scene) -> Reason:
    value = scene.figure(f"/{scene.framework.id}/roles/{scene.role}/suppressed")
    if value is None:
        return Reason("suppressed", None, "this master has no metric of what the framework has suppressed")
    return Reason("suppressed", bool(value), f"role {scene.role} is {'' if value else 'not '}suppressed")


def _service(scene: Scene) -> Reason:
    active = sum(agent.active for agent in scene.agents)
    out = [agent for agent in scene.agents if not agent.active]
    draining = sum(agent.draining for agent in out)
    deactivated = sum(agent.deactivated for agent in out) - draining
    parts = {"draining": draining, "deactivated": deactivated, "disconnected": len(out) - draining - deactivated}
    listed = "".join(f", {count} {what}" for what, count in parts.items() if count > 0)
    return Reason("no agent in service", not active, f"{active} of {len(scene.agents)} agents are in service{listed}")


def _nothing_free(scene: Scene) -> Reason:
    free = Quantities.total(agent.free.quantities() for agent in scene.agents if agent.active)
    used = Quantities.total(agent.used.quantities() for agent in scene.agents)
    offered = Quantities.total(agent.offered.quantities() for agent in scene.agents)
    return Reason("nothing free", not free, f"free {free}; used {used}; offered {offered}")


def _reserved_for_others(scene: Scene) -> Reason:
    others = Quantities.total(
        agent.free.filter(lambda entry: not entry.allocatable_to(scene.role)).quantities()
        for agent in scene.agents
        if agent.active
    )
    return Reason(
        "reserved for others", bool(others) and not scene.usable(), f"of what is free, {others} is reserved for others"
    )


def _minimum(scene: Scene) -> Reason:
    usable, enough = scene.usable(), scene.sufficient()
    least = " or ".join(map(str, scene.minimum())) or "anything"
    return Reason(
        "below the minimum",
        bool(usable) and not enough,
        f"{len(enough)} of {len(usable)} agents with something free have the minimum of an offer, {least}",
    )


def _capability(scene: Scene) -> Reason:
    """Agents that have enough and cannot be offered to this framework."""
    standing = {agent.id: agent for agent in scene.agents}
    enough = scene.sufficient()
    lacking = Counter(filter(None, (scene.lacking(standing[agent_id], free) for agent_id, free in enough.items())))
    listed = ", ".join(f"{name} on {count}" for name, count in lacking.items()) or "none"
    return Reason(
        "missing capability",
        bool(enough) and lacking.total() == len(enough),
        f"of {len(enough)} agents with enough {lacking.total()} are excluded for want of: {listed}",
    )


def _headroom(scene: Scene) -> Reason:
    name = "guarantees' headroom"
    if not scene.usage:
        return Reason(name, None, "roles may not be seen")
    own = roles.top_level(scene.role)
    lacking = Quantities.total(
        quota.guarantees - (_consumed(scene, role) or Quantities())
        for role, quota in scene.quotas.items()
        if role != own and "/" not in role
    )
    free = Quantities.total(
        agent.free.unreserved().non_revocable().scalar_quantities() for agent in scene.agents if agent.active
    )
    left = free - lacking
    held_back = bool(lacking) and bool(free) and not any(left.get_amount(part) for part in ("cpus", "mem"))
    return Reason(name, held_back, f"guarantees of others still lack {lacking}; of {free} that is free, {left} is left")


def _consumed(scene: Scene, role: str) -> Quantities | None:
    """What the allocator counts: allocated, offered, and reserved but idle."""
    held = scene.usage.get(role)
    if held is None:
        return None
    return (held.allocated if held.consumed is None else held.consumed) + held.offered


def _limit(scene: Scene) -> Reason:
    role = roles.top_level(scene.role)
    quota = scene.quotas.get(role, Quota())
    if not quota.limits:
        return Reason("limit reached", False, f"role {role} has no limits")
    held = _consumed(scene, role) or Quantities()
    left = {name: max(0, limit - held.get_amount(name)) for name, limit in quota.limits.items()}
    return Reason(
        "limit reached",
        any(left.get(name) == 0 for name in ("cpus", "mem")),
        f"role {role} holds {held} of its limits {quota.limits}",
    )


def _filters(scene: Scene) -> Reason:
    count = scene.figure(f"allocator/mesos/offer_filters/roles/{scene.role}/active")
    if count is None:
        return Reason("filters", None, "this master has no metric of refusals in this role")
    sharing = sum(scene.role in framework.roles for framework in scene.everybody)
    sentence = f"{count:.0f} refusals are in force in role {scene.role}; no master tells on which agents and until when"
    if count and sharing > 1:
        return Reason("filters", None, f"{sentence}, nor which of its {sharing} frameworks refused")
    return Reason("filters", bool(count), sentence)


def _priorities(scene: Scene) -> Priorities | None:
    """Those of a master with the strict priority allocator; None where roles have none."""
    if scene.flags.get("allocator") != master_flags.STRICT_PRIORITY_ALLOCATOR:
        return None
    try:
        return Priorities.parse(scene.flags.get("priorities", ""))
    except RuleViolation:
        return None


def _priority(scene: Scene) -> Iterator[Reason]:
    """Only a master that serves roles by priority has this reason."""
    priorities = _priorities(scene)
    if priorities is None:
        return
    own = priorities.of(scene.role)
    served = {role for framework in scene.everybody if framework.active for role in framework.roles}
    ahead = sorted((role for role in served if priorities.of(role) > own), key=lambda role: -priorities.of(role))
    listed = ", ".join(f"{role} ({priorities.of(role)})" for role in ahead) or "none"
    preemption = "on" if scene.flags.get("preemption") == "true" else "off"
    yield Reason(
        "behind by priority",
        bool(ahead),
        f"role {scene.role} has priority {own}; served before it: {listed}; preemption is {preemption}",
    )


def _share(scene: Scene) -> Reason:
    ending = "/shares/dominant"
    prefix = "allocator/mesos/roles/"
    shares = {
        name.removeprefix(prefix).removesuffix(ending): value
        for name, value in (scene.figures or {}).items()
        if name.startswith(prefix) and name.endswith(ending)
    }
    own = shares.get(scene.role)
    if own is None:
        return Reason("others are served first", None, "this master has no metric of shares")
    priorities = _priorities(scene) or Priorities()
    before = sorted(
        role
        for role, share in shares.items()
        if share < own
        and not roles.is_strict_subrole(role, scene.role)
        and priorities.of(role) == priorities.of(scene.role)
    )
    sentence = f"dominant share {own:.3f}; lower: {', '.join(before) or 'none'}"
    return Reason("others are served first", None if before else False, sentence)


def _constraints(scene: Scene) -> Reason:
    name, constraints = "offer constraints", scene.framework.offer_constraints
    if scene.role not in constraints.get("role_constraints", {}):
        return Reason(name, False, "the framework has none in this role")
    try:
        excludes = excluded_agents(constraints, RegexLimits.of({**master_flags.DEFAULTS, **scene.flags}))[scene.role]
    except (MesosctlError, ValueError) as error:
        return Reason(name, None, f"the framework has some that cannot be followed here: {error}")
    enough = scene.sufficient()
    names = scene.agent_names()
    out = sorted(names[agent.id] for agent in scene.agents if agent.id in enough and excludes(agent))
    return Reason(
        name,
        bool(enough) and len(out) == len(enough),
        f"of {len(enough)} agents with enough the framework's own constraints exclude {len(out)}{_named(out)}",
    )


def _named(hosts: Sequence[str], most: int = 3) -> str:
    """A few of them, in brackets."""
    return f" ({', '.join(hosts[:most])}{', …' if len(hosts) > most else ''})" if hosts else ""


def _recovery(scene: Scene) -> Reason:
    """Held back only where there is quota, until most agents are back or the time is over (allocator.md §3)."""
    name = "recovery mode"
    if not scene.awaited:
        return Reason(name, False, "no agent is awaited after a failover")
    known = scene.awaited + len(scene.agents)
    try:
        needed = int(known * master_flags.recovery_factor(scene.flags))
        longest = master_flags.recovery_seconds(scene.flags)
    except ValueError as error:
        return Reason(name, None, f"{scene.awaited} agents are awaited after a failover; flag unreadable: {error}")
    up = (scene.figures or {}).get("master/uptime_secs")
    sentence = (
        f"{len(scene.agents)} of {known} agents are back after a failover; offers are held back until {needed} are, "
        f"or for {longest:g} s"
    )
    if not scene.usage:
        return Reason(name, None, f"{sentence}, where there is quota; roles may not be seen")
    if not scene.quotas:
        return Reason(name, False, f"{sentence}, but only where there is quota")
    if up is None:
        return Reason(name, None, f"{sentence}; this master does not tell for how long it has been up")
    waiting = len(scene.agents) < needed and up < longest
    return Reason(name, waiting, f"{sentence}; it has been up for {up:.0f} s")
