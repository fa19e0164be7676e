"""Files that are no registry, or none that can be used: told apart, and left as they are."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from fake_master.registry.interface import RegistryFailure, UnreadableRegistry
from fake_master.registry.sqlite import SqliteRegistry
from fake_master.sources.cluster_file import ClusterSpec
from tests.fake_master.sending import AGENT, garbage, make


def torn(path: Path) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2 + 100])


def scribbled(path: Path) -> None:
    whole = bytearray(path.read_bytes())
    for start in range(4096, len(whole), 512):
        whole[start : start + 256] = b"\xff" * 256
    path.write_bytes(bytes(whole))


def somebody_elses(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as other:
        other.executescript("CREATE TABLE bookmarks (url TEXT); INSERT INTO bookmarks VALUES ('x');")


def newer(path: Path) -> None:
    with closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA user_version=99")


def without_its_table(path: Path) -> None:
    with closing(sqlite3.connect(path)) as other:
        other.execute("ALTER TABLE record RENAME TO record_no_more")


def no_json(path: Path) -> None:
    with closing(sqlite3.connect(path)) as other:
        other.execute("UPDATE record SET value = '{' WHERE kind = 'quota'")
        other.commit()


def no_utf_8(path: Path) -> None:
    with closing(sqlite3.connect(path)) as other:
        other.execute("UPDATE record SET value = CAST(x'ff' AS TEXT) WHERE kind = 'quota'")
        other.commit()


def another_shape(path: Path) -> None:
    with closing(sqlite3.connect(path)) as other:
        other.execute("UPDATE record SET value = '[3]' WHERE kind = 'quota'")
        other.commit()


DAMAGE = [garbage, torn, scribbled, somebody_elses, newer, without_its_table, no_json, no_utf_8, another_shape]


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_file_that_is_no_registry_is_told_from_one_that_cannot_be_used_and_left_as_it_is(
    tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    path = tmp_path / "r.sqlite"
    make(path)
    damage(path)
    before = path.read_bytes()

    def start() -> None:
        with closing(SqliteRegistry(path)) as registry:
            ClusterSpec(agents=(AGENT,)).start(registry)

    with pytest.raises(UnreadableRegistry, match=r"r(egistry|\.sqlite)"):
        start()
    assert path.read_bytes() == before


def test_the_database_of_another_program_is_not_taken_for_another_version(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"
    make(path)
    somebody_elses(path)
    with pytest.raises(UnreadableRegistry, match="a database, but not a registry"):
        SqliteRegistry(path)


def test_a_place_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder.sqlite").mkdir()
    for path in (tmp_path / "file" / "r.sqlite", tmp_path / "folder.sqlite"):
        with pytest.raises(RegistryFailure, match=r"cannot be used"):
            SqliteRegistry(path)
