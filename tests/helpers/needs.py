"""The needs of tests beside Python: their markers, the tests that the default run leaves out, and missing programs.

pyproject.toml declares the markers.  The default run leaves out every test with a marker whose sentence begins with
"needs"; ``--all``, ``-m`` or the path of a file runs it.  A test gets its markers from `pytest.mark`, from the `needs`
of its parameters (each carrier has them), from its fixtures (`needs` below) and from its folder.  A test that opens a
socket or starts a process without the marker fails.

What is not at hand is skipped by name.  With ``CI=true`` that is a failure where it is in `SHOULD_BE_THERE`,
unless ``CI_LACKS`` says that it cannot be installed on this machine.
"""

import gc
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import pytest

from tests.helpers.tools import TOOLS

FOLDERS = {
    "clients": ("foreign", "process", "socket"),
    "faults": ("process", "socket"),
    "fuzz": ("fuzz", "process"),
    "jobs": ("job", "process", "socket"),
}
"""Markers of every test in a folder."""

TOOL_OF_A_MARKER = {"browser": "chromium", "zookeeper": "zookeeper"}

SHOULD_BE_THERE = frozenset(TOOLS) | {
    "google-re2",
    "axe-core",
    *("pymesos", "mesoshttp", "avmesos", "mentos", "mesos_go", "mesos_framework"),
    *("task_processing", "asgard", "paasta"),
}
"""What may not be missing where ``CI=true``; a real master is there where MESOS_RUNNER names one."""

GUARDED = {
    "socket.bind": "socket",
    "socket.connect": "socket",
    "subprocess.Popen": "process",
    "os.fork": "process",
    "os.forkpty": "process",
    "os.posix_spawn": "process",
}
"""The audit events of Python that only tests with a marker may cause."""

F = TypeVar("F", bound=Callable[..., Any])
_left_out = pytest.StashKey[Counter[str]]()
_running: list[pytest.Item] = []
"""The test that runs now, if one does."""
_may_leave_open: set[Path] = set()
"""The files of which a test with a socket or a process has run."""


def needs(*markers: str) -> Callable[[F], F]:
    """Decorate the function of a fixture: every test that uses the fixture gets these markers."""

    def decorate(function: F) -> F:
        vars(function)["needs"] = markers
        return function

    return decorate


def lacking(name: str, reason: str) -> NoReturn:
    """Skip the test that runs; in CI fail it instead if `name` should be there."""
    sentence = f"{name} is missing: {reason}"
    should = name in SHOULD_BE_THERE and name not in os.environ.get("CI_LACKS", "").split()
    if os.environ.get("CI") == "true" and should:
        pytest.fail(f"{sentence}; with CI=true it should be there", pytrace=False)
    pytest.skip(sentence)


def require(name: str) -> None:
    """Go on where the tool of this name is here; see `lacking`."""
    reason = TOOLS[name].missing()
    if reason is not None:
        lacking(name, reason)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all", action="store_true", help="run the tests too that need more than Python")


def needs_of(config: pytest.Config) -> dict[str, str]:
    """The sentence of each marker that says what a test needs."""
    declared = (line.partition(": ") for line in config.getini("markers"))
    return {name: sentence for name, _, sentence in declared if sentence.startswith("needs ")}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        for name in dict.fromkeys(_derived(item)):
            item.add_marker(name)
    if _asked_for(config):
        return
    declared = needs_of(config).keys()
    kept: list[pytest.Item] = []
    left_out: list[pytest.Item] = []
    counts: Counter[str] = Counter()
    for item in items:
        wanted = {mark.name for mark in item.iter_markers()} & declared
        counts.update(wanted)
        (left_out if wanted else kept).append(item)
    if left_out:
        items[:] = kept
        config.hook.pytest_deselected(items=left_out)
        config.stash[_left_out] = counts + Counter({"": len(left_out)})


def _derived(item: pytest.Item) -> Iterator[str]:
    for folder in item.path.relative_to(item.config.rootpath).parts:  # a checkout may lie in a folder named jobs
        yield from FOLDERS.get(folder, ())
    if not isinstance(item, pytest.Function):
        return
    for definitions in item._fixtureinfo.name2fixturedefs.values():
        yield from getattr(definitions[-1].func, "needs", ())
    if hasattr(item, "callspec"):
        for value in item.callspec.params.values():
            yield from getattr(value, "needs", ())


def _asked_for(config: pytest.Config) -> bool:
    """Whether everything that was named shall run: all tests, some by a marker, or every test of a file."""
    named = all("::" in path or path.endswith(".py") for path in config.args)
    return config.option.all or bool(config.option.markexpr) or named


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    for mark in item.iter_markers():
        if mark.name in TOOL_OF_A_MARKER:
            require(TOOL_OF_A_MARKER[mark.name])
    if item.get_closest_marker("real_master") and not os.environ.get("MESOS_RUNNER"):
        pytest.skip("MESOS_RUNNER is not set: no real Mesos master to compare with")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    _running.append(item)
    if any(item.get_closest_marker(marker) for marker in GUARDED.values()):
        _may_leave_open.add(item.path)
    try:
        return (yield)
    finally:
        _running.pop()


@pytest.fixture(autouse=True, scope="module")
def _leaks_have_a_name(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fails the last test of a file if the tests of the file leave a socket or a pipe open.

    Python warns of these when it collects the garbage, and the warning fails the test that runs at that moment. The
    default run has no tests that open any, so it does not collect here.
    """
    yield
    if request.path in _may_leave_open:
        gc.collect()


def _guard(event: str, _: Any) -> None:
    if event in GUARDED and _running and _running[-1].get_closest_marker(GUARDED[event]) is None:
        marker = GUARDED[event]
        pytest.fail(f"{event} in a test without the marker {marker!r}: mark it (see tests/helpers/needs.py)")


sys.addaudithook(_guard)


# --- Saying what was left out, with and without pytest-xdist ------------------------------------------


def pytest_sessionfinish(session: pytest.Session) -> None:
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["left_out"] = dict(session.config.stash.get(_left_out, {}))


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Every worker has left out the same tests."""
    left_out = getattr(node, "workeroutput", {}).get("left_out")
    if left_out:
        node.config.stash[_left_out] = Counter(left_out)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    counts = config.stash.get(_left_out, Counter())
    if not counts:
        return
    terminalreporter.section("left out")
    terminalreporter.line(f"{counts['']} tests need more than Python; some need several things:")
    for name, sentence in needs_of(config).items():
        if counts[name]:
            terminalreporter.line(f"{counts[name]:7,}  {name}: {sentence}")
    terminalreporter.line("`sh tests/scripts/check --all` runs them too, and `pytest -m NAME` those with one marker.")
