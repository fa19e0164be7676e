"""Kill a fake master at random moments under load: `python -m tests.endurance.jobs.sigkill [--times 200] [--seed N]`.

Every change that was answered must be there afterwards, no other one may be half there, and the
file must open.  Prints what was seen; ends with 1 where something was lost.
"""

import random
import sqlite3
import sys
import threading
from contextlib import closing
from pathlib import Path

import httpx

from tests.conformance.masters.processes import Process
from tests.endurance.jobs.killing import Report, command
from tests.endurance.jobs.operators import (
    AGENTS_OF_EACH_KIND,
    MaintenanceOperator,
    Operator,
    QuotaOperator,
    ReservationOperator,
    TaskOperator,
    VolumeOperator,
    WeightOperator,
    agents,
)
from tests.helpers.waiting import PATIENCE

_MOST_ANSWERS = 150
"""Before a kill."""


def kill_repeatedly(folder: Path, times: int, seed: int, registry: str = "sqlite") -> Report:
    """Start, load and kill a master `times` times upon one registry in `folder`.

    Seen are changes: answered, under way at a kill, and of these happened.
    """
    kinds = (QuotaOperator, WeightOperator, ReservationOperator, VolumeOperator, TaskOperator)
    operators: list[Operator] = [kind(number) for kind in kinds for number in range(AGENTS_OF_EACH_KIND)]
    operators.append(MaintenanceOperator(0))
    report, choice = Report(), random.Random(seed)
    master, client = _start(folder, registry)
    for _ in range(times):
        answered = _load_until_killed(master, client, operators, choice)
        report.kills += 1
        report.seen["changes answered"] += answered
        under_way = [operator for operator in operators if operator.under_way]
        asked_for = {id(operator): operator.wanted for operator in under_way}
        report.problems += _damage(folder)
        master, client = _start(folder, registry)
        report.problems += [problem for operator in operators if (problem := operator.settle(client))]
        report.seen["under way"] += len(under_way)
        for operator in under_way:
            report.seen[f"{type(operator).__name__} under way"] += 1
        report.seen["of them happened"] += sum(operator.kept == asked_for[id(operator)] for operator in under_way)
    for runner in (operator for operator in operators if isinstance(operator, TaskOperator)):
        # After few kills, and early ones, it may have had no time: in peace it gets one, or says why not.
        while not (runner.pairs or report.problems):
            runner.step(client, choice)
        report.seen["pairs of tasks"] += runner.pairs
    client.close()
    master.stop()
    return report


def _start(folder: Path, registry: str) -> tuple[Process, httpx.Client]:
    words = ["--port", "0", "--mesos-version", "1.11", "--registry", registry, "--work-dir", str(folder)]
    for agent in agents():
        words += ["--agent", agent]
    master = Process([sys.executable, "-m", "fake_master", *words], folder / "master.log")
    address = master.first_line()
    assert address, f"the registry does not open: {master.last_words()}"
    return master, httpx.Client(base_url=address, trust_env=False, timeout=PATIENCE)


def _load_until_killed(master: Process, client: httpx.Client, operators: list[Operator], choice: random.Random) -> int:
    """Every operator in a thread of its own until the master is gone; how many changes were answered."""
    answers = threading.Semaphore(0)
    answered: list[int] = []
    failures: list[BaseException] = []

    def work(operator: Operator, own: random.Random) -> None:
        count = 0
        try:
            with httpx.Client(base_url=client.base_url, trust_env=False, timeout=PATIENCE) as mine:
                while True:
                    operator.step(mine, own)
                    count += 1
                    answers.release()
        except httpx.TransportError:
            answered.append(count)
        except BaseException as failure:  # noqa: BLE001  # told by the main thread
            failures.append(failure)

    workers = [threading.Thread(target=work, args=(operator, random.Random(choice.random()))) for operator in operators]
    for worker in workers:
        worker.start()
    for _ in range(choice.randrange(_MOST_ANSWERS)):
        if not answers.acquire(timeout=PATIENCE):
            break  # whoever failed says why
    master.kill()
    for worker in workers:
        worker.join(timeout=PATIENCE)
    client.close()
    if failures:
        raise failures[0]
    assert len(answered) == len(operators), "an operator did not notice that the master is gone"
    return sum(answered)


def _damage(folder: Path) -> list[str]:
    if not (folder / "registry.sqlite").exists():
        return []
    with closing(sqlite3.connect(folder / "registry.sqlite")) as registry:
        (verdict,) = registry.execute("PRAGMA integrity_check").fetchone()
    return [] if verdict == "ok" else [f"the file: {verdict}"]


if __name__ == "__main__":
    sys.exit(command(__doc__, kill_repeatedly, times=200))
