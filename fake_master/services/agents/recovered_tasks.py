"""Tasks as an agent's own disk has them: what it brings when it registers with a new leader.

An agent knows what it was told and what it has said.  What a master says of a task on its own account, as that
nobody can reach it, is no part of that.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from fake_master.state.frameworks import Framework
from fake_master.state.tasks import Ending, Executor, Task
from mesosctl.api.protobuf.messages import read
from mesosctl.api.resources import RESOURCE, list_to_json, to_core
from mesosctl.model.resources import Resources

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
