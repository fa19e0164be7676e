"""`GET /slaves`, read into which agents are out of service, and how many are awaited after a failover."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from mesosctl.api.agents.entry import is_in_service, why_out_of_service
from mesosctl.api.protobuf_json.buffered_text import Run, Shortcut
from mesosctl.api.protobuf_json.json_parts import parts
from mesosctl.api.responses import NATURAL, Once, text, undocumented, wrong


@dataclass(slots=True)
class AgentsInService:
    """How many agents are registered and awaited, and why some are out of service."""

    registered: int = 0
    awaited: int = 0
    """Those that a former leader knew and that are not back."""
    out_of_service: dict[str, str] = field(default_factory=dict)
    """By id: "draining", "deactivated" or "disconnected"."""


_Found = tuple[str, str | None]
"""The id of an agent, and why it is out of service; None if it is not."""


def agents_in_service(chunks: Iterable[bytes]) -> AgentsInService:
    """Read from an answer while its chunks arrive.  Raises UnexpectedAnswer; ConversionError if it is not JSON."""
    found, ids = AgentsInService(), Once()
    listed: dict[str, Any] = {"slaves": None, "recovered_slaves": []}
    for part in parts(chunks, shortcuts=_shortcuts):
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
                ids.take(agent_id, f"slaves[{found.registered}].id")
                found.registered += 1
                if cause is not None:
                    found.out_of_service[agent_id] = cause
    for name, value in listed.items():
        if value != []:
            raise wrong(value, "a list", name)
    return found


def _shortcuts() -> Mapping[str, Shortcut]:
    from mesosctl.api.agents import texts  # imported late: it loads msgspec

    return texts.agents_in_service(_agent)


def _agent(entry: Any, where: str) -> _Found:
    if not isinstance(entry, dict):
        raise wrong(entry, "an object", where)
    try:
        agent_id = text(entry.get("id", ""))
    except NATURAL as error:
        raise undocumented(error, where) from None
    if is_in_service(entry):
        return agent_id, None
    return agent_id, why_out_of_service(draining="drain_info" in entry, deactivated=entry.get("deactivated") is True)
