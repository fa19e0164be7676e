"""Arrivals played through a throttle in virtual time: who waits, how long, and who overflows when."""

import heapq
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from mesosctl.mesos.errors import UsageError
from mesosctl.mesos.rules.rate_limits import RateLimits
from mesosctl.mesos.rules.token_bucket import Throttle, TokenBucket

Arrival = tuple[float, str | None]
"""When (seconds from the start) and from a framework of which principal."""


@dataclass(slots=True)
class PrincipalTraffic:
    """The messages of one principal in a simulation; times and delays in seconds."""

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
        """Average seconds from arrival to processing; 0 if nothing was processed."""
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


def simulate(limits: RateLimits, arrivals: Iterable[Arrival]) -> list[PrincipalTraffic]:
    """Play arrivals, in any order, through the limits; outcomes by principal, in order of appearance.

    Of what happens in one instant, processing comes first: a permit that falls free makes room for
    the message that arrives then.  A principal that overflowed goes on sending, to show how much
    would have been lost.
    """
    throttle = Throttle(limits)
    outcomes: dict[str | None, PrincipalTraffic] = {}
    waiting: list[tuple[float, int, TokenBucket, PrincipalTraffic]] = []
    ordered: Sequence[Arrival] = sorted(arrivals, key=lambda arrival: arrival[0])
    for number, (now, principal) in enumerate(ordered):
        _begin_due(waiting, now)
        outcome = outcomes.setdefault(principal, PrincipalTraffic(principal))
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


def _begin_due(waiting: list[tuple[float, int, TokenBucket, PrincipalTraffic]], now: float) -> None:
    while waiting and waiting[0][0] <= now:
        due, _, limiter, outcome = heapq.heappop(waiting)
        limiter.begin()
        outcome.change_queue(due, -1)


NO_PRINCIPAL = "-"
MOST_MESSAGES = 5_000_000
_NUMBER = r"\d+(?:\.\d+)?"
_STREAM = re.compile(rf"(?P<rate>{_NUMBER})/s\*(?P<seconds>{_NUMBER})(?:@(?P<start>{_NUMBER}))?", re.ASCII)
_BURST = re.compile(rf"(?P<count>\d{{1,9}})(?:@(?P<start>{_NUMBER}))?", re.ASCII)


def parse_traffic(patterns: Iterable[str], field: str = "traffic") -> list[Arrival]:
    """The arrivals of several streams and bursts, in order of time.  Raises UsageError naming `field`."""
    arrivals: list[Arrival] = []
    for word in patterns:
        count, step, start, principal = _parse(word, field)
        if len(arrivals) + count > MOST_MESSAGES:
            raise UsageError(f"more than {MOST_MESSAGES} messages", field=field, hint="simulate a shorter time")
        arrivals.extend(_arrivals(count, step, start, principal))
    return sorted(arrivals, key=lambda arrival: arrival[0])


def _parse(word: str, field: str) -> tuple[int, float, float, str | None]:
    """Messages, seconds between two of them, seconds before the first, and who sends."""
    # A principal may hold anything, an equals sign included.
    name, equals, pattern = word.rpartition("=")
    principal = None if name == NO_PRINCIPAL else name
    if equals and (stream := _STREAM.fullmatch(pattern)):
        rate, start, seconds = float(stream["rate"]), float(stream["start"] or 0), float(stream["seconds"])
        if not seconds:
            raise UsageError(
                f"'{word}' sends for no time", field=field, hint="for example, foo=200/s*10 for ten seconds"
            )
        if rate > 0 and math.isfinite(1 / rate) and math.isfinite(start):
            # Of a number that no double holds there are too many in any case.
            count = min(rate * seconds, MOST_MESSAGES + 1.0)
            return math.ceil(count), 1 / rate, start, principal
    if equals and (burst := _BURST.fullmatch(pattern)) and math.isfinite(start := float(burst["start"] or 0)):
        return int(burst["count"]), 0.0, start, principal
    raise UsageError(
        f"'{word}' is not traffic",
        field=field,
        hint="write PRINCIPAL=RATE/s*SECONDS@START or PRINCIPAL=COUNT@START, such as foo=200/s*10 or foo=500@2",
    )


def _arrivals(count: int, step: float, start: float, principal: str | None) -> Iterator[Arrival]:
    return ((start + index * step, principal) for index in range(count))


@dataclass(frozen=True, slots=True)
class CountedMessages:
    """How many messages of a principal a master had received, `at` seconds after the first reading."""

    at: float
    principal: str
    received: int


def recorded_traffic(readings: Iterable[CountedMessages], field: str = "recorded") -> list[Arrival]:
    """The arrivals between readings, spread evenly from one to the next.

    A counter that is lower than before has restarted.  Raises UsageError naming `field` if there are too many.
    """
    last: dict[str, CountedMessages] = {}
    arrivals: list[Arrival] = []
    for now in sorted(readings, key=lambda reading: reading.at):
        before = last.get(now.principal)
        last[now.principal] = now
        if before is None or now.at <= before.at:
            continue
        count = now.received - before.received if now.received >= before.received else now.received
        if len(arrivals) + count > MOST_MESSAGES:
            raise UsageError(f"more than {MOST_MESSAGES} messages", field=field, hint="take a shorter recording")
        arrivals.extend(_arrivals(count, (now.at - before.at) / max(count, 1), before.at, now.principal))
    return sorted(arrivals, key=lambda arrival: arrival[0])
