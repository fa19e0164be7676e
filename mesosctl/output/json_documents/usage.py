"""The JSON about usage."""

from typing import Literal

from mesosctl.output.json_documents.document import Document, Strict


class UsageHours(Strict):
    """Hours by resource; `reserved_idle`, `guaranteed` and `limited` are of roles, null for other keys."""

    used: dict[str, float]
    reserved_idle: dict[str, float] | None
    guaranteed: dict[str, float] | None
    limited: dict[str, float] | None


class RoleHours(Strict):
    """Hours by resource of a role, alone (`own`) or together with the roles below it (`subtree`)."""

    used: dict[str, float]
    reserved_idle: dict[str, float]


class DominantShare(Strict):
    """The dominant share over time: its mean, and its 95th percentile."""

    mean: float
    p95: float


class Lifetime(Strict):
    """The lifetimes of tasks that ended, in seconds; null if none did."""

    median: float | None
    p95: float | None


class UsageFigures(Strict):
    """The use of one key in a span of time. Shares are parts of the cluster's, null if its agents are unknown."""

    hours: UsageHours
    share: dict[str, float] | None
    dominant_share: DominantShare | None
    peak: dict[str, float]
    below_guarantee_seconds: float | None
    below_guarantee_unknown_seconds: float | None
    tasks: int
    lifetime_seconds: Lifetime
    decayed_share: dict[str, float] | None


class UsageStep(UsageFigures):
    """The use of one key in one step."""

    since: str
    until: str


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
    subtree: RoleHours | None
    steps: list[UsageStep]


class UsageReport(Document):
    """`usage`."""

    kind: Literal["usage"] = "usage"
    cluster_id: str
    by: Literal["role", "framework", "principal", "agent"]
    since: str
    until: str
    seen_seconds: float
    unseen_seconds: float
    """The part of the window that lies in gaps and is left out."""
    imported: bool
    """Whether tasks come from the log of another scheduler, in which a task may hold a part of a GPU."""
    remarks: list[str]
    """Sentences about the figures, such as that they have parts of a GPU."""
    cluster_hours: dict[str, float]
    used_hours: dict[str, float]
    rows: list[UsageKey]
