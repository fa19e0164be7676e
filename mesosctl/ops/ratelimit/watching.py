"""`ratelimit watch` and `suggest`: the counters, again and again."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from mesosctl.client.master import Master
from mesosctl.core.errors import Denied, MasterFailed, NoMaster, NotConfirmed
from mesosctl.core.message_rates import CounterReading, RatesReading, observe, rates, suggest
from mesosctl.core.ratelimit import RateLimits
from mesosctl.core.ratelimit_standing import Suggestion
from mesosctl.ops.ratelimit.state import limits_in_force
from mesosctl.wire import ratelimit_answers as answers


@dataclass(frozen=True, slots=True)
class Pace:
    """When to read: every `interval` seconds, `count` times (None: until interrupted)."""

    interval: float
    count: int | None
    clock: Callable[[], float]
    sleep: Callable[[float], None]
    time: Callable[[], float] = time.time
    """The time of day, in seconds since 1970."""


def watch(master: Master, pace: Pace) -> Iterator[RatesReading]:
    """The rates since the reading before, reading after reading.

    A master that does not answer is passed over with a notice: another one will lead.  The first
    reading is not forgiven, since then the address may be wrong.
    """
    limits = _limits_if_allowed(master)
    before: CounterReading | None = None
    started = pace.clock()
    for now in _readings(master, pace):
        yield RatesReading(now.at - started, pace.time(), rates(before, now, limits))
        before = now


def watch_and_suggest(master: Master, pace: Pace, *, headroom: float, burst: float) -> Suggestion:
    """Limits from the traffic seen in `pace.count` readings (see `core.message_rates.suggest`)."""
    readings = list(_readings(master, pace))
    observed = observe(readings)
    return Suggestion(suggest(observed, headroom=headroom, burst=burst), observed, readings[-1].at - readings[0].at)


def _readings(master: Master, pace: Pace) -> Iterator[CounterReading]:
    due = pace.clock()
    done = 0
    while pace.count is None or done < pace.count:
        if done:
            due += pace.interval
            pace.sleep(max(0.0, due - pace.clock()))
        master.deadline.extend_to(master.settings.timeout)
        try:
            answer = master.get("/metrics/snapshot")
        except (NoMaster, MasterFailed, NotConfirmed) as error:
            if not done:
                raise
            master.notice(f"no reading: {error.message}")
        else:
            yield CounterReading(pace.clock(), answers.uptime(answer), answers.message_counts(answer))
        done += 1


def _limits_if_allowed(master: Master) -> RateLimits | None:
    try:
        limits = limits_in_force(master)
    except Denied as error:
        master.notice(f"/flags may not be read ({error.status}): the time until a capacity is full is not told")
        return None
    if limits is None:
        master.notice("the master was started without --rate_limits: nothing is throttled, and no queue can be full")
    return limits
