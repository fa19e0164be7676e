"""How long commands take to start, beside the interpreter that they start in.

    python -m tests.benchmarks.startup [--runs 25] [--venv FOLDER] [--json FILE]

Installs the project into an environment of its own, with bytecode, or takes the one of `--venv`; serves a fake
master on loopback, and types each command in turn with `python -c pass` of the same environment between them.
Prints the median of each in milliseconds, its ratio to that of `python -c pass`, the same ratio of CPU time, which
other programs on the machine disturb less, and the budget.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests import ROOT
from tests.benchmarks.reporting.report import Reporter

PASS = "python -c pass"
BUDGETS: dict[str, float | None] = {
    "--version": 10.0,
    "--help": 10.0,
    "quota list, over HTTP": 26.0,
    "quota set, over HTTP": 30.0,
    "quota list, on fake:": None,
}
"""Ratios to `python -c pass`; None for the one that has to be no slower than over HTTP."""
COLUMNS = ("command", "ms", "ratio", "ratio of CPU time", "budget")


def main() -> None:
    """Measure, print, and write."""
    arguments = _arguments()
    machine = f"Python {sys.version.split()[0]}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    reporter = Reporter("Start", f"Medians of {arguments.runs} interleaved runs, compared with `{PASS}`. {machine}.")
    with tempfile.TemporaryDirectory(prefix="startup-") as name:
        home = Path(name)
        venv = arguments.venv.resolve() if arguments.venv else _install(home / "venv")
        with _serving(venv, home) as address:
            rows = _rows(_measure(venv, home, address, arguments.runs))
    reporter.table("Start", *COLUMNS)
    for row in rows:
        reporter.row(*row)
        command, _, ratio, _, budget = row
        if budget is not None:
            reporter.budget(f"`{command}` divided by `{PASS}`", ratio, budget)
    reporter.say(f"A list on `fake:` should be no slower than over HTTP, which has a ratio of {rows[3][2]:.2f} here.")
    reporter.finish(arguments.json)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=25, metavar="NUMBER", help="of each command")
    parser.add_argument("--venv", type=Path, metavar="FOLDER", help="an environment that mesosctl is installed in")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there as well")
    return parser.parse_args()


def _install(venv: Path) -> Path:
    """A new environment with the project as it is here.

    Its pip is the newest: older ones write scripts that import `re`, which takes half as long as Python itself.
    """
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    python = venv / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "-q", "--upgrade", "pip"], check=True)
    subprocess.run([python, "-m", "pip", "install", "-q", ROOT], check=True)
    subprocess.run([python, "-m", "compileall", "-q", venv / "lib"], check=True, env=_surroundings(venv))
    return venv


def _surroundings(home: Path) -> dict[str, str]:
    """Variables that mean nothing to a command, but its home."""
    return {"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}


@contextmanager
def _serving(venv: Path, home: Path) -> Iterator[str]:
    """A fake master with one agent; its address."""
    words = [str(venv / "bin" / "mesos-fake-master"), "--port", "0", "--agent", "cpus:12;mem:6144"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=_surroundings(home)) as master:
        assert master.stdout is not None
        try:
            yield master.stdout.readline().strip()
        finally:
            master.terminate()


def _measure(venv: Path, home: Path, address: str, runs: int) -> dict[str, list[tuple[float, float]]]:
    """Seconds, and seconds of CPU, of each run of each command."""
    program = str(venv / "bin" / "mesosctl")
    commands = {
        PASS: [str(venv / "bin" / "python"), "-c", "pass"],
        "--version": [program, "--version"],
        "--help": [program, "--help"],
        "quota list, over HTTP": [program, "--master", address, "quota", "list"],
        "quota set, over HTTP": [program, "--master", address, "quota", "set", "web", "cpus:1"],
        "quota list, on fake:": [program, "--master", "fake:", "quota", "list"],
    }
    subprocess.run([*commands["quota list, on fake:"]], check=True, env=_surroundings(home), capture_output=True)
    measured: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    for _ in range(runs):
        for name, words in commands.items():
            measured[name].append(_time(words, _surroundings(home)))
        removal = urllib.request.Request(f"{address}/quota/web", method="DELETE")
        urllib.request.urlopen(removal, timeout=30).close()
    return measured


def _time(words: Sequence[str], surroundings: dict[str, str]) -> tuple[float, float]:
    quiet = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1, 2)]
    began = time.perf_counter()
    process = os.posix_spawn(words[0], list(words), surroundings, file_actions=quiet)
    _, status, usage = os.wait4(process, 0)
    took = time.perf_counter() - began
    if status:
        raise SystemExit(f"{' '.join(words)} ended with {os.waitstatus_to_exitcode(status)}")
    return took, usage.ru_utime + usage.ru_stime


def _rows(measured: dict[str, list[tuple[float, float]]]) -> list[tuple[str, float, float, float, float | None]]:
    """A row of the table for each command."""
    medians = {name: [statistics.median(of) for of in zip(*runs, strict=True)] for name, runs in measured.items()}
    base, base_cpu = medians[PASS]
    return [
        (name, round(took * 1000, 2), round(took / base, 2), round(cpu / base_cpu, 2), BUDGETS.get(name))
        for name, (took, cpu) in medians.items()
    ]


if __name__ == "__main__":
    main()
