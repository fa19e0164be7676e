"""The same work for several questions, side by side in forked processes.

A forked process has everything that this one has read, shares nothing with the others, and ends with its answer.
"""

import multiprocessing
import os
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Generic, Self, TypeVar

from mesosctl.mesos.errors import Bug, MesosctlError

Question = TypeVar("Question")
Answer = TypeVar("Answer")


def processors() -> int:
    """How many processes can run at once here."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def side_by_side(
    questions: Sequence[Question], answer: Callable[[Question], Answer], at_once: int | None = None
) -> Iterator[Answer]:
    """Yield the answers in the order of the questions, from `at_once` processes; by default, from one for each core.

    The answers are the same with any number of processes.  Raises what `answer` raises.
    """
    ended: dict[int, _Said] = {}
    next_place = 0
    for place, said in _ends(questions, answer, at_once):
        ended[place] = said
        while next_place in ended:
            received: Answer = _answered(ended.pop(next_place))
            next_place += 1
            yield received


_Said = tuple[bool, Any]
"""Whether it is an answer, and the answer or the error."""


class Forked(Generic[Question, Answer]):
    """Questions that are answered in forked processes, each in its own; used with `with`, which ends them."""

    def __init__(self, answer: Callable[[Question], Answer]) -> None:
        self._answer = answer
        self._started: dict[int, tuple[BaseProcess, Connection]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for run in self._started.values():
            _end(*run)
        self._started.clear()

    @property
    def count(self) -> int:
        """How many are being answered."""
        return len(self._started)

    def start(self, place: int, question: Question) -> None:
        """Begin to answer a question, which is known by its place."""
        fork = multiprocessing.get_context("fork")
        ours, theirs = fork.Pipe(duplex=False)
        # The forked process ends with this one.
        process = fork.Process(target=_answer, args=(question, self._answer, theirs), daemon=True)
        with warnings.catch_warnings():
            # The progress thread holds no lock that the new process needs.
            warnings.simplefilter("ignore", DeprecationWarning)
            process.start()
        theirs.close()
        self._started[place] = process, ours

    def next_ended(self) -> tuple[int, Answer]:
        """Wait for the next answer, and return its place with it.  Raises what `answer` raises."""
        place, said = self.next_said()
        received: Answer = _answered(said)
        return place, received

    def next_said(self) -> tuple[int, _Said]:
        """The same, with an error as a value."""
        ready = wait([pipe for _, pipe in self._started.values()])
        place = next(place for place, (_, pipe) in self._started.items() if pipe in ready)
        process, pipe = self._started[place]
        said = _received(pipe)
        _end(process, pipe)
        del self._started[place]
        return place, said


def _ends(
    questions: Sequence[Question], answer: Callable[[Question], Answer], at_once: int | None
) -> Iterator[tuple[int, _Said]]:
    """Yield the place of each question, and what its process has said."""
    most = max(1, at_once or processors())
    left = deque(enumerate(questions))
    with Forked(answer) as forked:
        while left or forked.count:
            while left and forked.count < most:
                forked.start(*left.popleft())
            yield forked.next_said()


def _end(process: BaseProcess, pipe: Connection) -> None:
    pipe.close()
    process.terminate()
    process.join()


def _received(pipe: Connection) -> _Said:
    try:
        said: _Said = pipe.recv()
    except EOFError:
        return False, Bug("a forecast ended without an answer", hint="is there enough memory?")
    return said


def _answered(said: _Said) -> Any:
    """The answer.  Raises the error of a process that said one."""
    is_answer, received = said
    if is_answer:
        return received
    if isinstance(received, MesosctlError):
        raise received
    raise Bug(f"a forecast failed: {received}")


def _answer(question: Question, answer: Callable[[Question], Answer], pipe: Connection) -> None:
    """Answer one question in a forked process, and send the answer or the error."""
    try:
        pipe.send((True, answer(question)))
    except BaseException as error:  # noqa: BLE001  # the process that asked raises it
        pipe.send((False, error if isinstance(error, MesosctlError) else f"{type(error).__name__}: {error}"))
    finally:
        os._exit(0)  # without flushing the buffers of the parent process
