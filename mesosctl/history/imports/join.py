"""Demand from those who know it, joined with recorded tasks.

A row with a task's id is joined with the task of that id. One without is joined by framework, role and size: of those
that are alike, the first that was asked for is the first that started. What never started is kept as a task that waits.
Joining the same file again changes nothing, since a row finds first the task that has its time already.
"""

from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import tzinfo
from pathlib import Path
from typing import NamedTuple

from mesosctl.history.contents import chosen_cluster
from mesosctl.history.imports.demand import DemandRow, DemandTable
from mesosctl.history.imports.log_file import opened
from mesosctl.history.imports.marathon_queue import FRAMEWORK as MARATHON
from mesosctl.history.imports.marathon_queue import MarathonQueueFile
from mesosctl.history.interface import DemandedRow, RecordingWriter
from mesosctl.history.records import (
    MICROS,
    DemandFormatName,
    Import,
    Micros,
    RecordedCluster,
    RecordedFramework,
    RecordedTask,
    SkippedRows,
)
from mesosctl.mesos.amounts.notation import counted
from mesosctl.mesos.errors import BadInput

ROUNDING = MICROS
"""A task may seem to start this long before its asked time, because that may be in whole seconds."""
MOST_ROWS = 1_000_000
"""The most rows of a file, which are in memory while they are joined."""
_ROWS_BETWEEN = 5_000
"""Rows after which progress is told."""
NO_FRAMEWORK = "no recorded framework has this id or name"
SEVERAL_FRAMEWORKS = "several frameworks have a task of this id, and the row names none"
ASKED_ALREADY = "the task of this id has another asked time already (--replace replaces it)"
STARTED_BEFORE = "the task of this id started before it was asked for"
NOT_ENOUGH = "no task of this id is recorded, and the row lacks framework, role or resources"
ENDED_BEFORE = "it had ended before the recording begins: a task like it that was asked for later has started"
TOO_EARLY = "it was asked for before the recording begins, no task of it is recorded, and nothing says if it waited on"
TOO_MANY_EARLIER = "more like it were asked for before the recording begins than ran then, so only ids tell them apart"
TOO_LATE = "it was asked for after the recording ends"
WITHDRAWN = "it left the queue, and no task like it started then"
NO_ROLE = "it names no role, and its framework has several"
HARMLESS = frozenset({ASKED_ALREADY, ENDED_BEFORE, TOO_LATE, WITHDRAWN})
"""The causes of rows that no recorded wait lacks."""


class UnjoinedRow(NamedTuple):
    """A row of a file that changed nothing, and why."""

    row: DemandRow
    cause: str


@dataclass(frozen=True, slots=True)
class JoinedDemand:
    """The fate of every row of a file, and what is still unknown."""

    done: Import
    by_id: int
    """Rows that are joined with the task of their id."""
    in_order: int
    """Rows that are joined by framework, role, size and order."""
    never_started: int
    """Rows that are kept as tasks that never started."""
    unjoined: tuple[UnjoinedRow, ...]
    still_unknown: int
    """Recorded tasks of which nobody knows yet when they were asked for."""


def import_demand(  # noqa: PLR0913  # as `history import` has options
    recording: RecordingWriter,
    file: Path,
    of_format: DemandFormatName,
    cluster_id: str | None,
    progress: Callable[[str, float | None], None],
    tell: Callable[[str], None] = lambda _: None,
    *,
    replace: bool = False,
    zone: tzinfo | None = None,
    framework: str | None = None,
) -> JoinedDemand:
    """Join the demand of a file with the tasks of a recording: all of it, or nothing.

    `replace` takes back what earlier files said about the tasks that this one names; `zone` is that of times without
    one, and `framework` the one whose queue it is.  Raises BadInput for a file that cannot be used whole, UsageError
    for a cluster that is not there.
    """
    with recording.transaction(), opened(file, "FILE") as text:
        cluster = chosen_cluster(recording, cluster_id)
        table: DemandTable | MarathonQueueFile
        if of_format == "marathon-queue":
            table = MarathonQueueFile(text, framework or MARATHON)
        else:
            table = DemandTable(text, zone)
        rows: list[DemandRow] = []
        for row in table:
            rows.append(row)
            if len(rows) > MOST_ROWS:
                raise BadInput(
                    f"{file} has more than {MOST_ROWS:,} rows", field="FILE", hint="import it in several parts"
                )
            if len(rows) % _ROWS_BETWEEN == 0:
                progress(f"reading {file.name}: {len(rows):,} rows", text.part())
        if not rows:
            raise BadInput(f"{file} has no rows; nothing was imported", field="FILE")
        found = join_rows(recording, cluster, rows, file.name, of_format, replace=replace)
        for remark in table.remarks():
            tell(remark)
        gaps = list(recording.gaps(cluster.cluster_id))
        if gaps:
            tell(f"{counted(len(gaps), 'gap')} in the recording: what started and ended in one counts as never started")
    return found


def join_rows(
    recording: RecordingWriter,
    cluster: RecordedCluster,
    rows: Sequence[DemandRow],
    name: str,
    of_format: DemandFormatName,
    *,
    replace: bool,
) -> JoinedDemand:
    """Join demand with the tasks of a cluster, within a transaction; `name` is that of the file, or of what told it.

    Raises BadInput for the ids of other tasks.
    """
    recording.begin_import(cluster.cluster_id, name, of_format, again=True)
    join = _Join(recording, cluster, rows, replace=replace)
    join.by_ids()
    join.in_order()
    join.keep_the_rest()
    if join.is_of_other_ids():
        raise BadInput(
            f"no task of {name} is recorded, but tasks of the same framework, role and size are; nothing was imported",
            field="FILE",
            hint="write the ids that the master knows into the column task, or leave that column out",
        )
    join.write()
    done = join.outcome(name, of_format)
    recording.end_import(done.done)
    return done


def _size_of(task: RecordedTask | DemandRow) -> Hashable:
    return task.resources.scalar_quantities()


@dataclass(slots=True)
class _Alike:
    """The recorded tasks of one id."""

    started: list["_Task"] = field(default_factory=list)
    """By when they started."""
    never: list["_Task"] = field(default_factory=list)


class _Task:
    """A recorded task, and what becomes of it."""

    __slots__ = ("asked", "key", "of", "of_log", "taken")

    def __init__(self, row: DemandedRow) -> None:
        self.key = row.key
        self.of = row.task
        self.of_log = row.of_log
        self.asked = row.task.asked
        self.taken = False


class _Join:
    """One file, and the tasks of a cluster."""

    def __init__(
        self, recording: RecordingWriter, cluster: RecordedCluster, rows: Sequence[DemandRow], *, replace: bool
    ) -> None:
        self._recording, self._cluster, self._replace = recording, cluster, replace
        self._frameworks: dict[str, list[RecordedFramework]] = defaultdict(list)
        for framework in recording.frameworks(cluster.cluster_id):
            for word in {framework.id, framework.name}:
                self._frameworks[word].append(framework)
        self._rows = [self._with_role(row) for row in rows]
        self._by_id: dict[str, _Alike] = defaultdict(_Alike)
        self._by_size: dict[Hashable, list[_Task]] = defaultdict(list)
        self._never: dict[Hashable, list[_Task]] = defaultdict(list)
        """By framework, role, size and asked time."""
        self._all: list[_Task] = []
        self._again: list[_Task] = []
        """Those that held something before, and are back with their agent."""
        for row in recording.demanded(cluster.cluster_id):
            task = _Task(row)
            self._all.append(task)
            if row.task.run:
                self._again.append(task)
                continue
            kind = row.task.framework_id, row.task.role, _size_of(row.task)
            if row.task.start is None:
                self._by_id[row.task.id].never.append(task)
                self._never[*kind, row.task.asked].append(task)
            else:
                self._by_id[row.task.id].started.append(task)
                self._by_size[kind].append(task)
        self._joined: dict[int, _Task] = {}
        """By the place of the row."""
        self._kept: dict[int, _Task | str] = {}
        """Rows that never started: the task that has them already, or the id of the framework to which they go."""
        self._unjoined: dict[int, str] = {}
        self._withdrawn: list[_Task] = []
        """Those that an earlier file had as waiting."""
        self._asked_of: dict[Hashable, tuple[Micros | None, Micros | None]] = {}
        """Of those alike: when the last that started was asked for, and the first that waited at the beginning."""

    # --- What belongs together ------------------------------------------------------------------------

    def by_ids(self) -> None:
        """Join the rows that have the id of a task."""
        groups: dict[tuple[str, str | None], list[int]] = defaultdict(list)
        for place, row in enumerate(self._rows):
            if row.task is not None:
                groups[row.task, row.framework].append(place)
        for (task_id, word), places in groups.items():
            alike = self._by_id.get(task_id) or _Alike()
            ids = None if word is None else self._ids(word)
            started = [task for task in alike.started if ids is None or task.of.framework_id in ids]
            if ids is None and len({task.of.framework_id for task in (*started, *alike.never)}) > 1:
                self._unjoined |= dict.fromkeys(places, SEVERAL_FRAMEWORKS)
                continue
            left = self._match(places, started)
            for place in left if started else ():
                later = any(_start_of(task) >= self._rows[place].asked - ROUNDING for task in started)
                self._unjoined[place] = ASKED_ALREADY if later else STARTED_BEFORE

    def in_order(self) -> None:
        """Join the rows without an id: those that are alike in the order in which they were asked for, and started."""
        groups: dict[Hashable, list[int]] = defaultdict(list)
        for place, row in enumerate(self._rows):
            if row.task is None:
                groups[row.framework, row.role, _size_of(row)].append(place)
        begins = self._cluster.first_seen or 0
        for places in groups.values():
            started = sorted(self._alike(self._rows[places[0]]), key=_start_of)
            earlier = sum(self._began_before(self._rows[place], begins) for place in places)
            if earlier > sum(_start_of(task) <= begins for task in started):  # some had ended, or waited
                self._unjoined |= dict.fromkeys(places, TOO_MANY_EARLIER)
            else:
                self._match(places, started)

    def _with_role(self, row: DemandRow) -> DemandRow:
        """The row with the only role of its framework, if a queue names none."""
        if row.role is not None or row.task is not None or row.framework is None:
            return row
        roles = {role for framework in self._frameworks[row.framework] for role in framework.roles}
        return row._replace(role=next(iter(roles))) if len(roles) == 1 else row

    def _ids(self, word: str | None) -> dict[str, RecordedFramework]:
        """The frameworks of an id or a name, the last row of each."""
        return {framework.id: framework for framework in self._frameworks.get(word or "", ())}

    def _alike(self, row: DemandRow) -> list[_Task]:
        """The tasks of the framework, role and size of a row that started."""
        size = _size_of(row)
        return [task for of in self._ids(row.framework) for task in self._by_size.get((of, row.role, size), ())]

    def _match(self, places: Iterable[int], started: Sequence[_Task]) -> list[int]:
        """Join rows with tasks in the order of time; return the places of the rows that are left."""
        places = sorted(places, key=lambda place: self._rows[place].asked)
        free = [task for task in started if not task.taken]
        if self._replace:
            for task in free:
                if not task.of_log:
                    task.asked = None
        known: dict[Micros, deque[_Task]] = defaultdict(deque)
        for task in free:
            if task.asked is not None:
                known[task.asked].append(task)
        left = []
        for place in places:
            same = known.get(self._rows[place].asked)
            if same:
                self._take(place, same.popleft())
            else:
                left.append(place)
        waiting_for_a_row = [task for task in free if task.asked is None]
        starts = [_start_of(task) for task in waiting_for_a_row]
        following = [*range(len(starts) + 1)]
        """By the place of a task, where the next one may be that no row has."""
        over = []
        for place in left:
            row = self._rows[place]
            at = bisect_left(starts, max(row.asked, row.seen or row.asked) - ROUNDING)
            at = _root(following, at)
            if at < len(starts):
                following[at] = at + 1
                self._take(place, waiting_for_a_row[at])
            else:
                over.append(place)
        return over

    def _take(self, place: int, task: _Task) -> None:
        task.taken, task.asked = True, self._rows[place].asked
        self._joined[place] = task

    def keep_the_rest(self) -> None:
        """Keep the rows that are in no task as tasks that never started, as far as they say what is asked for."""
        cluster = self._cluster
        assert cluster.first_seen is not None, "it has tasks"
        assert cluster.last_seen is not None, "it has tasks"
        for place, row in enumerate(self._rows):
            if place in self._joined or place in self._unjoined:
                continue
            ids = self._ids(row.framework)
            known = self._kept_before(row)
            if row.left:
                self._unjoined[place] = WITHDRAWN
                if known is not None and not known.of_log:
                    known.taken = True
                    self._withdrawn.append(known)
            elif known is not None:
                known.taken = True
                self._kept[place] = known
            elif row.task is None and row.role is None:
                self._unjoined[place] = NO_ROLE
            elif not row.says_what:
                self._unjoined[place] = NOT_ENOUGH
            elif not ids:
                self._unjoined[place] = NO_FRAMEWORK
            elif row.asked >= cluster.last_seen:
                self._unjoined[place] = TOO_LATE
            elif (
                self._began_before(row, cluster.first_seen)
                and (fate := self._fate(row, cluster.first_seen)) is not None
            ):
                self._unjoined[place] = fate
            else:
                self._kept[place] = _present_at(max(row.asked, cluster.first_seen), ids.values()).id

    @staticmethod
    def _began_before(row: DemandRow, begins: Micros) -> bool:
        """Whether it may have started before the recording began."""
        return row.asked < begins and (row.seen is None or row.seen < begins)

    def _fate(self, row: DemandRow, begins: Micros) -> str | None:
        """Return why a row that was asked for before the recording begins, and is in no task, is left out; else None.

        Then it waits on. Those that are alike start in the order in which they were asked for.
        """
        kind = row.framework, row.role, _size_of(row)
        if kind not in self._asked_of:
            alike = [(task.asked, _start_of(task)) for task in self._alike(row) if task.asked is not None]
            last = max((asked for asked, _ in alike), default=None)
            first = min((asked for asked, start in alike if start > begins), default=None)
            self._asked_of[kind] = last, first
        last, first = self._asked_of[kind]
        has_started = last is not None and row.asked < last
        has_waited = first is not None and row.asked >= first
        return TOO_EARLY if has_started == has_waited else ENDED_BEFORE if has_started else None

    def _kept_before(self, row: DemandRow) -> _Task | None:
        """The task that never started as far as is recorded, and which a row asks for."""
        ids = self._ids(row.framework)
        if row.task is not None:
            never = self._by_id[row.task].never if row.task in self._by_id else []
            alike = [task for task in never if row.framework is None or task.of.framework_id in ids]
        else:
            size = _size_of(row)
            alike = [task for of in ids for task in self._never.get((of, row.role, size, row.asked), ())]
        return next((task for task in alike if not task.taken and task.of.asked == row.asked), None)

    def is_of_other_ids(self) -> bool:
        """Whether every row has an id, none of which is recorded, though tasks that are alike are."""
        if any(row.task is None or row.task in self._by_id for row in self._rows):
            return False
        return any(
            task.asked is None and _start_of(task) >= self._rows[place].asked
            for place in self._kept
            for task in self._alike(self._rows[place])
        )

    # --- What is written ------------------------------------------------------------------------------

    def write(self) -> None:
        """Write the asked times, and the tasks that never started."""
        recording, cluster_id = self._recording, self._cluster.cluster_id
        for place, kept in self._kept.items():
            if isinstance(kept, str):
                recording.add_task(cluster_id, _never_started(self._rows[place], kept))
        for place in self._joined:  # what was kept as waiting has started since
            known = self._kept_before(self._rows[place])
            if known is not None and not known.of_log:
                known.taken = True
                recording.remove_task(known.key)
        for task in self._withdrawn:
            recording.remove_task(task.key)
        back = {(task.of.framework_id, task.of.id) for task in self._joined.values()}
        for task in self._again:
            if (task.of.framework_id, task.of.id) in back:
                task.asked = task.of.start  # it is wanted again once it is back
        for task in self._all:
            if task.asked != task.of.asked and task not in self._withdrawn:
                recording.set_asked(task.key, task.asked)

    def outcome(self, file: str, of_format: DemandFormatName) -> JoinedDemand:
        """The fate of the rows."""
        unjoined = tuple(UnjoinedRow(self._rows[place], cause) for place, cause in sorted(self._unjoined.items()))
        causes: dict[str, SkippedRows] = {}
        for row, cause in unjoined:
            first = causes.get(cause, SkippedRows(cause, 0, row.line, ""))
            causes[cause] = SkippedRows(cause, first.rows + 1, first.line, "")
        by_id = sum(self._rows[place].task is not None for place in self._joined)
        rows = len(self._rows)
        return JoinedDemand(
            Import(self._cluster.cluster_id, file, of_format, rows, rows - len(unjoined), tuple(causes.values())),
            by_id,
            len(self._joined) - by_id,
            len(self._kept),
            unjoined,
            sum(task.of.start is not None and task.asked is None for task in self._all),
        )


def _start_of(task: _Task) -> Micros:
    assert task.of.start is not None, "it started"
    return task.of.start


def _root(following: list[int], at: int) -> int:
    """Return the first place from `at` on that is its own, and remember it for those on the way."""
    end = at
    while following[end] != end:
        end = following[end]
    while following[at] != end:
        following[at], at = end, following[at]
    return end


def _present_at(at: Micros, frameworks: Iterable[RecordedFramework]) -> RecordedFramework:
    """The framework of a name that was there then; else the last one."""
    known = sorted(frameworks, key=lambda framework: framework.start)
    there = (row for row in known if row.start <= at and (row.end is None or row.end > at))
    return next(there, known[-1])


def _never_started(row: DemandRow, framework_id: str) -> RecordedTask:
    assert row.role is not None, "it says what is asked for"
    return RecordedTask(
        framework_id=framework_id,
        id=row.task or row.name or f"line-{row.line}",
        role=row.role,
        resources=row.resources,
        asked=row.asked,
        lasts=row.lasts,
    )
