"""Agents, tasks and executors of GET_STATE: one reader for each, whether it is given JSON or text.

A large cluster has hundreds of thousands of them, and what they hold mostly repeats.  In a long answer only the members
that are needed are decoded, and the rest of them stays text (`typed_elements`): what has been read once is found again
by its text.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from sys import intern
from typing import Any, NamedTuple

from mesosctl.api.protobuf_json.buffered_text import Shortcut
from mesosctl.api.protobuf_json.decoding import DECODER, text_if_undecoded
from mesosctl.api.protobuf_json.message_tables import mesos_message
from mesosctl.api.protobuf_json.resource_lists import MOST_KNOWN, Known, ResourceLists
from mesosctl.api.protobuf_json.typed_elements import TypedElements, decoded_members
from mesosctl.api.responses import text
from mesosctl.model.resources import Resources
from mesosctl.model.version_profile import TERMINAL_STATES
from mesosctl.planning.snapshot import SnapshotAgent


class ReadAgent(NamedTuple):
    """An agent, and the resources that it says are allocated, by role."""

    agent: SnapshotAgent
    allocated: Mapping[str, Resources]
    lends: bool


Held = tuple[str, str, Mapping[str, Resources], int]
"""The ids of a framework and an agent, the resources that a task or an executor holds, by role, and how many tasks."""
_NOTHING_HELD: Held = ("", "", {}, 0)


class StateElements:
    """Reads elements; `where` is the place of one for errors.

    Each method raises one of `NATURAL` for an element that is not as documented, or whose text needs a closer look.
    """

    def __init__(self, lists: ResourceLists) -> None:
        self._lists = lists
        self._sets: Known[frozenset[str], frozenset[str]] = Known()
        self._of_text = lru_cache(MOST_KNOWN)(lambda make, text: make(DECODER.decode(text)))

    def shortcuts(self) -> Mapping[str, Shortcut]:
        """Readers of many elements in text, by the name of their list."""
        agent = decoded_members(
            mesos_message("mesos.v1.master.Response.GetAgents.Agent"),
            *("agent_info.id.value", "agent_info.hostname", "agent_info.attributes", "agent_info.domain"),
            *("pid", "active", "deactivated", "capabilities", "total_resources", "allocated_resources", "lending"),
        )
        task = decoded_members(
            mesos_message("mesos.v1.Task"), "state", "framework_id.value", "agent_id.value", "resources"
        )
        executor = decoded_members(
            mesos_message("mesos.v1.master.Response.GetExecutors.Executor"),
            *("agent_id.value", "executor_info.framework_id.value", "executor_info.resources"),
        )
        return {
            "agents": TypedElements(agent, self.agent).read,
            "tasks": TypedElements(task, self.task).read,
            "executors": TypedElements(executor, self.executor).read,
        }

    def agent(self, entry: Mapping[str, Any], where: str = "") -> ReadAgent:
        """The agent, with what it says is allocated."""
        info = entry["agent_info"]
        domain = self._value(fault_domain, info.get("domain", {}))
        agent = SnapshotAgent(
            id=intern(text(info["id"]["value"])),
            hostname=text(info["hostname"]),
            pid=text(entry.get("pid", "")),
            total=self._lists.all_in(entry.get("total_resources", []), f"{where}.total_resources"),
            attributes=self.attributes(info),
            capabilities=self.capabilities(entry),
            active=entry.get("active") is not False and entry.get("deactivated") is not True,
            region=domain.get("region", {}).get("name"),
            zone=domain.get("zone", {}).get("name"),
        )
        allocated = self._lists.by_role_in(entry.get("allocated_resources", []), f"{where}.allocated_resources")
        return ReadAgent(agent, allocated, "lending" in entry)

    def capabilities(self, entry: Mapping[str, Any]) -> frozenset[str]:
        """The names of the capabilities of an agent or a framework."""
        found = self._value(capabilities_of, entry.get("capabilities", []))
        return self._sets.get(found, lambda: found)

    def attributes(self, info: Mapping[str, Any]) -> Mapping[str, str | float]:
        """The attributes in an AgentInfo; ranges and sets as Mesos writes them in text."""
        found: Mapping[str, str | float] = self._value(attributes_of, info.get("attributes", []))
        return found

    def task(self, entry: Mapping[str, Any], where: str = "") -> Held:
        """The resources that a task holds."""
        if entry["state"] in TERMINAL_STATES:
            return _NOTHING_HELD
        by_role = self._lists.by_role_in(entry.get("resources", []), f"{where}.resources")
        return text(entry["framework_id"]["value"]), text(entry["agent_id"]["value"]), by_role, 1

    def executor(self, entry: Mapping[str, Any], where: str = "") -> Held:
        """The resources that an executor holds beside its tasks."""
        info = entry["executor_info"]
        by_role = self._lists.by_role_in(info.get("resources", []), f"{where}.executor_info.resources")
        return text(info["framework_id"]["value"]), text(entry["agent_id"]["value"]), by_role, 0

    def _value(self, make: Callable[[Any], Any], part: Any) -> Any:
        undecoded = text_if_undecoded(part)
        return make(part) if undecoded is None else self._of_text(make, undecoded)


def fault_domain(message: Mapping[str, Any]) -> Any:
    """The fault domain in a DomainInfo message, empty if there is none."""
    return message.get("fault_domain", {})


def attributes_of(messages: Iterable[Mapping[str, Any]]) -> dict[str, str | float]:
    """Attributes by name; ranges and sets as Mesos writes them in text."""
    return dict(map(_attribute, messages))


def _attribute(message: Mapping[str, Any]) -> tuple[str, str | float]:
    name = text(message["name"])
    if "text" in message:
        return name, text(message["text"]["value"])
    if "scalar" in message:
        return name, float(message["scalar"]["value"])
    if "ranges" in message:
        spans = ", ".join(f"{span['begin']}-{span['end']}" for span in message["ranges"].get("range", ()))
        return name, f"[{spans}]"
    return name, "{" + ", ".join(message.get("set", {}).get("item", ())) + "}"


def capabilities_of(messages: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    """The names of capabilities."""
    return frozenset(text(one["type"]) for one in messages if "type" in one)
