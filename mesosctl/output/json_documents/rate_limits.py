"""The JSON of the commands on rate limits (see `json_documents.document` for what a script may count on).

Rates are messages a second, capacities messages, times and delays seconds, memory bytes.
`principal` is null for those who share the aggregate default, and for frameworks without one.
"""

from typing import Any, Literal, Self

from pydantic import Field

from mesosctl.model.rate_limits import rules as core
from mesosctl.model.text import utc_text
from mesosctl.output.json_documents.document import Document, Mirrored, Strict
from mesosctl.planning import message_rates


class Diagnostic(Strict):
    """One finding about a configuration; only an error keeps a master from starting."""

    level: Literal["error", "warning"]
    rule: str
    field: str
    message: str
    hint: str | None

    @classmethod
    def of(cls, remark: core.Diagnostic) -> Self:
        """Make it from the value."""
        return cls(level=remark.level, rule=remark.rule, field=remark.field, message=remark.sentence, hint=remark.hint)


class RateLimitValidate(Document):
    """`ratelimit validate`; jsonl writes one of `remarks` per line."""

    kind: Literal["ratelimit.validate"] = "ratelimit.validate"
    file: str
    valid: bool
    remarks: list[Diagnostic]


class PrincipalStatus(Strict):
    """A principal with its limit and its counters; null if there are none, or if this principal may not see them."""

    principal: str | None
    listed: bool
    qps: float | None
    capacity: int | None
    received: int | None
    processed: int | None
    frameworks: int | None

    @classmethod
    def of(cls, status: message_rates.PrincipalStatus) -> Self:
        """Make it from the value."""
        counts = status.counts
        return cls(
            principal=status.principal,
            listed=status.listed,
            qps=status.limit.qps,
            capacity=status.limit.capacity,
            received=None if counts is None else counts.received,
            processed=None if counts is None else counts.processed,
            frameworks=status.frameworks,
        )


class RateLimitShow(Document):
    """`ratelimit show`; jsonl writes one of `principals` per line."""

    kind: Literal["ratelimit.show"] = "ratelimit.show"
    principals: list[PrincipalStatus]


class RateLimitEdit(Document):
    """`ratelimit set`, `unset` and `default`; jsonl writes it on one line."""

    kind: Literal["ratelimit.edit"] = "ratelimit.edit"
    file: str
    changed: bool
    written: bool
    diff: list[str]


class RateLimitPlan(Document):
    """`ratelimit plan`; jsonl writes it on one line."""

    kind: Literal["ratelimit.plan"] = "ratelimit.plan"
    messages: int
    message_size: int
    memory: int
    worst_case: int
    head_room: int
    unbounded: list[str | None] = Field(description="Queues without a limit, which the sum leaves out.")
    fits: bool


class Rates(Strict):
    """One principal at one reading; a rate is null if it is unknown."""

    at: float = Field(description="Seconds after the first reading.")
    time: str = Field(description="The time in UTC, such as 2030-12-31T23:59:59.999Z.")
    principal: str
    status: Literal["new", "steady", "restarted", "gone"]
    received: int
    processed: int
    backlog: int
    arriving: float | None
    processing: float | None
    seconds_to_full: float | None
    full: bool = Field(description="Whether its queue is full and messages are refused.")

    @classmethod
    def of(cls, reading: message_rates.RatesReading, one: message_rates.Rates) -> Self:
        """Make it from one principal of a reading."""
        return cls(
            at=reading.at,
            time=utc_text(reading.time),
            principal=one.principal,
            status=one.status,
            received=one.counts.received,
            processed=one.counts.processed,
            backlog=one.backlog,
            arriving=one.arriving,
            processing=one.processing,
            seconds_to_full=one.seconds_to_full,
            full=one.is_full,
        )


class RateLimitWatch(Document):
    """`ratelimit watch --count`; jsonl writes one of `rates` per line, as they are read."""

    kind: Literal["ratelimit.watch"] = "ratelimit.watch"
    rates: list[Rates]


class Observed(Mirrored):
    """Messages per second of one principal while it was observed."""

    principal: str
    mean: float
    peak: float


class RateLimitSuggest(Document):
    """`ratelimit suggest`; jsonl writes one of `observed` per line."""

    kind: Literal["ratelimit.suggest"] = "ratelimit.suggest"
    seconds: float
    observed: list[Observed]
    rate_limits: dict[str, Any] = Field(description="The JSON for a master's --rate_limits.")


class Outcome(Mirrored):
    """The outcome of the messages of one principal."""

    principal: str | None
    sent: int
    processed: int
    refused: int
    first_refused: float | None
    mean_delay: float
    longest_delay: float
    longest_queue: int
    last_processed: float


class RateLimitSimulate(Document):
    """`ratelimit simulate`; jsonl writes one of `principals` per line."""

    kind: Literal["ratelimit.simulate"] = "ratelimit.simulate"
    principals: list[Outcome]
    before: list[Outcome] = Field(default=[], description="Under the limits of --before.")
