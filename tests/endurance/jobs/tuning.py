"""Compare `mesosctl tune` with a coarse grid in its bounds: `python -m tests.endurance.jobs.tuning [--only WORDS]`.

The cases are the public GPU trace on some of its nodes, with guarantees on record.  The trace is read from the folder
that MESOS_TRACES names.  This script computes the percentiles itself, from the moments in which recorded tasks ask and
those in which the replay of a point starts them:

- where a point of the grid meets the goals, `tune` finds an answer, and `whatif` says of it that it meets them;
- goals that are made from a point of the grid are met;
- where no point meets them, `tune` may find an answer between the points; otherwise it names a goal or a pair of goals,
  which no point of the grid meets either.

Prints what was seen and what it cost; ends with 1 where that was not so.
"""

import argparse
import json
import math
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from mesosctl.history.contents import chosen_cluster
from mesosctl.history.records import RecordedSetting, Window
from mesosctl.history.sqlite import open_recording, open_writer
from mesosctl.history.windows import window_of
from mesosctl.mesos.door.replay import RecordedDemand
from mesosctl.reading.side_by_side import side_by_side
from mesosctl.replay.work import read_demand
from mesosctl.whatif.changes import parse_change
from mesosctl.whatif.played_demand import ReplayOptions, TimedChange, play
from tests.benchmarks.replay import RECORDING, Ran, run, select_gpu_trace

Amounts = Mapping[str, int]
PERCENT = 95


@dataclass(frozen=True)
class Case:
    """A cluster, goals of 95th percentiles in seconds by role, and guarantees that may be between zero and `most`."""

    name: str
    nodes: int
    goals: Mapping[str, float]
    most: Mapping[str, Amounts]
    on_record: Mapping[str, Amounts] = field(default_factory=dict)
    keep: Sequence[str] = ()
    steps: int = 8
    coarse: int = 2
    """The steps of the grid, which divide those of `tune`."""


_GOALS = {"LS": 600.0, "BE": 4 * 3600.0}
_LENT = {"cpus": 400, "gpus": 24}
CASES = (
    Case("the goals hold already", 8, _GOALS, {"BE": _LENT}),
    Case(
        "best effort has a guarantee",
        8,
        _GOALS,
        {"BE": _LENT, "LS": {"cpus": 400, "gpus": 40}},
        on_record={"BE": _LENT},
    ),
    Case(
        "best effort keeps its guarantee",
        8,
        _GOALS,
        {"LS": {"cpus": 400, "gpus": 40}},
        on_record={"BE": _LENT},
        keep=["BE"],
        steps=4,
    ),
    Case(
        "production against Burstable, while best effort keeps its guarantee",
        8,
        {"LS": 600.0, "Burstable": 64 * 3600.0},
        {"LS": {"cpus": 400, "gpus": 40}},
        on_record={"BE": _LENT},
        keep=["BE"],
        steps=4,
    ),
    Case(
        "production against Burstable, on five nodes",
        5,
        {"LS": 600.0, "Burstable": 90 * 3600.0},
        {"Burstable": {"cpus": 160, "gpus": 16}},
        steps=8,
        coarse=4,
    ),
)


class Checked:
    """The problems and figures of one case."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.seen: list[str] = []
        self.problems: list[str] = []


def import_trace(folder: Path, case: Case) -> Path:
    """Import the trace on the case's nodes, and return the recording."""
    select_gpu_trace(folder)
    nodes = (folder / "nodes.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    (folder / "nodes.csv").write_text("".join(nodes[: case.nodes + 1]), encoding="utf-8")
    recording, agents = str(folder / RECORDING), str(folder / "nodes.csv")
    pods = str(folder / "pods.csv")
    run(folder, "history", "import", pods, "--format", "openb", "--agents", agents, "--history", recording)
    return folder / RECORDING


def check(folder: Path, recording: Path, case: Case) -> Checked:
    """Compare the answers of `tune` about the recording with those of the grid."""
    checked = Checked(case.name)
    put_on_record(recording, case.on_record)
    demand = demand_of(recording)
    began = time.monotonic()
    grid = dict(zip(_points(case), _played(demand, case), strict=True))
    checked.seen.append(f"{len(grid)} points of the grid in {time.monotonic() - began:.0f} s")
    for words, found in grid.items():
        checked.seen.append(f"  {' '.join(words) or '(as on record)'}: {_text(case, found)}")
    meeting = [words for words, found in grid.items() if _meets(found, case.goals)]
    checked.seen.append(f"{len(meeting)} of them meet {_text(case, case.goals)}")
    answer = _tune(folder, recording, case, case.goals, checked)
    if meeting and not answer["found"]:
        checked.problems.append(f"the grid finds {meeting[0]}, and tune nothing: {answer['verdict']}")
    if () in meeting and not answer["nothing_to_change"]:
        checked.problems.append(f"the goals hold already, but: {answer['verdict']}")
    if answer["found"]:
        _check_answer(folder, recording, case.goals, answer, checked)
    else:
        _check_named(grid, answer, checked)
    # The point that is best for the first role; ties go to the last role.
    known = [words for words, found in grid.items() if math.inf not in found.values()]
    if not known:
        return checked
    best = min(known, key=lambda words: [grid[words][role] for role in case.goals])
    made = {role: float(math.ceil(grid[best][role])) for role in case.goals}
    checked.seen.append(f"goals made from {' '.join(best) or 'the record'}: {_text(case, made)}")
    answer = _tune(folder, recording, case, made, checked)
    if answer["found"]:
        _check_answer(folder, recording, made, answer, checked)
    else:
        checked.problems.append(f"goals that are made from a point of the grid are not met: {answer['verdict']}")
    return checked


def put_on_record(recording: Path, quotas: Mapping[str, Amounts]) -> None:
    """Add quotas to the recording, from its beginning on."""
    with open_writer(recording) as writer, writer.transaction():
        (cluster,) = writer.clusters()
        for role, amounts in quotas.items():
            guarantees = {name: {"value": amount} for name, amount in amounts.items()}
            value = json.dumps({"role": role, "guarantees": guarantees, "limits": {}})
            writer.add_setting(cluster.cluster_id, RecordedSetting("quota", role, value, cluster.first_seen or 0))


def demand_of(recording: Path) -> RecordedDemand:
    """All that was wanted in a recording."""
    with open_recording(recording) as rows:
        cluster = chosen_cluster(rows, None)
        return read_demand(rows, cluster, Window(*window_of(cluster, None, None)), None)


def _points(case: Case) -> Iterator[tuple[str, ...]]:
    """The changes of each point of the grid; those of the record first, which are none."""
    seen: dict[tuple[str, ...], None] = {(): None}
    for parts in product(range(case.coarse + 1), repeat=len(case.most)):
        words = []
        for (role, most), part in zip(case.most.items(), parts, strict=True):
            amounts = {name: amount * part // case.coarse for name, amount in most.items()}
            now = dict(case.on_record.get(role, dict.fromkeys(most, 0)))
            if amounts != now:
                text = ";".join(f"{name}:{amount}" for name, amount in amounts.items())
                words.append(f"quota:{role}={text}" if part else f"remove-quota:{role}")
        seen[tuple(words)] = None
    yield from seen


def _played(demand: RecordedDemand, case: Case) -> Iterator[dict[str, float]]:
    def percentiles(words: tuple[str, ...]) -> dict[str, float]:
        played, _ = play(demand, [TimedChange(word, parse_change(word)) for word in words], ReplayOptions())
        refused = [one.message for one in played.answers if not one.accepted]
        if refused:
            return dict.fromkeys(case.goals, math.inf)
        return {role: _percentile(demand, role, played.starts) for role in case.goals}

    yield from side_by_side(list(_points(case)), percentiles)


def _percentile(demand: RecordedDemand, role: str, starts: Sequence[float | None]) -> float:
    """The nearest rank of the waits of the role's tasks that fit on an agent; infinite if too many never started."""
    sizes = [one.agent.total.scalar_quantities() for one in demand.agents]
    waits, waiting = [], 0
    for task, start in zip(demand.tasks, starts, strict=True):
        if task.role != role or not any(size.contains(task.resources.scalar_quantities()) for size in sizes):
            continue
        waiting += start is None
        waits.append((demand.until if start is None else start) - task.asked)
    waits.sort()
    return math.inf if waiting > len(waits) / 20 else waits[math.ceil(len(waits) * PERCENT / 100) - 1]


def _meets(found: Mapping[str, float], goals: Mapping[str, float]) -> bool:
    return all(found[role] <= bound for role, bound in goals.items())


def _text(case: Case, values: Mapping[str, float]) -> str:
    return ", ".join(f"{role} {values[role]:.0f} s" for role in case.goals)


def goals_file(case: Case, goals: Mapping[str, float]) -> str:
    """The text of the file for `tune`: the goals, and the bounds of the case."""
    lines = [f"keep = {json.dumps(list(case.keep))}"]
    lines += [f'[goals.{role}]\nwait_p95 = "{bound:.0f}s"' for role, bound in goals.items()]
    for role, most in case.most.items():
        low, high = (";".join(f"{name}:{of(most[name])}" for name in most) for of in (lambda _: 0, lambda one: one))
        lines.append(f'[change.{role}]\nguarantee = {{ from = "{low}", to = "{high}", steps = {case.steps} }}')
    return "\n".join(lines) + "\n"


def _tune(folder: Path, recording: Path, case: Case, goals: Mapping[str, float], checked: Checked) -> dict[str, Any]:
    (folder / "goals.toml").write_text(goals_file(case, goals), encoding="utf-8")
    began = time.monotonic()
    ran: Ran = run(folder, "tune", str(folder / "goals.toml"), "--replay", str(recording))
    seconds, tried = time.monotonic() - began, ran.answer["tried"]
    checked.seen.append(f"tune: {ran.answer['verdict']}")
    checked.seen.append(f"  {tried} candidates; {ran.seconds:.0f} s of processors, {seconds:.0f} s on the clock")
    return ran.answer


def _check_answer(
    folder: Path, recording: Path, goals: Mapping[str, float], answer: Mapping[str, Any], checked: Checked
) -> None:
    """Check that the answer meets the goals, by `whatif` and by this script."""
    told = run(folder, "replay", str(recording), *answer["changes"]).answer["roles"]
    shown = {one["role"]: one["after"]["p95_wait_seconds"] for one in told}
    demand = demand_of(recording)
    changes = [TimedChange(word, parse_change(word)) for word in answer["changes"]]
    played, _ = play(demand, changes, ReplayOptions())
    for role, bound in goals.items():
        computed = _percentile(demand, role, played.starts)
        if computed > bound or abs(computed - shown[role]) > 1e-5:
            checked.problems.append(f"{role}: {computed} by this script, {shown[role]} by whatif; the goal is {bound}")


def _check_named(
    grid: Mapping[tuple[str, ...], Mapping[str, float]], answer: Mapping[str, Any], checked: Checked
) -> None:
    """No point of the grid meets the goal that none met, or the pair that none met together."""
    named = [[one] for one in answer["never_met"]] or answer["pairs_against"]
    if not named:
        checked.problems.append(f"tune names no goals that stand against each other: {answer['verdict']}")
    for of in named:
        bounds = {one["role"]: one["bound"] for one in of}
        for words, found in grid.items():
            if _meets(found, bounds):
                checked.problems.append(f"{' '.join(words)} meets {bounds}, which tune says that nothing meets")


def main() -> int:
    """Check the cases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", metavar="WORDS", default="", help="the cases whose names have these words")
    given = parser.parse_args()
    problems = 0
    for case in CASES:
        if given.only not in case.name:
            continue
        with tempfile.TemporaryDirectory() as name:
            checked = check(Path(name), import_trace(Path(name), case), case)
        print(f"{case.name}:", *checked.seen, *(f"WRONG: {one}" for one in checked.problems), sep="\n  ", flush=True)
        problems += len(checked.problems)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
