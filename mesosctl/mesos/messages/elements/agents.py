"""Agents, as messages of the v1 API and the entries of a snapshot and of `/slaves` describe them."""

from collections.abc import Mapping
from sys import intern
from typing import Any, NamedTuple

from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.cluster.agents import AGENT_CAPABILITIES, ClusterAgent
from mesosctl.mesos.messages.elements.members import (
    Members,
    attributes_of_messages,
    capabilities_of_messages,
    region_and_zone,
    seconds_since_1970,
)
from mesosctl.mesos.messages.elements.snapshot_mistakes import wrong
from mesosctl.mesos.messages.protobuf_json.decoding import STRICT
from mesosctl.mesos.messages.protobuf_json.resource_lists import ResourceLists
from mesosctl.mesos.messages.responses import text, texts

MESSAGE = "mesos.v1.master.Response.GetAgents.Agent"
_OVER_TIME = ("registered_time.nanoseconds", "reregistered_time.nanoseconds", "drain_info.state")
MEMBERS = (
    *("agent_info.id.value", "agent_info.hostname", "agent_info.attributes", "agent_info.domain"),
    *("pid", "active", "deactivated", "capabilities", "total_resources", "allocated_resources", "lending"),
    *_OVER_TIME,
)
"""The members of a message that a snapshot reads, so that what is wrong in one is told in any layout."""
RECORDED_MEMBERS = (
    *("agent_info.id.value", "agent_info.hostname", "agent_info.attributes", "total_resources"),
    *("active", "deactivated"),
    *_OVER_TIME,
)
"""Those that a recording needs."""


class AgentMessage(NamedTuple):
    """An agent, and what a message says about it beyond that."""

    agent: ClusterAgent
    allocated: Mapping[str, Resources]
    """The resources that it says are allocated, by role."""
    registered: float | None
    """The time of its last registration, in seconds since 1970; None if the master does not say."""
    lending: Any
    """Of a master that lends idle reservations, unread; None for every other."""
    drain_state: str | None = None
    """DRAINING or DRAINED; None of an agent that no operator drains."""


class AgentReader:
    """Reads agents; members may be undecoded text.  `where` is the place of an agent for errors."""

    def __init__(self, lists: ResourceLists) -> None:
        self._lists = lists
        self._members = Members()
        self._strict = Members(STRICT.decode)

    def of_message(self, entry: Mapping[str, Any], where: str = "") -> AgentMessage:
        """An agent of GET_AGENTS, GET_STATE or an event.

        Raises one of `NATURAL` for one that is not as documented, or whose text needs a closer look.
        """
        info = entry["agent_info"]
        region, zone = self._members.read(region_and_zone, info.get("domain", {}))
        agent = ClusterAgent(
            id=intern(text(info["id"]["value"])),
            hostname=text(info["hostname"]),
            pid=text(entry.get("pid", "")),
            total=self._lists.all_in(entry.get("total_resources", []), f"{where}.total_resources"),
            attributes=self._members.read(attributes_of_messages, info.get("attributes", [])),
            capabilities=self._members.names(capabilities_of_messages, entry.get("capabilities", [])),
            active=is_in_service(entry),
            region=region,
            zone=zone,
        )
        times = (seconds_since_1970(entry.get(key, {})) for key in ("registered_time", "reregistered_time"))
        return AgentMessage(
            agent,
            self._lists.by_role_in(entry.get("allocated_resources", []), f"{where}.allocated_resources"),
            max((time for time in times if time is not None), default=None),
            entry.get("lending"),
            text(entry["drain_info"]["state"]) if "drain_info" in entry else None,
        )

    def of_snapshot(self, entry: Mapping[str, Any], where: str) -> ClusterAgent:
        """An agent of a snapshot.

        Raises RuleViolation for what is wrong in it, and ValueError for text that needs a closer look.
        """
        capabilities = entry.get("capabilities")
        try:
            attributes = self._strict.read(_checked_attributes, entry.get("attributes", {}))
        except _WrongAttributeError as error:
            raise wrong(f"{where}.attributes.{error}", "an attribute must be a string or a number") from None
        return ClusterAgent(
            id=intern(entry["id"]),
            hostname=intern(entry["hostname"]),
            pid=entry.get("pid", ""),
            total=self._lists.plain_in(entry.get("resources", ()), f"{where}.resources"),
            attributes=attributes,
            capabilities=AGENT_CAPABILITIES if capabilities is None else self._strict.names(_names, capabilities),
            active=entry.get("active", True),
            region=entry.get("region"),
            zone=entry.get("zone"),
        )


def is_in_service(entry: Mapping[str, Any]) -> bool:
    """Whether an agent is connected and not deactivated; a master that does not say it means so."""
    return entry.get("active") is not False and entry.get("deactivated") is not True


class _WrongAttributeError(ValueError):
    """The name of an attribute whose value is neither a string nor a number."""


def _checked_attributes(member: Any) -> Mapping[str, str | float]:
    for name, value in member.items():
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise _WrongAttributeError(name)
    return {intern(name): intern(value) if isinstance(value, str) else float(value) for name, value in member.items()}


def _names(member: Any) -> frozenset[str]:
    return frozenset(texts(member))
