"""The life of frameworks: they subscribe, fail over, change and go (Mesos documentation, "Scheduler HTTP API")."""

from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from fake_master.allocator.interface import Allocator, ResourceRequest
from fake_master.services.agents.checkpointed_tasks import TaskStore
from fake_master.services.events import EventPublisher
from fake_master.services.offers import Offers
from fake_master.services.rate_limits import RateLimiting
from fake_master.services.task_runner import TaskRunner
from fake_master.state.frameworks import KnownFramework, roles_of
from fake_master.state.master_state import MasterState
from fake_master.state.offers import OutstandingOffer
from fake_master.state.streams import EventStream
from fake_master.state.subscription import Subscription, allocator_info, same_info
from fake_master.state.tasks import KnownTask
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.errors import RuleViolation
from mesosctl.mesos.messages.protobuf_json.defaults import replaced
from mesosctl.mesos.messages.resources import to_model


class Subscriptions:
    """Adds, changes and removes frameworks."""

    def __init__(
        self,
        state: MasterState,
        allocator: Allocator,
        events: EventPublisher,
        store: TaskStore,
        offers: Offers,
        rate_limiting: RateLimiting,
        task_runner: TaskRunner,
    ) -> None:
        self._state = state
        self._allocator = allocator
        self._events = events
        self._store = store
        self._offers = offers
        self._rate_limiting = rate_limiting
        self._task_runner = task_runner
        self.made = 0
        """The number of frameworks so far, which gives the next one its id."""

    def subscribe(self, wanted: Subscription, stream: EventStream | None = None) -> EventStream:
        """SUBSCRIBE: a stream, by default new; if the framework is refused, it gets one ERROR and is closed.

        Raises RuleViolation for a request that would end a real master.
        """
        stream, profile = stream or EventStream(), self._state.profile
        try:
            wanted.check(self._state.flags, checks_id=profile.checks_framework_ids)
            known = self._known(wanted.framework_id)
            if known is not None:
                wanted = wanted.again(known, refuses_another_principal=profile.refuses_another_principal)
        except RuleViolation as error:
            self._events.error(stream, error.message)
            return stream
        wanted.check_harmless(self._state.profile.release)
        if known is None and wanted.framework_id:
            # An id that this master has not given away is a former leader's: the framework was there before.
            known = self.recover(wanted.info, {})
        if known is None:
            self._add(wanted, stream)
        elif known.pid and wanted.pid and not (wanted.force or known.recovered):
            self._register_again(known, wanted, stream)
        else:
            self._fail_over(known, wanted, stream)
        return stream

    def recover(self, info: Mapping[str, Any], used: Mapping[str, Resources]) -> KnownFramework:
        """A framework of a former leader, disconnected until it subscribes; `used` are its holdings by agent id."""
        framework = KnownFramework(
            id=info["id"]["value"],
            info=info,
            registered_time=0.0,  # nobody knows
            was_known=True,
            recovered=True,
            active=False,
            connected=False,
            completed_tasks=self._no_tasks(),
        )
        self._state.frameworks[framework.id] = framework
        self._rate_limiting.registered(framework)
        for agent_id, resources in used.items():
            framework.hold(self._state.agents[agent_id], resources)
        self._events.framework_changed("FRAMEWORK_ADDED", framework)
        self._allocator.add_framework(allocator_info(framework, self._state.flags), used, active=False)
        return framework

    def restore(self, framework: KnownFramework) -> None:
        """A framework that existed before this master was made, with everything that it holds.

        It gets no events, and may stay disconnected forever.  Raises RuleViolation.
        """
        Subscription(framework.info).check_harmless(self._state.profile.release)
        self._state.frameworks[framework.id] = framework
        framework.completed_tasks = self._no_tasks()
        self._rate_limiting.registered(framework)
        framework.counts["calls/subscribe"] += 1
        if framework.stream is not None:
            framework.stream.on_abandon(self._on_abandon(framework, framework.stream))
        info = allocator_info(framework, self._state.flags)
        self._allocator.add_framework(info, framework.held, active=framework.active, suppressed=framework.suppressed)

    def restore_completed(self, framework: KnownFramework) -> None:
        """A framework that was removed before this master was made."""
        framework.completed_tasks = self._no_tasks()
        self._state.completed_frameworks[framework.id] = framework

    def update(self, framework: KnownFramework, wanted: Subscription) -> None:
        """UPDATE_FRAMEWORK.  Raises RuleViolation; nothing is allocated by the call itself."""
        wanted.check(self._state.flags)
        wanted.check_change_of(framework)
        wanted.check_harmless(self._state.profile.release)
        before = framework.info
        self._take_over(framework, wanted)
        if not same_info(before, framework.info):
            self._events.framework_changed("FRAMEWORK_UPDATED", framework)

    def disconnect(self, framework: KnownFramework) -> None:
        """Take note that the stream is gone: no offers from now on, and a while to come back.

        Where the master ended it, for a message too many, the scheduler is there, and a framework without a
        failover timeout stays until its connection ends (Mesos documentation, "Framework Rate Limiting").
        """
        stream, cut_off = framework.stream, framework.is_cut_off
        framework.connected = framework.active = framework.is_cut_off = False
        framework.stream = None
        self._allocator.deactivate_framework(framework.id)
        # A real master sends an event for each, even without subscribers, and counts it.
        for counted in ("offers/rescinded", "events/rescind"):
            framework.counts[counted] += len(framework.offers)
        framework.counts["events/rescind_inverse_offer"] += len(framework.inverse_offers)
        self._take_back_offers(framework)
        if cut_off and stream is not None and framework.failover_timeout == 0:
            stream.on_leave(lambda: self._wait_for_failover(framework))
        else:
            self._wait_for_failover(framework)

    def _wait_for_failover(self, framework: KnownFramework) -> None:
        """Remove the framework after its failover timeout, unless it is there again."""
        is_away = self._state.frameworks.get(framework.id) is framework and not framework.connected
        if is_away and framework.failover_timeout >= 0:
            framework.failover_timer = self._state.timers.at(
                self._state.now + framework.failover_timeout, lambda: self.remove(framework)
            )

    def remove(self, framework: KnownFramework) -> None:
        """Remove a framework and everything that it holds."""
        if framework.failover_timer is not None:
            framework.failover_timer.cancel()
        # One bracket, so that no allocation falls between the parts of a removal.
        self._allocator.pause()
        was_connected = framework.connected
        framework.active = framework.connected = False
        self._store.forget(framework)
        self._allocator.deactivate_framework(framework.id)
        self._take_back_offers(framework)
        self._task_runner.kill_all(framework)
        # Executors without tasks.
        framework.lose_agents({agent_id: self._state.agents[agent_id] for agent_id in framework.agents_used})
        self._allocator.remove_framework(framework.id)
        self._allocator.resume()
        framework.unregistered_time = self._state.wall_time
        if framework.stream is not None:
            framework.stream.close()
            framework.stream = None
        del self._state.frameworks[framework.id]
        self._rate_limiting.removed(framework)
        framework.connected = was_connected and not self._state.profile.removal_disconnects
        completed = self._state.completed_frameworks
        completed[framework.id] = framework
        while len(completed) > self._state.flags.count("max_completed_frameworks"):
            self._state.forgotten_counts += completed.pop(next(iter(completed))).lasting_counts()
        self._events.framework_changed("FRAMEWORK_REMOVED", framework)

    def suppress(self, framework: KnownFramework, wanted: Collection[str]) -> None:
        """SUPPRESS: no roles means all; a role that is not subscribed makes the whole call nothing."""
        if framework.roles.issuperset(wanted):
            chosen = frozenset(wanted) or framework.roles
            framework.suppressed |= chosen
            self._allocator.suppress(framework.id, chosen)

    def revive(self, framework: KnownFramework, wanted: Collection[str]) -> None:
        """REVIVE: as `suppress`, the other way."""
        if framework.roles.issuperset(wanted):
            chosen = frozenset(wanted) or framework.roles
            framework.suppressed -= chosen
            self._allocator.revive(framework.id, chosen)

    def request(self, framework: KnownFramework, requests: Sequence[Mapping[str, Any]]) -> None:
        """Every request of a call, each for one agent; scalars count, and one that is not valid is passed over."""
        wanted = []
        for message in requests:
            try:
                entries = [to_model(resource) for resource in message.get("resources", ())]
            except RuleViolation:
                continue
            roles = {entry.allocation_role for entry in entries} - {None}
            wanted.append(
                ResourceRequest(
                    Resources(entries).scalar_quantities(),
                    agent=message.get("agent_id", {}).get("value"),
                    role=min(roles) if len(roles) == 1 else None,  # type: ignore[type-var]  # None was taken out
                )
            )
        self._allocator.request_resources(framework.id, wanted)

    def new_id(self) -> str:
        """The id of the next framework of this master."""
        self.made += 1
        return f"{self._state.id}-{self.made - 1:04d}"

    def _add(self, wanted: Subscription, stream: EventStream) -> None:
        framework_id = self.new_id()
        framework = KnownFramework(
            id=framework_id,
            info=_named(wanted.info, framework_id),
            registered_time=self._state.wall_time,
            suppressed=wanted.suppressed,
            offer_constraints=wanted.offer_constraints,
            pid=wanted.pid,
            stream=stream,
            completed_tasks=self._no_tasks(),
        )
        stream.on_abandon(self._on_abandon(framework, stream))
        self._state.frameworks[framework_id] = framework
        self._rate_limiting.registered(framework)
        self._events.subscribed(framework)
        try:
            self._allocator.add_framework(allocator_info(framework, self._state.flags), suppressed=framework.suppressed)
        except Exception:
            # An allocator that fails knows nothing of the framework, so nobody does.
            framework.stream = None
            del self._state.frameworks[framework_id]
            self._rate_limiting.removed(framework)
            raise
        self._events.framework_changed("FRAMEWORK_ADDED", framework)

    def _fail_over(self, framework: KnownFramework, wanted: Subscription, stream: EventStream) -> None:
        """The same framework on a new stream: its offers are void, its filters only if it had been away.

        Those in roles that it has left are still rescinded on the old one.
        """
        self._take_over(framework, wanted)
        if framework.stream is not None:
            old, framework.stream = framework.stream, None
            old.on_abandon(lambda: None)
            if framework.pid is None or framework.pid != wanted.pid:
                self._events.error(old, "Framework failed over")
                framework.counts["events/error"] += 1
            old.close()
        self._take_back_offers(framework)
        framework.stream, framework.pid = stream, wanted.pid
        if framework.recovered:
            framework.recovered = False
            framework.registered_time = self._state.wall_time
        self._come_back(framework)
        self._task_runner.tell_again(framework)  # agents send waiting updates to the new stream

    def _register_again(self, framework: KnownFramework, wanted: Subscription, stream: EventStream) -> None:
        """A driver does not know whether it is registered still; `stream` leads to the one that the framework has."""
        self._take_over(framework, wanted)
        self._take_back_offers(framework, self._offers.rescind)
        framework.stream = framework.stream or stream
        self._come_back(framework)

    def _come_back(self, framework: KnownFramework) -> None:
        """A framework has subscribed again, on the stream that it has now."""
        assert framework.stream is not None, "a subscribed framework has a stream"
        if framework.failover_timer is not None:
            framework.failover_timer.cancel()
        framework.connected, framework.reregistered_time = True, self._state.wall_time
        framework.stream.on_abandon(self._on_abandon(framework, framework.stream))
        self._events.subscribed(framework)
        if not framework.active:
            framework.active = True
            self._allocator.activate_framework(framework.id)
        self._events.framework_changed("FRAMEWORK_UPDATED", framework)

    def deactivate(self, framework: KnownFramework) -> None:
        """The driver has given up, and its connection lasts: no more offers, until it registers again."""
        framework.active = False
        self._allocator.deactivate_framework(framework.id)
        self._take_back_offers(framework, self._offers.rescind)

    def _take_back_offers(
        self, framework: KnownFramework, end: Callable[[OutstandingOffer], None] | None = None
    ) -> None:
        """End the offers of a framework with `end` (`take_back` by default), and drop its inverse offers."""
        for offer in list(framework.offers.values()):
            (end or self._offers.take_back)(offer)
        self._offers.inverse.forget(framework)

    def _take_over(self, framework: KnownFramework, wanted: Subscription) -> None:
        dropped = framework.roles - roles_of(wanted.info)
        framework.info = _named(wanted.info, framework.id)
        framework.suppressed = wanted.suppressed
        framework.offer_constraints = wanted.offer_constraints
        self._store.remember_framework(framework)
        self._allocator.update_framework(allocator_info(framework, self._state.flags), suppressed=framework.suppressed)
        for offer in list(framework.offers.values()):
            if offer.role in dropped:
                self._offers.rescind(offer)

    def _no_tasks(self) -> deque[KnownTask]:
        """Return the completed tasks of a new framework: none, and never more than the flag allows."""
        return deque(maxlen=self._state.flags.count("max_completed_tasks_per_framework"))

    def _known(self, framework_id: str) -> KnownFramework | None:
        if framework_id in self._state.completed_frameworks:
            raise RuleViolation("Framework has been removed")
        return self._state.frameworks.get(framework_id)

    def _on_abandon(self, framework: KnownFramework, stream: EventStream) -> Callable[[], None]:
        def gone() -> None:
            if framework.stream is stream:
                self.disconnect(framework)

        return lambda: self._rate_limiting.connection_lost(framework, gone)


def _named(info: Mapping[str, Any], framework_id: str) -> Mapping[str, Any]:
    """A FrameworkInfo with the id that the master gave."""
    return replaced(info, {**info, "id": {"value": framework_id}})
