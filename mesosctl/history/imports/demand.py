"""Demand as a csv file: who asked for which task, and when.

`asked` is needed, and `task` or all of `framework`, `role` and the resources. `framework` is an id or a name. Resources
are in `resources`, or in `cpus`, `mem`, `disk` and `gpus`. `lasts` says for how many seconds a task that never started
would run.
"""

from collections.abc import Iterator
from datetime import tzinfo
from typing import NamedTuple

from mesosctl.history.imports.log_file import LogText
from mesosctl.history.imports.rows import (
    AMOUNT_COLUMNS,
    LATEST,
    LONGEST_NAME,
    LocalTimes,
    NamedColumns,
    Unusable,
    check_amounts,
    held_in,
    lasts_in,
    maybe_micros_in,
    role_in,
)
from mesosctl.history.records import MICROS, Micros
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.errors import BadInput

_KNOWN = ("task", "framework", "role", "asked", *AMOUNT_COLUMNS, "lasts")


class DemandRow(NamedTuple):
    """A task that somebody asked for; what the file does not say is None, or empty."""

    line: int
    asked: Micros
    task: str | None
    framework: str | None
    """Its id, or its name."""
    role: str | None
    resources: Resources
    lasts: Micros | None = None
    seen: Micros | None = None
    """When somebody last saw it wait, so that it started later."""
    left: bool = False
    """Whether it waits no more, so that it started or was withdrawn."""
    name: str | None = None
    """The id of the task that is kept if it never started; without one, its line names it."""

    @property
    def says_what(self) -> bool:
        """Whether it says what is asked for, so that it can be joined, or kept, without an id."""
        return self.framework is not None and self.role is not None and bool(self.resources)


class DemandTable:
    """`--format demand`."""

    def __init__(self, file: LogText, zone: tzinfo | None = None) -> None:
        """Read the first line; `zone` is that of times without one.  Raises BadInput."""
        self._local = LocalTimes(zone)
        self._table = NamedColumns(file, file.name, ("asked",))
        titles = self._table.titles
        has_resources = any(column in titles for column in AMOUNT_COLUMNS)
        if "task" not in titles and not ({"framework", "role"} <= {*titles} and has_resources):
            lacks = next((column for column in ("framework", "role") if column not in titles), AMOUNT_COLUMNS[0])
            raise BadInput(
                f"{file.name} has neither a column 'task' nor a column '{lacks}'",
                field="FILE",
                hint="it needs asked, and task or all of framework, role and resources",
            )
        self._file = file

    def remarks(self) -> list[str]:
        """The sentences about columns that nobody knows, and about times without a zone, once all rows are read."""
        unused = self._table.unused(dict.fromkeys(_KNOWN))
        return [*([] if unused is None else [unused]), *self._local.remarks(self._file.name)]

    def __iter__(self) -> Iterator[DemandRow]:
        """Yield the rows.  Raises BadInput for one that cannot be used: without it, the demand would be another."""
        for line, row in self._table:
            try:
                self._table.check_length(row)
                yield _demand_in(line, row, self._local)
            except Unusable as error:
                where = f", column {error.column}" if error.column else ""
                raise BadInput(
                    f"{self._file.name}, line {line}{where}: {error.cause}; nothing was imported",
                    field="FILE",
                    hint="correct that line, or leave it out",
                ) from None


def _demand_in(line: int, row: dict[str, str], local: LocalTimes) -> DemandRow:
    """The demand of a row.  Raises Unusable."""
    asked = maybe_micros_in(row, "asked", local)
    if asked is None:
        raise Unusable("it has no time at which the task was asked for", "asked")
    lasts = lasts_in(row)
    if not 0 <= asked <= LATEST * MICROS or (lasts or 0) > LATEST * MICROS - asked:
        raise Unusable("asked is out of range", "asked")
    resources = held_in(row)
    check_amounts(resources, {"": AMOUNT_COLUMNS[0]})
    task, framework, role = (row.get(column) or None for column in ("task", "framework", "role"))
    if any(len(name) > LONGEST_NAME for name in (task, framework, role) if name is not None):
        raise Unusable(f"a name in it is longer than {LONGEST_NAME} characters", "")
    if role is not None:
        role_in(role, "role")
    found = DemandRow(line, asked, task, framework, role, resources, lasts)
    if task is None and not found.says_what:
        raise Unusable("it has neither a task nor all of framework, role and resources", "")
    return found
