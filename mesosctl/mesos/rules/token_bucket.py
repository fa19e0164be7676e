"""The token bucket of each queue of messages: a framework's message waits for its permit, or does not fit.

Source: Mesos documentation, "Framework Rate Limiting".  A bucket holds a single token, as the master's rate limiter
does.  The fake master throttles with it in its own time, `ratelimit simulate` in the time of the simulation.
"""

from mesosctl.mesos.rules.rate_limits import RateLimit, RateLimits


class TokenBucket:
    """One queue, with a permit every 1/qps seconds, first come, first served.

    Idle time is not saved up: after a pause one message passes at once and the next waits a whole
    interval.  `outstanding` counts messages that were taken and whose processing has not begun.
    """

    def __init__(self, qps: float, capacity: int | None = None) -> None:
        self.interval = 1.0 / qps
        self.capacity = capacity
        self.outstanding = 0
        # Permits are counted from the last idle moment: adding intervals to a time of day, one
        # after the other, would lose the small ones.
        self._busy_since = float("-inf")
        self._granted = 0

    def take(self, now: float) -> float | None:
        """Add a message that arrives; return when its processing begins, or None if the queue is full.

        The caller calls `begin` at that time, before anything that arrives later.
        """
        if self.outstanding == self.capacity:
            return None
        self.outstanding += 1
        return self.reserve(now)

    def begin(self) -> None:
        """The processing of the oldest message begins."""
        self.outstanding -= 1

    def reserve(self, now: float) -> float:
        """Take the next free permit, and return its time, for an event that is not counted as a message."""
        permit = self._busy_since + self._granted * self.interval
        if now >= permit:
            self._busy_since, self._granted, permit = now, 0, now
        self._granted += 1
        return permit


class Throttle:
    """Every queue of a configuration."""

    def __init__(self, limits: RateLimits) -> None:
        self._listed = {principal: _limiter(limit) for principal, limit in limits.entries}
        self._default = _limiter(limits.default)

    def limiter(self, principal: str | None) -> TokenBucket | None:
        """The queue for messages of a framework with this principal (None: with none); None: it never waits."""
        return self._default if principal is None else self._listed.get(principal, self._default)


def _limiter(limit: RateLimit) -> TokenBucket | None:
    return None if limit.qps is None else TokenBucket(limit.qps, limit.capacity)
