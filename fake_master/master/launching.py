"""LAUNCH and LAUNCH_GROUP upon offers (spec/endpoints.md §5)."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fake_master.master.ground import Ground, entries
from fake_master.master.launch_rules import group_problem, needed, runs_already, task_problem
from fake_master.master.tasks import Executor, Task
from mesosctl.core.resources import Resources

if TYPE_CHECKING:
    from fake_master.master.master import Master

LAUNCHES = ("LAUNCH", "LAUNCH_GROUP")


def task_infos(operation: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The tasks of a LAUNCH or LAUNCH_GROUP."""
    if operation["type"] == "LAUNCH":
        return list(operation.get("launch", {}).get("task_infos", ()))
    return list(operation.get("launch_group", {}).get("task_group", {}).get("tasks", ()))


def launch(master: "Master", ground: Ground, operation: Mapping[str, Any]) -> bool:
    """Each task on its own, of a group all or none; whether any was launched."""
    infos = task_infos(operation)
    if operation["type"] == "LAUNCH_GROUP":
        return _launch_group(master, ground, infos, operation.get("launch_group", {}).get("executor"))
    launched = False
    for info in infos:
        problem = task_problem(ground, info)
        if problem is not None:
            master.task_updates.refuse(ground.framework, info, "TASK_ERROR", "REASON_TASK_INVALID", problem)
            continue
        _start(master, ground, info, info.get("executor"))
        launched = True
    return launched


def _launch_group(
    master: "Master", ground: Ground, infos: Sequence[Mapping[str, Any]], executor: Mapping[str, Any] | None
) -> bool:
    """An operation without its body has no tasks of which anything could be said."""
    if executor is None or not infos:
        return False
    problem = group_problem(ground, infos, executor)
    for info in infos:
        if problem is not None:
            master.task_updates.refuse(ground.framework, info, "TASK_ERROR", "REASON_TASK_GROUP_INVALID", problem)
        else:
            _start(master, ground, info, executor)
    return problem is None


def _start(master: "Master", ground: Ground, info: Mapping[str, Any], executor: Mapping[str, Any] | None) -> None:
    held = needed(ground, [info], executor)
    own = Resources(entries(info.get("resources", ()), ground))
    made = None
    if executor is not None and not runs_already(ground, executor):
        made = Executor(
            id=executor["executor_id"]["value"],
            framework_id=ground.framework.id,
            agent_id=ground.agent.id,
            info=executor,
            resources=held - own,
        )
    task = Task(
        id=info["task_id"]["value"],
        framework_id=ground.framework.id,
        agent_id=ground.agent.id,
        info=info,
        resources=own,
        role=ground.role,
        executor_id=executor["executor_id"]["value"] if executor is not None else "",
    )
    ground.left -= held
    master.allocator.transition_offered_to_allocated(ground.agent.id, held)
    master.task_runner.launch(ground.framework, task, made)
