"""The default run leaves out tests with needs, and tests that lack a marker or a program are skipped or fail."""

import pytest

from tests import ROOT

NEEDY = """
import pytest, socket, subprocess, sys
from tests.helpers.needs import lacking, needs

@pytest.fixture
@needs("socket")
def listener():
    with socket.create_server(("127.0.0.1", 0)) as made:
        yield made

class OnASocket:
    needs = ("process", "socket")

def test_plain(): pass
def test_with_a_fixture(listener): pass
@pytest.mark.process
def test_with_a_mark(): subprocess.run([sys.executable, "-c", ""], check=True)
@pytest.mark.parametrize("carrier", [None, OnASocket()])
def test_on_carriers(carrier): pass
"""
UNMARKED = """
import socket, subprocess, sys

def test_a_socket():
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
def test_a_process():
    try:
        subprocess.run([sys.executable, "-c", ""], check=True)
    except Exception:
        pass
"""
LEAKING = """
import pytest, socket

@pytest.mark.socket
def test_that_leaks():
    made = [socket.create_server(("127.0.0.1", 0))]
    made.append(made)  # only the garbage collection finds it
"""
LACKING = """
from tests.helpers.needs import lacking
def test_a_shell(): lacking("zsh", "there is no zsh")
def test_a_cow(): lacking("cow", "there is no cow")
"""


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch):
    """Run these tests, with the markers of this project."""
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv("CI_LACKS", raising=False)
    pytester.makepyprojecttoml((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

    def run_them(text: str, *words: str, folder: str = "tests") -> pytest.RunResult:
        file = pytester.mkpydir(folder) / "test_them.py"
        file.write_text(text, encoding="utf-8")
        return pytester.runpytest_inprocess("-p", "tests.helpers.needs", *(words or (folder,)))

    return run_them


def test_the_default_run_leaves_out_what_needs_something_and_says_so(run) -> None:
    result = run(NEEDY)
    result.assert_outcomes(passed=2, deselected=3)
    result.stdout.fnmatch_lines(["3 tests need more than Python*", "*2  socket: needs*", "*2  process: needs*"])
    result.stdout.no_fnmatch_line("*zookeeper: needs*")


@pytest.mark.socket
@pytest.mark.process
@pytest.mark.parametrize("words", [("--all", "tests"), ("tests/test_them.py",)], ids=["--all", "by name"])
def test_everything_runs_where_it_is_asked_for(run, words: tuple[str, ...]) -> None:
    result = run(NEEDY, *words)
    result.assert_outcomes(passed=5)
    result.stdout.no_fnmatch_line("*left out*")


@pytest.mark.process
def test_one_need_runs_by_its_marker(run) -> None:
    run(NEEDY, "-m", "process", "tests").assert_outcomes(passed=2, deselected=3)


def test_a_folder_has_needs_too(run) -> None:
    run("def test_it(): pass", folder="fuzz").assert_outcomes(deselected=1)


def test_whoever_needs_something_says_so(run) -> None:
    result = run(UNMARKED)
    result.assert_outcomes(failed=2)
    for marker in ("socket", "process"):
        result.stdout.fnmatch_lines([f"*without the marker '{marker}'*"])


def test_what_is_missing_is_skipped_by_name(run) -> None:
    result = run(LACKING, "-rs", "tests")
    result.assert_outcomes(skipped=2)
    result.stdout.fnmatch_lines(["*zsh is missing: there is no zsh"])


def test_in_ci_what_should_be_there_may_not_be_missing(run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    run(LACKING).assert_outcomes(failed=1, skipped=1)


def test_unless_it_cannot_be_installed_there(run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    monkeypatch.setenv("CI_LACKS", "fish zsh")
    run(LACKING).assert_outcomes(skipped=2)


@pytest.mark.socket
def test_a_socket_that_is_left_open_fails_the_file_that_left_it(run) -> None:
    result = run(LEAKING, "--all", "tests")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*ERROR at teardown of test_that_leaks*", "*unclosed*socket*"])
