"""Ending tasks against the will of their framework (seeds/oversubscription-for-reservation.txt, seeds/drf.txt).

Why and whom is for others to decide; this is the deed alone.  An agent ends containers: an
executor with every task in it, or a task that has none of its own making.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from fake_master.master.frameworks import Framework
from fake_master.master.tasks import Ending, Task

if TYPE_CHECKING:
    from fake_master.master.master import Master

PREEMPTED = "REASON_CONTAINER_PREEMPTED"


def container_of(framework: Framework, task: Task) -> list[Task]:
    """The task, and the others that live in the same executor: they end together."""
    if not task.executor_id:
        return [] if task.is_terminal else [task]
    return [
        other
        for other in framework.tasks.values()
        if other.agent_id == task.agent_id and other.executor_id == task.executor_id and not other.is_terminal
    ]


def evict(
    master: "Master",
    framework: Framework,
    task: Task,
    *,
    grace_seconds: float,
    message: str,
    reason: str = PREEMPTED,
) -> list[Task]:
    """Tell a task's container to end, and end it once `grace_seconds` are over.

    It ends as TASK_LOST, or TASK_GONE where its framework is PARTITION_AWARE, reported by the agent.
    Until then it runs on and holds what it holds, as `Task.ending` says.  What ends by itself
    meanwhile is told of as usual; what never started has nothing to wait for, and ends at once.
    Gives the tasks that were told now; none if all of them had been told before.
    """
    told = [other for other in container_of(framework, task) if not other.ending]
    started = any(not other.is_staging for other in told)
    at = master.now + (grace_seconds if started else 0.0)
    state, details = _end(framework, message, reason)
    for other in told:
        master.task_runner.tell_to_end(framework, other, Ending(at, state, details))
    if told:

        def end() -> None:
            _end_all(master, framework, task, state, details)

        master.timers.at(at, end)
    return told


def end_container(
    master: "Master", framework: Framework, task: Task, message: str, reason: str = PREEMPTED
) -> list[Task]:
    """End a task's container now, as an agent tells of it.  Gives the tasks that ended."""
    return _end_all(master, framework, task, *_end(framework, message, reason))


def _end(framework: Framework, message: str, reason: str) -> tuple[str, dict[str, str]]:
    """The state of an evicted task, and the details of its status."""
    state = "TASK_GONE" if framework.is_partition_aware else "TASK_LOST"
    return state, {"source": "SOURCE_AGENT", "reason": reason, "message": message}


def _end_all(master: "Master", framework: Framework, task: Task, state: str, details: Mapping[str, str]) -> list[Task]:
    ended = container_of(framework, task)
    for other in ended:
        master.task_runner.end(framework, other, state, **details)
    return ended
