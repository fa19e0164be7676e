"""How a master throttles: permits at a rate, queues with a capacity (spec/ratelimits.md §2).

No clock: the caller says what time it is, in seconds from any origin, and time never runs
backwards.  The fake master and `ratelimit simulate` use these same classes.
"""

from mesosctl.core.ratelimit import RateLimit, RateLimits


class Limiter:
    """One queue: permits 1/qps seconds apart, first come first served.

    Idle time is not saved up: after a pause one message passes at once and the next waits a whole
    interval.  `outstanding` counts messages that were taken and whose processing has not begun.
    """

    def __init__(self, qps: float, capacity: int | None = None) -> None:
        self.interval = 1.0 / qps
        self.capacity = capacity
        self.outstanding = 0
        self._next_permit = float("-inf")

    def take(self, now: float) -> float | None:
        """A message arrives: when its processing begins, or None where the queue is full.

        The caller says `begin` when that time has come, before anything that arrives later.
        """
        if self.outstanding == self.capacity:
            return None
        self.outstanding += 1
        return self.reserve(now)

    def begin(self) -> None:
        """The processing of the oldest message begins."""
        self.outstanding -= 1

    def reserve(self, now: float) -> float:
        """The time of the next free permit, now taken: for what has its place in the queue and no size."""
        permit = max(now, self._next_permit)
        self._next_permit = permit + self.interval
        return permit

    def is_free(self, now: float) -> bool:
        """Whether a message would pass at once."""
        return now >= self._next_permit


class Throttle:
    """Every queue of a configuration."""

    def __init__(self, limits: RateLimits) -> None:
        self.limits = limits
        self._limiters: dict[str | None, Limiter] = {
            who: made for who, limit in [*limits.entries, (None, limits.default)] if (made := _limiter(limit))
        }

    def limiter(self, principal: str | None) -> Limiter | None:
        """The queue for messages of a framework with this principal (None: with none); None: it never waits."""
        who, _ = self.limits.queue_of(principal)
        return self._limiters.get(who)


def _limiter(limit: RateLimit) -> Limiter | None:
    return None if limit.qps is None else Limiter(limit.qps, limit.capacity)
