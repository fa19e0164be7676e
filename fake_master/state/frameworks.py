"""One framework, as the master knows it."""

import math
from collections import Counter, deque
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, groupby
from operator import itemgetter
from typing import Any

from fake_master.allocator.interface import FrameworkInfo
from fake_master.state.agents import Agent
from fake_master.state.clock import Timer
from fake_master.state.flags import MasterFlags
from fake_master.state.offers import Offer
from fake_master.state.streams import EventStream
from fake_master.state.tasks import Executor, Task
from mesosctl.model import roles as roles_model
from mesosctl.model.errors import RuleViolation
from mesosctl.model.offers.constraints import Holds, RegexLimits, excluded_agents
from mesosctl.model.quantities import Quantities, to_milli
from mesosctl.model.resources import Resources
from mesosctl.model.roles import id_error

# Offers come and go by the thousand, and hardly anybody asks for their sum.
_CHANGES_KEPT = 1000


@dataclass(slots=True)
class Framework:
    """A framework and what it holds.  Times are seconds since the epoch."""

    id: str
    info: Mapping[str, Any]
    """FrameworkInfo, as it was sent."""
    registered_time: float
    suppressed: frozenset[str] = frozenset()
    offer_constraints: Mapping[str, Any] = field(default_factory=dict)
    active: bool = True
    connected: bool = True
    reregistered_time: float | None = None
    unregistered_time: float | None = None
    was_known: bool = False
    """Whether it came with an id already, as from a former leader."""
    recovered: bool = False
    """Whether it is known from its agents alone, and has not subscribed since a new leader took over."""
    is_simulated: bool = False
    """Whether it lives in the master's own process, and ends with that."""
    stream: EventStream | None = None
    offers: dict[str, Offer] = field(default_factory=dict)
    inverse_offers: dict[str, str] = field(default_factory=dict)
    """Agent id by inverse offer id."""
    tasks: dict[str, Task] = field(default_factory=dict)
    unreachable_tasks: dict[str, Task] = field(default_factory=dict)
    """Tasks on agents that nobody can reach, or that an operator has given up."""
    executors: dict[tuple[str, str], Executor] = field(default_factory=dict)
    """By agent id and executor id."""
    completed_tasks: deque[Task] = field(default_factory=deque)
    """The last ones, as many as the flag max_completed_tasks_per_framework says."""
    failover_timer: Timer | None = None
    counts: Counter[str] = field(default_factory=Counter)
    """What its metrics count, by their names below the framework's own: `calls/accept`."""
    # Sums kept as tasks come and go: there may be thousands of them, and every view asks.
    _held: dict[str, Resources] = field(default_factory=dict)
    _held_anywhere: Resources = field(default_factory=Resources)
    _offered: Resources = field(default_factory=Resources)
    _offer_changes: list[tuple[bool, Resources]] = field(default_factory=list)
    """What `_offered` does not have yet: offers made (true) and gone, in order."""

    @property
    def name(self) -> str:
        """What the framework calls itself."""
        return str(self.info["name"])

    @property
    def principal(self) -> str | None:
        """Its principal, if it has one."""
        return self.info.get("principal")

    @property
    def capabilities(self) -> frozenset[str]:
        """What it can deal with: MULTI_ROLE, RESERVATION_REFINEMENT and so on."""
        return capabilities_of(self.info)

    @property
    def is_partition_aware(self) -> bool:
        """Whether it can tell why a task is lost."""
        return "PARTITION_AWARE" in self.capabilities

    @property
    def roles(self) -> frozenset[str]:
        """The roles it is subscribed to."""
        return roles_of(self.info)

    @property
    def tracked_roles(self) -> frozenset[str]:
        """Those, and the ones that it has left and still holds something in."""
        return self.roles.union(entry.allocation_role for entry in self.used() if entry.allocation_role is not None)

    @property
    def failover_timeout(self) -> float:
        """Seconds it may stay away."""
        return float(self.info.get("failover_timeout", 0.0))

    def count_task(self, task: Task) -> None:
        """One more task is in its state: of active ones how many are, of ended ones how many have been."""
        self.counts[f"tasks/{'terminal' if task.is_terminal else 'active'}/{task.state.lower()}"] += 1

    def lasting_counts(self) -> Counter[str]:
        """Return what the framework adds to the master's own counters.

        Its first subscription registers it, unless it came with an id; all others do so again.
        """
        subscribed = self.counts["calls/subscribe"]
        first = 0 if self.was_known else min(subscribed, 1)
        return self.counts + Counter({"registered": first, "reregistered": subscribed - first})

    def hold(self, agent: Agent, resources: Resources) -> None:
        """A task or executor takes `resources`, allocation roles included, of an agent."""
        self._held[agent.id] = self._held.get(agent.id, Resources()) + resources
        self._held_anywhere += resources
        agent.used += resources

    def release(self, agent: Agent, resources: Resources) -> None:
        """It has ended, and holds them no more."""
        left = self._held[agent.id] - resources
        if len(left):
            self._held[agent.id] = left
        else:
            del self._held[agent.id]
        self._held_anywhere -= resources
        agent.used -= resources

    def lose_agents(self, agents: Iterable[Agent]) -> None:
        """The agents are gone, and all that it held there with them."""
        gone = {agent.id: agent for agent in agents}
        for agent in gone.values():
            if agent.id in self._held:
                self.release(agent, self._held[agent.id])
        self.tasks = {name: task for name, task in self.tasks.items() if task.agent_id not in gone}
        self.executors = {key: executor for key, executor in self.executors.items() if executor.agent_id not in gone}

    @property
    def agents_used(self) -> Collection[str]:
        """The agents on which it holds anything."""
        return self._held.keys()

    def used(self) -> Resources:
        """What it holds on all agents."""
        return self._held_anywhere

    def add_offer(self, offer: Offer) -> None:
        """It is offered this."""
        self.offers[offer.id] = offer
        self._offers_changed(offer, made=True)

    def drop_offer(self, offer: Offer) -> None:
        """The offer is no longer outstanding."""
        if self.offers.pop(offer.id, None) is not None:
            self._offers_changed(offer, made=False)

    def _offers_changed(self, offer: Offer, *, made: bool) -> None:
        self._offer_changes.append((made, offer.resources))
        if len(self._offer_changes) >= _CHANGES_KEPT:
            self.offered()

    def offered(self) -> Resources:
        """What it is offered on all agents, in one sum as Mesos keeps it.

        Ports that it is offered on two agents are there once, and gone with the first of the two offers.
        """
        for made, changes in groupby(self._offer_changes, key=itemgetter(0)):
            entries = chain.from_iterable(resources for _, resources in changes)
            self._offered = Resources(chain(self._offered, entries)) if made else self._offered - Resources(entries)
        self._offer_changes.clear()
        return self._offered


def capabilities_of(info: Mapping[str, Any]) -> frozenset[str]:
    """The capabilities that a FrameworkInfo names."""
    return frozenset(entry["type"] for entry in info.get("capabilities", ()) if "type" in entry)


def roles_of(info: Mapping[str, Any]) -> frozenset[str]:
    """The roles that a FrameworkInfo subscribes to; without MULTI_ROLE exactly one."""
    if "MULTI_ROLE" in capabilities_of(info):
        return frozenset(info.get("roles", ()))
    return frozenset((info.get("role", roles_model.DEFAULT_ROLE),))


# What a duration of the real master can hold, in seconds.
_LONGEST_FAILOVER = 2**63 / 1e9
# Thousandths that no agent has.
_MORE_THAN_THERE_IS = 2**62
# A framework that subscribes again keeps them, whatever it says.
_LASTING = ("user", "checkpoint")


@dataclass(frozen=True, slots=True)
class Subscription:
    """What SUBSCRIBE and UPDATE_FRAMEWORK say, and who says it."""

    info: Mapping[str, Any]
    """FrameworkInfo."""
    suppressed: frozenset[str] = frozenset()
    offer_constraints: Mapping[str, Any] = field(default_factory=dict)
    principal: str | None = None
    """As authenticated; where nobody asked for credentials, FrameworkInfo's own counts."""

    @property
    def framework_id(self) -> str:
        """Empty where the framework has none yet."""
        return str(self.info.get("id", {}).get("value", ""))

    def check(self, flags: MasterFlags) -> None:
        """The rules of FrameworkInfo, in the master's order.  Raises RuleViolation with the event's message."""
        info = self.info
        subscribed = _checked_roles(info)
        problem = id_error(self.framework_id) if self.framework_id else None
        if problem is not None:
            raise RuleViolation(problem)
        for role in sorted(self.suppressed):
            if role not in subscribed:
                raise RuleViolation(f"Suppressed role '{role}' is not contained in the list of roles")
        for role in sorted(subscribed):
            roles_model.check_whitelist(role, flags.whitelist)
        if info["user"] == "root" and not flags.is_true("root_submissions"):
            raise RuleViolation("User 'root' is not allowed to run frameworks without --root_submissions set")
        if not abs(info.get("failover_timeout", 0.0)) <= _LONGEST_FAILOVER:  # NaN is no time either
            raise RuleViolation(f"The framework failover_timeout ({info['failover_timeout']}) is invalid")
        for role in sorted(subscribed):
            if not flags.authorizer.allows("register_frameworks", self.principal or info.get("principal"), role):
                raise RuleViolation(f"Not authorized to use role '{role}'")
        _check_minimums(info)
        _excludes(self.offer_constraints, flags)

    def check_change_of(self, framework: Framework) -> None:
        """What an UPDATE_FRAMEWORK must leave as it is.  Raises RuleViolation."""
        self._check_same(framework, "principal", *_LASTING)

    def again(self, framework: Framework) -> "Subscription":
        """What it says where the framework is known already, and keeps what it had.  Raises RuleViolation."""
        self._check_same(framework, "principal")
        kept = {key: framework.info[key] for key in _LASTING if key in framework.info}
        return replace(self, info={key: value for key, value in self.info.items() if key not in _LASTING} | kept)

    def _check_same(self, framework: Framework, *keys: str) -> None:
        for key in keys:
            default = False if key == "checkpoint" else None
            if framework.info.get(key, default) != self.info.get(key, default):
                raise RuleViolation(f"Changing framework's {key} is not allowed.")


def allocator_info(framework: Framework, flags: MasterFlags) -> FrameworkInfo:
    """What the allocator needs to know of a framework."""
    return FrameworkInfo(
        id=framework.id,
        roles=framework.roles,
        capabilities=framework.capabilities,
        minimums=_minimums(framework),
        excludes=_excludes(framework.offer_constraints, flags),
    )


def _excludes(offer_constraints: Mapping[str, Any], flags: MasterFlags) -> Mapping[str, Holds]:
    """By role, which agents it does not want.  Raises RuleViolation."""
    return excluded_agents(offer_constraints, RegexLimits.of(flags.shown))


def _checked_roles(info: Mapping[str, Any]) -> frozenset[str]:
    """The roles of a FrameworkInfo.  Raises RuleViolation."""
    multi_role = "MULTI_ROLE" in capabilities_of(info)
    named = list(info.get("roles", ()))
    if multi_role and "role" in info:
        raise RuleViolation("'FrameworkInfo.role' must not be set when the framework is MULTI_ROLE capable")
    if not multi_role and named:
        raise RuleViolation("'FrameworkInfo.roles' must not be set when the framework is not MULTI_ROLE capable")
    if len(set(named)) != len(named):
        twice = ", ".join(sorted({role for role in named if named.count(role) > 1}))
        raise RuleViolation(f"'FrameworkInfo.roles' contains duplicate items: {{ {twice} }}")
    subscribed = roles_of(info)
    for role in sorted(subscribed):
        problem = roles_model.role_error(role)
        if problem is not None:
            raise RuleViolation(f"'FrameworkInfo.roles' contains invalid role: {problem}")
    return subscribed


def _least(value: float) -> int:
    """Thousandths; what is too much to be counted is merely more than any offer holds."""
    try:
        return to_milli(value)
    except ValueError:
        return _MORE_THAN_THERE_IS


def _check_minimums(info: Mapping[str, Any]) -> None:
    """Raises RuleViolation where an offer filter names no amount; JSON has no such numbers, protobuf has."""
    for filters in info.get("offer_filters", {}).values():
        for entry in filters.get("min_allocatable_resources", {}).get("quantities", ()):
            for name, scalar in entry.get("quantities", {}).items():
                if not math.isfinite(scalar["value"]):
                    kind = "NaN" if math.isnan(scalar["value"]) else "Infinite values"
                    raise RuleViolation(f"Invalid resource quantity for '{name}': {kind} not supported")


def _minimums(framework: Framework) -> dict[str, tuple[Quantities, ...]]:
    """By role, the least that an offer may hold for it: alternatives."""
    minimums = {}
    for role, filters in framework.info.get("offer_filters", {}).items():
        minimum = filters.get("min_allocatable_resources")
        if minimum is not None:
            minimums[role] = tuple(
                Quantities({name: _least(scalar["value"]) for name, scalar in entry.get("quantities", {}).items()})
                for entry in minimum.get("quantities", ())
            )
    return minimums
