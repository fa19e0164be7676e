"""A registry in one SQLite file, safe against a kill at any moment and against other processes."""

import json
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fake_master.registry import sqlite_file
from fake_master.registry.interface import (
    SECONDS_TO_WAIT,
    HeldRegistry,
    MemoryRegistry,
    Registry,
    RegistryFailure,
    UnreadableRegistry,
)
from fake_master.registry.records import mistake
from mesosctl.files.writing import make_private_folder
from mesosctl.mesos.errors import BadInput

_SECONDS_BETWEEN_ATTEMPTS = 0.01

# What to do if SQLite fails, by its primary result code.
_HINTS = {
    sqlite3.SQLITE_BUSY: "another process is using it: stop that process, or wait until it ends",
    sqlite3.SQLITE_LOCKED: "another process is using it: stop that process, or wait until it ends",
    sqlite3.SQLITE_FULL: "make room on its disk",
    sqlite3.SQLITE_IOERR: "check whether its disk is full, over quota or failing",
    sqlite3.SQLITE_READONLY: "check that it and its folder are writable",
    sqlite3.SQLITE_CANTOPEN: "check that it and its folder are writable, and that the disk is not full",
    sqlite3.SQLITE_PERM: "check that it and its folder are writable",
}
_PRIMARY = 0xFF


class SqliteRegistry(Registry):
    """Records in `path`, which is created if it does not exist (mode 0600, its folder 0700).

    A commit returns only when the change is on the disk. The file is checked when it is opened: SQLite finds no fault,
    the checksum over its records is right, and it is neither empty nor older than its last good copy (`sqlite_file`).
    Records must have the form that masters write (`records`). Raises RegistryFailure with one sentence wherever the
    file cannot serve, UnreadableRegistry if that is for what it contains, HeldRegistry if another process holds it and
    nothing was begun.
    """

    def __init__(self, path: Path, timeout: float = SECONDS_TO_WAIT) -> None:
        """`timeout`: see `wait_at_most`; it holds for the opening as well."""
        self._path = path
        self._timeout = timeout
        self._written = False
        self._added = 0
        """The change to the checksum over all records in the current transaction."""
        with self._explained():
            make_private_folder(path.parent)
            if not path.exists():
                sqlite_file.make_file(path)
            sqlite_file.check_rights(path)
            self._file = path.stat()
            if self._file.st_size == 0:
                raise self._damaged("it is empty, but a registry never is")
            self._connection = sqlite3.connect(path, timeout=timeout, isolation_level=None, check_same_thread=False)
        try:
            with self._explained():
                self._prepare_with_retries()
            self._data_version = self._read_data_version()
        except BaseException:
            self._connection.close()
            raise

    def _prepare_with_retries(self) -> None:
        """Where several processes start on one new file, changing its mode fails at once instead of waiting."""
        give_up = time.monotonic() + self._timeout
        while True:
            try:
                self._prepare()
            except sqlite3.OperationalError as error:
                code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)  # what Python cannot read has none
                if code & _PRIMARY != sqlite3.SQLITE_BUSY or time.monotonic() > give_up:
                    raise
                self._rollback()
                time.sleep(_SECONDS_BETWEEN_ATTEMPTS)
            else:
                return

    def _prepare(self) -> None:
        version, tables = self._what_is_there()
        # Check before writing: the file may be another program's database.
        if version in (0, sqlite_file.WITHOUT_SEAL, sqlite_file.SCHEMA_VERSION) and "record" not in tables:
            raise UnreadableRegistry(f"{self._path} is a database, but not a registry")
        if version not in (sqlite_file.WITHOUT_SEAL, sqlite_file.SCHEMA_VERSION):
            raise UnreadableRegistry(
                f"{self._path} was written by another version (schema {version}, not {sqlite_file.SCHEMA_VERSION})"
            )
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=FULL")
        self._check_whole(version)

    def _check_whole(self, version: int) -> None:
        """Raise UnreadableRegistry for a file that was truncated, changed from outside, or replaced by an older one."""
        faults = [fault for (fault,) in self._connection.execute("PRAGMA integrity_check(1)")]
        if faults != ["ok"]:
            raise self._damaged(str(faults[0]))
        self._connection.execute("BEGIN IMMEDIATE" if version == sqlite_file.WITHOUT_SEAL else "BEGIN")
        try:
            if version == sqlite_file.WITHOUT_SEAL and self._version() == version:
                sqlite_file.add_seal(self._connection, sqlite_file.total_of(self._connection))
            seal = sqlite_file.seal_of(self._connection)
            total = sqlite_file.total_of(self._connection)
        finally:
            self._connection.execute("COMMIT")
        if seal.total != total:
            raise self._damaged("its records differ from those that were written")
        copied = sqlite_file.seal_of_copy(self._path)
        if copied is None or copied.id != seal.id or copied.commits < seal.commits:
            sqlite_file.keep(self._connection, self._path)
        elif copied.commits > seal.commits:
            raise self._damaged(f"it lacks {copied.commits - seal.commits} of the changes that were made")

    def _damaged(self, what: str, problem: str = "is damaged") -> UnreadableRegistry:
        copy = sqlite_file.place_of(self._path)
        kept = f"; the last good copy is {copy}" if copy.is_file() else ""
        return UnreadableRegistry(f"{self._path} {problem}: {what}{kept}", self._restore_hint(copy) if kept else None)

    def _restore_hint(self, copy: Path) -> str:
        return f"put {copy} in its place to continue from there"

    def _what_is_there(self) -> tuple[int, set[str]]:
        """The version, and the tables, at one moment: another process may be making them."""
        self._connection.execute("BEGIN")
        version = self._version()
        tables = {name for (name,) in self._connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        self._connection.execute("COMMIT")
        return version, tables

    def _version(self) -> int:
        return int(self._connection.execute("PRAGMA user_version").fetchone()[0])

    @property
    def was_written(self) -> bool:
        """See `Registry.was_written`."""
        return self._written

    def records(self, kind: str) -> dict[str, Any]:
        """See `Registry.records`."""
        with self._explained():
            rows = self._connection.execute("SELECT key, value FROM record WHERE kind = ? ORDER BY rowid", (kind,))
            named = ((bytes(key).decode(errors="surrogateescape"), value) for key, value in rows)
            return {key: self._value(kind, key, value) for key, value in named}

    def record(self, kind: str, key: str) -> Any:
        """See `Registry.record`."""
        raw_key = key.encode(errors="surrogateescape")
        with self._explained():
            row = self._connection.execute(
                "SELECT value FROM record WHERE kind = ? AND key = ?", (kind, raw_key)
            ).fetchone()
            return None if row is None else self._value(kind, key, row[0])

    def _value(self, kind: str, key: str, written: str) -> Any:
        """Return the value of a record.  Raises UnreadableRegistry for one that this program did not write."""
        try:
            value = json.loads(written)
        except (ValueError, TypeError, RecursionError) as error:
            raise self._damaged(f"its record {kind}/{key} is not JSON") from error
        wrong = mistake(kind, value)
        if wrong is not None:
            raise self._damaged(f"its record {kind}/{key} cannot be read ({wrong})")
        return value

    def write(self, kind: str, key: str, value: Any) -> None:
        """See `Registry.write`."""
        self._written = True
        # Bytes, because a role need not be UTF-8 and SQLite's texts must.
        raw_key = key.encode(errors="surrogateescape")
        with self._explained():
            before = self._connection.execute(
                "SELECT value FROM record WHERE kind = ? AND key = ?", (kind, raw_key)
            ).fetchone()
            if before is not None:
                self._added -= sqlite_file.digest(kind, raw_key, before[0])
            if value is None:
                self._connection.execute("DELETE FROM record WHERE kind = ? AND key = ?", (kind, raw_key))
            else:
                text = json.dumps(value)
                self._added += sqlite_file.digest(kind, raw_key, text)
                self._connection.execute(
                    "INSERT INTO record VALUES (?, ?, ?) ON CONFLICT (kind, key) DO UPDATE SET value = excluded.value",
                    (kind, raw_key, text),
                )

    def changed_elsewhere(self) -> bool:
        """See `Registry.changed_elsewhere`; SQLite counts the commits of other connections."""
        seen, self._data_version = self._data_version, self._read_data_version()
        return seen != self._data_version

    def forget_everything(self) -> None:
        """Start over with an empty registry."""
        with self.transaction(), self._explained():
            self._written = True
            self._added = -sqlite_file.total_of(self._connection)
            self._connection.execute("DELETE FROM record")

    def wait_at_most(self, seconds: float) -> None:
        """See `Registry.wait_at_most`."""
        self._run(f"PRAGMA busy_timeout={int(seconds * 1000)}")

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _begin(self) -> None:
        self._written = False
        self._added = 0
        self._check_place()
        # IMMEDIATE: reads in the transaction must still be valid when it writes.
        self._run("BEGIN IMMEDIATE")

    def _commit(self) -> None:
        if self._written:
            with self._explained():
                sqlite_file.change_seal(self._connection, self._added)
        self._run("COMMIT")

    def _check_place(self) -> None:
        """Raise RegistryFailure if the file was replaced: a removed file ends with the process."""
        with self._explained():
            now = self._path.stat()
        if (now.st_dev, now.st_ino) != (self._file.st_dev, self._file.st_ino):
            raise RegistryFailure(f"{self._path} was replaced while it was in use", hint="restart with the new one")

    def _rollback(self) -> None:
        if self._connection.in_transaction:
            self._run("ROLLBACK")

    def _run(self, statement: str) -> None:
        with self._explained():
            self._connection.execute(statement)

    def _read_data_version(self) -> int:
        with self._explained():
            return int(self._connection.execute("PRAGMA data_version").fetchone()[0])

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.DatabaseError, ValueError, TypeError) as error:
            # A text that is not UTF-8, a key that is not bytes: SQLite knows nothing of these.
            code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & _PRIMARY
            if code not in _HINTS:
                raise self._damaged(str(error), "is not a registry, or it is damaged") from error
            is_held = code == sqlite3.SQLITE_BUSY and not self._connection.in_transaction
            kind = HeldRegistry if is_held else RegistryFailure
            raise kind(f"{self._path} cannot be used: {error}", _HINTS[code]) from error
        except OSError as error:
            raise RegistryFailure(
                f"{self._path} cannot be used: {error.strerror}", _HINTS[sqlite3.SQLITE_CANTOPEN]
            ) from error


FILE_NAME = "registry.sqlite"


def open_registry(flags: Mapping[str, str]) -> Registry:
    """`--registry` and `--work_dir`.  Raises BadInput for the flags, RegistryFailure for the file."""
    kind = flags.get("registry", "in_memory")
    if kind == "in_memory":
        return MemoryRegistry()
    if kind != "sqlite":
        raise BadInput(f"--registry={kind}: use in_memory or sqlite", field="registry")
    if "work_dir" not in flags:
        raise BadInput("--registry=sqlite needs --work-dir", field="work_dir")
    return SqliteRegistry(Path(flags["work_dir"]) / FILE_NAME)
