"""Tasks and executors, as messages of the v1 API and the entries of a snapshot describe them."""

from collections.abc import Mapping, Sequence
from sys import intern
from typing import Any, NamedTuple

from mesosctl.api.elements.snapshot_mistakes import wrong
from mesosctl.api.protobuf_json.resource_lists import ResourceLists
from mesosctl.api.responses import text
from mesosctl.model import roles
from mesosctl.model.resources import Resources
from mesosctl.model.roles import DEFAULT_ROLE
from mesosctl.planning.snapshot import TASK_PHASES, SnapshotTask, Usage

TASK = "mesos.v1.Task"
TASK_MEMBERS = ("state", "task_id.value", "framework_id.value", "agent_id.value", "executor_id.value", "resources")
"""The members of a message that a snapshot needs; the statuses are read of tasks that are decoded whole."""
EXECUTOR = "mesos.v1.master.Response.GetExecutors.Executor"
EXECUTOR_MEMBERS = (
    *("agent_id.value", "executor_info.executor_id.value", "executor_info.framework_id.value"),
    "executor_info.resources",
)


class TaskStatus(NamedTuple):
    """A status of a task."""

    task_id: str
    reason: str | None
    time: float | None
    """Seconds since 1970, by the clock of its agent, or of the master; None if it does not say."""


class HeldResources(NamedTuple):
    """A task or an executor, and what it holds."""

    id: str
    framework_id: str
    agent_id: str
    by_role: Mapping[str, Resources]
    """Without allocation roles; as a rule it has one role."""
    state: str | None = None
    """None for an executor."""
    executor_id: str | None = None
    """Of a task with an executor of its own."""
    statuses: Sequence[TaskStatus] = ()
    """Of a task; the last is the latest.  A snapshot needs none, so `statuses_of` reads them for those who do."""

    @property
    def is_executor(self) -> bool:
        """Whether it is an executor."""
        return self.state is None

    @property
    def role(self) -> str:
        """The role that holds the resources."""
        return next(iter(self.by_role), DEFAULT_ROLE)

    @property
    def resources(self) -> Resources:
        """All of them."""
        if len(self.by_role) == 1:
            return next(iter(self.by_role.values()))
        return Resources(entry for part in self.by_role.values() for entry in part)

    @property
    def reason(self) -> str | None:
        """The reason of its latest status."""
        return self.statuses[-1].reason if self.statuses else None

    @property
    def times(self) -> Sequence[float]:
        """The times of its statuses, in seconds since 1970, from the first to the last."""
        return sorted(status.time for status in self.statuses if status.time is not None)


class TaskReader:
    """Reads tasks and executors; resources may be undecoded text.  `where` is the place of one for errors.

    The methods for messages raise one of `NATURAL` for what is not as documented, or has text that needs a closer look.
    """

    def __init__(self, lists: ResourceLists) -> None:
        self._lists = lists
        self._roles: set[str] = set()

    def of_message(self, entry: Mapping[str, Any], where: str = "") -> HeldResources:
        """A task of GET_STATE, GET_TASKS or an event."""
        return HeldResources(
            text(entry["task_id"]["value"]),
            text(entry["framework_id"]["value"]),
            text(entry["agent_id"]["value"]),
            self._lists.by_role_in(entry.get("resources", []), f"{where}.resources"),
            text(entry["state"]),
            text(entry["executor_id"]["value"]) if "executor_id" in entry else None,
        )

    def executor_of_message(self, entry: Mapping[str, Any], where: str = "") -> HeldResources:
        """An executor of GET_STATE or GET_EXECUTORS."""
        info = entry["executor_info"]
        return HeldResources(
            text(info["executor_id"]["value"]),
            text(info["framework_id"]["value"]),
            text(entry["agent_id"]["value"]),
            self._lists.by_role_in(info.get("resources", []), f"{where}.executor_info.resources"),
        )

    def usage_of_snapshot(self, entry: Mapping[str, Any], where: str) -> Usage:
        """The resources that a framework holds on an agent in a role.

        Raises RuleViolation for what is wrong in it, and ValueError for text that needs a closer look.
        """
        tasks = entry.get("tasks", 0)
        if tasks < 0:
            raise wrong(f"{where}.tasks", "a count cannot be negative")
        role = entry["role"]
        if role not in self._roles:
            self._roles.add(intern(roles.check_role(role, f"{where}.role")))
        return Usage(
            framework_id=intern(entry["framework_id"]),
            agent_id=intern(entry["agent_id"]),
            role=intern(role),
            resources=self._lists.plain_in(entry.get("resources", ()), f"{where}.resources"),
            tasks=tasks,
        )

    def of_snapshot(self, entry: Mapping[str, Any], where: str) -> SnapshotTask:
        """A task of a cluster that lends.  Raises RuleViolation for what is wrong in it."""
        phase = next((known for known in TASK_PHASES if known == entry.get("standing", "running")), None)
        if phase is None:
            raise wrong(f"{where}.standing", f"it must be one of {', '.join(TASK_PHASES)}")
        return SnapshotTask(
            entry["id"],
            entry["framework_id"],
            entry["agent_id"],
            roles.check_role(entry["role"], f"{where}.role"),
            self._lists.plain(entry.get("resources", ()), f"{where}.resources"),
            entry.get("executor_id"),
            self._lists.plain(entry.get("executor_resources", ()), f"{where}.executor_resources"),
            phase,
        )


def statuses_of(entry: Mapping[str, Any]) -> tuple[TaskStatus, ...]:
    """The statuses in a message of a task.  Raises one of `NATURAL`."""
    return tuple(map(status_of, entry.get("statuses", ())))


def status_of(message: Mapping[str, Any]) -> TaskStatus:
    """A TaskStatus message.  Raises one of `NATURAL`."""
    time = message.get("timestamp")
    return TaskStatus(
        text(message["task_id"]["value"]),
        message.get("reason"),
        float(time) if isinstance(time, int | float) and time > 0 else None,
    )
