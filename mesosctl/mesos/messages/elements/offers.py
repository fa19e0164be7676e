"""Offers, as messages of both APIs and the entries of a snapshot describe them."""

from collections.abc import Iterable, Mapping
from sys import intern
from typing import Any

from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.messages.elements.snapshot_mistakes import CheckedRoles
from mesosctl.mesos.messages.protobuf_json.decoding import text_if_undecoded
from mesosctl.mesos.messages.protobuf_json.messages import read
from mesosctl.mesos.messages.protobuf_json.resource_lists import Known, ResourceLists
from mesosctl.mesos.messages.resources import RESOURCE, to_model
from mesosctl.mesos.messages.responses import text
from mesosctl.mesos.roles import DEFAULT_ROLE
from mesosctl.mesos.rules.offers.offers import OutstandingOffer

MESSAGE = "mesos.v1.Offer"
MEMBERS = ("id.value", "framework_id.value", "agent_id.value", "hostname", "allocation_info.role", "resources")
"""The members of a message that are read."""
_Offered = tuple[str, Resources, bool]
"""The role of offered resources if the offer has none, the resources, and whether they have stacks."""


class OfferReader:
    """Reads offers; equal resources become one value."""

    def __init__(self, lists: ResourceLists | None = None) -> None:
        self._lists = lists or ResourceLists()
        self._known: Known[str, _Offered] = Known()
        self._roles = CheckedRoles()

    def of_message(self, message: Mapping[str, Any]) -> OutstandingOffer:
        """An Offer message, of either format, without the name of its framework.

        Raises KeyError, TypeError or ValueError where it is none, or where text needs a closer look.
        """
        owner, resources, stacked_format = self._offered(message)
        role = message.get("allocation_info", {}).get("role")
        return OutstandingOffer(
            id=text(message["id"]["value"]),
            # The role is left out for a framework without MULTI_ROLE; reserved entries name it.
            role=intern(text(owner if role is None else role)),
            framework_id=intern(text(message["framework_id"]["value"])),
            framework="",
            agent_id=intern(text(message["agent_id"]["value"])),
            hostname=text(message.get("hostname", "")),
            resources=resources,
            stacked_format=stacked_format,
        )

    def of_snapshot(self, entry: Mapping[str, Any], where: str) -> OutstandingOffer:
        """An offer of a snapshot, at a place.

        Raises RuleViolation for what is wrong in it, and ValueError for text that needs a closer look.
        """
        return OutstandingOffer(
            id=entry["id"],
            role=self._roles.of(entry, where),
            framework_id=intern(entry["framework_id"]),
            framework=intern(entry.get("framework", "")),
            agent_id=intern(entry["agent_id"]),
            hostname=intern(entry.get("hostname", "")),
            resources=self._lists.plain_in(entry.get("resources", ()), f"{where}.resources"),
            stacked_format=entry.get("refined", True),
        )

    def _offered(self, message: Mapping[str, Any]) -> _Offered:
        messages = message["resources"]
        if text_if_undecoded(messages) is None:
            return self._known.get(repr(messages), lambda: _offered_of(messages))
        if "role" not in message.get("allocation_info", {}):
            raise ValueError("its resources name the role")
        (resources,) = self._lists.by_role_in(messages, "resources").values()
        return DEFAULT_ROLE, resources, True


def _offered_of(messages: Iterable[Any]) -> _Offered:
    entries = [read(RESOURCE, entry) for entry in messages]
    owner = next((entry["role"] for entry in entries if entry.get("role", DEFAULT_ROLE) != DEFAULT_ROLE), DEFAULT_ROLE)
    made = (to_model(entry, f"resources[{index}]") for index, entry in enumerate(entries))
    resources = Resources(made).allocated_to(None)
    return owner, resources, not any("role" in entry for entry in entries)
