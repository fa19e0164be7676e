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
_EXITED = 0
"""The wait status of an executor that ended by itself."""
# Until an agent that is out of reach tries again to say what it has to say, in seconds.
_PATIENCE = 1.0


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
        delay = agent.faults.launch_delay
        if delay:
            self._master.timers.at(self._master.now + delay, lambda: self._arrive(framework, task, executor))
        else:
            self._arrive(framework, task, executor)

    def _arrive(self, framework: Framework, task: Task, executor: Executor | None) -> None:
        """The agent has heard of it."""
        tenancy = self._master.tenancy
        if task.is_terminal:
            return
        if tenancy is None:
            self.start(framework, task)
        else:
            tenancy.arrived(framework, task, executor)

    def start(self, framework: Framework, task: Task) -> None:
        """The agent has room for it, and runs it."""
        self._report(framework, task, "TASK_STARTING")
        self._report(framework, task, "TASK_RUNNING")
        self._plan_end(framework, task)

    def _plan_end(self, framework: Framework, task: Task) -> None:
        fate = self._master.task_fate
        if fate.outcome is not None:
            self._master.timers.at(
                self._master.now + fate.seconds, lambda: self.end(framework, task, str(fate.outcome))
            )

    def end(self, framework: Framework, task: Task, state: str, **details: str) -> None:
        """The task ends in a terminal state, unless it has before; `details` are more fields of its TaskStatus.

        On an agent that nobody can reach it does so once that is back.
        """
        if framework.tasks.get(task.id) is not task or task.is_terminal:
            return
        if self._is_reachable(task):
            self._report(framework, task, state, **details)
            self._release(framework, task)
        else:
            self._master.timers.at(self._master.now + _PATIENCE, lambda: self.end(framework, task, state, **details))

    def kill(self, framework: Framework, task: Task, **details: str) -> None:
        """KILL: the task ends, at once or after as long as tasks take here; `details` as of `end`.

        Nobody hears it on an agent that cannot be reached.
        """
        if task.is_terminal or task.ending or not self._is_reachable(task):
            return
        seconds = 0.0 if task.is_staging else self._master.task_fate.stop_seconds
        if not seconds:
            self.end(framework, task, "TASK_KILLED", **details)
            return
        task.ending = True
        if "TASK_KILLING_STATE" in framework.capabilities:
            self._report(framework, task, "TASK_KILLING", **details)
        self._master.timers.at(self._master.now + seconds, lambda: self.end(framework, task, "TASK_KILLED", **details))

    def shutdown(self, framework: Framework, agent_id: str, executor_id: str) -> None:
        """SHUTDOWN: the executor and its tasks end."""
        for task in list(framework.tasks.values()):
            if task.agent_id == agent_id and task.executor_id == executor_id:
                self.kill(framework, task)

    def drain(self, framework: Framework, task: Task, *, will_be_gone: bool) -> None:
        """The agent is drained: its tasks are killed, and end at once."""
        if not task.is_terminal:
            gone = will_be_gone and "PARTITION_AWARE" in framework.capabilities
            state = "TASK_GONE_BY_OPERATOR" if gone else "TASK_KILLED"
            self._report(framework, task, state, reason="REASON_AGENT_DRAINING")
            self._release(framework, task)

    def tell_state(self, framework: Framework, task: Task, state: str, **status: Any) -> None:
        """The master itself says what becomes of a task, as its agent cannot; nobody acknowledges that."""
        is_news = task.state != state
        if is_news:
            self._enter(framework, task, state)
        told = {key: value for key, value in self._status(task, state).items() if key != "uuid"}
        told |= {"source": "SOURCE_MASTER", **status}
        task.statuses.append(told)
        task.unacknowledged.clear()
        if is_news:
            self._master.tell.operators(
                "TASK_UPDATED", {"framework_id": {"value": framework.id}, "status": told, "state": state}
            )
        self._master.tell.update(framework, told)

    def regain(self, framework: Framework, task: Task) -> None:
        """The agent is back, and the task with it."""
        self.tell_state(framework, task, "TASK_RUNNING", reason="REASON_AGENT_REREGISTERED")
        self._plan_end(framework, task)

    def forget(self, framework: Framework, task: Task) -> None:
        """What a lost task and its executor held is held no more."""
        del framework.tasks[task.id]
        self._release(framework, task)

    def kill_all(self, framework: Framework) -> None:
        """The framework is gone, and nobody is left to be told."""
        for task in list(framework.tasks.values()):
            status = self._removed(framework, task)
            if not task.is_terminal:
                self._enter(framework, task, "TASK_KILLED")
                self._count_end("TASK_KILLED", status["source"], status["reason"])
                task.statuses.append(status)
                self._release(framework, task)
            self._tell_operators(framework, task, status)
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
            self._master.draining.may_be_over(task.agent_id)

    def refuse(self, framework: Framework, info: Mapping[str, Any], state: str, reason: str, message: str) -> None:
        """A task that never came to be: an update that needs no acknowledgement."""
        self._count_end(state, "SOURCE_MASTER", reason)
        self._master.counts[state.lower().replace("task", "tasks", 1)] += 1
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
        if task is not None:
            # The latest, without its uuid: nothing is to be acknowledged.
            latest = task.statuses[-1] if task.statuses else self._status(task, task.state)
            latest = {key: value for key, value in latest.items() if key != "uuid"}
            self._master.tell.update(
                framework,
                latest | {"reason": "REASON_RECONCILIATION", "source": "SOURCE_MASTER", "message": "Reconciliation"},
            )
            return
        if agent_id is not None and self._master.failover.awaits(agent_id):
            return  # nobody can tell yet
        partition_aware = "PARTITION_AWARE" in framework.capabilities
        state, what = self._unknown_task(agent_id)
        status: dict[str, Any] = {
            "task_id": {"value": task_id},
            "state": state if partition_aware else "TASK_LOST",
            "message": f"Reconciliation: Task is {what}",
            "source": "SOURCE_MASTER",
            "reason": "REASON_RECONCILIATION",
            "timestamp": self._master.now,
        }
        if agent_id is not None:
            status["agent_id"] = {"value": agent_id}
        since = self._master.membership.unreachable().get(agent_id or "")
        if since is not None:
            status["unreachable_time"] = {"nanoseconds": int(since * 1_000_000_000)}
        self._master.tell.update(framework, status)

    def _unknown_task(self, agent_id: str | None) -> tuple[str, str]:
        """The state of a task that is not known on an agent, and the word for it."""
        membership = self._master.membership
        if agent_id is None:
            return "TASK_UNKNOWN", "unknown"
        if agent_id in self._master.agents:
            return "TASK_GONE", "unknown to the agent"
        if membership.is_gone(agent_id):
            return "TASK_GONE_BY_OPERATOR", "gone"
        if agent_id in membership.unreachable():
            return "TASK_UNREACHABLE", "unreachable"
        return "TASK_UNKNOWN", "unknown"

    def _is_reachable(self, task: Task) -> bool:
        """Whether anybody hears what the task's agent says, and the other way round."""
        agent = self._master.agents.get(task.agent_id)
        return agent is not None and agent.connected

    def _release(self, framework: Framework, task: Task) -> None:
        """What the task held is free, and so is its executor's share once it has no other task."""
        if self._master.tenancy is not None:
            self._master.tenancy.left(framework, task)
        self._give_back(framework, task.agent_id, task.resources)
        siblings = any(
            other.executor_id == task.executor_id and other.agent_id == task.agent_id and not other.is_terminal
            for other in framework.tasks.values()
        )
        executor = None if siblings else framework.executors.pop((task.agent_id, task.executor_id), None)
        if executor is not None:
            self._give_back(framework, task.agent_id, executor.resources)
            self._master.counts["messages_exited_executor"] += 1
            self._master.tell.executor_failure(framework, executor.agent_id, executor.id, _EXITED)

    def _give_back(self, framework: Framework, agent_id: str, resources: Resources) -> None:
        if len(resources):
            framework.release(self._master.agents[agent_id], resources)
            self._master.allocator.recover_resources(framework.id, agent_id, resources, is_allocated=True)

    def _report(self, framework: Framework, task: Task, state: str, **details: str) -> None:
        self._enter(framework, task, state)
        status = self._status(task, state) | details
        task.statuses.append(status)
        self._tell_operators(framework, task, status)
        task.unacknowledged.append(status)
        if len(task.unacknowledged) == 1:
            self._send(framework, task)

    def _tell_operators(self, framework: Framework, task: Task, status: Mapping[str, Any]) -> None:
        self._master.tell.operators(
            "TASK_UPDATED", {"framework_id": {"value": framework.id}, "status": status, "state": task.state}
        )

    def _count_end(self, state: str, source: str, reason: str) -> None:
        """Ends with a reason are counted by it; an agent is called what it once was."""
        by = source.lower().replace("agent", "slave")
        self._master.counts[f"{state.lower()}/{by}/{reason.lower()}"] += 1

    def _removed(self, framework: Framework, task: Task) -> dict[str, Any]:
        """What operators are told of each task of a framework that goes, ended or not."""
        return {
            "task_id": {"value": task.id},
            "state": "TASK_KILLED",
            "message": f"Framework {framework.id} removed",
            "source": "SOURCE_MASTER",
            "reason": "REASON_FRAMEWORK_REMOVED",
            "agent_id": {"value": task.agent_id},
            "timestamp": self._master.now,
        }

    @staticmethod
    def _enter(framework: Framework, task: Task, state: str) -> None:
        """Change the state, and the counts: of active tasks how many are, of ended ones how many have."""
        if not task.is_terminal:  # one that counted as lost may be back
            framework.counts[f"tasks/active/{task.state.lower()}"] -= 1
        task.state = state
        framework.counts[f"tasks/{'terminal' if task.is_terminal else 'active'}/{state.lower()}"] += 1

    def _send(self, framework: Framework, task: Task, wait: float = _FIRST_RETRY_SECONDS) -> None:
        """The oldest unacknowledged update, again and again, ever less often."""
        if not task.unacknowledged:
            return
        status = task.unacknowledged[0]
        if self._is_reachable(task):
            for name in ("messages_status_update", "valid_status_updates"):
                self._master.counts[name] += 1
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
