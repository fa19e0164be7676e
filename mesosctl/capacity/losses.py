"""The losses that a cluster may suffer one at a time, and what each would do."""

from collections.abc import Sequence
from dataclasses import dataclass

from mesosctl.mesos.door.forecast import TasksWithoutPlace
from mesosctl.mesos.exit_status import Answer
from mesosctl.whatif.losses import Loss


@dataclass(frozen=True, slots=True)
class SpareLoss:
    """One loss with all that it would do, and how many others look like it."""

    loss: Loss
    without_place: tuple[TasksWithoutPlace, ...]
    count: int = 1
    """Of the losses that look alike, itself included."""
    played: int = 1
    """How many of them were played, all with the same end."""

    @property
    def is_harmless(self) -> bool:
        """Whether nobody starves for it, and every task finds a place."""
        return self.loss.is_harmless and not self.without_place

    @property
    def breaks_a_guarantee(self) -> bool:
        """Whether some role falls below its guarantee, or further below it."""
        return any(one.reason == "guarantee" for one in self.loss.starved)

    @property
    def tasks_without_place(self) -> int:
        """The number of tasks that find no place."""
        return sum(one.tasks for one in self.without_place)

    @property
    def harms(self) -> list[str]:
        """All that it would do to somebody, in parts of sentences."""
        return [*(one.harm for one in self.loss.starved), *(one.harm for one in self.without_place)]


@dataclass(frozen=True, slots=True)
class Spare:
    """The losses of one kind, the worst first."""

    by: str
    at_once: int
    losses: tuple[SpareLoss, ...]

    @property
    def count(self) -> int:
        """How many losses there are."""
        return sum(one.count for one in self.losses)

    @property
    def played(self) -> int:
        """How many of them were played."""
        return sum(one.played for one in self.losses)

    @property
    def harmful(self) -> list[SpareLoss]:
        """The losses that hurt."""
        return [one for one in self.losses if not one.is_harmless]

    @property
    def breaking(self) -> int:
        """How many losses break a guarantee."""
        return sum(one.count for one in self.losses if one.breaks_a_guarantee)

    @property
    def answer(self) -> Answer:
        """Whether every loss would be harmless."""
        return "no" if self.harmful else "yes"


def answer_of(found: Sequence[Spare]) -> Answer:
    """Whether every loss of every kind would be harmless."""
    return "no" if any(spare.harmful for spare in found) else "yes"


def told(found: Sequence[Spare], *, every: bool) -> list[SpareLoss]:
    """The losses that hurt, the worst first; with `every`, all of them."""
    losses = [one for spare in found for one in (spare.losses if every else spare.harmful)]
    return sorted(losses, key=lambda one: (-one.loss.severity, one.is_harmless))
