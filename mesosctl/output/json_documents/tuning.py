"""The JSON of `tune`."""

from typing import Literal

from mesosctl.output.json_documents.document import Document, Strict
from mesosctl.output.json_documents.plan import DesiredQuota
from mesosctl.output.json_documents.replay import Calibration


class TuningGoal(Strict):
    """A goal of a role. `bound` is in seconds, or of `hours_served` the least part."""

    role: str
    goal: Literal["wait_p95", "wait_max", "hours_served", "never_below_guarantee"]
    bound: float


class GoalMeasured(Strict):
    """The figure of a goal in the replay of a candidate, in the order of `goals`.

    `margin` is by how much it is met, in the unit of the bound; below zero if it is not.
    """

    role: str
    goal: Literal["wait_p95", "wait_max", "hours_served", "never_below_guarantee"]
    measured: float
    met: bool
    margin: float


class CandidateRole(Strict):
    """How the tasks of a role fared, as in the document of a replay."""

    role: str
    tasks: int
    never_fit: int
    median_wait_seconds: float | None
    p95_wait_seconds: float | None
    longest_wait_seconds: float | None
    part_served: float | None
    below_guarantee_seconds: float
    waiting_at_the_end: int
    """Tasks that had not started when the replay ended; with more than one in twenty, no goal of waits is met."""


class TuningCandidate(Strict):
    """Settings that were replayed.

    `changes` are those of `mesosctl whatif --replay`; none if nothing is changed. `size` is the sum of the parts of the
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


class TuningDocument(Document):
    """`tune`. `candidates` are the best first; `possible` counts the candidates within the bounds.

    `never_met` are goals that no candidate met, and `pairs_against` pairs of others that no candidate met together.
    `smallest` is whether every smaller change was tried, and `whole` whether every possible candidate was.
    """

    kind: Literal["tuning"] = "tuning"
    found: bool
    nothing_to_change: bool
    verdict: str
    cluster_id: str
    mesos_version: str
    since: str
    until: str
    imported: bool
    seed: int
    goals: list[TuningGoal]
    changes: list[str] | None
    wanted: Wanted | None
    candidates: list[TuningCandidate]
    tried: int
    possible: int
    smallest: bool
    whole: bool
    stopped: bool
    never_met: list[TuningGoal]
    pairs_against: list[list[TuningGoal]]
    calibration: Calibration | None
    assumptions: list[str]
