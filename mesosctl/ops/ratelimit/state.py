"""What a running master says: its configuration, its counters, and who uses which principal."""

from collections import Counter
from collections.abc import Collection

from mesosctl.client.master import Master
from mesosctl.core.message_rates import Counts
from mesosctl.core.ratelimit import RateLimits
from mesosctl.core.ratelimit_standing import PrincipalStanding
from mesosctl.ops.quota.state import read_if_allowed
from mesosctl.wire import ratelimit_answers as answers


def limits_in_force(master: Master) -> RateLimits | None:
    """The configuration the master was started with; None where it has none."""
    return answers.rate_limits(master.get("/flags"))


def principals_if_allowed(master: Master) -> Collection[str] | None:
    """The principals of registered frameworks, or None where they may not be seen."""
    used = _used_if_allowed(master)
    return None if used is None else {principal for principal in used if principal is not None}


def show(master: Master) -> list[PrincipalStanding]:
    """Every principal that is listed, counted or used; those that share the default stand last, then the default."""
    limits = limits_in_force(master)
    if limits is None:
        master.notice("the master was started without --rate_limits: nothing is throttled")
        limits = RateLimits()
    counts = read_if_allowed(master, "/metrics/snapshot", answers.message_counts, "live figures are left out") or {}
    used = _used_if_allowed(master)
    listed = limits.by_principal()
    others = sorted((counts.keys() | {who for who in used or () if who is not None}) - listed.keys())
    standings = [
        PrincipalStanding(
            who, limits.queue_of(who)[1], who in listed, counts.get(who), None if used is None else used[who]
        )
        for who in (*listed, *others)
    ]
    sharing = [counts[who] for who in others if who in counts]
    together = Counts(sum(c.received for c in sharing), sum(c.processed for c in sharing)) if sharing else None
    frameworks = None if used is None else sum(used[who] for who in (*others, None))
    return [*standings, PrincipalStanding(None, limits.default, limits.default.throttles, together, frameworks)]


def _used_if_allowed(master: Master) -> Counter[str | None] | None:
    return read_if_allowed(master, "/frameworks", answers.principals, "which principals are in use is not told")
