"""What the simulated agents keep of what they run, where no other master will ever ask for it: nothing."""

import json
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fake_master.registry.interface import SECONDS_TO_WAIT, RegistryFailure, reading_records
from fake_master.services.agents import recovered_tasks
from fake_master.services.agents.recovered_tasks import Record, RecoveredTask, from_record, to_record
from fake_master.state.agents import Agent
from fake_master.state.frameworks import Framework
from fake_master.state.tasks import Task
from mesosctl.model.resources import Resources

if TYPE_CHECKING:
    from fake_master.master import Master


class NoAgentStore:
    """Hears of every change, and keeps none; `agent_memory` does."""

    def __init__(self, master: "Master") -> None:
        self._master = master

    def register(self, agent: "Agent", used: "Mapping[str, Resources] | None" = None) -> None:
        """The agent registers with all that it runs; `used` is what this master knows of already, by framework id.

        Raises DoesNotFit.
        """
        self._master.register(agent, used)

    def remember_task(self, framework: "Framework", task: "Task", *, may_wait: bool = False) -> None:
        """Something of a task has changed on its agent, or it is there no more; `may_wait` if that may get lost."""

    def remember_framework(self, framework: "Framework") -> None:
        """A framework describes itself anew."""

    def forget(self, framework: "Framework") -> None:
        """The framework is gone for good, and no agent brings it back."""

    def begin(self) -> None:
        """A transaction begins: from now on what agents change is part of it."""

    def write(self) -> None:
        """What the agents have changed in the transaction that ends."""

    def written(self) -> None:
        """The transaction is kept."""

    def close(self) -> None:
        """The process ends, and nothing waits any longer."""


_TASK, _FRAMEWORK = "agent_task", "agent_framework"
_LOG = logging.getLogger(__name__)
_MOMENT = 1.0
"""Seconds that an acknowledgement may wait."""


class AgentStore(NoAgentStore):
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
        agent_registry = self._master.agent_registry
        may_return = {*agent_registry.expected().values(), *agent_registry.unreachable()}
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
        """See `NoAgentStore.register`.

        An agent that was started anew with too little for what it ran is another one, and its tasks have ended.
        """
        recovered_task = self._recovered_from(agent.id)
        if recovered_task and not recovered_tasks.fits(self._master, agent, recovered_task):
            _LOG.warning("agent %s has no room for what it ran: its tasks are gone", agent.hostname)
            for one in recovered_task:
                self._change(_key(one.task), None)
            recovered_task = []
        recovered_tasks.admit(self._master, agent, recovered_task, self._framework_infos, used)

    def _recovered_from(self, agent_id: str) -> list[RecoveredTask]:
        """What an agent runs that this master has not heard of; in the order of its launch."""
        found = []
        for key, record in self._away.pop(agent_id, {}).items():
            with reading_records():
                recovered_task = from_record(record)
            framework = self._master.frameworks.get(recovered_task.task.framework_id)
            if framework is not None and recovered_task.task.id in framework.tasks:
                self._change(key, None)  # there is another one of that id by now, elsewhere
            else:
                found.append(recovered_task)
        return found

    # --- What happens ---------------------------------------------------------------------------------

    def remember_task(self, framework: Framework, task: Task, *, may_wait: bool = False) -> None:
        """See `NoAgentStore.remember_task`."""
        if framework.is_simulated:
            return
        self._change(_key(task), (framework, task), may_wait=may_wait)
        self._take_info(framework)

    def remember_framework(self, framework: Framework) -> None:
        """See `NoAgentStore.remember_framework`; no agent knows one that has had no task."""
        if framework.id in self._framework_infos:
            self._take_info(framework)

    def forget(self, framework: Framework) -> None:
        """See `NoAgentStore.forget`."""
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
        """See `NoAgentStore.begin`."""
        self._is_wanted = False

    def write(self) -> None:
        """See `NoAgentStore.write`: everything that has changed, if the transaction changed any of it."""
        if not self._is_wanted:
            return
        write = self._master.registry.write
        for key, change in self._changed.items():
            write(_TASK, key, to_record(*change) if change is not None and _is_there(*change) else None)
        for framework_id in self._changed_frameworks:
            write(_FRAMEWORK, framework_id, self._framework_infos.get(framework_id))

    def written(self) -> None:
        """See `NoAgentStore.written`."""
        if self._is_wanted:
            self._changed.clear()
            self._changed_frameworks.clear()
            self._due, self._is_wanted = None, False

    def close(self) -> None:
        """See `NoAgentStore.close`."""
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
