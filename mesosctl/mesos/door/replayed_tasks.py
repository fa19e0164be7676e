"""The tasks of a recording that is replayed, and moments of them, in little room: there may be millions.

tasks = ReplayedTasks(found)            in the order in which they are asked for
tasks[place]                            one of them, made as it is looked at
starts = Times(repeat(None, count))     a moment of each of them, as far as it is known
"""

import math
from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, overload

from mesosctl.mesos.amounts.identity import numbering
from mesosctl.mesos.amounts.resources import Resources


class ReplayedTask(NamedTuple):
    """A task, or what an executor held; equal sizes share their `resources`."""

    framework_id: str
    role: str
    resources: Resources
    """Amounts, without roles, to be had on one agent."""
    asked: float
    lasts: float | None = None
    """Seconds; None if it runs until the end."""
    host: str | None = None
    """Where it ran on record."""
    started: float | None = None
    """On record; None if it never did."""
    start_is_known: bool = True
    """Whether somebody saw it start."""
    ran_from_the_beginning: bool = False
    is_executor: bool = False
    age: float = 0.0
    """Seconds that it had run at the beginning."""
    asked_is_known: bool = True
    """Whether somebody recorded when it was asked for; else `asked` is when it started, and its wait is unknown."""

    @property
    def comes(self) -> bool:
        """Whether it is asked for during the replay, so that it may wait: neither an executor, nor what ran before."""
        return not self.is_executor and not self.ran_from_the_beginning

    @property
    def ends(self) -> float | None:
        """When it ends however late it gets a place, since it ran already; None if it ends so long after its start."""
        return self.asked + self.lasts if self.ran_from_the_beginning and self.lasts is not None else None


class Times(Sequence[float | None]):
    """Seconds, or None, at each place: eight bytes each."""

    __slots__ = ("_seconds",)

    def __init__(self, times: Iterable[float | None]) -> None:
        self._seconds = array("d", map(_written, times))

    def __len__(self) -> int:
        return len(self._seconds)

    @overload
    def __getitem__(self, place: int) -> float | None: ...
    @overload
    def __getitem__(self, place: slice) -> list[float | None]: ...
    def __getitem__(self, place: int | slice) -> float | list[float | None] | None:
        if isinstance(place, slice):
            return list(map(_read, self._seconds[place]))
        return _read(self._seconds[place])

    def __setitem__(self, place: int, time: float | None) -> None:
        self._seconds[place] = _written(time)

    def __iter__(self) -> Iterator[float | None]:
        return map(_read, self._seconds)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # it changes

    def __repr__(self) -> str:
        return f"Times({list(self)})"


def _written(seconds: float | None) -> float:
    return math.nan if seconds is None else seconds


def _read(seconds: float) -> float | None:
    return None if math.isnan(seconds) else seconds


class _Kind(NamedTuple):
    """Everything of a task but its times: many others share it."""

    resources: Resources
    framework_id: str
    role: str
    host: str | None
    start_is_known: bool
    ran_from_the_beginning: bool
    is_executor: bool
    asked_is_known: bool


class ReplayedTasks(Sequence[ReplayedTask]):
    """Tasks in the order in which they are asked for: 40 bytes each."""

    __slots__ = ("_ages", "_asked", "_kind_of", "_kinds", "_lasts", "_started", "order")

    def __init__(self, tasks: Iterable[ReplayedTask]) -> None:
        """Take tasks in any order; of those that are asked for at once, the first comes first.

        What ran at the beginning comes before all that waited then.
        """
        self._kinds: list[_Kind] = []
        kind_of, asked, lasts, started, ages = array("I"), array("d"), array("d"), array("d"), array("d")
        turns = array("d")
        size = numbering()
        numbers: dict[tuple[object, ...], int] = {}
        for task in tasks:
            names = task.framework_id, task.role, task.host
            facts = task.start_is_known, task.ran_from_the_beginning, task.is_executor, task.asked_is_known
            key = (size(task.resources), *names, *facts)
            number = numbers.get(key)
            if number is None:
                number = numbers[key] = len(self._kinds)
                self._kinds.append(_Kind(task.resources, *names, *facts))
            kind_of.append(number)
            asked.append(task.asked)
            turns.append(-math.inf if task.ran_from_the_beginning else task.asked)
            lasts.append(_written(task.lasts))
            started.append(_written(task.started))
            ages.append(task.age)
        order = array("I", sorted(range(len(asked)), key=turns.__getitem__))
        self.order: Sequence[int] = order
        """The place that each task had among those that were given."""
        self._kind_of = array("I", map(kind_of.__getitem__, order))
        self._asked, self._lasts, self._started, self._ages = (
            array("d", map(column.__getitem__, order)) for column in (asked, lasts, started, ages)
        )

    def __len__(self) -> int:
        return len(self._asked)

    @overload
    def __getitem__(self, place: int) -> ReplayedTask: ...
    @overload
    def __getitem__(self, place: slice) -> list[ReplayedTask]: ...
    def __getitem__(self, place: int | slice) -> ReplayedTask | list[ReplayedTask]:
        if isinstance(place, slice):
            return [self[number] for number in range(*place.indices(len(self)))]
        kind = self._kinds[self._kind_of[place]]
        return ReplayedTask(
            kind.framework_id,
            kind.role,
            kind.resources,
            self._asked[place],
            _read(self._lasts[place]),
            kind.host,
            _read(self._started[place]),
            kind.start_is_known,
            kind.ran_from_the_beginning,
            kind.is_executor,
            self._ages[place],
            kind.asked_is_known,
        )

    def __iter__(self) -> Iterator[ReplayedTask]:
        return map(self.__getitem__, range(len(self)))
