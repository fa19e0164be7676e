"""A small scheduler by httpx alone, for whatever transport or URL."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

import httpx

INFO = {
    "user": "u",
    "name": "tried",
    "roles": ["web"],
    "failover_timeout": 1000.0,
    "capabilities": [{"type": "MULTI_ROLE"}, {"type": "RESERVATION_REFINEMENT"}, {"type": "PARTITION_AWARE"}],
}
PATH = "/api/v1/scheduler"


def subscription(framework_id: str = "", **info: Any) -> dict[str, Any]:
    known = {"framework_id": {"value": framework_id}} if framework_id else {}
    own = {"id": {"value": framework_id}} if framework_id else {}
    return {"type": "SUBSCRIBE", "subscribe": {"framework_info": INFO | own | info}} | known


def records(pieces: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """Events as they come, from a response that may be cut anywhere."""
    held = b""
    for piece in pieces:
        held += piece
        while b"\n" in held:
            length, _, rest = held.partition(b"\n")
            if len(rest) < int(length):
                break
            yield json.loads(rest[: int(length)])
            held = rest[int(length) :]


def launch(offer: dict[str, Any], name: str) -> list[dict[str, Any]]:
    task = {
        "name": name,
        "task_id": {"value": name},
        "agent_id": offer["agent_id"],
        "command": {"value": "true"},
        "resources": [{"name": "cpus", "type": "SCALAR", "scalar": {"value": 1.0}, "allocation_info": {"role": "web"}}],
    }
    return [{"type": "LAUNCH", "launch": {"task_infos": [task]}}]


class Calling:
    """The calls of a subscribed framework."""

    def __init__(self, client: httpx.Client, framework_id: str, stream_id: str) -> None:
        self._client = client
        self._framework_id = framework_id
        self._stream_id = stream_id

    def call(self, kind: str, **body: Any) -> int:
        content = {"type": kind, "framework_id": {"value": self._framework_id}, kind.lower(): body}
        return self._client.post(PATH, json=content, headers={"Mesos-Stream-Id": self._stream_id}).status_code

    def accept(self, offer: dict[str, Any], name: str) -> int:
        return self.call("ACCEPT", offer_ids=[offer["id"]], operations=launch(offer, name))
