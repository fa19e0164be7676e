"""The demand of frameworks that do not exist yet, beside a recorded one."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from mesosctl.planning.added_framework import AddedFramework, AddedOutcome
from mesosctl.planning.replay import Played, RecordedDemand, ReplayedFramework, ReplayedTask


def with_frameworks(demand: RecordedDemand, added: Sequence[AddedFramework]) -> RecordedDemand:
    """Return the demand with that of further frameworks; tasks that would be asked for after the end are left out."""
    if not added:
        return demand
    frameworks = dict(demand.frameworks)
    tasks = list(demand.tasks)
    for number, one in enumerate(added):
        capabilities = ["MULTI_ROLE", "RESERVATION_REFINEMENT"]
        if any(entry.name == "gpus" for entry in one.task):
            capabilities.insert(0, "GPU_RESOURCES")
        framework_id = _framework_id(number)
        frameworks[framework_id] = ReplayedFramework(framework_id, one.role, (one.role,), None, tuple(capabilities))
        moments = (demand.since + place * one.every for place in range(one.tasks))
        tasks += (
            ReplayedTask(framework_id, one.role, one.task, moment, one.lasts)
            for moment in moments
            if moment < demand.until
        )
    tasks.sort(key=lambda task: task.asked)
    return replace(demand, frameworks=frameworks, tasks=tasks)


def _framework_id(number: int) -> str:
    return f"added framework {number + 1}"


def added_outcomes(
    demand: RecordedDemand, played: Played, added: Sequence[AddedFramework], interval: float
) -> list[AddedOutcome]:
    """Return what becomes of each added framework in a demand that `with_frameworks` has made."""
    places: dict[str, list[int]] = {_framework_id(number): [] for number in range(len(added))}
    for place, task in enumerate(demand.tasks):
        if task.framework_id in places:
            places[task.framework_id].append(place)
    found = []
    for one, own in zip(added, places.values(), strict=True):
        fitting = [place for place in own if place not in played.never_fit]
        started = [(place, start) for place in fitting if (start := played.starts[place]) is not None]
        ends = [end for place in fitting if (end := played.ends[place]) is not None and end <= demand.until]
        all_start, all_end = (fitting and len(times) == len(fitting) for times in (started, ends))
        at_once = sum(start - demand.tasks[place].asked <= interval + 1e-6 for place, start in started)
        found.append(
            AddedOutcome(
                one,
                len(own),
                at_once,
                len(started),
                len(own) - len(fitting),
                max(start for _, start in started) - demand.since if all_start else None,
                max(ends) - demand.since if all_end else None,
            )
        )
    return found


def delayed_tasks(
    demand_before: RecordedDemand,
    before: Played,
    demand: RecordedDemand,
    after: Played,
    interval: float,
) -> Mapping[str, int]:
    """Return by role how many recorded tasks start more than an interval later than without the changes, or never."""
    started = {id(task): start for task, start in zip(demand_before.tasks, before.starts, strict=True)}
    found: dict[str, int] = {}
    for task, start in zip(demand.tasks, after.starts, strict=True):
        then = started.get(id(task))
        if then is not None and not task.is_executor and (start is None or start > then + interval + 1e-6):
            found[task.role] = found.get(task.role, 0) + 1
    return found
