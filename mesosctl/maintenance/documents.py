"""The JSON of `maintenance`, as models; see `show.document`.  Times are in UTC."""

from typing import Annotated, Literal, Self

from pydantic import Field

from mesosctl.mesos.amounts.notation import utc_text
from mesosctl.mesos.rules import maintenance
from mesosctl.mesos.rules.maintenance import NANOSECONDS, Span
from mesosctl.show.document import Document, Mirrored, Strict, named


class Unavailability(Strict):
    """When a machine is unavailable; `until` and `seconds` are null if its end is not known."""

    since: str = Field(description="In UTC, as ISO 8601 writes it.")
    until: str | None
    seconds: float | None

    @classmethod
    def of(cls, span: Span) -> Self:
        """Make it from a span."""
        return cls(
            since=utc_text(span.start / NANOSECONDS),
            until=None if span.end is None else utc_text(span.end / NANOSECONDS),
            seconds=None if span.duration is None else span.duration / NANOSECONDS,
        )


class InverseOfferAnswer(Mirrored):
    """The answer of a framework to the inverse offers of a machine."""

    framework: str
    framework_id: str
    answer: maintenance.AnswerOfFramework


class MaintenanceMachine(Mirrored):
    """A machine that is scheduled or down; `agents` are the names of those that are registered on it."""

    hostname: Annotated[str, named("machine.hostname")]
    ip: Annotated[str, named("machine.ip")]
    mode: maintenance.MachineMode
    unavailability: Unavailability | None
    agents: list[str]
    answers: list[InverseOfferAnswer]

    @classmethod
    def from_machine(cls, scheduled: maintenance.ScheduledMachine) -> Self:
        """Make it from the value."""
        return cls.of(
            scheduled,
            unavailability=None if scheduled.span is None else Unavailability.of(scheduled.span),
            answers=[InverseOfferAnswer.of(answer) for answer in scheduled.answers],
        )


class MaintenanceList(Document):
    """`maintenance list`; jsonl writes one of `machines` per line."""

    kind: Literal["maintenance.list"] = "maintenance.list"
    machines: list[MaintenanceMachine]


class MaintenanceChange(Mirrored):
    """The change that a command made to one machine."""

    hostname: Annotated[str, named("machine.hostname")]
    ip: Annotated[str, named("machine.ip")]
    done: Literal["scheduled", "cancelled", "down", "up"]
    unavailability: Unavailability | None
    sent: bool = Field(description="Whether it was changed; false if it was so already.")
    confirmed: bool = Field(description="Whether it was read back.")
    agent_attributes: list[dict[str, str | float]] = Field(
        description="The attributes of each agent that was registered on it before the change."
    )

    @classmethod
    def from_change(cls, change: maintenance.MachineChange) -> Self:
        """Make it from the value."""
        return cls.of(change, unavailability=None if change.span is None else Unavailability.of(change.span))


class MaintenanceChanges(Document):
    """`maintenance schedule`, `plan`, `cancel`, `down` and `up`; jsonl writes one of `changes` per line."""

    kind: Literal["maintenance.changes"] = "maintenance.changes"
    changes: list[MaintenanceChange]
