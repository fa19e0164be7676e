"""The report and the command line of the jobs that kill a program over and over."""

import argparse
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Report:
    """What a job saw."""

    kills: int = 0
    seen: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        counts = ", ".join(f"{count} {name}" for name, count in sorted(self.seen.items()))
        return f"{self.kills} kills: {counts}; {len(self.problems)} problems"


def command(about: str | None, kill_repeatedly: Callable[[Path, int, int], Report], times: int) -> int:
    """Kill `--times` times in a folder of its own, print what was seen, and give the exit status."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--times", type=int, default=times)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000)
    words = parser.parse_args()
    print(f"seed {words.seed}")
    with tempfile.TemporaryDirectory() as folder:
        report = kill_repeatedly(Path(folder), words.times, words.seed)
    print(report)
    for problem in report.problems:
        print(problem)
    return 1 if report.problems else 0
