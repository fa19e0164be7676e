"""Simulated agents: they start what they are told to, and report until it is acknowledged."""

import base64
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from fake_master.master import describe
from fake_master.master.frameworks import Framework
from fake_master.master.tasks import Executor, Task
from mesosctl.core.resources import Resources

if TYPE_CHECKING:
    from fake_master.master.state import Master

_FIRST_RETRY_SECONDS = 10.0
_LONGEST_RETRY_SECONDS = 600.0


class TaskRunner:
    """Runs tasks in virtual time, as `Master.task_fate` says they end."""

    def __init__(self, master: "Master") -> None:
        self._master = master

    def launch(self, framework: Framework, task: Task, executor: Executor | None) -> None:
        """The agent takes the task, starts it and runs it."""
        agent = self._master.agents[task.agent_id]
        framework.tasks[task.id] = task
        framework.hold(agent, task.resources)
        if executor is not None:
            framework.executors[executor.agent_id, executor.id] = executor
            framework.hold(agent, executor.resources)
        self._master.tell.operators("TASK_ADDED", {"task": describe.task(task)})
        framework.counts["tasks/active/task_staging"] += 1
        self._report(framework, task, "TASK_STARTING")
        self._report(framework, task, "TASK_RUNNING")
        fate = self._master.task_fate
        if fate.outcome is not None:
            self._master.timers.at(
                self._master.now + fate.seconds, lambda: self._end(framework, task, str(fate.outcome))
            )

    def kill(self, framework: Framework, task: Task) -> None:
        """KILL: the task ends at once."""
        if not task.is_terminal:
            self._report(framework, task, "TASK_KILLED")
            self._release(framework, task)

    def shutdown(self, framework: Framework, agent_id: str, executor_id: str) -> None:
        """SHUTDOWN: the executor and its tasks end."""
        for task in list(framework.tasks.values()):
            if task.agent_id == agent_id and task.executor_id == executor_id:
                self.kill(framework, task)

    def kill_all(self, framework: Framework) -> None:
        """The framework is gone, and nobody is left to be told."""
        for task in list(framework.tasks.values()):
            if not task.is_terminal:
                self._enter(framework, task, "TASK_KILLED")
                task.statuses.append(self._status(task, "TASK_KILLED"))
                self._release(framework, task)
            task.unacknowledged.clear()
            framework.tasks.pop(task.id, None)
            framework.completed_tasks.append(task)

    def acknowledge(self, framework: Framework, task_id: str, uuid: str) -> None:
        """ACKNOWLEDGE: the next update may go, or the task is done with."""
        task = framework.tasks.get(task_id)
        if task is None or not task.unacknowledged or task.unacknowledged[0]["uuid"] != uuid:
            return
        task.unacknowledged.pop(0)
        if task.unacknowledged:
            self._send(framework, task)
        elif task.is_terminal:
            del framework.tasks[task_id]
            framework.completed_tasks.append(task)

    def refuse(self, framework: Framework, info: Mapping[str, Any], state: str, reason: str, message: str) -> None:
        """A task that never came to be: an update that needs no acknowledgement."""
        framework.counts[f"tasks/terminal/{state.lower()}"] += 1
        self._master.tell.update(
            framework,
            {
                "task_id": info["task_id"],
                "state": state,
                "message": message,
                "source": "SOURCE_MASTER",
                "reason": reason,
                "agent_id": info["agent_id"],
                "timestamp": self._master.now,
            },
        )

    def reconcile(self, framework: Framework, task_id: str, agent_id: str | None) -> None:
        """What is known of one task, known or not."""
        task = framework.tasks.get(task_id)
        if task is not None and task.statuses:
            # The latest, without its uuid: nothing is to be acknowledged.
            status = {key: value for key, value in task.statuses[-1].items() if key != "uuid"}
            self._master.tell.update(
                framework,
                status | {"reason": "REASON_RECONCILIATION", "source": "SOURCE_MASTER", "message": "Reconciliation"},
            )
            return
        known_agent = agent_id in self._master.agents
        partition_aware = "PARTITION_AWARE" in framework.capabilities
        status = {
            "task_id": {"value": task_id},
            "state": ("TASK_GONE" if known_agent else "TASK_UNKNOWN") if partition_aware else "TASK_LOST",
            "message": "Reconciliation: Task is unknown" + (" to the agent" if known_agent else ""),
            "source": "SOURCE_MASTER",
            "reason": "REASON_RECONCILIATION",
            "timestamp": self._master.now,
        }
        if agent_id is not None:
            status["agent_id"] = {"value": agent_id}
        self._master.tell.update(framework, status)

    def _end(self, framework: Framework, task: Task, outcome: str) -> None:
        if not task.is_terminal:
            self._report(framework, task, outcome)
            self._release(framework, task)

    def _release(self, framework: Framework, task: Task) -> None:
        """What the task held is free, and so is its executor's share once it has no other task."""
        self._give_back(framework, task.agent_id, task.resources)
        siblings = any(
            other.executor_id == task.executor_id and other.agent_id == task.agent_id and not other.is_terminal
            for other in framework.tasks.values()
        )
        executor = None if siblings else framework.executors.pop((task.agent_id, task.executor_id), None)
        if executor is not None:
            self._give_back(framework, task.agent_id, executor.resources)

    def _give_back(self, framework: Framework, agent_id: str, resources: Resources) -> None:
        if len(resources):
            framework.release(self._master.agents[agent_id], resources)
            self._master.allocator.recover_resources(framework.id, agent_id, resources, is_allocated=True)

    def _report(self, framework: Framework, task: Task, state: str) -> None:
        self._enter(framework, task, state)
        status = self._status(task, state)
        task.statuses.append(status)
        self._master.tell.operators(
            "TASK_UPDATED",
            {"framework_id": {"value": framework.id}, "status": status, "state": state},
        )
        task.unacknowledged.append(status)
        if len(task.unacknowledged) == 1:
            self._send(framework, task)

    @staticmethod
    def _enter(framework: Framework, task: Task, state: str) -> None:
        """Change the state, and the counts: of active tasks how many are, of ended ones how many have."""
        framework.counts[f"tasks/active/{task.state.lower()}"] -= 1
        task.state = state
        framework.counts[f"tasks/{'terminal' if task.is_terminal else 'active'}/{state.lower()}"] += 1

    def _send(self, framework: Framework, task: Task, wait: float = _FIRST_RETRY_SECONDS) -> None:
        """The oldest unacknowledged update, again and again, ever less often."""
        if not task.unacknowledged:
            return
        status = task.unacknowledged[0]
        self._master.tell.update(framework, status)

        def again() -> None:
            if task.unacknowledged and task.unacknowledged[0] is status:
                self._send(framework, task, min(2 * wait, _LONGEST_RETRY_SECONDS))

        self._master.timers.at(self._master.now + wait, again)

    def _status(self, task: Task, state: str) -> dict[str, Any]:
        status: dict[str, Any] = {
            "task_id": {"value": task.id},
            "state": state,
            "source": "SOURCE_EXECUTOR",
            "agent_id": {"value": task.agent_id},
            "timestamp": self._master.now,
            "uuid": base64.b64encode(uuid4().bytes).decode(),
        }
        if task.executor_id:
            status["executor_id"] = {"value": task.executor_id}
        return status
