"""Work that shares nothing, in forked processes: as many at a time as the machine has processors."""

import multiprocessing
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from typing import TypeVar

from mesosctl.model.errors import Bug, MesosctlError

Result = TypeVar("Result")


def processors() -> int:
    """How many processes may run at once here."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def side_by_side(jobs: Sequence[Callable[[], Result]]) -> Iterator[tuple[int, Result]]:
    """Yield the place of each job and its result, in the order in which they end.

    Raises what a job raises, and Bug for one that ends without a result; the others are ended then.
    """
    fork = multiprocessing.get_context("fork")
    left = list(enumerate(jobs))[::-1]
    running: dict[Connection, tuple[int, ForkProcess]] = {}
    try:
        while left or running:
            while left and len(running) < processors():
                place, job = left.pop()
                ours, theirs = fork.Pipe(duplex=False)
                # The forked process ends with this one.
                process = fork.Process(target=_answer, args=(job, theirs), daemon=True)
                with warnings.catch_warnings():
                    # The progress thread holds no lock that the new process needs.
                    warnings.simplefilter("ignore", DeprecationWarning)
                    process.start()
                theirs.close()
                running[ours] = place, process
            ready = wait(list(running))
            for ours in [one for one in running if one in ready]:
                result: Result = _received(ours)
                place, process = running.pop(ours)
                ours.close()
                process.join()
                yield place, result
    finally:
        for ours, (_, process) in running.items():
            ours.close()
            process.terminate()
            process.join()


def _received(pipe: Connection) -> Result:  # type: ignore[type-var]  # the caller knows it
    try:
        done, said = pipe.recv()
    except EOFError:
        raise Bug("a process ended without an answer", hint="is there enough memory?") from None
    if isinstance(said, Exception) and not done:
        raise said
    if not done:
        raise Bug(f"a process failed: {said}")
    result: Result = said
    return result


def _answer(job: Callable[[], object], pipe: Connection) -> None:
    """Do a job in a forked process, and send its result or its error."""
    try:
        pipe.send((True, job()))
    except BaseException as error:  # noqa: BLE001  # the process that asked raises it
        pipe.send((False, error if isinstance(error, MesosctlError) else f"{type(error).__name__}: {error}"))
    finally:
        os._exit(0)  # without flushing the buffers of the parent process
