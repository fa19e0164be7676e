"""LAUNCH and LAUNCH_GROUP: tasks and executors start, or are refused.

Source: Mesos documentation, "Scheduler HTTP API".
"""

from collections.abc import Mapping, Sequence
from typing import Any

from fake_master.allocator.interface import Allocator
from fake_master.services.accept_context import AcceptContext, problem_of_other_bodies
from fake_master.services.task_runner import TaskRunner
from fake_master.services.task_updates import TaskUpdates
from fake_master.services.task_validation import (
    Info,
    executor_held,
    group_problem,
    resources_of,
    runs_already,
    task_problem,
    understood,
    unreadable,
)
from fake_master.state.acls import Access
from fake_master.state.frameworks import KnownFramework
from fake_master.state.tasks import Executor, KnownTask, TaskReason, user_of
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.errors import Forbidden
from mesosctl.mesos.rules.reservations.operations import Conversion

LAUNCHES = ("LAUNCH", "LAUNCH_GROUP")


def task_infos(operation: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The tasks of a LAUNCH or LAUNCH_GROUP."""
    if operation["type"] == "LAUNCH":
        return list(operation.get("launch", {}).get("task_infos", ()))
    return list(operation.get("launch_group", {}).get("task_group", {}).get("tasks", ()))


class TaskLauncher:
    """Starts the tasks of LAUNCH and LAUNCH_GROUP, and refuses those that cannot be."""

    def __init__(
        self, access: Access, allocator: Allocator, task_updates: TaskUpdates, task_runner: TaskRunner
    ) -> None:
        self._access = access
        self._allocator = allocator
        self._task_updates = task_updates
        self._task_runner = task_runner

    def launch(self, context: AcceptContext, operation: Info) -> bool:
        """Each task on its own, of a group all or none; whether any was launched."""
        kind, infos = operation["type"], [understood(info) for info in task_infos(operation)]
        is_group = kind == "LAUNCH_GROUP"
        executor = operation.get("launch_group", {}).get("executor") if is_group else None
        executors = [executor, *(info.get("executor") for info in infos)]
        problem = unreadable(context, [*infos, *(executor for executor in executors if executor is not None)])
        problem = problem or problem_of_other_bodies(operation, context.release)
        if "id" in operation:
            problem = f"The `id` field cannot be set on {kind} operations"
        if problem is not None:
            self._refuse(context, infos, "REASON_TASK_GROUP_INVALID" if is_group else "REASON_TASK_INVALID", problem)
            return False
        if is_group:
            return self._launch_group(context, task_infos(operation), executor)
        launched = False
        for info in infos:
            waits = context.waits(info["task_id"]["value"])
            if (problem := self._forbidden(context, info)) is not None:
                self._refuse(context, [info], "REASON_TASK_UNAUTHORIZED", problem)
                continue
            if (problem := task_problem(context, info)) is not None:
                self._refuse(context, [info], "REASON_TASK_INVALID", problem)
                continue
            if waits:
                self._start(context, info, info.get("executor"))
                launched = True
        return launched

    def launch_alike(self, framework: KnownFramework, tasks: Sequence[KnownTask], held: Resources) -> None:
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

    def _launch_group(self, context: AcceptContext, infos: Sequence[Info], executor: Info | None) -> bool:
        """An operation without its body has no tasks of which anything could be said."""
        if executor is None or not infos:
            return False
        whole = [{"executor": executor, **info} for info in infos]
        waiting = [info for info in infos if context.waits(info["task_id"]["value"])]
        problem = next(filter(None, (self._forbidden(context, info) for info in whole)), None)
        if problem is not None:
            self._refuse(context, infos, "REASON_TASK_GROUP_UNAUTHORIZED", problem)
            return False
        problem = group_problem(context, infos, executor)
        if problem is not None:
            self._refuse(context, infos, "REASON_TASK_GROUP_INVALID", problem)
            return False
        if len(waiting) < len(infos):
            for info in waiting:
                message = "A task of the group was killed before it was sent to the agent"
                self._task_updates.refuse(
                    context.framework, info, "TASK_KILLED", "REASON_TASK_KILLED_DURING_LAUNCH", message
                )
            return False
        for info in whole:
            self._start(context, info, executor)
        return True

    def _forbidden(self, context: AcceptContext, info: Info) -> str | None:
        """Return why the framework may not run the task, or None."""
        try:
            self._access.may_run(context.framework.principal, user_of(info, context.framework.info["user"]))
        except Forbidden as error:
            return error.message
        return None

    def _refuse(self, context: AcceptContext, infos: Sequence[Info], reason: TaskReason, problem: str) -> None:
        for info in infos:
            self._task_updates.refuse(context.framework, info, "TASK_ERROR", reason, problem)

    def _start(self, context: AcceptContext, info: Info, executor: Info | None) -> None:
        own, of_executor = resources_of(context, info), executor_held(context, executor)
        held = own + of_executor
        made = None
        if executor is not None and not runs_already(context, executor):
            made = Executor(
                id=executor["executor_id"]["value"],
                framework_id=context.framework.id,
                agent_id=context.agent.id,
                info=executor,
                resources=of_executor,
            )
        task = KnownTask(
            id=info["task_id"]["value"],
            framework_id=context.framework.id,
            agent_id=context.agent.id,
            info=info,
            resources=own,
            role=context.role,
            executor_id=executor["executor_id"]["value"] if executor is not None else "",
        )
        self._add_copies(context, held)
        context.left -= held
        self._allocator.transition_offered_to_allocated(context.agent.id, held)
        self._task_runner.launch(context.framework, task, made)

    def _add_copies(self, context: AcceptContext, held: Resources) -> None:
        """Add the copies of shared volumes that earlier tasks of this ACCEPT have taken."""
        missing = held.filter(lambda entry: entry.shared and not context.left.contains(Resources([entry])))
        if missing:
            copies = [Conversion(Resources(), missing)]
            self._allocator.update_allocation(context.framework.id, context.agent.id, context.left, copies)
            context.left += missing
