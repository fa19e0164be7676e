"""Little space, little memory, no home: what is done is told, nothing is half done, and nothing is called a bug."""

import errno
import os
import pwd
import stat
from pathlib import Path
from typing import Any

import pytest

from fake_master import __main__ as program
from fake_master.transports.address import FakeAddress
from mesosctl.apply import journal as journals
from mesosctl.apply.journal import Journal, JournalEntry, JournalKey
from mesosctl.apply.plan import WeightsStep
from mesosctl.files import writing as file_writing
from mesosctl.files.user_folders import state_folder
from mesosctl.files.writing import make_private_folder
from mesosctl.mesos.errors import BadInput, Conflict, too_little_memory
from mesosctl.program.run import _explain

STEPS = [WeightsStep({f"role-{number}": 1.0}, {f"role-{number}": 2.0}) for number in range(5)]
FULL = OSError(errno.ENOSPC, "No space left on device")


def journal(folder: Path, text: str = "text") -> Journal:
    return Journal(folder / "apply", JournalKey.of("master", text, "/wanted.toml"))


def files(folder: Path) -> set[str]:
    return {path.suffix for path in (folder / "apply").iterdir()}


def full_from(monkeypatch: pytest.MonkeyPatch, write: int, *, reserve: bool) -> list[int]:
    """Every write of a journal from this one on finds a full disk, while the reserve is there if `reserve`."""
    written, original = [0], file_writing._replace_file

    def replacing(path: Path, *arguments: Any, **more: Any) -> None:
        written[0] += 1
        if written[0] >= write and (not reserve or path.with_suffix(".reserve").exists()):
            raise FULL
        original(path, *arguments, **more)

    monkeypatch.setattr(file_writing, "_replace_file", replacing)
    return written


def test_space_is_reserved_before_the_first_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_space(*_arguments: Any) -> None:
        raise FULL

    monkeypatch.setattr(journals, "_allocate", no_space)
    with journal(tmp_path) as kept:
        with pytest.raises(BadInput, match="No space left on device: 0 of 5 steps done") as caught:
            kept.write(JournalEntry("digest", STEPS, 0))
        assert (caught.value.field, caught.value.hint) == (None, "make room there")
        assert files(tmp_path) == {".lock"}


def test_a_disk_that_fills_up_meanwhile_is_met_by_the_reserve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with journal(tmp_path) as kept:
        kept.write(JournalEntry("digest", STEPS, 0))
        assert files(tmp_path) == {".json", ".lock", ".reserve"}
        full_from(monkeypatch, 1, reserve=True)
        for done in range(1, 6):
            kept.write(JournalEntry("digest", STEPS, done))
        left = kept.read()
    assert left is not None
    assert left.done == 5


def test_a_full_disk_in_the_middle_says_what_is_done_and_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with journal(tmp_path) as kept:
        kept.write(JournalEntry("digest", STEPS, 0))
        full_from(monkeypatch, 1, reserve=False)
        with pytest.raises(BadInput) as caught:
            kept.write(JournalEntry("digest", STEPS, 3))
        assert caught.value.message.startswith("the journal /")
        assert caught.value.message.endswith(": No space left on device: 3 of 5 steps done")
        assert caught.value.hint == "make room there; the same command then continues"
        assert caught.value.field is None
        left = kept.read()
    assert left is not None
    assert left.done == 0  # what was there before


def test_locks_and_reserves_do_not_pile_up(tmp_path: Path) -> None:
    for number in range(20):
        with journal(tmp_path, str(number)) as kept:
            kept.write(JournalEntry("digest", STEPS, 0))
            with pytest.raises(Conflict), journal(tmp_path, str(number)):
                pass
            kept.end()
    assert files(tmp_path) == set()


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o777])
def test_folders_that_are_made_are_private(tmp_path: Path, umask: int) -> None:
    tmp_path.chmod(0o755)
    before = os.umask(umask)
    try:
        make_private_folder(tmp_path / "a" / "b" / "c")
    finally:
        os.umask(before)
    made = [tmp_path / "a", tmp_path / "a" / "b", tmp_path / "a" / "b" / "c"]
    assert [stat.S_IMODE(folder.stat().st_mode) for folder in made] == [0o700] * 3
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755
    make_private_folder(made[-1])


def test_a_file_in_the_way_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file", tmp_path / "file" / "folder"):
        with pytest.raises(OSError, match=r"File exists|Not a directory"):
            make_private_folder(path)


@pytest.fixture
def nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user without an entry in the list of users, and without HOME."""

    def unknown(_number: int) -> Any:
        raise KeyError("getpwuid(): uid not found: 12345")

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    monkeypatch.delenv("HOME", raising=False)


@pytest.mark.usefixtures("nobody")
def test_without_a_home_there_is_a_sentence_and_xdg_folders_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadInput, match="there is no home folder: HOME is not set"):
        state_folder({})
    assert state_folder({"XDG_STATE_HOME": "/state"}) == Path("/state/mesosctl")
    with pytest.raises(BadInput, match="no home folder"):
        FakeAddress().state_file()
    with pytest.raises(BadInput, match="no home folder"):
        journals.folder({})
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert FakeAddress().state_file().is_relative_to(tmp_path)
    assert journals.folder({}).is_relative_to(tmp_path)


NO_MEMORY = [
    MemoryError(),
    OSError(errno.ENOMEM, "Cannot allocate memory"),
    ImportError("libre2.so: failed to map segment from shared object"),
    RuntimeError("can't start new thread"),
]


@pytest.mark.parametrize("error", NO_MEMORY)
def test_too_little_memory_is_a_sentence(error: Exception) -> None:
    explained = _explain(error)
    assert explained is not None
    assert explained.message == "there is not enough memory"


@pytest.mark.parametrize("error", NO_MEMORY)
def test_too_little_memory_for_a_fake_master_is_a_sentence(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def failing(*_: Any) -> None:
        raise error

    monkeypatch.setattr(program, "edits_told", failing)
    with pytest.raises(SystemExit) as ended:
        program.main()
    assert ended.value.code == 3
    (said,) = capsys.readouterr().err.splitlines()
    assert said.startswith("mesos-fake-master: there is not enough memory (")


@pytest.mark.parametrize("error", [RuntimeError("a bug"), ImportError("no module named x"), OSError(errno.EIO, "I/O")])
def test_no_other_error_is_said_to_be_about_memory(error: Exception) -> None:
    assert too_little_memory(error) is None
