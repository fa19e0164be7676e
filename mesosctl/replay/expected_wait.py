"""When one more task of a role would start: lifetimes on record, and the answer.

What runs at a moment ends some day, and the lifetimes on record say when that is likely.  Each draw gives every running
task a lifetime; then the allocator is played, as in a replay, until the new task starts.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import NamedTuple

from mesosctl.mesos.amounts.notation import counted, format_span
from mesosctl.mesos.amounts.percentiles import nearest_rank
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.door.replay import Played, RecordedDemand
from mesosctl.mesos.door.replayed_tasks import ReplayedTask, ReplayedTasks
from mesosctl.whatif.added_demand import new_framework

DRAWS = 40
"""How often lifetimes are drawn: two of the draws are above the 95th percentile."""
PLACED_AFTER = 10.0
"""The least seconds in which the tasks that run take their places, before the new one asks."""
_FRAMEWORK = "one more task"


class TaskLifetime(NamedTuple):
    """The seconds that a task ran; it may have run on if nobody saw it end."""

    seconds: float
    has_ended: bool


class Lifetimes:
    """Lifetimes on record, from which those of other tasks are drawn.

    A task that nobody saw end counts for those that lasted longer ("redistribution to the right", Efron 1967): the
    draws follow the Kaplan-Meier estimate.
    """

    def __init__(self, found: Iterable[TaskLifetime]) -> None:
        self._found = sorted(found)
        self._seconds = [lifetime.seconds for lifetime in self._found]

    def __len__(self) -> int:
        return len(self._found)

    @property
    def longest(self) -> float:
        """The longest on record; 0 if there is none."""
        return self._seconds[-1] if self._seconds else 0.0

    def draw(self, random: Random, age: float) -> float | None:
        """Return a lifetime of a task that has this age; None if the record does not reach so far."""
        while True:
            first = bisect_right(self._seconds, age)
            if first == len(self._found):
                return None
            lifetime = self._found[random.randrange(first, len(self._found))]
            if lifetime.has_ended:
                return lifetime.seconds
            age = lifetime.seconds


@dataclass(frozen=True, slots=True)
class ExpectedWait:
    """When such a task would start; the waits are seconds, None if it is later than the record reaches."""

    role: str
    task: Resources
    at: float
    """The moment at which it asks."""
    waits: tuple[float | None, ...]
    """Of each draw; empty if the task fits on no agent."""
    reaches: float
    """Seconds that were played: the longest lifetime on record."""
    lifetimes: int
    """Those on record from which others are drawn."""
    running: int
    """Tasks that run at that moment."""
    assumptions: tuple[str, ...] = ()

    @property
    def never_fits(self) -> bool:
        """Whether no agent has room for it, even if it is empty."""
        return not self.waits

    def percentile(self, percent: int) -> float | None:
        """Return a percentile of the wait; None if it is later than the record reaches, or if the task never fits."""
        found = nearest_rank(sorted(float("inf") if wait is None else wait for wait in self.waits), percent)
        return None if found is None or found == float("inf") else found

    @property
    def sentence(self) -> str:
        """Return the answer in a sentence."""
        if self.never_fits:
            return f"{self.role}: no agent has room for such a task, even if it is empty"
        if self.percentile(50) is None:
            return f"{self.role}: such a task would most likely not start within {format_span(self.reaches)}"
        start = f"{self.role}: such a task would start {self._span(50)} (median)"
        if self.percentile(95) is None:
            return f"{start}; in more than 5 of 100 cases it would not start within {format_span(self.reaches)}"
        return f"{start}, and {self._span(95)} in 95 of 100 cases"

    def _span(self, percent: int) -> str:
        seconds = self.percentile(percent)
        return f"within {format_span(seconds)}" if seconds else "at once"

    @property
    def basis(self) -> str:
        """Return in a sentence what the answer is made of."""
        return (
            f"{counted(len(self.waits), 'draw')} of the time that is left to {counted(self.running, 'running task')}, "
            f"from {counted(self.lifetimes, 'lifetime')} on record"
        )


ASSUMPTIONS = (
    "tasks live as long as others of their role did that were as old",
    "nobody else asks for anything meanwhile",
)


def with_one_more_task(
    demand: RecordedDemand, role: str, task: Resources, reaches: float, placed_after: float = PLACED_AFTER
) -> RecordedDemand:
    """Return the demand in which everything that runs does so until the end, and the new task asks."""
    asks = demand.since + placed_after
    endless = (played._replace(lasts=None) for played in demand.tasks)
    tasks = ReplayedTasks((*endless, ReplayedTask(_FRAMEWORK, role, task, asks)))
    frameworks = {**demand.frameworks, _FRAMEWORK: new_framework(_FRAMEWORK, role, task)}
    return replace(demand, frameworks=frameworks, tasks=tasks, until=asks + reaches)


def seconds_to_place(endless: RecordedDemand, played: Played) -> float | None:
    """Return in how many seconds the tasks that run can be expected to take their places, if the new one came earlier.

    An agent is offered to one framework after the other. None if nothing came too late, or no more time would help.
    """
    asks = endless.tasks[place_of_new_task(endless.tasks)].asked
    running = [place for place, task in enumerate(endless.tasks) if task.ran_from_the_beginning]
    starts = [played.starts[place] for place in running if place not in played.never_fit]
    if all(start is not None and start < asks for start in starts):
        return None
    needed = PLACED_AFTER * (1 + len({endless.tasks[place].framework_id for place in running}))
    return needed if asks < endless.since + needed else None


def drawn_demand(endless: RecordedDemand, lifetimes: Mapping[str, Lifetimes], draw: int) -> RecordedDemand:
    """Return the demand of one draw: that of `with_one_more_task`, with lifetimes for what runs.

    Each draw has a seed of its own, so that it is the same in any process.
    """
    random = Random(draw)  # noqa: S311  # the same lifetimes every time
    unknown = Lifetimes(())
    asks = endless.tasks[place_of_new_task(endless.tasks)].asked
    tasks = []
    for task in endless.tasks:
        lasts = None
        if task.framework_id != _FRAMEWORK:
            lasts = lifetimes.get(task.role, unknown).draw(random, task.age)
        # What is left counts from the moment at which the new task asks.
        tasks.append(task._replace(lasts=None if lasts is None else lasts - task.age + asks - endless.since))
    return replace(endless, tasks=tasks)


def place_of_new_task(tasks: Sequence[ReplayedTask]) -> int:
    """Return where the new task is in a demand."""
    return next(place for place, task in enumerate(tasks) if task.framework_id == _FRAMEWORK)
