"""Put a proxy that misbehaves before a master: `python -m tests.endurance.jobs.faults [--examples 500] [--seed N]`.

Whatever it does, the exit status and the sentence must match what happened on the master.  Prints what
was seen; ends with 1 where a command said something that was not true.
"""

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.conformance.masters.carriers import REAL, SOCKET, SOCKET_DOCUMENTS
from tests.conformance.masters.cluster import Cluster
from tests.endurance.faults.commands import CHANGING, READING, SETUP
from tests.endurance.faults.kinds import EVERY_FAULT, NONE, Fault
from tests.endurance.faults.law import Case, describe, play
from tests.endurance.faults.proxy import Proxy

_MANNERS = ("",) * 4 + ("--dry-run", "--no-wait", "-o json", "--trust-master")
_RESERVING = ("reserve", "volumes create", "volumes destroy", "apply")
_REQUESTS = 8
"""Of a command that was not seen yet."""
_LISTED = 0.2
CARRIERS = {carrier.name: carrier for carrier in (SOCKET, SOCKET_DOCUMENTS, REAL)}


@dataclass
class Report:
    """What a job saw."""

    examples: int = 0
    faults: int = 0
    slowest: float = 0.0
    statuses: Counter[int] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        ended = ", ".join(f"{count} with {status}" for status, count in sorted(self.statuses.items()))
        return (
            f"{self.examples} commands, {self.faults} faults; ended {ended}; "
            f"the slowest took {self.slowest:.1f} s; {len(self.problems)} problems"
        )


@contextmanager
def misbehaving(carrier: str = SOCKET.name) -> Iterator[tuple[Cluster, Proxy, Path]]:
    """A master on a socket, a proxy before it, and a folder for what the tool keeps."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        master = CARRIERS[carrier].start(SETUP, folder)
        try:
            with Proxy(master.address) as proxy:
                yield master, proxy, folder
        finally:
            master.stop()


def draw(choice: random.Random, lengths: Mapping[str, int]) -> Case:
    """A command, and one to three faults among its requests; `lengths` are how many each was seen to make."""
    command = choice.choice(CHANGING * 3 + READING)
    more = choice.choice(_MANNERS) if command.changes else ""
    if more == "--trust-master" and not command.words.startswith(_RESERVING):
        more = ""
    requests = lengths.get(command.words, _REQUESTS)
    faults: list[Fault] = [NONE] * requests
    for _ in range(choice.randint(1, 3)):
        faults[choice.randrange(requests)] = choice.choice(EVERY_FAULT)
    return Case(command, faults, more, listed=choice.random() < _LISTED)


def disturb(examples: int, seed: int, carrier: str = SOCKET.name) -> Report:
    """Play so many random cases against a master."""
    report, choice, lengths = Report(), random.Random(seed), dict[str, int]()
    with misbehaving(carrier) as (master, proxy, folder):
        for number in range(examples):
            case = draw(choice, lengths)
            ran, problems = play(case, master, proxy, folder)
            lengths[case.command.words] = max(len(ran.requests), lengths.get(case.command.words, 0))
            report.examples += 1
            report.faults += sum(fault != NONE for fault in case.faults)
            report.statuses[ran.status] += 1
            report.slowest = max(report.slowest, ran.seconds)
            if problems:
                report.problems.append(f"example {number}: {describe(case, ran, problems)}")
    return report


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=500)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000)
    parser.add_argument("--carrier", choices=CARRIERS, default=SOCKET.name)
    words = parser.parse_args()
    print(f"seed {words.seed}")
    report = disturb(words.examples, words.seed, words.carrier)
    for problem in report.problems:
        print(problem, end="\n\n")
    print(report)
    return 1 if report.problems else 0


if __name__ == "__main__":
    sys.exit(main())
