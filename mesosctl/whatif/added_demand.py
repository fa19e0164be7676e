"""The demand of frameworks that do not exist yet, beside a recorded one."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, count

from mesosctl.mesos.amounts.quantities import Quantities
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.cluster.snapshot import ClusterSnapshot, FrameworkUsage, SnapshotFramework
from mesosctl.mesos.door.added_framework import AddedOutcome, FrameworkToAdd
from mesosctl.mesos.door.forecast import Forecast
from mesosctl.mesos.door.replay import (
    Displaced,
    Played,
    RecordedDemand,
    ReplayedAgent,
    ReplayedFramework,
)
from mesosctl.mesos.door.replayed_tasks import ReplayedTask, ReplayedTasks


def with_frameworks(demand: RecordedDemand, added: Sequence[FrameworkToAdd]) -> RecordedDemand:
    """Return the demand with that of further frameworks; tasks that would be asked for after the end are left out."""
    if not added:
        return demand
    unused = (name for number in count(1) if (name := f"added framework {number}") not in demand.frameworks)
    by_id = dict(zip(unused, added, strict=False))
    frameworks = {
        **demand.frameworks,
        **{name: new_framework(name, framework.role, framework.task) for name, framework in by_id.items()},
    }
    wanted = chain.from_iterable(_tasks(name, framework, demand) for name, framework in by_id.items())
    return replace(demand, frameworks=frameworks, tasks=ReplayedTasks(chain(demand.tasks, wanted)))


def _ids_of_added(demand: RecordedDemand, added: Sequence[FrameworkToAdd]) -> list[str]:
    """Return the ids of the added frameworks in a demand that `with_frameworks` has made: they come last."""
    return list(demand.frameworks)[len(demand.frameworks) - len(added) :]


def _tasks(framework_id: str, added: FrameworkToAdd, demand: RecordedDemand) -> Iterator[ReplayedTask]:
    for place in range(added.tasks):
        moment = demand.since + place * added.every
        if moment < demand.until:
            yield ReplayedTask(framework_id, added.role, added.task, moment, added.lasts)


def new_framework(framework_id: str, role: str, task: Resources) -> ReplayedFramework:
    """Return a framework of one role that can take every offer for such a task."""
    capabilities = ["MULTI_ROLE", "RESERVATION_REFINEMENT"]
    if any(entry.name == "gpus" for entry in task):
        capabilities.insert(0, "GPU_RESOURCES")
    return ReplayedFramework(framework_id, role, (role,), None, tuple(capabilities))


# --- From a snapshot ------------------------------------------------------------------------------------

_SETTLES = 60.0
"""Seconds after the last task could have started or ended."""
_LONGEST = 10 * 365 * 86_400.0
FROM_A_SNAPSHOT = (
    "what runs now goes on until the end, since a snapshot does not say when a task ends",
    "the frameworks that are there want nothing more, and decline what they are offered",
)


def demand_of_snapshot(snapshot: ClusterSnapshot, added: Sequence[FrameworkToAdd]) -> RecordedDemand:
    """Return a demand without tasks, on the agents of a snapshot, that lasts until all added frameworks can be done.

    If only one task has room at a time, each waits for those before it.
    """
    frameworks = tuple(replace(framework, suppressed=frozenset(framework.roles)) for framework in snapshot.frameworks)
    longest = max(
        (framework.tasks * (framework.every + (framework.lasts or 0.0) + _SETTLES) for framework in added),
        default=_SETTLES,
    )
    return RecordedDemand(
        cluster_id="snapshot",
        version=snapshot.version,
        since=snapshot.taken_at,
        until=snapshot.taken_at + min(longest, _LONGEST),
        agents=[ReplayedAgent(agent, snapshot.taken_at, None) for agent in snapshot.agents if agent.active],
        frameworks={},
        tasks=[],
        assumptions=(*FROM_A_SNAPSHOT, *snapshot.unknown),
        snapshot=replace(snapshot, frameworks=frameworks, offers=()),
        mesos_profile=snapshot.mesos_profile,
    )


def with_started_tasks(
    snapshot: ClusterSnapshot, demand: RecordedDemand, played: Played, added: Sequence[FrameworkToAdd]
) -> ClusterSnapshot:
    """Return the snapshot with the added frameworks, when most of their tasks run; offers are made again."""
    frameworks = [
        SnapshotFramework(
            framework_id,
            role := demand.frameworks[framework_id].roles[0],
            (role,),
            None,
            frozenset(demand.frameworks[framework_id].capabilities),
            suppressed=frozenset((role,)),
        )
        for framework_id in _ids_of_added(demand, added)
    ]
    usages = []
    moment = _when_most_run(played)
    for place, (agent_id, resources) in played.held.items():
        if _runs(played, place, moment):
            task = demand.tasks[place]
            usages.append(FrameworkUsage(task.framework_id, agent_id, task.role, resources, 1))
    return replace(
        snapshot,
        frameworks=(*snapshot.frameworks, *frameworks),
        usages=(*snapshot.usages, *usages),
        offers=(),
    )


def _runs(played: Played, place: int, moment: float) -> bool:
    start, end = played.starts[place], played.ends[place]
    return start is not None and start <= moment and (end is None or end > moment)


def _when_most_run(played: Played) -> float:
    """The first moment at which most of the tasks that started run."""
    changes = []
    for place in played.held:
        start, end = played.starts[place], played.ends[place]
        assert start is not None, "it holds something"
        changes += [(start, 1), *([] if end is None else [(end, -1)])]
    changes.sort()
    running = most = 0
    best = -math.inf
    for moment, change in changes:
        running += change
        if running > most:
            most, best = running, moment
    return best


def displaced_frameworks(before: Forecast, after: Forecast) -> tuple[Displaced, ...]:
    """Return the frameworks that are offered less in the end of the second forecast than of the first."""
    then = {change.id: change.after.offered for change in after.frameworks}
    less = ((change, change.after.offered - then.get(change.id, Quantities())) for change in before.frameworks)
    return tuple(Displaced(change.id, change.name, amounts) for change, amounts in less if amounts)


def added_outcomes(
    demand: RecordedDemand, played: Played, added: Sequence[FrameworkToAdd], interval: float
) -> list[AddedOutcome]:
    """Return what becomes of each added framework in a demand that `with_frameworks` has made."""
    places: dict[str, list[int]] = {name: [] for name in _ids_of_added(demand, added)}
    for place, task in enumerate(demand.tasks):
        if task.framework_id in places:
            places[task.framework_id].append(place)
    found = []
    for framework, own in zip(added, places.values(), strict=True):
        fitting = [place for place in own if place not in played.never_fit]
        started = [(place, start) for place in fitting if (start := played.starts[place]) is not None]
        ends = [end for place in fitting if (end := played.ends[place]) is not None and end <= demand.until]
        all_start, all_end = (fitting and len(times) == len(fitting) for times in (started, ends))
        at_once = sum(start - demand.tasks[place].asked <= interval + 1e-6 for place, start in started)
        found.append(
            AddedOutcome(
                framework,
                len(own),
                at_once,
                len(started),
                len(own) - len(fitting),
                max(start for _, start in started) - demand.since if all_start else None,
                max(ends) - demand.since if all_end else None,
                framework.tasks - len(own),
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
    added = demand.frameworks.keys() - demand_before.frameworks.keys()
    recorded = (
        (task, start) for task, start in zip(demand.tasks, after.starts, strict=True) if task.framework_id not in added
    )
    found: dict[str, int] = {}
    for (task, start), then in zip(recorded, before.starts, strict=True):
        if then is not None and not task.is_executor and (start is None or start > then + interval + 1e-6):
            found[task.role] = found.get(task.role, 0) + 1
    return found
