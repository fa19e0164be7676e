"""The frameworks of a master and the offers that they hold, as a master answers.

Source: Mesos documentation, "HTTP Endpoints" and "Scheduler HTTP API".
"""

from collections.abc import Mapping
from typing import Any

from mesosctl.mesos.amounts.holding import UsedAndOffered
from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.messages.elements.frameworks import FrameworkMessage, FrameworkReader
from mesosctl.mesos.messages.elements.offers import OfferReader
from mesosctl.mesos.messages.protobuf_json.messages import read
from mesosctl.mesos.messages.resources import RESOURCE, to_model
from mesosctl.mesos.messages.responses import NATURAL, text, undocumented, wrong
from mesosctl.mesos.roles import DEFAULT_ROLE
from mesosctl.mesos.rules.offers.frameworks import ListedFramework
from mesosctl.mesos.rules.offers.offers import OutstandingOffer


def listed_frameworks(answer: Any) -> list[ListedFramework]:
    """GET_FRAMEWORKS: every framework that is not gone, in the master's order.  Raises UnexpectedAnswer."""
    return _listed(answer, "frameworks")


def completed_frameworks(answer: Any) -> list[ListedFramework]:
    """GET_FRAMEWORKS: the frameworks that are gone, as far as the master remembers them.  Raises UnexpectedAnswer."""
    return _listed(answer, "completed_frameworks")


def _listed(answer: Any, key: str) -> list[ListedFramework]:
    told = answer.get("get_frameworks", {}) if isinstance(answer, dict) else None
    listed = told.get(key, []) if isinstance(told, dict) else None
    if not isinstance(listed, list):
        raise wrong(told, "a list of frameworks", "get_frameworks")
    found = []
    reader = FrameworkReader()
    for index, entry in enumerate(listed):
        try:
            is_completed = key == "completed_frameworks"
            found.append(_listed_framework(reader.of_message(entry), entry, is_completed=is_completed))
        except NATURAL as error:
            raise undocumented(error, f"get_frameworks.{key}[{index}]") from None
    return found


def _listed_framework(read: FrameworkMessage, entry: Mapping[str, Any], *, is_completed: bool) -> ListedFramework:
    framework = read.framework
    only = framework.roles[0] if len(framework.roles) == 1 else DEFAULT_ROLE
    used = _by_role(entry.get("allocated_resources", ()), only)
    offered = _by_role(entry.get("offered_resources", ()), only)
    return ListedFramework(
        id=framework.id,
        name=framework.name,
        roles=framework.roles,
        principal=framework.principal,
        status="completed" if is_completed else "recovered" if read.recovered else framework.status,
        failover_timeout=framework.failover_timeout,
        registered=read.registered,
        ended=framework.ended if is_completed else None,
        holdings={
            role: UsedAndOffered.of(used.get(role, ()), offered.get(role, ())) for role in sorted({*used, *offered})
        },
        offer_ids=tuple(text(offer["id"]["value"]) for offer in entry.get("offers", ())),
    )


def _by_role(messages: Any, default: str) -> dict[str, list[Resource]]:
    """Resources by the role that they are allocated to, which is `default` if they do not say."""
    found: dict[str, list[Resource]] = {}
    for part in messages:
        entry = to_model(read(RESOURCE, part))
        found.setdefault(entry.allocation_role or default, []).append(entry)
    return found


def subscribed_as(event: Mapping[str, Any]) -> str:
    """The framework id in a SUBSCRIBED event.  Raises UnexpectedAnswer."""
    try:
        return text(event["subscribed"]["framework_id"]["value"])
    except NATURAL as error:
        raise undocumented(error, "subscribed") from None


def offered(event: Mapping[str, Any]) -> list[OutstandingOffer]:
    """The offers of an OFFERS event.  Raises UnexpectedAnswer."""
    try:
        return list(map(OfferReader().of_message, event["offers"]["offers"]))
    except NATURAL as error:
        raise undocumented(error, "offers") from None
