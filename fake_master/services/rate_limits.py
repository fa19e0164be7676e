"""Rate limits: the calls that wait or are refused, and their counters (Mesos documentation, "Framework Rate Limiting").

A real master throttles frameworks that speak through a driver.  The frameworks here use HTTP, so the same limiter
applies to their calls: a call is answered 202 as soon as it is valid, and takes effect when its permit comes.
"""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from fake_master.registry.interface import HeldRegistry, RegistryFailure, Transaction
from fake_master.services.events import EventPublisher
from fake_master.state.frameworks import KnownFramework
from fake_master.state.master_state import MasterState
from fake_master.state.streams import EventStream
from mesosctl.mesos.rules.rate_limits import RateLimit
from mesosctl.mesos.rules.token_bucket import Throttle, TokenBucket

# A driver's name for every message of a 1.x framework.
_MESSAGE = "mesos.scheduler.Call"
_RETRY_AFTER = 1.0
"""Seconds."""
Action = Callable[[], None]


@dataclass(slots=True)
class Counters:
    """Messages of all frameworks with one principal."""

    received: int = 0
    processed: int = 0


class RateLimiting:
    """The master's throttle and its counters, by principal."""

    def __init__(self, state: MasterState, events: EventPublisher, transaction: Transaction) -> None:
        self._state = state
        self._events = events
        self._transaction = transaction
        self._throttle = Throttle(state.flags.rate_limits)
        self._applies = state.flags.rate_limit_http
        self._counters: dict[str, Counters] = {}
        self._waiting: deque[Action] = deque()
        """Actions that have had their turn while another process held the registry, oldest first.

        One queue serves all, so that one at a time tries.
        """

    def registered(self, framework: KnownFramework) -> None:
        """Counters appear, at 0, with the first framework of a principal."""
        if framework.principal is not None:
            self._counters.setdefault(framework.principal, Counters())

    def removed(self, framework: KnownFramework) -> None:
        """Counters go with the last registered framework of a principal."""
        remaining = (known.principal for known in self._state.frameworks.values() if known is not framework)
        if self._acts_on(framework) and framework.principal is not None and framework.principal not in remaining:
            self._counters.pop(framework.principal, None)

    def throttles(self, framework: KnownFramework) -> bool:
        """Return whether calls of the framework may have to wait."""
        return self._acts_on(framework) and self._throttle.limiter(framework.principal) is not None

    def receive(self, framework: KnownFramework, action: Action) -> None:
        """A valid call arrives: do `action` when its permit comes, which may be at once."""
        if not self._acts_on(framework):
            action()
            return
        if (counters := self._counters_of(framework)) is not None:
            counters.received += 1
        stream = framework.stream
        limiter = self._throttle.limiter(framework.principal)
        if limiter is None:
            action()
            self._count_processed(framework)
            return
        now = self._state.now
        due = limiter.take(now)
        if due is None:
            self._refuse(framework, limiter)
        elif due <= now and not self._waiting:
            limiter.begin()
            action()
            self._count_processed(framework)
        else:
            self._state.timers.at(due, lambda: self._process(framework, stream, limiter, action))

    def receive_answered(self, framework: KnownFramework) -> None:
        """A call whose answer is its result, and which therefore cannot wait, was made."""
        if self._acts_on(framework) and (counters := self._counters_of(framework)) is not None:
            counters.received += 1
            counters.processed += 1

    def connection_lost(self, framework: KnownFramework, action: Action) -> None:
        """The loss of a connection waits for a permit too, so that it does not overtake calls."""
        limiter = self._throttle.limiter(framework.principal) if self._acts_on(framework) else None
        if limiter is None:
            action()
            return
        due = limiter.reserve(self._state.now)
        if due <= self._state.now:
            self._in_order(action)
        else:
            self._state.timers.at(due, lambda: self._in_order(action))

    def metrics(self) -> dict[str, float]:
        """The counters under their names, with principals as they are."""
        found = {}
        for principal, counters in self._counters.items():
            found[f"frameworks/{principal}/messages_received"] = float(counters.received)
            found[f"frameworks/{principal}/messages_processed"] = float(counters.processed)
        return found

    def queues(self) -> Iterator[tuple[str, int, RateLimit]]:
        """The principals of registered frameworks that are throttled: how many messages wait, and the limit."""
        for principal in self._counters:
            limiter = self._throttle.limiter(principal)
            if limiter is not None:
                yield principal, limiter.outstanding, self._state.flags.rate_limits.queue_of(principal)[1]

    def _acts_on(self, framework: KnownFramework) -> bool:
        """Return whether a framework is throttled and counted: over HTTP only if the flag says so."""
        return framework.pid is not None or self._applies

    def _process(
        self, framework: KnownFramework, stream: EventStream | None, limiter: TokenBucket, action: Action
    ) -> None:
        """Process a call whose permit has come."""
        limiter.begin()
        self._in_order(lambda: self._keep(framework, stream, action))

    def _in_order(self, step: Action) -> None:
        """Do `step` once nothing waits before it and, if it takes the registry, no other process holds that."""
        if self._waiting:
            self._waiting.append(step)
            return
        try:
            step()
        except HeldRegistry:
            self._waiting.append(step)
            self._state.timers.at(self._state.now + _RETRY_AFTER, self._catch_up)

    def _catch_up(self) -> None:
        """Do the waiting steps. Raises HeldRegistry if they must still wait: the timers try again."""
        while self._waiting:
            self._waiting[0]()
            self._waiting.popleft()

    def _keep(self, framework: KnownFramework, stream: EventStream | None, action: Action) -> None:
        """Make a call that was answered long ago; one of a framework that is gone, or has a newer stream, is ignored.

        Raises HeldRegistry, and nothing was done then.
        """
        if self._state.frameworks.get(framework.id) is not framework or framework.stream is not stream:
            return
        try:
            with self._transaction():
                action()
        except HeldRegistry:
            raise
        except RegistryFailure:
            # Nobody waits for an answer any more.  What the registry holds is as before; what the agents do goes on,
            # and they write it when they can (`CheckpointedTasks`).
            pass
        self._count_processed(framework)

    def _refuse(self, framework: KnownFramework, limiter: TokenBucket) -> None:
        """Send ERROR to a framework whose queue is full, and disconnect it; its tasks keep running.

        A driver aborts by itself.
        """
        stream = framework.stream
        if stream is None or stream.closed:
            return
        problem = f"Message {_MESSAGE} dropped: capacity({limiter.capacity}) exceeded"
        if framework.pid is not None:
            self._events.error_only(stream, problem)
            return
        self._events.error(stream, problem)
        framework.is_cut_off = True
        stream.lost()

    def _count_processed(self, framework: KnownFramework) -> None:
        # A teardown may have taken the counters away.
        if (counters := self._counters_of(framework)) is not None:
            counters.processed += 1

    def _counters_of(self, framework: KnownFramework) -> Counters | None:
        return None if framework.principal is None else self._counters.get(framework.principal)
