"""Look for requests that end a real master and that the fake one takes: `python -m tests.endurance.jobs.lethal`.

Random requests with numbers and resources at their bounds go to a fake master and to a real one, which is started again
when it has died.  Each starts from the same state: one agent with reservations and a volume, no quota, no schedule.
Prints what ended the real master, and what the two answered differently; ends with 1 where the fake master took what
ended the real one.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from tests.conformance.callers.frameworks import Framework
from tests.conformance.masters.carriers import IN_PROCESS, REAL, Carrier, Pool
from tests.conformance.masters.cluster import Cluster, MasterDied
from tests.endurance.jobs.extremes import INFO, Extremes, Request
from tests.endurance.jobs.trial import SETUP, Trial, answer_of, filled


@dataclass(frozen=True)
class Outcome:
    """The answer of one master to one request."""

    answer: int | str
    """An HTTP status, or the first event of a SUBSCRIBE."""
    changed: bool = False
    """Whether the agent has other reservations then, or a task of the framework was launched."""


@dataclass
class Report:
    """What a job saw."""

    requests: int = 0
    deaths: int = 0
    statuses: Counter[int | str] = field(default_factory=Counter)
    lethal: dict[str, str] = field(default_factory=dict)
    """What ended the real master and the fake one took, by the name of the request."""
    refused: dict[str, str] = field(default_factory=dict)
    """What ended the real master and the fake one refused."""
    different: dict[str, str] = field(default_factory=dict)
    """What the two masters answered differently."""

    def __str__(self) -> str:
        answered = ", ".join(f"{count} with {status}" for status, count in sorted(self.statuses.items(), key=str))
        return (
            f"{self.requests} requests; the fake master answered {answered}; the real one died {self.deaths} times, of "
            f"{len(self.refused)} kinds that the fake one refuses and {len(self.lethal)} that it took; "
            f"{len(self.different)} kinds were answered differently"
        )


class LethalTrial(Trial[Outcome]):
    """A master of which is asked whether it did what a request asks for, and whether it survived."""

    def send(self, master: Cluster, request: Request) -> Outcome:
        """Send a request; the framework of a scheduler's call leaves then."""
        if request.door == "scheduler":
            return self._by_framework(master, request)
        status = answer_of(master, request).status
        return Outcome(status, self.shown(master) != self.before)

    def _by_framework(self, master: Cluster, request: Request) -> Outcome:
        kind = request.body["type"]
        framework = Framework(master, "r")
        if kind != "SUBSCRIBE":
            framework.info = INFO
            assert _subscribed(framework) == "SUBSCRIBED"
        ids = [offer["id"] for offer in framework.offers()] if kind != "SUBSCRIBE" else []
        body = filled(request, master, framework.id, ids)
        if kind == "SUBSCRIBE":
            framework.info = body["subscribe"]["framework_info"]
            outcome = Outcome(_subscribed(framework))
        else:
            if kind == "UPDATE_FRAMEWORK":
                body["update_framework"]["framework_info"]["id"] = {"value": framework.id}
            status = framework.call(kind, **{kind.lower(): body[kind.lower()]}).status
            framework.settle()
            updates = [event["update"]["status"] for event in framework.stream.events if event["type"] == "UPDATE"]
            launched = kind == "ACCEPT" and any(update["state"] != "TASK_ERROR" for update in updates)
            outcome = Outcome(status, launched or self.shown(master) != self.before)
        if framework.id is not None:
            framework.leave()
        framework.stream.hang_up()
        return outcome


def _subscribed(framework: Framework) -> int | str:
    """The status of a SUBSCRIBE that was refused, or its first event.  Raises MasterDied."""
    stream = framework.open()
    if stream.status != 200:
        return stream.status
    framework.cluster.subscribers.wait(lambda: bool(stream.events) or stream.closed)
    if not stream.events:
        framework.cluster.request("GET", "/version")
    kind = str(stream.events[0]["type"])
    if kind == "SUBSCRIBED":
        framework.id = stream.events[0]["subscribed"]["framework_id"]["value"]
    return kind


class Playing(Protocol):
    """What plays requests on one master."""

    def play(self, request: Request) -> Outcome:
        """Send one request.  Raises MasterDied."""
        ...


def took(request: Request, outcome: Outcome) -> bool:
    """Whether a master did what it was asked for: one answers ACCEPT with 202 whatever becomes of its operations."""
    if isinstance(request.body, dict) and request.body.get("type") == "ACCEPT":
        return outcome.changed
    return outcome.answer == "SUBSCRIBED" or (isinstance(outcome.answer, int) and outcome.answer < 300)


def look(
    requests: int,
    seed: int,
    real: Carrier = REAL,
    fake: Carrier = IN_PROCESS,
    *,
    seconds: float = 3600.0,
    say: Callable[[str], None] = lambda _: None,
) -> Report:
    """Play so many random requests, or as many as fit into so many seconds; `say` is told of findings at once."""
    report, extremes, pool = Report(), Extremes(seed), Pool()
    trials = LethalTrial(lambda: pool.start(fake, SETUP)), LethalTrial(lambda: pool.start(real, SETUP))
    end = time.monotonic() + seconds
    try:
        while report.requests < requests and time.monotonic() < end:
            compare(extremes.request(), report, *trials, say)
    finally:
        for trial in trials:
            trial.stop()
        pool.close()
    return report


def compare(
    request: Request, report: Report, fake: Playing, real: Playing, say: Callable[[str], None] = lambda _: None
) -> None:
    """Play one request on both masters."""
    given = fake.play(request)
    report.requests += 1
    report.statuses[given.answer] += 1
    try:
        wanted = real.play(request)
    except MasterDied as death:
        report.deaths += 1
        found, kind = (report.lethal, "LETHAL, AND TAKEN") if took(request, given) else (report.refused, "lethal")
        said = f"the fake one: {given}\n    {last_words(death)}"
    else:
        if given == wanted:
            return
        found, kind, said = report.different, "different", f"the real one: {wanted}, the fake one: {given}"
    if request.name not in found:
        found[request.name] = said
        say(
            f"{kind}: {request.name}{' (protobuf)' if request.in_protobuf else ''}: {request.text()[:3000]}\n    {said}"
        )


def last_words(death: MasterDied) -> str:
    """The line of a log that says which check failed, or the last one."""
    lines = str(death).splitlines()
    return next((line for line in lines if "Check failed" in line or line.startswith("F")), lines[-1])


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=3600.0)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000)
    words = parser.parse_args()
    print(f"seed {words.seed}")
    report = look(words.requests, words.seed, seconds=words.seconds, say=lambda text: print(text, flush=True))
    print(report)
    return 1 if report.lethal else 0


if __name__ == "__main__":
    sys.exit(main())
