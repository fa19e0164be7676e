"""Agents, tasks, executors and offers in the text of GET_STATE, of which only what a snapshot needs is decoded.

A large cluster has hundreds of thousands of them, and what they hold mostly repeats: what has been read once is found
again by its text.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from sys import intern
from typing import Any, NamedTuple

import msgspec

from mesosctl.api.protobuf_json.buffered_text import Shortcut
from mesosctl.api.protobuf_json.decoding import DECODER
from mesosctl.api.protobuf_json.resource_lists import MOST_KNOWN, ResourceLists
from mesosctl.api.protobuf_json.typed_elements import EMPTY_LIST, EMPTY_OBJECT, TypedElements, text_of
from mesosctl.api.responses import text
from mesosctl.api.snapshots.framework_offers import ReadOffer
from mesosctl.model.resources import Resources
from mesosctl.model.version_profile import TERMINAL_STATES
from mesosctl.planning.snapshot import SnapshotAgent


class _Id(msgspec.Struct, gc=False):
    value: str


class _AgentInfo(msgspec.Struct, gc=False):
    id: _Id
    hostname: str
    attributes: msgspec.Raw = EMPTY_LIST
    domain: msgspec.Raw = EMPTY_OBJECT


class _Agent(msgspec.Struct, gc=False):
    agent_info: _AgentInfo
    pid: str = ""
    active: bool = True
    deactivated: bool = False
    total_resources: msgspec.Raw = EMPTY_LIST
    allocated_resources: msgspec.Raw = EMPTY_LIST
    capabilities: msgspec.Raw = EMPTY_LIST
    lending: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class _Task(msgspec.Struct, gc=False):
    state: str
    framework_id: _Id
    agent_id: _Id
    resources: msgspec.Raw = EMPTY_LIST


class _ExecutorInfo(msgspec.Struct, gc=False):
    framework_id: _Id
    resources: msgspec.Raw = EMPTY_LIST


class _Executor(msgspec.Struct, gc=False):
    agent_id: _Id
    executor_info: _ExecutorInfo


class _Role(msgspec.Struct, gc=False):
    role: str


class _Offer(msgspec.Struct, gc=False):
    id: _Id
    framework_id: _Id
    agent_id: _Id
    hostname: str
    allocation_info: _Role
    resources: msgspec.Raw


class ReadAgent(NamedTuple):
    """An agent, and the resources that it says are allocated, by role."""

    agent: SnapshotAgent
    allocated: Mapping[str, Resources]
    lends: bool


Held = tuple[str, str, Mapping[str, Resources], int]
"""The ids of a framework and an agent, the resources that a task or an executor holds, by role, and how many tasks."""


_NOTHING_HELD: Held = ("", "", {}, 0)


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


class StateTexts:
    """Reads texts; if in doubt, it reads nothing."""

    def __init__(self, lists: ResourceLists) -> None:
        self._lists = lists
        self._domain = lru_cache(MOST_KNOWN)(DECODER.decode)
        self._attributes = lru_cache(MOST_KNOWN)(lambda listed: attributes_of(DECODER.decode(listed)))
        self._capabilities = lru_cache(MOST_KNOWN)(lambda listed: capabilities_of(DECODER.decode(listed)))
        self.readers: Mapping[str, Shortcut] = {
            "agents": TypedElements(_Agent, self._agent).read,
            "tasks": TypedElements(_Task, self._task).read,
            "executors": TypedElements(_Executor, self._executor).read,
            "offers": TypedElements(_Offer, self._offer).read,
        }
        """By the name of the list."""

    # Each raises one of `NATURAL` for what needs a closer look.

    def _agent(self, entry: _Agent) -> ReadAgent:
        info = entry.agent_info
        fault_domain = self._domain(text_of(info.domain)).get("fault_domain", {})
        agent = SnapshotAgent(
            id=intern(info.id.value),
            hostname=info.hostname,
            pid=entry.pid,
            total=self._total(entry.total_resources),
            attributes=self._attributes(text_of(info.attributes)),
            capabilities=self._capabilities(text_of(entry.capabilities)),
            active=entry.active and not entry.deactivated,
            region=fault_domain.get("region", {}).get("name"),
            zone=fault_domain.get("zone", {}).get("name"),
        )
        return ReadAgent(agent, self._by_role(entry.allocated_resources), lends=entry.lending is not msgspec.UNSET)

    def _task(self, entry: _Task) -> Held:
        if entry.state in TERMINAL_STATES:
            return _NOTHING_HELD
        return entry.framework_id.value, entry.agent_id.value, self._by_role(entry.resources), 1

    def _executor(self, entry: _Executor) -> Held:
        info = entry.executor_info
        return info.framework_id.value, entry.agent_id.value, self._by_role(info.resources), 0

    def _offer(self, entry: _Offer) -> ReadOffer:
        # Of one role; in an older format the resources name it, which its reader knows.
        (resources,) = self._by_role(entry.resources).values()
        return ReadOffer(
            entry.id.value,
            intern(entry.allocation_info.role),
            intern(entry.framework_id.value),
            intern(entry.agent_id.value),
            entry.hostname,
            resources,
        )

    def _by_role(self, listed: msgspec.Raw) -> Mapping[str, Resources]:
        """Raises ValueError for what needs a closer look."""
        found = self._lists.by_role_of_text(text_of(listed))
        if found is None:
            raise ValueError(listed)
        return found

    def _total(self, listed: msgspec.Raw) -> Resources:
        by_role = self._by_role(listed)
        if len(by_role) == 1:  # allocated to none, as a master writes it
            return next(iter(by_role.values()))
        return Resources(entry for part in by_role.values() for entry in part)
