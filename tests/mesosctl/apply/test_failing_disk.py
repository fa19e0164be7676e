"""A disk that fails or stalls under the journal of `apply`, at every call of the system: nothing is lost."""

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.mesosctl.apply.conftest import steps

CALLS = ("open", "fsync", "replace", "rename", "posix_fallocate", "chmod", "fchmod", "unlink")
Failing = Callable[[int, BaseException | None], list[str]]


def is_journal(place: Any) -> bool:
    """Whether a path or a descriptor is one of the journal's folder."""
    name = Path(f"/proc/self/fd/{place}").readlink() if isinstance(place, int) else os.fspath(place)
    return "/mesosctl/apply" in str(name)


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Failing:
    """Have the call of the system of this number about the journal fail; return the names of all calls so far."""
    state: dict[str, Any] = {"at": 0, "error": None}
    made: list[str] = []

    def failing_or(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(place: Any, *arguments: Any, **named: Any) -> Any:
            if is_journal(place):
                made.append(name)
                if state["error"] is not None and len(made) == state["at"]:
                    raise state["error"]
            return real(place, *arguments, **named)

        return call

    for name in CALLS:
        monkeypatch.setattr(os, name, failing_or(name, getattr(os, name)))

    def set_up(at: int, error: BaseException | None) -> list[str]:
        made.clear()
        state.update(at=at, error=error)
        return made

    return set_up


ERRORS = {
    "no inode, or no room": OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)),
    "too many files": OSError(errno.EMFILE, os.strerror(errno.EMFILE)),
    "the disk is broken": OSError(errno.EIO, os.strerror(errno.EIO)),
    "read-only from now on": OSError(errno.EROFS, os.strerror(errno.EROFS)),
    "Ctrl-C while it stalls": KeyboardInterrupt(),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ERRORS)
def test_wherever_the_disk_fails_the_same_command_goes_on(
    run: Any, file: Path, failing: Failing, kind: str, tmp_path: Path
) -> None:
    made = failing(0, None)
    status, out, err = run("apply", "-f", file, "-o", "json")
    assert (status, len(steps(out))) == (0, 5), err
    calls, ended = list(made), []
    assert {"open", "fsync", "unlink"} < set(calls)
    # Every call is tried with one of the errors, and the last ones, which remove the journal, with all.
    places = range(1 + list(ERRORS).index(kind), len(calls) + 1, len(ERRORS))
    for at in sorted({*places, len(calls) - 1, len(calls)}):
        shutil.rmtree(tmp_path / "mesosctl")  # the fake master's state too
        failing(at, ERRORS[kind])
        status, out, err = run("apply", "-f", file)
        assert status in ((0, 130) if kind.startswith("Ctrl-C") else (0, 3)), (at, calls[at - 1], err)
        assert "Traceback" not in err
        assert "a bug" not in err
        assert "  at: " not in err
        # Until the lock is there and the journal was looked for, no step is spoken of.
        assert status == 0 or at <= 3 or " done" in err or "no change was sent" in err, err
        ended.append(status)
        failing(0, None)
        status, _, err = run("apply", "-f", file)
        assert status == 0, (at, calls[at - 1], err)
        assert run("diff", "-f", file)[0] == 0
        assert list((tmp_path / "mesosctl" / "apply").glob("*.json")) == []
    assert {3, 130} & set(ended)


@pytest.mark.parametrize(
    ("number", "said"), [(0, "no change was sent"), (2, "2 of 5 steps done"), (-1, "every step is done")]
)
def test_ctrl_c_while_the_disk_stalls_tells_what_is_done(
    run: Any, file: Path, failing: Failing, number: int, said: str, tmp_path: Path
) -> None:
    """In the sync of the journal before the first step, after the second one, and of its removal."""
    made = failing(0, None)
    assert run("apply", "-f", file)[0] == 0
    syncs = [at for at, name in enumerate(made, 1) if name == "fsync"]
    shutil.rmtree(tmp_path / "mesosctl")  # the fake master's state too
    failing(syncs[2 * number if number >= 0 else -1], KeyboardInterrupt())  # a file's, and its folder's
    status, _, err = run("apply", "-f", file)
    assert (status, said in err) == (130, True), err
    failing(0, None)
    assert run("apply", "-f", file)[0] == 0
