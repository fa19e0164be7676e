"""Tasks as an agent's own disk has them: what it brings when it registers with a new leader.

An agent knows what it was told and what it has said.  What a master says of a task on its own account, as that
nobody can reach it, is no part of that.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from fake_master.services import descriptions
from fake_master.state.agents import Agent
from fake_master.state.frameworks import Framework
from fake_master.state.tasks import Ending, Executor, Task
from mesosctl.api.protobuf.messages import read
from mesosctl.api.resources import RESOURCE, list_to_json, to_core
from mesosctl.model.resources import Resources

if TYPE_CHECKING:
    from fake_master.master import Master


Record = Mapping[str, Any]
_NEW = "TASK_STAGING"


class RecoveredTask(NamedTuple):
    """A task that an agent brings, and the executor that it lives in, if its framework described one."""

    task: Task
    executor: Executor | None


def to_record(framework: Framework, task: Task) -> Record:
    """A task as its agent keeps it."""
    said = [status for status in task.statuses if "uuid" in status]
    record: dict[str, Any] = {
        "framework_id": task.framework_id,
        "agent_id": task.agent_id,
        "info": task.info,
        "resources": list_to_json(task.resources, "POST"),
        "role": task.role,
        "executor_id": task.executor_id,
        "state": said[-1]["state"] if said else _NEW,
        "statuses": said,
        "unacknowledged": [status["uuid"] for status in task.unacknowledged],
    }
    if task.told_to_end is not None:
        end = task.told_to_end
        record["told_to_end"] = {"at": end.at, "state": end.state, "details": dict(end.details)}
    executor = framework.executors.get((task.agent_id, task.executor_id))
    if executor is not None:
        record["executor"] = {"info": executor.info, "resources": list_to_json(executor.resources, "POST")}
    return record


def from_record(record: Record) -> RecoveredTask:
    """The task of a record, and its executor.  Raises what a record that nobody here wrote may raise."""
    info, waiting = record["info"], set(record["unacknowledged"])
    end = record.get("told_to_end")
    task = Task(
        id=info["task_id"]["value"],
        framework_id=record["framework_id"],
        agent_id=record["agent_id"],
        info=info,
        resources=_resources(record["resources"]),
        role=record["role"],
        executor_id=record["executor_id"],
        state=record["state"],
        statuses=list(record["statuses"]),
        unacknowledged=[status for status in record["statuses"] if status["uuid"] in waiting],
        told_to_end=None if end is None else Ending(float(end["at"]), end["state"], end["details"]),
    )
    return RecoveredTask(task, _executor(record))


def _executor(record: Record) -> Executor | None:
    described = record.get("executor")
    if described is None:
        return None
    return Executor(
        id=record["executor_id"],
        framework_id=record["framework_id"],
        agent_id=record["agent_id"],
        info=described["info"],
        resources=_resources(described["resources"]),
    )


def _resources(messages: Iterable[Record]) -> Resources:
    return Resources(to_core(read(RESOURCE, message)) for message in messages)


Used = Mapping[str, Resources]
"""What is held on one agent, by framework id."""


def fits(master: "Master", agent: Agent, recovered_task: Sequence[RecoveredTask]) -> bool:
    """Whether an agent, as it was started now, has room for what it ran; slack of use comes and goes.

    Raises DoesNotFit as `Checkpoints.restored`.
    """
    total = master.checkpoints.restored(agent, agent.configured)
    held = [entry for resources in _held(recovered_task).values() for entry in resources.non_revocable()]
    # Several tasks may hold one shared volume.
    return total.contains(Resources(entry for entry in held if not entry.shared).allocated_to(None))


def admit(
    master: "Master",
    agent: Agent,
    recovered_task: Sequence[RecoveredTask],
    infos: Mapping[str, Mapping[str, Any]],
    used: Used | None,
) -> None:
    """Register an agent with what it runs; `infos` holds the FrameworkInfo of each framework by id.

    `used` is what this master knows of already, of an agent that it had lost: None of any other.
    Raises DoesNotFit.
    """
    held = _held(recovered_task)
    known = {of: resources for of, resources in held.items() if of in master.frameworks}
    booked = dict(used or {})
    for framework_id, resources in known.items():
        booked[framework_id] = booked.get(framework_id, Resources()) + resources
    master.register(agent, booked)
    for framework_id, resources in held.items():
        taken = {agent.id: resources} if len(resources) else {}
        if framework_id not in known:
            master.subscriptions.recover(infos[framework_id], taken)
        elif taken:
            master.frameworks[framework_id].hold(agent, resources)
    executors = _executors(recovered_task)
    for under in executors.values():
        master.frameworks[under.framework_id].executors[under.agent_id, under.id] = under
    # Those that run were on the agent before those that wait for room there.
    for one in sorted(recovered_task, key=lambda one: one.task.is_staging):
        framework = master.frameworks[one.task.framework_id]
        framework.tasks[one.task.id] = one.task
        framework.count_task(one.task)
        master.events.operators("TASK_ADDED", {"task": descriptions.task(one.task)})
        if used is not None:
            master.task_updates.tell_back(framework, one.task)
        executor = None if one.task.is_terminal else executors.pop(_container(one), None)
        master.task_runner.go_on(framework, one.task, executor)


def _held(recovered_task: Iterable[RecoveredTask]) -> dict[str, Resources]:
    """What each framework holds, its executors included."""
    held: dict[str, Resources] = {}
    for one in recovered_task:
        own = Resources() if one.task.is_terminal else one.task.resources
        held[one.task.framework_id] = held.get(one.task.framework_id, Resources()) + own
    for executor in _executors(recovered_task).values():
        held[executor.framework_id] += executor.resources
    return held


def _executors(recovered_task: Iterable[RecoveredTask]) -> dict[tuple[str, str], Executor]:
    """Every executor that has a task, once."""
    return {
        _container(one): one.executor for one in recovered_task if one.executor is not None and not one.task.is_terminal
    }


def _container(one: RecoveredTask) -> tuple[str, str]:
    return one.task.framework_id, one.task.executor_id
