"""`GET /slaves`, read into which agents are out of service, and how many are awaited after a failover."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from mesosctl.api.agents.capacity import is_in_service
from mesosctl.api.protobuf_json.buffered_text import Run
from mesosctl.api.protobuf_json.streaming import parts
from mesosctl.api.protobuf_json.typed_elements import TypedElements
from mesosctl.api.responses import NATURAL, text, undocumented, wrong


@dataclass(slots=True)
class AgentsInService:
    """How many agents are registered and awaited, and why some are out of service."""

    registered: int = 0
    awaited: int = 0
    """Those that a former leader knew and that are not back."""
    out_of_service: dict[str, str] = field(default_factory=dict)
    """By id: "draining", "deactivated" or "disconnected"."""


class _Agent(msgspec.Struct, gc=False):
    """An element of `slaves` as most are."""

    id: str
    active: bool = True
    deactivated: bool = False
    drain_info: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


_Found = tuple[str, str | None]
"""The id of an agent, and why it is out of service; None if it is not."""


def agents_in_service(chunks: Iterable[bytes]) -> AgentsInService:
    """Read from an answer while its chunks arrive.  Raises UnexpectedAnswer; ConversionError if it is not JSON."""
    found = AgentsInService()
    listed: dict[str, Any] = {"slaves": None, "recovered_slaves": []}
    for part in parts(chunks, shortcuts={"slaves": TypedElements(_Agent, _of_text).read}):
        name = part.path[0] if len(part.path) == 1 else ""
        if name not in listed:
            continue
        if part.place is None:
            listed[name] = part.value
        elif name == "recovered_slaves":
            found.awaited += 1
        else:
            for agent_id, cause in (
                part.value.values if isinstance(part.value, Run) else [_agent(part.value, part.where)]
            ):
                found.registered += 1
                if cause is not None:
                    found.out_of_service[agent_id] = cause
    for name, value in listed.items():
        if value != []:
            raise wrong(value, "a list", name)
    return found


def _of_text(entry: _Agent) -> _Found:
    if entry.active and not entry.deactivated:
        return entry.id, None
    return entry.id, _cause(is_draining=entry.drain_info is not msgspec.UNSET, is_deactivated=entry.deactivated)


def _agent(entry: Any, where: str) -> _Found:
    if not isinstance(entry, dict):
        raise wrong(entry, "an object", where)
    try:
        agent_id = text(entry.get("id", ""))
    except NATURAL as error:
        raise undocumented(error, where) from None
    if is_in_service(entry):
        return agent_id, None
    return agent_id, _cause(is_draining="drain_info" in entry, is_deactivated=entry.get("deactivated") is True)


def _cause(*, is_draining: bool, is_deactivated: bool) -> str:
    if is_draining:
        return "draining"
    return "deactivated" if is_deactivated else "disconnected"
