"""The reasons, one function each: does it hold, and with which figures (spec/allocator.md §5, §6 and §8).

`holds` is true only where the master's own figures show it, and None where no master tells.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mesosctl.core import roles
from mesosctl.core.errors import RuleViolation
from mesosctl.core.offers import Reason
from mesosctl.core.quantities import Quantities
from mesosctl.core.quota import Quota
from mesosctl.core.resources import Resources
from mesosctl.core.standing import RoleUsage
from mesosctl.core.text import parse_resources
from mesosctl.wire.agent_standing import AgentStanding
from mesosctl.wire.framework_standing import FrameworkStanding

DEFAULT_MINIMUM = "cpus:0.01|mem:32"


@dataclass(frozen=True, slots=True)
class Scene:
    """What the master told; None or empty where it did not."""

    framework: FrameworkStanding
    role: str
    everybody: Sequence[FrameworkStanding]
    agents: Sequence[AgentStanding]
    awaited: int
    usage: Mapping[str, RoleUsage]
    quotas: Mapping[str, Quota]
    figures: Mapping[str, float] | None
    flags: Mapping[str, str]

    def figure(self, ending: str) -> float | None:
        """The metric whose name ends so; None where there is none."""
        return next((value for name, value in (self.figures or {}).items() if name.endswith(ending)), None)

    def usable(self) -> dict[str, Resources]:
        """By agent id, what is free of agents in service and not reserved for somebody else."""
        found = {agent.id: agent.free.allocatable_to(self.role) for agent in self.agents if agent.active}
        return {agent_id: free for agent_id, free in found.items() if len(free)}

    def sufficient(self) -> dict[str, Resources]:
        """The part of `usable` that reaches the minimum of an offer."""
        alternatives = self.minimum()
        return {
            agent_id: free
            for agent_id, free in self.usable().items()
            if not alternatives or any(free.quantities().contains(least) for least in alternatives)
        }

    def minimum(self) -> list[Quantities]:
        """The alternatives of --min_allocatable_resources; none where everything is enough."""
        text = self.flags.get("min_allocatable_resources", DEFAULT_MINIMUM)
        try:
            return [parse_resources(part).quantities() for part in text.split("|") if part.strip()]
        except RuleViolation:
            return []


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
    yield _share(scene)
    yield _constraints(scene)
    yield _recovery(scene)
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
    return Reason("no agent in service", not active, f"{active} of {len(scene.agents)} agents are in service")


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
    lacking = Counter(filter(None, (_lacking(scene, standing[agent_id], free) for agent_id, free in enough.items())))
    listed = ", ".join(f"{name} on {count}" for name, count in lacking.items()) or "none"
    return Reason(
        "missing capability",
        bool(enough) and lacking.total() == len(enough),
        f"agents excluded for want of: {listed}",
    )


def _lacking(scene: Scene, agent: AgentStanding, free: Resources) -> str | None:
    """The capability for want of which one agent is not offered."""
    has = scene.framework.capabilities
    has_gpus = any(entry.name == "gpus" for entry in agent.total)
    if has_gpus and "GPU_RESOURCES" not in has and scene.flags.get("filter_gpu_resources") != "false":
        return "GPU_RESOURCES"
    if "RESERVATION_REFINEMENT" not in has and all(entry.is_refined for entry in free):
        return "RESERVATION_REFINEMENT"
    if "/" in scene.role and "HIERARCHICAL_ROLE" not in agent.capabilities:
        return "HIERARCHICAL_ROLE of the agent"
    if "MULTI_ROLE" in has and "MULTI_ROLE" not in agent.capabilities:
        return "MULTI_ROLE of the agent"
    return None


def _top(role: str) -> str:
    return role.partition("/")[0]


def _headroom(scene: Scene) -> Reason:
    name = "guarantees' headroom"
    if not scene.usage:
        return Reason(name, None, "roles may not be seen")
    own = _top(scene.role)
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
    role = _top(scene.role)
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
    before = sorted(
        role for role, share in shares.items() if share < own and not roles.is_strict_subrole(role, scene.role)
    )
    sentence = f"dominant share {own:.3f}; lower: {', '.join(before) or 'none'}"
    return Reason("others are served first", None if before else False, sentence)


def _constraints(scene: Scene) -> Reason:
    if not scene.framework.constrained:
        return Reason("offer constraints", False, "the framework has none")
    return Reason("offer constraints", None, "the framework has some; no master tells which agents they exclude")


def _recovery(scene: Scene) -> Reason:
    if not scene.awaited:
        return Reason("recovery mode", False, "no agent is awaited after a failover")
    return Reason(
        "recovery mode",
        None,
        f"{scene.awaited} agents are awaited after a failover; no master tells whether offers are held back for that",
    )
