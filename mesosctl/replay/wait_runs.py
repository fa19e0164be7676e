"""`replay --wait`: when one more task would start, from the lifetimes that a recording has."""

from collections.abc import Callable
from dataclasses import replace
from itertools import chain

from mesosctl.history.interface import Recording
from mesosctl.history.records import MICROS, Micros, RecordedCluster, Window
from mesosctl.mesos.door.added_framework import FrameworkToAdd
from mesosctl.mesos.door.replay import Played, RecordedDemand
from mesosctl.reading.side_by_side import processors, side_by_side
from mesosctl.replay.expected_wait import (
    ASSUMPTIONS,
    DRAWS,
    PLACED_AFTER,
    ExpectedWait,
    Lifetimes,
    TaskLifetime,
    drawn_demand,
    place_of_new_task,
    seconds_to_place,
    with_one_more_task,
)
from mesosctl.replay.work import read_demand
from mesosctl.whatif.added_frameworks import OF_ONE_TASK, check_resources
from mesosctl.whatif.played_demand import ReplayOptions, play


def expected_wait(
    recording: Recording,
    cluster: RecordedCluster,
    window: Window,
    wanted: FrameworkToAdd,
    options: ReplayOptions,
    version: str | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> ExpectedWait:
    """Return when such a task would start if it were asked for at the end of the window.

    Raises BadInput if no agent is known then, RuleViolation for a resource that no agent has.
    """
    assert window.until is not None, "the window is that of the command"
    moment = window.until
    demand = read_demand(recording, cluster, Window(moment - 1, moment), version, is_wanted=False)
    # What is there at that moment stays: the recording ends, the cluster does not.
    demand = replace(
        demand,
        agents=[
            replayed._replace(end=None)
            for replayed in demand.agents
            if replayed.end is None or replayed.end >= demand.until
        ],
        settings=[setting for setting in demand.settings if setting.at <= demand.since],
    )
    if not options.allow_new_resource:
        check_resources([wanted], [replayed.agent.total for replayed in demand.agents], OF_ONE_TASK)
    lifetimes = _lifetimes(recording, cluster.cluster_id, window, moment)
    reaches = max((of_role.longest for of_role in lifetimes.values()), default=0.0)
    reaches = max(reaches, 10 * PLACED_AFTER)
    endless = with_one_more_task(demand, wanted.role, wanted.task, reaches)
    progress("playing what could happen")

    def wait(drawn: RecordedDemand, played: Played) -> tuple[bool, float | None]:
        place = place_of_new_task(drawn.tasks)
        start = played.starts[place]
        return place in played.never_fit, None if start is None else round(start - drawn.tasks[place].asked, 6)

    def wait_of(draw: int) -> float | None:
        drawn = drawn_demand(endless, lifetimes, draw)
        return wait(drawn, play(drawn, (), options)[0])[1]

    played, _ = play(endless, (), options)
    needed = seconds_to_place(endless, played)
    if needed is not None:
        endless = with_one_more_task(demand, wanted.role, wanted.task, reaches, needed)
        played, _ = play(endless, (), options)
    never_fits, unhurried = wait(endless, played)
    waits: list[float | None] = []
    if unhurried is not None:  # there is room beside everything that runs, however long that takes
        waits = [unhurried] * DRAWS
    elif not never_fits:
        at_once = min(DRAWS, processors())
        parts = [range(first, DRAWS, at_once) for first in range(at_once)]
        answers = side_by_side(parts, lambda part: [wait_of(draw) for draw in part], at_once)
        found = dict(zip(chain.from_iterable(parts), chain.from_iterable(answers), strict=True))
        waits = [found[draw] for draw in range(DRAWS)]
    return ExpectedWait(
        role=wanted.role,
        task=wanted.task,
        at=moment / MICROS,
        waits=tuple(waits),
        reaches=reaches,
        lifetimes=sum(map(len, lifetimes.values())),
        running=sum(task.ran_from_the_beginning and not task.is_executor for task in demand.tasks),
        assumptions=(*ASSUMPTIONS, *demand.assumptions),
    )


def _lifetimes(recording: Recording, cluster_id: str, window: Window, moment: Micros) -> dict[str, Lifetimes]:
    """The lifetimes of a window by role, executors too; those whose beginning nobody saw are left out."""
    found: dict[str, list[TaskLifetime]] = {}
    for row in recording.tasks(cluster_id, window):
        if row.start is None or not row.start_known:
            continue
        has_ended = row.end is not None and row.end <= moment and row.end_known
        end = moment if row.end is None or row.end > moment else row.end
        if row.end_known or row.end is None:
            found.setdefault(row.role, []).append(TaskLifetime((end - row.start) / MICROS, has_ended))
    return {role: Lifetimes(of_role) for role, of_role in found.items()}
