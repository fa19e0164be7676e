"""`/quota` and the quota calls of the operator API (spec/quota.md §3, §4, §8)."""

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any

from fake_master.http.exchange import (
    Refusal,
    Request,
    Response,
    Written,
    accepted_silently,
    dumps,
    json_body,
    json_response,
    refusing,
)
from fake_master.http.quota_status import quota_status
from fake_master.http.response_cache import texts
from fake_master.master import Master
from fake_master.state import roles
from fake_master.state.quota import SentQuota
from mesosctl.api.protobuf.decoding import ConversionError
from mesosctl.api.protobuf.messages import Field, Message, read
from mesosctl.api.resources import RESOURCE, SCALAR, to_core
from mesosctl.model.errors import Conflict, RuleViolation

QUOTA_REQUEST = Message(
    "QuotaRequest",
    {"force": Field("bool"), "role": Field("string"), "guarantee": Field(RESOURCE, "repeated")},
)
QUOTA_CONFIG = Message(
    "QuotaConfig",
    {
        "role": Field("string", "required"),
        "guarantees": Field(SCALAR, entry=True),
        "limits": Field(SCALAR, entry=True),
    },
)
_MOST_PATH_TOKENS = 3


def get(master: Master, request: Request, principal: str | None) -> Response:
    """GET /quota."""
    kept = texts(master.state, f"quota that {principal!r} sees")
    written = kept.whole(
        lambda: chain.from_iterable(master.state.quotas.items()), lambda: Written([dumps(status(master, principal))])
    )
    return json_response(written, request)


def post(master: Master, request: Request, principal: str | None) -> Response:
    """POST /quota; the content type and what follows the path do not matter."""
    what = "set quota request JSON"
    body = json_body(request, dict, what)
    try:
        message = read(QUOTA_REQUEST, body)
    except ConversionError as error:
        raise Refusal(400, f"Failed to validate {what}: {error}") from error
    set_quota(master, message, principal)
    return accepted_silently()


def delete(master: Master, request: Request, principal: str | None) -> Response:
    """DELETE /quota/ROLE, the role taken from the path as it stands."""
    path = request.path
    tokens = _tokens(path if path.lstrip("/").startswith("master/") else "/master" + path)
    if len(tokens) < _MOST_PATH_TOKENS:
        raise Refusal(
            400,
            f"Failed to parse remove quota request for path '{path}': "
            f"expected {_MOST_PATH_TOKENS} tokens, found {len(tokens)} tokens",
        )
    role = tokens[2]
    if "/" in role.rstrip("/") and not master.state.profile.delete_path_may_contain_slash:
        raise Refusal(400, f"Failed to parse remove quota request for path '{path}': too many tokens")
    with refusing(f"Failed to remove quota for path '{path}': "):
        master.quotas.remove(principal, role)
    return accepted_silently()


def set_quota(master: Master, message: Mapping[str, Any], principal: str | None) -> None:
    """What POST /quota and SET_QUOTA share, from the checks of each resource on.  Raises Refusal."""
    with refusing(
        "Failed to validate set quota request: ",
        in_conflict="Heuristic capacity check for set quota request failed: ",
    ):
        entries = message.get("guarantee", ())
        guarantee = [to_core(entry, f"guarantee[{index}]") for index, entry in enumerate(entries)]
        sent = {entry["name"]: entry.get("scalar", {}).get("value", 0.0) for entry in entries}
        master.quotas.set(principal, message.get("role", ""), guarantee, sent, force=message.get("force", False))


def remove_quota(master: Master, message: Mapping[str, Any], principal: str | None) -> None:
    """REMOVE_QUOTA; a real master dies where the role has no quota, this one refuses."""
    with refusing("Failed to validate remove quota request: "):
        master.quotas.remove(principal, message["role"])


def update_quota(master: Master, message: Mapping[str, Any], principal: str | None) -> None:
    """UPDATE_QUOTA; here even a lack of capacity is a 400."""
    configs = [
        (
            config["role"],
            SentQuota(_amounts(config.get("guarantees", {})), _amounts(config.get("limits", {}))),
        )
        for config in message.get("quota_configs", ())
    ]
    try:
        master.quotas.update(principal, configs, force=message.get("force", False))
    except (RuleViolation, Conflict) as error:
        raise Refusal(400, f"Invalid QuotaConfig: {error.message}") from error


def status(master: Master, principal: str | None) -> dict[str, Any]:
    """The QuotaStatus message: what the principal may see, and nothing at all where nothing is set."""
    visible = {
        role: (stored.guarantees, stored.limits)
        for role, stored in master.state.quotas.items()
        if master.state.flags.authorizer.allows("get_quotas", principal, role)
    }
    return quota_status(visible, master.state.profile)


def _amounts(message: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    return {name: scalar["value"] for name, scalar in message.items()}


def _tokens(path: str) -> list[str]:
    """At most three tokens, empty ones skipped; the third is the rest as it stands."""
    tokens: list[str] = []
    rest = path
    while len(tokens) < _MOST_PATH_TOKENS - 1:
        rest = rest.lstrip("/")
        head, slash, rest = rest.partition("/")
        if head:
            tokens.append(head)
        if not slash:
            return tokens
    rest = rest.lstrip("/")
    return [*tokens, rest] if rest else tokens


WEIGHT_INFO = Message("WeightInfo", {"weight": Field("double", "required"), "role": Field("string")})


def get_weights(master: Master, request: Request, principal: str | None) -> Response:
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
    seen = roles.sees(master.state, principal)
    return [{"role": role, "weight": weight} for role, weight in master.state.weights.items() if seen(role)]
