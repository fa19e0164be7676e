"""The configuration of framework rate limits, its rules and its warnings.

Source: Mesos documentation, "Framework Rate Limiting".  A configuration is the value of a master's --rate_limits.
Rates are in messages per second, capacities in messages.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from mesosctl.mesos.errors import RuleViolation
from mesosctl.mesos.roles import is_like_a_pattern

LARGEST_CAPACITY = 2**64 - 1
HUGE = "ratelimit.capacity-huge"
"""The rule of a capacity that is told with the number that a master reads."""
# A larger capacity was negative before a master made it unsigned, or is a typing mistake.
_UNLIKELY_CAPACITY = 2**53


@dataclass(frozen=True, slots=True)
class RateLimit:
    """The rate at which messages are processed, and how many may wait.

    Without `qps` nothing is throttled, whatever the `capacity`; without `capacity` any number may wait.
    """

    qps: float | None = None
    capacity: int | None = None

    @property
    def throttles(self) -> bool:
        """Whether messages ever wait."""
        return self.qps is not None

    @property
    def bounded(self) -> bool:
        """Whether the number of waiting messages is bounded."""
        return self.qps is None or self.capacity is not None


@dataclass(frozen=True, slots=True)
class RateLimits:
    """A whole configuration: entries in the order of the file, and the limit that all others share."""

    entries: tuple[tuple[str, RateLimit], ...] = ()
    """Principal and limit; only `check` makes sure that none is named twice."""
    default: RateLimit = RateLimit()

    def by_principal(self) -> dict[str, RateLimit]:
        """The entries by principal; the last of two wins."""
        return dict(self.entries)

    def queue_of(self, principal: str | None) -> tuple[str | None, RateLimit]:
        """Return the principal whose queue takes the messages of `principal`, and its limit.

        A listed principal has its own; all others, and frameworks without one, share the default, whose principal is
        None.
        """
        listed = self.by_principal()
        if principal is not None and principal in listed:
            return principal, listed[principal]
        return None, self.default


@dataclass(frozen=True, slots=True)
class RateLimitFinding:
    """A finding about a configuration: an error keeps a master from starting, a warning does not."""

    level: Literal["error", "warning"]
    rule: str
    field: str
    """The place in the JSON: "limits[1].qps"."""
    sentence: str
    hint: str | None = None


def check(limits: RateLimits) -> None:
    """Raise RuleViolation for the first error that stops a master from starting, in the master's order."""
    for remark in errors(limits):
        raise RuleViolation(remark.sentence, field=remark.field, rule=remark.rule, hint=remark.hint)


def errors(limits: RateLimits) -> Iterator[RateLimitFinding]:
    """Everything that stops a master from starting: for each entry the name, then the rate; then the default."""
    yield from errors_of(limits.entries, limits.default)


def errors_of(entries: Iterable[tuple[str | None, RateLimit]], default: RateLimit) -> Iterator[RateLimitFinding]:
    """The same of entries of which some have no readable principal."""
    seen: set[str | None] = set()
    for index, (principal, limit) in enumerate(entries):
        if principal is not None and principal in seen:
            yield RateLimitFinding(
                "error",
                "ratelimit.duplicate-principal",
                f"limits[{index}].principal",
                f"Duplicate principal {principal} found in RateLimits configuration",
                "keep one entry for each principal; all frameworks that use the principal share it",
            )
        seen.add(principal)
        yield from _rate_error(limit, f"limits[{index}].qps", "qps")
    yield from _rate_error(default, "aggregate_default_qps", "aggregate_default_qps")


def _rate_error(limit: RateLimit, field: str, name: str) -> Iterator[RateLimitFinding]:
    if limit.qps is not None and not limit.qps > 0:
        yield RateLimitFinding(
            "error",
            "ratelimit.positive-rate",
            field,
            f"Invalid {name}: {limit.qps:g}. It must be a positive number",
            f"leave {name} out for no limit",
        )


def warnings(
    limits: RateLimits, used: Mapping[str | None, Collection[str]] | None = None
) -> Iterator[RateLimitFinding]:
    """Yield a warning for each setting that is valid and unwise.

    `used` are the names of a master's frameworks by their principals, or None if they are not known.
    """
    for index, (principal, limit) in enumerate(limits.entries):
        where = f"limits[{index}]"
        yield from _limit_warnings(limit, f"{where}.qps", f"{where}.capacity", f"principal '{principal}'")
        if is_like_a_pattern(principal):
            yield RateLimitFinding(
                "warning",
                "ratelimit.no-wildcard",
                f"{where}.principal",
                f"'{principal}' is only the principal of that name, and stands for no others",
                "give all others an aggregate_default_qps",
            )
        if used is not None and principal not in used:
            yield RateLimitFinding(
                "warning",
                "ratelimit.unused-principal",
                f"{where}.principal",
                f"no framework on this master uses principal '{principal}'",
                _likely_principal(principal, used),
            )
    yield from limit_warnings(limits, None)
    if not limits.default.throttles:
        yield RateLimitFinding(
            "warning",
            "ratelimit.no-default",
            "aggregate_default_qps",
            "frameworks that are not listed are never throttled",
            "list trusted principals without qps, and give all others an aggregate_default_qps",
        )


def _likely_principal(name: str, used: Mapping[str | None, Collection[str]]) -> str:
    """A hint for a principal that no framework uses: it may be the name of one."""
    whose = [principal for principal, frameworks in used.items() if name in frameworks]
    if not whose:
        return "it must equal FrameworkInfo.principal exactly"
    principal = whose[0]
    if principal is None:
        return f"framework '{name}' has no principal, so only the default can limit it"
    return f"framework '{name}' has principal '{principal}': give the limit to that"


def limit_warnings(limits: RateLimits, principal: str | None) -> Iterator[RateLimitFinding]:
    """Yield what is unwise in the limit of one principal, or in the default for None."""
    if principal is None:
        who = "frameworks that are not listed"
        yield from _limit_warnings(limits.default, "aggregate_default_qps", "aggregate_default_capacity", who)
    for index, (listed, limit) in enumerate(limits.entries):
        if listed == principal:
            where = f"limits[{index}]"
            yield from _limit_warnings(limit, f"{where}.qps", f"{where}.capacity", f"principal '{listed}'")


def _limit_warnings(limit: RateLimit, qps: str, capacity: str, who: str) -> Iterator[RateLimitFinding]:
    if limit.qps is None and limit.capacity is not None:
        yield RateLimitFinding(
            "warning",
            "ratelimit.capacity-without-rate",
            capacity,
            f"the capacity of {who} is ignored, because no rate is given",
            f"give {qps.rpartition('.')[2]} too, or leave the capacity out",
        )
    elif not limit.bounded:
        yield RateLimitFinding(
            "warning",
            "ratelimit.no-capacity",
            capacity,
            f"messages of {who} may fill the master's memory, because no capacity is given",
            f"give {capacity.rpartition('.')[2]}",
        )
    elif limit.capacity is not None and limit.capacity > _UNLIKELY_CAPACITY:
        yield RateLimitFinding(
            "warning",
            HUGE,
            capacity,
            f"the capacity of {who} is read as {limit.capacity}, which no memory can hold",
            "a master reads a negative number as a huge one",
        )
    elif limit.throttles and limit.capacity == 0:
        yield RateLimitFinding(
            "warning", "ratelimit.capacity-zero", capacity, f"with capacity 0 every message of {who} is refused"
        )


def misread_capacity(field: str, principal: str | None, written: str, read: int) -> RateLimitFinding:
    """The warning for a capacity that a master reads as another number, which is not told as huge already."""
    who = "frameworks that are not listed" if principal is None else f"principal '{principal}'"
    return RateLimitFinding(
        "warning",
        "ratelimit.capacity-read",
        field,
        f"the capacity of {who} is {written:.60}, which a master reads as {read}",
        f"write a whole number from 0 to {2**63 - 1}",
    )


MESSAGE_OVERHEAD = 2560
"""Bytes that a master keeps beside each waiting message: its event, and a few fields (rate limiting documentation,
"Configuring Rate Limits").  Masters of 1.4.3, 1.9.0 and 1.11.0 were measured: mostly 2.1 to 2.4 KiB.
"""


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """The memory, in bytes, that full queues would take in a master."""

    messages: int
    """The sum of all capacities that count."""
    unbounded: tuple[str | None, ...]
    """Principals whose queue has no limit; None is the aggregate default.  The sum leaves them out."""
    message_size: int
    memory: int

    @property
    def message_overhead(self) -> int:
        """The memory that a master keeps beside each waiting message."""
        return MESSAGE_OVERHEAD

    @property
    def worst_case(self) -> int:
        """All queues full at once, with what a master keeps beside each message."""
        return self.messages * (self.message_size + MESSAGE_OVERHEAD)

    @property
    def head_room(self) -> int:
        """The memory left for the rest of the master; negative if the queues do not fit."""
        return self.memory - self.worst_case

    @property
    def fits(self) -> bool:
        """Whether the worst case is bounded and within the memory."""
        return not self.unbounded and self.head_room >= 0


def plan_memory(limits: RateLimits, *, memory: int, message_size: int) -> MemoryPlan:
    """Sum up all capacity values, as the document advises ("Configuring Rate Limits")."""
    queues: list[tuple[str | None, RateLimit]] = [*limits.entries, (None, limits.default)]
    return MemoryPlan(
        messages=sum(limit.capacity or 0 for _, limit in queues if limit.throttles),
        unbounded=tuple(who for who, limit in queues if not limit.bounded),
        message_size=message_size,
        memory=memory,
    )
