"""A registry in one SQLite file, safe against a kill at any moment and against other processes."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fake_master.master.registry import Registry, RegistryFailure

_SCHEMA_VERSION = 2
_SECONDS_TO_WAIT_FOR_A_LOCK = 10.0


class SqliteRegistry(Registry):
    """Records in `path`, which is made where it does not exist (mode 0600, its folder 0700).

    A commit returns only when the change is on the disk.  Raises RegistryFailure with one
    sentence wherever the file cannot serve.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._written = False
        with self._explained():
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.touch(mode=0o600)
            self._connection = sqlite3.connect(
                path, timeout=_SECONDS_TO_WAIT_FOR_A_LOCK, isolation_level=None, check_same_thread=False
            )
            self._prepare()
        self._data_version = self._read_data_version()

    def _prepare(self) -> None:
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=FULL")
        (version,) = self._connection.execute("PRAGMA user_version").fetchone()
        if version == 0:
            self._connection.executescript(
                "BEGIN IMMEDIATE;"
                "CREATE TABLE IF NOT EXISTS record (kind TEXT NOT NULL, key BLOB NOT NULL, value TEXT NOT NULL,"
                " PRIMARY KEY (kind, key));"
                f"PRAGMA user_version={_SCHEMA_VERSION};"
                "COMMIT;"
            )
        elif version != _SCHEMA_VERSION:
            raise RegistryFailure(
                f"{self._path} was written by another version (schema {version}, not {_SCHEMA_VERSION})"
            )

    @property
    def was_written(self) -> bool:
        """See `Registry.was_written`."""
        return self._written

    def records(self, kind: str) -> dict[str, Any]:
        """See `Registry.records`."""
        with self._explained():
            rows = self._connection.execute("SELECT key, value FROM record WHERE kind = ? ORDER BY rowid", (kind,))
            return {bytes(key).decode(errors="surrogateescape"): json.loads(value) for key, value in rows}

    def write(self, kind: str, key: str, value: Any) -> None:
        """See `Registry.write`."""
        self._written = True
        # Bytes, because a role need not be UTF-8 and SQLite's texts must.
        raw_key = key.encode(errors="surrogateescape")
        with self._explained():
            if value is None:
                self._connection.execute("DELETE FROM record WHERE kind = ? AND key = ?", (kind, raw_key))
            else:
                self._connection.execute(
                    "INSERT INTO record VALUES (?, ?, ?) ON CONFLICT (kind, key) DO UPDATE SET value = excluded.value",
                    (kind, raw_key, json.dumps(value)),
                )

    def changed_elsewhere(self) -> bool:
        """See `Registry.changed_elsewhere`; SQLite counts the commits of other connections."""
        seen, self._data_version = self._data_version, self._read_data_version()
        return seen != self._data_version

    def forget_everything(self) -> None:
        """Start over with an empty registry."""
        with self.transaction(), self._explained():
            self._connection.execute("DELETE FROM record")

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _begin(self) -> None:
        # IMMEDIATE: what is read inside must still be true when it is written.
        self._written = False
        self._run("BEGIN IMMEDIATE")

    def _commit(self) -> None:
        self._run("COMMIT")

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
        except sqlite3.OperationalError as error:
            raise RegistryFailure(f"{self._path} cannot be used: {error}") from error
        except (sqlite3.DatabaseError, json.JSONDecodeError) as error:
            raise RegistryFailure(f"{self._path} is not a registry, or it is damaged: {error}") from error
        except OSError as error:
            raise RegistryFailure(f"{self._path} cannot be used: {error.strerror}") from error
