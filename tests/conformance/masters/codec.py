"""How calls and answers are written on the way to a master; tests have them as JSON whatever that is."""

import json
from collections.abc import Mapping
from typing import Any

import httpx

from fake_master.protobuf.conversion import parse, serialize
from mesosctl.mesos.messages.protobuf_json.defaults import WithUnknown
from mesosctl.mesos.messages.protobuf_json.message_tables import Enumeration, Field, Message, mesos_message
from tests.conformance.masters.comparing import as_json

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
        return json.loads(as_json(record.decode(errors="surrogateescape")))


class ProtobufCodec(Codec):
    """Protobuf, where there is any.

    A number in the place of an enumeration's name is a value that its sender knows, and this Mesos may not.
    """

    name = "protobuf"

    def request(self, path: str, content: Content, headers: Mapping[str, str]) -> tuple[Content, Mapping[str, str]]:
        if path not in _CALLS or headers.get("Content-Type") != "application/json" or content is None:
            return content, headers
        types = {"Content-Type": _TYPE} | ({"Accept": _TYPE} if "Accept" in headers else {})
        return in_protobuf(_CALLS[path][0], json.loads(content)), {**headers, **types}

    def answer(self, response: httpx.Response) -> bytes:
        if response.headers.get("Content-Type") != _TYPE:
            return response.content
        response.headers["Content-Type"] = "application/json"
        return json.dumps(parse(_CALLS[response.request.url.path][1], response.content)).encode()

    def event(self, path: str, record: bytes) -> Any:
        return parse(_CALLS[path][2], record)


class WholeProtobuf(ProtobufCodec):
    """Protobuf; of each message of an answer, `rest` is what no table knows, in hexadecimal digits."""

    def answer(self, response: httpx.Response) -> bytes:
        if response.headers.get("Content-Type") != _TYPE:
            return response.content
        response.headers["Content-Type"] = "application/json"
        return json.dumps(_with_rest(parse(_CALLS[response.request.url.path][1], response.content))).encode()


def _with_rest(part: Any) -> Any:
    if isinstance(part, dict):
        rest = {"rest": part.unknown.hex()} if isinstance(part, WithUnknown) else {}
        return {name: _with_rest(value) for name, value in part.items()} | rest
    return list(map(_with_rest, part)) if isinstance(part, list) else part


def in_protobuf(name: str, document: Any) -> bytes:
    """The bytes of a message by its full name, with values of enumerations by name or by number."""
    return serialize(name, _with_numbers(mesos_message(name), document))


def _with_numbers(message: Message, document: Any) -> Any:
    """The document with the bytes of the numbers that stand for values of enumerations."""
    if not isinstance(document, dict):
        return document
    found, numbers = dict[str, Any](), b""
    for name, value in document.items():
        field = message.fields.get(name, Field("any"))
        if isinstance(field.type, Message):
            found[name] = _parts(field, field.type, value)
            continue
        found[name] = value
        if isinstance(field.type, Enumeration):
            entries = value if isinstance(value, list) else [value]
            whole = [one for one in entries if isinstance(one, int) and not isinstance(one, bool) and 0 <= one < 2**64]
            numbers += b"".join(_varint(field.number << 3) + _varint(one) for one in whole)
    return WithUnknown(found, numbers) if numbers else found


def _parts(field: Field, kind: Message, value: Any) -> Any:
    if field.label == "map" and isinstance(value, dict):
        return {key: _with_numbers(kind, part) for key, part in value.items()}
    if isinstance(value, list):
        return [_with_numbers(kind, part) for part in value]
    return _with_numbers(kind, value)


def _varint(number: int) -> bytes:
    more = number >> 7
    return bytes([number & 0x7F | 0x80]) + _varint(more) if more else bytes([number])


JSON_ALONE = Codec()
PROTOBUF = ProtobufCodec()
WHOLE_PROTOBUF = WholeProtobuf()
