"""Frameworks, as messages of the v1 API and the entries of a snapshot describe them."""

import math
from collections.abc import Mapping
from sys import intern
from typing import Any, NamedTuple

from mesosctl.mesos import roles
from mesosctl.mesos.cluster.snapshot import SnapshotFramework
from mesosctl.mesos.messages.elements.members import Members, capabilities_of_messages, seconds_since_1970
from mesosctl.mesos.messages.elements.snapshot_mistakes import check_unique, wrong
from mesosctl.mesos.messages.responses import text, texts
from mesosctl.mesos.roles import DEFAULT_ROLE


class FrameworkMessage(NamedTuple):
    """A framework, and what a message says about it beyond that."""

    framework: SnapshotFramework
    recovered: bool
    """Whether the master knows it only from its agents, since its last failover."""
    registered: float | None
    """The time of its first registration, in seconds since 1970; None if the master does not say."""


class FrameworkReader:
    """Reads frameworks."""

    def __init__(self) -> None:
        self._members = Members()

    def of_message(self, entry: Mapping[str, Any]) -> FrameworkMessage:
        """A framework of GET_FRAMEWORKS, GET_STATE or an event.

        Raises one of `NATURAL` for one that is not as documented.
        """
        info = entry["framework_info"]
        capabilities = self._members.names(capabilities_of_messages, info.get("capabilities", []))
        framework = SnapshotFramework(
            id=intern(text(info["id"]["value"])),
            name=text(info["name"]),
            roles=_subscribed_roles(info, capabilities),
            principal=text(info["principal"]) if "principal" in info else None,
            capabilities=capabilities,
            active=entry.get("active") is True,
            connected=entry.get("connected") is True,
            offer_constraints=dict(entry.get("offer_constraints", {})),
            offer_filters=dict(_filters(info.get("offer_filters", {}))),
            failover_timeout=_failover_timeout(info),
            ended=seconds_since_1970(entry.get("unregistered_time", {})),
        )
        return FrameworkMessage(
            framework, entry.get("recovered") is True, seconds_since_1970(entry.get("registered_time", {}))
        )

    def of_snapshot(self, entry: Mapping[str, Any], where: str) -> SnapshotFramework:
        """A framework of a snapshot, at a place.  Raises RuleViolation for what is wrong in it."""
        subscribed = tuple(entry.get("roles", ()))
        suppressed = frozenset(entry["suppressed"]) if "suppressed" in entry else None
        for index, role in enumerate(subscribed):
            roles.check_role(role, f"{where}.roles[{index}]")
        check_unique(subscribed, f"{where}.roles")
        if suppressed is not None and not suppressed <= set(subscribed):
            raise wrong(f"{where}.suppressed", "the framework suppresses a role that it is not subscribed to")
        return SnapshotFramework(
            id=intern(entry["id"]),
            name=intern(entry["name"]),
            roles=subscribed,
            principal=entry.get("principal"),
            capabilities=self._members.names(frozenset, entry.get("capabilities", ())),
            active=entry.get("active", True),
            connected=entry.get("connected", True),
            suppressed=suppressed,
            offer_constraints=entry.get("offer_constraints", {}),
            offer_filters=entry.get("offer_filters", {}),
            failover_timeout=entry.get("failover_timeout", 0.0),
            ended=entry.get("ended"),
        )


def _failover_timeout(info: Mapping[str, Any]) -> float:
    """The failover timeout of a FrameworkInfo message in seconds; 0 for one that is no number, which a master takes."""
    seconds = float(info.get("failover_timeout", 0.0))
    return seconds if math.isfinite(seconds) else 0.0


def _filters(written: Any) -> Mapping[str, object]:
    """The filters by role; a master before 1.9 writes a list of entries."""
    if not isinstance(written, list):
        filters: Mapping[str, object] = written
        return filters
    from mesosctl.mesos.messages.protobuf_json.defaults import maps_as_objects  # late: few masters are so old
    from mesosctl.mesos.messages.protobuf_json.message_tables import mesos_message

    known: Mapping[str, Mapping[str, object]] = maps_as_objects(
        mesos_message("mesos.v1.FrameworkInfo"), {"offer_filters": written}
    )
    return known["offer_filters"]


def _subscribed_roles(info: Mapping[str, Any], capabilities: frozenset[str]) -> tuple[str, ...]:
    """The roles of a FrameworkInfo message; one without MULTI_ROLE has one role, in a field of its own."""
    if "MULTI_ROLE" in capabilities:
        return texts(info.get("roles", []))
    return (text(info.get("role", DEFAULT_ROLE)),)
