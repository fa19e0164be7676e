"""When one more task of a role would start: the option that describes it, lifetimes on record, and the answer.

What runs at a moment ends some day, and the lifetimes on record say when that is likely.  Each draw gives every running
task a lifetime; then the allocator is played, as in a replay, until the new task starts.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import NamedTuple

from mesosctl.model.notation import counted, format_span
from mesosctl.model.percentiles import nearest_rank
from mesosctl.model.resources import Resources
from mesosctl.planning.replay import RecordedDemand, ReplayedFramework, ReplayedTask

DRAWS = 40
"""How often lifetimes are drawn: two of the draws are above the 95th percentile."""
PLACED_AFTER = 10.0
"""Seconds in which the tasks that run take their places, before the new one asks."""
_SEED = 1
_FRAMEWORK = "one more task"


class Lifetime(NamedTuple):
    """The seconds that a task ran; it may have run on if nobody saw it end."""

    seconds: float
    has_ended: bool


class Lifetimes:
    """Lifetimes on record, from which those of other tasks are drawn.

    A task that nobody saw end counts for those that lasted longer ("redistribution to the right", Efron 1967): the
    draws follow the Kaplan-Meier estimate.
    """

    def __init__(self, found: Iterable[Lifetime]) -> None:
        self._found = sorted(found)
        self._seconds = [one.seconds for one in self._found]

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
            one = self._found[random.randrange(first, len(self._found))]
            if one.has_ended:
                return one.seconds
            age = one.seconds


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
        found = nearest_rank(sorted(float("inf") if one is None else one for one in self.waits), percent)
        return None if found is None or found == float("inf") else found

    @property
    def sentence(self) -> str:
        """Return the answer in a sentence."""
        if self.never_fits:
            return f"{self.role}: no agent has room for such a task, even if it is empty"
        if self.percentile(50) is None:
            return f"{self.role}: such a task would most likely not start within {format_span(self.reaches)}"
        median, high = (self._span(percent) for percent in (50, 95))
        return f"{self.role}: such a task would start {median} (median), and {high} in 95 of 100 cases"

    def _span(self, percent: int) -> str:
        seconds = self.percentile(percent)
        if seconds is None:
            return f"not within {format_span(self.reaches)}"
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


def drawn_demands(
    demand: RecordedDemand, lifetimes: "dict[str, Lifetimes]", role: str, task: Resources, reaches: float
) -> list[RecordedDemand]:
    """Return the demand of each draw: what runs, with lifetimes, and the new task.

    Before them comes that in which everything runs until the end.
    """
    random = Random(_SEED)  # noqa: S311  # the same draws every time
    capabilities = ["MULTI_ROLE", "RESERVATION_REFINEMENT"]
    if any(entry.name == "gpus" for entry in task):
        capabilities.insert(0, "GPU_RESOURCES")
    frameworks = dict(demand.frameworks)
    frameworks[_FRAMEWORK] = ReplayedFramework(_FRAMEWORK, role, (role,), None, tuple(capabilities))
    unknown = Lifetimes(())
    found = []
    for draw in range(DRAWS + 1):
        tasks = []
        for one in demand.tasks:
            lasts = lifetimes.get(one.role, unknown).draw(random, one.age) if draw else None
            tasks.append(replace(one, lasts=None if lasts is None else lasts - one.age))
        tasks.append(ReplayedTask(_FRAMEWORK, role, task, demand.since + PLACED_AFTER))
        tasks.sort(key=lambda one: one.asked)
        until = demand.since + PLACED_AFTER + reaches
        found.append(replace(demand, frameworks=frameworks, tasks=tasks, until=until))
    return found


def place_of_new_task(tasks: Sequence[ReplayedTask]) -> int:
    """Return where the new task is in a demand."""
    return next(place for place, one in enumerate(tasks) if one.framework_id == _FRAMEWORK)
