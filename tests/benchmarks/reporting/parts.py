"""The parts of the page of benchmarks: each runs in a process of its own, within a bound."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass

from tests.benchmarks.reporting.report import ABOVE_LIMIT


@dataclass(frozen=True)
class Part:
    """A benchmark of the page."""

    seconds: float
    """The most that it may take, several times what it takes on a quiet machine."""
    small: Sequence[str] = ("--small",)
    """Options that make it quick."""


@dataclass(frozen=True)
class Ended:
    """How a process ended."""

    status: int
    failure: str | None = None
    """What follows "it": `ended with status 1: KeyError`; None if it has figures."""


def run_within(seconds: float, words: Sequence[str]) -> Ended:
    """Run a benchmark, and end it with everything that it started once the time is over."""
    with tempfile.TemporaryFile() as errors:
        # A session of its own: the masters that a benchmark starts belong to its group, and end with it.
        process = subprocess.Popen(words, stderr=errors, start_new_session=True)
        try:
            status = process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            return Ended(1, f"took longer than {seconds:g} s")
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            errors.seek(0)
            said = errors.read().decode(errors="replace").rstrip()
            if said:
                sys.stderr.write(f"{said}\n")
    if status in (0, ABOVE_LIMIT):
        return Ended(status)
    last = said.splitlines()[-1] if said else "no error message"
    return Ended(status, f"ended with status {status}: {last}")
