"""Agents, tasks, executors and offers in the text of GET_STATE, read without taking each of them apart.

A large cluster has hundreds of thousands of them, in few forms, and what they hold mostly repeats: what has been read
once is found again by its text.  Anything in another form, or wrong, is left to the reader of JSON: it takes every
spelling, and tells mistakes.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from sys import intern
from typing import Any, NamedTuple

from mesosctl.api.protobuf_json.buffered_text import Shortcut
from mesosctl.api.protobuf_json.decoding import DECODER
from mesosctl.api.protobuf_json.interning import Known, ResourceLists
from mesosctl.api.protobuf_json.uniform_objects import Forms
from mesosctl.api.responses import NATURAL, text
from mesosctl.model.offers.offers import Offer
from mesosctl.model.resources import Resources
from mesosctl.model.version_profile import TERMINAL_STATES
from mesosctl.planning.snapshot import SnapshotAgent

Members = tuple[str | None, ...]

_AGENT = {
    "agent_info.id.value": str,
    "agent_info.hostname": str,
    "pid": str,
    "active": bool,
    "deactivated": bool,
    "total_resources": list,
    "allocated_resources": list,
    "agent_info.attributes": list,
    "capabilities": list,
    "agent_info.domain": dict,
    "lending": str,  # which it never is: an agent that lends has no form
    "agent_info.resources": list,
    "offered_resources": list,
}
_TASK = {"state": str, "framework_id.value": str, "agent_id.value": str, "resources": list}
_EXECUTOR = {"executor_info.framework_id.value": str, "agent_id.value": str, "executor_info.resources": list}
_OFFER = {
    "id.value": str,
    "framework_id.value": str,
    "agent_id.value": str,
    "hostname": str,
    "allocation_info.role": str,
    "resources": list,
    "attributes": list,
}


class ReadAgent(NamedTuple):
    """An agent, and the resources that it says are allocated, by role."""

    agent: SnapshotAgent
    allocated: Mapping[str, Resources]
    lends: bool


class Held(NamedTuple):
    """The resources that a task or an executor holds, by role."""

    framework_id: str
    agent_id: str
    by_role: Mapping[str, Resources]
    tasks: int


_NOTHING_HELD = Held("", "", {}, 0)


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
        self._values: Known[str, Any] = Known()
        self._totals: Known[str, Resources] = Known()
        self._attributes: Known[str, Mapping[str, str | float]] = Known()
        self._capabilities: Known[str, frozenset[str]] = Known()
        self.readers: Mapping[str, Shortcut] = {
            "agents": partial(_read, Forms(_AGENT), self._agent),
            "tasks": partial(_read, Forms(_TASK), self._task),
            "executors": partial(_read, Forms(_EXECUTOR), self._executor),
            "offers": partial(_read, Forms(_OFFER), self._offer),
        }
        """By the name of the list."""

    def _agent(self, members: Members) -> ReadAgent:
        name, hostname, pid, active, deactivated, total, allocated, attributes, listed, domain, lends, *unread = members
        fault_domain = self._value(domain or "{}").get("fault_domain", {})
        agent = SnapshotAgent(
            id=intern(text(name)),
            hostname=text(hostname),
            pid=pid or "",
            total=self._totals.get(total or "[]", lambda: self._total(total or "[]")),
            attributes=self._attributes.get(attributes or "[]", lambda: attributes_of(self._value(attributes or "[]"))),
            capabilities=self._capabilities.get(listed or "[]", lambda: capabilities_of(self._value(listed or "[]"))),
            active=active != "false" and deactivated != "true",
            region=fault_domain.get("region", {}).get("name"),
            zone=fault_domain.get("zone", {}).get("name"),
        )
        self._check(*unread)
        return ReadAgent(agent, self._by_role(allocated), lends=lends is not None)

    def _task(self, members: Members) -> Held:
        state, framework_id, agent_id, listed = members
        if text(state) in TERMINAL_STATES:
            self._check(listed)
            return _NOTHING_HELD
        return Held(intern(text(framework_id)), intern(text(agent_id)), self._by_role(listed), tasks=1)

    def _executor(self, members: Members) -> Held:
        framework_id, agent_id, listed = members
        return Held(intern(text(framework_id)), intern(text(agent_id)), self._by_role(listed), tasks=0)

    def _offer(self, members: Members) -> Offer:
        name, framework_id, agent_id, hostname, role, listed, attributes = members
        self._check(attributes)
        # Of one role; in an older format the resources name it, which its reader knows.
        (resources,) = self._by_role(text(listed)).values()
        return Offer(
            id=text(name),
            role=intern(text(role)),
            framework_id=intern(text(framework_id)),
            framework="",
            agent_id=intern(text(agent_id)),
            hostname=hostname or "",
            resources=resources,
        )

    def _by_role(self, listed: str | None) -> Mapping[str, Resources]:
        """Raises ValueError for what needs a closer look."""
        found = self._lists.by_role_of_text(listed or "[]")
        if found is None:
            raise ValueError(listed)
        return found

    def _total(self, listed: str) -> Resources:
        return Resources(entry for part in self._by_role(listed).values() for entry in part)

    def _value(self, listed: str) -> Any:
        return self._values.get(listed, lambda: DECODER.decode(listed))

    def _check(self, *listed: str | None) -> None:
        """Raises ValueError if the ignored part is not JSON."""
        for one in listed:
            if one is not None:
                self._value(one)


def _read(forms: Forms, make: Callable[[Members], Any], whole: str, at: int) -> tuple[Any, int] | None:
    found = forms.match(whole, at)
    if found is None:
        return None
    members, end = found
    try:
        return make(members), end
    except (*NATURAL, RecursionError):
        return None
