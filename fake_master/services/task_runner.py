"""Simulated agents: they run tasks and end them."""

from collections.abc import Mapping, Sequence
from functools import partial

from fake_master.allocator.interface import Allocator
from fake_master.services.agents.checkpointed_tasks import TaskStore
from fake_master.services.events import EventPublisher
from fake_master.services.task_updates import TaskUpdates
from fake_master.state.extension_points import AgentRuntime
from fake_master.state.frameworks import KnownFramework
from fake_master.state.master_state import MasterState
from fake_master.state.tasks import Ending, Executor, KnownTask, TaskReason, TaskState
from mesosctl.mesos.amounts.resources import Resources

PREEMPTED: TaskReason = "REASON_CONTAINER_PREEMPTED"
_EXITED = 0
"""The wait status of an executor that ended by itself."""
# Seconds until an agent that is out of reach tries again to report.
_RETRY_AFTER = 1.0


class TaskRunner:
    """Runs tasks in virtual time, as `MasterState.task_outcome` says they end."""

    def __init__(
        self,
        state: MasterState,
        allocator: Allocator,
        events: EventPublisher,
        store: TaskStore,
        updates: TaskUpdates,
    ) -> None:
        self._state = state
        self._allocator = allocator
        self._events = events
        self._store = store
        self.updates = updates
        self.runtime = AgentRuntime()
        """The decision which tasks start at once; the wiring may replace it with an extension's."""

    def launch(self, framework: KnownFramework, task: KnownTask, executor: Executor | None) -> None:
        """The agent accepts the task, starts it and runs it."""
        agent = self._state.agents[task.agent_id]
        framework.hold(agent, task.resources)
        if executor is not None:
            framework.executors[executor.agent_id, executor.id] = executor
            framework.hold(agent, executor.resources)
        self._begin(framework, task, executor, agent.faults.launch_delay)

    def launch_alike(self, framework: KnownFramework, tasks: Sequence[KnownTask], held: Resources) -> None:
        """Launch tasks of one agent that have no executors of their own and together hold these resources."""
        agent = self._state.agents[tasks[0].agent_id]
        framework.hold(agent, held)
        for task in tasks:
            self._begin(framework, task, None, agent.faults.launch_delay)

    def _begin(self, framework: KnownFramework, task: KnownTask, executor: Executor | None, delay: float) -> None:
        """Add a task whose resources are accounted for; it reaches its agent after this many seconds."""
        framework.add_task(task)
        self._events.task_added(framework, task)
        framework.count_task(task)
        self._store.remember_task(framework, task)
        if delay:
            self._state.timers.at(self._state.now + delay, lambda: self.arrive(framework, task, executor))
        else:
            self.arrive(framework, task, executor)

    def arrive(self, framework: KnownFramework, task: KnownTask, executor: Executor | None) -> None:
        """Start a task that has reached its agent, if there is room for it."""
        if not task.is_terminal and self.runtime.may_start(framework, task, executor):
            self.start(framework, task)

    def start(self, framework: KnownFramework, task: KnownTask) -> None:
        """Run a task that the agent has room for."""
        self.updates.report(framework, task, "TASK_STARTING")
        self.updates.report(framework, task, "TASK_RUNNING")
        self._plan_end(framework, task, self._state.now)

    def tell_again(self, framework: KnownFramework) -> None:
        """Have agents send their updates at once: the framework has a new stream."""
        for task in framework.all_tasks().values():
            self.updates.tell_again(framework, task)

    def go_on(self, framework: KnownFramework, task: KnownTask, executor: Executor | None) -> None:
        """The agent has brought the task to a new leader: it keeps running, and unacknowledged updates are sent again.

        Messages to the agent have arrived.
        """
        self.updates.tell_again(framework, task)
        if task.is_terminal:
            return
        if task.ending or not task.is_staging:
            self.runtime.restore(framework, task, executor)
        if task.told_to_end is not None:
            self.end_later(framework, task, task.told_to_end)
        elif task.is_staging:
            self.arrive(framework, task, executor)
        else:
            running = (status.timestamp for status in task.statuses if status.state == "TASK_RUNNING")
            self._plan_end(framework, task, next(running, self._state.now))

    def _plan_end(self, framework: KnownFramework, task: KnownTask, since: float) -> None:
        """Set the timer of a task's own end; `since` is when it began to run, in seconds since the epoch."""
        planned = self._state.task_outcome
        outcome, seconds = (planned.outcome, planned.seconds) if task.lasts is None else ("TASK_FINISHED", task.lasts)
        if outcome is not None:
            self._state.timers.at(max(self._state.now, since + seconds), partial(self.end, framework, task, outcome))

    def tell_to_end(self, framework: KnownFramework, task: KnownTask, ending: Ending) -> None:
        """The task's agent knows how it will end; the caller makes it end."""
        task.told_to_end = ending
        self._store.remember_task(framework, task)

    def end_later(self, framework: KnownFramework, task: KnownTask, ending: Ending) -> None:
        """End a task once its time to stop is over."""
        self.tell_to_end(framework, task, ending)
        at = max(self._state.now, ending.at)
        self._state.timers.at(at, lambda: self.end(framework, task, ending.state, **ending.details))

    def end(self, framework: KnownFramework, task: KnownTask, state: TaskState, **details: str) -> None:
        """The task ends in a terminal state, unless it has before; `details` are more fields of its TaskStatus.

        On an agent that nobody can reach it does so once that is back.
        """
        if framework.all_tasks().get(task.id) is not task or task.is_terminal:
            return
        if self.updates.reaches_agent_of(task):
            self.updates.report(framework, task, state, **details)
            self._release(framework, task)
        else:
            self._state.timers.at(self._state.now + _RETRY_AFTER, lambda: self.end(framework, task, state, **details))

    def kill(self, framework: KnownFramework, task: KnownTask, **details: str) -> None:
        """KILL: the task ends, at once or after as long as tasks take here; `details` as of `end`.

        It has no effect on an unreachable agent.
        """
        if task.is_terminal or task.ending or not self.updates.reaches_agent_of(task):
            return
        seconds = self._seconds_to_stop(task)
        if not seconds:
            self.end(framework, task, "TASK_KILLED", **details)
            return
        self.end_later(framework, task, Ending(self._state.now + seconds, "TASK_KILLED", details))
        if "TASK_KILLING_STATE" in framework.capabilities:
            self.updates.report(framework, task, "TASK_KILLING", **details)

    def shutdown(self, framework: KnownFramework, agent_id: str, executor_id: str) -> None:
        """SHUTDOWN: the executor and its tasks end."""
        for task in list(framework.all_tasks().values()):
            if task.agent_id == agent_id and task.executor_id == executor_id:
                self.kill(framework, task)

    def drain(self, framework: KnownFramework, task: KnownTask, *, at_most: float | None, will_be_gone: bool) -> None:
        """Kill a task of a draining agent; it takes its usual time to end, and `at_most` seconds."""
        if task.is_terminal or task.ending:
            return
        gone = will_be_gone and framework.is_partition_aware
        state: TaskState = "TASK_GONE_BY_OPERATOR" if gone else "TASK_KILLED"
        details = {"reason": "REASON_AGENT_DRAINING"}
        seconds = self._seconds_to_stop(task)
        if seconds:
            seconds = seconds if at_most is None else min(seconds, at_most)
            self.end_later(framework, task, Ending(self._state.now + seconds, state, details))
            return
        self.updates.report(framework, task, state, **details)
        self._release(framework, task)

    def _seconds_to_stop(self, task: KnownTask) -> float:
        """Return how long a task takes to end once it is killed."""
        return 0.0 if task.is_staging else self._state.task_outcome.stop_seconds

    def regain(self, framework: KnownFramework, task: KnownTask) -> None:
        """Take a task back whose agent is reachable again."""
        self.updates.tell_state(framework, task, "TASK_RUNNING", reason="REASON_AGENT_REREGISTERED")
        self._plan_end(framework, task, self._state.now)

    def forget(self, framework: KnownFramework, task: KnownTask, *, agent_remains: bool) -> None:
        """Remove a lost task and its executor; on an agent that remains, free everything that they held."""
        framework.drop_task(task)
        self._release(framework, task, frees=agent_remains)

    def kill_all(self, framework: KnownFramework) -> None:
        """End all tasks of a framework that is gone, without an update to it."""
        for task in list(framework.all_tasks().values()):
            has_ended = task.is_terminal
            status = self.updates.remove(framework, task)
            if not has_ended:
                self._release(framework, task)
            if not has_ended or self._state.profile.operators_hear_of_ended_tasks:
                self.updates.tell_operators(framework, task, status)
            task.unacknowledged = ()
            framework.drop_task(task)
            framework.completed_tasks.append(task)

    def _release(self, framework: KnownFramework, task: KnownTask, *, frees: bool = True) -> None:
        """End the executor of a task once it has no other; with `frees`, free the resources of both."""
        self.runtime.left(framework, task)
        if frees:
            self._give_back(framework, task.agent_id, task.resources)
        if not task.executor_id:
            return
        executor = framework.executors.get((task.agent_id, task.executor_id))
        if executor is None or any(
            other.executor_id == executor.id and other.agent_id == executor.agent_id and not other.is_terminal
            for other in framework.all_tasks().values()
        ):
            return
        del framework.executors[executor.agent_id, executor.id]
        if frees:
            self._give_back(framework, task.agent_id, executor.resources)
        self._state.counts["messages_exited_executor"] += 1
        self._events.executor_failure(framework, executor.agent_id, executor.id, _EXITED)

    def _give_back(self, framework: KnownFramework, agent_id: str, resources: Resources) -> None:
        if len(resources):
            framework.release(self._state.agents[agent_id], resources)
            self._allocator.recover_resources(framework.id, agent_id, resources, is_allocated=True)

    # --- Tasks that have to go ------------------------------------------------------------------------

    def evict(
        self,
        framework: KnownFramework,
        task: KnownTask,
        *,
        grace_seconds: float,
        message: str,
        reason: TaskReason = PREEMPTED,
    ) -> list[KnownTask]:
        """Ask a task's container to end, and end it after `grace_seconds`.

        It ends as TASK_LOST, or TASK_GONE if its framework is PARTITION_AWARE, reported by the agent. Until then it
        runs and keeps its resources, as `KnownTask.ending` says. A task that ends by itself meanwhile is reported as
        usual; one that never started ends at once. Return the tasks that were asked now; none if all of them had been
        told before.
        """
        told = [other for other in container_of(framework, task) if not other.ending]
        started = any(not other.is_staging for other in told)
        at = self._state.now + (grace_seconds if started else 0.0)
        state, details = _end(framework, message, reason)
        for other in told:
            self.tell_to_end(framework, other, Ending(at, state, details))
        if told:

            def end() -> None:
                self._end_all(framework, task, state, details)

            self._state.timers.at(at, end)
        return told

    def end_container(
        self, framework: KnownFramework, task: KnownTask, message: str, reason: TaskReason = PREEMPTED
    ) -> list[KnownTask]:
        """End a task's container now, as an agent tells of it.  Gives the tasks that ended."""
        return self._end_all(framework, task, *_end(framework, message, reason))

    def _end_all(
        self, framework: KnownFramework, task: KnownTask, state: TaskState, details: Mapping[str, str]
    ) -> list[KnownTask]:
        ended = container_of(framework, task)
        for other in ended:
            self.end(framework, other, state, **details)
        return ended


def container_of(framework: KnownFramework, task: KnownTask) -> list[KnownTask]:
    """The task, and the others that live in the same executor: they end together."""
    if not task.executor_id:
        return [] if task.is_terminal else [task]
    return [
        other
        for other in framework.all_tasks().values()
        if other.agent_id == task.agent_id and other.executor_id == task.executor_id and not other.is_terminal
    ]


def _end(framework: KnownFramework, message: str, reason: TaskReason) -> tuple[TaskState, dict[str, str]]:
    """The state of an evicted task, and the details of its status."""
    state: TaskState = "TASK_GONE" if framework.is_partition_aware else "TASK_LOST"
    return state, {"source": "SOURCE_AGENT", "reason": reason, "message": message}
