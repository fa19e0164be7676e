"""Demand: the tasks that a simulated framework asks for over time, and how long each of them runs.

A framework of a cluster file has demand if it names `every` (`Recurring`) or `from` (`Listed`). Any other source of
tasks, such as a recording, implements `Demand` and is given to `SimulatedFrameworkSpec.demand`: the framework then asks
for each task at its time, and launches it on the first offer that has room for it.

To replay a recording, make one `SimulatedFrameworkSpec` for each recorded framework, with its roles and a `Listed` of
its tasks in the order in which they were asked for. `WantedTask.agent` is the host on which a task ran; it prefers that
for one allocation interval, and `lasts` the time that it ran; tasks that ran at the beginning are asked for at 0.
`SimulatedFramework(master, spec).join(hosts)` enters the framework, which calls its `on_start` with each task that it
launches; `waiting` has those that it has not launched yet. Settings and agents change by timers
(`MasterState.timers.at`). `VirtualClock.sleep` and `Master.advance` play any span: they jump from one moment at which
anything can happen to the next.
"""

import csv
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from itertools import count
from pathlib import Path
from random import Random
from typing import NamedTuple

from mesosctl.files.reading import open_file, read_within, unreadable_hint, why_unreadable
from mesosctl.mesos.amounts.notation import parse_resources, parse_span
from mesosctl.mesos.amounts.quantities import to_milli
from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.door.replayed_tasks import ReplayedTask
from mesosctl.mesos.errors import BadInput, RuleViolation, UsageError

_MOMENT = 0.001


@dataclass(slots=True, eq=False)
class WantedTask:
    """One task that a framework asks for."""

    asked: float
    """Seconds since the framework joined."""
    resources: Resources
    """Scalars, on one agent."""
    lasts: float | None = None
    """The seconds that it runs; None if the master's `task_outcome` says it."""
    name: str | None = None
    """Its id; None for the next `task-N`."""
    role: str | None = None
    """The role in which it may run; None for any of the framework's."""
    agent: str | None = None
    """The host that it prefers for one allocation interval; after that it takes any."""
    patience: float = 0.0
    """Seconds for which it prefers that host, if they are more than an interval."""
    ends: float | None = None
    """When it ends however late it starts, in seconds since the epoch; None if it runs for as long as it lasts."""

    def released_at(self, asked: float, interval: float) -> float:
        """Return when it takes any host, having asked at a moment; `interval` is that between two allocations.

        It is just after the next one: the first may have offered its host to another framework, which declined.
        """
        return asked + max(interval, self.patience) + _MOMENT


class TaskOnAgent(NamedTuple):
    """A task that runs on an agent already as its framework joins."""

    task: WantedTask
    agent_id: str
    part: Resources
    """The resources of the agent that it holds, without an allocation role."""


def runs_for(task: WantedTask | ReplayedTask, now: float) -> float | None:
    """Return for how many seconds a task runs that starts now; None if nothing says it."""
    return task.lasts if task.ends is None else max(0.0, task.ends - now)


# --- Spans ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Span:
    """A time in seconds, always the same or drawn from a distribution."""

    text: str
    """As it was written."""
    draw: Callable[[Random], float] = field(compare=False)
    mean: float
    """Infinite for a distribution without a mean."""

    @classmethod
    def of(cls, seconds: float) -> "Span":
        """Return the same time always."""
        return cls(f"{seconds:g}s", lambda _random: seconds, seconds)


def _exponential(mean: float) -> tuple[Callable[[Random], float], float]:
    return lambda random: random.expovariate(1 / mean), mean


def _uniform(low: float, high: float) -> tuple[Callable[[Random], float], float]:
    if low > high:
        raise ValueError("low is above high")
    return lambda random: random.uniform(low, high), (low + high) / 2


def _lognormal(median: float, sigma: float) -> tuple[Callable[[Random], float], float]:
    mu = math.log(median)
    return lambda random: random.lognormvariate(mu, sigma), math.exp(min(700.0, mu + sigma**2 / 2))


def _weibull(scale: float, shape: float) -> tuple[Callable[[Random], float], float]:
    return lambda random: random.weibullvariate(scale, shape), scale * math.gamma(min(170.0, 1 + 1 / shape))


def _pareto(minimum: float, shape: float) -> tuple[Callable[[Random], float], float]:
    mean = math.inf if shape <= 1 else minimum * shape / (shape - 1)
    return lambda random: minimum * random.paretovariate(shape), mean


_PLAIN = {"sigma", "shape"}
"""Parameters that are numbers; all others are spans."""
_DISTRIBUTIONS: Mapping[str, tuple[tuple[str, ...], Callable[..., tuple[Callable[[Random], float], float]]]] = {
    "exponential": (("mean",), _exponential),
    "uniform": (("low", "high"), _uniform),
    "lognormal": (("median", "sigma"), _lognormal),
    "weibull": (("scale", "shape"), _weibull),
    "pareto": (("minimum", "shape"), _pareto),
}
_LONGEST = 1e10
"""Seconds that a task may last: three centuries, so that no time overflows."""


def parse_time_span(text: str, field: str) -> Span:
    """Return a span such as "90s", or a distribution such as "lognormal(median=10m, sigma=1.5)".  Raises BadInput."""
    name, opened, rest = text.strip().partition("(")
    if not opened:
        return Span.of(_seconds(text, field))
    known = _DISTRIBUTIONS.get(name.strip())
    if known is None or not rest.endswith(")"):
        raise BadInput(f"'{text}' is not a span or a distribution", field=field, hint=_distribution_hint())
    names, make = known
    given: dict[str, str] = {}
    for part in filter(None, map(str.strip, rest[:-1].split(","))):
        key, _, value = part.partition("=")
        given[key.strip()] = value.strip()
    if given.keys() != set(names):
        written = ", ".join(f"{key}={'1.5' if key in _PLAIN else '10m'}" for key in names)
        raise BadInput(f"'{text}' does not have the parameters of {name}", field=field, hint=f"{name}({written})")
    values = [_number(given[key], field) if key in _PLAIN else _seconds(given[key], field) for key in names]
    try:
        draw, mean = make(*values)
    except ValueError as error:
        raise BadInput(f"'{text}': {error}", field=field) from error

    def capped(random: Random) -> float:
        try:
            return min(_LONGEST, draw(random))
        except OverflowError:
            return _LONGEST

    return Span(text, capped, mean)


def _distribution_hint() -> str:
    return "10m, or one of " + ", ".join(f"{name}({', '.join(names)})" for name, (names, _) in _DISTRIBUTIONS.items())


def _seconds(text: str, field: str) -> float:
    try:
        seconds = parse_span(text, field)
    except UsageError as error:
        raise BadInput(error.message, field=field, hint=error.hint) from error
    if seconds > _LONGEST:
        raise BadInput(f"'{text}' is longer than {_LONGEST:g} seconds", field=field)
    return seconds


def _number(text: str, field: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number <= 1000:
        raise BadInput(f"'{text}' is not a number above 0 and up to 1000", field=field)
    return number


# --- Demand -----------------------------------------------------------------------------------------


class Demand(ABC):
    """The tasks that a framework asks for."""

    is_endless = False
    """Whether it never stops asking."""
    longest_gap = 0.0
    """Roughly the longest time between two tasks of an endless demand, in seconds."""
    names: Collection[str] = frozenset()
    """The ids that its tasks name, which no other task of the framework gets."""

    @abstractmethod
    def tasks(self, random: Random) -> Iterator[WantedTask]:
        """Return the tasks in the order in which they are asked for."""


@dataclass(frozen=True, slots=True)
class Recurring(Demand):
    """A new task of one size every so often."""

    task: Resources
    every: Span
    lasts: Span | None = None
    number: int | None = None
    """The number of tasks in all; None if there is no end."""

    @property
    def is_endless(self) -> bool:  # type: ignore[override]
        """Whether there is no end of tasks."""
        return self.number is None

    @property
    def longest_gap(self) -> float:  # type: ignore[override]
        """See `Demand.longest_gap`."""
        return 10 * self.every.mean

    def tasks(self, random: Random) -> Iterator[WantedTask]:
        """See `Demand.tasks`; the first is asked for at once."""
        asked = 0.0
        for _ in count() if self.number is None else range(self.number):
            yield WantedTask(asked, self.task, None if self.lasts is None else self.lasts.draw(random))
            asked += self.every.draw(random)


@dataclass(frozen=True, slots=True)
class Listed(Demand):
    """Tasks that are known one by one, in the order in which they are asked for."""

    wanted: Sequence[WantedTask]
    file: Path | None = None
    """The file that they were read from."""

    def tasks(self, random: Random) -> Iterator[WantedTask]:  # noqa: ARG002  # nothing is left to chance
        """See `Demand.tasks`."""
        return iter(self.wanted)

    @property
    def names(self) -> Collection[str]:  # type: ignore[override]
        """See `Demand.names`."""
        return frozenset(task.name for task in self.wanted if task.name is not None)


# --- A file of tasks --------------------------------------------------------------------------------

_COLUMNS = ("asked", "lasts", "task", "name", "role", "agent")
_NOT_RESOURCES = frozenset(_COLUMNS)
MOST_TASKS = 1_000_000
"""The most tasks of a file: they are in memory while its framework lives."""


def read_tasks(path: Path, field: str, task: Resources, roles: Sequence[str]) -> Listed:
    """Read a csv file of tasks; `task` is the size of those that name none.

    Its columns are `asked` (seconds since the framework joined, or a span), `lasts` (seconds, or a span; empty if the
    task does not end by itself), the size as `task` ("cpus:1;mem:512") or one column for each resource (`cpus`, `mem`),
    and `name`, `role` and `agent`.  Raises BadInput with the line and the column.
    """
    try:
        with open_file(path) as file:
            text = read_within(file).decode("utf-8-sig")
    except (OSError, ValueError) as error:
        problem = f"{path} cannot be read: {why_unreadable(error)}"
        raise BadInput(problem, field=field, hint=unreadable_hint(path, error)) from error
    rows = csv.reader(StringIO(text, newline=""))
    try:
        header = [name.strip() for name in next(rows, [])]
    except csv.Error as error:
        raise BadInput(f"{path}, line {rows.line_num}: {error}", field=field) from error
    if "asked" not in header or len(set(header)) != len(header):
        problem = f"{path}, line 1: the columns are {', '.join(header) or 'none'}"
        raise BadInput(
            problem, field=field, hint="asked,lasts,task,name,role,agent: at least asked, and each only once"
        )
    reader = _Rows(path, field, header, task, roles)
    found: list[WantedTask] = []
    names: set[str] = set()
    try:
        for row in filter(None, rows):
            wanted = reader.task(row, rows.line_num)
            if wanted.name in names:
                raise BadInput(f"{path}, line {rows.line_num}: two tasks are called '{wanted.name}'", field=field)
            if len(found) == MOST_TASKS:
                raise BadInput(f"{path} has more than {MOST_TASKS:,} tasks", field=field)
            found.append(wanted)
            if wanted.name is not None:
                names.add(wanted.name)
    except csv.Error as error:
        raise BadInput(f"{path}, line {rows.line_num}: {error}", field=field) from error
    found.sort(key=lambda wanted: wanted.asked)
    return Listed(found, path)


class _Rows:
    """Reads the rows of a file of tasks."""

    def __init__(self, path: Path, field: str, header: list[str], task: Resources, roles: Sequence[str]) -> None:
        self._path = path
        self._field = field
        self._header = header
        self._task = task
        self._roles = roles
        self._sizes: dict[tuple[str, ...], Resources] = {}
        """By the texts of a row: most tasks have one of a few sizes, and share the object."""
        self._size_columns = [at for at, name in enumerate(header) if name == "task" or name not in _NOT_RESOURCES]

    def task(self, row: list[str], line: int) -> WantedTask:
        """Return the task of a row."""
        if len(row) != len(self._header):
            raise self._wrong(line, f"{len(row)} columns instead of {len(self._header)}")
        texts = dict(zip(self._header, map(str.strip, row), strict=True))
        role = texts.get("role") or None
        if role is not None and role not in self._roles:
            raise self._wrong(line, f"role: '{role}' is not one of the framework's roles")
        lasts = texts.get("lasts", "")
        return WantedTask(
            self._time(texts["asked"], line, "asked"),
            self._size(row, line),
            self._time(lasts, line, "lasts") if lasts else None,
            texts.get("name") or None,
            role,
            texts.get("agent") or None,
        )

    def _size(self, row: list[str], line: int) -> Resources:
        key = tuple(row[at].strip() for at in self._size_columns)
        size = self._sizes.get(key)
        if size is None:
            size = self._sizes[key] = self._read_size(key, line)
        return size

    def _read_size(self, texts: tuple[str, ...], line: int) -> Resources:
        entries: list[Resource] = []
        for at, text in zip(self._size_columns, texts, strict=True):
            name = self._header[at]
            if text and not name:
                raise self._wrong(line, f"'{text}' is in column {at + 1}, which has no name in line 1")
            try:
                if name == "task":
                    entries += parse_resources(text)
                elif text:
                    entries.append(Resource(name, to_milli(float(text))))
            except (RuleViolation, ValueError) as error:
                raise self._wrong(line, f"{name}: '{text}' is not an amount") from error
        size = Resources(entries) or self._task
        if not size:
            raise self._wrong(line, "the task has no resources")
        if any(not entry.is_scalar or entry.is_reserved for entry in size):
            raise self._wrong(line, "a task takes plain amounts")
        return size

    def _time(self, text: str, line: int, column: str) -> float:
        try:
            seconds = float(text)
        except ValueError:
            try:
                seconds = parse_span(text, column)
            except UsageError as error:
                raise self._wrong(line, f"{column}: '{text}' is not a time") from error
        if not 0 <= seconds <= _LONGEST:
            raise self._wrong(line, f"{column}: '{text}' is not a time from 0 to {_LONGEST:g} seconds")
        return seconds

    def _wrong(self, line: int, problem: str) -> BadInput:
        return BadInput(f"{self._path}, line {line}: {problem}", field=self._field)
