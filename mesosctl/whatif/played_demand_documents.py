"""The JSON of demand that was played, as models; see `show.document`."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BeforeValidator

from mesosctl.mesos.amounts.notation import utc_text
from mesosctl.mesos.exit_status import Answer
from mesosctl.show.document import Amounts, Document, Mirrored, UtcTime, named
from mesosctl.show.held_resources import HeldResources
from mesosctl.whatif.documents import ChangeAnswer

_THOUSANDTHS_OF_AN_HOUR = 3_600_000


def _in_hours(integrals: Mapping[str, int]) -> dict[str, float]:
    return {name: amount / _THOUSANDTHS_OF_AN_HOUR for name, amount in sorted(integrals.items())}


Hours = Annotated[dict[str, float], BeforeValidator(_in_hours)]
"""By resource name; made from thousandths times seconds."""


class RoleWaits(Mirrored):
    """How the tasks of a role fared in one replay; a task that never started has waited until the end, at least.

    `never_fit` are tasks that fit on no agent, even on an empty one; they are in `tasks`, and in no other figure.
    """

    tasks: int
    never_fit: int
    started: int
    median_wait_seconds: Annotated[float | None, named("median_wait")]
    p95_wait_seconds: Annotated[float | None, named("p95_wait")]
    longest_wait_seconds: Annotated[float | None, named("longest_wait")]
    above_limit: int
    hours_demanded: Annotated[Hours, named("demanded")]
    hours_served: Annotated[Hours, named("served")]
    below_guarantee_seconds: Annotated[float, named("below_guarantee")]
    waiting_at_the_end: int
    """Tasks that had not started when the replay ended."""
    unasked: int
    """Tasks of which nobody recorded when they were asked for: their waits are by how much they start later."""


class ReplayedRole(Mirrored):
    """A role, without the changes and with them."""

    role: str
    before: RoleWaits
    after: RoleWaits
    harmed: bool
    """Whether more than one in a hundred of its tasks more would have waited above the limit, or until the end."""
    delayed: int
    """Recorded tasks that start later than without the changes by more than an allocation interval, or never."""
    recorded: RoleWaits | None
    """On record, under the scheduler whose log it is; null of a recording of a master."""


class AddedFramework(Mirrored):
    """The course of a framework of --add-framework. Times are seconds after the beginning.

    `last_start_seconds` is null unless all that fit on an agent start, `all_done_seconds` unless all of them end.
    """

    framework: Annotated[str, named("framework.word")]
    role: Annotated[str, named("framework.role")]
    tasks: int
    started_at_once: int
    started: int
    never_fit: int
    last_start_seconds: Annotated[float | None, named("last_start")]
    all_done_seconds: Annotated[float | None, named("all_done")]
    asked_after_the_end: Annotated[int, named("asked_later")]
    """Tasks that it would ask for only after the end; they are in no other figure."""


class DisplacedFramework(Mirrored):
    """A framework that would be offered less while most tasks of the added frameworks run."""

    framework_id: str
    name: str
    amounts: Amounts


class Calibration(Mirrored):
    """How far the replay without changes is from the recording."""

    compared: int
    off: int
    part_off: float
    worst_hours_difference: Annotated[float, named("worst_hours")]
    worst_role: str | None


class ReplayDocument(Document, Mirrored):
    """`replay`, and `whatif --add-framework`, of which jsonl writes one of `roles` per line."""

    kind: Literal["replay"] = "replay"
    answer: Answer
    """Whether it is harmless; unknown if nobody recorded what tells."""
    harmless: Annotated[bool, named("is_harmless")]
    accepted: bool
    verdict: str
    cluster_id: Annotated[str, named("demand.cluster_id")]
    from_snapshot: Annotated[bool, named("demand.is_of_snapshot")]
    """Whether it begins with a cluster as it is, and not with a recording."""
    mesos_version: Annotated[str, named("demand.version")]
    mesos_profile: Annotated[str, named("demand.profile.name")]
    since: Annotated[UtcTime, named("demand.since")]
    until: Annotated[UtcTime, named("demand.until")]
    imported: Annotated[bool, named("demand.is_imported")]
    wait_limit_seconds: Annotated[float, named("wait_limit")]
    changes: list[str]
    answers: list[ChangeAnswer]
    calibration: Calibration
    roles: Annotated[list[ReplayedRole], named("by_role")]
    added_frameworks: Annotated[list[AddedFramework], named("added")]
    displaced: list[DisplacedFramework]
    """Frameworks that would be offered less, from a snapshot; of a recording, `delayed` of each role says it."""
    assumptions: Annotated[list[str], named("assumptions")]


def _maybe_in_utc(seconds: float | None) -> str | None:
    return None if seconds is None else utc_text(seconds)


MaybeUtcTime = Annotated[str | None, BeforeValidator(_maybe_in_utc)]
"""The same, or null."""


class ReplayedTaskDocument(Document, Mirrored):
    """`replay -o jsonl`: one line per task. A time is null if it is unknown, or if the task does not start."""

    schema_version: Literal[2] = 2  # type: ignore[assignment]  # a version of its own
    kind: Literal["replay.task"] = "replay.task"
    task: Annotated[str | None, named("id")]
    """Null of a task of --add-framework."""
    framework_id: str
    role: str
    resources: HeldResources
    asked: MaybeUtcTime
    started: MaybeUtcTime
    """On record."""
    start_before: MaybeUtcTime
    """Without the changes."""
    start_after: MaybeUtcTime
    """With the changes."""
    never_fits: bool
    """Whether it fits on no agent, even on an empty one."""
    ran_from_the_beginning: bool
    """Whether it ran already when the replay began: nothing is known of its wait."""
