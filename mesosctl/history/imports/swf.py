"""The Standard Workload Format (Feitelson's Parallel Workloads Archive): 18 fields in a line, -1 is unknown."""

import math
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import ClassVar, Literal

from mesosctl.history.imports.agents import agents_of_table
from mesosctl.history.imports.log_file import LogText
from mesosctl.history.imports.rows import (
    FrameworkOfTask,
    LogFormat,
    LogSpan,
    OfOtherForm,
    Unusable,
    check_amounts,
    micros_of,
    number_in,
    role_in,
)
from mesosctl.history.records import RecordedAgent, RecordedTask
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.amounts.values import value_times
from mesosctl.mesos.errors import BadInput

RoleField = Literal["user", "group", "queue"]
ROLE_FIELDS: dict[str, int] = {"user": 12, "group": 13, "queue": 15}
_FIELDS = 18
_NAMES = {
    1: "job number", 2: "submit time", 3: "wait time", 4: "run time", 5: "allocated processors",
    8: "requested processors", 11: "status", 12: "user", 13: "group", 15: "queue",
}  # fmt: skip
_HEADER = frozenset({"UnixStartTime", "MaxProcs", "MaxNodes"})
"""The comments that are used; a log may have any number of others."""
_UNKNOWN = -1.0
_STATES = {0: "TASK_FAILED", 1: "TASK_FINISHED", 5: "TASK_KILLED"}
_PARTS = (2, 3, 4)
"""States of a part of a job that was checkpointed: the whole job has a line of its own."""
_AGENT = "swf"
_MOST_HELD = 4096
"""The most sizes of jobs that are kept as resources."""


class Swf(LogFormat[list[str]]):
    """`--format swf`: a task holds `processor` for every processor of its job."""

    name: ClassVar[str] = "swf"
    columns: ClassVar[Mapping[str, str]] = {
        "asked": _NAMES[2], "start": _NAMES[3], "end": _NAMES[4], "": _NAMES[5],
    }  # fmt: skip

    def __init__(self, role_by: str, processor: Resources, file_name: str, *, on_one_agent: bool) -> None:
        self._file_name = file_name
        self._role_field = ROLE_FIELDS[role_by]
        self._processor = processor
        self._agent_id = _AGENT if on_one_agent else None
        self._header: dict[str, str] = {}
        self._most = 0
        self._held: dict[int, Resources] = {}

    def rows(self, file: LogText) -> Iterator[tuple[int, list[str]]]:
        """See `LogFormat.rows`; comments are read as well."""
        for line, text in file.rows():
            if text.startswith(";"):
                key, _, value = text[1:].partition(":")
                if key.strip() in _HEADER:
                    self._header.setdefault(key.strip(), value.strip())
            elif text.strip():
                yield line, text.split()

    def remarks(self) -> list[str]:
        """See `LogFormat.remarks`."""
        if self._began:
            return []
        return [f"no UnixStartTime above 0 stands before the first job of {self._file_name}: times count from 1970"]

    def _field(self, row: list[str], field: int) -> float:
        return number_in(row[field - 1], _NAMES[field])

    def _known(self, row: list[str], field: int, least: float = 0) -> float:
        found = self._field(row, field)
        if found < least:
            raise Unusable(f"its field '{_NAMES[field]}' is unknown", _NAMES[field])
        return found

    def task(self, line: int, row: list[str]) -> tuple[RecordedTask, FrameworkOfTask]:
        """See `LogFormat.task`."""
        del line
        if len(row) < _FIELDS:
            raise OfOtherForm(f"it has fewer than {_FIELDS} fields", "")
        status = int(self._field(row, 11))
        if status in _PARTS:
            raise Unusable("it is a part of a job that has a line of its own", _NAMES[11])
        submitted = micros_of(self._began + self._known(row, 2), _NAMES[2])
        waited = self._field(row, 3)
        start = submitted + micros_of(max(0.0, waited), _NAMES[3])
        end = start + micros_of(self._known(row, 4), _NAMES[4])
        user = _named(self._field(row, 12))
        task = RecordedTask(
            framework_id=user,
            id=row[0],
            role=role_in(_named(self._field(row, self._role_field)), _NAMES[self._role_field]),
            resources=self._times(self._processors_of(row)),
            agent_id=self._agent_id,
            asked=None if waited < 0 else submitted,  # a log that knows no waits has the start for the submission
            start=start,
            end=end,
            state=_STATES.get(status),
        )
        return task, FrameworkOfTask(user)

    def usable_task(self, line: int, row: list[str]) -> tuple[RecordedTask, FrameworkOfTask]:
        """See `LogFormat.usable_task`; the largest job that can be used may tell how large the agent is."""
        found = super().usable_task(line, row)
        self._most = max(self._most, self._processors_of(row))
        return found

    def _processors_of(self, row: list[str]) -> int:
        allocated = int(self._field(row, 5))
        return allocated if allocated > 0 else int(self._known(row, 8, 1))

    def _times(self, processors: int) -> Resources:
        if processors not in self._held:
            if len(self._held) >= _MOST_HELD:
                self._held.clear()
            parts = (entry.with_value(value_times(entry.value, processors)) for entry in self._processor)
            self._held[processors] = Resources(parts)
        return self._held[processors]

    @cached_property
    def _began(self) -> float:
        """Of the log, as its header says it before the first job."""
        found = self._number("UnixStartTime") or 0.0
        try:
            micros_of(found, "UnixStartTime")
        except Unusable:
            raise _header_error("UnixStartTime", f"{found:g}") from None
        return found

    @property
    def _processors(self) -> int | None:
        found = self._number("MaxProcs") or self._number("MaxNodes")
        return None if found is None else int(found)

    def _number(self, key: str) -> float | None:
        words = self._header.get(key, "").split()
        try:
            found = float(words[0]) if words else 0.0
        except ValueError:
            return None
        if not math.isfinite(found):
            raise _header_error(key, words[0])
        return found if found > 0 else None

    def agents(self, span: LogSpan, file: LogText | None) -> Iterator[RecordedAgent]:
        """See `LogFormat.agents`; without a file one of MaxProcs processors, or of the largest job."""
        return iter([self._only_agent(span)]) if file is None else agents_of_table(file, span)

    def _only_agent(self, span: LogSpan) -> RecordedAgent:
        total = self._times(self._processors or self._most)
        try:
            check_amounts(total, self.columns)
        except Unusable:
            raise _header_error("MaxProcs", f"{self._processors:g}") from None
        return RecordedAgent(_AGENT, _AGENT, total, span.start, span.end)


def _named(number: float) -> str:
    return "unknown" if number == _UNKNOWN else f"{number:.0f}"


def _header_error(key: str, value: str) -> BadInput:
    return BadInput(
        f"{key} is {value:.60} in the header, which is out of range", field="FILE", hint="correct that line"
    )
