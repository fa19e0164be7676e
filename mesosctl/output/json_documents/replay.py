"""The JSON of a replay."""

from typing import Literal

from mesosctl.output.json_documents.document import Amounts, Document, Strict
from mesosctl.output.json_documents.forecast import ChangeAnswer


class RoleWaits(Strict):
    """How the tasks of a role fared in one replay; a task that never started has waited until the end, at least.

    `never_fit` are tasks that fit on no agent, even on an empty one; they are in `tasks`, and in no other figure.
    """

    tasks: int
    never_fit: int
    started: int
    median_wait_seconds: float | None
    p95_wait_seconds: float | None
    longest_wait_seconds: float | None
    above_limit: int
    hours_demanded: dict[str, float]
    hours_served: dict[str, float]
    below_guarantee_seconds: float


class ReplayedRole(Strict):
    """A role, without the changes and with them."""

    role: str
    before: RoleWaits
    after: RoleWaits
    harmed: bool
    """Whether more than one in a hundred of its tasks more would have waited above the limit."""
    delayed: int
    """Recorded tasks that start later than without the changes by more than an allocation interval, or never."""


class AddedFramework(Strict):
    """The course of a framework of --add-framework. Times are seconds after the beginning.

    `last_start_seconds` is null unless all that fit on an agent start, `all_done_seconds` unless all of them end.
    """

    framework: str
    role: str
    tasks: int
    started_at_once: int
    started: int
    never_fit: int
    last_start_seconds: float | None
    all_done_seconds: float | None
    asked_after_the_end: int
    """Tasks that it would ask for only after the end; they are in no other figure."""


class DisplacedFramework(Strict):
    """A framework that would be offered less while most tasks of the added frameworks run."""

    framework_id: str
    name: str
    amounts: Amounts


class Calibration(Strict):
    """How far the replay without changes is from the recording."""

    compared: int
    off: int
    part_off: float
    worst_hours_difference: float
    worst_role: str | None


class ReplayDocument(Document):
    """`whatif --replay`."""

    kind: Literal["replay"] = "replay"
    harmless: bool
    accepted: bool
    verdict: str
    cluster_id: str
    from_snapshot: bool
    """Whether it begins with a cluster as it is, and not with a recording."""
    mesos_version: str
    since: str
    until: str
    imported: bool
    wait_limit_seconds: float
    changes: list[str]
    answers: list[ChangeAnswer]
    calibration: Calibration
    roles: list[ReplayedRole]
    added_frameworks: list[AddedFramework]
    displaced: list[DisplacedFramework]
    """Frameworks that would be offered less, from a snapshot; of a recording, `delayed` of each role says it."""
    assumptions: list[str]


class ReplayedAlternative(Strict):
    """One change, and the replay with it."""

    change: str
    replay: ReplayDocument


class ReplayedAlternatives(Document):
    """`whatif --replay --each`."""

    kind: Literal["replayed-alternatives"] = "replayed-alternatives"
    alternatives: list[ReplayedAlternative]


class LargestReplayedChange(Document):
    """`whatif --replay --find-largest`."""

    kind: Literal["largest-replayed-change"] = "largest-replayed-change"
    question: str
    resource: str
    largest: float | None
    """The amount; null if even the smallest is refused or harms a role, or if no agent has the resource."""
    precision: float
    """The step between amounts that were tried."""
    tried: int
    """Replays that were made."""
    best: ReplayedAlternative | None
    """The replay with the largest amount."""
    beyond: ReplayedAlternative | None
    """The replay with the next larger amount; null if the largest is everything that the agents have."""


class ExpectedWaitDocument(Document):
    """`whatif --wait`."""

    kind: Literal["expected-wait"] = "expected-wait"
    verdict: str
    role: str
    task: str
    """The size of the task, in Mesos's notation."""
    at: str
    """The moment at which it would ask: the end of the recording, or of the window."""
    never_fits: bool
    """Whether no agent has room for it, even if it is empty."""
    median_wait_seconds: float | None
    """Null if it is later than the record reaches."""
    p95_wait_seconds: float | None
    not_within_seconds: float
    """How far the record reaches: a wait that is null is longer than this."""
    draws: int
    running: int
    lifetimes: int
    assumptions: list[str]
