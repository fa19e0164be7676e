"""The two commands where a registry cannot be written, as a user without special rights."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests import ROOT
from tests.fake_master.sending import as_json, garbage, make
from tests.helpers.needs import require

pytestmark = pytest.mark.process


def as_a_user() -> list[str]:
    """What makes the rights of files count for root as well, whom they would not stop."""
    if os.getuid() != 0:
        return []
    require("setpriv")
    return ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder of the user as whom commands are run."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        yield folder
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o700)


def run(home: Path, *words: str, limit: str = "") -> subprocess.CompletedProcess[str]:
    """A command that ends by itself; `limit` is shell before it."""
    return subprocess.run(
        [*as_a_user(), "sh", "-c", f'{limit} exec "$@"', "sh", sys.executable, "-m", *words],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
        cwd="/",
        env={**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(home), "XDG_STATE_HOME": str(home), "NO_COLOR": "1"},
    )


def tool(home: Path, *words: str, limit: str = "") -> subprocess.CompletedProcess[str]:
    return run(home, "mesosctl", *words, "--master", "fake:?version=1.11", limit=limit)


def state(home: Path) -> Path:
    return home / "mesosctl" / "fake" / "built-in-1.11.sqlite"


@contextmanager
def read_only_file(path: Path) -> Iterator[str]:
    path.chmod(0o400)
    yield ""
    path.chmod(0o600)


@contextmanager
def read_only_folder(path: Path) -> Iterator[str]:
    path.parent.chmod(0o500)
    yield ""
    path.parent.chmod(0o700)


@contextmanager
def no_way_in(path: Path) -> Iterator[str]:
    path.parent.chmod(0)
    yield ""
    path.parent.chmod(0o700)


@contextmanager
def no_room(_path: Path) -> Iterator[str]:
    yield "ulimit -f 0;"


@contextmanager
def little_room(_path: Path) -> Iterator[str]:
    yield "ulimit -f 8;"


CONDITIONS = [read_only_file, read_only_folder, no_way_in, no_room, little_room]


@pytest.mark.parametrize("condition", CONDITIONS)
def test_the_tool_says_what_is_wrong_and_works_again_afterwards(home: Path, condition: Callable[[Path], Any]) -> None:
    assert tool(home, "quota", "set", "ads", "cpus:1").returncode == 0
    before = as_json(tool(home, "quota", "list", "-o", "json").stdout)
    with condition(state(home)) as limit:
        refused = tool(home, "quota", "set", "web", "cpus:1", limit=limit)
    assert refused.returncode in (3, 8), refused
    assert refused.stdout == ""
    assert "built-in-1.11.sqlite" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert "fresh" not in refused.stderr, "nothing is wrong with the file"
    assert as_json(tool(home, "quota", "list", "-o", "json").stdout) == before
    assert tool(home, "quota", "set", "web", "cpus:1").returncode == 0


def test_starting_over_does_not_put_aside_a_file_that_only_cannot_be_written_now(home: Path) -> None:
    assert tool(home, "quota", "set", "ads", "cpus:1").returncode == 0
    with read_only_file(state(home)):
        refused = run(home, "mesosctl", "quota", "list", "--master", "fake:?version=1.11&fresh")
    assert refused.returncode == 3, refused
    assert [path.name for path in state(home).parent.glob("*damaged*")] == []
    assert "ads" in tool(home, "quota", "list").stdout


def test_starting_over_puts_each_damaged_file_aside(home: Path) -> None:
    for _ in range(2):
        assert tool(home, "quota", "set", "ads", "cpus:1").returncode == 0
        garbage(state(home))
        refused = tool(home, "quota", "list")
        assert refused.returncode == 3
        assert "fresh" in refused.stderr
        assert run(home, "mesosctl", "quota", "list", "--master", "fake:?version=1.11&fresh").returncode == 0
    aside = sorted(path.name for path in state(home).parent.glob("*damaged*"))
    first, second = "built-in-1.11.damaged", "built-in-1.11.damaged-2"
    assert set(aside) == {first, f"{first}.good", second, f"{second}.good"}


@pytest.mark.parametrize("condition", CONDITIONS)
def test_the_server_does_not_start_and_says_why(home: Path, condition: Callable[[Path], Any]) -> None:
    path = home / "work" / "registry.sqlite"
    path.parent.mkdir()
    make(path)
    before = path.read_bytes()
    with condition(path) as limit:
        ended = run(
            home, "fake_master", "--port", "0", "--registry", "sqlite", "--work-dir", str(path.parent), limit=limit
        )
    assert ended.returncode in (2, 3), ended
    assert ended.stdout == ""
    assert str(path.parent) in ended.stderr
    assert "Traceback" not in ended.stderr
    assert path.read_bytes() == before
