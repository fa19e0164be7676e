"""Elements of the operator API's events and lists (Mesos documentation, "Operator HTTP API"), for a recording.

`SUBSCRIBED` brings the whole state, and each later event what has changed. Every function raises UnexpectedAnswer for
something that is not as documented. Whole lists are read while their text arrives, as for a snapshot: a large cluster
has hundreds of thousands of tasks.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import msgspec

from mesosctl.mesos.errors import UnexpectedAnswer
from mesosctl.mesos.messages.elements import agents, tasks
from mesosctl.mesos.messages.elements.agents import AgentMessage, AgentReader
from mesosctl.mesos.messages.elements.frameworks import FrameworkMessage, FrameworkReader
from mesosctl.mesos.messages.elements.tasks import HeldResources, TaskChange, TaskReader, status_of
from mesosctl.mesos.messages.protobuf_json.buffered_text import Run, Shortcut
from mesosctl.mesos.messages.protobuf_json.json_parts import JsonPart, parts
from mesosctl.mesos.messages.protobuf_json.message_tables import mesos_message
from mesosctl.mesos.messages.protobuf_json.resource_lists import ResourceLists
from mesosctl.mesos.messages.protobuf_json.wanted_members import WantedMembers, decoded_members, may_differ
from mesosctl.mesos.messages.responses import NATURAL, text, undocumented, wrong

_STATE = ("subscribed", "get_state")
_MEMBERS_OF_CHANGES = (
    *(f"task_added.task.{member}" for member in tasks.TASK_MEMBERS),
    "task_updated.framework_id.value",
    "task_updated.state",
    *(f"task_updated.status.{member}" for member in ("task_id.value", "reason", "timestamp")),
)
Element = TypeVar("Element")


@dataclass(slots=True)
class SeenState:
    """A whole state."""

    agents: list[AgentMessage] = field(default_factory=list)
    frameworks: list[FrameworkMessage] = field(default_factory=list)
    tasks: list[HeldResources] = field(default_factory=list)
    """Those that have not ended, and executors."""
    ended: list[TaskChange] = field(default_factory=list)
    """The last change of those of the last time: completed and unreachable ones."""


class EventReader:
    """Reads events and lists; equal lists of resources become one object."""

    def __init__(self) -> None:
        lists = ResourceLists()
        self._agents, self._frameworks, self._tasks = AgentReader(lists), FrameworkReader(), TaskReader(lists)

    def state(self, chunks: Iterable[bytes]) -> SeenState:
        """SUBSCRIBED, which has the GET_STATE of its moment."""
        state = SeenState()
        kind = self._read(
            chunks,
            {
                (*_STATE, "get_agents", "agents"): self._into(state.agents, self._agents.of_message),
                (*_STATE, "get_frameworks", "frameworks"): self._into(state.frameworks, self._frameworks.of_message),
                (*_STATE, "get_tasks", "tasks"): self._into(state.tasks, self._tasks.with_last_change),
                (*_STATE, "get_tasks", "completed_tasks"): self._into(state.ended, self._tasks.ended_of_message),
                (*_STATE, "get_tasks", "unreachable_tasks"): self._into(state.ended, self._tasks.ended_of_message),
                (*_STATE, "get_executors", "executors"): self._into(state.tasks, self._tasks.executor_of_message),
            },
        )
        if kind != "SUBSCRIBED":
            raise wrong(kind, "SUBSCRIBED", "type")
        return state

    def agents(self, chunks: Iterable[bytes]) -> list[AgentMessage]:
        """GET_AGENTS."""
        found: list[AgentMessage] = []
        self._read(chunks, {("get_agents", "agents"): self._into(found, self._agents.of_message)})
        return found

    def executors(self, chunks: Iterable[bytes]) -> list[HeldResources]:
        """GET_EXECUTORS."""
        found: list[HeldResources] = []
        self._read(chunks, {("get_executors", "executors"): self._into(found, self._tasks.executor_of_message)})
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
        agent = decoded_members(mesos_message(agents.MESSAGE), *agents.RECORDED_MEMBERS)
        task = decoded_members(mesos_message(tasks.TASK), *tasks.TASK_MEMBERS)
        executor = decoded_members(mesos_message(tasks.EXECUTOR), *tasks.EXECUTOR_MEMBERS)
        ended = decoded_members(mesos_message(tasks.TASK), *tasks.ENDED_TASK_MEMBERS)
        read_ended = WantedMembers(ended, self._tasks.ended_of_message).read
        return {
            "agents": WantedMembers(agent, self._agents.of_message).read,
            "tasks": WantedMembers(task, self._tasks.with_last_change).read,
            "completed_tasks": read_ended,
            "unreachable_tasks": read_ended,
            "executors": WantedMembers(executor, self._tasks.executor_of_message).read,
        }

    def change_of(self, record: bytes) -> HeldResources | TaskChange | None:
        """The task in a record, or its change, read quickly; None for another event, or if it needs a closer look."""
        try:
            event = self._decode_change(record)
            kind = event.get("type")
            if kind not in ("TASK_ADDED", "TASK_UPDATED") or may_differ(record):
                return None
            return self.task(event) if kind == "TASK_ADDED" else self.change(event)
        except (*NATURAL, UnexpectedAnswer, msgspec.MsgspecError, RecursionError):
            return None

    @cached_property
    def _decode_change(self) -> Callable[[bytes], Any]:
        changes: Any = decoded_members(mesos_message("mesos.v1.master.Event"), "type", *_MEMBERS_OF_CHANGES)
        return msgspec.json.Decoder(changes).decode

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
            return self._tasks.with_last_change(event["task_added"]["task"])
        except NATURAL as error:
            raise undocumented(error, "task_added") from None

    def change(self, event: Mapping[str, Any]) -> TaskChange:
        """TASK_UPDATED."""
        try:
            told = event["task_updated"]
            reason, time = status_of(told["status"])
            task_id = text(told["status"]["task_id"]["value"])
            return TaskChange(text(told["framework_id"]["value"]), task_id, text(told["state"]), reason, time)
        except NATURAL as error:
            raise undocumented(error, "task_updated") from None


def _check_kind(part: JsonPart, expected: Any) -> None:
    """Raise UnexpectedAnswer for an object or a list that is another value."""
    if part.value != expected:
        raise wrong(part.value, "a list" if expected == [] else "an object", part.where)


def clock_of(get_master: Any, metrics: Any) -> float | None:
    """The master's time: when it started, and how long it has run; None if it does not say."""
    try:
        return float(get_master["get_master"]["start_time"]) + float(metrics["master/uptime_secs"])
    except (KeyError, TypeError, ValueError):
        return None


def agent_counts(metrics: Any) -> tuple[float, ...]:
    """The number of agents by their state; an agent that is drained, deactivated or marked gone changes one of them."""
    names = ("active", "inactive", "connected", "disconnected")
    return tuple(float(metrics.get(f"master/slaves_{name}", 0.0)) for name in names)


def removal_counters(metrics: Any) -> dict[str, float]:
    """The number of agents that were removed, by the cause as a recording names it; none is for those marked gone."""

    def counter(name: str) -> float:
        return float(metrics.get(f"master/{name}", 0.0))

    return {
        "unreachable": counter("slave_unreachable_completed"),
        "removed": counter("slave_removals") - counter("slave_removals/reason_unhealthy"),
    }
