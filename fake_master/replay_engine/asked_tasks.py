"""Recorded tasks as a framework asks for them."""

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from fake_master.sources.demand import Demand, TaskOnAgent, WantedTask
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.door.replay import PLACING
from mesosctl.mesos.door.replayed_tasks import ReplayedTask


@dataclass(slots=True, eq=False)
class AskedTask(WantedTask):
    """A task of a framework, in one of its roles; equal sizes share their `resources`."""

    place: int = -1
    """In the demand."""


class AskedTasks(Demand):
    """The tasks of one framework of a recording: places in it, from which each is made when it is its turn."""

    def __init__(
        self, recorded: Sequence[ReplayedTask], start: float, placing: float, joined: float | None = None
    ) -> None:
        """Take the tasks of all frameworks, and the moment at which the replay starts.

        Then `add` those of this framework, and `place` those that have their agent from the beginning on. It joins at
        `joined`, or with its first task. What waited already then is asked for `placing` seconds later, when what ran
        and has no place can be expected to have one.
        """
        self._recorded = recorded
        self._placing = placing
        self._start = start
        self._joined = joined
        self._places = array("I")
        self._placed: list[tuple[int, str, Resources]] = []
        self.sizes: dict[int, Resources] = {}
        """The different resources, by their ids: a replay of millions of tasks looks up the size of each."""

    def add(self, place: int, size: Resources) -> None:
        """Add the task at a place, which is asked for after all others so far."""
        self._places.append(place)
        self.sizes[id(size)] = size

    def place(self, place: int, size: Resources, agent_id: str, part: Resources) -> None:
        """Place the task at a place, which ran at the beginning, on its agent."""
        self._placed.append((place, agent_id, part))
        self.sizes[id(size)] = size

    @property
    def after(self) -> float:
        """The seconds from the start until the framework joins."""
        if self._placed:
            return 0.0
        first = self._recorded[self._places[0]].asked
        return max(0.0, (first if self._joined is None else min(first, self._joined)) - self._start)

    @property
    def placed(self) -> Iterator[TaskOnAgent]:
        """The tasks that have their agent from the beginning on."""
        for place, agent_id, part in self._placed:
            yield TaskOnAgent(self._asked(place, 0.0), agent_id, part)

    def __iter__(self) -> Iterator[AskedTask]:
        after = self.after
        for place in self._places:
            task = self._recorded[place]
            waited = task.asked < self._start and not task.ran_from_the_beginning
            yield self._asked(place, self._placing if waited else max(0.0, task.asked - self._start - after))

    def _asked(self, place: int, asked: float) -> AskedTask:
        task = self._recorded[place]
        patience = PLACING if task.ran_from_the_beginning else 0.0
        return AskedTask(asked, task.resources, task.lasts, None, task.role, task.host, patience, task.ends, place)

    def tasks(self, random: Random) -> Iterator[AskedTask]:  # noqa: ARG002  # nothing is left to chance
        """See `Demand.tasks`."""
        return iter(self)
