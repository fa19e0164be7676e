"""Simulated agents: they start what they are told to, and end it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from fake_master.services import descriptions
from fake_master.services.task_updates import TaskUpdates
from fake_master.state.frameworks import Framework
from fake_master.state.tasks import Ending, Executor, Task
from mesosctl.model.resources import Resources

if TYPE_CHECKING:
    from fake_master.master import Master


_EXITED = 0
"""The wait status of an executor that ended by itself."""
# Until an agent that is out of reach tries again to say what it has to say, in seconds.
_PATIENCE = 1.0


class TaskRunner:
    """Runs tasks in virtual time, as `Master.task_outcome` says they end."""

    def __init__(self, master: "Master", updates: TaskUpdates) -> None:
        self._master = master
        self._updates = updates

    def launch(self, framework: Framework, task: Task, executor: Executor | None) -> None:
        """The agent takes the task, starts it and runs it."""
        agent = self._master.agents[task.agent_id]
        framework.tasks[task.id] = task
        framework.hold(agent, task.resources)
        if executor is not None:
            framework.executors[executor.agent_id, executor.id] = executor
            framework.hold(agent, executor.resources)
        self._master.events.operators("TASK_ADDED", {"task": descriptions.task(task)})
        framework.count_task(task)
        self._master.failover.memory.remember_task(framework, task)
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
        self._updates.report(framework, task, "TASK_STARTING")
        self._updates.report(framework, task, "TASK_RUNNING")
        self._plan_end(framework, task, self._master.now)

    def go_on(self, framework: Framework, task: Task, executor: Executor | None) -> None:
        """The agent has brought the task to a new leader: it runs on, and what was not acknowledged is told again.

        What was on its way to the agent has arrived.
        """
        self._updates.tell_again(framework, task)
        if task.is_terminal:
            return
        if self._master.tenancy is not None and (task.ending or not task.is_staging):
            self._master.tenancy.restore(framework, task, executor)
        if task.told_to_end is not None:
            self.end_later(framework, task, task.told_to_end)
        elif task.is_staging:
            self._arrive(framework, task, executor)
        else:
            running = (status["timestamp"] for status in task.statuses if status["state"] == "TASK_RUNNING")
            self._plan_end(framework, task, next(running, self._master.now))

    def _plan_end(self, framework: Framework, task: Task, since: float) -> None:
        """By its own fate; `since` is when it began to run, in seconds since the epoch."""
        fate = self._master.task_outcome
        if fate.outcome is not None:
            at = max(self._master.now, since + fate.seconds)
            self._master.timers.at(at, lambda: self.end(framework, task, str(fate.outcome)))

    def tell_to_end(self, framework: Framework, task: Task, ending: Ending) -> None:
        """The task's agent knows how it is to end; somebody else sees to it that it does."""
        task.told_to_end = ending
        self._master.failover.memory.remember_task(framework, task)

    def end_later(self, framework: Framework, task: Task, ending: Ending) -> None:
        """The task was told to end, and takes its time."""
        self.tell_to_end(framework, task, ending)
        at = max(self._master.now, ending.at)
        self._master.timers.at(at, lambda: self.end(framework, task, ending.state, **ending.details))

    def end(self, framework: Framework, task: Task, state: str, **details: str) -> None:
        """The task ends in a terminal state, unless it has before; `details` are more fields of its TaskStatus.

        On an agent that nobody can reach it does so once that is back.
        """
        if framework.tasks.get(task.id) is not task or task.is_terminal:
            return
        if self._updates.reaches_agent_of(task):
            self._updates.report(framework, task, state, **details)
            self._release(framework, task)
        else:
            self._master.timers.at(self._master.now + _PATIENCE, lambda: self.end(framework, task, state, **details))

    def kill(self, framework: Framework, task: Task, **details: str) -> None:
        """KILL: the task ends, at once or after as long as tasks take here; `details` as of `end`.

        Nobody hears it on an agent that cannot be reached.
        """
        if task.is_terminal or task.ending or not self._updates.reaches_agent_of(task):
            return
        seconds = 0.0 if task.is_staging else self._master.task_outcome.stop_seconds
        if not seconds:
            self.end(framework, task, "TASK_KILLED", **details)
            return
        self.end_later(framework, task, Ending(self._master.now + seconds, "TASK_KILLED", details))
        if "TASK_KILLING_STATE" in framework.capabilities:
            self._updates.report(framework, task, "TASK_KILLING", **details)

    def shutdown(self, framework: Framework, agent_id: str, executor_id: str) -> None:
        """SHUTDOWN: the executor and its tasks end."""
        for task in list(framework.tasks.values()):
            if task.agent_id == agent_id and task.executor_id == executor_id:
                self.kill(framework, task)

    def drain(self, framework: Framework, task: Task, *, will_be_gone: bool) -> None:
        """The agent is drained: its tasks are killed, and end at once."""
        if not task.is_terminal:
            gone = will_be_gone and framework.is_partition_aware
            state = "TASK_GONE_BY_OPERATOR" if gone else "TASK_KILLED"
            self._updates.report(framework, task, state, reason="REASON_AGENT_DRAINING")
            self._release(framework, task)

    def regain(self, framework: Framework, task: Task) -> None:
        """The agent is back, and the task with it."""
        self._updates.tell_state(framework, task, "TASK_RUNNING", reason="REASON_AGENT_REREGISTERED")
        self._plan_end(framework, task, self._master.now)

    def forget(self, framework: Framework, task: Task) -> None:
        """What a lost task and its executor held is held no more."""
        del framework.tasks[task.id]
        self._release(framework, task)

    def kill_all(self, framework: Framework) -> None:
        """The framework is gone, and nobody is left to be told."""
        for task in list(framework.tasks.values()):
            has_ended = task.is_terminal
            status = self._updates.remove(framework, task)
            if not has_ended:
                self._release(framework, task)
            self._updates.tell_operators(framework, task, status)
            task.unacknowledged.clear()
            framework.tasks.pop(task.id, None)
            framework.completed_tasks.append(task)

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
            self._master.events.executor_failure(framework, executor.agent_id, executor.id, _EXITED)

    def _give_back(self, framework: Framework, agent_id: str, resources: Resources) -> None:
        if len(resources):
            framework.release(self._master.agents[agent_id], resources)
            self._master.allocator.recover_resources(framework.id, agent_id, resources, is_allocated=True)


PREEMPTED = "REASON_CONTAINER_PREEMPTED"


def container_of(framework: Framework, task: Task) -> list[Task]:
    """The task, and the others that live in the same executor: they end together."""
    if not task.executor_id:
        return [] if task.is_terminal else [task]
    return [
        other
        for other in framework.tasks.values()
        if other.agent_id == task.agent_id and other.executor_id == task.executor_id and not other.is_terminal
    ]


def evict(
    master: "Master",
    framework: Framework,
    task: Task,
    *,
    grace_seconds: float,
    message: str,
    reason: str = PREEMPTED,
) -> list[Task]:
    """Tell a task's container to end, and end it once `grace_seconds` are over.

    It ends as TASK_LOST, or TASK_GONE where its framework is PARTITION_AWARE, reported by the agent.
    Until then it runs on and holds what it holds, as `Task.ending` says.  What ends by itself
    meanwhile is told of as usual; what never started has nothing to wait for, and ends at once.
    Gives the tasks that were told now; none if all of them had been told before.
    """
    told = [other for other in container_of(framework, task) if not other.ending]
    started = any(not other.is_staging for other in told)
    at = master.now + (grace_seconds if started else 0.0)
    state, details = _end(framework, message, reason)
    for other in told:
        master.task_runner.tell_to_end(framework, other, Ending(at, state, details))
    if told:

        def end() -> None:
            _end_all(master, framework, task, state, details)

        master.timers.at(at, end)
    return told


def end_container(
    master: "Master", framework: Framework, task: Task, message: str, reason: str = PREEMPTED
) -> list[Task]:
    """End a task's container now, as an agent tells of it.  Gives the tasks that ended."""
    return _end_all(master, framework, task, *_end(framework, message, reason))


def _end(framework: Framework, message: str, reason: str) -> tuple[str, dict[str, str]]:
    """The state of an evicted task, and the details of its status."""
    state = "TASK_GONE" if framework.is_partition_aware else "TASK_LOST"
    return state, {"source": "SOURCE_AGENT", "reason": reason, "message": message}


def _end_all(master: "Master", framework: Framework, task: Task, state: str, details: Mapping[str, str]) -> list[Task]:
    ended = container_of(framework, task)
    for other in ended:
        master.task_runner.end(framework, other, state, **details)
    return ended
