"""The last good copy of a registry's file, which stands beside it: `registry.sqlite.good`.

It is made when a registry is opened and found whole, and has changed since the last one.
"""

import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple


class Seal(NamedTuple):
    """What a registry says of itself: which it is, how many changes were made, and the sum of all its records."""

    id: str
    commits: int
    total: int


def place_of(path: Path) -> Path:
    """Where the copy of a registry is."""
    return path.with_name(path.name + ".good")


def seal_of(connection: sqlite3.Connection) -> Seal:
    """Raises sqlite3.DatabaseError, and ValueError where there is none."""
    row = connection.execute("SELECT id, commits, total FROM seal").fetchone()
    if row is None:
        raise ValueError("it has no seal")
    return Seal(str(row[0]), int(row[1]), int.from_bytes(row[2], "big"))


def seal_of_copy(path: Path) -> Seal | None:
    """That of the copy of a registry; None where there is none that can be read."""
    copy = place_of(path)
    if not copy.is_file():
        return None
    try:
        with closing(sqlite3.connect(f"{copy.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
            return seal_of(connection)
    except (sqlite3.DatabaseError, ValueError, TypeError):
        return None


def keep(connection: sqlite3.Connection, path: Path) -> None:
    """Make the copy anew.  A disk that is full keeps nobody from working: the copy before stays then."""
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
