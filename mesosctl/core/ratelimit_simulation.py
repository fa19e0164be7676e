"""Arrivals played through a throttle in virtual time: who waits, how long, and who overflows when."""

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from mesosctl.core.ratelimit import RateLimits
from mesosctl.core.throttle import Limiter, Throttle

Arrival = tuple[float, str | None]
"""When (seconds from the start) and from a framework of which principal."""


@dataclass(slots=True)
class Outcome:
    """What became of the messages of one principal; times and delays in seconds."""

    principal: str | None
    sent: int = 0
    refused: int = 0
    first_refused: float | None = None
    """When its framework would have been sent the error."""
    last_processed: float = 0.0
    longest_queue: int = 0
    delays: list[float] = field(default_factory=list)
    """Of each message that was processed, in order."""
    queue: list[tuple[float, int]] = field(default_factory=list)
    """Messages of this principal that wait, each time the number changes."""

    @property
    def processed(self) -> int:
        """Messages that were not refused."""
        return len(self.delays)

    @property
    def mean_delay(self) -> float:
        """Average seconds from arrival to processing; 0 where nothing was processed."""
        return fmean(self.delays) if self.delays else 0.0

    @property
    def longest_delay(self) -> float:
        """The most that one message waited, in seconds."""
        return max(self.delays, default=0.0)

    def change_queue(self, now: float, by: int) -> None:
        """One message more or less waits from `now` on."""
        waiting = (self.queue[-1][1] if self.queue else 0) + by
        if self.queue and self.queue[-1][0] == now:
            self.queue.pop()
        self.queue.append((now, waiting))
        self.longest_queue = max(self.longest_queue, waiting)


def simulate(limits: RateLimits, arrivals: Iterable[Arrival]) -> list[Outcome]:
    """Play arrivals, in any order, through the limits; outcomes by principal, in order of appearance.

    Of what happens in one instant, processing comes first: a permit that falls free makes room for
    the message that arrives then.  A principal that overflowed goes on sending, to show how much
    would have been lost.
    """
    throttle = Throttle(limits)
    outcomes: dict[str | None, Outcome] = {}
    waiting: list[tuple[float, int, Limiter, Outcome]] = []
    ordered: Sequence[Arrival] = sorted(arrivals, key=lambda arrival: arrival[0])
    for number, (now, principal) in enumerate(ordered):
        _begin_due(waiting, now)
        outcome = outcomes.setdefault(principal, Outcome(principal))
        outcome.sent += 1
        limiter = throttle.limiter(principal)
        due = now if limiter is None else limiter.take(now)
        if due is None:
            outcome.refused += 1
            outcome.first_refused = now if outcome.first_refused is None else outcome.first_refused
            continue
        outcome.delays.append(due - now)
        outcome.last_processed = due
        if limiter is not None and due > now:
            outcome.change_queue(now, +1)
            heapq.heappush(waiting, (due, number, limiter, outcome))
        elif limiter is not None:
            limiter.begin()
    _begin_due(waiting, float("inf"))
    return list(outcomes.values())


def _begin_due(waiting: list[tuple[float, int, Limiter, Outcome]], now: float) -> None:
    while waiting and waiting[0][0] <= now:
        due, _, limiter, outcome = heapq.heappop(waiting)
        limiter.begin()
        outcome.change_queue(due, -1)
