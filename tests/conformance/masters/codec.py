"""How calls and answers are written on the way to a master; tests have them as JSON whatever that is."""

import json
from collections.abc import Mapping
from typing import Any

import httpx

from fake_master.protobuf.conversion import parse, serialize

_TYPE = "application/x-protobuf"
_CALLS = {
    "/api/v1": ("mesos.v1.master.Call", "mesos.v1.master.Response", "mesos.v1.master.Event"),
    "/api/v1/scheduler": ("mesos.v1.scheduler.Call", "mesos.v1.scheduler.Response", "mesos.v1.scheduler.Event"),
}
Content = str | bytes | None


class Codec:
    """JSON as it is."""

    name = "json"

    def request(self, path: str, content: Content, headers: Mapping[str, str]) -> tuple[Content, Mapping[str, str]]:
        """What is sent for a body in JSON."""
        return content, headers

    def answer(self, response: httpx.Response) -> bytes:
        """The body of an answer, in JSON."""
        return response.content

    def event(self, path: str, record: bytes) -> Any:
        """The event that a record of a stream holds."""
        return json.loads(record)


class ProtobufCodec(Codec):
    """Protobuf, where there is any."""

    name = "protobuf"

    def request(self, path: str, content: Content, headers: Mapping[str, str]) -> tuple[Content, Mapping[str, str]]:
        if path not in _CALLS or headers.get("Content-Type") != "application/json" or content is None:
            return content, headers
        types = {"Content-Type": _TYPE} | ({"Accept": _TYPE} if "Accept" in headers else {})
        return serialize(_CALLS[path][0], json.loads(content)), {**headers, **types}

    def answer(self, response: httpx.Response) -> bytes:
        if response.headers.get("Content-Type") != _TYPE:
            return response.content
        response.headers["Content-Type"] = "application/json"
        return json.dumps(parse(_CALLS[response.request.url.path][1], response.content)).encode()

    def event(self, path: str, record: bytes) -> Any:
        return parse(_CALLS[path][2], record)


JSON_ALONE = Codec()
PROTOBUF = ProtobufCodec()
