"""The JSON of a replay."""

from typing import Annotated, Literal

from pydantic import BeforeValidator

from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.exit_status import Answer
from mesosctl.show.document import Amount, Amounts, Document, Mirrored, UtcTime, named
from mesosctl.whatif.played_demand_documents import ReplayDocument


class ReplayedAlternative(Mirrored):
    """One change, and the replay with it."""

    change: str
    replay: Annotated[ReplayDocument, named("answer")]


class ReplayedAlternatives(Document):
    """`replay --each`."""

    kind: Literal["replayed-alternatives"] = "replayed-alternatives"
    answer: Answer
    """Yes if one of them is harmless; else unknown if it is unknown of one, and no if none is."""
    alternatives: list[ReplayedAlternative]


class LargestReplayedChange(Document, Mirrored):
    """`replay --find-largest`."""

    kind: Literal["largest-replayed-change"] = "largest-replayed-change"
    answer: Answer
    """Yes if there is such an amount; else unknown if it is unknown of the smallest that was tried, and no if not."""
    question: Annotated[str, named("template.word")]
    resource: Annotated[str, named("template.resource")]
    largest: Amount | None
    """The amount; null if even the smallest is refused or harms a role, or if no agent has the resource."""
    precision: Amount
    """The step between amounts that were tried."""
    tried: int
    """Replays that were made."""
    best: ReplayedAlternative | None
    """The replay with the largest amount."""
    beyond: ReplayedAlternative | None
    """The replay with the next larger amount; null if the largest is everything that the agents have."""


class ExpectedWaitDocument(Document, Mirrored):
    """`replay --wait`."""

    schema_version: Literal[2] = 2  # type: ignore[assignment]  # a version of its own
    kind: Literal["expected-wait"] = "expected-wait"
    verdict: Annotated[str, named("sentence")]
    role: str
    task: Annotated[Amounts, BeforeValidator(Resources.quantities)]
    """The size of the task."""
    at: UtcTime
    """The moment at which it would ask: the end of the recording, or of the window."""
    never_fits: bool
    """Whether no agent has room for it, even if it is empty."""
    median_wait_seconds: float | None
    """Null if it is later than the record reaches."""
    p95_wait_seconds: float | None
    not_within_seconds: Annotated[float, named("reaches")]
    """How far the record reaches: a wait that is null is longer than this."""
    draws: int
    running: int
    lifetimes: int
    assumptions: list[str]
