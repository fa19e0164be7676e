"""A real Dask scheduler and its workers, in processes on loopback."""

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.conformance.masters.processes import Process
from tests.helpers.waiting import wait_until

_SCHEDULER = ("scheduler", "--no-dashboard", "--host")
_WORKER = ("--no-nanny", "--nthreads", "1", "--no-dashboard", "--host", "127.0.0.1", "--death-timeout", "60")


def worker(folder: Path, address: str, number: int, *options: str) -> Process:
    """A worker of one thread; `options` are more of Dask's, such as those of certificates."""
    words = [sys.executable, "-m", "dask", "worker", address, *_WORKER, *options]
    return Process(words, folder / f"worker-{number}.log")


@contextmanager
def cluster(
    folder: Path, workers: int, *tls: str, worker_options: Sequence[str] = ()
) -> Iterator[tuple[str, list[Process]]]:
    """The address of a scheduler, and the processes of it and its workers, once all of these have registered.

    `tls` are Dask's options of certificates.
    """
    log, host = folder / "scheduler.log", f"{'tls' if tls else 'tcp'}://127.0.0.1:0"
    started = [Process([sys.executable, "-m", "dask", *_SCHEDULER, host, *tls], log)]
    scheduler = started[0]
    try:
        wait_until(lambda: "Scheduler at" in log.read_text(encoding="utf-8"), scheduler.last_words)
        (address,) = re.findall(r"Scheduler at:\s+(t\w+://\S+)", log.read_text(encoding="utf-8"))
        started += [worker(folder, address, number, *tls, *worker_options) for number in range(workers)]
        wait_until(lambda: log.read_text(encoding="utf-8").count("Register worker") == workers, scheduler.last_words)
        yield address, started
    finally:
        for one in reversed(started):
            one.stop()
