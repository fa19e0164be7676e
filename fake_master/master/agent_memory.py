"""What the simulated agents have on their own disks: which tasks they run, for which frameworks.

A master's registry holds no tasks.  A new leader hears of them from the agents: those outlive their master, and
bring their tasks, the executors of these and the FrameworkInfo of each framework when they register again.  The
agents of a fake master end with its process, so what they would bring is kept in the registry's file, in records
of two kinds of their own, and written in the transaction of the change that makes it.  A task is written as a
whole, when something of it has changed, and no other one with it.

Only an acknowledgement may wait a moment for others: one that is lost makes its update be told again, which is
what Mesos promises of updates anyway.
"""

import json
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fake_master.master import recovering
from fake_master.master.agents import Agent
from fake_master.master.frameworks import Framework
from fake_master.master.no_memory import NoMemory
from fake_master.master.registry import SECONDS_TO_WAIT, RegistryFailure, reading_records
from fake_master.master.task_records import Brought, Record, from_record, to_record
from fake_master.master.tasks import Task
from mesosctl.core.resources import Resources

if TYPE_CHECKING:
    from fake_master.master.master import Master

_TASK, _FRAMEWORK = "agent_task", "agent_framework"
_LOG = logging.getLogger(__name__)
_MOMENT = 1.0
"""Seconds that an acknowledgement may wait."""


class AgentMemory(NoMemory):
    """Every agent's tasks, those of agents that are not back included."""

    def __init__(self, master: "Master") -> None:
        super().__init__(master)
        self._due: float | None = None
        """When what has changed must be written."""
        self._is_wanted = False
        """Whether the transaction under way is to write it: what failed to be kept is no other one's business."""
        self._changed: dict[str, tuple[Framework, Task] | None] = {}
        """By key; None for a task that is to be forgotten, whoever still has it."""
        self._framework_infos: dict[str, Mapping[str, Any]] = master.registry.records(_FRAMEWORK)
        """FrameworkInfo by framework id."""
        self._changed_frameworks: set[str] = set()
        self._away: dict[str, dict[str, Record]] = {}
        """Records by key, by the id of an agent that has not come back yet."""
        self._read()

    def _read(self) -> None:
        """What there is; what belongs to nobody who may come back is to be forgotten."""
        membership = self._master.membership
        may_return = {*membership.expected().values(), *membership.unreachable()}
        with reading_records():
            records = self._master.registry.records(_TASK)
            # Oldest first: the id of a task that is out of reach may be used again, and the last launch counts.
            latest = {
                (record["framework_id"], record["info"]["task_id"]["value"]): key
                for key, record in records.items()
                if record["agent_id"] in may_return
            }
            wanted = {framework_id for framework_id, _ in latest}
            for framework_id in wanted:
                if self._framework_infos[framework_id]["id"]["value"] != framework_id:
                    raise ValueError(framework_id)
        kept = set(latest.values())
        for key, record in records.items():
            if key in kept:
                self._away.setdefault(record["agent_id"], {})[key] = record
            else:
                self._change(key, None)
        for framework_id in self._framework_infos.keys() - wanted:
            self._forget_info(framework_id)

    # --- Agents register --------------------------------------------------------------------------------

    def register(self, agent: Agent, used: Mapping[str, Resources] | None = None) -> None:
        """See `NoMemory.register`.

        An agent that was started anew with too little for what it ran is another one, and its tasks have ended.
        """
        brought = self._brought_by(agent.id)
        if brought and not recovering.fits(self._master, agent, brought):
            _LOG.warning("agent %s has no room for what it ran: its tasks are gone", agent.hostname)
            for one in brought:
                self._change(_key(one.task), None)
            brought = []
        recovering.admit(self._master, agent, brought, self._framework_infos, used)

    def _brought_by(self, agent_id: str) -> list[Brought]:
        """What an agent runs that this master has not heard of; in the order of its launch."""
        found = []
        for key, record in self._away.pop(agent_id, {}).items():
            with reading_records():
                brought = from_record(record)
            framework = self._master.frameworks.get(brought.task.framework_id)
            if framework is not None and brought.task.id in framework.tasks:
                self._change(key, None)  # there is another one of that id by now, elsewhere
            else:
                found.append(brought)
        return found

    # --- What happens ---------------------------------------------------------------------------------

    def remember_task(self, framework: Framework, task: Task, *, may_wait: bool = False) -> None:
        """See `NoMemory.remember_task`."""
        if framework.is_resident:
            return
        self._change(_key(task), (framework, task), may_wait=may_wait)
        self._take_info(framework)

    def remember_framework(self, framework: Framework) -> None:
        """See `NoMemory.remember_framework`; no agent knows one that has had no task."""
        if framework.id in self._framework_infos:
            self._take_info(framework)

    def forget(self, framework: Framework) -> None:
        """See `NoMemory.forget`."""
        for task in (*framework.tasks.values(), *framework.unreachable_tasks.values()):
            self._change(_key(task), None)
        for records in self._away.values():
            for key in [key for key, record in records.items() if record["framework_id"] == framework.id]:
                del records[key]
                self._change(key, None)
        if framework.id in self._framework_infos:
            self._forget_info(framework.id)

    # --- What is written ------------------------------------------------------------------------------

    def begin(self) -> None:
        """See `NoMemory.begin`."""
        self._is_wanted = False

    def write(self) -> None:
        """See `NoMemory.write`: everything that has changed, if the transaction changed any of it."""
        if not self._is_wanted:
            return
        write = self._master.registry.write
        for key, change in self._changed.items():
            write(_TASK, key, to_record(*change) if change is not None and _is_there(*change) else None)
        for framework_id in self._changed_frameworks:
            write(_FRAMEWORK, framework_id, self._framework_infos.get(framework_id))

    def written(self) -> None:
        """See `NoMemory.written`."""
        if self._is_wanted:
            self._changed.clear()
            self._changed_frameworks.clear()
            self._due, self._is_wanted = None, False

    def close(self) -> None:
        """See `NoMemory.close`."""
        if self._due is None:
            return
        self._due = self._master.now
        try:
            # However short a time requests may wait: there is no later attempt.
            self._master.registry.wait_at_most(SECONDS_TO_WAIT)
            self._keep()
        except RegistryFailure as failure:
            _LOG.warning("%s; what was acknowledged last will be told again", failure)

    # --- Within ---------------------------------------------------------------------------------------

    def _take_info(self, framework: Framework) -> None:
        if self._framework_infos.get(framework.id) is not framework.info:
            self._framework_infos[framework.id] = framework.info
            self._changed_frameworks.add(framework.id)
            self._is_due_at(self._master.now)

    def _forget_info(self, framework_id: str) -> None:
        del self._framework_infos[framework_id]
        self._changed_frameworks.add(framework_id)
        self._is_due_at(self._master.now)

    def _change(self, key: str, change: tuple[Framework, Task] | None, *, may_wait: bool = False) -> None:
        self._changed[key] = change
        self._is_due_at(self._master.now + (_MOMENT if may_wait else 0.0))

    def _is_due_at(self, moment: float) -> None:
        """A change outside of any transaction gets one of its own; one that fails is tried again."""
        self._is_wanted = self._is_wanted or moment <= self._master.now
        if self._due is None or moment < self._due:
            self._due = moment
            self._master.timers.at(moment, self._keep)

    def _keep(self) -> None:
        if self._due is not None and self._due <= self._master.now:
            with self._master.transaction():
                self._is_wanted = True


def _key(task: Task) -> str:
    return json.dumps([task.agent_id, task.framework_id, task.id])


def _is_there(framework: Framework, task: Task) -> bool:
    """Whether the agent has it, reachable or not."""
    return framework.tasks.get(task.id) is task or framework.unreachable_tasks.get(task.id) is task
