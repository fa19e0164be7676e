"""The rows of a recording, as values.

Times are whole microseconds since 1970, UTC, so that integrals over time are exact. A row holds from `start` up to, and
without, `end`; an `end` of None means that it still held when the recording ended.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from mesosctl.mesos.amounts.resources import Resources

Micros = int
"""Microseconds since 1970."""
MICROS = 1_000_000
EndCause = Literal["removed", "unreachable", "gone", "drained", "changed", "unknown"]
"""The reason why an agent ended; "changed" if it goes on with other resources or attributes, in a row of its own."""
SettingKind = Literal["quota", "weight", "reservation", "rate limits", "lending", "out of service"]
DemandFormatName = Literal["demand", "marathon-queue"]
"""The formats of files that say who asked for tasks, and when: they are joined with tasks that are recorded."""
DEMAND_FORMATS: tuple[DemandFormatName, ...] = get_args(DemandFormatName)


def to_micros(seconds: float) -> Micros:
    """The nearest microsecond."""
    return round(seconds * MICROS)


def to_seconds(micros: Micros) -> float:
    """Seconds; `to_micros` of them is the same microsecond until the year 2200."""
    return micros / MICROS


@dataclass(frozen=True, slots=True)
class RecordedCluster:
    """A cluster of a recording."""

    cluster_id: str
    address: str
    """Of its master as it was asked, without credentials; of an import the file."""
    version: str | None = None
    first_seen: Micros | None = None
    last_seen: Micros | None = None
    clean_end: bool = False
    principal: str | None = None
    """The principal that recorded it; what it could see may be filtered."""
    clock_steps: int = 0
    """The number of times that the master's clock went backwards."""
    mesos_profile: str | None = None
    """The name of its master's profile; None of an import, and of what was written before there were any."""


@dataclass(frozen=True, slots=True)
class RecordedAgent:
    """An agent, for the time in which its resources and attributes were the same."""

    id: str
    host: str
    total: Resources
    start: Micros
    end: Micros | None = None
    cause: EndCause | None = None
    attributes: Mapping[str, str | float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RecordedFramework:
    """A framework, for the time in which its description was the same."""

    id: str
    name: str
    roles: tuple[str, ...]
    start: Micros
    end: Micros | None = None
    principal: str | None = None
    capabilities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Suppression:
    """A time in which it is known whether a framework wanted offers in a role; outside of all, that is unknown."""

    framework_id: str
    role: str
    suppressed: bool
    start: Micros
    end: Micros | None = None


@dataclass(frozen=True, slots=True)
class RecordedTask:
    """The resources that a task, or an executor, held on one agent; or a task that was wanted and never held any."""

    framework_id: str
    id: str
    role: str
    resources: Resources
    """Without allocation roles."""
    agent_id: str | None = None
    """None if it never ran, or if the log does not say where."""
    asked: Micros | None = None
    """The time at which it was wanted; None if nobody recorded that."""
    start: Micros | None = None
    """The time at which it began to hold its resources; None if it never did."""
    end: Micros | None = None
    lasts: Micros | None = None
    """The time that a task that never held anything would have taken."""
    state: str | None = None
    reason: str | None = None
    start_known: bool = True
    """False if it began at `start` or before."""
    end_known: bool = True
    """False if it ended at `end` or before."""
    is_executor: bool = False
    run: int = 0
    """0, or more if it held nothing in between, as while its agent was unreachable."""


@dataclass(frozen=True, slots=True)
class RecordedSetting:
    """A setting of the cluster while it had one value.

    `name` is the role of a quota or a weight, the id of an agent, and empty for rate limits and
    lending. `value` is the documented JSON: QuotaConfig, WeightInfo, the agent's reserved resources, RateLimits. For
    lending, it is `{"names": ["cpus", "mem"]}`: while it holds, the master lends what is reserved and idle of these.
    While an agent is "out of service", it is registered, and nobody is offered anything of it; with `{"known": false}`,
    nobody knows whether it is.
    """

    kind: SettingKind
    name: str
    value: str
    start: Micros
    end: Micros | None = None


@dataclass(frozen=True, slots=True)
class Gap:
    """A time in which nothing was seen."""

    start: Micros
    end: Micros


@dataclass(frozen=True, slots=True)
class SkippedRows:
    """Rows of a file that were not used, and where the first of them stands."""

    cause: str
    rows: int
    line: int
    column: str


@dataclass(frozen=True, slots=True)
class Import:
    """The fate of each row of a file: rows = used + the sum of those skipped."""

    cluster_id: str
    file: str
    format: str
    rows: int
    used: int
    skipped: tuple[SkippedRows, ...] = ()


@dataclass(frozen=True, slots=True)
class RowCounts:
    """The number of rows of a cluster; executors are not tasks."""

    agents: int
    frameworks: int
    tasks: int
    executors: int
    settings: int
    runs: int
    gaps: int


@dataclass(frozen=True, slots=True)
class Window:
    """A span of time that is looked at; None is the beginning or the end of the recording."""

    since: Micros | None = None
    until: Micros | None = None
