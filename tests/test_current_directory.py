"""The current directory may belong to somebody else: no program reads or runs a file of it that nobody named.

`python -m` is not among the programs: Python itself then looks in the current directory first.
"""

import os
import re
import signal
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.metadata import distribution
from pathlib import Path

import httpx
import pytest

from tests import ROOT

pytestmark = pytest.mark.process

SCRIPTS: Mapping[str, str] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
IMPORTING = (
    "aiohttp",
    "httpx",
    "httpcore",
    "kazoo",
    "anyio",
    "rich",
    "typer",
    "pydantic",
    "tomlkit",
    "PyYAML",
    "msgspec",
)
"""Libraries that import others if they are installed."""
CONFIGURATION = (".env", ".netrc", "_netrc", "keyringrc.cfg", "mesosctl.toml", "config.toml", "setup.cfg", "pip.conf")
IMPORTED = re.compile(r"^[ \t]*(?:import|from)[ \t]+([A-Za-z]\w*)", re.MULTILINE)
WATCH = """
import os, sys
HERE, LOG = os.environ["WATCHED"], os.environ["WATCHED_LOG"]
EVENTS = ("open", "os.listdir", "os.scandir")
def watch(event, arguments):
    if event in EVENTS and isinstance(path := arguments[0], (str, bytes, type(None))):
        full = os.path.join(os.getcwd(), os.fsdecode(path or ""))
        if os.path.normpath(full).startswith(HERE) and os.path.lexists(full):
            with open(LOG, "a") as log:
                log.write(event + " " + full + "\\n")
sys.addaudithook(watch)
"""


@cache
def names_of_modules() -> tuple[str, ...]:
    """The names that the libraries import, those of the standard library and of this project apart."""
    names = {"sitecustomize", "usercustomize", "readline", "google", "keyring"}
    for library in IMPORTING:
        for file in distribution(library).files or ():
            if file.suffix == ".py":
                names.update(IMPORTED.findall(Path(str(file.locate())).read_text(encoding="utf-8")))
    return tuple(sorted(names - {"mesosctl", "fake_master"}))


class Folder:
    """A folder that somebody else fills, and programs that are started there."""

    def __init__(self, path: Path) -> None:
        self.here, self._aside = path / "shared", path / "aside"
        self._ran, self._log = path / "ran", path / "log"
        for folder in (self.here, self._aside, path / "home"):
            folder.mkdir()
        for name in names_of_modules():
            (self.here / f"{name}.py").write_text(f"open({str(self._ran)!r}, 'a').write({name + chr(10)!r})\n")
        for name in CONFIGURATION:
            (self.here / name).write_text("")
        (self._aside / "sitecustomize.py").write_text(WATCH)
        for name, entry in SCRIPTS.items():
            module, _, function = entry.partition(":")
            program = f"#!{sys.executable}\nimport sys\nfrom {module} import {function}\nsys.exit({function}())\n"
            (self._aside / name).write_text(program)
            (self._aside / name).chmod(0o755)
        self._environment = {
            "HOME": str(path / "home"),
            "PATH": f"{self._aside}:{os.environ['PATH']}",
            "PYTHONPATH": f"{self._aside}:{ROOT}",
            "PYTHONDONTWRITEBYTECODE": "1",
            "WATCHED": str(self.here),
            "WATCHED_LOG": str(self._log),
        }

    def start(self, command: list[str], **variables: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            command,
            cwd=self.here,
            env=self._environment | variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def program(self, text: str) -> str:
        """The path of a Python program with this text, in another folder."""
        path = self._aside / "program.py"
        path.write_text(text, encoding="utf-8")
        return str(path)

    def ran(self) -> str:
        return self._ran.read_text() if self._ran.exists() else ""

    def read(self) -> str:
        return self._log.read_text() if self._log.exists() else ""


def end(master: subprocess.Popen[str]) -> int:
    """The status with which a served master ends."""
    master.send_signal(signal.SIGTERM)
    master.communicate(timeout=60)
    return master.returncode


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path.resolve())


def finish(running: subprocess.Popen[str], statuses: tuple[int, ...] = (0,)) -> str:
    said, errors = running.communicate(timeout=60)
    assert running.returncode in statuses, errors
    return said


COMMANDS = {
    "--version": (0,),
    "quota set web cpus:1 --master fake:": (0,),
    "snapshot --master fake: -o yaml": (0,),
    "whatif --lose-fraction 0.1 --master fake:": (0, 1),
    "context set lab --master fake:": (0,),
    "quota list --master https://127.0.0.1:1 --timeout 1s": (7, 9),
    "quota list --master zk://127.0.0.1:1/mesos --timeout 1s": (7, 9),
    "quota list --master fake: --principal ops --secret-from keyring": (2, 3),
}
RUN_EACH = f"""
import os, sys
from mesosctl.__main__ import main
for words, statuses in {COMMANDS}.items():
    sys.argv = ["mesosctl", *words.split()]
    status = main()
    assert status in statuses, (words, status)
"""


def test_mesosctl_reads_and_runs_nothing_of_the_current_directory(folder: Folder):
    finish(folder.start([sys.executable, folder.program(RUN_EACH)]))
    assert (folder.ran(), folder.read()) == ("", "")


def test_completion_reads_and_runs_nothing_of_the_current_directory(folder: Folder):
    asked = {"_MESOSCTL_COMPLETE": "words_bash", "_MESOSCTL_LINE": "mesosctl quota s", "_MESOSCTL_REPLACED": "s"}
    assert "set" in finish(folder.start(["mesosctl"], **asked))
    assert (folder.ran(), folder.read()) == ("", "")


@pytest.mark.socket
def test_a_served_master_reads_and_runs_nothing_of_the_current_directory(folder: Folder):
    state = folder.here.parent / "state"
    options = f"--driver --log-requests --mesos-version 1.11 --registry sqlite --work-dir {state}"
    master = folder.start(["mesos-fake-master", "--port", "0", "--agent", "cpus:4;mem:4096", *options.split()])
    assert master.stdout is not None
    url = master.stdout.readline().strip()
    assert httpx.get(f"{url}/state", headers={"Accept-Encoding": "br, gzip"}, timeout=60).status_code == 200
    assert httpx.post(f"{url}/quota", content="{", timeout=60).status_code == 400
    assert end(master) == 0
    assert (folder.ran(), folder.read()) == ("", "")


@pytest.mark.socket
def test_python_programs_and_the_pytest_plugin_run_nothing_of_the_current_directory(folder: Folder):
    # pytest itself looks for its configuration there, so this is about what runs.
    program = folder.program(
        "import sys, pytest\n"
        "options = ['-q', '-p', 'fake_master.testing.pytest_plugin', '-p', 'no:cacheprovider']\n"
        "sys.exit(pytest.main([*options, '--import-mode=importlib', sys.argv[1]]))\n"
    )
    tests = folder.here.parent / "aside" / "test_something.py"
    tests.write_text(
        "import mesosctl\n"
        "def test_something(fake_master):\n"
        "    assert mesosctl.Master(fake_master.url).quotas() is not None\n"
    )
    assert "1 passed" in finish(folder.start([sys.executable, program, str(tests)], PYTEST_DISABLE_PLUGIN_AUTOLOAD="1"))
    assert folder.ran() == ""


@pytest.mark.socket
def test_an_allocator_in_the_current_directory_is_imported_and_nothing_else(folder: Folder):
    (folder.here / "mine.py").write_text(
        "from fake_master.allocator.custom_base import SharingAllocator\n"
        "class Mine(SharingAllocator):\n    def share(self, run):\n        pass\n"
    )
    master = folder.start(["mesos-fake-master", "--port", "0", "--agent", "cpus:4", "--allocator", "mine:Mine"])
    assert master.stdout is not None
    url = master.stdout.readline().strip()
    assert httpx.get(f"{url}/flags", timeout=60).json()["flags"]["allocator"] == "mine:Mine"
    assert end(master) == 0
    assert folder.ran() == ""
