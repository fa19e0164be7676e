"""`/weights` and the weight calls of the operator API (spec/endpoints.md §3)."""

from collections.abc import Iterable, Mapping
from typing import Any

from fake_master.http.exchange import Refusal, Request, Response, accepted_silently, json_body, json_response, refusing
from fake_master.master import role_view
from fake_master.master.master import Master
from mesosctl.wire.decoding import ConversionError
from mesosctl.wire.messages import Field, Message, read

WEIGHT_INFO = Message("WeightInfo", {"weight": Field("double", "required"), "role": Field("string")})


def get(master: Master, request: Request, principal: str | None) -> Response:
    """GET /weights: the configured ones that the principal may see."""
    return json_response(visible(master, principal), request)


def put(master: Master, request: Request, principal: str | None) -> Response:
    """PUT /weights."""
    body = json_body(request, list, "update weights request JSON")
    try:
        messages = [read(WEIGHT_INFO, entry, f"[{index}]") for index, entry in enumerate(body)]
    except ConversionError as error:
        raise Refusal(400, f"Failed to convert weights JSON array to protobuf: {error}") from error
    update(master, messages, principal)
    return accepted_silently()


def update(master: Master, messages: Iterable[Mapping[str, Any]], principal: str | None) -> None:
    """What PUT /weights and UPDATE_WEIGHTS share.  Raises Refusal."""
    with refusing("Failed to validate update weights request JSON: "):
        master.weights.update(principal, [(message.get("role", ""), message["weight"]) for message in messages])


def visible(master: Master, principal: str | None) -> list[dict[str, Any]]:
    """WeightInfo messages for the roles that the principal may see."""
    seen = role_view.sees(master, principal)
    return [{"role": role, "weight": weight} for role, weight in master.weights.configured.items() if seen(role)]
