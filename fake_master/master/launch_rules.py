"""Why a task or a group of tasks is not launched: the checks of a Mesos 1.11.0 master, in its order and words."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fake_master.master.ground import Ground, entries
from mesosctl.core.errors import Conflict, RuleViolation
from mesosctl.core.ids import id_error
from mesosctl.core.operand_rules import check_gpus
from mesosctl.core.resources import Resources
from mesosctl.core.scalars import to_double

Info = Mapping[str, Any]
"""A TaskInfo or an ExecutorInfo."""
_LEAST_CPUS, _LEAST_MEMORY = 10, 32_000
"""Of the executor of a group, in thousandths."""


def task_problem(ground: Ground, info: Info) -> str | None:
    """Why one task of a LAUNCH cannot be; None where it can."""
    executor = info.get("executor")
    problem = _problem_of(ground, info)
    if problem is None and ("command" in info) == (executor is not None):
        problem = "Task should have at least one (but not both) of CommandInfo or ExecutorInfo present"
    if problem is None and executor is not None:
        problem = _executor_problem(ground, executor, in_group=False)
    return problem or _room_problem(ground, [info], executor, "task and its executor is")


def group_problem(ground: Ground, infos: Sequence[Info], executor: Info) -> str | None:
    """Why a LAUNCH_GROUP cannot be; None where all of it can."""
    return next(_group_problems(ground, infos, executor), None)


def _group_problems(ground: Ground, infos: Sequence[Info], executor: Info) -> Iterator[str]:
    seen = set[str]()
    for info in infos:
        task_id = info["task_id"]["value"]
        problem = _problem_of(ground, info) or _container_problem(info)
        if problem is None and task_id in seen:  # this ends a real master
            problem = f"Task has duplicate ID: {task_id}"
        seen.add(task_id)
        if problem is not None:
            yield f"Task '{task_id}' is invalid: {problem}"
    problem = _executor_problem(ground, executor, in_group=True) or _too_small(ground, executor)
    if problem is not None:
        yield problem
    for info in infos:
        if "executor" in info and info["executor"] != executor:
            yield (
                f"The `ExecutorInfo` of task '{info['task_id']['value']}' is different from "
                f"executor '{executor['executor_id']['value']}'"
            )
    problem = _room_problem(ground, infos, executor, "task group and its executor are")
    if problem is not None:
        yield problem


def needed(ground: Ground, infos: Sequence[Info], executor: Info | None) -> Resources:
    """What the tasks take, with their executor's part unless that runs already.  Raises RuleViolation, Conflict."""
    wanted = Resources()
    for info in infos:
        wanted += _resources_of(ground, info)
    if executor is not None and not runs_already(ground, executor):
        wanted += _resources_of(ground, executor)
    return wanted


def _resources_of(ground: Ground, info: Info) -> Resources:
    found = entries(info.get("resources", ()), ground)
    check_gpus(found, "resources")
    return Resources(found)


def runs_already(ground: Ground, executor: Info) -> bool:
    """Whether the framework has this executor on the offer's agent."""
    return (ground.agent.id, executor["executor_id"]["value"]) in ground.framework.executors


def _problem_of(ground: Ground, info: Info) -> str | None:
    """What is wrong with a task by itself."""
    task_id, agent_id = info["task_id"]["value"], info["agent_id"]["value"]
    problem = id_error(task_id)
    if problem is not None:
        return problem
    if task_id in ground.framework.tasks:
        return f"Task has duplicate ID: {task_id}"
    if agent_id != ground.agent.id:
        return f"Task uses invalid agent {agent_id} while agent {ground.agent.id} is expected"
    try:
        needed(ground, [info], None)
    except (RuleViolation, Conflict) as error:
        return f"Task uses invalid resources: {error.message}"
    return None if info.get("resources") else "Task uses no resources"  # cpus:0 is something


def _container_problem(info: Info) -> str | None:
    container = info.get("container")
    is_docker = isinstance(container, Mapping) and container.get("type") == "DOCKER"
    return "Docker ContainerInfo is not supported on the task" if is_docker else None


def _executor_problem(ground: Ground, executor: Info, *, in_group: bool) -> str | None:
    problem = _type_problem(executor, in_group=in_group) or id_error(executor["executor_id"]["value"])
    claimed, own = executor.get("framework_id", {}).get("value"), ground.framework.id
    if problem is None and in_group and claimed is None:
        problem = "'ExecutorInfo.framework_id' must be set"
    if problem is None and claimed not in (None, own):
        problem = f"ExecutorInfo has an invalid FrameworkID (Actual: {claimed} vs Expected: {own})"
    if problem is not None:
        return problem
    known = ground.framework.executors.get((ground.agent.id, executor["executor_id"]["value"]))
    if known is not None and _compared(known.info) != _compared(executor):
        return "ExecutorInfo is not compatible with existing ExecutorInfo with same ExecutorID."
    return None


def _type_problem(executor: Info, *, in_group: bool) -> str | None:
    kind = executor.get("type")
    if kind is None and in_group:
        return "'ExecutorInfo.type' must be set"
    if kind == "UNKNOWN":
        return "Unknown executor type"
    if kind == "DEFAULT" and not in_group:
        return "'ExecutorInfo.type' must be 'CUSTOM'"
    if kind == "DEFAULT" and "command" in executor:
        return "'ExecutorInfo.command' must not be set for 'DEFAULT' executor"
    if kind != "DEFAULT" and "command" not in executor:
        return "'ExecutorInfo.command' must be set for 'CUSTOM' executor"
    return None


def _compared(executor: Info) -> Info:
    """The master writes the framework's id in by itself."""
    return {key: value for key, value in executor.items() if key != "framework_id"}


def _too_small(ground: Ground, executor: Info) -> str | None:
    """The executor of a group needs a little of everything."""
    try:
        own = _resources_of(ground, executor).quantities()
    except (RuleViolation, Conflict) as error:
        return f"Executor uses invalid resources: {error.message}"
    name, cpus, memory = executor["executor_id"]["value"], own.get_amount("cpus"), own.get_amount("mem")
    if cpus < _LEAST_CPUS:
        return f"Executor '{name}' uses less CPUs ({_amount(cpus)}) than the minimum required ({_LEAST_CPUS / 1000})"
    if memory < _LEAST_MEMORY:
        least = f"{_LEAST_MEMORY // 1000}MB"
        has = f"{memory / 1000:g}MB" if memory else "None"
        return f"Executor '{name}' uses less memory ({has}) than the minimum required ({least})"
    return None if own.get_amount("disk") else f"Executor '{name}' uses no disk"


def _amount(milli: int) -> str:
    return f"{to_double(milli):g}" if milli else "None"


def _room_problem(ground: Ground, infos: Sequence[Info], executor: Info | None, who: str) -> str | None:
    try:
        wanted = needed(ground, infos, executor)
    except (RuleViolation, Conflict) as error:
        return f"Executor uses invalid resources: {error.message}"
    for name in {resource.name for resource in wanted}:
        if len({resource.revocability for resource in wanted if resource.name == name}) > 1:
            return f"Task (with its executor) mixes revocable and non-revocable {name}"
    if not ground.left.contains(wanted):
        return f"Total resources {wanted} required by {who} more than available {ground.left}"
    return None
