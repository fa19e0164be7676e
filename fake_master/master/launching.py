"""LAUNCH and LAUNCH_GROUP upon offers (spec/endpoints.md §5)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fake_master.master.ground import Ground, entries
from fake_master.master.tasks import Executor, Task
from mesosctl.core.errors import Conflict, RuleViolation
from mesosctl.core.resources import Resources

if TYPE_CHECKING:
    from fake_master.master.state import Master

LAUNCHES = ("LAUNCH", "LAUNCH_GROUP")


def task_infos(operation: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The tasks of a LAUNCH or LAUNCH_GROUP."""
    if operation["type"] == "LAUNCH":
        return list(operation.get("launch", {}).get("task_infos", ()))
    return list(operation.get("launch_group", {}).get("task_group", {}).get("tasks", ()))


def launch(master: "Master", ground: Ground, operation: Mapping[str, Any]) -> None:
    """Each task on its own; of a group all or none."""
    infos = task_infos(operation)
    shared = operation.get("launch_group", {}).get("executor")
    if operation["type"] == "LAUNCH_GROUP":
        problem = next(filter(None, (_task_problem(ground, info, shared) for info in infos)), None)
        if problem is not None:
            for info in infos:
                _task_error(master, ground, info, problem)
            return
    for info in infos:
        executor = shared or info.get("executor")
        problem = _task_problem(ground, info, executor)
        if problem is not None:
            _task_error(master, ground, info, problem)
            continue
        _start(master, ground, info, executor)


def _task_problem(ground: Ground, info: Mapping[str, Any], executor: Mapping[str, Any] | None) -> str | None:
    task_id = info["task_id"]["value"]
    if not task_id or "/" in task_id or task_id in (".", ".."):
        return f"Task ID '{task_id}' is invalid"
    if task_id in ground.framework.tasks:
        return f"Task has duplicate ID: {task_id}"
    if info["agent_id"]["value"] != ground.agent.id:
        return f"Task uses invalid agent {info['agent_id']['value']} while agent {ground.agent.id} is expected"
    if executor is None and "command" not in info:
        return "Task should have at least one (but not both) of CommandInfo or ExecutorInfo present"
    try:
        wanted = _needed(ground, info, executor)
    except (RuleViolation, Conflict) as error:
        return f"Task uses invalid resources: {error.message}"
    for name in {resource.name for resource in wanted}:
        if len({resource.revocable for resource in wanted if resource.name == name}) > 1:
            return f"Task (with its executor) mixes revocable and non-revocable {name}"
    if not ground.left.contains(wanted):
        return f"Total resources {wanted} required by task and its executor is more than available {ground.left}"
    return None


def _needed(ground: Ground, info: Mapping[str, Any], executor: Mapping[str, Any] | None) -> Resources:
    """What the task takes, with its executor's part unless that runs already."""
    wanted = Resources(entries(info.get("resources", ()), ground.role))
    if not len(wanted):
        raise RuleViolation("a task needs resources")
    if executor is not None and not _runs_already(ground, executor):
        wanted += Resources(entries(executor.get("resources", ()), ground.role))
    return wanted


def _runs_already(ground: Ground, executor: Mapping[str, Any]) -> bool:
    return (ground.agent.id, executor["executor_id"]["value"]) in ground.framework.executors


def _task_error(master: "Master", ground: Ground, info: Mapping[str, Any], problem: str) -> None:
    master.task_runner.refuse(ground.framework, info, "TASK_ERROR", "REASON_TASK_INVALID", problem)


def _start(master: "Master", ground: Ground, info: Mapping[str, Any], executor: Mapping[str, Any] | None) -> None:
    held = _needed(ground, info, executor)
    own = Resources(entries(info.get("resources", ()), ground.role))
    made = None
    if executor is not None and not _runs_already(ground, executor):
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
    ground.untouched -= held
    master.allocator.transition_offered_to_allocated(ground.agent.id, held)
    master.task_runner.launch(ground.framework, task, made)
