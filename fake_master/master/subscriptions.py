"""Frameworks come, fail over, change and go (spec/endpoints.md §5)."""

from collections import Counter, deque
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

from fake_master.allocator.interface import FrameworkInfo
from fake_master.master import describe, framework_metrics
from fake_master.master.frameworks import Framework, capabilities_of, roles_of
from fake_master.master.streams import EventStream
from mesosctl.core import quota as quota_rules
from mesosctl.core import roles
from mesosctl.core.errors import RuleViolation
from mesosctl.core.offer_constraints import Holds, excluded_agents
from mesosctl.core.quantities import Quantities
from mesosctl.core.regexes import Limits
from mesosctl.core.resources import Resources
from mesosctl.core.scalars import to_milli

if TYPE_CHECKING:
    from fake_master.master.state import Master

# What a duration of the real master can hold, in seconds.
_LONGEST_FAILOVER = 2**63 / 1e9


class Subscriptions:
    """Every framework, and those that are gone."""

    def __init__(self, master: "Master") -> None:
        self._master = master
        self._made = 0
        self.completed: dict[str, Framework] = {}
        self.forgotten: Counter[str] = Counter()
        """What was counted of frameworks that are not even listed as completed any more."""

    def subscribe(
        self,
        info: Mapping[str, Any],
        *,
        principal: str | None,
        suppressed: Collection[str] = (),
        offer_constraints: Mapping[str, Any] | None = None,
        stream: EventStream | None = None,
    ) -> EventStream:
        """SUBSCRIBE: a stream, new unless given; where the framework is refused it gets one ERROR and is closed."""
        master = self._master
        stream = stream or EventStream()
        framework_id = info.get("id", {}).get("value", "")
        try:
            self.check_info(info, suppressed, principal)
            self._excludes(offer_constraints or {})
            known = self._known(framework_id)
            if known is not None:
                self._check_update(known, info)
        except RuleViolation as error:
            master.tell.error(stream, error.message)
            return stream
        if known is None:
            self._add(framework_id, info, frozenset(suppressed), offer_constraints or {}, stream)
        else:
            self._fail_over(known, info, frozenset(suppressed), offer_constraints or {}, stream)
        return stream

    def restore(self, framework: Framework, used: Mapping[str, Resources]) -> None:
        """A framework that was there before this master was made, with what it holds by agent id.

        It is told nothing, and where it is away it may stay away for ever.  Raises RuleViolation.
        """
        self._master.frameworks[framework.id] = framework
        self._master.rate_limiting.registered(framework)
        framework.counts["calls/subscribe"] += 1
        if framework.stream is not None:
            framework.stream.on_abandon(self._on_abandon(framework, framework.stream))
        self._master.allocator.add_framework(
            self._allocator_info(framework), used, active=framework.active, suppressed=framework.suppressed
        )

    def update(
        self,
        framework: Framework,
        info: Mapping[str, Any],
        suppressed: Collection[str],
        offer_constraints: Mapping[str, Any],
        principal: str | None,
    ) -> None:
        """UPDATE_FRAMEWORK.  Raises RuleViolation; nothing is allocated by the call itself."""
        self.check_info(info, suppressed, principal)
        self._excludes(offer_constraints)
        self._check_update(framework, info)
        self._take_over(framework, info, frozenset(suppressed), offer_constraints)
        self._master.tell.operators("FRAMEWORK_UPDATED", {"framework": describe.framework_event(framework)})

    def disconnect(self, framework: Framework) -> None:
        """The stream is gone: no offers, and a while to come back."""
        master = self._master
        framework.connected = framework.active = False
        framework.stream = None
        master.allocator.deactivate_framework(framework.id)
        self._take_back_offers(framework)
        if framework.failover_timeout >= 0:
            framework.failover_timer = master.timers.at(
                master.now + framework.failover_timeout, lambda: self.remove(framework)
            )

    def remove(self, framework: Framework) -> None:
        """The framework and all that it held is gone for good."""
        master = self._master
        if framework.failover_timer is not None:
            framework.failover_timer.cancel()
        # One bracket, so that no allocation falls between the parts of a removal.
        master.allocator.pause()
        framework.active = framework.connected = False
        master.allocator.deactivate_framework(framework.id)
        self._take_back_offers(framework)
        master.task_runner.kill_all(framework)
        # Executors without tasks.
        framework.lose_agents([master.agents[agent_id] for agent_id in framework.agents_used])
        master.allocator.remove_framework(framework.id)
        master.allocator.resume()
        framework.unregistered_time = master.now
        if framework.stream is not None:
            framework.stream.close()
            framework.stream = None
        del master.frameworks[framework.id]
        master.rate_limiting.removed(framework)
        self.completed[framework.id] = framework
        while len(self.completed) > master.flags.count("max_completed_frameworks"):
            self.forgotten += framework_metrics.lasting(self.completed.pop(next(iter(self.completed))))
        master.tell.operators("FRAMEWORK_REMOVED", {"framework_info": describe.framework_info(framework)})

    def suppress(self, framework: Framework, wanted: Collection[str]) -> None:
        """SUPPRESS: no roles means all; a role that is not subscribed makes the whole call nothing."""
        if framework.roles.issuperset(wanted):
            chosen = frozenset(wanted) or framework.roles
            framework.suppressed |= chosen
            self._master.allocator.suppress(framework.id, chosen)

    def revive(self, framework: Framework, wanted: Collection[str]) -> None:
        """REVIVE: as `suppress`, the other way."""
        if framework.roles.issuperset(wanted):
            chosen = frozenset(wanted) or framework.roles
            framework.suppressed -= chosen
            self._master.allocator.revive(framework.id, chosen)

    def _add(
        self,
        framework_id: str,
        info: Mapping[str, Any],
        suppressed: frozenset[str],
        offer_constraints: Mapping[str, Any],
        stream: EventStream,
    ) -> None:
        master = self._master
        # An id that this master has not given away is a former leader's: the framework was there before.
        was_known = bool(framework_id)
        if not was_known:
            framework_id = f"{master.id}-{self._made:04d}"
            self._made += 1
        framework = Framework(
            id=framework_id,
            info={**info, "id": {"value": framework_id}},
            registered_time=master.now,
            reregistered_time=master.now if was_known else None,
            was_known=was_known,
            suppressed=suppressed,
            offer_constraints=offer_constraints,
            stream=stream,
            completed_tasks=deque(maxlen=master.flags.count("max_completed_tasks_per_framework")),
        )
        stream.on_abandon(self._on_abandon(framework, stream))
        master.frameworks[framework_id] = framework
        master.rate_limiting.registered(framework)
        master.tell.subscribed(framework)
        master.allocator.add_framework(self._allocator_info(framework), suppressed=suppressed)
        master.tell.operators("FRAMEWORK_ADDED", {"framework": describe.framework_event(framework)})

    def _fail_over(
        self,
        framework: Framework,
        info: Mapping[str, Any],
        suppressed: frozenset[str],
        offer_constraints: Mapping[str, Any],
        stream: EventStream,
    ) -> None:
        """The same framework on a new stream: its offers are void, its filters only if it had been away."""
        master = self._master
        if framework.stream is not None:
            old, framework.stream = framework.stream, None
            old.on_abandon(lambda: None)
            master.tell.error(old, "Framework failed over")
            framework.counts["events/error"] += 1
        if framework.failover_timer is not None:
            framework.failover_timer.cancel()
        self._take_back_offers(framework)
        self._take_over(framework, info, suppressed, offer_constraints)
        framework.stream = stream
        framework.connected = True
        framework.reregistered_time = master.now
        stream.on_abandon(self._on_abandon(framework, stream))
        master.tell.subscribed(framework)
        if not framework.active:
            framework.active = True
            master.allocator.activate_framework(framework.id)
        master.tell.operators("FRAMEWORK_UPDATED", {"framework": describe.framework_event(framework)})

    def _take_back_offers(self, framework: Framework) -> None:
        """Of both kinds."""
        for offer in list(framework.offers.values()):
            self._master.offers.take_back(offer)
        self._master.inverse_offers.forget(framework)

    def _take_over(
        self,
        framework: Framework,
        info: Mapping[str, Any],
        suppressed: frozenset[str],
        offer_constraints: Mapping[str, Any],
    ) -> None:
        master = self._master
        dropped = framework.roles - roles_of(info)
        framework.info = {**info, "id": {"value": framework.id}}
        framework.suppressed = suppressed
        framework.offer_constraints = offer_constraints
        master.allocator.update_framework(self._allocator_info(framework), suppressed=suppressed)
        for offer in list(framework.offers.values()):
            if offer.role in dropped:
                master.offers.rescind(offer)

    def _known(self, framework_id: str) -> Framework | None:
        if framework_id in self.completed:
            raise RuleViolation("Framework has been removed")
        return self._master.frameworks.get(framework_id)

    def _on_abandon(self, framework: Framework, stream: EventStream) -> Callable[[], None]:
        def gone() -> None:
            if framework.stream is stream:
                self.disconnect(framework)

        return lambda: self._master.rate_limiting.connection_lost(framework, gone)

    def check_info(self, info: Mapping[str, Any], suppressed: Collection[str], principal: str | None) -> None:
        """The rules of FrameworkInfo, in the master's order.  Raises RuleViolation with the event's message."""
        master = self._master
        subscribed = _checked_roles(info)
        for role in sorted(suppressed):
            if role not in subscribed:
                raise RuleViolation(f"Suppressed role '{role}' is not contained in the list of roles")
        for role in sorted(subscribed):
            quota_rules.check_whitelist(role, master.flags.whitelist)
        if info["user"] == "root" and not master.flags.is_true("root_submissions"):
            raise RuleViolation("User 'root' is not allowed to run frameworks without --root_submissions set")
        if abs(info.get("failover_timeout", 0.0)) > _LONGEST_FAILOVER:
            raise RuleViolation(f"The framework failover_timeout ({info['failover_timeout']}) is invalid")
        for role in sorted(subscribed):
            if not master.flags.authorizer.allows("register_frameworks", principal or info.get("principal"), role):
                raise RuleViolation(f"Not authorized to use role '{role}'")

    def _check_update(self, framework: Framework, info: Mapping[str, Any]) -> None:
        for key in ("principal", "user", "checkpoint"):
            if framework.info.get(key) != info.get(key):
                raise RuleViolation(f"Changing framework's {key} is not allowed.")

    def _excludes(self, offer_constraints: Mapping[str, Any]) -> Mapping[str, Holds]:
        """By role, which agents it does not want.  Raises RuleViolation."""
        return excluded_agents(offer_constraints, Limits.of(self._master.flags.shown))

    def _allocator_info(self, framework: Framework) -> FrameworkInfo:
        """What the allocator needs to know of a framework."""
        return FrameworkInfo(
            id=framework.id,
            roles=framework.roles,
            capabilities=framework.capabilities,
            minimums=_minimums(framework),
            excludes=self._excludes(framework.offer_constraints),
        )


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
        problem = roles.role_error(role)
        if problem is not None:
            raise RuleViolation(f"'FrameworkInfo.roles' contains invalid role: {problem}")
    return subscribed


def _minimums(framework: Framework) -> dict[str, tuple[Quantities, ...]]:
    """By role, the least that an offer may hold for it: alternatives."""
    minimums = {}
    for role, filters in framework.info.get("offer_filters", {}).items():
        minimum = filters.get("min_allocatable_resources")
        if minimum is not None:
            minimums[role] = tuple(
                Quantities({name: to_milli(scalar["value"]) for name, scalar in entry.get("quantities", {}).items()})
                for entry in minimum.get("quantities", ())
            )
    return minimums
