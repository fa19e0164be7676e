"""A whole `apply` whose journal is on a disk that is really full: a tmpfs of 32 KiB in a mount namespace of its own."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.mesosctl.apply.conftest import FAKE

pytestmark = pytest.mark.process

# Runs the command twice. Something else fills the disk: before it ("0"), or again before each step from the given one
# on. Before the second run there is room again.
PROGRAM = """
import json, os, sys
from io import StringIO
from pathlib import Path
from mesosctl.__main__ import main
from mesosctl.apply import work as running
from tests.helpers.surroundings import InMemory
disk, at, times, words = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
perform, steps, fillers = running.perform, 0, []
def fill():
    fillers.append(disk / f"filler-{len(fillers)}")
    with open(fillers[-1], "wb", buffering=0) as file:
        for size in (4096, 1):
            try:
                while True: file.write(bytes(size))
            except OSError: pass
def filling(*rest):
    global steps
    steps += 1
    if at <= steps < at + times: fill()
    perform(*rest)
def run():
    environment = InMemory(variables=dict(os.environ))
    return main(words, environment), environment.out, environment.err
if at: running.perform = filling
else: fill()
first = run()
running.perform = perform
for filler in fillers: filler.unlink()
second = run()
print(json.dumps([first, second, sorted(os.listdir(disk))]))
"""
MOUNTED = 'mount -t tmpfs -o size=32k,mode=0700 none "$0" && exec "$@"'


def applied(tmp_path: Path, file: Path, at: int, times: int = 1) -> Any:
    """(status, stdout, stderr) of each run, and what is left on the disk."""
    disk = tmp_path / "mesosctl" / "apply"
    disk.mkdir(parents=True, mode=0o700)
    words = [str(disk), str(at), str(times), "--master", FAKE, "apply", "-f", str(file)]
    ended = subprocess.run(
        [*NAMESPACE, "sh", "-c", MOUNTED, str(disk), sys.executable, "-c", PROGRAM, *words],
        env=os.environ | {"XDG_STATE_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


NAMESPACE = ["unshare", "--user", "--map-root-user", "--mount"]


@pytest.fixture(autouse=True)
def _mounts(tmp_path: Path) -> None:
    """Some containers allow no mount, not even in a namespace."""
    where = tmp_path / "try"
    where.mkdir()
    tried = [*NAMESPACE, "mount", "-t", "tmpfs", "none", str(where)]
    if shutil.which("unshare") is None or subprocess.run(tried, check=False, capture_output=True).returncode:
        pytest.skip("no tmpfs can be mounted here")


def test_a_full_disk_stops_apply_before_its_first_step(file: Path, tmp_path: Path) -> None:
    first, second, left = applied(tmp_path, file, 0)
    assert first[:2] == [3, ""], first
    assert "No space left on device: 0 of 5 steps done\n" in first[2]
    assert "  hint: make room there\n" in first[2]
    assert "at:" not in first[2]
    assert "interrupted" not in second[2]  # nothing was done, so nothing is continued
    assert (second[0], left) == (0, [])


def test_a_disk_that_is_full_from_the_second_step_on_is_met_by_the_reserve(file: Path, tmp_path: Path) -> None:
    first, second, left = applied(tmp_path, file, 2)
    assert (first[0], left) == (0, [])
    assert "nothing differs from the file" in second[2]


def test_if_the_reserve_is_taken_too_the_same_command_goes_on(file: Path, tmp_path: Path) -> None:
    first, second, left = applied(tmp_path, file, 2, 3)
    assert first[0] == 3
    assert "No space left on device: 3 of 5 steps done\n" in first[2]
    assert "  hint: make room there; the same command then continues\n" in first[2]
    assert "at:" not in first[2]
    assert "interrupted: the master shows 3 of its 5 steps" in second[2]
    assert (second[0], left) == (0, [])
