"""The JSON about usage."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BeforeValidator

from mesosctl.history.records import Micros, to_seconds
from mesosctl.mesos.amounts.notation import utc_text
from mesosctl.mesos.amounts.quantities import to_number
from mesosctl.show.document import Document, Mirrored, named
from mesosctl.usage.figures import hours_by_name

Hours = Annotated[dict[str, float], BeforeValidator(hours_by_name)]
"""By resource name; made from integrals of thousandths times microseconds."""


def _in_units(amounts: Mapping[str, int]) -> dict[str, float]:
    return {name: to_number(milli) for name, milli in sorted(amounts.items())}


def _moment(at: Micros) -> str:
    return utc_text(to_seconds(at))


Seconds = Annotated[float, BeforeValidator(to_seconds)]
Moment = Annotated[str, BeforeValidator(_moment)]
"""Both are made from microseconds."""


class UsageHours(Mirrored):
    """Hours by resource, of mem and disk those of one MiB.

    `reserved_idle`, `guaranteed` and `limited` are of roles, null for other keys.
    """

    used: Hours
    reserved_idle: Hours | None
    guaranteed: Hours | None
    limited: Hours | None


class RoleHours(Mirrored):
    """Hours by resource of a role, alone (`own`) or together with the roles below it (`subtree`)."""

    used: Hours
    reserved_idle: Hours


class DominantShare(Mirrored):
    """The dominant share over time: its mean, and its 95th percentile."""

    mean: float
    p95: float


class Lifetime(Mirrored):
    """The lifetimes of tasks that ended in the span, in seconds; null if none did."""

    median: Seconds | None
    p95: Seconds | None


class Wait(Mirrored):
    """How long tasks waited, in seconds: those that started in the span, or were asked for in it and never did.

    Null if there were none, or if nobody recorded when more than one in a hundred of them were asked for.
    """

    median: Seconds | None
    p95: Seconds | None
    known: int
    """Tasks of which the wait is known."""
    unasked: int
    """Tasks of which nobody recorded when they were asked for."""


class UsageFigures(Mirrored):
    """The use of one key in a span of time. Shares are parts of the cluster's, null if its agents are unknown."""

    hours: UsageHours
    share: Annotated[dict[str, float] | None, named("shares")]
    dominant_share: DominantShare | None
    peak: Annotated[dict[str, float], BeforeValidator(_in_units), named("part.peak")]
    below_guarantee_seconds: Annotated[Seconds | None, named("below_guarantee")]
    below_guarantee_unknown_seconds: Annotated[Seconds | None, named("below_guarantee_unknown")]
    tasks: Annotated[int, named("part.tasks")]
    lifetime_seconds: Annotated[Lifetime, named("lifetime")]
    wait_seconds: Annotated[Wait, named("wait")]
    decayed_share: Annotated[dict[str, float] | None, named("decayed_shares")]


class UsageStep(UsageFigures):
    """The use of one key in one step."""

    since: Annotated[Moment, named("step.start")]
    until: Annotated[Moment, named("step.end")]


class UsageKey(UsageFigures):
    """The use of one role, framework, principal or agent.

    The figures of a role are its own; `own` repeats them beside `subtree`. Both are null for other keys.
    """

    role: str | None = None
    framework: str | None = None
    principal: str | None = None
    agent: str | None = None
    name: str | None
    own: RoleHours | None
    subtree: Annotated[RoleHours | None, named("row.subtree")]
    steps: list[UsageStep]


class UsageReport(Document, Mirrored):
    """`usage`."""

    kind: Literal["usage"] = "usage"
    cluster_id: Annotated[str, named("cluster.cluster_id")]
    by: Annotated[Literal["role", "framework", "principal", "agent"], named("options.by")]
    since: Annotated[Moment, named("whole.start")]
    until: Annotated[Moment, named("whole.end")]
    seen_seconds: Annotated[Seconds, named("whole.seen")]
    unseen_seconds: Annotated[Seconds, named("unseen")]
    """The part of the window that lies in gaps and is left out."""
    imported: Annotated[bool, named("has_imports")]
    """Whether tasks come from the log of another scheduler, in which a task may hold a part of a GPU."""
    remarks: list[str]
    """Sentences about the figures, such as that they have parts of a GPU."""
    cluster_hours: Annotated[Hours, named("whole.total")]
    used_hours: Annotated[Hours, named("together.used")]
    rows: list[UsageKey]
