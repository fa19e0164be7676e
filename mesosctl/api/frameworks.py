"""The frameworks of a master and the offers that they hold, as a master answers.

Source: Mesos documentation, "HTTP Endpoints" and "Scheduler HTTP API".
"""

from collections.abc import Callable, Iterable, Mapping
from sys import intern
from typing import Any

from mesosctl.api.protobuf_json.messages import read
from mesosctl.api.resources import RESOURCE, to_core
from mesosctl.api.responses import NATURAL, text, texts, undocumented, wrong
from mesosctl.model.holding import Holding
from mesosctl.model.offers.frameworks import ListedFramework
from mesosctl.model.offers.offers import Offer
from mesosctl.model.resource import Resource
from mesosctl.model.resources import Resources
from mesosctl.model.roles import DEFAULT_ROLE


def listed_frameworks(answer: Any) -> list[ListedFramework]:
    """GET_FRAMEWORKS: every framework that is not gone, in the master's order.  Raises UnexpectedAnswer."""
    told = answer.get("get_frameworks", {}) if isinstance(answer, dict) else None
    listed = told.get("frameworks", []) if isinstance(told, dict) else None
    if not isinstance(listed, list):
        raise wrong(told, "a list of frameworks", "get_frameworks")
    found = []
    for index, entry in enumerate(listed):
        try:
            found.append(_listed_framework(entry))
        except NATURAL as error:
            raise undocumented(error, f"get_frameworks.frameworks[{index}]") from None
    return found


def _listed_framework(entry: Any) -> ListedFramework:
    info = entry["framework_info"]
    roles = texts(info["roles"]) if "roles" in info else (text(info.get("role", DEFAULT_ROLE)),)
    connected, active = entry.get("connected") is True, entry.get("active") is True
    recovered = entry.get("recovered") is True
    only = roles[0] if len(roles) == 1 else DEFAULT_ROLE
    used = _by_role(entry.get("allocated_resources", ()), only)
    offered = _by_role(entry.get("offered_resources", ()), only)
    return ListedFramework(
        id=text(info["id"]["value"]),
        name=text(info["name"]),
        roles=roles,
        principal=text(info["principal"]) if "principal" in info else None,
        status="recovered" if recovered else "active" if active else "inactive" if connected else "disconnected",
        holdings={role: Holding.of(used.get(role, ()), offered.get(role, ())) for role in sorted({*used, *offered})},
        offers=len(entry.get("offers", ())),
    )


def _by_role(messages: Any, default: str) -> dict[str, list[Resource]]:
    """Resources by the role that they are allocated to, which is `default` if they do not say."""
    found: dict[str, list[Resource]] = {}
    for part in messages:
        entry = to_core(read(RESOURCE, part))
        found.setdefault(entry.allocation_role or default, []).append(entry)
    return found


def outstanding_ids(answer: Any) -> list[tuple[str, str]]:
    """GET_FRAMEWORKS: the ids of every outstanding offer and its framework.  Raises UnexpectedAnswer."""
    try:
        listed = answer.get("get_frameworks", {}).get("frameworks", ())
        return [
            (text(one["id"]["value"]), text(one["framework_id"]["value"]))
            for entry in listed
            for one in entry.get("offers", ())
        ]
    except NATURAL as error:
        raise undocumented(error, "get_frameworks.frameworks") from None


def subscribed_as(event: Mapping[str, Any]) -> str:
    """The framework id in a SUBSCRIBED event.  Raises UnexpectedAnswer."""
    try:
        return text(event["subscribed"]["framework_id"]["value"])
    except NATURAL as error:
        raise undocumented(error, "subscribed") from None


def offered(event: Mapping[str, Any]) -> list[Offer]:
    """The offers of an OFFERS event.  Raises UnexpectedAnswer."""
    try:
        return [offer(message) for message in event["offers"]["offers"]]
    except NATURAL as error:
        raise undocumented(error, "offers") from None


Offered = tuple[str, Resources, bool]
"""The role of offered resources if the offer has none, the resources, and whether they have stacks."""


def offered_of(messages: Iterable[Any]) -> Offered:
    """Return the resources in a list of Resource messages.  Raises TypeError or ValueError where it is none."""
    entries = [read(RESOURCE, entry) for entry in messages]
    owner = next((entry["role"] for entry in entries if entry.get("role", DEFAULT_ROLE) != DEFAULT_ROLE), DEFAULT_ROLE)
    made = (to_core(entry, f"resources[{index}]") for index, entry in enumerate(entries))
    resources = Resources(made).allocated_to(None)
    return owner, resources, not any("role" in entry for entry in entries)


def offer(message: Mapping[str, Any], framework: str = "", known: Callable[[Any], Offered] = offered_of) -> Offer:
    """One Offer message, of either format; `known` reads its resources.

    Raises KeyError, TypeError or ValueError where it is none.
    """
    owner, resources, stacked_format = known(message["resources"])
    role = message.get("allocation_info", {}).get("role")
    return Offer(
        id=text(message["id"]["value"]),
        # The role is left out for a framework without MULTI_ROLE; reserved entries name it.
        role=intern(text(owner if role is None else role)),
        framework_id=intern(text(message["framework_id"]["value"])),
        framework=framework,
        agent_id=intern(text(message["agent_id"]["value"])),
        hostname=text(message.get("hostname", "")),
        resources=resources,
        stacked_format=stacked_format,
    )
