"""One command through a proxy with faults, and whether its status and sentence are true of the master afterwards."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from unittest import mock

from mesosctl.__main__ import main
from mesosctl.mesos.exit_status import ExitStatus
from tests.conformance.masters.cluster import Cluster
from tests.endurance.faults.commands import Command, State
from tests.endurance.faults.kinds import NONE, Fault, Word
from tests.endurance.faults.proxy import Proxy
from tests.helpers.surroundings import InMemory

TIMEOUT, SHORT_TIMEOUT, GRACE = 30.0, 2.5, 2.5
"""Seconds: of a command, of one that will wait until they are over, and after them for what became of a change."""
SLACK = 60.0
"""Seconds beyond the deadline that a busy machine is given."""
_NOTHING_CHANGED = {
    ExitStatus.ANSWER_IS_NO,
    ExitStatus.USAGE,
    ExitStatus.INVALID,
    ExitStatus.DENIED,
    ExitStatus.NOT_FOUND,
    ExitStatus.CONFLICT,
}
_DENIALS = ("nothing was sent", "no change was sent", "not sent")
_NOT_STARTED = "this one was not started"
_SENT_WORDS = (
    "does not show",
    "after the request was sent",
    "accepted",
    "removed before that",
    "has quota",
    "is restored",
    _NOT_STARTED,
    "every step is done",
)
_DOUBTS = (
    "is unknown",
    "may still",
    "could not be read back",
    "does not show",
    "did not answer within",
    "never show",
    "could not be queried",
    "no offer fit",
    "shows it twice",
    "cannot be read",
)
_IN_PART = ("step ", "accepted before that", "removed before that", "QUOTA NOW", "is restored", "has quota", "twice")
PHRASES = frozenset({*_DENIALS, *_SENT_WORDS, *_DOUBTS, *_IN_PART})
"""The phrases that the law looks for in messages; each is part of a message of `mesosctl`."""


@dataclass(frozen=True)
class Ran:
    """How a command ended, what it wrote, how long it took in seconds, and what befell each of its requests."""

    status: int
    out: str
    err: str
    seconds: float
    requests: Sequence[str] = ()


class Clock:
    """Real time, in which the tool's own pauses pass at once."""

    def __init__(self) -> None:
        self._skipped = 0.0

    def __call__(self) -> float:
        return time.monotonic() + self._skipped

    def sleep(self, seconds: float) -> None:
        # The master needs a moment of real time for what it does after it has answered.
        real = min(seconds, 0.01)
        time.sleep(real)
        self._skipped += seconds - real


def type_words(words: Sequence[str], address: str, folder: Path, timeout: float) -> Ran:
    """Run the tool in this process, over a real socket."""
    clock = Clock()
    environment = InMemory(
        variables={"MESOSCTL_MASTER": address, "XDG_STATE_HOME": str(folder / "state")},
        clock=clock,
        sleep=clock.sleep,
    )
    started = time.monotonic()
    with (
        mock.patch("mesosctl.changes.confirm.GRACE", GRACE),
        mock.patch("mesosctl.quota.replacement.GRACE", GRACE),
    ):
        status = main([*words, "--timeout", str(timeout)], environment)
    took = time.monotonic() - started
    return Ran(status, environment.out, environment.err, took)


@dataclass
class Case:
    """A command, how it is typed, and what befalls its requests.

    `listed`: after the proxy the master itself is named, and asked where the proxy fails.
    """

    command: Command
    faults: Sequence[Fault]
    more: str = ""
    listed: bool = False

    @property
    def timeout(self) -> float:
        # Where something is amiss, an offer may have to be waited for in vain.
        waits = "offers take" in self.command.words and any(fault != NONE for fault in self.faults)
        slow = waits or any(fault.is_slow for fault in self.faults)
        return SHORT_TIMEOUT if slow else TIMEOUT

    @property
    def is_rehearsed(self) -> bool:
        return "--dry-run" in self.more

    @property
    def believes_a_lie(self) -> bool:
        """Whether it takes an acceptance that was another request's at its word, as it was told to."""
        return "--no-wait" in self.more and any(fault.word is Word.STALE for fault in self.faults)


def play(case: Case, master: Cluster, proxy: Proxy, folder: Path) -> tuple[Ran, list[str]]:
    """Run it; what it said, and in sentences what was not true of it."""
    command = case.command
    proxy.settle()
    command.prepare(master)
    (folder / "state").mkdir(exist_ok=True)
    for old in (folder / "state").rglob("*.json"):
        old.unlink()
    words = command.typed(master, folder)
    undisturbed = None if command.changes else type_words(words, proxy.address, folder, TIMEOUT).out
    before = State.of(master)
    proxy.play(case.faults)
    address = f"{proxy.address},{master.address}" if case.listed else proxy.address
    ran = type_words([*words, *case.more.split()], address, folder, case.timeout)
    proxy.settle()
    ran = replace(ran, requests=list(proxy.log))
    after = State.of(master)
    problems = list(_judge(case, ran, before, after))
    if undisturbed is not None and ran.status == 0 and not case.more and ran.out != undisturbed:
        problems.append(f"it showed {ran.out!r} instead of {undisturbed!r}")
    if command.changes and not case.is_rehearsed and not problems:
        problems += _converge(case, ran, master, proxy, folder, unchanged=after == before)
    return ran, problems


def describe(case: Case, ran: Ran, problems: Sequence[str]) -> str:
    """All that is needed to understand a broken law."""
    told = [
        f"mesosctl {case.command.words} {case.more} ended with {ran.status} in {ran.seconds:.2f} s",
        ran.err.strip(),
    ]
    return "\n".join([*problems, *told, *(f"  {line}" for line in ran.requests), repr(case)])


def _judge(case: Case, ran: Ran, before: State, after: State) -> list[str]:
    problems = []
    times, changed = case.command.count(after), after != before
    if "Traceback" in ran.err or "this is a bug" in ran.err:
        problems.append("it failed as a program")
    if ran.seconds > case.command.steps * case.timeout + 2 * GRACE + SLACK:
        problems.append("it took longer than its deadline")
    if (case.is_rehearsed or not case.command.changes) and changed:
        problems.append(f"a reading command changed {before} to {after}")
    elif case.is_rehearsed or not case.command.changes:
        return problems
    if ran.status == ExitStatus.DONE:
        problems += _judge_done(case, ran, times)
    elif changed:
        problems += _judge_undone(ran, times)
    if ran.status == ExitStatus.NOT_CONFIRMED and not any(word in ran.err for word in _DOUBTS):
        problems.append("it does not say what it does not know")
    if ran.status in (ExitStatus.NO_MASTER, ExitStatus.MASTER_FAILED) and not any(
        word in ran.err for word in _DENIALS + _SENT_WORDS
    ):
        problems.append("it does not say whether anything was sent")
    return problems


def _judge_done(case: Case, ran: Ran, times: int | None) -> list[str]:
    if times == 1 or case.believes_a_lie:
        return []
    if times != 0 and "--no-wait" in case.more:
        return []  # who does not wait is told only that it was accepted
    return [f"it says that it was done, and it was done {times} times"]


def _judge_undone(ran: Ran, times: int | None) -> list[str]:
    """Of a master that has changed."""
    problems = []
    in_part = times is None and any(word in ran.err for word in _IN_PART)
    if ran.status in _NOTHING_CHANGED and not in_part:
        problems.append(f"status {ran.status} says that nothing changed, and it was done {times} times")
    if any(word in ran.err for word in _DENIALS):
        problems.append(f"it says that nothing happened, and it was done {times} times")
    if times is not None and _NOT_STARTED in ran.err:
        problems.append(f"it says that it was done in part, and it was done {times} times")
    return problems


def _converge(case: Case, ran: Ran, master: Cluster, proxy: Proxy, folder: Path, *, unchanged: bool) -> list[str]:
    """The same words once more, where that is what an operator would do."""
    if not unchanged and any(word in case.command.words for word in ("reserve", "quota remove web ops")):
        return []  # more of the same is another wish, and of two roles one is gone
    words = case.command.typed(master, folder)
    if "QUOTA NOW" in ran.err:
        words.append("--create")  # as the warning says
    again = type_words(words, proxy.address, folder, TIMEOUT)
    if case.command.targets is not None and again.status == ExitStatus.CONFLICT:
        again = type_words([*words, "--restart"], proxy.address, folder, TIMEOUT)
    times = case.command.count(State.of(master))
    allowed = (0,) if unchanged else {0, *case.command.again}
    if times == 1 and again.status in allowed:
        return []
    return [f"after {ran.status} the same words end with {again.status}, done {times} times: {again.err.strip()}"]


def only(index: int, fault: Fault) -> list[Fault]:
    """A fault that befalls the request of this number alone."""
    return [NONE] * index + [fault]
