"""LAUNCH and LAUNCH_GROUP: the rules for tasks and executors, and their start.

Source: Mesos documentation, "Scheduler HTTP API".
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from fake_master.allocator.interface import Allocator
from fake_master.services.task_runner import TaskRunner
from fake_master.services.task_updates import TaskUpdates
from fake_master.state.agents import Agent
from fake_master.state.frameworks import Framework
from fake_master.state.tasks import Executor, Task
from mesosctl.api.resources import to_core
from mesosctl.model.errors import Conflict, RuleViolation
from mesosctl.model.quantities import to_double
from mesosctl.model.reservations.rules import check_gpus
from mesosctl.model.resource import Resource
from mesosctl.model.resources import Resources
from mesosctl.model.roles import id_error


@dataclass(slots=True)
class AcceptContext:
    """The sum of the offers of one ACCEPT, which each of its operations changes for the next."""

    framework: Framework
    agent: Agent
    role: str
    left: Resources
    """Allocated to `role`: what later operations may still use."""
    resized: Resources = field(default_factory=Resources)
    """Grown and shrunken volumes: later operations of the same ACCEPT may not use them."""
    knows_throttling: bool = False
    """Whether `throttle_info` means anything to this master; Mesos 1.11 passes over it."""


def entries(messages: Sequence[Mapping[str, Any]], context: AcceptContext) -> list[Resource]:
    """Resources of a framework's operation; the offer's role is understood if none is named."""
    found = [to_core(message, f"resources[{index}]") for index, message in enumerate(messages)]
    return [
        replace(
            entry,
            allocation_role=entry.allocation_role or context.role,
            throttleable=entry.throttleable and context.knows_throttling,
        )
        for entry in found
    ]


LAUNCHES = ("LAUNCH", "LAUNCH_GROUP")


def task_infos(operation: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The tasks of a LAUNCH or LAUNCH_GROUP."""
    if operation["type"] == "LAUNCH":
        return list(operation.get("launch", {}).get("task_infos", ()))
    return list(operation.get("launch_group", {}).get("task_group", {}).get("tasks", ()))


class TaskLauncher:
    """Starts the tasks of LAUNCH and LAUNCH_GROUP, and refuses those that cannot be."""

    def __init__(self, allocator: Allocator, task_updates: TaskUpdates, task_runner: TaskRunner) -> None:
        self._allocator = allocator
        self._task_updates = task_updates
        self._task_runner = task_runner

    def launch(self, context: AcceptContext, operation: Mapping[str, Any]) -> bool:
        """Each task on its own, of a group all or none; whether any was launched."""
        infos = task_infos(operation)
        if operation["type"] == "LAUNCH_GROUP":
            return self._launch_group(context, infos, operation.get("launch_group", {}).get("executor"))
        launched = False
        for info in infos:
            problem = task_problem(context, info)
            if problem is not None:
                self._task_updates.refuse(context.framework, info, "TASK_ERROR", "REASON_TASK_INVALID", problem)
                continue
            self._start(context, info, info.get("executor"))
            launched = True
        return launched

    def launch_alike(self, framework: Framework, tasks: Sequence[Task], held: Resources) -> None:
        """Start tasks of one agent that a local scheduler made of an offer, and that together hold `held`.

        They are valid by the way they are made; `launch` does the same with those of a LAUNCH.
        """
        if self._task_runner.runtime.evicts:  # each task may have to wait for room by itself
            for task in tasks:
                self._allocator.transition_offered_to_allocated(task.agent_id, task.resources)
                self._task_runner.launch(framework, task, None)
        else:
            self._allocator.transition_offered_to_allocated(tasks[0].agent_id, held)
            self._task_runner.launch_alike(framework, tasks, held)

    def _launch_group(
        self, context: AcceptContext, infos: Sequence[Mapping[str, Any]], executor: Mapping[str, Any] | None
    ) -> bool:
        """An operation without its body has no tasks of which anything could be said."""
        if executor is None or not infos:
            return False
        problem = group_problem(context, infos, executor)
        for info in infos:
            if problem is not None:
                self._task_updates.refuse(context.framework, info, "TASK_ERROR", "REASON_TASK_GROUP_INVALID", problem)
            else:
                self._start(context, info, executor)
        return problem is None

    def _start(self, context: AcceptContext, info: Mapping[str, Any], executor: Mapping[str, Any] | None) -> None:
        held = needed(context, [info], executor)
        own = Resources(entries(info.get("resources", ()), context))
        made = None
        if executor is not None and not runs_already(context, executor):
            made = Executor(
                id=executor["executor_id"]["value"],
                framework_id=context.framework.id,
                agent_id=context.agent.id,
                info=executor,
                resources=held - own,
            )
        task = Task(
            id=info["task_id"]["value"],
            framework_id=context.framework.id,
            agent_id=context.agent.id,
            info=info,
            resources=own,
            role=context.role,
            executor_id=executor["executor_id"]["value"] if executor is not None else "",
        )
        context.left -= held
        self._allocator.transition_offered_to_allocated(context.agent.id, held)
        self._task_runner.launch(context.framework, task, made)


Info = Mapping[str, Any]
"""A TaskInfo or an ExecutorInfo."""
_LEAST_CPUS, _LEAST_MEMORY = 10, 32_000
"""The least that the executor of a task group needs, in thousandths."""


def task_problem(context: AcceptContext, info: Info) -> str | None:
    """Return why one task of a LAUNCH is invalid, or None."""
    executor = info.get("executor")
    problem = _problem_of(context, info)
    if problem is None and ("command" in info) == (executor is not None):
        problem = "Task should have at least one (but not both) of CommandInfo or ExecutorInfo present"
    if problem is None and executor is not None:
        problem = _executor_problem(context, executor, in_group=False)
    return problem or _room_problem(context, [info], executor, "task and its executor is")


def group_problem(context: AcceptContext, infos: Sequence[Info], executor: Info) -> str | None:
    """Return why a LAUNCH_GROUP is invalid, or None."""
    return next(_group_problems(context, infos, executor), None)


def _group_problems(context: AcceptContext, infos: Sequence[Info], executor: Info) -> Iterator[str]:
    seen = set[str]()
    for info in infos:
        task_id = info["task_id"]["value"]
        problem = _problem_of(context, info) or _container_problem(info)
        if problem is None and task_id in seen:  # this ends a real master
            problem = f"Task has duplicate ID: {task_id}"
        seen.add(task_id)
        if problem is not None:
            yield f"Task '{task_id}' is invalid: {problem}"
    problem = _executor_problem(context, executor, in_group=True) or _too_small(context, executor)
    if problem is not None:
        yield problem
    for info in infos:
        if "executor" in info and info["executor"] != executor:
            yield (
                f"The `ExecutorInfo` of task '{info['task_id']['value']}' is different from "
                f"executor '{executor['executor_id']['value']}'"
            )
    problem = _room_problem(context, infos, executor, "task group and its executor are")
    if problem is not None:
        yield problem


def needed(context: AcceptContext, infos: Sequence[Info], executor: Info | None) -> Resources:
    """Return the resources of tasks, and of their executor unless it runs already.  Raises RuleViolation, Conflict."""
    wanted = Resources()
    for info in infos:
        wanted += _resources_of(context, info)
    if executor is not None and not runs_already(context, executor):
        wanted += _resources_of(context, executor)
    return wanted


def _resources_of(context: AcceptContext, info: Info) -> Resources:
    found = entries(info.get("resources", ()), context)
    check_gpus(found, "resources")
    return Resources(found)


def runs_already(context: AcceptContext, executor: Info) -> bool:
    """Return whether the framework has this executor on the offer's agent."""
    return (context.agent.id, executor["executor_id"]["value"]) in context.framework.executors


def _problem_of(context: AcceptContext, info: Info) -> str | None:
    """Return the problem of a task by itself, or None."""
    task_id, agent_id = info["task_id"]["value"], info["agent_id"]["value"]
    problem = id_error(task_id)
    if problem is not None:
        return problem
    if task_id in context.framework.all_tasks():
        return f"Task has duplicate ID: {task_id}"
    if agent_id != context.agent.id:
        return f"Task uses invalid agent {agent_id} while agent {context.agent.id} is expected"
    try:
        needed(context, [info], None)
    except (RuleViolation, Conflict) as error:
        return f"Task uses invalid resources: {error.message}"
    return None if info.get("resources") else "Task uses no resources"  # cpus:0 is something


def _container_problem(info: Info) -> str | None:
    container = info.get("container")
    is_docker = isinstance(container, Mapping) and container.get("type") == "DOCKER"
    return "Docker ContainerInfo is not supported on the task" if is_docker else None


def _executor_problem(context: AcceptContext, executor: Info, *, in_group: bool) -> str | None:
    problem = _type_problem(executor, in_group=in_group) or id_error(executor["executor_id"]["value"])
    claimed, own = executor.get("framework_id", {}).get("value"), context.framework.id
    if problem is None and in_group and claimed is None:
        problem = "'ExecutorInfo.framework_id' must be set"
    if problem is None and claimed not in (None, own):
        problem = f"ExecutorInfo has an invalid FrameworkID (Actual: {claimed} vs Expected: {own})"
    if problem is not None:
        return problem
    known = context.framework.executors.get((context.agent.id, executor["executor_id"]["value"]))
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


def _too_small(context: AcceptContext, executor: Info) -> str | None:
    """The executor of a group needs a little of everything."""
    try:
        own = _resources_of(context, executor).quantities()
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


def _room_problem(context: AcceptContext, infos: Sequence[Info], executor: Info | None, who: str) -> str | None:
    try:
        wanted = needed(context, infos, executor)
    except (RuleViolation, Conflict) as error:
        return f"Executor uses invalid resources: {error.message}"
    for name in {resource.name for resource in wanted}:
        if len({resource.revocability for resource in wanted if resource.name == name}) > 1:
            return f"Task (with its executor) mixes revocable and non-revocable {name}"
    if not context.left.contains(wanted):
        return f"Total resources {wanted} required by {who} more than available {context.left}"
    return None
