"""A csv file with named columns, for logs that have no format of their own.

`task` names a task, `framework` its framework (its role unless given), `principal` that framework's principal, `agent`
where it ran. One name with several principals stands for several frameworks. What it holds is in `resources`, as Mesos
writes it, or in `cpus`, `mem`, `disk` and `gpus`. `asked`, `from` and `to` are seconds since 1970 or times in ISO 8601;
without `from` a task never ran, and `lasts` says how many seconds it would have. `state` is Mesos's name of its last
state. Other columns can be the one of --role-by.
"""

from collections.abc import Iterator, Mapping
from datetime import tzinfo
from typing import ClassVar

from mesosctl.history.imports.agents import agents_of_table
from mesosctl.history.imports.log_file import LogText
from mesosctl.history.imports.rows import (
    AMOUNT_COLUMNS,
    FrameworkOfTask,
    LocalTimes,
    LogFormat,
    LogSpan,
    NamedColumns,
    Unusable,
    held_in,
    lasts_in,
    maybe_micros_in,
    role_in,
)
from mesosctl.history.records import RecordedAgent, RecordedTask
from mesosctl.mesos.errors import BadInput

Row = dict[str, str]
_TIMES = ("asked", "from")
_KNOWN = ("task", "role", "framework", "principal", "agent", *AMOUNT_COLUMNS, *_TIMES, "to", "lasts", "state")


class Columns(LogFormat[Row]):
    """`--format csv`."""

    name: ClassVar[str] = "csv"
    columns: ClassVar[Mapping[str, str]] = {
        "asked": "asked", "start": "from", "end": "to", "lasts": "lasts", "": "resources",
    }  # fmt: skip

    def __init__(self, role_by: str, file_name: str, zone: tzinfo | None = None) -> None:
        self._role_by = role_by
        self._local = LocalTimes(zone)
        self._file_name = file_name
        self._table: NamedColumns | None = None

    def rows(self, file: LogText) -> Iterator[tuple[int, Row]]:
        """See `LogFormat.rows`."""
        self._table = NamedColumns(file, self._file_name, (self._role_by, "to"))
        for several in (_TIMES, AMOUNT_COLUMNS):
            if not any(column in self._table.titles for column in several):
                raise BadInput(
                    f"{self._file_name} has no column '{several[0]}'",
                    field="FILE",
                    hint=f"it needs at least one of {', '.join(several)}",
                )
        return iter(self._table)

    def remarks(self) -> list[str]:
        """See `LogFormat.remarks`."""
        assert self._table is not None, "rows are read first"
        unused = self._table.unused(dict.fromkeys((*_KNOWN, self._role_by)))
        return [*([] if unused is None else [unused]), *self._local.remarks(self._file_name)]

    def task(self, line: int, row: Row) -> tuple[RecordedTask, FrameworkOfTask]:
        """See `LogFormat.task`."""
        assert self._table is not None, "rows are read first"
        self._table.check_length(row)
        role = role_in(row[self._role_by], self._role_by)
        asked, start, end = (maybe_micros_in(row, column, self._local) for column in ("asked", "from", "to"))
        began = asked if start is None else start
        if began is None:
            raise Unusable("it has no time at which it begins", "from")
        self.check_order(asked, start, end)
        lasts = lasts_in(row) if start is None else None
        if lasts is None and start is None and end is not None:
            lasts = end - began
        name, principal = row.get("framework") or role, row.get("principal") or None
        # Without what was read before, so that a later log of the cluster names the same framework.
        framework = name if principal is None else f"{name} ({principal})"
        task = RecordedTask(
            framework_id=framework,
            id=row.get("task") or f"line-{line}",
            role=role,
            resources=held_in(row),
            agent_id=row.get("agent") or None,
            asked=asked,
            start=start,
            end=None if start is None else end,
            lasts=lasts,
            state=row.get("state") or None,
        )
        return task, FrameworkOfTask(name, principal)

    def agents(self, span: LogSpan, file: LogText | None) -> Iterator[RecordedAgent]:
        """See `LogFormat.agents`; without a file none is known."""
        return iter(()) if file is None else agents_of_table(file, span)
