"""The tasks that simulated agents keep on their own disks, and bring when they register with a new leader.

An agent stores what it received and what it reported, but not what a master says about a task, such as that its agent
cannot be reached.
"""

import json
import logging
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from fake_master.registry.interface import SECONDS_TO_WAIT, Registry, RegistryFailure, Transaction, reading_records
from fake_master.state.frameworks import KnownFramework
from fake_master.state.master_state import MasterState
from fake_master.state.tasks import Ending, Executor, KnownTask, TaskStatus
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.messages.protobuf_json.messages import read
from mesosctl.mesos.messages.resources import RESOURCE, list_to_json, to_model

Record = Mapping[str, Any]
_NEW = "TASK_STAGING"


class RecoveredTask(NamedTuple):
    """A task that an agent brings, and its executor, if its framework described one."""

    task: KnownTask
    executor: Executor | None


def to_record(framework: KnownFramework, task: KnownTask) -> Record:
    """A task as its agent keeps it."""
    said = [status.message(task) for status in task.statuses if status.uuid is not None]
    record: dict[str, Any] = {
        "framework_id": task.framework_id,
        "agent_id": task.agent_id,
        "info": {
            "name": task.name,
            "task_id": {"value": task.id},
            "agent_id": {"value": task.agent_id},
            **task.info,
        },
        "resources": list_to_json(task.resources, "POST"),
        "role": task.role,
        "executor_id": task.executor_id,
        "state": said[-1]["state"] if said else _NEW,
        "statuses": said,
        "unacknowledged": [status.message(task)["uuid"] for status in task.unacknowledged],
    }
    if task.told_to_end is not None:
        end = task.told_to_end
        record["told_to_end"] = {"at": end.at, "state": end.state, "details": dict(end.details)}
    if task.lasts is not None:
        record["lasts"] = task.lasts
    executor = framework.executors.get((task.agent_id, task.executor_id))
    if executor is not None:
        record["executor"] = {"info": executor.info, "resources": list_to_json(executor.resources, "POST")}
    return record


def from_record(record: Record) -> RecoveredTask:
    """The task of a record, and its executor.  Raises the errors of an invalid record."""
    info, waiting = record["info"], set(record["unacknowledged"])
    statuses = tuple(map(TaskStatus.of, record["statuses"]))
    end = record.get("told_to_end")
    task = KnownTask(
        id=info["task_id"]["value"],
        framework_id=record["framework_id"],
        agent_id=record["agent_id"],
        info=info,
        resources=_resources(record["resources"]),
        role=record["role"],
        executor_id=record["executor_id"],
        state=record["state"],
        statuses=statuses,
        lasts=record.get("lasts"),
        unacknowledged=tuple(status for status in statuses if status.uuid in waiting),
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
    return Resources(to_model(read(RESOURCE, message)) for message in messages)


class TaskStore:
    """Where agents keep their tasks; this one keeps nothing, for masters whose registry ends with the process."""

    def __init__(self) -> None:
        self.framework_infos: dict[str, Mapping[str, Any]] = {}
        """FrameworkInfo by framework id, of frameworks that have tasks."""

    def read(self, may_return: Collection[str]) -> None:
        """Read the stores of agents; those of `may_return` (ids) may register again.  Raises RegistryFailure."""

    def recovered_from(self, _agent_id: str) -> list[RecoveredTask]:
        """Return, once, the tasks of an agent that this master does not know, in the order of their launch."""
        return []

    def drop_task(self, task: KnownTask) -> None:
        """Forget a task that an agent kept and that has ended unheard."""

    def remember_task(self, framework: KnownFramework, task: KnownTask, *, may_wait: bool = False) -> None:
        """Keep a change of a task on its agent, or its end; `may_wait` if the change may get lost."""

    def remember_framework(self, framework: KnownFramework) -> None:
        """Keep the new description of a framework."""

    def forget(self, framework: KnownFramework) -> None:
        """Forget a framework that is gone for good."""

    def begin(self) -> None:
        """Begin a transaction: from now on changes of agents are part of it."""

    def write(self) -> None:
        """Write everything that the agents have changed in the transaction that ends."""

    def written(self) -> None:
        """Take note that the transaction is kept."""

    def close(self) -> None:
        """Write pending changes at the end of the process."""


_TASK, _FRAMEWORK = "agent_task", "agent_framework"
_LOG = logging.getLogger(__name__)
_MOMENT = 1.0
"""Seconds that an acknowledgement may wait."""


class CheckpointedTasks(TaskStore):
    """Stores the tasks of agents, also of agents that are not back yet."""

    def __init__(self, state: MasterState, registry: Registry, transaction: Transaction) -> None:
        super().__init__()
        self._state = state
        self._registry = registry
        self._transaction = transaction
        self._due: float | None = None
        """The time at which changes must be written."""
        self._is_wanted = False
        """Whether the current transaction must write it; a failed write is not left to another transaction."""
        self._changed: dict[str, tuple[KnownFramework, KnownTask] | None] = {}
        """The tasks to write, by key; None for one to forget, even if an object still holds it."""
        self._changed_frameworks: set[str] = set()
        self._away: dict[str, dict[str, Record]] = {}
        """Records by key, by the id of an agent that has not come back yet."""

    def read(self, may_return: Collection[str]) -> None:
        """See `TaskStore.read`; the records of agents that cannot come back are dropped."""
        self.framework_infos = self._registry.records(_FRAMEWORK)
        with reading_records():
            records = self._registry.records(_TASK)
            # Oldest first: the id of a task that is out of reach may be used again, and the last launch counts.
            latest = {
                (record["framework_id"], record["info"]["task_id"]["value"]): key
                for key, record in records.items()
                if record["agent_id"] in may_return
            }
            wanted = {framework_id for framework_id, _ in latest}
            for framework_id in wanted:
                if self.framework_infos[framework_id]["id"]["value"] != framework_id:
                    raise ValueError(framework_id)
        kept = set(latest.values())
        for key, record in records.items():
            if key in kept:
                self._away.setdefault(record["agent_id"], {})[key] = record
            else:
                self._change(key, None)
        for framework_id in self.framework_infos.keys() - wanted:
            self._forget_info(framework_id)

    # --- Agents register --------------------------------------------------------------------------------

    def recovered_from(self, agent_id: str) -> list[RecoveredTask]:
        """See `TaskStore.recovered_from`."""
        found = []
        for key, record in self._away.pop(agent_id, {}).items():
            with reading_records():
                recovered_task = from_record(record)
            framework = self._state.frameworks.get(recovered_task.task.framework_id)
            if framework is not None and recovered_task.task.id in framework.all_tasks():
                self._change(key, None)  # there is another one of that id by now, elsewhere
            else:
                found.append(recovered_task)
        return found

    def drop_task(self, task: KnownTask) -> None:
        """See `TaskStore.drop_task`."""
        self._change(_key(task), None)

    # --- What happens ---------------------------------------------------------------------------------

    def remember_task(self, framework: KnownFramework, task: KnownTask, *, may_wait: bool = False) -> None:
        """See `TaskStore.remember_task`."""
        if framework.is_simulated:
            return
        self._change(_key(task), (framework, task), may_wait=may_wait)
        self._take_info(framework)

    def remember_framework(self, framework: KnownFramework) -> None:
        """See `TaskStore.remember_framework`; no agent knows one that has had no task."""
        if framework.id in self.framework_infos:
            self._take_info(framework)

    def forget(self, framework: KnownFramework) -> None:
        """See `TaskStore.forget`."""
        for task in (*framework.all_tasks().values(), *framework.unreachable_tasks.values()):
            self._change(_key(task), None)
        for records in self._away.values():
            for key in [key for key, record in records.items() if record["framework_id"] == framework.id]:
                del records[key]
                self._change(key, None)
        if framework.id in self.framework_infos:
            self._forget_info(framework.id)

    # --- What is written ------------------------------------------------------------------------------

    def begin(self) -> None:
        """See `TaskStore.begin`."""
        self._is_wanted = False

    def write(self) -> None:
        """See `TaskStore.write`: everything that has changed, if the transaction changed any of it."""
        if not self._is_wanted:
            return
        write = self._registry.write
        for key, change in self._changed.items():
            write(_TASK, key, to_record(*change) if change is not None and _is_there(*change) else None)
        for framework_id in self._changed_frameworks:
            write(_FRAMEWORK, framework_id, self.framework_infos.get(framework_id))

    def written(self) -> None:
        """See `TaskStore.written`."""
        if self._is_wanted:
            self._changed.clear()
            self._changed_frameworks.clear()
            self._due, self._is_wanted = None, False

    def close(self) -> None:
        """See `TaskStore.close`."""
        if self._due is None:
            return
        self._due = self._state.now
        try:
            # Even if requests may wait only briefly: there is no later attempt.
            self._registry.wait_at_most(SECONDS_TO_WAIT)
            self._keep()
        except RegistryFailure as failure:
            _LOG.warning("%s; the most recently acknowledged updates will be sent again", failure)

    # --- Within ---------------------------------------------------------------------------------------

    def _take_info(self, framework: KnownFramework) -> None:
        if self.framework_infos.get(framework.id) is not framework.info:
            self.framework_infos[framework.id] = framework.info
            self._changed_frameworks.add(framework.id)
            self._is_due_at(self._state.now)

    def _forget_info(self, framework_id: str) -> None:
        del self.framework_infos[framework_id]
        self._changed_frameworks.add(framework_id)
        self._is_due_at(self._state.now)

    def _change(self, key: str, change: tuple[KnownFramework, KnownTask] | None, *, may_wait: bool = False) -> None:
        self._changed[key] = change
        self._is_due_at(self._state.now + (_MOMENT if may_wait else 0.0))

    def _is_due_at(self, moment: float) -> None:
        """A change outside of any transaction gets its own; if it fails, it is tried again."""
        self._is_wanted = self._is_wanted or moment <= self._state.now
        if self._due is None or moment < self._due:
            self._due = moment
            self._state.timers.at(moment, self._keep)

    def _keep(self) -> None:
        if self._due is not None and self._due <= self._state.now:
            with self._transaction():
                self._is_wanted = True


def _key(task: KnownTask) -> str:
    return json.dumps([task.agent_id, task.framework_id, task.id])


def _is_there(framework: KnownFramework, task: KnownTask) -> bool:
    """Return whether the agent has it, reachable or not."""
    return framework.all_tasks().get(task.id) is task or framework.unreachable_tasks.get(task.id) is task
