"""`mesos-fake-master` as a process for others: how it says that it is ready, what it logs, and when it ends."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests import ROOT
from tests.conformance.masters.processes import Process
from tests.endurance.jobs.image import instructions, json_of, sources
from tests.helpers.waiting import wait_until

COMMAND = [sys.executable, "-m", "fake_master", "--port", "0"]
pytestmark = [pytest.mark.process, pytest.mark.socket]


@pytest.fixture
def served(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Process]:
    """A fake master with the options of the test's parameter."""
    options = [word.replace("FOLDER", str(tmp_path)) for word in getattr(request, "param", ())]
    process = Process([*COMMAND, *options], tmp_path / "log")
    try:
        yield process
    finally:
        process.stop()


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("served", [["--ready-file", "FOLDER/ready"]], indirect=True)
def test_the_ready_file_is_there_while_requests_are_taken(served: Process, tmp_path: Path):
    url = served.first_line()
    (ready,) = lines(tmp_path / "ready")
    assert ready == {"url": url, "ip": "127.0.0.1", "port": int(url.rpartition(":")[2]), "pid": served.pid}
    assert httpx.get(f"{url}/health").status_code == 200
    served.stop()
    assert not (tmp_path / "ready").exists()


@pytest.mark.parametrize("path", ["FOLDER/none/ready", "FOLDER"])
def test_a_ready_file_that_cannot_be(path: str, tmp_path: Path):
    done = subprocess.run(
        [*COMMAND, "--ready-file", path.replace("FOLDER", str(tmp_path))], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (3, "")
    assert "cannot be written" in done.stderr


def test_an_old_ready_file_is_no_promise(tmp_path: Path):
    (tmp_path / "ready").write_text("old", encoding="utf-8")
    done = subprocess.run(
        [*COMMAND, "--ready-file", tmp_path / "ready", "--agent", "nonsense"], capture_output=True, check=False
    )
    assert done.returncode == 3
    assert not (tmp_path / "ready").exists()


@pytest.mark.parametrize("served", [["--log-format", "json", "--log-requests"]], indirect=True)
def test_the_address_and_the_log_are_json(served: Process, tmp_path: Path):
    ready = json.loads(served.first_line())
    assert ready["pid"] == served.pid
    assert httpx.get(f"{ready['url']}/quota?x=1").status_code == 200
    assert httpx.post(f"{ready['url']}/quota", content="nonsense").status_code == 400
    served.stop()
    told = [(line["level"], line["method"], line["path"], line["status"]) for line in lines(tmp_path / "log")]
    assert told == [("info", "GET", "/quota?x=1", 200), ("info", "POST", "/quota", 400)]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+\+00:00", line["time"]) for line in lines(tmp_path / "log"))


def test_requests_are_logged_only_where_that_is_asked_for(served: Process, tmp_path: Path):
    httpx.get(f"{served.first_line()}/state")
    served.stop()
    assert (tmp_path / "log").read_text(encoding="utf-8") == ""


@pytest.mark.parametrize("served", [["--log-requests"]], indirect=True)
def test_the_log_as_text(served: Process, tmp_path: Path):
    httpx.get(f"{served.first_line()}/state")
    served.stop()
    assert (tmp_path / "log").read_text(encoding="utf-8") == "mesos-fake-master: GET /state 200\n"


@pytest.mark.parametrize(
    ("words", "told"),
    [(["--agent", "nonsense"], "agent agent-1"), (["--cluster", "/nowhere"], "cannot be read")],
)
def test_a_mistake_is_a_line_of_the_log(words: list[str], told: str):
    done = subprocess.run([*COMMAND, "--log-format", "json", *words], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (3, "")
    (line,) = done.stderr.splitlines()
    assert (json.loads(line)["level"], told in json.loads(line)["message"]) == ("error", True)


@pytest.mark.parametrize("options", [[], ["--exit-with-parent"]])
def test_it_ends_with_its_parent_when_asked(options: list[str], tmp_path: Path):
    """A shell starts it, says that it is ready, and is killed."""
    words = [*COMMAND, "--ready-file", str(tmp_path / "ready"), *options]
    command = f"{shlex.join(words)} >{tmp_path}/out 2>&1 & wait"
    shell = subprocess.Popen(["sh", "-c", command], cwd=ROOT)
    wait_until((tmp_path / "ready").exists)
    pid, url = lines(tmp_path / "ready")[0]["pid"], lines(tmp_path / "ready")[0]["url"]
    try:
        shell.kill()
        shell.wait()
        if options:
            wait_until(lambda: not (tmp_path / "ready").exists())
            wait_until(lambda: not _is_there(url))
        else:
            assert _is_there(url)
    finally:
        if _is_there(url):
            os.kill(pid, signal.SIGTERM)


def _is_there(url: str) -> bool:
    try:
        return httpx.get(f"{url}/health", timeout=60).status_code == 200
    except httpx.TransportError:
        return False


# --- The container ------------------------------------------------------------------------------------


def test_the_container_starts_a_master_that_is_healthy(tmp_path: Path):
    """What the image runs, run here: on a free port of the loopback interface."""
    entry, arguments, check = json_of("ENTRYPOINT"), json_of("CMD"), json_of("HEALTHCHECK")
    assert entry[:3] == ["mesos-fake-master", "--ip", "0.0.0.0"]
    process = Process([*COMMAND, *entry[3:], *arguments], tmp_path / "log")
    try:
        ready = json.loads(process.first_line())
        assert len(httpx.get(f"{ready['url']}/slaves").json()["slaves"]) == 1
        assert check[0] == "python"
        healthy = [sys.executable, *(word.replace("5050", str(ready["port"])) for word in check[1:])]
        assert subprocess.run(healthy, check=False).returncode == 0
    finally:
        process.stop()
    assert subprocess.run(healthy, check=False, capture_output=True).returncode != 0


def test_the_container_has_no_more_than_it_needs():
    names = [name for name, _ in instructions()]
    assert names.count("FROM") == 2
    assert dict(instructions())["USER"] != "root"
    assert ("EXPOSE", "5050") in instructions()
    assert (ROOT / ".containerignore").read_text(encoding="utf-8").startswith("*\n")
    assert all((ROOT / source).exists() for source in sources())
    taken = {"mesosctl", "fake_master", "pyproject.toml", "requirements.txt", "README.md", "LICENSE"}
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]["targets"][
        "wheel"
    ]
    taken.update(path.partition("/")[0] for path in wheel["shared-data"])
    assert set(sources()) == taken | set(wheel["force-include"])
