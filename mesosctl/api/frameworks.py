"""GET_FRAMEWORKS: the frameworks of a master (Mesos documentation, "HTTP Endpoints")."""

from typing import Any

from mesosctl.api.protobuf.messages import read
from mesosctl.api.resources import RESOURCE, to_core
from mesosctl.api.responses import NATURAL, text, texts, undocumented, wrong
from mesosctl.model.offers.frameworks import ListedFramework
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
    offered = _resources(entry.get("offered_resources", ()))
    return ListedFramework(
        id=text(info["id"]["value"]),
        name=text(info["name"]),
        roles=roles,
        principal=text(info["principal"]) if "principal" in info else None,
        status="recovered" if recovered else "active" if active else "inactive" if connected else "disconnected",
        used=_resources(entry.get("allocated_resources", ())).scalar_quantities(),
        offered=offered.scalar_quantities(),
        offered_reserved=offered.reserved().scalar_quantities(),
        offers=len(entry.get("offers", ())),
    )


def _resources(entries: Any) -> Resources:
    return Resources(to_core(read(RESOURCE, part)) for part in entries).allocated_to(None)
