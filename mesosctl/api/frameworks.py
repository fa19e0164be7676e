"""`GET /frameworks`: the frameworks of a master (Mesos documentation, "HTTP Endpoints")."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mesosctl.api.responses import NATURAL, text, texts, undocumented, wrong
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
