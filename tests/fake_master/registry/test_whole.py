"""A registry that is not whole is never served as truth, and its last good copy is named."""

import errno
import os
import re
import shutil
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from fake_master.registry.interface import RegistryFailure, UnreadableRegistry
from fake_master.registry.sqlite import SqliteRegistry
from fake_master.registry.sqlite_file import check_rights, digest, make_file, seal_of_copy


def change(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as other, other:
        other.execute(statement)


def fill(path: Path, records: int = 200) -> None:
    """Two openings, so that there is a copy with everything in it."""
    with closing(SqliteRegistry(path)) as registry, registry.transaction():
        for number in range(records):
            registry.write("weight", f"role-{number}", number + 1.0)
    SqliteRegistry(path).close()


def weights(path: Path) -> int:
    with closing(SqliteRegistry(path)) as registry:
        return len(registry.records("weight"))


def cut_to_nothing(path: Path) -> None:
    os.truncate(path, 0)


def cut_at_a_page(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 4096 // 2 * 4096)


def cut_by_one_page(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 4096)


def cut_by_one_byte(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 1)


def without_a_record(path: Path) -> None:
    change(path, "DELETE FROM record WHERE rowid = (SELECT max(rowid) FROM record)")


def without_any(path: Path) -> None:
    change(path, "DELETE FROM record")


def with_another_value(path: Path) -> None:
    change(path, "UPDATE record SET value = '7.5' WHERE key = CAST('role-3' AS BLOB)")


def with_a_value_of_another_type(path: Path) -> None:
    change(path, "UPDATE record SET value = x'00' WHERE key = CAST('role-3' AS BLOB)")


def with_keys_of_other_types(path: Path) -> None:
    change(path, "UPDATE record SET key = 'a text' WHERE key = CAST('role-3' AS BLOB)")
    change(path, "UPDATE record SET key = 7 WHERE key = CAST('role-4' AS BLOB)")


def with_two_values_exchanged(path: Path) -> None:
    change(path, "UPDATE record SET key = CAST(kind || rowid AS BLOB)")


def with_an_index_that_lies(path: Path) -> None:
    content = path.read_bytes()
    at = content.rfind(b"role-17")
    path.write_bytes(content[:at] + b"role-99" + content[at + 7 :])


def without_a_seal(path: Path) -> None:
    change(path, "DELETE FROM seal")


DAMAGE = [
    cut_to_nothing,
    cut_at_a_page,
    cut_by_one_page,
    cut_by_one_byte,
    without_a_record,
    without_any,
    with_another_value,
    with_a_value_of_another_type,
    with_keys_of_other_types,
    with_two_values_exchanged,
    with_an_index_that_lies,
    without_a_seal,
]


@pytest.mark.parametrize("damage", DAMAGE)
def test_what_is_damaged_is_refused_and_the_copy_brings_it_back(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    path = tmp_path / "r.sqlite"
    fill(path)
    damage(path)
    broken = path.read_bytes()
    for _ in range(2):
        with pytest.raises(UnreadableRegistry, match="damaged") as refused:
            SqliteRegistry(path)
        assert f"the last good copy is {path}.good" in str(refused.value)
        assert "None" not in str(refused.value), "it says what is damaged"
        assert str(refused.value.hint) == f"put {path}.good in its place to continue from there"
        assert path.read_bytes() == broken
    shutil.copy(f"{path}.good", path)
    assert weights(path) == 200


def test_an_earlier_state_is_not_taken_for_the_last_one(tmp_path: Path) -> None:
    path, earlier = tmp_path / "r.sqlite", tmp_path / "earlier"
    fill(path)
    shutil.copy(path, earlier)
    for _ in range(2):
        with closing(SqliteRegistry(path)) as registry, registry.transaction():
            registry.write("weight", "another", 2.0)
    SqliteRegistry(path).close()
    shutil.copy(earlier, path)
    with pytest.raises(UnreadableRegistry, match="2 of the changes that were made"):
        SqliteRegistry(path)


def test_a_file_that_was_removed_is_a_new_beginning(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"
    fill(path)
    path.unlink()
    assert weights(path) == 0
    fill(path, 3)
    assert weights(path) == 3


def test_an_empty_file_is_no_new_registry(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"
    path.touch()
    with pytest.raises(UnreadableRegistry, match=r"it is empty, but a registry never is$") as refused:
        SqliteRegistry(path)
    assert refused.value.hint is None, "there is no copy"
    assert sorted(tmp_path.iterdir()) == [path]


def give_up_after(registry: SqliteRegistry, *written: Any) -> None:
    with registry.transaction():
        registry.write(*written)
        raise ZeroDivisionError


def test_changes_of_several_processes_add_up(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"
    with closing(SqliteRegistry(path)) as one, closing(SqliteRegistry(path)) as other:
        for number in range(20):
            for registry, name in ((one, "a"), (other, "b")):
                with registry.transaction():
                    registry.write("weight", name, number + 1.0)
                    registry.write("weight", f"{name}{number}", 1.0)
                    registry.write("weight", f"{name}{number - 1}", None)
        with pytest.raises(ZeroDivisionError):
            give_up_after(one, "weight", "never", 1.0)
        with one.transaction():
            one.write("weight", "a", 50.0)
    assert weights(path) == 4
    with closing(SqliteRegistry(path)) as registry:
        registry.forget_everything()
        with registry.transaction():
            registry.write("weight", "new", 1.0)
    assert weights(path) == 1


def test_the_copy_is_made_again_only_after_a_change(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"
    fill(path, 1)
    copy = path.with_name("r.sqlite.good")
    made = copy.stat().st_ino
    os.link(copy, tmp_path / "kept")  # so that its number is not used again
    SqliteRegistry(path).close()
    assert copy.stat().st_ino == made
    with closing(SqliteRegistry(path)) as registry, registry.transaction():
        registry.write("weight", "web", 2.0)
    SqliteRegistry(path).close()
    assert copy.stat().st_ino != made


@pytest.mark.parametrize(("is_folder", "right"), [(False, os.R_OK), (False, os.W_OK), (True, os.W_OK), (True, os.X_OK)])
def test_without_the_rights_to_write_the_file_is_not_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, right: int, *, is_folder: bool
) -> None:
    path = tmp_path / "r.sqlite"
    fill(path, 1)
    denied = tmp_path if is_folder else path
    monkeypatch.setattr(os, "access", lambda asked, mode: not (asked == denied and mode & right))
    with pytest.raises(RegistryFailure, match=re.escape(os.strerror(errno.EACCES))) as refused:
        SqliteRegistry(path)
    assert str(path) in str(refused.value)
    with pytest.raises(PermissionError) as error:
        check_rights(path)
    assert error.value.errno == errno.EACCES


def test_a_registry_is_made_in_one_thread_and_used_in_another(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"
    fill(path, 2)
    with closing(SqliteRegistry(path)) as registry, ThreadPoolExecutor(1) as pool:
        assert pool.submit(registry.record, "weight", "role-1").result() == 2.0


def test_a_file_without_a_seal_says_so(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"
    fill(path, 1)
    without_a_seal(path)
    with pytest.raises(UnreadableRegistry, match="seal"):
        SqliteRegistry(path)


@pytest.mark.parametrize("ends", [[""], ["", "-wal", "-shm", "-journal"]])
@pytest.mark.parametrize("is_link", [True, False])
def test_a_copy_for_which_something_is_in_the_way_is_made_when_it_is_not(
    tmp_path: Path, ends: list[str], *, is_link: bool
) -> None:
    path, elsewhere = tmp_path / "r.sqlite", tmp_path / "elsewhere"
    SqliteRegistry(path).close()
    with closing(SqliteRegistry(path)) as registry, registry.transaction():
        registry.write("weight", "web", 2.0)
    elsewhere.touch()
    for end in ends:
        left = tmp_path / f"r.sqlite.{os.getpid()}.copying{end}"
        if is_link:
            left.symlink_to(elsewhere)
        else:
            left.touch()
    copies = []
    for _ in range(2):
        SqliteRegistry(path).close()
        assert sorted(found.name for found in tmp_path.iterdir()) == ["elsewhere", "r.sqlite", "r.sqlite.good"]
        assert elsewhere.read_bytes() == b""
        copies.append(seal_of_copy(path))
    assert [copy and copy.commits for copy in copies] == [0, 1]


def test_what_a_killed_process_left_of_a_new_file_is_not_in_the_way(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"
    (tmp_path / f"r.sqlite.{os.getpid()}.new").write_bytes(b"half of one")
    assert weights(path) == 0
    assert sorted(found.name for found in tmp_path.iterdir()) == ["r.sqlite", "r.sqlite.good"]


def test_of_two_that_make_the_file_the_first_one_counts(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"
    make_file(path)
    first = path.read_bytes()
    make_file(path)
    assert [found.read_bytes() for found in tmp_path.iterdir()] == [first]


def test_a_file_that_was_replaced_while_it_was_open_is_not_written(tmp_path: Path) -> None:
    path, other = tmp_path / "r.sqlite", tmp_path / "other.sqlite"
    fill(other, 3)
    with closing(SqliteRegistry(path)) as registry:
        other.replace(path)
        with pytest.raises(RegistryFailure, match="replaced") as refused, registry.transaction():
            pytest.fail("nothing can be kept")
        assert str(path) in str(refused.value)
        assert refused.value.hint
    assert weights(path) == 3


def test_the_sums_of_records_are_those_of_earlier_releases() -> None:
    """Otherwise every registry that one of them wrote is refused as damaged."""
    assert digest("weight", b"web", "2.5") == 8242929123094889839
    assert digest("quota", b"\xff\0", "{}") == 4868949251088607660


@pytest.mark.parametrize(("value", "words"), [("0", "Expected `float` > 0.0"), ("{", "is not JSON")])
def test_a_record_that_was_changed_while_the_registry_was_open_is_named(tmp_path: Path, value: str, words: str) -> None:
    path = tmp_path / "r.sqlite"
    fill(path, 3)
    with closing(SqliteRegistry(path)) as registry:
        change(path, f"UPDATE record SET value = '{value}' WHERE key = CAST('role-1' AS BLOB)")
        for read in (lambda: registry.record("weight", "role-1"), lambda: registry.records("weight")):
            with pytest.raises(UnreadableRegistry) as refused:
                read()
            for part in (f"{path} is damaged", "weight/role-1", words, f"the last good copy is {path}.good"):
                assert part in str(refused.value)
        assert registry.record("weight", "role-0") == 1.0


def test_a_registry_of_the_version_before_is_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"
    fill(path)
    change(path, "DROP TABLE seal")
    change(path, "PRAGMA user_version=2")
    Path(f"{path}.good").unlink()
    assert weights(path) == 200
    without_a_record(path)
    with pytest.raises(UnreadableRegistry, match="its records differ from those that were written"):
        SqliteRegistry(path)


def test_the_copy_is_for_its_owner_only_and_nothing_else_is_left(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"
    fill(path)
    assert sorted(found.name for found in tmp_path.iterdir()) == ["r.sqlite", "r.sqlite.good"]
    assert Path(f"{path}.good").stat().st_mode & 0o777 == 0o600


def test_a_commit_waits_for_the_disk(tmp_path: Path) -> None:
    """As SQLite itself says of the connection that writes: 2 is FULL, which syncs the log at each commit."""
    with closing(SqliteRegistry(tmp_path / "r.sqlite")) as registry:
        registry.wait_at_most(0)
        with registry.transaction():
            registry.write("weight", "web", 2.0)
            inside = registry._connection.execute("PRAGMA synchronous").fetchone()
        for synchronous in (inside, registry._connection.execute("PRAGMA synchronous").fetchone()):
            assert synchronous == (2,)
        assert registry._connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
