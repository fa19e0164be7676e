"""A file is written through a link only where the link is the user's own, or the system's."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from mesosctl.files.writing import write_atomically
from mesosctl.mesos.errors import BadInput

SOMEBODY = 12_345


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], None]:
    """Makes a link somebody else's: by the system where that is allowed, else by being another one oneself."""

    def plant(link: Path) -> None:
        if os.geteuid() == 0:
            os.chown(link, SOMEBODY, SOMEBODY, follow_symlinks=False)
        else:
            monkeypatch.setattr("mesosctl.files.writing.os.geteuid", lambda: SOMEBODY)

    return plant


def test_a_link_of_ones_own_is_followed_and_stays(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    target, link, folder = tmp_path / "real" / "file", tmp_path / "link", tmp_path / "folder"
    target.write_text("old")
    link.symlink_to("folder/../real/./file")
    folder.symlink_to(tmp_path / "real")
    write_atomically(link, "new")
    assert (link.is_symlink(), target.read_text()) == (True, "new")
    write_atomically(folder / "file", "newer")
    write_atomically(folder / "another", "more")
    assert (target.read_text(), (tmp_path / "real" / "another").read_text()) == ("newer", "more")


@pytest.mark.parametrize("exists", [True, False])
def test_a_link_of_somebody_else_is_not(tmp_path: Path, planted: Callable[[Path], None], *, exists: bool) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    if exists:
        target.write_text("old")
    link.symlink_to(target)
    planted(link)
    with pytest.raises(BadInput, match=f"{link} is a link that belongs to another user; name the file itself"):
        write_atomically(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "old" if exists else not target.exists()


def test_nor_is_one_on_the_way(tmp_path: Path, planted: Callable[[Path], None]) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "folder").symlink_to("real")
    planted(tmp_path / "folder")
    with pytest.raises(BadInput, match="another user"):
        write_atomically(tmp_path / "folder" / "file", "new")
    assert list((tmp_path / "real").iterdir()) == []


def test_nor_one_behind_ones_own(tmp_path: Path, planted: Callable[[Path], None]) -> None:
    (tmp_path / "theirs").symlink_to(tmp_path / "target")
    (tmp_path / "link").symlink_to("theirs")
    planted(tmp_path / "theirs")
    with pytest.raises(BadInput, match="another user"):
        write_atomically(tmp_path / "link", "new")


def test_links_in_a_circle_are_told(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(BadInput, match="cannot be written"):
        write_atomically(tmp_path / "a", "new")


def test_a_pipe_of_the_shell_is_written_to(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    write_atomically(Path(f"/dev/fd/{writer}"), "new")
    os.close(writer)
    with os.fdopen(reader) as pipe:
        assert pipe.read() == "new"


def test_names_that_are_relative_or_have_dots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    write_atomically(Path("../file"), "new")
    assert (tmp_path / "file").read_text() == "new"
