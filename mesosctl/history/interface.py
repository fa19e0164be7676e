"""The questions that a recording answers, and how it is written, whatever keeps it; `sqlite` keeps it in a file."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Generic, NamedTuple, Self, TypeVar

from mesosctl.history.records import (
    DEMAND_FORMATS,
    EndCause,
    Gap,
    Import,
    Micros,
    RecordedAgent,
    RecordedCluster,
    RecordedFramework,
    RecordedSetting,
    RecordedTask,
    RowCounts,
    Suppression,
    Window,
)

WHOLE = Window()
Row = TypeVar("Row")


class OpenRow(NamedTuple, Generic[Row]):
    """A row that has not ended, and the key by which it is ended."""

    key: int
    row: Row


class DemandedRow(NamedTuple):
    """The row of a task, as demand is joined with it."""

    key: int
    task: RecordedTask
    of_log: bool
    """Whether a log of another scheduler has it, and so may say itself when it was asked for."""


class Recording(ABC):
    """The rows of a recording. Those of a window are all rows that hold at some moment in it, ordered by `start`.

    A recording may be read while it is written. Every method raises BadInput if the file is damaged, and Conflict if
    another process keeps it too long.
    """

    @abstractmethod
    def clusters(self) -> list[RecordedCluster]:
        """Every cluster, in the order in which they were added."""

    @abstractmethod
    def counts(self, cluster_id: str) -> RowCounts:
        """How many rows a cluster has."""

    @abstractmethod
    def agents(self, cluster_id: str, window: Window = WHOLE) -> Iterator[RecordedAgent]:
        """Agents."""

    @abstractmethod
    def frameworks(self, cluster_id: str, window: Window = WHOLE) -> Iterator[RecordedFramework]:
        """Frameworks."""

    @abstractmethod
    def suppressions(self, cluster_id: str, window: Window = WHOLE) -> Iterator[Suppression]:
        """The times in which it is known whether a framework wanted offers in a role."""

    @abstractmethod
    def tasks(self, cluster_id: str, window: Window = WHOLE) -> Iterator[RecordedTask]:
        """Tasks and executors that held something, also those that began and ended at one moment of the window."""

    @abstractmethod
    def demand(self, cluster_id: str, window: Window = WHOLE) -> Iterator[RecordedTask]:
        """Tasks by when they were wanted: in the window, or before it if they held something or still waited in it.

        Ordered by `asked`, or by `start` of those whose asking nobody recorded. Tasks that never held anything are
        here, executors are not.
        """

    @abstractmethod
    def waiting(self, cluster_id: str, at: Micros) -> Iterator[RecordedTask]:
        """Tasks that were asked for before a moment, and had not started then; ordered by `asked`."""

    @abstractmethod
    def settings(self, cluster_id: str, window: Window = WHOLE) -> Iterator[RecordedSetting]:
        """Quotas, weights, reservations and rate limits."""

    @abstractmethod
    def runs(self, cluster_id: str, window: Window = WHOLE) -> Iterator[Micros]:
        """The times of allocation runs, if the master told them."""

    @abstractmethod
    def gaps(self, cluster_id: str, window: Window = WHOLE) -> Iterator[Gap]:
        """Times in which nothing was seen."""

    @abstractmethod
    def imports(self) -> list[Import]:
        """Every file that was imported."""

    def is_of_log(self, cluster_id: str) -> bool:
        """Whether a log of another scheduler made a cluster, or some of it."""
        return any(done.cluster_id == cluster_id and done.format not in DEMAND_FORMATS for done in self.imports())

    @abstractmethod
    def close(self) -> None:
        """End it."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


class RecordingWriter(Recording):
    """A recording that is written to: by one writer at a time.

    Every method beside `transaction` is called within one. Raises BadInput if nothing can be written, as on a full
    disk: then what was written before stays.
    """

    @abstractmethod
    def transaction(self) -> AbstractContextManager[None]:
        """All of it, on the disk at the end of the block; nothing, after an exception."""

    @abstractmethod
    def put_cluster(self, cluster: RecordedCluster) -> None:
        """Add a cluster, or change the one with its id."""

    @abstractmethod
    def add_agent(self, cluster_id: str, agent: RecordedAgent) -> int:
        """Add it; returns its key."""

    @abstractmethod
    def end_agent(self, key: int, end: Micros, cause: EndCause) -> None:
        """It held until then."""

    @abstractmethod
    def add_framework(self, cluster_id: str, framework: RecordedFramework) -> int:
        """Add it; returns its key."""

    @abstractmethod
    def end_framework(self, key: int, end: Micros) -> None:
        """It held until then."""

    @abstractmethod
    def add_task(self, cluster_id: str, task: RecordedTask) -> int:
        """Add it; returns its key."""

    @abstractmethod
    def end_task(self, key: int, end: Micros, state: str | None, reason: str | None, *, known: bool) -> None:
        """It held its resources until then; `known` if somebody saw it end."""

    @abstractmethod
    def change_task(self, key: int, state: str, reason: str | None) -> None:
        """It is in another state, and holds what it held."""

    @abstractmethod
    def add_suppression(self, cluster_id: str, suppression: Suppression) -> int:
        """Add it; returns its key."""

    @abstractmethod
    def end_suppression(self, key: int, end: Micros) -> None:
        """It held until then."""

    @abstractmethod
    def add_setting(self, cluster_id: str, setting: RecordedSetting) -> int:
        """Add it; returns its key."""

    @abstractmethod
    def end_setting(self, key: int, end: Micros) -> None:
        """It held until then."""

    @abstractmethod
    def add_runs(self, cluster_id: str, times: Iterable[Micros]) -> None:
        """Add those that are not there yet."""

    @abstractmethod
    def add_gap(self, cluster_id: str, gap: Gap) -> None:
        """Add it."""

    @abstractmethod
    def open_agents(self, cluster_id: str) -> list[OpenRow[RecordedAgent]]:
        """Those that have not ended."""

    @abstractmethod
    def open_frameworks(self, cluster_id: str) -> list[OpenRow[RecordedFramework]]:
        """Those that have not ended."""

    @abstractmethod
    def open_tasks(self, cluster_id: str) -> list[OpenRow[RecordedTask]]:
        """Those that have not ended, executors too."""

    @abstractmethod
    def open_suppressions(self, cluster_id: str) -> list[OpenRow[Suppression]]:
        """Those that have not ended."""

    @abstractmethod
    def open_settings(self, cluster_id: str) -> list[OpenRow[RecordedSetting]]:
        """Those that have not ended."""

    @abstractmethod
    def demanded(self, cluster_id: str) -> Iterator[DemandedRow]:
        """Every task, by when it started, and after these those that never did; executors are not here."""

    @abstractmethod
    def set_asked(self, key: int, asked: Micros | None) -> None:
        """Set when it was asked for; None if that is unknown after all."""

    @abstractmethod
    def remove_task(self, key: int) -> None:
        """Remove it: nobody asked for it."""

    @abstractmethod
    def begin_import(self, cluster_id: str, file: str, of_format: str, *, again: bool = False) -> None:
        """Rows that are added from here on are those of this file, until `end_import`.

        With `again`, those of an earlier import of the same file and format are its own too.
        """

    @abstractmethod
    def replace_earlier(self, *, allowed: bool) -> int:
        """Remove what earlier imports of the cluster have of the tasks of this one, for overlapping times.

        Returns how many rows that were. Raises Conflict if there are any and that is not `allowed`. Agents and
        frameworks are added afterwards, those of the same id extend the ones that are there.
        """

    @abstractmethod
    def end_import(self, done: Import) -> None:
        """Keep what became of the rows of the file."""

    @abstractmethod
    def prune(self, cluster_id: str, before: Micros) -> int:
        """Remove what ended before; returns how many rows."""
