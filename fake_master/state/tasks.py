"""Tasks and executors on simulated agents: their states, from TASK_STAGING to their end, and the reasons for it."""

from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar, Literal
from uuid import NAMESPACE_OID, uuid5

from fake_master.state.clock import Timer
from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.rules.version_profile import TERMINAL_STATES

TaskState = Literal[
    "TASK_STAGING",
    "TASK_STARTING",
    "TASK_RUNNING",
    "TASK_KILLING",
    "TASK_FINISHED",
    "TASK_FAILED",
    "TASK_KILLED",
    "TASK_ERROR",
    "TASK_LOST",
    "TASK_DROPPED",
    "TASK_UNREACHABLE",
    "TASK_GONE",
    "TASK_GONE_BY_OPERATOR",
    "TASK_UNKNOWN",
]
TaskReason = Literal[
    "REASON_AGENT_DISCONNECTED",
    "REASON_AGENT_DRAINING",
    "REASON_AGENT_REMOVED",
    "REASON_AGENT_REMOVED_BY_OPERATOR",
    "REASON_AGENT_REREGISTERED",
    "REASON_CONTAINER_PREEMPTED",
    "REASON_FRAMEWORK_REMOVED",
    "REASON_INVALID_OFFERS",
    "REASON_RECONCILIATION",
    "REASON_RESOURCES_UNKNOWN",
    "REASON_TASK_GROUP_INVALID",
    "REASON_TASK_GROUP_UNAUTHORIZED",
    "REASON_TASK_INVALID",
    "REASON_TASK_KILLED_DURING_LAUNCH",
    "REASON_TASK_UNAUTHORIZED",
]
"""The reasons that this master and its agents give."""
TaskEnd = tuple[TaskState, TaskReason]
"""A terminal state, or TASK_UNREACHABLE, and the reason for it."""

# The states that /state-summary counts, of agents and of frameworks.
SUMMARY_STATES: tuple[TaskState, ...] = (
    "TASK_STAGING",
    "TASK_STARTING",
    "TASK_RUNNING",
    "TASK_KILLING",
    "TASK_FINISHED",
    "TASK_KILLED",
    "TASK_FAILED",
    "TASK_LOST",
    "TASK_ERROR",
    "TASK_UNREACHABLE",
)


@dataclass(frozen=True, slots=True)
class Ending:
    """The way in which a task is ending."""

    at: float
    """Seconds since the epoch."""
    state: TaskState
    details: Mapping[str, str] = field(default_factory=dict)
    """More fields of its last TaskStatus."""


_NO_MORE: Mapping[str, Any] = MappingProxyType({})


@dataclass(slots=True)
class TaskStatus:
    """One status of a task, as its agent or the master told it; tasks that start together share theirs."""

    state: TaskState
    timestamp: float
    """Seconds since the epoch."""
    source: str = ""
    """SOURCE_EXECUTOR and so on; empty if nobody knows who told it."""
    uuid: str | None = None
    """The name of an update that must be acknowledged; None for another.

    Empty if a scheduler in this process acknowledged it, which needs no name; it gets one when it is shown.
    """
    more: Mapping[str, Any] = field(default_factory=lambda: _NO_MORE)
    """More fields: the reason, the message and so on."""

    @classmethod
    def of(cls, message: Mapping[str, Any]) -> "TaskStatus":
        """Return the status of a TaskStatus message."""
        own = ("task_id", "agent_id", "executor_id", "state", "timestamp", "source", "uuid")
        more = {key: value for key, value in message.items() if key not in own}
        return cls(message["state"], message["timestamp"], message.get("source", ""), message.get("uuid"), more)

    def message(self, task: "KnownTask") -> dict[str, Any]:
        """Return the TaskStatus message of a task."""
        told: dict[str, Any] = {"task_id": {"value": task.id}, "state": self.state}
        if self.source:
            told |= {"source": self.source, "agent_id": {"value": task.agent_id}}
        told["timestamp"] = self.timestamp
        if self.uuid is not None:
            told["uuid"] = self.uuid or self._uuid(task)
        told |= self.more
        if task.executor_id and self.source:
            told["executor_id"] = {"value": task.executor_id}
        return told

    def _uuid(self, task: "KnownTask") -> str:
        name = f"{task.framework_id} {task.id} {self.state} {self.timestamp}"
        return b64encode(uuid5(NAMESPACE_OID, name).bytes).decode()


@dataclass(slots=True)
class KnownTask:
    """One task; `info` is TaskInfo as it was sent, or the fields that many tasks share; `statuses` are in order."""

    id: str
    framework_id: str
    agent_id: str
    info: Mapping[str, Any]
    resources: Resources
    """Allocation roles included."""
    role: str
    executor_id: str = ""
    state: TaskState = "TASK_STAGING"
    statuses: tuple[TaskStatus, ...] = ()
    unacknowledged: tuple[TaskStatus, ...] = ()
    """Updates that the framework has not acknowledged; the first was sent, the others wait for it."""
    lasts: float | None = None
    """The seconds that it runs until it finishes; None if `MasterState.task_outcome` says it."""
    told_to_end: Ending | None = None
    """The way in which the task is ending, if it is; it keeps its resources until it has ended."""
    retry: Timer | None = field(default=None, compare=False, repr=False)
    """The time at which the first of `unacknowledged` is sent again."""

    @property
    def name(self) -> str:
        """The name that its framework gave it; that of a task without its whole TaskInfo is its id."""
        return str(self.info.get("name", self.id))

    @property
    def user(self) -> str | None:
        """The user that it names; None for that of its framework."""
        return user_named(self.info)

    @property
    def ending(self) -> bool:
        """Whether it is ending."""
        return self.told_to_end is not None

    @property
    def is_staging(self) -> bool:
        """Whether its agent has not started it yet."""
        return self.state == "TASK_STAGING"

    @property
    def is_terminal(self) -> bool:
        """Whether it has ended."""
        return self.state in TERMINAL_STATES


@dataclass(slots=True)
class TaskGroup:
    """Running tasks of which only the number and the sum are known, as in a snapshot.

    A cluster may have hundreds of thousands, and a forecast does not need them: they are created when something may
    happen to one of them, and for each answer that shows them.
    """

    state: ClassVar[TaskState] = "TASK_RUNNING"

    name: str
    """The beginning of their names."""
    framework_id: str
    agent_id: str
    role: str
    resources: Resources
    """The sum, allocation roles included."""
    reported_count: int
    """The number that the snapshot reports; `len` is how many tasks are made."""
    since: float
    """When they started: seconds since the epoch."""
    _shares: Sequence[Resources] = field(init=False, default=(), compare=False, repr=False)
    """The resources of each task, once they have been divided."""

    def __len__(self) -> int:
        return self.reported_count if any(map(self._share_of, self.resources)) else 1

    def tasks(self) -> Iterator[KnownTask]:
        """Make them: each has an equal part, and the last one the rest."""
        self._shares = self._shares or self._divided()
        statuses = (TaskStatus(self.state, self.since),)
        for index, share in enumerate(self._shares):
            yield KnownTask(
                id=f"{self.name}-{index}",
                framework_id=self.framework_id,
                agent_id=self.agent_id,
                info=_NO_MORE,
                resources=share,
                role=self.role,
                state=self.state,
                statuses=statuses,
            )

    def _divided(self) -> Sequence[Resources]:
        alike = len(self) - 1
        share = Resources(entry.with_value(amount) for entry in self.resources if (amount := self._share_of(entry)))
        spread = Resources(entry.with_value(entry.value * alike) for entry in share if isinstance(entry.value, int))
        return (*[share] * alike, self.resources - spread)

    def _share_of(self, entry: Resource) -> int:
        """Return the thousandths of an entry that each of them has."""
        return entry.value // self.reported_count if isinstance(entry.value, int) and entry.disk is None else 0


def user_of(info: Mapping[str, Any], framework_user: str) -> str:
    """Return the user whom a task runs as: the one that it names, or that of its framework."""
    named = user_named(info)
    return framework_user if named is None else named


def user_named(info: Mapping[str, Any]) -> str | None:
    """Return the user that a task names in its command or in its executor's command; None if it names none."""
    for command in (info.get("command", {}), info.get("executor", {}).get("command", {})):
        if "user" in command:
            return str(command["user"])
    return None


def tasks_of(task: KnownTask | TaskGroup) -> Iterable[KnownTask]:
    """Return the tasks of a group, which it makes, or the task itself."""
    return task.tasks() if isinstance(task, TaskGroup) else (task,)


def count_of(task: KnownTask | TaskGroup) -> int:
    """Return the number of these tasks."""
    return len(task) if isinstance(task, TaskGroup) else 1


@dataclass(frozen=True, slots=True)
class Executor:
    """An executor that a framework described; its resources are held while it has tasks."""

    id: str
    framework_id: str
    agent_id: str
    info: Mapping[str, Any]
    resources: Resources


@dataclass(frozen=True, slots=True)
class TaskOutcome:
    """The end of tasks on a simulated agent: `outcome` after `seconds` of running, or none."""

    outcome: TaskState | None = None
    seconds: float = 0.0
    stop_seconds: float = 0.0
    """The time that a task takes to end."""
