"""A recording in one SQLite file: many readers, one writer, safe against a kill at any moment.

`schema.sql` is the form of the file. Times in it are seconds, because people read it with other tools; the rows of
`records` have microseconds.
"""

import errno
import json
import os
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import cache, cached_property
from heapq import merge
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta

from mesosctl.files.reading import LARGEST_TEXT, NoFile, open_file
from mesosctl.files.writing import is_itself_locked, lock_at_once, lock_itself, without_links
from mesosctl.history.agents_of_logs import agents_of_logs
from mesosctl.history.contents import recording_commands
from mesosctl.history.interface import WHOLE, DemandedRow, OpenRow, Recording, RecordingWriter
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
    SettingKind,
    SkippedRows,
    Suppression,
    Window,
    to_micros,
    to_seconds,
)
from mesosctl.history.setting_values import check_value
from mesosctl.mesos.amounts.identity import IdentityCache
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.amounts.values import Items
from mesosctl.mesos.errors import BadInput, Conflict, MesosctlError
from mesosctl.mesos.messages.resources import list_to_json, to_model
from mesosctl.suggestion import command

SCHEMA_VERSION = 3
_OLDEST = 1
"""No settings of the kind lending, which came with 2, and neither a profile of a cluster nor settings of the kind out
of service, which came with 3; a writer makes it the present version."""
APPLICATION_ID = 0x6D65736F
"""Says that a file is a recording: "meso"."""
_SCHEMA = Path(__file__).with_name("schema.sql")
_FIELD = "--history"
_SECONDS_TO_WAIT = 10.0
"""How long another process may keep the file."""
_MOST_KNOWN = 16 << 20
"""The most characters of names, or of resources, that are kept in memory."""
_EACH = 100
"""The characters that each of them counts in any case."""
_MOST_OBJECTS = 4096
"""The most resources that are known by identity: they are kept too, and those of an import are all different."""
_LARGEST_VALUE = LARGEST_TEXT
"""The most bytes of one value in a file, such as the roles of a framework."""
_PRIMARY = 0xFF
_LOCK = ".lock"
"""The end of the name of the file beside a recording that its writer holds."""
_HINTS = {
    sqlite3.SQLITE_BUSY: "another process is using it: wait until it ends",
    sqlite3.SQLITE_LOCKED: "another process is using it: wait until it ends",
    sqlite3.SQLITE_FULL: "make room on its disk; what was written before is whole",
    sqlite3.SQLITE_IOERR: "check whether its disk is full, over quota or failing; what was written before is whole",
    sqlite3.SQLITE_READONLY: "check that it and its folder are writable",
    sqlite3.SQLITE_CANTOPEN: "check that it and its folder are writable, and that the disk is not full",
    sqlite3.SQLITE_PERM: "check that it and its folder are writable",
}
Row = TypeVar("Row")
Key = TypeVar("Key")
Known = TypeVar("Known")


def open_recording(path: Path) -> Recording:
    """Open a recording to read it.  Raises BadInput, which says what is wrong with the file."""
    return SqliteRecording(path)


def open_writer(path: Path, *, is_made: bool = True) -> RecordingWriter:
    """Open a recording to write to it, and make it if there is none, unless it has to be there.

    Raises BadInput as `open_recording`, and Conflict if another process writes to it.
    """
    with _explained(path):
        if not is_made and not path.exists():
            raise _missing(path)
    return SqliteWriter(path)


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Say in one sentence why a file cannot be used."""
    try:
        yield
    except sqlite3.Error as error:
        raise _explanation(path, error) from None
    except UnicodeDecodeError:  # of SQLite's own words about a damaged row too
        raise _damaged(path, "a text in it is not UTF-8") from None
    except OSError as error:
        kind = sqlite3.SQLITE_FULL if error.errno == errno.ENOSPC else sqlite3.SQLITE_CANTOPEN
        hint = None if isinstance(error, NoFile) else _HINTS[kind]
        raise BadInput(f"{path} cannot be used: {error.strerror}", field=_FIELD, hint=hint) from None


def _explanation(path: Path, error: sqlite3.Error) -> MesosctlError:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & _PRIMARY
    if code == sqlite3.SQLITE_NOTADB:
        return _no_recording(path, "it is not a SQLite file")
    if code == sqlite3.SQLITE_TOOBIG:
        return BadInput(f"{path} cannot be used: a value is larger than {_LARGEST_VALUE >> 20} MiB", field=_FIELD)
    if code not in _HINTS:
        return _damaged(path, str(error))
    kind = Conflict if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED) else BadInput
    return kind(f"{path} cannot be used: {error}", field=_FIELD, hint=_HINTS[code])


def _damaged(path: Path, what: str) -> BadInput:
    return BadInput(
        f"{path} is damaged: {what}",
        field=_FIELD,
        hint="SQLite's own command may save what is readable: sqlite3 FILE .recover",
    )


def _no_recording(path: Path, why: str) -> BadInput:
    return BadInput(f"{path} is not a recording: {why}", field=_FIELD, hint=f"{recording_commands()} make one")


def _missing(path: Path) -> BadInput:
    return BadInput(
        f"there is no recording {path}", field=_FIELD, hint=f"{command('history record', history='FILE')} makes one"
    )


def _check_name(path: Path) -> None:
    """Raise BadInput for what cannot be the name of a file."""
    if not path.name or path.is_dir():
        raise BadInput(
            f"{path} is a directory, not a recording", field=_FIELD, hint=f"name a file in it: {path / 'h.sqlite'}"
        )


def _make_file(path: Path) -> None:
    """Make an empty recording, and rename it into place, so that nobody sees half of one; its lock is held."""
    beside = _beside(path, f".{os.getpid()}.new")
    beside.unlink(missing_ok=True)  # left by a process that was killed
    try:
        os.close(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600))
        with closing(sqlite3.connect(beside, isolation_level=None)) as new:
            new.executescript(_SCHEMA.read_text(encoding="utf-8"))
            new.execute(f"PRAGMA application_id={APPLICATION_ID}")
            new.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


class _Lately(dict[Key, Known]):
    """The values of the latest keys: all of them are forgotten once they take too much memory."""

    def __init__(self) -> None:
        super().__init__()
        self._left = _MOST_KNOWN

    def keep(self, key: Key, value: Known, characters: int) -> Known:
        """Remember a value, which takes the memory of this number of characters."""
        self._left -= _EACH + characters
        if self._left < 0:
            self.clear()
            self._left -= _EACH + characters
        self[key] = value
        return value

    def is_full(self) -> bool:
        """Whether half of the room is taken."""
        return self._left < _MOST_KNOWN // 2

    def clear(self) -> None:
        """Forget everything."""
        super().clear()
        self._left = _MOST_KNOWN


class _Words:
    """The ids and words of a file, and the collections of resources, each read once."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection, self._path = connection, path
        self._texts: _Lately[int, str] = _Lately()
        self._numbers: _Lately[str, int] = _Lately()
        self._resources: _Lately[int, Resources] = _Lately()
        self._places: _Lately[str, int] = _Lately()
        self._numbers_of_objects = IdentityCache(self._number_of_resources, most=_MOST_OBJECTS)
        """The same by the identity of the value, which most tasks of a role share."""
        self._size_of_objects = 0

    def text(self, number: int | None) -> str | None:
        """The word of a number; None for none."""
        return None if number is None else self.named(number)

    def named(self, number: int) -> str:
        """The word of a number."""
        found = self._texts.get(number)
        if found is None:
            row = self._connection.execute("SELECT text FROM names WHERE name = ?", (number,)).fetchone()
            if row is None:
                raise sqlite3.DatabaseError(f"it has no name {number}")
            if not isinstance(row[0], str):
                raise sqlite3.DatabaseError(f"the name {number} is {row[0]!r:.60}")
            found = self._texts.keep(number, row[0], len(row[0]))
        return found

    def resources(self, number: int) -> Resources:
        """The resources of a number."""
        found = self._resources.get(number)
        if found is None:
            row = self._connection.execute("SELECT text, json FROM resources WHERE resources = ?", (number,)).fetchone()
            if row is None:
                raise sqlite3.DatabaseError(f"it has no resources {number}")
            found = self._resources.keep(number, _resources_of(*row), _of_object(row[1] or row[0]))
        return found

    def number(self, text: str | None) -> int | None:
        """The number of a word, which is added if it is new; None for None."""
        return None if text is None else self.number_of(text)

    def number_of(self, text: str) -> int:
        """The number of a word, which is added if it is new."""
        found = self._numbers.get(text)
        if found is None:
            with _explained(self._path):
                row = self._connection.execute("SELECT name FROM names WHERE text = ?", (text,)).fetchone()
                if row is None:
                    row = (self._connection.execute("INSERT INTO names (text) VALUES (?)", (text,)).lastrowid,)
            found = self._numbers.keep(text, int(row[0]), len(text))
        return found

    def number_of_resources(self, resources: Resources) -> int:
        """The number of resources; those that were not met lately are added, maybe again."""
        return self._numbers_of_objects.of(resources)

    def _number_of_resources(self, resources: Resources) -> int:
        text = resources.text(with_roles=False)
        full = text if _says_all(resources) else json.dumps(list_to_json(resources, "POST"))
        number = self._places.get(full)
        if number is None:
            with _explained(self._path):
                statement = "INSERT INTO resources (text, json) VALUES (?, ?)"
                added = self._connection.execute(statement, (text, None if full is text else full)).lastrowid
            number = self._places.keep(full, added or 0, len(full))
        self._size_of_objects += _of_object(full)
        if self._size_of_objects > _MOST_KNOWN:
            self._numbers_of_objects.clear()
            self._size_of_objects = _of_object(full)
        return number

    def know_resources(self) -> None:
        """Remember those of the file, so that they are not added again."""
        self._places.clear()
        for full, number in self._connection.execute(
            "SELECT coalesce(json, text), resources FROM resources ORDER BY resources DESC"
        ):
            if self._places.is_full():
                break
            self._places.keep(full, number, len(full))

    def forget_new(self) -> None:
        """Forget what a transaction added that is undone."""
        self._numbers.clear()
        self._texts.clear()
        self._resources.clear()
        self._places.clear()
        self._numbers_of_objects.clear()


def _of_object(text: str) -> int:
    """The characters that take about as much memory as the resources of a text."""
    return 1000 + 8 * len(text)


def _says_all(resources: Resources) -> bool:
    """Whether the text of resources has everything that distinguishes them, and can be parsed."""
    return all(
        not (entry.reservations or entry.disk or entry.revocable or entry.shared or entry.provider_id)
        and _PLAIN_NAME.fullmatch(entry.name)
        and not isinstance(entry.value, Items)
        for entry in resources
    )


_PLAIN_NAME = re.compile(r"[A-Za-z0-9_.-]+")


def _resources_of(text: str, full: str | None) -> Resources:
    try:
        if full is None:
            return Resources() if text == "{}" else parse_resources(text)
        return Resources(to_model(entry) for entry in json.loads(full))
    except (MesosctlError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise sqlite3.DatabaseError(f"the resources '{text}' cannot be read: {error}") from None


def _maybe_micros(seconds: float | None) -> Micros | None:
    return None if seconds is None else to_micros(seconds)


def _maybe_seconds(micros: Micros | None) -> float | None:
    return None if micros is None else to_seconds(micros)


class SqliteRecording(Recording):
    """See `Recording`; `path` is opened to read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with _explained(path):
            _check_name(path)
            if not path.exists():
                raise _missing(path)
            self._connection = self._connect()
        try:
            with _explained(path):
                self._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LARGEST_VALUE)
                self._check()
        except BaseException:
            self._connection.close()
            raise
        self._words = _Words(self._connection, path)

    def _connect(self) -> sqlite3.Connection:
        with open_file(self._path) as file:
            if not file.read(16).startswith(b"SQLite format 3\0"):
                raise _no_recording(self._path, "it is not a SQLite file")
        # Readers of a WAL make files beside it, unless nobody can write there; beside the file, and not a link to it.
        target = Path(os.path.realpath(self._path))
        if target.stat().st_nlink > 1 and _size(_beside(target, "-wal")) == 0 and is_itself_locked(target):
            raise Conflict(
                f"another process is writing to {self._path} by another name (a hard link), and what it wrote last is "
                "beside that name",
                field=_FIELD,
                hint="name the file that it writes to, or wait until it ends",
            )
        is_alone = not os.access(target.parent, os.W_OK) and not _beside(target, "-wal").exists()
        mode = "mode=ro&immutable=1" if is_alone else "mode=ro"
        return sqlite3.connect(
            f"{self._path.absolute().as_uri()}?{mode}", uri=True, timeout=_SECONDS_TO_WAIT, isolation_level=None
        )

    def _check(self) -> None:
        """Raise BadInput unless the file is a whole recording of this version."""
        if self._pragma("application_id") != APPLICATION_ID:
            raise _no_recording(self._path, "it is another program's database")
        version = self._pragma("user_version")
        if not _OLDEST <= version <= SCHEMA_VERSION:
            raise BadInput(
                f"{self._path} was written by another version of mesosctl: its schema is {version}, and this version "
                f"knows {_OLDEST} to {SCHEMA_VERSION}",
                field=_FIELD,
                hint="use the version that wrote it, or a newer one",
            )
        self._check_tables()
        (fault,) = self._connection.execute("PRAGMA integrity_check(1)").fetchone()
        if fault != "ok":
            raise _damaged(self._path, str(fault))
        self._check_times()

    def _check_tables(self) -> None:
        """Raise BadInput unless every table is one: a view of another program could have rows without end."""
        query = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
        there = {name for (name,) in self._connection.execute(query)}
        wanted = ("names", "resources", *(columns.table for columns in _ALL))
        missing = next((name for name in wanted if name not in there), None)
        if missing is not None:
            raise _damaged(self._path, f"it has no table {missing}")

    def _check_times(self) -> None:
        """Raise BadInput for a time that no calendar has: a question about a window might find its row, or not."""
        for columns in _ALL:
            bounds = ", ".join(f"min({time}), max({time})" for time in columns.times)
            if not bounds:
                continue
            # SQLite puts a text after every number, so the latest one shows it.
            found = self._connection.execute(f"SELECT {bounds} FROM {columns.table}").fetchone()  # noqa: S608
            for at, moment in enumerate(found):
                try:
                    msgspec.convert(moment, _Time | None)
                except msgspec.ValidationError:
                    time = columns.times[at // 2]
                    raise _damaged(self._path, f"{time} in {columns.table} is {moment!r:.60}") from None

    def _pragma(self, name: str) -> int:
        return int(self._connection.execute(f"PRAGMA {name}").fetchone()[0])

    def close(self) -> None:
        """See `Recording.close`."""
        self._connection.close()

    def clusters(self) -> list[RecordedCluster]:
        """See `Recording.clusters`."""
        names = _CLUSTER.names if self._has_profiles() else _CLUSTER.names.replace("mesos_profile", "NULL")
        query = f"SELECT {names} FROM clusters ORDER BY cluster"  # noqa: S608  # our own words
        return list(self._rows(query, (), self._recorded_cluster))

    def counts(self, cluster_id: str) -> RowCounts:
        """See `Recording.counts`."""
        number = self._cluster(cluster_id)
        queries = (
            "SELECT count(DISTINCT agent) FROM agent_rows WHERE cluster = ?",
            "SELECT count(DISTINCT framework) FROM framework_rows WHERE cluster = ?",
            "SELECT count(*) FROM task_rows WHERE cluster = ? AND run = 0 AND NOT is_executor",
            "SELECT count(*) FROM task_rows WHERE cluster = ? AND run = 0 AND is_executor",
            "SELECT count(*) FROM settings WHERE cluster = ?",
            "SELECT count(*) FROM runs WHERE cluster = ?",
            "SELECT count(*) FROM gaps WHERE cluster = ?",
        )
        with _explained(self._path):
            return RowCounts(*(int(self._connection.execute(query, (number,)).fetchone()[0]) for query in queries))

    def agents(self, cluster_id: str, window: Window = WHOLE) -> Iterator[RecordedAgent]:
        """See `Recording.agents`."""
        with _explained(self._path):
            query = "SELECT count(*) FROM imports WHERE cluster = ?"
            (imports,) = self._connection.execute(query, (self._cluster(cluster_id),)).fetchone()
        if imports < 2:
            return self._in_window(_AGENT, cluster_id, window, self._agent)
        seen = self._in_window(_AGENT, cluster_id, window, self._agent, "import IS NULL")
        named = self._in_window(_AGENT, cluster_id, WHOLE, self._agent, "import IS NOT NULL")
        return merge(seen, agents_of_logs(named, window), key=lambda row: row.start)

    def frameworks(self, cluster_id: str, window: Window = WHOLE) -> Iterator[RecordedFramework]:
        """See `Recording.frameworks`."""
        return self._in_window(_FRAMEWORK, cluster_id, window, self._framework)

    def suppressions(self, cluster_id: str, window: Window = WHOLE) -> Iterator[Suppression]:
        """See `Recording.suppressions`."""
        return self._in_window(_SUPPRESSION, cluster_id, window, self._suppression)

    def tasks(self, cluster_id: str, window: Window = WHOLE) -> Iterator[RecordedTask]:
        """See `Recording.tasks`."""
        since, until = _bounds(window)
        query = (
            f"SELECT {_TASK.names} FROM task_rows WHERE cluster = ? AND from_time < ?"  # noqa: S608  # our own words
            " AND (coalesce(to_time, 9e99) > ? OR from_time >= ?) ORDER BY from_time, rowid"
        )
        return self._rows(query, (self._cluster(cluster_id), until, since, since), self._task)

    def demand(self, cluster_id: str, window: Window = WHOLE) -> Iterator[RecordedTask]:
        """See `Recording.demand`."""
        since, until = _bounds(window)
        marks = ", ".join("?" * len(DEMAND_FORMATS))
        query = (
            f"SELECT {_TASK.names} FROM task_rows WHERE cluster = ? AND NOT is_executor"  # noqa: S608  # our own words
            " AND coalesce(asked_time, from_time) < ?"
            " AND (coalesce(asked_time, from_time) >= ?"
            " OR coalesce(CASE WHEN from_time IS NOT NULL THEN to_time"
            f" WHEN NOT import IN (SELECT import FROM imports WHERE format IN ({marks}))"
            " THEN asked_time + lasts END, 9e99) > ?)"
            " ORDER BY coalesce(asked_time, from_time), task_row"
        )
        return self._rows(query, (self._cluster(cluster_id), until, since, *DEMAND_FORMATS, since), self._task)

    def waiting(self, cluster_id: str, at: Micros) -> Iterator[RecordedTask]:
        """See `Recording.waiting`."""
        query = (
            f"SELECT {_TASK.names} FROM task_rows WHERE cluster = ? AND NOT is_executor"  # noqa: S608  # our own words
            " AND asked_time < ? AND coalesce(from_time, 9e99) >= ? ORDER BY asked_time, task_row"
        )
        return self._rows(query, (self._cluster(cluster_id), to_seconds(at), to_seconds(at)), self._task)

    def settings(self, cluster_id: str, window: Window = WHOLE) -> Iterator[RecordedSetting]:
        """See `Recording.settings`."""
        return self._in_window(_SETTING, cluster_id, window, self._setting)

    def runs(self, cluster_id: str, window: Window = WHOLE) -> Iterator[Micros]:
        """See `Recording.runs`."""
        query = "SELECT time FROM runs WHERE cluster = ? AND time >= ? AND time < ? ORDER BY time"
        return self._rows(query, (self._cluster(cluster_id), *_bounds(window)), _run)

    def gaps(self, cluster_id: str, window: Window = WHOLE) -> Iterator[Gap]:
        """See `Recording.gaps`."""
        return self._in_window(_GAP, cluster_id, window, _gap)

    def imports(self) -> list[Import]:
        """See `Recording.imports`."""
        query = (
            "SELECT cluster_id, file, format, rows, used, skipped FROM imports JOIN clusters USING (cluster)"
            " ORDER BY import"
        )
        return list(self._rows(query, (), _import))

    def _cluster(self, cluster_id: str) -> int:
        with _explained(self._path):
            query = "SELECT cluster FROM clusters WHERE cluster_id = ?"
            row = self._connection.execute(query, (cluster_id,)).fetchone()
        if row is None:
            raise BadInput(f"{self._path} has no cluster '{cluster_id}'", field="--cluster-id")
        return int(row[0])

    def _in_window(
        self, columns: "_Columns", cluster_id: str, window: Window, make: Callable[[Any], Row], such: str = "1"
    ) -> Iterator[Row]:
        """The rows of a table that hold at some moment of a window, by time; only `such` rows."""
        since, until = _bounds(window)
        query = (
            f"SELECT {columns.names} FROM {columns.table} WHERE cluster = ? AND from_time < ?"  # noqa: S608  # our own words
            f" AND coalesce(to_time, 9e99) > ? AND {such} ORDER BY from_time, rowid"
        )
        return self._rows(query, (self._cluster(cluster_id), until, since), make)

    def _rows(self, query: str, values: Iterable[Any], make: Callable[[Any], Row]) -> Iterator[Row]:
        """The rows of a query, one after the other."""
        with _explained(self._path):
            try:
                for row in self._connection.execute(query, tuple(values)):
                    yield make(row)
            except (TypeError, ValueError, KeyError, AttributeError, msgspec.MsgspecError) as error:
                raise _damaged(self._path, f"a row cannot be read: {error}") from None

    def _recorded_cluster(self, row: Any) -> RecordedCluster:
        cluster_id, address, version, first, last, clean_end, principal, steps, profile = _CLUSTER.checked(row)
        return RecordedCluster(
            cluster_id, address, version, _maybe_micros(first), _maybe_micros(last), bool(clean_end), principal, steps,
            profile,
        )  # fmt: skip

    def _has_profiles(self) -> bool:
        columns = self._connection.execute("PRAGMA table_info(clusters)")
        return any(column[1] == "mesos_profile" for column in columns)

    def _agent(self, row: Any) -> RecordedAgent:
        agent, host, total, start, end, cause, attributes = _AGENT.checked(row)
        return RecordedAgent(
            self._words.named(agent), host, self._words.resources(total), *_span(start, end), cause,
            _ATTRIBUTES.decode(attributes),
        )  # fmt: skip

    def _framework(self, row: Any) -> RecordedFramework:
        framework, name, roles, start, end, principal, capabilities = _FRAMEWORK.checked(row)
        return RecordedFramework(
            self._words.named(framework), name, _WORDS.decode(roles), *_span(start, end), principal,
            _WORDS.decode(capabilities),
        )  # fmt: skip

    def _suppression(self, row: Any) -> Suppression:
        framework, role, suppressed, start, end = _SUPPRESSION.checked(row)
        named = self._words.named
        return Suppression(named(framework), named(role), bool(suppressed), *_span(start, end))

    def _setting(self, row: Any) -> RecordedSetting:
        kind, name, value, start, end = _SETTING.checked(row)
        if kind == "reservation":
            _resources_of(value, value)
        else:
            check_value(kind, value)
        return RecordedSetting(kind, name, value, *_span(start, end))

    def _task(self, row: Any) -> RecordedTask:
        words, row = self._words, _TASK.checked(row)
        asked, lasts = _maybe_micros(row[5]), _maybe_micros(row[8])
        start, end = (None, None) if row[6] is None else _span(row[6], row[7])
        return RecordedTask(
            framework_id=words.named(row[0]),
            id=row[1],
            role=words.named(row[2]),
            resources=words.resources(row[3]),
            agent_id=words.text(row[4]),
            asked=asked,
            start=start,
            end=end,
            lasts=lasts,
            state=words.text(row[9]),
            reason=words.text(row[10]),
            start_known=bool(row[11]),
            end_known=bool(row[12]),
            is_executor=bool(row[13]),
            run=row[14],
        )


_Time = Annotated[float, Meta(ge=0, le=253_402_300_800)]
"""Seconds since 1970, until the last day of Python's calendar."""
_Flag = Annotated[int, Meta(ge=0, le=1)]


@dataclass(frozen=True)
class _Columns:
    """Columns of a table that are read and written, in this order, and what each of them may hold."""

    table: str
    kinds: Mapping[str, Any]

    @cached_property
    def names(self) -> str:
        """Their names, as in a statement."""
        return ", ".join(self.kinds)

    @cached_property
    def times(self) -> tuple[str, ...]:
        """The names of those that hold times or spans."""
        return tuple(name for name, kind in self.kinds.items() if kind in (_Time, _Time | None))

    @cached_property
    def _row(self) -> Any:
        return tuple[tuple(self.kinds.values())]  # type: ignore[misc]  # it is made at run time

    def checked(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """The values of a row.  Raises sqlite3.DatabaseError for one that another program wrote, and none of ours."""
        try:
            row: tuple[Any, ...] = msgspec.convert(values, self._row)
        except msgspec.ValidationError:
            raise sqlite3.DatabaseError(self._wrong(values)) from None
        return row

    def _wrong(self, values: tuple[Any, ...]) -> str:
        for (name, kind), value in zip(self.kinds.items(), values, strict=True):
            try:
                msgspec.convert(value, kind)
            except msgspec.ValidationError:
                return f"{name} in {self.table} is {value!r:.60}"
        return f"a row in {self.table} cannot be read"


_CLUSTER = _Columns("clusters", {
    "cluster_id": str, "address": str, "version": str | None, "first_time": _Time | None, "last_time": _Time | None,
    "clean_end": _Flag, "principal": str | None, "clock_steps": int, "mesos_profile": str | None,
})  # fmt: skip
_AGENT = _Columns("agent_rows", {
    "agent": int, "host": str, "resources": int, "from_time": _Time, "to_time": _Time | None,
    "cause": EndCause | None, "attributes": str,
})  # fmt: skip
_FRAMEWORK = _Columns("framework_rows", {
    "framework": int, "framework_name": str, "roles": str, "from_time": _Time, "to_time": _Time | None,
    "principal": str | None, "capabilities": str,
})  # fmt: skip
_SUPPRESSION = _Columns("suppressed_rows", {
    "framework": int, "role": int, "suppressed": _Flag, "from_time": _Time, "to_time": _Time | None,
})  # fmt: skip
_SETTING = _Columns("settings", {
    "kind": SettingKind, "name": str, "value": str, "from_time": _Time, "to_time": _Time | None,
})  # fmt: skip
_TASK = _Columns("task_rows", {
    "framework": int, "task": str, "role": int, "resources": int, "agent": int | None, "asked_time": _Time | None,
    "from_time": _Time | None, "to_time": _Time | None, "lasts": _Time | None, "state": int | None,
    "reason": int | None, "from_known": _Flag, "to_known": _Flag, "is_executor": _Flag,
    "run": Annotated[int, Meta(ge=0)],
})  # fmt: skip
_RUN = _Columns("runs", {"time": _Time})
_GAP = _Columns("gaps", {"from_time": _Time, "to_time": _Time})
_IMPORT = _Columns("imports", {"file": str, "format": str, "rows": int, "used": int, "skipped": str})
_ALL = (_CLUSTER, _AGENT, _FRAMEWORK, _SUPPRESSION, _SETTING, _TASK, _RUN, _GAP, _IMPORT)


class _Skipped(msgspec.Struct):
    """The rows of an import that were skipped for a cause."""

    rows: int
    line: int
    column: str


_ATTRIBUTES = msgspec.json.Decoder(dict[str, str | float])
_WORDS = msgspec.json.Decoder(tuple[str, ...])
_SKIPPED = msgspec.json.Decoder(dict[str, _Skipped])


def _bounds(window: Window) -> tuple[float, float]:
    """Since and until in seconds."""
    since, until = _maybe_seconds(window.since), _maybe_seconds(window.until)
    return -9e99 if since is None else since, 9e99 if until is None else until


def _span(start: float, end: float | None) -> tuple[Micros, Micros | None]:
    """When a row begins and ends.  Raises ValueError for one that ends before it begins."""
    if end is not None and end < start:
        raise ValueError(f"it ends at {end}, before it begins at {start}")
    return to_micros(start), _maybe_micros(end)


def _run(row: Any) -> Micros:
    (at,) = _RUN.checked(row)
    return to_micros(at)


def _gap(row: Any) -> Gap:
    start, end = _span(*_GAP.checked(row))
    assert end is not None, "every gap has an end"
    return Gap(start, end)


def _import(row: Any) -> Import:
    file, form, rows, used, skipped = _IMPORT.checked(row[1:])
    return Import(row[0], file, form, rows, used, _skipped_rows(skipped))


def _skipped_rows(text: str) -> tuple[SkippedRows, ...]:
    return tuple(
        SkippedRows(cause, skipped.rows, skipped.line, skipped.column)
        for cause, skipped in _SKIPPED.decode(text).items()
    )


class SqliteWriter(SqliteRecording, RecordingWriter):
    """See `RecordingWriter`; `path` is made if there is none (mode 0600)."""

    def __init__(self, path: Path) -> None:
        with _explained(path):
            target = without_links(path)
            path = path if target == path.absolute() else target
            _check_name(path)
        self._locks = [_locked(path)]
        self._lock_file = _beside(path, _LOCK)
        self._is_new = False
        self._import: int | None = None
        self._keys: dict[str, int] = {}
        try:
            with _explained(path):
                if not path.exists():
                    _make_file(path)
                    self._is_new = True
                self._locks.append(_itself_locked(path))
            super().__init__(path)
            with _explained(path):
                self._connection.execute("PRAGMA journal_mode=WAL")
                self._connection.execute("PRAGMA synchronous=FULL")
                if not self._has_profiles():
                    self._connection.execute("ALTER TABLE clusters ADD COLUMN mesos_profile TEXT")
                self._connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
                self._words.know_resources()
        except BaseException:
            self._unlock()
            raise

    def _unlock(self) -> None:
        if self._locks:
            with suppress(OSError):
                self._lock_file.unlink()  # while it is held, so that it is its own
        while self._locks:
            os.close(self._locks.pop())

    def _connect(self) -> sqlite3.Connection:
        with open_file(self._path) as file:
            if not file.read(16).startswith(b"SQLite format 3\0"):
                raise _no_recording(self._path, "it is not a SQLite file")
        if not (os.access(self._path, os.R_OK | os.W_OK) and os.access(self._path.parent, os.W_OK | os.X_OK)):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        # A recorder writes what it held back from a second thread, under a lock.
        return sqlite3.connect(self._path, timeout=_SECONDS_TO_WAIT, isolation_level=None, check_same_thread=False)

    def close(self) -> None:
        """See `Recording.close`; no file is left beside it, nor a new one in which nothing was written."""
        try:
            is_left = not self._is_new or self._has_clusters()
            with suppress(sqlite3.Error):  # another process reads it, or the disk is full: the next writer does it
                # Readers of a WAL make files beside it, which only a writer may remove.
                self._connection.execute("PRAGMA journal_mode=DELETE")
            super().close()
            for end in () if is_left else ("", "-wal", "-shm"):
                _beside(self._path, end).unlink(missing_ok=True)
        finally:
            self._unlock()

    def _has_clusters(self) -> bool:
        """Whether anything was written; True if that is unknown."""
        with suppress(sqlite3.Error):
            if self._connection.in_transaction:  # of a writer that was interrupted
                self._undo()
            return self._connection.execute("SELECT 1 FROM clusters").fetchone() is not None
        return True

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """See `RecordingWriter.transaction`."""
        with _explained(self._path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                self._undo()
                raise

    def _undo(self) -> None:
        self._words.forget_new()
        self._keys.clear()
        self._import = None
        if self._connection.in_transaction:
            with suppress(sqlite3.Error):  # of a full disk; the next process undoes it
                self._connection.execute("ROLLBACK")

    def _write(self, statement: str, values: tuple[Any, ...] = ()) -> int:
        try:  # without a `with`, since each change of a task comes here
            return self._connection.execute(statement, values).lastrowid or 0
        except sqlite3.Error as error:
            raise _explanation(self._path, error) from None

    def _key(self, cluster_id: str) -> int:
        if cluster_id not in self._keys:
            self._keys[cluster_id] = self._cluster(cluster_id)
        return self._keys[cluster_id]

    def put_cluster(self, cluster: RecordedCluster) -> None:
        """See `RecordingWriter.put_cluster`."""
        changed = ", ".join(f"{name} = excluded.{name}" for name in _CLUSTER.kinds if name != "cluster_id")
        self._write(
            f"INSERT INTO clusters ({_CLUSTER.names}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608  # our own words
            f" ON CONFLICT (cluster_id) DO UPDATE SET {changed}",
            (
                cluster.cluster_id, cluster.address, cluster.version, _maybe_seconds(cluster.first_seen),
                _maybe_seconds(cluster.last_seen), cluster.clean_end, cluster.principal, cluster.clock_steps,
                cluster.mesos_profile,
            ),
        )  # fmt: skip

    def _insert(self, columns: _Columns, cluster_id: str, values: tuple[Any, ...], *, imports: bool = True) -> int:
        row = (self._key(cluster_id), *values, self._import) if imports else (self._key(cluster_id), *values)
        names = f"{columns.names}, import" if imports else columns.names
        return self._write(_insertion(columns.table, names), row)

    def add_agent(self, cluster_id: str, agent: RecordedAgent) -> int:
        """See `RecordingWriter.add_agent`."""
        number, resources = self._words.number_of(agent.id), self._words.number_of_resources(agent.total)
        return self._insert(_AGENT, cluster_id, (
            number, agent.host, resources, to_seconds(agent.start), _maybe_seconds(agent.end), agent.cause,
            json.dumps(dict(agent.attributes)),
        ))  # fmt: skip

    def end_agent(self, key: int, end: Micros, cause: EndCause) -> None:
        """See `RecordingWriter.end_agent`."""
        self._write("UPDATE agent_rows SET to_time = ?, cause = ? WHERE agent_row = ?", (to_seconds(end), cause, key))

    def add_framework(self, cluster_id: str, framework: RecordedFramework) -> int:
        """See `RecordingWriter.add_framework`."""
        number, roles = self._words.number_of(framework.id), json.dumps(framework.roles)
        return self._insert(_FRAMEWORK, cluster_id, (
            number, framework.name, roles, to_seconds(framework.start), _maybe_seconds(framework.end),
            framework.principal, json.dumps(framework.capabilities),
        ))  # fmt: skip

    def end_framework(self, key: int, end: Micros) -> None:
        """See `RecordingWriter.end_framework`."""
        self._write("UPDATE framework_rows SET to_time = ? WHERE framework_row = ?", (to_seconds(end), key))

    def add_task(self, cluster_id: str, task: RecordedTask) -> int:
        """See `RecordingWriter.add_task`."""
        number, of = self._words.number, self._words.number_of
        return self._insert(_TASK, cluster_id, (
            of(task.framework_id), task.id, of(task.role), self._words.number_of_resources(task.resources),
            number(task.agent_id), _maybe_seconds(task.asked), _maybe_seconds(task.start), _maybe_seconds(task.end),
            _maybe_seconds(task.lasts),
            number(task.state), number(task.reason), task.start_known, task.end_known, task.is_executor, task.run,
        ))  # fmt: skip

    def end_task(self, key: int, end: Micros, state: str | None, reason: str | None, *, known: bool) -> None:
        """See `RecordingWriter.end_task`."""
        self._write(
            "UPDATE task_rows SET to_time = ?, state = coalesce(?, state), reason = coalesce(?, reason), to_known = ?"
            " WHERE task_row = ?",
            (to_seconds(end), self._words.number(state), self._words.number(reason), known, key),
        )

    def change_task(self, key: int, state: str, reason: str | None) -> None:
        """See `RecordingWriter.change_task`."""
        self._write(
            "UPDATE task_rows SET state = ?, reason = ? WHERE task_row = ?",
            (self._words.number(state), self._words.number(reason), key),
        )

    def add_suppression(self, cluster_id: str, suppression: Suppression) -> int:
        """See `RecordingWriter.add_suppression`."""
        of = self._words.number_of
        return self._insert(_SUPPRESSION, cluster_id, (
            of(suppression.framework_id), of(suppression.role), suppression.suppressed,
            to_seconds(suppression.start), _maybe_seconds(suppression.end),
        ), imports=False)  # fmt: skip

    def end_suppression(self, key: int, end: Micros) -> None:
        """See `RecordingWriter.end_suppression`."""
        self._write("UPDATE suppressed_rows SET to_time = ? WHERE suppressed_row = ?", (to_seconds(end), key))

    def add_setting(self, cluster_id: str, setting: RecordedSetting) -> int:
        """See `RecordingWriter.add_setting`."""
        values = (setting.kind, setting.name, setting.value, to_seconds(setting.start), _maybe_seconds(setting.end))
        return self._insert(_SETTING, cluster_id, values, imports=False)

    def end_setting(self, key: int, end: Micros) -> None:
        """See `RecordingWriter.end_setting`."""
        self._write("UPDATE settings SET to_time = ? WHERE setting = ?", (to_seconds(end), key))

    def add_runs(self, cluster_id: str, times: Iterable[Micros]) -> None:
        """See `RecordingWriter.add_runs`."""
        with _explained(self._path):
            self._connection.executemany(
                "INSERT OR IGNORE INTO runs VALUES (?, ?)", ((self._key(cluster_id), to_seconds(at)) for at in times)
            )

    def add_gap(self, cluster_id: str, gap: Gap) -> None:
        """See `RecordingWriter.add_gap`."""
        values = (to_seconds(gap.start), to_seconds(gap.end))
        self._insert(_GAP, cluster_id, values, imports=False)

    def open_agents(self, cluster_id: str) -> list[OpenRow[RecordedAgent]]:
        """See `RecordingWriter.open_agents`."""
        return self._open("agent_row", _AGENT, cluster_id, self._agent)

    def open_frameworks(self, cluster_id: str) -> list[OpenRow[RecordedFramework]]:
        """See `RecordingWriter.open_frameworks`."""
        return self._open("framework_row", _FRAMEWORK, cluster_id, self._framework)

    def open_tasks(self, cluster_id: str) -> list[OpenRow[RecordedTask]]:
        """See `RecordingWriter.open_tasks`."""
        return self._open("task_row", _TASK, cluster_id, self._task)

    def open_suppressions(self, cluster_id: str) -> list[OpenRow[Suppression]]:
        """See `RecordingWriter.open_suppressions`."""
        return self._open("suppressed_row", _SUPPRESSION, cluster_id, self._suppression)

    def open_settings(self, cluster_id: str) -> list[OpenRow[RecordedSetting]]:
        """See `RecordingWriter.open_settings`."""
        return self._open("setting", _SETTING, cluster_id, self._setting)

    def _open(self, key: str, columns: _Columns, cluster_id: str, make: Callable[[Any], Row]) -> list[OpenRow[Row]]:
        query = (
            f"SELECT {key}, {columns.names} FROM {columns.table}"  # noqa: S608  # our own words
            " WHERE cluster = ? AND to_time IS NULL AND from_time IS NOT NULL"
        )
        return list(self._rows(query, (self._cluster(cluster_id),), lambda row: OpenRow(row[0], make(row[1:]))))

    def demanded(self, cluster_id: str) -> Iterator[DemandedRow]:
        """See `RecordingWriter.demanded`."""
        marks = ", ".join("?" * len(DEMAND_FORMATS))
        query = (
            "SELECT task_row, import IS NOT NULL AND import NOT IN"  # noqa: S608  # our own words
            f" (SELECT import FROM imports WHERE format IN ({marks})), {_TASK.names} FROM task_rows"
            " WHERE cluster = ? AND NOT is_executor ORDER BY from_time IS NULL, from_time, task_row"
        )
        values = (*DEMAND_FORMATS, self._cluster(cluster_id))
        return self._rows(query, values, lambda row: DemandedRow(row[0], self._task(row[2:]), bool(row[1])))

    def set_asked(self, key: int, asked: Micros | None) -> None:
        """See `RecordingWriter.set_asked`."""
        self._write("UPDATE task_rows SET asked_time = ? WHERE task_row = ?", (_maybe_seconds(asked), key))

    def remove_task(self, key: int) -> None:
        """See `RecordingWriter.remove_task`."""
        self._write("DELETE FROM task_rows WHERE task_row = ?", (key,))

    def begin_import(self, cluster_id: str, file: str, of_format: str, *, again: bool = False) -> None:
        """See `RecordingWriter.begin_import`."""
        if again:
            query = "SELECT import FROM imports WHERE cluster = ? AND file = ? AND format = ?"
            with _explained(self._path):
                known = self._connection.execute(query, (self._key(cluster_id), file, of_format)).fetchone()
            if known is not None:
                self._import = known[0]
                return
        values = (file, of_format, 0, 0, "{}")
        self._import = self._insert(_IMPORT, cluster_id, values, imports=False)

    def replace_earlier(self, *, allowed: bool) -> int:
        """See `RecordingWriter.replace_earlier`."""
        with _explained(self._path):
            if self._connection.execute(_OTHERS, {"import": self._import}).fetchone() is None:
                return 0  # without comparing the rows, of which a log may have millions
            self._connection.execute("DROP TABLE IF EXISTS temp.earlier")
            self._connection.execute(_EARLIER, {"import": self._import})
            found = self._connection.execute("SELECT import, count(*) FROM temp.earlier GROUP BY import").fetchall()
            count = sum(int(number) for _, number in found)
            if not count:
                return 0
            task, file = self._connection.execute(
                "SELECT task, file FROM temp.earlier JOIN imports USING (import) LIMIT 1"
            ).fetchone()
            if not allowed:
                rows = "1 row overlaps" if count == 1 else f"{count} rows overlap"
                raise Conflict(
                    f"{rows} an earlier import: '{task}' is in {file} too; nothing was imported",
                    field="FILE",
                    hint="--replace replaces them",
                )
            self._connection.execute("DELETE FROM task_rows WHERE task_row IN (SELECT task_row FROM temp.earlier)")
            for of, number in found:
                self._take_from_import(of, number)
        return count

    def _take_from_import(self, of: int, number: int) -> None:
        """Count rows of an import that were replaced; an import without rows is gone with all that came with it."""
        used, skipped = self._connection.execute("SELECT used, skipped FROM imports WHERE import = ?", (of,)).fetchone()
        if used > number:
            causes = json.loads(skipped)
            replaced = causes.setdefault("replaced by a later import", {"rows": 0, "line": 0, "column": ""})
            replaced["rows"] += number
            self._connection.execute(
                "UPDATE imports SET used = ?, skipped = ? WHERE import = ?", (used - number, json.dumps(causes), of)
            )
            return
        for table in ("imports", "agent_rows", "framework_rows"):
            self._connection.execute(f"DELETE FROM {table} WHERE import = ?", (of,))  # noqa: S608  # our own words

    def end_import(self, done: Import) -> None:
        """See `RecordingWriter.end_import`."""
        causes = {rows.cause: {"rows": rows.rows, "line": rows.line, "column": rows.column} for rows in done.skipped}
        self._write(
            "UPDATE imports SET rows = ?, used = ?, skipped = ? WHERE import = ?",
            (done.rows, done.used, json.dumps(causes), self._import),
        )
        self._import = None

    def prune(self, cluster_id: str, before: Micros) -> int:
        """See `RecordingWriter.prune`."""
        at, number = to_seconds(before), self._cluster(cluster_id)
        tables = ("agent_rows", "framework_rows", "suppressed_rows", "task_rows", "settings", "gaps")
        removed: int = 0
        run = self._connection.execute
        with _explained(self._path):
            for table in tables:
                query = f"DELETE FROM {table} WHERE cluster = ? AND to_time < ?"  # noqa: S608  # our own words
                removed += run(query, (number, at)).rowcount
            removed += run(
                "DELETE FROM task_rows WHERE cluster = ? AND from_time IS NULL AND asked_time + coalesce(lasts, 0) < ?",
                (number, at),
            ).rowcount
            if removed:
                run(
                    "DELETE FROM resources WHERE resources NOT IN"
                    " (SELECT resources FROM task_rows UNION SELECT resources FROM agent_rows)"
                )
                self._words.forget_new()
                self._words.know_resources()
            removed += run("DELETE FROM runs WHERE cluster = ? AND time < ?", (number, at)).rowcount
            run("UPDATE clusters SET first_time = max(first_time, ?) WHERE cluster = ?", (at, number))
        return int(removed)


@cache
def _insertion(table: str, columns: str) -> str:
    """The statement that adds a row with these columns to a table, and that of its cluster."""
    marks = ", ".join("?" * (columns.count(",") + 2))
    return f"INSERT INTO {table} (cluster, {columns}) VALUES ({marks})"  # noqa: S608  # our own words


_OTHERS = """
SELECT 1 FROM imports new JOIN imports old USING (cluster) WHERE new.import = :import AND old.import <> new.import
"""
"""Whether the cluster has other imports."""
_EARLIER = """
CREATE TEMP TABLE earlier AS
SELECT DISTINCT old.task_row, old.task, old.import
FROM task_rows new JOIN task_rows old
ON old.cluster = new.cluster AND old.task = new.task AND old.framework = new.framework
WHERE new.import = :import AND old.import IS NOT NULL AND old.import <> new.import
AND coalesce(old.asked_time, old.from_time) <= coalesce(new.to_time, new.asked_time + new.lasts, 9e99)
AND coalesce(new.asked_time, new.from_time) <= coalesce(old.to_time, old.asked_time + old.lasts, 9e99)
"""
"""The rows of earlier imports that this one has again, for overlapping times."""


def _beside(path: Path, end: str) -> Path:
    """The file beside a recording with this end of the name."""
    return path.with_name(path.name + end)


def _size(path: Path) -> int:
    """The bytes of a file; 0 if there is none."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _locked(path: Path) -> int:
    """The descriptor of a file beside the recording, which one writer at a time holds.

    A lock on the recording itself is not enough: it is made after its lock.
    """
    beside = _beside(path, _LOCK)
    with _explained(path):
        descriptor = None
        with suppress(BlockingIOError):
            # A writer that ended in between may have removed it, with a new file in which nothing was written.
            descriptor = lock_at_once(beside)
        if descriptor is None:
            raise _held(path)
    return descriptor


def _itself_locked(path: Path) -> int:
    """The descriptor of the recording, which one writer at a time holds, whatever name it opened.

    Raises Conflict if another holds it, or if it has two names: SQLite keeps a log beside each, and after a kill, the
    log beside one name would undo what was written by the other.
    """
    try:
        descriptor = lock_itself(path)
    except BlockingIOError:
        raise _held(path) from None
    names = os.fstat(descriptor).st_nlink
    if names > 1:
        os.close(descriptor)
        raise Conflict(
            f"{path} has {names} names (hard links), and writing by two of them would damage it",
            field=_FIELD,
            hint="remove the other names, or name a copy of the file",
        )
    return descriptor


def _held(path: Path) -> Conflict:
    return Conflict(
        f"another process is writing to {path}",
        field=_FIELD,
        hint="one recorder or import writes to a recording at a time: name another file, or wait until it ends",
    )
