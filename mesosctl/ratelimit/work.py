"""The work of `ratelimit`: it reads a master's configuration, its counters, and its frameworks' principals."""

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from mesosctl.client.leading_master import LeadingMaster
from mesosctl.mesos.cluster.message_rates import (
    CounterReading,
    HttpFramework,
    MessageCounts,
    ObservedMessages,
    PrincipalQueue,
    RatesReading,
    Suggestion,
    backlog,
    observe,
    rates,
    suggest,
    uncounted,
)
from mesosctl.mesos.errors import Denied, MasterFailed, NoMaster, NotConfirmed, NotFound
from mesosctl.mesos.messages import rate_limits as answers
from mesosctl.mesos.rules.rate_limits import RateLimits
from mesosctl.reading.quotas import read_if_allowed
from mesosctl.reading.selection import Selection, SortKey, entries_named, sort_entries
from mesosctl.suggestion import command


def limits_in_force(master: LeadingMaster) -> RateLimits | None:
    """The configuration the master was started with; None if it has none."""
    return answers.rate_limits(master.get("/flags"))


def limits_if_allowed(master: LeadingMaster) -> RateLimits | None:
    """The rate limits of the master, empty if it has none; None, with a notice, if this principal may not see them."""
    return read_if_allowed(
        master,
        "/flags",
        lambda flags: answers.rate_limits(flags) or RateLimits(),
        "the traffic is not compared with the present rate limits, because they are unknown; give them with --before "
        "FILE",
    )


def show(master: LeadingMaster, wanted: Selection = Selection()) -> list[PrincipalQueue]:  # noqa: B008  # it cannot change
    """The selected principals that are listed, counted or used.

    By default, those that share the default come last, then the default.  Raises NotFound for a principal that is none
    of these, and UsageError for an unknown key.
    """
    limits = limits_in_force(master)
    if limits is None:
        master.notice("the master was started without --rate_limits: nothing is throttled")
        limits = RateLimits()
    counts = read_if_allowed(master, "/metrics/snapshot", answers.message_counts, "live figures are left out") or {}
    waits = _waiting(master, limits, counts)
    used = principals_if_allowed(master)
    listed = limits.by_principal()
    others = sorted((counts.keys() | {who for who in used or () if who is not None}) - listed.keys())
    standings = [
        PrincipalQueue(
            who,
            limits.queue_of(who)[1],
            who in listed,
            counts.get(who),
            None if used is None else len(used.get(who, ())),
            waits.get(who),
        )
        for who in (*listed, *others)
    ]
    sharing = [counts[who] for who in others if who in counts]
    together = MessageCounts(sum(c.received for c in sharing), sum(c.processed for c in sharing)) if sharing else None
    frameworks = None if used is None else sum(len(used.get(who, ())) for who in (*others, None))
    together_wait = sum(waits[who] for who in others if who in counts) if sharing else None
    last = PrincipalQueue(None, limits.default, limits.default.throttles, together, frameworks, together_wait)
    named = entries_named(
        standings,
        wanted.names,
        lambda queue: (queue.principal or "",),
        noun="principal",
        field="principal",
        otherwise=f"{command('ratelimit show')} shows all of them",
    )
    keys: dict[str, SortKey[PrincipalQueue]] = {
        "principal": lambda queue: (queue.principal is None, queue.principal or ""),
        "qps": lambda queue: -math.inf if queue.limit.qps is None else -queue.limit.qps,
        "received": lambda queue: -(queue.received or 0),
        "processed": lambda queue: -(queue.processed or 0),
        "backlog": lambda queue: -(queue.waiting or 0),
        "refused": lambda queue: -(queue.refused or 0),
    }
    return sort_entries(named if wanted.names else [*named, last], wanted.sort, keys, own="principal")


_LONGEST_LOOK = 2.0
"""Seconds to look whether queues are processed."""


def _waiting(master: LeadingMaster, limits: RateLimits, counts: Mapping[str, MessageCounts]) -> dict[str, int]:
    """The messages that wait, by principal.

    Refused messages stay in the counters for good; a second reading tells them from those that wait.
    """
    found = {who: counted.difference for who, counted in counts.items()}
    queues = {who: limits.queue_of(who)[1] for who, waits in found.items() if waits}
    unclear = {who: (limit, limit.qps) for who, limit in queues.items() if limit.qps}
    if not unclear:
        return found
    pause = min(_LONGEST_LOOK, max(0.2, 2 / min(qps for _, qps in unclear.values())))
    master.settings.sleep(pause)
    later = answers.message_counts(master.get("/metrics/snapshot"))
    for who, (limit, qps) in unclear.items():
        now = later.get(who, counts[who])
        stands_still = now.processed == counts[who].processed and pause * qps >= 1
        found[who] = 0 if stands_still else backlog(counts[who], limit)
    return found


def principals_if_allowed(master: LeadingMaster) -> Mapping[str | None, Sequence[str]] | None:
    """The names of the registered frameworks of each principal, or None if this principal may not see them."""
    return read_if_allowed(master, "/frameworks", answers.principals, "which principals are in use is unknown")


@dataclass(frozen=True, slots=True)
class PollOptions:
    """When to read: every `interval` seconds, `count` times (None: until interrupted)."""

    interval: float
    count: int | None
    clock: Callable[[], float]
    time: Callable[[], float] = time.time
    """The time of day, in seconds since 1970."""


def watch(master: LeadingMaster, poll_options: PollOptions) -> Iterator[RatesReading]:
    """Yield the rates since the previous reading.

    If a master does not answer, a notice says so, because another one will lead. If the first reading fails, raise,
    because the address may be wrong.
    """
    limits = _limits_if_allowed(master)
    before: CounterReading | None = None
    started = poll_options.clock()
    told: set[str] = set()
    for now in _readings(master, poll_options):
        if before is not None and now.calls.keys() - told:
            for calls in uncounted((before, now), _http_frameworks(master)):
                if calls.framework.id not in told:
                    master.notice(calls.sentence)
            told |= now.calls.keys()
        yield RatesReading(now.at - started, poll_options.time(), rates(before, now, limits))
        before = now


def watch_and_suggest(
    master: LeadingMaster,
    poll_options: PollOptions,
    *,
    headroom: float,
    burst: float,
    progress: Callable[[Sequence[CounterReading]], None] = lambda _: None,
) -> Suggestion:
    """Limits from the traffic seen in `poll_options.count` readings (see `message_rates.suggest`).

    `progress` gets the readings so far after each one.  Raises NotFound if nobody sent anything.
    """
    readings: list[CounterReading] = []
    for reading in _readings(master, poll_options):
        readings.append(reading)
        progress(readings)
    observed = observe(readings, _limits_to_compare(master))
    _tell_throttled(master, observed)
    elsewhere = uncounted(readings, _http_frameworks(master))
    for calls in elsewhere:
        master.notice(calls.sentence)
    limits = suggest(observed, headroom=headroom, burst=burst, elsewhere=elsewhere)
    if limits.default.qps is None:
        raise NotFound(
            "no messages were counted, so there is nothing to suggest limits from",
            hint=f"observe a time of usual traffic: {command('ratelimit suggest', **{'for': '1h'})}",
        )
    return Suggestion(limits, observed, readings[-1].at - readings[0].at)


def _limits_to_compare(master: LeadingMaster) -> RateLimits | None:
    """The rate limits that may have held messages back; None, with a notice, if this principal may not see them."""
    unknown = "whether principals are throttled already is unknown, and what they send may be a limit"
    return read_if_allowed(master, "/flags", answers.rate_limits, unknown)


def _tell_throttled(master: LeadingMaster, observed: Sequence[ObservedMessages]) -> None:
    """A notice about each principal of which no more than its limit can be seen."""
    for messages in observed:
        if messages.throttled_at is not None:
            lift = command("ratelimit set", messages.principal, f="FILE")
            master.notice(
                f"{messages.principal} reached its limit of {messages.throttled_at:g}/s: what was "
                "observed is that limit, and not what it would send; to observe that, lift the limit in the file of "
                f"--rate_limits ({lift}), start the master with it, and run this again"
            )


def _http_frameworks(master: LeadingMaster) -> list[HttpFramework]:
    """The frameworks that use the HTTP API; none if this principal may not see them."""
    try:
        return answers.http_frameworks(master.get("/frameworks"))
    except Denied:
        return []


def _readings(master: LeadingMaster, poll_options: PollOptions) -> Iterator[CounterReading]:
    due = poll_options.clock()
    done = 0
    while poll_options.count is None or done < poll_options.count:
        if done:
            due += poll_options.interval
            master.settings.sleep(max(0.0, due - poll_options.clock()))
        master.deadline.extend_to(master.settings.timeout)
        try:
            answer = master.get("/metrics/snapshot")
        except (NoMaster, MasterFailed, NotConfirmed) as error:
            if not done:
                raise
            master.notice(f"no reading: {error.message}")
        else:
            yield CounterReading(
                poll_options.clock(),
                answers.uptime(answer),
                answers.message_counts(answer),
                answers.framework_calls(answer),
            )
        done += 1


def _limits_if_allowed(master: LeadingMaster) -> RateLimits | None:
    try:
        limits = limits_in_force(master)
    except Denied as error:
        master.notice(f"/flags cannot be read ({error.status}): the time until a queue is full is unknown")
        return None
    if limits is None:
        master.notice("the master was started without --rate_limits: it throttles nothing, and no queue can be full")
    return limits
