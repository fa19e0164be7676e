"""The file of a registry: its creation, its seal, and its last good copy, next to it, whose name ends with `.good`.

The copy is made when a registry is opened and intact, and has changed since the last one.
"""

import errno
import os
import sqlite3
from binascii import crc32
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

SCHEMA_VERSION = 3
WITHOUT_SEAL = 2
"""The version before, which has everything but the seal."""
_DIGEST_BYTES = 8
_MODULUS = 1 << (8 * _DIGEST_BYTES)


class Seal(NamedTuple):
    """The seal of a registry: its id, the number of changes, and the checksum over all records."""

    id: str
    commits: int
    total: int


def place_of(path: Path) -> Path:
    """Where the copy of a registry is."""
    return path.with_name(path.name + ".good")


def seal_of(connection: sqlite3.Connection) -> Seal:
    """Raises sqlite3.DatabaseError, and ValueError if there is none."""
    row = connection.execute("SELECT id, commits, total FROM seal").fetchone()
    if row is None:
        raise ValueError("it has no seal")
    return Seal(str(row[0]), int(row[1]), int.from_bytes(row[2]))


def seal_of_copy(path: Path) -> Seal | None:
    """Return the seal of a registry's copy; None if there is no readable copy."""
    copy = place_of(path)
    if not copy.is_file():
        return None
    try:
        with closing(sqlite3.connect(f"{copy.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
            return seal_of(connection)
    except (sqlite3.DatabaseError, ValueError, TypeError):
        return None


def keep(connection: sqlite3.Connection, path: Path) -> None:
    """Make the copy again. If the disk is full, the old copy stays, and the master keeps working."""
    beside = path.with_name(f"{path.name}.{os.getpid()}.copying")
    try:
        os.close(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600))
        with closing(sqlite3.connect(beside)) as copy:
            connection.backup(copy)
            copy.execute("PRAGMA journal_mode=DELETE")  # one file, which is read without any beside it
        beside.replace(place_of(path))
    except (OSError, sqlite3.Error):
        for left in (beside, *(beside.with_name(beside.name + end) for end in ("-wal", "-shm", "-journal"))):
            with suppress(OSError):
                left.unlink()


def make_file(path: Path) -> None:
    """Create an empty registry, and rename it into place, so that an empty file is never a new registry.

    If another process is first, its file stays.  Raises OSError and sqlite3.DatabaseError.
    """
    beside = path.with_name(f"{path.name}.{os.getpid()}.new")
    beside.unlink(missing_ok=True)  # left by a process that was killed
    try:
        os.close(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        with closing(sqlite3.connect(beside, isolation_level=None)) as new:
            new.execute("BEGIN")
            new.execute(
                "CREATE TABLE record (kind TEXT NOT NULL, key BLOB NOT NULL, value TEXT NOT NULL,"
                " PRIMARY KEY (kind, key))"
            )
            add_seal(new, 0)
            new.execute("COMMIT")
        with suppress(FileExistsError):
            path.hardlink_to(beside)
    finally:
        beside.unlink(missing_ok=True)


def add_seal(connection: sqlite3.Connection, total: int) -> None:
    """Write the seal of a registry whose records have this sum; called within a transaction."""
    connection.execute("CREATE TABLE seal (id TEXT NOT NULL, commits INTEGER NOT NULL, total BLOB NOT NULL)")
    connection.execute("INSERT INTO seal VALUES (?, 0, ?)", (os.urandom(8).hex(), total.to_bytes(_DIGEST_BYTES)))
    connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")


def change_seal(connection: sqlite3.Connection, added: int) -> None:
    """Count one more change, which adds `added` to the sum of all records; within a transaction."""
    seal = seal_of(connection)
    total = (seal.total + added) % _MODULUS
    connection.execute("UPDATE seal SET commits = ?, total = ?", (seal.commits + 1, total.to_bytes(_DIGEST_BYTES)))


def total_of(connection: sqlite3.Connection) -> int:
    """Return the sum of all records."""
    # If a row cannot be read, an open cursor would hold the file.
    with closing(connection.execute("SELECT kind, key, value FROM record")) as rows:
        return sum(digest(*row) for row in rows) % _MODULUS


def digest(kind: str, key: bytes, value: str) -> int:
    """Return the part of a record in the sum of all."""
    # In a file that was changed from outside, any of them may be of the other type.
    parts = (part.encode() if isinstance(part, str) else part for part in (kind, key, value))
    text = b"".join(b"%d:%s" % (len(part), part) for part in parts)
    # Against accidents, not against an attacker with write access; hashlib takes longer to load than all of this.
    return crc32(text) << 32 | crc32(text[::-1])


def check_rights(path: Path) -> None:
    """Raise PermissionError if SQLite could not write.

    SQLite would create files with the permissions of the database, and fail on them even after the database is writable
    again.
    """
    if not (os.access(path, os.R_OK | os.W_OK) and os.access(path.parent, os.W_OK | os.X_OK)):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
