"""Elements of the operator API's events and lists (Mesos documentation, "Operator HTTP API"), for a recording.

`SUBSCRIBED` brings the whole state, and each later event what has changed. Every function raises UnexpectedAnswer for
something that is not as documented. Whole lists are read while their text arrives, as for a snapshot: a large cluster
has hundreds of thousands of tasks.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from sys import intern
from typing import Any, TypeVar

import msgspec

from mesosctl.api.protobuf_json.buffered_text import Run, Shortcut
from mesosctl.api.protobuf_json.decoding import text_if_undecoded
from mesosctl.api.protobuf_json.json_parts import Part, parts
from mesosctl.api.protobuf_json.message_tables import mesos_message
from mesosctl.api.protobuf_json.resource_lists import ResourceLists
from mesosctl.api.protobuf_json.typed_elements import TypedElements, decoded_members
from mesosctl.api.responses import NATURAL, text, texts, undocumented, wrong
from mesosctl.api.snapshots.state_elements import StateElements, capabilities_of
from mesosctl.model.resources import Resources
from mesosctl.model.roles import DEFAULT_ROLE

_NANOSECONDS = 1_000_000_000
_STATE = ("subscribed", "get_state")
Element = TypeVar("Element")


@dataclass(frozen=True, slots=True)
class SeenAgent:
    """An agent; times are seconds since 1970, None if the master does not say."""

    id: str
    host: str
    total: Resources
    attributes: Mapping[str, str | float]
    registered: float | None


@dataclass(frozen=True, slots=True)
class SeenFramework:
    """A framework."""

    id: str
    name: str
    roles: tuple[str, ...]
    principal: str | None
    capabilities: tuple[str, ...]
    registered: float | None


@dataclass(frozen=True, slots=True)
class TaskChange:
    """Another state of a task."""

    framework_id: str
    id: str
    state: str
    reason: str | None
    time: float | None
    """The time at which it came into the state, by the clock of its agent, or of the master."""


@dataclass(frozen=True, slots=True)
class SeenTask:
    """A task or an executor with what it holds; an executor has no state."""

    framework_id: str
    id: str
    agent_id: str
    role: str
    resources: Resources
    state: str | None = None
    reason: str | None = None
    first_time: float | None = None
    """Of its first status that the master still knows."""
    last_time: float | None = None
    is_executor: bool = False

    @property
    def last_change(self) -> TaskChange:
        """How it came into its state."""
        return TaskChange(self.framework_id, self.id, self.state or "", self.reason, self.last_time)


@dataclass(slots=True)
class SeenState:
    """A whole state."""

    agents: list[SeenAgent] = field(default_factory=list)
    frameworks: list[SeenFramework] = field(default_factory=list)
    tasks: list[SeenTask] = field(default_factory=list)
    """Those that have not ended, and executors."""
    ended: list[TaskChange] = field(default_factory=list)
    """The last change of those of the last time: completed and unreachable ones."""


class EventReader:
    """Reads events and lists; equal lists of resources become one object."""

    def __init__(self) -> None:
        self._lists = ResourceLists()
        self._elements = StateElements(self._lists)
        status: Any = decoded_members(mesos_message("mesos.v1.TaskStatus"), "reason", "timestamp")
        self._statuses = msgspec.json.Decoder(list[status]).decode

    def state(self, chunks: Iterable[bytes]) -> SeenState:
        """SUBSCRIBED, which has the GET_STATE of its moment."""
        state = SeenState()
        kind = self._read(
            chunks,
            {
                (*_STATE, "get_agents", "agents"): self._into(state.agents, self._agent),
                (*_STATE, "get_frameworks", "frameworks"): self._into(state.frameworks, self._framework),
                (*_STATE, "get_tasks", "tasks"): self._into(state.tasks, self._task),
                (*_STATE, "get_tasks", "completed_tasks"): self._into(state.ended, self._ended_task),
                (*_STATE, "get_tasks", "unreachable_tasks"): self._into(state.ended, self._ended_task),
                (*_STATE, "get_executors", "executors"): self._into(state.tasks, self._executor),
            },
        )
        if kind != "SUBSCRIBED":
            raise wrong(kind, "SUBSCRIBED", "type")
        return state

    def agents(self, chunks: Iterable[bytes]) -> list[SeenAgent]:
        """GET_AGENTS."""
        found: list[SeenAgent] = []
        self._read(chunks, {("get_agents", "agents"): self._into(found, self._agent)})
        return found

    def executors(self, chunks: Iterable[bytes]) -> list[SeenTask]:
        """GET_EXECUTORS."""
        found: list[SeenTask] = []
        self._read(chunks, {("get_executors", "executors"): self._into(found, self._executor)})
        return found

    def _read(self, chunks: Iterable[bytes], lists: Mapping[tuple[str, ...], Callable[[Any], None]]) -> str:
        """Hand the elements of lists to their readers, in one JSON value that comes in chunks; returns its type."""
        depth = max(map(len, lists))
        objects = {path[:length] for path in lists for length in range(1, len(path))}
        kind = ""
        for part in parts(chunks, depth, shortcuts=self._shortcuts, opened={"frameworks": "offers"}):
            take = lists.get(part.path)
            try:
                if part.path == ("type",):
                    kind = text(part.value)
                elif take is not None and part.place is not None:
                    take(part.value)
                else:
                    _check_kind(part, {} if part.path in objects else [] if take is not None else part.value)
            except NATURAL as error:
                raise undocumented(error, part.where.removeprefix("subscribed.")) from None
        return kind

    def _into(self, found: list[Element], make: Callable[[Any], Element]) -> Callable[[Any], None]:
        """Takes an element, or several that a shortcut has read."""
        return lambda value: found.extend(value.values if isinstance(value, Run) else (make(value),))

    def _shortcuts(self) -> Mapping[str, Shortcut]:
        """Readers of many elements in text, by the name of their list."""
        task = mesos_message("mesos.v1.Task")
        of_ended = ("framework_id.value", "task_id.value", "state", "statuses")
        ended = TypedElements(decoded_members(task, *of_ended), self._ended_task).read
        agent = decoded_members(
            mesos_message("mesos.v1.master.Response.GetAgents.Agent"),
            *("agent_info.id.value", "agent_info.hostname", "agent_info.attributes", "total_resources"),
            *("registered_time.nanoseconds", "reregistered_time.nanoseconds"),
        )
        executor = decoded_members(
            mesos_message("mesos.v1.master.Response.GetExecutors.Executor"),
            *("agent_id.value", "executor_info.framework_id.value", "executor_info.executor_id.value"),
            "executor_info.resources",
        )
        return {
            "agents": TypedElements(agent, self._agent).read,
            "tasks": TypedElements(decoded_members(task, *of_ended, "agent_id.value", "resources"), self._task).read,
            "completed_tasks": ended,
            "unreachable_tasks": ended,
            "executors": TypedElements(executor, self._executor).read,
        }

    def agent(self, event: Mapping[str, Any]) -> SeenAgent:
        """AGENT_ADDED."""
        try:
            return self._agent(event["agent_added"]["agent"])
        except NATURAL as error:
            raise undocumented(error, "agent_added") from None

    def removed_agent(self, event: Mapping[str, Any]) -> str:
        """The id in AGENT_REMOVED."""
        try:
            return text(event["agent_removed"]["agent_id"]["value"])
        except NATURAL as error:
            raise undocumented(error, "agent_removed") from None

    def framework(self, event: Mapping[str, Any]) -> SeenFramework:
        """FRAMEWORK_ADDED or FRAMEWORK_UPDATED."""
        key = str(event["type"]).lower()
        try:
            return self._framework(event[key]["framework"])
        except NATURAL as error:
            raise undocumented(error, key) from None

    def removed_framework(self, event: Mapping[str, Any]) -> str:
        """The id in FRAMEWORK_REMOVED."""
        try:
            return text(event["framework_removed"]["framework_info"]["id"]["value"])
        except NATURAL as error:
            raise undocumented(error, "framework_removed") from None

    def task(self, event: Mapping[str, Any]) -> SeenTask:
        """TASK_ADDED."""
        try:
            return self._task(event["task_added"]["task"])
        except NATURAL as error:
            raise undocumented(error, "task_added") from None

    def change(self, event: Mapping[str, Any]) -> TaskChange:
        """TASK_UPDATED."""
        try:
            told = event["task_updated"]
            status = told["status"]
            return TaskChange(
                text(told["framework_id"]["value"]),
                text(status["task_id"]["value"]),
                text(told["state"]),
                status.get("reason"),
                _number(status.get("timestamp")),
            )
        except NATURAL as error:
            raise undocumented(error, "task_updated") from None

    def _agent(self, entry: Any) -> SeenAgent:
        info = entry["agent_info"]
        registered = [_time(entry, key) for key in ("registered_time", "reregistered_time")]
        return SeenAgent(
            intern(text(info["id"]["value"])),
            text(info["hostname"]),
            self._lists.all_in(entry.get("total_resources", []), "agent.total_resources"),
            self._elements.attributes(info),
            max((one for one in registered if one is not None), default=None),
        )

    def _framework(self, entry: Any) -> SeenFramework:
        info = entry["framework_info"]
        capabilities = capabilities_of(info.get("capabilities", ()))
        subscribed = info.get("roles", []) if "MULTI_ROLE" in capabilities else [info.get("role", DEFAULT_ROLE)]
        return SeenFramework(
            text(info["id"]["value"]),
            text(info["name"]),
            texts(subscribed),
            info.get("principal"),
            tuple(sorted(capabilities)),
            _time(entry, "registered_time"),
        )

    def _held(self, messages: Any, where: str) -> tuple[str, Resources]:
        """The role that holds resources, and the resources; a task has one role."""
        by_role = self._lists.by_role_in(messages, where)
        for role, resources in by_role.items():
            if len(by_role) == 1:
                return intern(role), resources
        role = next(iter(by_role), DEFAULT_ROLE)
        return intern(role), Resources(entry for part in by_role.values() for entry in part)

    def _task(self, entry: Any) -> SeenTask:
        role, resources = self._held(entry.get("resources", []), "task.resources")
        reason, first, last = self._told(entry)
        return SeenTask(
            intern(text(entry["framework_id"]["value"])),
            text(entry["task_id"]["value"]),
            intern(text(entry["agent_id"]["value"])),
            role,
            resources,
            intern(text(entry["state"])),
            reason,
            first,
            last,
        )

    def _ended_task(self, entry: Any) -> TaskChange:
        reason, _, last = self._told(entry)
        return TaskChange(
            intern(text(entry["framework_id"]["value"])),
            text(entry["task_id"]["value"]),
            intern(text(entry["state"])),
            reason,
            last,
        )

    def _told(self, task: Any) -> tuple[str | None, float | None, float | None]:
        """The reason of the last status of a task, and the times of its first and its last."""
        statuses = task.get("statuses", ())
        undecoded = text_if_undecoded(statuses)
        if undecoded is not None:
            statuses = self._statuses(undecoded)
        stamps = [stamp for one in statuses if (stamp := _number(one.get("timestamp"))) is not None]
        reason = statuses[-1].get("reason") if statuses else None
        return reason and intern(reason), min(stamps, default=None), max(stamps, default=None)

    def _executor(self, entry: Any) -> SeenTask:
        info = entry["executor_info"]
        role, resources = self._held(info.get("resources", []), "executor_info.resources")
        return SeenTask(
            intern(text(info["framework_id"]["value"])),
            text(info["executor_id"]["value"]),
            intern(text(entry["agent_id"]["value"])),
            role,
            resources,
            is_executor=True,
        )


def _check_kind(part: Part, expected: Any) -> None:
    """Raise UnexpectedAnswer for an object or a list that is another value."""
    if part.value != expected:
        raise wrong(part.value, "a list" if expected == [] else "an object", part.where)


def clock_of(get_master: Any, metrics: Any) -> float | None:
    """The master's time: when it started, and how long it has run; None if it does not say."""
    try:
        return float(get_master["get_master"]["start_time"]) + float(metrics["master/uptime_secs"])
    except (KeyError, TypeError, ValueError):
        return None


def removal_counters(metrics: Any) -> dict[str, float]:
    """The number of agents that were removed, by the cause as a recording names it."""
    counters = {
        "unreachable": "master/slave_unreachable_completed",
        "removed": "master/slave_removals/reason_unregistered",
    }
    return {cause: float(metrics.get(name, 0.0)) for cause, name in counters.items() if isinstance(metrics, dict)}


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and value > 0 else None


def _time(entry: Mapping[str, Any], key: str) -> float | None:
    nanoseconds = entry.get(key, {}).get("nanoseconds")
    return None if not nanoseconds else float(nanoseconds) / _NANOSECONDS
