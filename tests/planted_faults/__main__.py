"""Plant every fault in a copy of the code, and require one of its named tests to fail.

    python -m tests.planted_faults [--only WORDS] [--seed NUMBER] [--workers NUMBER]

It first runs all of the named tests without a fault. The status is 0 if every fault was caught, otherwise 1.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Protocol

from tests import ROOT
from tests.planted_faults.register import SENTENCES, Fault, Misplaced, faults, plant, read

SECONDS = 90
"""For the tests of one fault; a fault with which they never end is reported."""
SECONDS_WITHOUT = 900
"""For all named tests without a fault."""
NOT_BY_A_TEST = (
    *("AttributeError", "ImportError", "ModuleNotFoundError", "NameError", "SyntaxError", "TypeError"),
    "UnboundLocalError",
)
"""Errors of a fault that is no program: any test would fail."""

Answer = dict[str, Any]


class Ask(Protocol):
    """Have a planter run tests with the texts of some files replaced; see planter.py."""

    def __call__(
        self, files: dict[str, str], tests: Sequence[str], seconds: float, *, in_check: bool = False
    ) -> Answer: ...


@contextmanager
def planter(seed: int) -> Iterator[Ask]:
    """A process in a fresh copy of the tree, and the function that has it run tests with some files replaced.

    Random tests begin with `seed`.
    """
    with tempfile.TemporaryDirectory(prefix="mesosctl-planted-") as folder:
        copy = Path(folder) / "tree"
        names = shutil.ignore_patterns(
            ".git", ".venv", ".*_cache", "node_modules", ".hypothesis", "site", "dist", "build"
        )
        shutil.copytree(ROOT, copy, ignore=names, symlinks=True)
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.planted_faults.planter", str(seed)],
            cwd=copy,
            env={**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": ""},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        requests, answers = process.stdin, process.stdout

        def ask(files: dict[str, str], tests: Sequence[str], seconds: float, *, in_check: bool = False) -> Answer:
            request = {"files": files, "tests": tests, "seconds": seconds, "in_check": in_check}
            print(json.dumps(request), file=requests, flush=True)
            return dict(json.loads(answers.readline()))

        try:
            yield ask
        finally:
            requests.close()
            process.wait(timeout=60)
            answers.close()


def verdict(answer: Answer) -> str | None:
    """Return why the fault was not caught; None if it was."""
    if answer.get("hung"):
        return "its tests did not end: choose a fault that makes them fail"
    if answer["not_collected"]:
        return f"its tests cannot be imported with it: {answer['not_collected'][0]}"
    for failed in answer["failed"]:
        if failed["why"].startswith(NOT_BY_A_TEST):
            return f"it is no program: {failed['why']}"
    if answer["failed"]:
        return None
    return "no named test fails" if answer["ran"] else f"no named test ran: {answer['output'][-600:]}"


class Job:
    """The faults to plant, shared by some workers."""

    def __init__(self, chosen: list[Fault], workers: int, *, seed: int = 1, verbose: bool = False) -> None:
        self._chosen = chosen
        self._workers = workers
        self._seed = seed
        self._verbose = verbose
        self._left: SimpleQueue[Fault] = SimpleQueue()
        self._done = 0
        self._lock = threading.Lock()
        self.problems: list[str] = []
        self.caught = 0

    def run(self) -> None:
        """Run it to its end."""
        for fault in self._chosen:
            self._left.put(fault)
        files: dict[str, list[str]] = {}
        for test in sorted({test for fault in self._chosen for test in fault.tests}):
            files.setdefault(test.partition("::")[0], []).append(test)
        shares = [
            [test for tests in list(files.values())[number :: self._workers] for test in tests]
            for number in range(self._workers)
        ]
        with ExitStack() as stack:
            askers = [stack.enter_context(planter(self._seed)) for _ in range(self._workers)]
            threads = [
                threading.Thread(target=self._work, args=(ask, share), daemon=True)
                for ask, share in zip(askers, shares, strict=True)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

    def _work(self, ask: Ask, share: list[str]) -> None:
        if share:
            self._without(ask({}, share, SECONDS_WITHOUT))
        while True:
            try:
                fault = self._left.get_nowait()
            except Empty:
                return
            began = time.monotonic()
            try:
                planted = plant(fault)
                answer = ask({str(planted.path): planted.text}, fault.tests, SECONDS, in_check=fault.in_check)
                problem = verdict(answer)
            except (Misplaced, SyntaxError) as error:
                answer, problem = {}, str(error)
            self._note(fault, problem, answer, time.monotonic() - began)

    def _without(self, answer: Answer) -> None:
        problem = verdict(answer)
        if answer.get("failed") or problem != "no named test fails":
            first = answer["failed"][0]["test"] if answer.get("failed") else ""
            with self._lock:
                self.problems.append(f"without any fault: {first} {problem or 'fails'}")

    def _note(self, fault: Fault, problem: str | None, answer: Answer, seconds: float) -> None:
        with self._lock:
            self._done += 1
            if problem is None:
                self.caught += 1
            else:
                self.problems.append(
                    f"{fault.says}\n    {fault.where}: {fault.text!r} -> {fault.becomes!r}\n    {problem}"
                )
            if self._verbose:
                failed = answer.get("failed") or [{"test": "-", "why": ""}]
                print(f"{seconds:5.1f} s  {'caught' if problem is None else 'MISSED'}  {fault.says}")
                print(f"         {failed[0]['test']}: {failed[0]['why'][:160]!r}", flush=True)
            if sys.stderr.isatty():
                print(f"\r{self._done} of {len(self._chosen)} faults planted", end="", file=sys.stderr, flush=True)


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m tests.planted_faults", description=__doc__)
    parser.add_argument("--only", default="", metavar="WORDS", help="plant the faults of sentences with these words")
    parser.add_argument("--seed", type=int, default=1, metavar="NUMBER", help="what random tests begin with")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, metavar="NUMBER", help="processes")
    parser.add_argument("--verbose", action="store_true", help="show each fault, and the test that caught it")
    chosen = parser.parse_args()
    began = time.monotonic()
    planted = [fault for fault in faults() if chosen.only in fault.says]
    job = Job(planted, chosen.workers, seed=chosen.seed, verbose=chosen.verbose)
    job.run()
    if sys.stderr.isatty():
        print(file=sys.stderr)
    for problem in job.problems:
        print(f"not caught: {problem}")
    impossible = sum("not_plantable" in entry for entry in read(SENTENCES, "sentences"))
    print(
        f"planted faults: {job.caught} of {len(job._chosen)} were caught by a test that is named for them; "
        f"{impossible} sentences have none, each with its reason; {time.monotonic() - began:.0f} s"
    )
    return 1 if job.problems else 0


if __name__ == "__main__":
    sys.exit(main())
