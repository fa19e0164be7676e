"""Status updates of tasks: they are sent again until the framework acknowledges them."""

import base64
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any
from uuid import uuid4

from fake_master.services.agents.checkpointed_tasks import TaskStore
from fake_master.services.events import EventPublisher
from fake_master.state.clock import NANOSECONDS
from fake_master.state.frameworks import KnownFramework
from fake_master.state.master_state import MasterState
from fake_master.state.tasks import KnownTask, TaskGroup, TaskReason, TaskState, TaskStatus

FIRST_RETRY_SECONDS = 10.0
_LONGEST_RETRY_SECONDS = 600.0


def next_retry(seconds: float) -> float:
    """Return the seconds to wait for an acknowledgement after having waited so long: ever more."""
    return min(2 * seconds, _LONGEST_RETRY_SECONDS)


def new_uuid() -> str:
    """Return a new UUID: sixteen bytes, as JSON has them."""
    return base64.b64encode(uuid4().bytes).decode()


class TaskUpdates:
    """Changes the states of tasks, sends updates, and answers RECONCILE."""

    def __init__(self, state: MasterState, events: EventPublisher, store: TaskStore) -> None:
        self._state = state
        self._events = events
        self._store = store
        self.on_done: Callable[[str], None] = lambda _agent_id: None
        """Called with an agent's id when a task there has ended and its last update is acknowledged."""
        self._of_this_moment: dict[TaskState, TaskStatus] = {}
        """The last status of each state that tasks of local schedulers share, as hundreds start together."""

    # --- What agents say ------------------------------------------------------------------------------

    def report(self, framework: KnownFramework, task: KnownTask, state: TaskState, **details: str) -> None:
        """The agent says that the task has entered `state`; `details` are more fields of its TaskStatus."""
        framework.enter(task, state)
        status = self._reported(state, details, is_local=framework.scheduler is not None)
        task.statuses += (status,)
        self.tell_operators(framework, task, status)
        task.unacknowledged += (status,)
        self._store.remember_task(framework, task)
        if len(task.unacknowledged) == 1:
            self._send(framework, task)

    def _reported(self, state: TaskState, details: Mapping[str, str], *, is_local: bool) -> TaskStatus:
        """Return a status that an agent reports now."""
        now = self._state.wall_time
        if details or not is_local:
            more = {key: value for key, value in details.items() if key != "source"}
            return TaskStatus(
                state, now, details.get("source", "SOURCE_EXECUTOR"), "" if is_local else new_uuid(), more
            )
        known = self._of_this_moment.get(state)
        if known is None or known.timestamp != now:
            known = self._of_this_moment[state] = TaskStatus(state, now, "SOURCE_EXECUTOR", "")
        return known

    def acknowledge(self, framework: KnownFramework, task_id: str, uuid: str) -> None:
        """ACKNOWLEDGE: the next update may go, or the task is done with."""
        task = framework.all_tasks().get(task_id)
        if task is not None and task.unacknowledged and task.unacknowledged[0].uuid == uuid:
            self.acknowledged(framework, task)

    def acknowledged(self, framework: KnownFramework, task: KnownTask) -> None:
        """The framework has acknowledged the oldest update that waits for it."""
        task.unacknowledged = task.unacknowledged[1:]
        self._store.remember_task(framework, task, may_wait=True)
        if task.unacknowledged:
            self._send(framework, task)
        elif task.is_terminal:
            framework.drop_task(task)
            framework.completed_tasks.append(task)
            self.on_done(task.agent_id)

    def tell_again(self, framework: KnownFramework, task: KnownTask) -> None:
        """Send an update at once that waits for its next attempt: the framework has a new stream."""
        self._send(framework, task)

    def reaches_agent_of(self, task: KnownTask) -> bool:
        """Return whether the task's agent and the master can reach each other."""
        agent = self._state.agents.get(task.agent_id)
        return agent is not None and agent.connected

    def _send(self, framework: KnownFramework, task: KnownTask, wait: float = FIRST_RETRY_SECONDS) -> None:
        """Send the oldest unacknowledged update, again and again."""
        if task.retry is not None:
            task.retry.cancel()
            task.retry = None
        if not task.unacknowledged:
            return
        status = task.unacknowledged[0]
        if self.reaches_agent_of(task):
            for name in ("messages_status_update", "valid_status_updates"):
                self._state.counts[name] += 1
            self._events.task_update(framework, task, status)
            if not (task.unacknowledged and task.unacknowledged[0] is status):
                return  # a local scheduler has acknowledged it already

        def again() -> None:
            if task.unacknowledged and task.unacknowledged[0] is status:
                self._send(framework, task, next_retry(wait))

        task.retry = self._state.timers.at(self._state.now + wait, again)

    def _told_by_master(self, state: TaskState, more: Mapping[str, Any]) -> TaskStatus:
        return TaskStatus(state, self._state.wall_time, "SOURCE_MASTER", None, more)

    # --- What the master says -------------------------------------------------------------------------

    def tell_state(self, framework: KnownFramework, task: KnownTask, state: TaskState, **status: Any) -> None:
        """Change the state of a task on the master's own account, as its agent cannot; no acknowledgement is needed."""
        is_news = task.state != state
        if is_news:
            framework.enter(task, state)
        told = self._told_by_master(state, status)
        task.statuses += (told,)
        task.unacknowledged = ()
        if is_news:
            self.tell_operators(framework, task, told)
        self._events.task_update(framework, task, told)

    def lose_group(self, framework: KnownFramework, group: TaskGroup, state: TaskState, **status: Any) -> None:
        """The same for tasks that cannot be reached any more, if nobody hears of it: they need not be made."""
        framework.add_unreachable_group(group, self._told_by_master(state, status))
        if framework.stream is not None:
            framework.counts["events/update"] += len(group)

    def send_reregistered(self, framework: KnownFramework, task: KnownTask) -> None:
        """Send the state of a task that came back with its lost agent and that this master did not know."""
        told = self._told_by_master(task.state, {"reason": "REASON_AGENT_REREGISTERED"})
        self._events.task_update(framework, task, told)

    def remove(self, framework: KnownFramework, task: KnownTask) -> TaskStatus:
        """Count a task of a removed framework as killed, unless it has ended.  Return the status for operators."""
        why = {"message": f"Framework {framework.id} removed", "reason": "REASON_FRAMEWORK_REMOVED"}
        status = self._told_by_master("TASK_KILLED", why)
        if not task.is_terminal:
            framework.enter(task, "TASK_KILLED")
            self._count_end("TASK_KILLED", "REASON_FRAMEWORK_REMOVED")
            task.statuses += (status,)
        return status

    def refuse(
        self, framework: KnownFramework, info: Mapping[str, Any], state: TaskState, reason: TaskReason, message: str
    ) -> None:
        """Refuse a task that was never launched; its update needs no acknowledgement."""
        self._count_end(state, reason)
        self._state.counts[state.lower().replace("task", "tasks", 1)] += 1
        self._events.update(
            framework,
            {
                "task_id": info["task_id"],
                "state": state,
                "message": message,
                "source": "SOURCE_MASTER",
                "reason": reason,
                "agent_id": info["agent_id"],
                "timestamp": self._state.wall_time,
            },
        )

    def tell_operators(self, framework: KnownFramework, task: KnownTask, status: TaskStatus) -> None:
        """Send TASK_UPDATED to the subscribers of the operator API."""
        self._events.task_updated(framework, task, status)

    def _count_end(self, state: TaskState, reason: TaskReason) -> None:
        """Ends that the master tells of are counted by their reason."""
        self._state.counts[f"{state.lower()}/source_master/{reason.lower()}"] += 1

    # --- What frameworks ask --------------------------------------------------------------------------

    def reconcile(self, framework: KnownFramework, task_id: str, agent_id: str | None) -> None:
        """Send the framework the state of one task, known or not."""
        task = framework.all_tasks().get(task_id)
        if task is not None:
            # The latest, without its uuid, because it needs no acknowledgement.
            latest = task.statuses[-1] if task.statuses else self._told_by_master(task.state, {})
            told = replace(
                latest,
                source="SOURCE_MASTER",
                uuid=None,
                more={**latest.more, "reason": "REASON_RECONCILIATION", "message": "Reconciliation"},
            )
            self._events.task_update(framework, task, told)
            return
        if agent_id is not None and self._state.known_agents.awaits(agent_id):
            return  # still unknown
        state, what = self._unknown_task(agent_id)
        status: dict[str, Any] = {
            "task_id": {"value": task_id},
            "state": state if framework.is_partition_aware else "TASK_LOST",
            "message": f"Reconciliation: Task is {what}",
            "source": "SOURCE_MASTER",
            "reason": "REASON_RECONCILIATION",
            "timestamp": self._state.wall_time,
        }
        if agent_id is not None:
            status["agent_id"] = {"value": agent_id}
        since = self._state.known_agents.unreachable().get(agent_id or "")
        if since is not None:
            status["unreachable_time"] = {"nanoseconds": int(since * NANOSECONDS)}
        self._events.update(framework, status)

    def _unknown_task(self, agent_id: str | None) -> tuple[TaskState, str]:
        """Return the state of a task that is not known on an agent, and the word for it."""
        if agent_id is None:
            return "TASK_UNKNOWN", "unknown"
        if agent_id in self._state.agents:
            is_gone = self._state.profile.tasks_unknown_to_agents_are_gone
            return "TASK_GONE" if is_gone else "TASK_UNKNOWN", "unknown to the agent"
        if self._state.known_agents.is_gone(agent_id):
            return "TASK_GONE_BY_OPERATOR", "gone"
        if agent_id in self._state.known_agents.unreachable():
            return "TASK_UNREACHABLE", "unreachable"
        return "TASK_UNKNOWN", "unknown"
