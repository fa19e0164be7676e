"""The JSON of the commands on rate limits (see `show.document`).

Rates are messages a second, capacities messages, times and delays seconds, memory bytes.
`principal` is null for those who share the aggregate default, and for frameworks without one.
"""

from typing import Annotated, Any, Literal

from pydantic import Field

from mesosctl.show.document import Document, Mirrored, UtcTime, named


class Diagnostic(Mirrored):
    """One finding about a configuration; only an error keeps a master from starting."""

    level: Literal["error", "warning"]
    rule: str
    field: str
    message: Annotated[str, named("sentence")]
    hint: str | None


class RateLimitValidate(Document):
    """`ratelimit validate`; jsonl writes one of `remarks` per line."""

    kind: Literal["ratelimit.validate"] = "ratelimit.validate"
    file: str
    valid: bool
    remarks: list[Diagnostic]


class PrincipalStatus(Mirrored):
    """A principal with its limit and its counters; null if there are none, or if you may not see them."""

    principal: str | None
    listed: bool
    qps: Annotated[float | None, named("limit.qps")]
    capacity: Annotated[int | None, named("limit.capacity")]
    received: int | None
    processed: int | None
    waiting: int | None = Field(description="Messages that wait.")
    refused: int | None = Field(description="Messages that were refused because the queue was full.")
    frameworks: int | None


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


class RateLimitPlan(Document, Mirrored):
    """`ratelimit plan`; jsonl writes it on one line."""

    kind: Literal["ratelimit.plan"] = "ratelimit.plan"
    messages: int
    message_size: int
    message_overhead: int = Field(description="Bytes that a master keeps beside each waiting message.")
    memory: int
    worst_case: int
    head_room: int
    unbounded: list[str | None] = Field(description="Queues without a limit, which the sum leaves out.")
    fits: bool


class Rates(Mirrored):
    """One principal at one reading; a rate is null if it is unknown."""

    at: float = Field(description="Seconds after the first reading.")
    time: UtcTime = Field(description="The time in UTC, such as 2030-12-31T23:59:59.999Z.")
    principal: str
    status: Literal["new", "steady", "restarted", "gone"]
    received: Annotated[int, named("counts.received")]
    processed: Annotated[int, named("counts.processed")]
    backlog: int
    arriving: float | None
    processing: float | None
    seconds_to_full: float | None
    full: Annotated[bool, named("is_full")] = Field(description="Whether its queue is full and messages are refused.")


class RateLimitWatch(Document):
    """`ratelimit watch --count`; jsonl writes one of `rates` per line, as they are read."""

    kind: Literal["ratelimit.watch"] = "ratelimit.watch"
    rates: list[Rates]


class Observed(Mirrored):
    """Messages per second of one principal while it was observed."""

    principal: str
    mean: float
    peak: float
    throttled_at: float | None = Field(
        default=None, description="The rate of its limit, if it reached that: without it, it may send more."
    )


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
