"""The parts that all formats of logs share: a row that cannot be used, numbers and times, tables with named columns."""

import csv
import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from itertools import chain
from typing import ClassVar, Generic, NamedTuple, TypeVar

from mesosctl.history.imports.log_file import LogText
from mesosctl.history.records import MICROS, Micros, RecordedAgent, RecordedTask
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.amounts.quantities import to_milli, to_number
from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.errors import BadInput, RuleViolation
from mesosctl.mesos.roles import role_error

LATEST = 253_402_214_400
"""Seconds of 9999-12-31: Python's calendar has no later day, and a day is left for time zones."""
LONGEST_NAME = 512
"""The most characters of a name; a task's id of Mesos has at most 255."""
_MOST_COLUMNS = 1000
_SEPARATORS = {",": "','", "|": "'|'", ";": "';'", "\t": "tab"}
"""The characters that can separate the cells of a table, as they are named in sentences."""
_EACH_AMOUNT = ("cpus", "mem", "disk", "gpus")
AMOUNT_COLUMNS = ("resources", *_EACH_AMOUNT)
"""The columns that say what a task holds: one for all, or one for each resource."""
LogRow = TypeVar("LogRow")


class Unusable(Exception):
    """A row of a log that is not imported: the cause, as it is counted, and the column."""

    def __init__(self, cause: str, column: str) -> None:
        super().__init__(cause)
        self.cause = cause
        self.column = column


class OfOtherForm(Unusable):
    """A row that has not the form of its format: a file of such rows alone has another one."""


ENDS_TOO_EARLY = "it ends before it begins"


class LogSpan(NamedTuple):
    """The time from the first to the last moment of a log."""

    start: Micros
    end: Micros


@dataclass(frozen=True, slots=True)
class FrameworkOfTask:
    """The framework of a task, as the log names it."""

    name: str
    principal: str | None = None
    capabilities: tuple[str, ...] = ()


class LogFormat(ABC, Generic[LogRow]):
    """One format of logs.  A new one for every file, since a file may have a header."""

    name: ClassVar[str]

    @abstractmethod
    def rows(self, file: LogText) -> Iterator[tuple[int, LogRow]]:
        """The rows with their lines.  Raises BadInput for a file of another form."""

    @abstractmethod
    def task(self, line: int, row: LogRow) -> tuple[RecordedTask, FrameworkOfTask]:
        """The task of a row.  Raises Unusable."""

    def remarks(self) -> list[str]:
        """The sentences about what the file has that nothing uses, or lacks, once it is read."""
        return []

    columns: ClassVar[Mapping[str, str]]
    """The columns of a task's `asked`, `start`, `end` and `lasts`, and of its resources by their names."""

    def usable_task(self, line: int, row: LogRow) -> tuple[RecordedTask, FrameworkOfTask]:
        """The task of a row, if a recording can hold it.  Raises Unusable."""
        found = self.task(line, row)
        _check_names(*found)
        _check_times(found[0], self.columns)
        check_amounts(found[0].resources, self.columns)
        return found

    def check_order(self, asked: Micros | None, start: Micros | None, end: Micros | None) -> None:
        """Check that a task is asked for, begins and ends in this order.  Raises Unusable."""
        began = asked if start is None else start
        if end is not None and began is not None and end < began:
            raise Unusable(ENDS_TOO_EARLY, self.columns["end"])
        if start is not None and asked is not None and start < asked:
            raise Unusable("it begins before it is asked for", self.columns["start"])

    @abstractmethod
    def agents(self, span: LogSpan, file: LogText | None) -> Iterator[RecordedAgent]:
        """The agents, from the file of --agents if there is one; reading them raises BadInput."""


def number_in(text: str, column: str) -> float:
    """A number.  Raises Unusable."""
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise Unusable(f"{column} is not a number", column)
    return found


def milli_in(text: str, column: str, factor: float = 1000) -> int:
    """Thousandths of an amount, of which `factor` thousandths are one.  Raises Unusable."""
    amount = number_in(text, column)
    if amount < 0:
        raise Unusable(f"{column} is below zero", column)
    try:
        return to_milli(amount * factor / 1000)
    except ValueError:
        raise Unusable(f"{column} is out of range", column) from None


class LocalTimes:
    """The time zone of the times of a file that name none."""

    def __init__(self, zone: tzinfo | None) -> None:
        """UTC, unless `zone` says otherwise."""
        self._zone = zone
        self._is_used = False

    def placed(self, at: datetime) -> datetime:
        """The time with its zone."""
        if at.tzinfo:
            return at
        self._is_used = True
        return at.replace(tzinfo=self._zone or UTC)

    def remarks(self, file: str) -> list[str]:
        """The sentence about a zone that was assumed, or given and not used, once all times are read."""
        if self._zone is None and self._is_used:
            return [f"{file}: times without a zone were read as UTC; --timezone names another"]
        if self._zone is not None and not self._is_used:
            return [f"{file}: nothing uses --timezone, because no time in it lacks a zone"]
        return []


def micros_in(text: str, column: str, local: LocalTimes) -> Micros:
    """A time, in seconds or as ISO 8601 writes it.  Raises Unusable."""
    if "-" in text[1:] and ":" in text:
        try:
            at = datetime.fromisoformat(text)
        except ValueError:
            raise Unusable(f"{column} is not a time", column) from None
        return round((local.placed(at) - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() * MICROS)
    return micros_of(number_in(text, column), column)


def maybe_micros_in(row: Mapping[str, str], column: str, local: LocalTimes) -> Micros | None:
    """The same of a column that may be missing or empty.  Raises Unusable."""
    return micros_in(row[column], column, local) if row.get(column) else None


def micros_of(seconds: float, column: str) -> Micros:
    """A time or a span of this many seconds.  Raises Unusable if no calendar has it."""
    if not abs(seconds) <= LATEST:
        raise Unusable(f"{column} is out of range", column)
    return round(seconds * MICROS)


def _check_names(task: RecordedTask, of: FrameworkOfTask) -> None:
    """Raise Unusable for a name that nobody can have given to a thing."""
    for name in (task.id, of.name, of.principal, task.role, task.agent_id, task.state):
        if name is not None and len(name) > LONGEST_NAME:
            raise Unusable(f"a name in it is longer than {LONGEST_NAME} characters", "")


def _check_times(task: RecordedTask, columns: Mapping[str, str]) -> None:
    """Raise Unusable for a time before 1970 or after 9999, of what is said or what follows from it."""
    began = task.asked if task.start is None else task.start
    over = None if began is None or task.lasts is None else began + task.lasts
    for kind, at in (("asked", task.asked), ("start", task.start), ("end", task.end), ("lasts", over)):
        if at is not None and not 0 <= at <= LATEST * MICROS:
            raise Unusable(f"{columns[kind]} is out of range", columns[kind])


def check_amounts(resources: Resources, columns: Mapping[str, str]) -> None:
    """Raise Unusable for more than a master can hold, in a double of which it takes thousandths."""
    for entry in resources:
        if isinstance(entry.value, int):
            try:
                to_milli(to_number(entry.value))
            except (ValueError, OverflowError):
                column = columns.get(entry.name, columns.get("", ""))
                raise Unusable("it holds more than a master can count", column) from None


def role_in(text: str, column: str) -> str:
    """A role.  Raises Unusable."""
    if not text:
        raise Unusable("it has no role", column)
    if role_error(text) is not None:
        raise Unusable("its role is not a valid name", column)
    return text


def amounts(values: Mapping[str, int]) -> Resources:
    """Resources of thousandths by name."""
    return Resources(Resource(name, value) for name, value in values.items() if value)


def lasts_in(row: Mapping[str, str]) -> Micros | None:
    """The span in the column `lasts`, which may be missing or empty.  Raises Unusable."""
    if not row.get("lasts"):
        return None
    seconds = number_in(row["lasts"], "lasts")
    if seconds < 0:
        raise Unusable("lasts is below zero", "lasts")
    return micros_of(seconds, "lasts")


def held_in(row: Mapping[str, str]) -> Resources:
    """The resources in `AMOUNT_COLUMNS`, none if all are empty.  Raises Unusable."""
    if row.get("resources"):
        try:
            return parse_resources(row["resources"], of_agents=True)
        except RuleViolation:
            # The violation has the row's own text, and causes are counted, kept and exported.
            raise Unusable("its resources cannot be read", "resources") from None
    return amounts({name: milli_in(row[name], name) for name in _EACH_AMOUNT if row.get(name)})


class NamedColumns:
    """A table with a line of titles; rows are read by them.

    Of `_SEPARATORS`, the one that its first line has most often separates its cells.
    """

    def __init__(self, file: LogText, name: str, needed: tuple[str, ...], field: str = "FILE") -> None:
        """Raises BadInput if a column is missing or is there twice; `field` is the option that names the file."""
        first = next(file, "")
        separator = max(_SEPARATORS, key=first.count)
        # Without strict, a quote that nobody closes takes all further rows into its cell.
        self._file, self._reader = file, csv.reader(chain([first], file), delimiter=separator, strict=True)
        self._name, self._field = name, field
        _, titles = next(self._lines(), (1, []))
        self.titles = [title.strip() for title in titles]
        if len(self.titles) > _MOST_COLUMNS or len(max(self.titles, key=len, default="")) > LONGEST_NAME:
            raise BadInput(
                f"{name}, line 1: there are more than {_MOST_COLUMNS:,} columns, or one with a name of more than "
                f"{LONGEST_NAME} characters",
                field=field,
                hint="the first line has the names of columns",
            )
        counts = Counter(self.titles)
        repeated = next((title for title in self.titles if title and counts[title] > 1), None)
        if repeated is not None:
            raise BadInput(
                f"{name} has the column '{repeated}' twice", field=field, hint="rename one of them, or leave it out"
            )
        missing = [column for column in needed if column not in self.titles]
        if missing:
            raise BadInput(
                f"{name} has no column '{missing[0]}'" if any(self.titles) else f"{name} is empty",
                field=field,
                hint=f"its columns (separated by {_SEPARATORS[separator]}) are {', '.join(self.titles[:20])}"
                if any(self.titles)
                else f"its first line has the names of columns: {', '.join(needed)}",
            )

    def __iter__(self) -> Iterator[tuple[int, dict[str, str]]]:
        """The rows with their lines.  A row of another length lacks what it lacks."""
        for line, row in self._lines():
            if row:
                cells = [cell.strip() for cell in row]
                yield line, dict(zip(self.titles, cells, strict=False)) | {"": str(len(cells))}

    def _lines(self) -> Iterator[tuple[int, list[str]]]:
        """The cells of each row, with the line where it begins.  Raises BadInput for what is no csv."""
        while True:
            line = self._reader.line_num + 1
            self._file.begin_row()
            try:
                cells = next(self._reader)
            except StopIteration:
                return
            except csv.Error as error:
                raise BadInput(
                    f"{self._name}, line {line}: the row that begins there cannot be read: {error}",
                    field=self._field,
                    hint="close every quote, write a quote in a quoted cell twice, and keep cells below "
                    f"{csv.field_size_limit():,} characters",
                ) from None
            yield line, cells

    def unused(self, known: Collection[str]) -> str | None:
        """The sentence about the titles that are not among the known ones; None if there are none."""
        others = [title for title in self.titles if title and title not in known]
        if not others:
            return None
        named = ", ".join(f"'{title}'" for title in others[:5]) + (", …" if len(others) > 5 else "")
        several = "columns" if len(others) > 1 else "column"
        return f"{self._name}, line 1: nothing uses the {several} {named}; the columns are {', '.join(known)}"

    def check_length(self, row: Mapping[str, str]) -> None:
        """Raise Unusable for a row that has not one cell for every title."""
        if row[""] != str(len(self.titles)):
            raise Unusable("it has not one cell for every column", self.titles[-1])


def agent_row(line: int, name: str, error: Unusable | RuleViolation) -> BadInput:
    """The refusal of a row about an agent: without one of its agents, a cluster is another one."""
    return BadInput(f"{name}, line {line}: {error}", field="--agents")


def check_new_agent(names: set[str], agent: str, line: int, name: str) -> None:
    """Add the name of an agent to those of a table.  Raises BadInput if it is empty, too long, or that of another."""
    if not agent or agent in names:
        raise BadInput(f"{name}, line {line}: the name '{agent:.60}' is empty or repeated", field="--agents")
    if len(agent) > LONGEST_NAME:
        raise BadInput(
            f"{name}, line {line}: the name '{agent:.60}…' is longer than {LONGEST_NAME} characters", field="--agents"
        )
    names.add(agent)
