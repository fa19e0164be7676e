"""Runs tests with faults planted in the copy of the code that it is started in: a process of ``tests.planted_faults``.

Its argument is the seed of random tests.
It reads one JSON object a line from standard input, with the texts of `files` and the `tests` to run, and answers
each with one line. With `in_check`, only those of the tests run that the default run has too.

It has imported what is dear to import and is not the project's, so each run is a forked child that imports the project
with the fault in it.
"""

import json
import os
import select
import signal
import sys
import tempfile
import time
import traceback
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import hypothesis.stateful
import pydantic
import pytest
import rich.console
import rich.table
import tomlkit
import typer.main
import typer.testing

PRELOADED = (hypothesis.stateful, httpx, pydantic, rich.console, rich.table, tomlkit, typer.main, typer.testing)
"""Everything that takes long to import and is never faulty."""


hypothesis.settings.register_profile(
    "planted",
    deadline=None,
    max_examples=33,
    database=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
    # That a test fails is enough: the smallest example is not looked for.
    phases=(hypothesis.Phase.explicit, hypothesis.Phase.generate),
)
WORDS = (
    *("-q", "--all", "--hypothesis-profile=planted", "--tb=short"),
    "--assert=plain",  # rewriting is dear, because the project brings a plugin, so that all of it is rewritten
    *("-p", "no:cacheprovider", "-p", "no:anyio"),
    *("-W", "ignore:Module already imported:pytest.PytestAssertRewriteWarning"),
)
"""The command line of pytest, to which the seed and the tests are added."""


class Recorder:
    """A plugin of pytest that notes what failed, and why."""

    def __init__(self, *, in_check: bool) -> None:
        self._in_check = in_check
        self.ran = 0
        self.failed: list[dict[str, str]] = []
        self.not_collected: list[str] = []

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Leave out what the default run leaves out."""
        from tests.helpers.needs import needs_of  # noqa: PLC0415  # only a child imports the project

        if self._in_check:
            needs = needs_of(config).keys()
            items[:] = [item for item in items if needs.isdisjoint(mark.name for mark in item.iter_markers())]

    def found(self) -> dict[str, Any]:
        """Its notes."""
        return {"ran": self.ran, "failed": self.failed, "not_collected": self.not_collected}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Each phase of each test."""
        self.ran += report.when == "call" and not report.skipped
        if report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            self.failed.append({"test": report.nodeid, "why": crash.message if crash else str(report.longrepr)})

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Each file."""
        if report.failed:
            self.not_collected.append(str(report.longrepr)[-600:])


def main() -> None:
    """Answer requests until standard input ends."""
    sys.dont_write_bytecode = False  # the next child needs the same modules but one
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    for line in sys.stdin:
        print(json.dumps(_answer(json.loads(line))), file=answers, flush=True)


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    before = {Path(name): Path(name).read_text(encoding="utf-8") for name in request["files"]}
    try:
        for name, text in request["files"].items():
            _write(Path(name), text)
        return _run(request["tests"], request["seconds"], stop=bool(before), in_check=request["in_check"])
    finally:
        for path, text in before.items():
            _write(path, text)


_written = int(time.time())


def _write(path: Path, text: str) -> None:
    """Write a module with a time that no compiled file has: two writes of one second may have the same size."""
    global _written  # noqa: PLW0603  # the clock of this process's files
    _written += 1
    path.write_text(text, encoding="utf-8")
    os.utime(path, (_written, _written))


def _run(tests: list[str], seconds: float, *, stop: bool, in_check: bool) -> dict[str, Any]:
    reading, writing = os.pipe()
    with tempfile.TemporaryFile() as output:
        child = os.fork()
        if child == 0:
            os.close(reading)
            _be_pytest(tests, writing, output.fileno(), stop=stop, in_check=in_check)
        os.close(writing)
        answer = b""
        end = time.monotonic() + seconds
        while select.select([reading], [], [], max(0.0, end - time.monotonic()))[0]:
            piece = os.read(reading, 1 << 16)
            if not piece:
                break
            answer += piece
        os.close(reading)
        # The child leads its own group, so this also ends whatever its tests have left running.
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
        output.seek(0)
        shown = output.read().decode(errors="replace")[-3000:]
    return {"output": shown} | (json.loads(answer) if answer else {"hung": True})


def _be_pytest(tests: list[str], answer: int, output: int, *, stop: bool, in_check: bool) -> None:
    """Run the tests as a process of its own group, and write what failed."""
    os.setpgid(0, 0)
    null = os.open(os.devnull, os.O_RDONLY)
    for target, source in ((0, null), (1, output), (2, output)):
        os.dup2(source, target)
    recorder = Recorder(in_check=in_check)
    try:
        words = [*WORDS, f"--hypothesis-seed={sys.argv[1]}", *(["-x"] if stop else []), *tests]
        status = pytest.main(words, plugins=[recorder])
        found = {"status": int(status), **recorder.found()}
        with os.fdopen(answer, "w", encoding="utf-8") as there:
            json.dump(found, there)
    except BaseException:  # noqa: BLE001  # shown to whoever asked, whatever it is
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


if __name__ == "__main__":
    main()
