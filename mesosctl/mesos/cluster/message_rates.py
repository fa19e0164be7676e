"""Message rates from repeated readings of a master's counters.

Source: Mesos documentation, "Framework Rate Limiting", "Monitoring Framework Traffic".

Counters restart at 0 when another master leads or when the last framework of a principal goes;
they appear with its first one.  A rate is given only if both readings belong together.
"""

import difflib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal, Self

from mesosctl.mesos.amounts.notation import counted
from mesosctl.mesos.rules.rate_limit_simulation import Arrival, PrincipalTraffic, simulate
from mesosctl.mesos.rules.rate_limits import RateLimit, RateLimitFinding, RateLimits

_BUSY = 0.9
"""The part of its rate from which a master is taken to be processing without a pause: readings are never exact."""


@dataclass(frozen=True, slots=True)
class MessageCounts:
    """`frameworks/<principal>/messages_received` and `…_processed`."""

    received: int
    processed: int

    @property
    def difference(self) -> int:
        """Messages that wait, and those that were refused since the counters began."""
        return max(0, self.received - self.processed)


@dataclass(frozen=True, slots=True)
class CounterReading:
    """All counters at one time; `at` and `uptime` (of the master, None if it does not say) in seconds."""

    at: float
    uptime: float | None
    counts: Mapping[str, MessageCounts] = field(default_factory=dict)
    calls: Mapping[str, float] = field(default_factory=dict)
    """The calls of each framework so far, by its id; empty if the master does not count them."""


@dataclass(frozen=True, slots=True)
class HttpFramework:
    """A framework that uses the HTTP API, whose calls a real master neither counts for its principal nor throttles."""

    id: str
    name: str
    principal: str | None


@dataclass(frozen=True, slots=True)
class UncountedCalls:
    """The calls of such a framework; `peak` and `mean` in calls a second."""

    framework: HttpFramework
    mean: float
    peak: float

    @property
    def sentence(self) -> str:
        """A sentence about them for the operator."""
        who = f" (principal {self.framework.principal})" if self.framework.principal else ""
        return (
            f"framework {self.framework.name}{who} uses the HTTP API and makes {self.peak:.3g} calls a second: this "
            f"master neither counts nor throttles them"
        )


def uncounted(readings: Sequence[CounterReading], frameworks: Sequence[HttpFramework]) -> list[UncountedCalls]:
    """The calls that frameworks made over HTTP while the counters of their principals stood still."""
    found = []
    for framework in frameworks:
        spans = []
        for before, now in pairwise(readings):
            made = now.calls.get(framework.id, 0.0) - before.calls.get(framework.id, now.calls.get(framework.id, 0.0))
            principal = framework.principal or ""
            old, new = before.counts.get(principal), now.counts.get(principal)
            counted = old is not None and new is not None and new.received > old.received
            if made > 0 and not counted:
                spans.append((now.at - before.at, made))
        if spans:
            took = sum(seconds for seconds, _ in spans)
            mean = sum(made for _, made in spans) / took
            found.append(UncountedCalls(framework, mean, max(made / seconds for seconds, made in spans)))
    return found


@dataclass(frozen=True, slots=True)
class PrincipalRates:
    """One principal between two readings; rates in messages a second, None if they are not known."""

    principal: str
    status: Literal["new", "steady", "restarted", "gone"]
    counts: MessageCounts
    backlog: int
    arriving: float | None = None
    processing: float | None = None
    seconds_to_full: float | None = None
    """Until its queue is full at this pace; None if the queue is unbounded, or does not grow."""
    is_full: bool = False
    """Whether its queue is full, so that messages are refused."""


@dataclass(frozen=True, slots=True)
class RatesReading:
    """The rates at one reading: `at` seconds after the first one, at `time` in seconds since 1970."""

    at: float
    time: float
    rates: Sequence[PrincipalRates]


def rates(before: CounterReading | None, now: CounterReading, limits: RateLimits | None) -> list[PrincipalRates]:
    """Return the message rates between two readings, by principal.  Without `limits` no time to full is given."""
    limits = limits or RateLimits()
    failed_over = before is not None and _another_master(before, now)
    known = {} if before is None else before.counts
    found = []
    for principal in sorted(known.keys() | now.counts.keys()):
        old, new = known.get(principal), now.counts.get(principal)
        if new is None:
            assert old is not None
            found.append(PrincipalRates(principal, "gone", old, 0))
            continue
        waits = backlog(new, limits.queue_of(principal)[1])
        if old is None or before is None:
            found.append(PrincipalRates(principal, "new", new, waits))
        elif failed_over or new.received < old.received or new.processed < old.processed:
            found.append(PrincipalRates(principal, "restarted", new, waits))
        else:
            took = now.at - before.at
            name, limit = limits.queue_of(principal)
            shares = name is None
            found.append(
                PrincipalRates(
                    principal,
                    "steady",
                    new,
                    waits if shares else waiting(old, new, took, limit),
                    (new.received - old.received) / took,
                    (new.processed - old.processed) / took,
                )
            )
    return [_with_time_to_full(principal_rates, found, limits) for principal_rates in found]


def _another_master(before: CounterReading, now: CounterReading) -> bool:
    """Whether uptime did not pass as time did: the next leader may have been up for longer or for less."""
    if before.uptime is None or now.uptime is None:
        return False
    took = now.at - before.at
    return abs(now.uptime - before.uptime - took) > max(1.0, took / 2)


def backlog(counts: MessageCounts, limit: RateLimit) -> int:
    """Messages that wait: never more than fit, since refused ones stay in the difference for good."""
    if not limit.throttles or limit.capacity is None:
        return counts.difference
    return min(counts.difference, limit.capacity)


def waiting(before: MessageCounts, now: MessageCounts, took: float, limit: RateLimit) -> int:
    """Messages that wait after an interval: none, if the master processed less than the limit lets it.

    A queue with anything in it is processed at the rate of the limit.  What is left of the difference was refused.
    """
    if limit.qps is not None and now.processed - before.processed < math.floor(_BUSY * limit.qps * took):
        return 0
    return backlog(now, limit)


def _with_time_to_full(
    principal_rates: PrincipalRates, everybody: Sequence[PrincipalRates], limits: RateLimits
) -> PrincipalRates:
    """All who share the default fill one queue together."""
    who, limit = limits.queue_of(principal_rates.principal)
    if not limit.throttles or limit.capacity is None:
        return principal_rates
    sharing = [other for other in everybody if limits.queue_of(other.principal)[0] == who and other.status == "steady"]
    processing = sum(other.processing or 0.0 for other in sharing)
    growth = sum(other.arriving or 0.0 for other in sharing) - processing
    if principal_rates not in sharing:
        return principal_rates
    if _is_full(sum(other.counts.difference for other in sharing), growth, processing, limit):
        return replace(principal_rates, is_full=True)
    if growth <= 0:
        return principal_rates
    left = max(0, limit.capacity - sum(other.backlog for other in sharing)) / growth
    return replace(principal_rates, seconds_to_full=left)


def _is_full(difference: int, growth: float, processing: float, limit: RateLimit) -> bool:
    """Whether a queue is full, as far as counters show.

    Messages that were refused once stay in the difference for good, so that alone it proves nothing: it still
    grows, or does not shrink although the master processes as fast as the limit lets it.
    """
    if limit.capacity is None or limit.qps is None or difference < limit.capacity:
        return False
    return growth > 0 or (growth == 0 and processing >= _BUSY * limit.qps)


@dataclass(frozen=True, slots=True)
class ObservedMessages:
    """The messages of one principal during a watch; messages a second."""

    principal: str
    mean: float
    peak: float
    """In the busiest interval."""
    throttled_at: float | None = None
    """The rate of its limit, if the master processed its messages that fast: without the limit, it may send more."""


def observe(readings: Sequence[CounterReading], limits: RateLimits | None = None) -> list[ObservedMessages]:
    """Mean and peak arrivals by principal over all intervals whose rate is known, under these limits."""
    reached = _limits_reached(readings, limits or RateLimits())
    arrivals: dict[str, list[tuple[float, float]]] = {}
    for before, now in pairwise(readings):
        for principal_rates in rates(before, now, None):
            spans = arrivals.setdefault(principal_rates.principal, [])
            if principal_rates.arriving is not None:
                spans.append((now.at - before.at, principal_rates.arriving))
    return [
        ObservedMessages(
            principal,
            sum(took * rate for took, rate in spans) / sum(took for took, _ in spans) if spans else 0.0,
            max((rate for _, rate in spans), default=0.0),
            reached.get(principal),
        )
        for principal, spans in sorted(arrivals.items())
    ]


def _limits_reached(readings: Sequence[CounterReading], limits: RateLimits) -> dict[str, float]:
    """Return the rates of the limits that were reached in some interval, by principal.

    Those that share the default reach it together.
    """
    found: dict[str, float] = {}
    for before, now in pairwise(readings):
        by_queue: dict[str | None, list[PrincipalRates]] = {}
        for principal_rates in rates(before, now, limits):
            by_queue.setdefault(limits.queue_of(principal_rates.principal)[0], []).append(principal_rates)
        for sharing in by_queue.values():
            qps = limits.queue_of(sharing[0].principal)[1].qps
            processing = sum(one.processing or 0.0 for one in sharing)
            if qps is not None and processing >= _BUSY * qps:
                found |= {one.principal: qps for one in sharing if one.processing}
    return found


def suggest(
    observed: Sequence[ObservedMessages], *, headroom: float, burst: float, elsewhere: Sequence[UncountedCalls] = ()
) -> RateLimits:
    """Limits that would not have throttled what was seen; principals that sent nothing get none.

    Rates are `headroom` times the peak, in whole messages and at least 1, since large values
    already protect other frameworks; capacities hold `burst` seconds of that rate.  The default is
    as large as the largest entry: an unlisted principal may do what the busiest known framework does, also one that
    uses the HTTP API (`elsewhere`), should it use a driver one day.  Without any traffic there are no limits.
    """
    entries = tuple(
        (messages.principal, _limit(messages.peak * headroom, burst)) for messages in observed if messages.peak > 0
    )
    rates_seen = [limit.qps or 0.0 for _, limit in entries] + [calls.peak * headroom for calls in elsewhere]
    return RateLimits(entries, _limit(max(rates_seen), burst) if rates_seen else RateLimit())


def _limit(rate: float, burst: float) -> RateLimit:
    qps = max(1, math.ceil(round(rate, 6)))
    return RateLimit(float(qps), math.ceil(qps * burst))


@dataclass(frozen=True, slots=True)
class FileCheck:
    """A configuration file and what is to be said about it."""

    file: str
    limits: RateLimits
    remarks: Sequence[RateLimitFinding]

    @property
    def valid(self) -> bool:
        """Whether a master would start with it."""
        return all(remark.level != "error" for remark in self.remarks)


PRINCIPAL_KEYS = ("principal", "qps", "received", "processed", "backlog", "refused")
"""The keys that the list of principals can be sorted by."""


@dataclass(frozen=True, slots=True)
class PrincipalQueue:
    """A principal and the queue of its messages; None means everybody who is not listed."""

    principal: str | None
    limit: RateLimit
    listed: bool
    counts: MessageCounts | None
    """None if it has no counters now."""
    frameworks: int | None
    """The number of frameworks that use it; None if that is not visible."""
    waiting: int | None = None
    """Messages that wait; None if it has no counters."""

    @property
    def refused(self) -> int | None:
        """Messages that were refused because the queue was full."""
        return None if self.counts is None or self.waiting is None else self.counts.difference - self.waiting

    @property
    def received(self) -> int | None:
        """Messages that the master has received."""
        return None if self.counts is None else self.counts.received

    @property
    def processed(self) -> int | None:
        """Messages that the master has processed."""
        return None if self.counts is None else self.counts.processed


@dataclass(frozen=True, slots=True)
class FileEdit:
    """A configuration file before and after; `before` is empty for a new file."""

    file: str
    before: str
    after: str
    limits: RateLimits
    written: bool

    @property
    def changed(self) -> bool:
        """Whether there is any difference."""
        return self.before != self.after

    @property
    def diff(self) -> list[str]:
        """A unified diff, line by line, without line ends."""
        return [
            line.rstrip("\n")
            for line in difflib.unified_diff(
                self.before.splitlines(), self.after.splitlines(), self.file, self.file, lineterm=""
            )
        ]


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Limits, and the traffic they were made from; `seconds` is how long it was watched."""

    limits: RateLimits
    observed: Sequence[ObservedMessages]
    seconds: float


@dataclass(frozen=True, slots=True)
class Simulation:
    """Limits and what became of each principal's messages."""

    limits: RateLimits
    outcomes: Sequence[PrincipalTraffic]
    before: Sequence[PrincipalTraffic] = ()
    """The same traffic under the present limits, if they are given."""

    @classmethod
    def play(cls, limits: RateLimits, arrivals: Sequence[Arrival], today: RateLimits | None = None) -> Self:
        """Play traffic through limits, and through the present ones if they are given."""
        return cls(limits, simulate(limits, arrivals), () if today is None else simulate(today, arrivals))

    @property
    def overflowing(self) -> Sequence[PrincipalTraffic]:
        """Principals of which more messages are refused than today, or any if no limits of today are given."""
        refused = {traffic.principal: traffic.refused for traffic in self.before}
        return [traffic for traffic in self.outcomes if traffic.refused > refused.get(traffic.principal, 0)]

    @property
    def overflows(self) -> list[str]:
        """`200 messages of principal web would be refused (none before)`, for each principal that overflows more."""
        before = {traffic.principal: traffic.refused for traffic in self.before}
        return [
            f"{counted(traffic.refused, 'message')} "
            f"{'without a principal' if traffic.principal is None else f'of principal {traffic.principal}'} "
            "would be refused"
            + (f" ({before[traffic.principal] or 'none'} before)" if traffic.principal in before else "")
            for traffic in self.overflowing
        ]


@dataclass(frozen=True, slots=True)
class RecordedTraffic:
    """Messages that a master received, and the rate limits that changes name, by file.

    `today` are the master's present limits; None if they are unknown.
    """

    arrivals: Sequence[Arrival]
    limits: Mapping[str, RateLimits]
    today: RateLimits | None = None
