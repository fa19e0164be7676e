"""`GET /frameworks`: the frameworks of a master (Mesos documentation, "HTTP Endpoints")."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mesosctl.api.protobuf.messages import read
from mesosctl.api.resources import RESOURCE, to_core
from mesosctl.api.responses import NATURAL, text, texts, undocumented, wrong
from mesosctl.model.offers.frameworks import ListedFramework
from mesosctl.model.resources import Resources
from mesosctl.model.roles import DEFAULT_ROLE


@dataclass(frozen=True, slots=True)
class FrameworkStatus:
    """One framework that is not gone."""

    id: str
    name: str
    roles: tuple[str, ...]
    active: bool
    connected: bool
    capabilities: frozenset[str]
    offer_constraints: Mapping[str, Any]
    """The message; empty where it has none."""
    offers: dict[str, int]
    """How many it holds, by role."""


def frameworks(answer: Any) -> list[FrameworkStatus]:
    """Every framework that this principal may see.  Raises UnexpectedAnswer."""
    listed = answer.get("frameworks") if isinstance(answer, dict) else None
    if not isinstance(listed, list):
        raise wrong(listed, "a list", "frameworks")
    return [_framework(entry, f"frameworks[{index}]") for index, entry in enumerate(listed)]


def _framework(entry: Any, where: str) -> FrameworkStatus:
    try:
        roles = texts(entry["roles"]) if "roles" in entry else (text(entry["role"]),)
        held: dict[str, int] = {}
        for offer in entry.get("offers", ()):
            role = offer.get("allocation_info", {}).get("role", roles[0] if roles else DEFAULT_ROLE)
            held[role] = held.get(role, 0) + 1
        return FrameworkStatus(
            id=text(entry["id"]),
            name=text(entry["name"]),
            roles=roles,
            active=entry["active"] is True,
            connected=entry.get("connected", entry["active"]) is True,
            capabilities=frozenset(texts(entry.get("capabilities", []))),
            offer_constraints=dict(entry.get("offer_constraints", {})),
            offers=held,
        )
    except NATURAL as error:
        raise undocumented(error, where) from None


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
    return ListedFramework(
        id=text(info["id"]["value"]),
        name=text(info["name"]),
        roles=roles,
        principal=text(info["principal"]) if "principal" in info else None,
        status="recovered" if recovered else "active" if active else "inactive" if connected else "disconnected",
        used=_resources(entry.get("allocated_resources", ())).quantities(),
        offered=_resources(entry.get("offered_resources", ())).quantities(),
        offers=len(entry.get("offers", ())),
    )


def _resources(entries: Any) -> Resources:
    return Resources(to_core(read(RESOURCE, part)) for part in entries).allocated_to(None)
