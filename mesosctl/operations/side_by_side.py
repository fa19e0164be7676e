"""The same work for several questions, side by side in forked processes.

A forked process has everything that this one has read, shares nothing with the others, and ends with its answer.
"""

import multiprocessing
import os
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar

from mesosctl.model.errors import Bug, MesosctlError

Question = TypeVar("Question")
Answer = TypeVar("Answer")


def side_by_side(
    questions: Sequence[Question], answer: Callable[[Question], Answer], at_once: int | None = None
) -> Iterator[Answer]:
    """Yield the answers in the order of the questions, from `at_once` processes; by default, from one for each core.

    The answers are the same with any number of processes.  Raises what `answer` raises.
    """
    fork = multiprocessing.get_context("fork")
    most = max(1, at_once or os.cpu_count() or 1)
    started: deque[tuple[BaseProcess, Connection]] = deque()
    left = iter(questions)
    try:
        for _ in questions:
            while len(started) < most:
                try:
                    question = next(left)
                except StopIteration:
                    break
                ours, theirs = fork.Pipe(duplex=False)
                # The forked process ends with this one.
                process = fork.Process(target=_answer, args=(question, answer, theirs), daemon=True)
                with warnings.catch_warnings():
                    # The progress thread holds no lock that the new process needs.
                    warnings.simplefilter("ignore", DeprecationWarning)
                    process.start()
                theirs.close()
                started.append((process, ours))
            received: Answer = _received(started[0][1])
            _end(*started.popleft())
            yield received
    finally:
        for one in started:
            _end(*one)


def _end(process: BaseProcess, pipe: Connection) -> None:
    pipe.close()
    process.terminate()
    process.join()


def _received(pipe: Connection) -> Any:
    try:
        is_answer, said = pipe.recv()
    except EOFError:
        raise Bug("a forecast ended without an answer") from None
    if isinstance(said, MesosctlError) and not is_answer:
        raise said
    if not is_answer:
        raise Bug(f"a forecast failed: {said}")
    return said


def _answer(question: Question, answer: Callable[[Question], Answer], pipe: Connection) -> None:
    """Answer one question in a forked process, and send the answer or the error."""
    try:
        pipe.send((True, answer(question)))
    except BaseException as error:  # noqa: BLE001  # the process that asked raises it
        pipe.send((False, error if isinstance(error, MesosctlError) else f"{type(error).__name__}: {error}"))
    finally:
        os._exit(0)  # without flushing the buffers of the parent process
