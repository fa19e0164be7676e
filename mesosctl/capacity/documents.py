"""The JSON of `capacity`."""

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import Field

from mesosctl.capacity.losses import Spare, answer_of, told
from mesosctl.mesos.exit_status import Answer
from mesosctl.show.document import Amounts, Document, Mirrored, named
from mesosctl.whatif.documents import Starving


class TasksOfRole(Mirrored):
    """Tasks of one framework in one role that would find no place."""

    framework_id: str
    framework: str
    role: str
    tasks: int
    size: Amounts = Field(description="The size of the largest of them.")


class SparedLoss(Mirrored):
    """One loss, or several that look alike and do the same."""

    lost: Annotated[str, named("loss.name")] = Field(description="The agents, or the attribute with its value.")
    agents: Annotated[int, named("loss.agents")] = Field(description="The number of agents that are lost together.")
    harmless: Annotated[bool, named("is_harmless")]
    starved: Annotated[list[Starving], named("loss.starved")] = Field(
        description="Those that would starve because of it."
    )
    without_place: list[TasksOfRole] = Field(description="Tasks that end with the agents and run nowhere again.")
    tasks: Annotated[int, named("loss.tasks")] = Field(description="Tasks that end with the agents.")
    amounts: Annotated[Amounts, named("loss.lost")] = Field(description="The resources of the agents.")
    severity: Annotated[float, named("loss.severity")] = Field(
        description="The order: the sum of what roles lack because of it, as shares of the cluster."
    )
    count: int = Field(description="How many losses look like this one, itself included.")
    played: int = Field(description="How many of them were played, all with the same end.")
    alike: Annotated[list[str], named("loss.alike")] = Field(
        description="The other losses that look like this one; empty for pairs."
    )


class LossesOfKind(Mirrored):
    """All losses of one kind."""

    each: Annotated[str, named("by")] = Field(description="agent, or the attribute of whose values each is lost.")
    answer: Answer = Field(description="yes if each loss is harmless, no if one is not.")
    losses: Annotated[int, named("count")] = Field(description="How many losses there are.")
    played: int = Field(description="How many were played; the others look like some of these.")
    break_a_guarantee: Annotated[int, named("breaking")] = Field(
        description="How many of them take a role below its guarantee."
    )


class SpareCapacity(Document):
    """`capacity spare`; jsonl writes one of `losses` per line, the worst first."""

    kind: Literal["capacity.spare"] = "capacity.spare"
    answer: Answer = Field(description="yes if each loss is harmless, no if one is not.")
    at_once: int
    losses: list[SparedLoss] = Field(description="Those that hurt; with --all, each of them.")
    each: list[LossesOfKind]

    @classmethod
    def without_losses(cls, found: Sequence[Spare]) -> Self:
        """Make the answer; its losses are made one by one where they are written."""
        return cls(
            answer=answer_of(found),
            at_once=found[0].at_once,
            losses=[],
            each=[LossesOfKind.of(spare) for spare in found],
        )

    @classmethod
    def answering(cls, found: Sequence[Spare], *, every: bool) -> Self:
        """Make it from the values."""
        losses = [SparedLoss.of(one) for one in told(found, every=every)]
        return cls.without_losses(found).model_copy(update={"losses": losses})
