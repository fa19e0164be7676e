"""A task on an agent, for lending: its own and its borrowed resources, and the terms in which they count.

Source: oversubscription specification, "Agent: eviction".
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from fake_master.state.frameworks import Framework
from fake_master.state.tasks import Task
from mesosctl.model.quantities import Quantities


class HeldAmounts(NamedTuple):
    """Amounts that a task or an executor holds, of names that can be lent."""

    regular: Quantities
    lent: Quantities

    @property
    def everything(self) -> Quantities:
        """Both kinds together."""
        return self.regular + self.lent


@dataclass(slots=True, eq=False)
class PlacedTask:
    """A task on an agent; one of those in an executor answers for what that holds, too."""

    framework: Framework
    task: Task
    own: HeldAmounts
    executor: HeldAmounts
    executor_runs: bool = False

    @property
    def container(self) -> tuple[str, str]:
        """Identifies the container that it lives in, and ends with."""
        return self.framework.id, self.task.executor_id or f"\0{self.task.id}"

    @property
    def waits(self) -> bool:
        """Whether the agent has not started it."""
        return self.task.is_staging and not self.task.ending

    @property
    def borrows(self) -> bool:
        """Whether any of it is lent."""
        return bool(self.own.lent or self.executor.lent)

    @property
    def everything(self) -> Quantities:
        """All that it holds, or will."""
        return self.own.everything + self.executor.everything

    @property
    def needed(self) -> Quantities:
        """The amounts that it takes to start."""
        return self.own.everything if self.executor_runs else self.everything


NOTHING = HeldAmounts(Quantities(), Quantities())


@dataclass(slots=True)
class AgentTasks:
    """The tasks of one agent: started ones in the order of their start, waiting ones in that of their arrival."""

    tasks: list[PlacedTask] = field(default_factory=list)
    starting: bool = False
    """Whether those that wait will be looked at in a moment."""


def hand_over(placed: PlacedTask, heirs: list[PlacedTask]) -> None:
    """Another task of the same executor answers for it from now on."""
    if heirs and placed.executor.everything:
        heirs[0].executor, heirs[0].executor_runs = placed.executor, placed.executor_runs
        placed.executor = NOTHING


def terms(placed: PlacedTask) -> Iterator[tuple[str, Quantities]]:
    """Yield the terms of the formula in which a task counts, with its amounts."""
    goes = placed.task.ending
    if not (goes and placed.task.is_staging):
        yield from _terms_of(placed.own, started=not placed.waits, evicted=goes and placed.borrows)
    if placed.executor_runs or not goes:
        yield from _terms_of(placed.executor, started=placed.executor_runs, evicted=goes and placed.borrows)


def _terms_of(part: HeldAmounts, *, started: bool, evicted: bool) -> Iterator[tuple[str, Quantities]]:
    if evicted:
        yield "evicting", part.everything
        return
    yield "occupied", part.regular
    if started:
        yield "running", part.regular
    yield "occupied_rev" if started else "waiting_rev", part.lent
