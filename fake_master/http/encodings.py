"""The encodings of calls and their answers: JSON, and protobuf if the `protobuf` package is installed."""

from collections.abc import Mapping
from functools import cache, partial
from importlib.util import find_spec
from typing import Any

from fake_master.http.accepting import accepts_media
from fake_master.http.json_text import AnswerPart, JsonPieces, values_of, with_short_numbers
from fake_master.http.request_response import (
    JSON,
    MOST_VALUES,
    PROTOBUF,
    Refusal,
    Request,
    Response,
    json_body,
    json_response,
)
from fake_master.state.streams import Encoder, encoded, event_text
from mesosctl.mesos.errors import extra
from mesosctl.mesos.messages.protobuf_json import recordio
from mesosctl.mesos.messages.protobuf_json.decoding import ConversionError
from mesosctl.mesos.messages.protobuf_json.defaults import WRITTEN_AS_THEY_ARE, as_shown
from mesosctl.mesos.messages.protobuf_json.message_tables import Message
from mesosctl.mesos.messages.protobuf_json.messages import read
from mesosctl.mesos.messages.protobuf_json.releases import has

_INSTALL = f"install protobuf, {extra('protobuf')}"


def read_call(request: Request, form: Message) -> dict[str, Any]:
    """The call in a request, as far as its message describes it.

    Raises Refusal (400, 415).
    """
    if _content_type(request) == PROTOBUF:
        body = _from_protobuf(request, form)
    else:
        body = json_body(request, dict, "body into JSON")
    try:
        return read(form, body)
    except ConversionError as error:
        raise Refusal(400, f"Failed to convert JSON into Call protobuf: {error}") from error


def _content_type(request: Request) -> str:
    """Exactly one of the two, without parameters."""
    given = request.headers.get("content-type")
    if given is None:
        raise Refusal(400, "Expecting 'Content-Type' to be present")
    if given not in (JSON, PROTOBUF):
        raise Refusal(415, f"Expecting 'Content-Type' of {JSON} or {PROTOBUF}")
    return given


def _from_protobuf(request: Request, form: Message) -> dict[str, Any]:
    if not has_protobuf():
        if request.body.startswith(b"{"):  # JSON is not a message
            raise Refusal(400, "Failed to parse body into Call protobuf")
        raise Refusal(415, f"This fake master does not read protobuf: send {JSON}, or {_INSTALL}")
    from fake_master.protobuf.conversion import NotAMessage, parse
    from fake_master.protobuf.limits import MessageTooLarge

    try:
        return parse(form.name, request.body, most_values=MOST_VALUES, release=form.release)
    except (NotAMessage, MessageTooLarge) as error:
        raise Refusal(400, f"Failed to parse body into Call protobuf: {error}") from error


def accepted_type(request: Request) -> str:
    """Return the media type of the answer: JSON if the client takes both.  Raises Refusal (406)."""
    accept = request.headers.get("accept")
    for media in (JSON, PROTOBUF):
        if accepts_media(accept, media):
            if media == JSON or has_protobuf():
                return media
            raise Refusal(406, f"This fake master does not write protobuf: accept '{JSON}', or {_INSTALL}")
    raise Refusal(406, f"Expecting 'Accept' to allow '{PROTOBUF}' or '{JSON}'")


def answer(value: Mapping[str, Any], request: Request, media: str, form: Message) -> Response:
    """A message with these fields, each of which may be `AnswerPart`."""
    if media == JSON:
        return json_response(parts_as_shown(form, value), request)
    from fake_master.protobuf.conversion import serialize

    return Response(200, serialize(form.name, values_of(value), form.release), {"Content-Type": PROTOBUF})


def parts_as_shown(form: Message, value: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a message as JSON shows them; each may be `AnswerPart`."""
    shown: dict[str, Any] = as_shown(form, value)
    return shown if has(form.release, WRITTEN_AS_THEY_ARE) else _without_empty_arrays(shown)


def _without_empty_arrays(value: Mapping[str, Any]) -> dict[str, Any]:
    shown = {}
    for name, part in value.items():
        written = part.json() if isinstance(part, AnswerPart) else part
        if not isinstance(written, JsonPieces) or bytes(written[0]) != b"[" or len(written) > len("[]"):
            shown[name] = _without_empty_arrays(written) if isinstance(written, dict) else written
    return shown


@cache
def event_encoder(media: str, form: Message, *, short_numbers: bool = False) -> Encoder:
    """Return the encoder of events of a message: always the same, so that an event to many streams is written once.

    `short_numbers`: as in the other JSON of the master, `Profile.json_numbers_are_short`.
    """
    if media != JSON:
        return partial(_protobuf_record, form)
    return partial(_short_json_record if short_numbers else _json_record, form)


def _json_record(form: Message, event: Mapping[str, Any]) -> bytes:
    return encoded(as_shown(form, event))


def _short_json_record(form: Message, event: Mapping[str, Any]) -> bytes:
    return recordio.encode(with_short_numbers(event_text(as_shown(form, event))))


def _protobuf_record(form: Message, event: Mapping[str, Any]) -> bytes:
    from fake_master.protobuf.conversion import serialize

    return recordio.encode(serialize(form.name, event, form.release))


@cache
def has_protobuf() -> bool:
    """Return whether the extra of that name is installed."""
    try:
        return find_spec("google.protobuf") is not None
    except ModuleNotFoundError:
        return False
