"""Elements of the operator API's events and lists (Mesos documentation, "Operator HTTP API"), for a recording.

`SUBSCRIBED` brings the whole state, and each later event what has changed. Every function raises UnexpectedAnswer for
something that is not as documented.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mesosctl.api.protobuf_json.resource_lists import ResourceLists
from mesosctl.api.responses import NATURAL, text, texts, undocumented
from mesosctl.api.snapshots.state_elements import attributes_of, capabilities_of
from mesosctl.model.resources import Resources
from mesosctl.model.roles import DEFAULT_ROLE

_NANOSECONDS = 1_000_000_000


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


@dataclass(frozen=True, slots=True)
class TaskChange:
    """Another state of a task."""

    framework_id: str
    id: str
    state: str
    reason: str | None
    time: float | None
    """The time at which it came into the state, by the clock of its agent, or of the master."""


@dataclass(slots=True)
class SeenState:
    """A whole state."""

    agents: list[SeenAgent] = field(default_factory=list)
    frameworks: list[SeenFramework] = field(default_factory=list)
    tasks: list[SeenTask] = field(default_factory=list)
    """Those that have not ended, and executors."""
    ended: list[SeenTask] = field(default_factory=list)
    """Those of the last time: completed and unreachable ones."""


class EventReader:
    """Reads events; equal lists of resources become one object."""

    def __init__(self) -> None:
        self._lists = ResourceLists()

    def state(self, get_state: Any) -> SeenState:
        """GET_STATE, as SUBSCRIBED has it."""
        try:
            return self._state(get_state)
        except NATURAL as error:
            raise undocumented(error, "get_state") from None

    def _state(self, whole: Any) -> SeenState:
        listed, of_tasks = whole.get("get_frameworks", {}), whole.get("get_tasks", {})
        executors = whole.get("get_executors", {}).get("executors", ())
        return SeenState(
            [self._agent(one) for one in whole.get("get_agents", {}).get("agents", ())],
            [self._framework(one) for one in listed.get("frameworks", ())],
            [*map(self._task, of_tasks.get("tasks", ())), *map(self._executor, executors)],
            [self._task(one) for key in ("completed_tasks", "unreachable_tasks") for one in of_tasks.get(key, ())],
        )

    def agents(self, answer: Any) -> list[SeenAgent]:
        """GET_AGENTS."""
        try:
            return [self._agent(one) for one in answer["get_agents"].get("agents", ())]
        except NATURAL as error:
            raise undocumented(error, "get_agents") from None

    def executors(self, answer: Any) -> list[SeenTask]:
        """GET_EXECUTORS."""
        try:
            return [self._executor(one) for one in answer["get_executors"].get("executors", ())]
        except NATURAL as error:
            raise undocumented(error, "get_executors") from None

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
            text(info["id"]["value"]),
            text(info["hostname"]),
            self._lists.plain(entry.get("total_resources", []), "agent.total_resources"),
            attributes_of(info.get("attributes", ())),
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
        by_role = self._lists.by_role(messages, where)
        for role, resources in by_role.items():
            if len(by_role) == 1:
                return role, resources
        role = next(iter(by_role), DEFAULT_ROLE)
        return role, Resources(entry for part in by_role.values() for entry in part)

    def _task(self, entry: Any) -> SeenTask:
        role, resources = self._held(entry.get("resources", []), "task.resources")
        statuses = entry.get("statuses", ())
        stamps = [stamp for one in statuses if (stamp := _number(one.get("timestamp"))) is not None]
        return SeenTask(
            text(entry["framework_id"]["value"]),
            text(entry["task_id"]["value"]),
            text(entry["agent_id"]["value"]),
            role,
            resources,
            text(entry["state"]),
            statuses[-1].get("reason") if statuses else None,
            min(stamps, default=None),
            max(stamps, default=None),
        )

    def _executor(self, entry: Any) -> SeenTask:
        info = entry["executor_info"]
        role, resources = self._held(info.get("resources", []), "executor_info.resources")
        return SeenTask(
            text(info["framework_id"]["value"]),
            text(info["executor_id"]["value"]),
            text(entry["agent_id"]["value"]),
            role,
            resources,
            is_executor=True,
        )


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
