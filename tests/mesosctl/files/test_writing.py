"""A file is replaced whole or not at all, whatever comes in between."""

import os
import resource
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from mesosctl.files.writing import replace_file, sync_folder, write_atomically, write_pieces
from mesosctl.mesos.errors import BadInput

OLD, NEW = "what was there\n" * 1000, "what is there now\n" * 2000
CALLS = ("open", "write", "fchown", "fchmod", "fsync", "rename", "replace", "setxattr", "unlink", "close")
"""Of the operating system, where a program can be stopped."""


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "file"
    path.write_text(OLD)
    path.chmod(0o640)
    return path


def die_at(stop: int, path: Path) -> bool:
    """Write in a process of its own that ends before its `stop`-th call of the system; whether it did."""
    child = os.fork()
    if child == 0:
        calls = 0

        def counted(real: Callable[..., Any]) -> Callable[..., Any]:
            def call(*arguments: Any, **named: Any) -> Any:
                nonlocal calls
                if calls == stop:
                    os._exit(3)
                calls += 1
                return real(*arguments, **named)

            return call

        for name in CALLS:
            setattr(os, name, counted(getattr(os, name)))
        write_atomically(path, NEW)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3


@pytest.mark.process
def test_wherever_it_is_stopped_there_is_the_old_file_or_the_new_one(file: Path) -> None:
    found = []
    for stop in range(100):
        file.write_text(OLD)
        file.chmod(0o640)
        stopped = die_at(stop, file)
        found.append(file.read_text())
        assert found[-1] in (OLD, NEW)
        assert mode(file) == 0o640
        for left in file.parent.glob(".file.*"):
            left.unlink()
        if not stopped:
            break
    assert not stopped
    assert len(found) > 5, "hardly anything was counted"
    # First the old one, from some moment on the new one.
    assert found == [OLD] * found.count(OLD) + [NEW] * found.count(NEW)
    assert found[0] == OLD
    assert found[-1] == NEW


def test_it_is_settled_before_it_takes_its_name(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    happened: list[str] = []
    for name in ("fsync", "rename", "replace"):
        real = getattr(os, name)

        def noted(*arguments: Any, _name: str = name, _real: Callable[..., Any] = real, **named: Any) -> Any:
            happened.append("rename" if _name == "replace" else _name)
            return _real(*arguments, **named)

        monkeypatch.setattr(os, name, noted)
    write_atomically(file, NEW)
    assert happened == ["fsync", "rename", "fsync"]


def test_pieces_make_one_file_or_leave_the_old_one(file: Path) -> None:
    write_pieces(file, (letter * 100_000 for letter in "abc"))
    whole = "".join(letter * 100_000 for letter in "abc")
    assert file.read_text() == whole

    def ending_early() -> Iterator[str]:
        yield "x" * 1_000_000
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_pieces(file, ending_early())
    assert file.read_text() == whole
    assert list(file.parent.iterdir()) == [file]


@pytest.mark.process
def test_what_killed_programs_left_goes_with_a_later_write(file: Path) -> None:
    assert die_at(3, file)
    (left,) = (path for path in file.parent.iterdir() if path != file)
    write_atomically(file, NEW)
    assert left.exists(), "it might still be at work"
    os.utime(left, (0, 0))
    other = file.with_name(".file.of-somebody-else")
    other.write_text("")
    os.utime(other, (0, 0))
    write_atomically(file, NEW)
    assert sorted(path.name for path in file.parent.iterdir()) == [".file.of-somebody-else", "file"]


def test_a_new_file_has_the_rights_that_its_user_gives(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_atomically(tmp_path / "open", NEW)
        write_atomically(tmp_path / "private", NEW, new_mode=0o600)
    finally:
        os.umask(before)
    assert (mode(tmp_path / "open"), mode(tmp_path / "private")) == (0o640, 0o600)


@pytest.mark.parametrize("rights", [0o600, 0o644, 0o660, 0o755, 0o4755])
def test_rights_and_owner_are_kept(file: Path, rights: int) -> None:
    if os.getuid() == 0:
        os.chown(file, 12345, 23456)
    file.chmod(rights)
    before = file.stat()
    write_atomically(file, NEW)
    after = file.stat()
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)


def test_attributes_are_kept(file: Path) -> None:
    try:
        os.setxattr(file, "user.remark", b"mine")
    except OSError:
        pytest.skip("this file system knows no attributes")
    write_atomically(file, NEW)
    assert os.getxattr(file, "user.remark") == b"mine"


def test_a_link_stays_a_link(file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    link, dangling = folder / "link", folder / "dangling"
    link.symlink_to("../file")
    dangling.symlink_to("../new")
    write_atomically(link, NEW)
    write_atomically(dangling, NEW)
    assert (link.is_symlink(), dangling.is_symlink()) == (True, True)
    assert file.read_text() == (tmp_path / "new").read_text() == NEW
    assert sorted(path.name for path in folder.iterdir()) == ["dangling", "link"]


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_atomically(pipe, "through")
    assert os.read(reader, 100) == b"through"
    os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_name_as_long_as_may_be(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 255)
    write_atomically(path, NEW)
    assert path.read_text() == NEW


@contextmanager
def no_room() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_without_room_the_old_one_stays_and_nothing_beside_it(file: Path) -> None:
    with no_room(), pytest.raises(BadInput, match="cannot be written"):
        write_atomically(file, NEW)
    assert file.read_text() == OLD
    assert list(file.parent.iterdir()) == [file]


def test_bytes_that_are_no_text_go_as_they_came(file: Path) -> None:
    write_atomically(file, b"role-\xff".decode(errors="surrogateescape"))
    assert file.read_bytes() == b"role-\xff"


def test_a_text_that_is_none_changes_nothing(file: Path) -> None:
    with pytest.raises(BadInput, match="not Unicode"):
        write_atomically(file, "lone \ud800")
    assert file.read_text() == OLD


def test_places_where_no_file_can_be(tmp_path: Path, file: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to("loop")
    for path in (tmp_path, tmp_path / "no" / "folder", file / "below", loop):
        with pytest.raises(BadInput, match="cannot be written") as caught:
            write_atomically(path, NEW, field="--svg")
        assert caught.value.field == "--svg"
    assert file.read_text() == OLD


def test_a_file_that_may_not_be_written_is_left_alone(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Root may write anything, so what the system would say to everybody else is said here.
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(BadInput, match="Permission denied"):
        write_atomically(file, NEW)
    assert file.read_text() == OLD


def test_an_interrupt_leaves_nothing_beside(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_descriptor: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(file, NEW)
    assert file.read_text() == OLD
    assert list(file.parent.iterdir()) == [file]


@pytest.mark.process
def test_two_at_once_leave_one_of_the_two(file: Path) -> None:
    children = []
    for letter in "ab":
        child = os.fork()
        if child == 0:
            for _ in range(50):
                write_atomically(file, letter * 50_000)
            os._exit(0)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0]
    assert file.read_text() in ("a" * 50_000, "b" * 50_000)
    assert list(file.parent.iterdir()) == [file]


def test_a_cache_is_whole_without_waiting_for_the_disk(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _descriptor: pytest.fail("it waited"))
    replace_file(file, b"names", settled=False)
    assert file.read_bytes() == b"names"


def test_a_folder_is_settled(tmp_path: Path) -> None:
    sync_folder(tmp_path)
    with pytest.raises(FileNotFoundError):
        sync_folder(tmp_path / "none")


def test_a_fifo_that_nobody_reads_is_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(BadInput, match="cannot be written: it is a FIFO that no program reads"):
        write_atomically(pipe, "text")
