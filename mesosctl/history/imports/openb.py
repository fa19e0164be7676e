"""The public GPU trace "openb" (clusterdata, cluster-trace-gpu-v2023): pods, and a table of its nodes."""

import math
from collections.abc import Iterator, Mapping
from datetime import tzinfo
from typing import ClassVar

from mesosctl.history.imports.log_file import LogText
from mesosctl.history.imports.rows import (
    FrameworkOfTask,
    LocalTimes,
    LogFormat,
    LogSpan,
    NamedColumns,
    Unusable,
    agent_row,
    amounts,
    check_amounts,
    check_new_agent,
    maybe_micros_in,
    micros_in,
    milli_in,
    number_in,
    role_in,
)
from mesosctl.history.records import RecordedAgent, RecordedTask

Row = dict[str, str]
_NEEDED = (
    "name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli", "creation_time", "deletion_time", "scheduled_time",
)  # fmt: skip
_NODE_NEEDED = ("sn", "cpu_milli", "memory_mib", "gpu")
_NODES = "the file of --agents"
_STATES = {"Succeeded": "TASK_FINISHED", "Failed": "TASK_FAILED", "Running": "TASK_RUNNING"}


class Openb(LogFormat[Row]):
    """`--format openb`; one framework for each role."""

    name: ClassVar[str] = "openb"
    columns: ClassVar[Mapping[str, str]] = {
        "asked": "creation_time", "start": "scheduled_time", "end": "deletion_time", "lasts": "deletion_time",
        "cpus": "cpu_milli", "mem": "memory_mib", "gpus": "gpu_milli",
    }  # fmt: skip

    def __init__(self, role_by: str, file_name: str, zone: tzinfo | None = None) -> None:
        self._role_by = role_by
        self._local = LocalTimes(zone)
        self._file_name = file_name
        self._table: NamedColumns | None = None

    def rows(self, file: LogText) -> Iterator[tuple[int, Row]]:
        """See `LogFormat.rows`."""
        self._table = NamedColumns(file, self._file_name, (*_NEEDED, self._role_by))
        return iter(self._table)

    def remarks(self) -> list[str]:
        """See `LogFormat.remarks`."""
        return self._local.remarks(self._file_name)

    def task(self, line: int, row: Row) -> tuple[RecordedTask, FrameworkOfTask]:
        """See `LogFormat.task`."""
        del line
        assert self._table is not None, "rows are read first"
        self._table.check_length(row)
        role = role_in(row[self._role_by], self._role_by)
        asked = micros_in(row["creation_time"], "creation_time", self._local)
        start, end = (maybe_micros_in(row, column, self._local) for column in ("scheduled_time", "deletion_time"))
        self.check_order(asked, start, end)
        gpus = number_in(row["num_gpu"], "num_gpu") * milli_in(row["gpu_milli"], "gpu_milli", factor=1)
        if gpus < 0:
            raise Unusable("num_gpu is below zero", "num_gpu")
        if not math.isfinite(gpus):
            raise Unusable("num_gpu is out of range", "num_gpu")
        task = RecordedTask(
            framework_id=role,
            id=row["name"],
            role=role,
            resources=amounts(
                {
                    "cpus": milli_in(row["cpu_milli"], "cpu_milli", factor=1),
                    "mem": milli_in(row["memory_mib"], "memory_mib"),
                    "gpus": round(gpus),
                }
            ),
            asked=asked,
            start=start,
            end=None if start is None else end,
            lasts=end - asked if start is None and end is not None else None,
            state=_STATES.get(row.get("pod_phase", "")),
        )
        return task, FrameworkOfTask(role, capabilities=("GPU_RESOURCES",))

    def agents(self, span: LogSpan, file: LogText | None) -> Iterator[RecordedAgent]:
        """See `LogFormat.agents`; without a file none is known."""
        if file is not None:
            names: set[str] = set()
            for line, row in NamedColumns(file, _NODES, _NODE_NEEDED, "--agents"):
                node = _node(line, row, span)
                check_new_agent(names, node.id, line, _NODES)
                yield node


def _node(line: int, row: Row, span: LogSpan) -> RecordedAgent:
    try:
        total = amounts(
            {
                "cpus": milli_in(row["cpu_milli"], "cpu_milli", factor=1),
                "mem": milli_in(row["memory_mib"], "memory_mib"),
                "gpus": milli_in(row["gpu"], "gpu"),
            }
        )
        check_amounts(total, {})
    except (Unusable, KeyError) as error:
        raise agent_row(
            line, _NODES, error if isinstance(error, Unusable) else Unusable("it is too short", "")
        ) from None
    attributes: dict[str, str | float] = {"model": row["model"]} if row.get("model") else {}
    return RecordedAgent(row["sn"], row["sn"], total, span.start, span.end, attributes=attributes)
