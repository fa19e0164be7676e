"""What the two v1 APIs have in common: types of content, and the reading of a call (spec/endpoints.md §4).

Mesos takes and gives protobuf as well; here it is JSON alone, and whoever speaks protobuf is told so.
"""

from typing import Any

from fake_master.http.exchange import JSON, PROTOBUF, Refusal, Request, json_body
from mesosctl.wire.decoding import ConversionError
from mesosctl.wire.messages import Message, read


def read_call(request: Request, form: Message) -> dict[str, Any]:
    """The call in a request, as far as `form` knows it.  Raises Refusal (400, 415)."""
    _check_content_type(request)
    body = json_body(request, dict, "body into JSON")
    try:
        return read(form, body)
    except ConversionError as error:
        raise Refusal(400, f"Failed to convert JSON into Call protobuf: {error}") from error


def _check_content_type(request: Request) -> None:
    """Exactly the type, without parameters."""
    given = request.headers.get("content-type")
    if given is None:
        raise Refusal(400, "Expecting 'Content-Type' to be present")
    if given == PROTOBUF:
        if request.body.startswith(b"{"):  # JSON is no message
            raise Refusal(400, "Failed to parse body into Call protobuf")
        raise Refusal(415, f"The fake master does not read protobuf: expecting 'Content-Type' of {JSON}")
    if given != JSON:
        raise Refusal(415, f"Expecting 'Content-Type' of {JSON} or {PROTOBUF}")


def check_accept(request: Request) -> None:
    """Whether the client takes JSON.  Raises Refusal (406)."""
    given = request.headers.get("accept")
    if given is None:
        return
    wanted: dict[str, bool] = {}
    for choice in given.split(","):
        media, *parameters = (part.strip() for part in choice.split(";"))
        refused = any(parameter.replace(" ", "") in ("q=0", "q=0.0") for parameter in parameters)
        wanted.setdefault(media.lower(), not refused)
    # Whoever names JSON says it of JSON alone, whatever a wildcard allows.
    if not wanted.get(JSON, wanted.get("application/*", False) or wanted.get("*/*", False)):
        raise Refusal(406, f"Expecting 'Accept' to allow '{JSON}'")
