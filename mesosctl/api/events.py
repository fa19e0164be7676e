"""Elements of the operator API's events and lists (Mesos documentation, "Operator HTTP API"), for a recording.

`SUBSCRIBED` brings the whole state, and each later event what has changed. Every function raises UnexpectedAnswer for
something that is not as documented.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mesosctl.api.elements.agents import AgentMessage, AgentReader
from mesosctl.api.elements.frameworks import FrameworkMessage, FrameworkReader
from mesosctl.api.elements.tasks import HeldResources, TaskReader, status_of, statuses_of
from mesosctl.api.protobuf_json.resource_lists import ResourceLists
from mesosctl.api.responses import NATURAL, text, undocumented


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

    agents: list[AgentMessage] = field(default_factory=list)
    frameworks: list[FrameworkMessage] = field(default_factory=list)
    tasks: list[HeldResources] = field(default_factory=list)
    """Those that have not ended, and executors."""
    ended: list[HeldResources] = field(default_factory=list)
    """Those of the last time: completed and unreachable ones."""


class EventReader:
    """Reads events; equal lists of resources become one object."""

    def __init__(self) -> None:
        lists = ResourceLists()
        self._agents, self._frameworks, self._tasks = AgentReader(lists), FrameworkReader(), TaskReader(lists)

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
            list(map(self._agents.of_message, whole.get("get_agents", {}).get("agents", ()))),
            list(map(self._frameworks.of_message, listed.get("frameworks", ()))),
            [*map(self._task, of_tasks.get("tasks", ())), *map(self._tasks.executor_of_message, executors)],
            [self._task(one) for key in ("completed_tasks", "unreachable_tasks") for one in of_tasks.get(key, ())],
        )

    def agents(self, answer: Any) -> list[AgentMessage]:
        """GET_AGENTS."""
        try:
            return list(map(self._agents.of_message, answer["get_agents"].get("agents", ())))
        except NATURAL as error:
            raise undocumented(error, "get_agents") from None

    def executors(self, answer: Any) -> list[HeldResources]:
        """GET_EXECUTORS."""
        try:
            return list(map(self._tasks.executor_of_message, answer["get_executors"].get("executors", ())))
        except NATURAL as error:
            raise undocumented(error, "get_executors") from None

    def agent(self, event: Mapping[str, Any]) -> AgentMessage:
        """AGENT_ADDED."""
        try:
            return self._agents.of_message(event["agent_added"]["agent"], "agent")
        except NATURAL as error:
            raise undocumented(error, "agent_added") from None

    def removed_agent(self, event: Mapping[str, Any]) -> str:
        """The id in AGENT_REMOVED."""
        try:
            return text(event["agent_removed"]["agent_id"]["value"])
        except NATURAL as error:
            raise undocumented(error, "agent_removed") from None

    def framework(self, event: Mapping[str, Any]) -> FrameworkMessage:
        """FRAMEWORK_ADDED or FRAMEWORK_UPDATED."""
        key = str(event["type"]).lower()
        try:
            return self._frameworks.of_message(event[key]["framework"])
        except NATURAL as error:
            raise undocumented(error, key) from None

    def removed_framework(self, event: Mapping[str, Any]) -> str:
        """The id in FRAMEWORK_REMOVED."""
        try:
            return text(event["framework_removed"]["framework_info"]["id"]["value"])
        except NATURAL as error:
            raise undocumented(error, "framework_removed") from None

    def task(self, event: Mapping[str, Any]) -> HeldResources:
        """TASK_ADDED."""
        try:
            return self._task(event["task_added"]["task"])
        except NATURAL as error:
            raise undocumented(error, "task_added") from None

    def change(self, event: Mapping[str, Any]) -> TaskChange:
        """TASK_UPDATED."""
        try:
            told = event["task_updated"]
            status = status_of(told["status"])
            return TaskChange(
                text(told["framework_id"]["value"]), status.task_id, text(told["state"]), status.reason, status.time
            )
        except NATURAL as error:
            raise undocumented(error, "task_updated") from None

    def _task(self, entry: Any) -> HeldResources:
        return self._tasks.of_message(entry, "task")._replace(statuses=statuses_of(entry))


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
