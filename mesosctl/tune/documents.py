"""The JSON of `tune`."""

from typing import Annotated, Literal

from mesosctl.apply.documents import DesiredQuota
from mesosctl.mesos.exit_status import Answer
from mesosctl.show.document import Document, Mirrored, Strict, UtcTime, named
from mesosctl.whatif.played_demand_documents import Calibration


class TuningGoal(Mirrored):
    """A goal of a role. `bound` is in seconds, or of `hours_served` the least part."""

    role: str
    goal: Annotated[Literal["wait_p95", "wait_max", "hours_served", "never_below_guarantee"], named("kind")]
    bound: float


class GoalMeasured(Mirrored):
    """The figure of a goal in the replay of a candidate, in the order of `goals`.

    `margin` is by how much it is met, in the unit of the bound; below zero if it is not.
    """

    role: Annotated[str, named("goal.role")]
    goal: Annotated[Literal["wait_p95", "wait_max", "hours_served", "never_below_guarantee"], named("goal.kind")]
    measured: float
    met: bool
    margin: float


class CandidateRole(Mirrored):
    """How the tasks of a role fared, as in the document of a replay."""

    role: str
    tasks: int
    never_fit: int
    median_wait_seconds: Annotated[float | None, named("median_wait")]
    p95_wait_seconds: Annotated[float | None, named("p95_wait")]
    longest_wait_seconds: Annotated[float | None, named("longest_wait")]
    part_served: float | None
    below_guarantee_seconds: Annotated[float, named("below_guarantee")]
    waiting_at_the_end: int
    """Tasks that had not started when the replay ended; a goal of waits that depends on them is not met."""


class TuningCandidate(Strict):
    """Settings that were replayed.

    `changes` are those of `mesosctl replay`; none if nothing is changed. `size` is the sum of the parts of the
    bounds by which settings move. A candidate with a `refusal` counts for no goal.
    """

    changes: list[str]
    size: float
    accepted: bool
    refusal: str | None
    meets_all: bool
    goals: list[GoalMeasured]
    roles: list[CandidateRole]


class Wanted(Strict):
    """The desired state of the answer; null for a section that does not change."""

    quotas: dict[str, DesiredQuota] | None
    weights: dict[str, float] | None


class TuningDocument(Document, Mirrored):
    """`tune`. `candidates` are the best first; `possible` counts the candidates within the bounds.

    `never_met` are goals that no candidate met, and `pairs_against` pairs of others that no candidate met together.
    `smallest` is whether every smaller change was tried, and `whole` whether every possible candidate was.
    """

    schema_version: Literal[2] = 2  # type: ignore[assignment]  # a version of its own
    kind: Literal["tuning"] = "tuning"
    answer: Annotated[Answer, named("tuning.answer")]
    found: bool
    nothing_to_change: bool
    verdict: Annotated[str, named("tuning.verdict")]
    cluster_id: Annotated[str, named("demand.cluster_id")]
    mesos_version: Annotated[str, named("demand.version")]
    mesos_profile: Annotated[str, named("demand.profile.name")]
    since: Annotated[UtcTime, named("demand.since")]
    until: Annotated[UtcTime, named("demand.until")]
    imported: Annotated[bool, named("demand.is_imported")]
    seed: int
    goals: Annotated[list[TuningGoal], named("tuning.goals")]
    changes: list[str] | None
    wanted: Wanted | None
    candidates: list[TuningCandidate]
    tried: int
    possible: Annotated[int, named("tuning.space.count")]
    smallest: Annotated[bool, named("tuning.is_smallest")]
    whole: Annotated[bool, named("tuning.is_whole")]
    stopped: Annotated[bool, named("tuning.stopped")]
    never_met: Annotated[list[TuningGoal], named("tuning.never_met")]
    pairs_against: Annotated[list[list[TuningGoal]], named("tuning.pairs_against")]
    calibration: Calibration | None
    assumptions: Annotated[list[str], named("demand.assumptions")]
