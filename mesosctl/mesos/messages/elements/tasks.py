"""Tasks and executors, as messages of the v1 API and the entries of a snapshot describe them."""

from collections.abc import Callable, Mapping
from functools import cached_property
from sys import intern
from typing import Any, NamedTuple

from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.cluster.snapshot import TASK_PHASES, FrameworkUsage, SnapshotTask
from mesosctl.mesos.messages.elements.snapshot_mistakes import CheckedRoles, wrong
from mesosctl.mesos.messages.protobuf_json.decoding import text_if_undecoded
from mesosctl.mesos.messages.protobuf_json.message_tables import mesos_message
from mesosctl.mesos.messages.protobuf_json.resource_lists import ResourceLists
from mesosctl.mesos.messages.responses import text
from mesosctl.mesos.roles import DEFAULT_ROLE
from mesosctl.mesos.rules.version_profile import TERMINAL_STATES

TASK = "mesos.v1.Task"
USAGE_MEMBERS = ("state", "framework_id.value", "agent_id.value", "resources")
"""The members of a message that a snapshot needs."""
TASK_MEMBERS = (*USAGE_MEMBERS, "task_id.value", "executor_id.value", "statuses")
"""Those that a recording needs."""
LISTED_TASK_MEMBERS = (*USAGE_MEMBERS, "task_id.value", "name", "statuses")
"""Those that a list needs."""
ENDED_TASK_MEMBERS = ("state", "task_id.value", "framework_id.value", "statuses")
"""Those that a recording needs of a task that holds nothing any more."""
EXECUTOR = "mesos.v1.master.Response.GetExecutors.Executor"
EXECUTOR_USAGE_MEMBERS = ("agent_id.value", "executor_info.framework_id.value", "executor_info.resources")
EXECUTOR_MEMBERS = (*EXECUTOR_USAGE_MEMBERS, "executor_info.executor_id.value")
HeldByRole = tuple[str, str, Mapping[str, Resources], int]
"""The ids of a framework and an agent, the resources that a task or an executor holds, by role, and how many tasks."""
NOTHING_HELD: HeldByRole = ("", "", {}, 0)


class TaskStatus(NamedTuple):
    """A status of a task."""

    reason: str | None
    time: float | None
    """Seconds since 1970, by the clock of its agent, or of the master; None if it does not say."""


class TaskChange(NamedTuple):
    """How a task came into its state."""

    framework_id: str
    id: str
    state: str
    reason: str | None
    time: float | None
    """Seconds since 1970, as in `TaskStatus`."""


class HeldResources(NamedTuple):
    """A task or an executor, and what it holds."""

    framework_id: str
    id: str
    agent_id: str
    by_role: Mapping[str, Resources]
    """Without allocation roles; as a rule it has one role."""
    state: str | None = None
    """None for an executor."""
    executor_id: str | None = None
    """Of a task with an executor of its own."""
    reason: str | None = None
    """Of its last status, as far as statuses were read; so are the times."""
    first_time: float | None = None
    """Of its first status that the master still knows, in seconds since 1970."""
    last_time: float | None = None

    @property
    def is_executor(self) -> bool:
        """Whether it is an executor."""
        return self.state is None

    @property
    def role(self) -> str:
        """The role that holds the resources."""
        return role_of(self.by_role)

    @property
    def resources(self) -> Resources:
        """All of them."""
        return all_of(self.by_role)

    @property
    def last_change(self) -> TaskChange:
        """How it came into its state."""
        return TaskChange(self.framework_id, self.id, self.state or "", self.reason, self.last_time)


class ShownTask(NamedTuple):
    """A task of GET_TASKS, whatever its state."""

    framework_id: str
    id: str
    name: str
    agent_id: str
    by_role: Mapping[str, Resources]
    """As in `HeldResources`."""
    state: str
    time: float | None
    """Of its last status, as in `TaskStatus`."""

    @property
    def role(self) -> str:
        """The role that holds the resources, or held them."""
        return role_of(self.by_role)

    @property
    def resources(self) -> Resources:
        """All of them."""
        return all_of(self.by_role)


def role_of(by_role: Mapping[str, Resources]) -> str:
    """The role that holds these resources."""
    return next(iter(by_role), DEFAULT_ROLE)


def all_of(by_role: Mapping[str, Resources]) -> Resources:
    """These resources together."""
    if len(by_role) == 1:
        return next(iter(by_role.values()))
    return Resources(entry for part in by_role.values() for entry in part)


_Told = tuple[str | None, float | None, float | None]
"""The reason of the last status of a task, and the times of its first and its last."""


class TaskReader:
    """Reads tasks and executors; resources may be undecoded text.  `where` is the place of one for errors.

    The methods for messages raise one of `NATURAL` for what is not as documented, or has text that needs a closer look.
    """

    def __init__(self, lists: ResourceLists) -> None:
        self._lists = lists
        self._roles = CheckedRoles()

    def usage_of_message(self, entry: Mapping[str, Any], where: str = "") -> HeldByRole:
        """As much of a task of GET_STATE as a snapshot needs; of one that has ended, it holds nothing."""
        return (*self._placed(entry, entry, where), 1) if entry["state"] not in TERMINAL_STATES else NOTHING_HELD

    def executor_usage(self, entry: Mapping[str, Any], where: str = "") -> HeldByRole:
        """The same of an executor."""
        return *self._placed(entry["executor_info"], entry, f"{where}.executor_info"), 0

    def of_message(self, entry: Mapping[str, Any], where: str = "") -> HeldResources:
        """A task of GET_STATE, without its statuses."""
        framework_id, agent_id, by_role = self._placed(entry, entry, where)
        return HeldResources(
            framework_id,
            text(entry["task_id"]["value"]),
            agent_id,
            by_role,
            text(entry["state"]),
            text(entry["executor_id"]["value"]) if "executor_id" in entry else None,
        )

    def with_last_change(self, entry: Mapping[str, Any], where: str = "task") -> HeldResources:
        """A task of GET_STATE or an event, with the reason and the times of its statuses."""
        framework_id, task_id, agent_id, by_role, state, executor_id, *_ = self.of_message(entry, where)
        told = self._told(entry)
        # A recording keeps each of them.
        return HeldResources(
            intern(framework_id), task_id, intern(agent_id), by_role, intern(state or ""), executor_id, *told
        )

    def listed(self, entry: Mapping[str, Any], where: str = "task") -> ShownTask:
        """A task of GET_TASKS, with its name and the time of its last status."""
        framework_id, agent_id, by_role = self._placed(entry, entry, where)
        statuses = entry.get("statuses", ())
        undecoded = text_if_undecoded(statuses)
        if undecoded is not None:
            statuses = self._decode_times(undecoded)
        times = [status["timestamp"] for status in statuses if "timestamp" in status]
        return ShownTask(
            intern(framework_id),
            text(entry["task_id"]["value"]),
            text(entry.get("name", "")),
            intern(agent_id),
            by_role,
            intern(text(entry["state"])),
            (float(max(times)) or None) if times else None,
        )

    def ended_of_message(self, entry: Mapping[str, Any]) -> TaskChange:
        """The last change of a task that holds nothing any more."""
        reason, _, last = self._told(entry)
        return TaskChange(
            intern(text(entry["framework_id"]["value"])),
            text(entry["task_id"]["value"]),
            intern(text(entry["state"])),
            reason,
            last,
        )

    def executor_of_message(self, entry: Mapping[str, Any], where: str = "") -> HeldResources:
        """An executor of GET_STATE or GET_EXECUTORS."""
        info = entry["executor_info"]
        framework_id, agent_id, by_role = self._placed(info, entry, f"{where}.executor_info")
        return HeldResources(intern(framework_id), text(info["executor_id"]["value"]), intern(agent_id), by_role)

    def _placed(
        self, owner: Mapping[str, Any], entry: Mapping[str, Any], where: str
    ) -> tuple[str, str, Mapping[str, Resources]]:
        return (
            text(owner["framework_id"]["value"]),
            text(entry["agent_id"]["value"]),
            self._lists.by_role_in(owner.get("resources", []), f"{where}.resources"),
        )

    def _told(self, entry: Mapping[str, Any]) -> _Told:
        """The reason of the last status of a task, and the times of its first and its last."""
        statuses = entry.get("statuses", ())
        undecoded = text_if_undecoded(statuses)
        if undecoded is not None:
            statuses = self._decode_statuses(undecoded)
        read = list(map(status_of, statuses))
        times = [status.time for status in read if status.time is not None]
        return read[-1].reason if read else None, min(times, default=None), max(times, default=None)

    @cached_property
    def _decode_times(self) -> Callable[[str], Any]:
        return self._decoder_of_statuses("timestamp")

    @cached_property
    def _decode_statuses(self) -> Callable[[str], Any]:
        return self._decoder_of_statuses("reason", "timestamp")

    def _decoder_of_statuses(self, *members: str) -> Callable[[str], Any]:
        import msgspec  # late: only long answers have undecoded statuses

        from mesosctl.mesos.messages.protobuf_json.wanted_members import decoded_members

        status: Any = decoded_members(mesos_message("mesos.v1.TaskStatus"), *members)
        return msgspec.json.Decoder(list[status]).decode

    def usage_of_snapshot(self, entry: Mapping[str, Any], where: str) -> FrameworkUsage:
        """The resources that a framework holds on an agent in a role.

        Raises RuleViolation for what is wrong in it, and ValueError for text that needs a closer look.
        """
        tasks = entry.get("tasks", 0)
        if tasks < 0:
            raise wrong(f"{where}.tasks", "a count cannot be negative")
        return FrameworkUsage(
            framework_id=intern(entry["framework_id"]),
            agent_id=intern(entry["agent_id"]),
            role=self._roles.of(entry, where),
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
            self._roles.of(entry, where),
            self._lists.plain(entry.get("resources", ()), f"{where}.resources"),
            entry.get("executor_id"),
            self._lists.plain(entry.get("executor_resources", ()), f"{where}.executor_resources"),
            phase,
        )


def status_of(message: Mapping[str, Any]) -> TaskStatus:
    """A TaskStatus message.  Raises one of `NATURAL`."""
    time, reason = message.get("timestamp"), message.get("reason")
    return TaskStatus(
        reason and intern(reason),
        float(time) if isinstance(time, int | float) and time > 0 else None,
    )
