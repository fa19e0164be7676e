"""`/quota`, `/weights`, and their calls of the operator API.  `mesos.messages.http_statuses` has their statuses.

Source: Mesos documentation, "Quota", "Operator HTTP Endpoint"; "Weights", "Operator HTTP Endpoint".
"""

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any

from fake_master.http.json_text import JsonPieces, dumps
from fake_master.http.operator_api import Body, Change, Reading
from fake_master.http.request_response import (
    Refusal,
    Request,
    Response,
    accepted_silently,
    json_message,
    json_messages,
    json_response,
    refusing,
)
from fake_master.http.views.response_cache import texts_seen
from fake_master.services.quota import Quotas, Weights
from fake_master.state import roles
from fake_master.state.master_state import MasterState
from fake_master.state.quota import SentQuota
from mesosctl.mesos.messages.http_statuses import SET_QUOTA_OVER_CAPACITY, UPDATE_QUOTA_OVER_CAPACITY
from mesosctl.mesos.messages.protobuf_json.ending_numbers import ending_number
from mesosctl.mesos.messages.resources import to_model
from mesosctl.mesos.messages.responses import quota_status
from mesosctl.mesos.roles import DEFAULT_ROLE

_QUOTA_REQUEST = "mesos.v1.quota.QuotaRequest"
_WEIGHT_INFO = "mesos.v1.WeightInfo"
_MOST_PATH_TOKENS = 3


class QuotaEndpoints:
    """Sets, removes and shows quota."""

    def __init__(self, state: MasterState, quotas: Quotas) -> None:
        self._state = state
        self._quotas = quotas

    def get(self, request: Request, principal: str | None) -> Response:
        """GET /quota."""
        kept = texts_seen(self._state, "quota", principal, "get_quotas")
        quotas = kept.whole(
            lambda: chain.from_iterable(self._state.quotas.items()),
            lambda: JsonPieces([dumps(self._status(principal))]),
        )
        return json_response(quotas, request)

    def post(self, request: Request, principal: str | None) -> Response:
        """POST /quota; the content type and the rest of the path do not matter."""
        what = "set quota request JSON"
        form = self._state.message(_QUOTA_REQUEST)
        self._set(json_message(request, form, what, f"Failed to validate {what}"), principal)
        return accepted_silently()

    def delete(self, request: Request, principal: str | None) -> Response:
        """DELETE /quota/ROLE, with the role literally from the path."""
        path = request.path
        tokens = _tokens(path if path.lstrip("/").startswith("master/") else "/master" + path)
        if len(tokens) < _MOST_PATH_TOKENS:
            raise Refusal(
                400,
                f"Failed to parse remove quota request for path '{path}': "
                f"expected {_MOST_PATH_TOKENS} tokens, found {len(tokens)} tokens",
            )
        role = tokens[2]
        if "/" in role.rstrip("/") and not self._state.profile.delete_path_may_contain_slash:
            raise Refusal(400, f"Failed to parse remove quota request for path '{path}': too many tokens")
        with refusing(f"Failed to remove quota for path '{path}': "):
            self._quotas.remove(principal, role)
        return accepted_silently()

    def calls(self) -> tuple[Reading | Change, ...]:
        """Return the calls of the operator API about quota."""
        calls = (
            Reading("GET_QUOTA", lambda _body, principal: {"status": self._status(principal)}),
            Change("SET_QUOTA", lambda body, principal: self._set(body["quota_request"], principal)),
            Change("REMOVE_QUOTA", self._remove),
        )
        profile = self._state.profile
        # The documents' master serves what it does not need, and a release may name a call before it serves it.
        serves_update = profile.knows_update_quota or profile.is_documents
        return (*calls, Change("UPDATE_QUOTA", self._update)) if serves_update else calls

    def _set(self, message: Mapping[str, Any], principal: str | None) -> None:
        """POST /quota and SET_QUOTA, from the checks of each resource on.  Raises Refusal."""
        with refusing(
            "Failed to validate set quota request: ",
            in_conflict="Heuristic capacity check for set quota request failed: ",
            conflict_status=SET_QUOTA_OVER_CAPACITY,
        ):
            entries = message.get("guarantee", ())
            guarantee = [to_model(entry, f"guarantee[{index}]") for index, entry in enumerate(entries)]
            sent: dict[str, float] = {}
            for entry in entries:
                sent[entry["name"]] = sent.get(entry["name"], 0.0) + entry.get("scalar", {}).get("value", 0.0)
            kept = tuple(map(_unreserved, entries)) if self._state.profile.guarantee_is_kept_as_sent else None
            force = message.get("force", False)
            self._quotas.set(principal, message.get("role", ""), guarantee, sent, kept, force=force)

    def _remove(self, message: Mapping[str, Any], principal: str | None) -> None:
        """REMOVE_QUOTA; a real master dies if the role has no quota, this one refuses."""
        with refusing("Failed to validate remove quota request: "):
            self._quotas.remove(principal, message["role"])

    def _update(self, message: Mapping[str, Any], principal: str | None) -> None:
        """UPDATE_QUOTA.  Raises Refusal."""
        configs = [
            (
                config["role"],
                SentQuota(_amounts(config.get("guarantees", {})), _amounts(config.get("limits", {}))),
            )
            for config in message.get("quota_configs", ())
        ]
        with refusing(
            "Invalid QuotaConfig: ", in_conflict="Invalid QuotaConfig: ", conflict_status=UPDATE_QUOTA_OVER_CAPACITY
        ):
            self._quotas.update(principal, configs, force=message.get("force", False))

    def _status(self, principal: str | None) -> dict[str, Any]:
        """The QuotaStatus message: what the principal may see, and empty if nothing is set."""
        visible = {
            role: stored.to_record()
            for role, stored in self._state.quotas.items()
            if self._state.flags.authorizer.allows("get_quotas", principal, role)
        }
        return quota_status(visible, self._state.profile)


class WeightEndpoints:
    """Sets and shows weights."""

    def __init__(self, state: MasterState, weights: Weights) -> None:
        self._state = state
        self._weights = weights

    def get(self, request: Request, principal: str | None) -> Response:
        """GET /weights: the configured ones that the principal may see."""
        return json_response(self._visible(principal), request)

    def put(self, request: Request, principal: str | None) -> Response:
        """PUT /weights."""
        form, failure = self._state.message(_WEIGHT_INFO), "Failed to convert weights JSON array to protobuf"
        self._change(json_messages(request, form, "update weights request JSON", failure), principal)
        return accepted_silently()

    def calls(self) -> tuple[Reading | Change, ...]:
        """Return the calls of the operator API about weights."""
        return (
            Reading("GET_WEIGHTS", self._get),
            Change("UPDATE_WEIGHTS", self._update),
        )

    def _get(self, _body: Body, principal: str | None) -> dict[str, Any] | None:
        infos = self._visible(principal)
        return {"weight_infos": infos} if infos else None

    def _update(self, body: Body, principal: str | None) -> None:
        self._change(body.get("weight_infos", ()), principal)

    def _change(self, messages: Iterable[Mapping[str, Any]], principal: str | None) -> None:
        """PUT /weights and UPDATE_WEIGHTS.  Raises Refusal."""
        messages = list(messages)
        shown = self._state.message("mesos.v1.WeightInfo")
        if any(ending_number(shown, message) for message in messages):
            raise Refusal(400, f"'weight' is not finite: it would end a real master of {shown.release}, which shows it")
        with refusing("Failed to validate update weights request JSON: "):
            self._weights.update(principal, [(message.get("role", ""), message["weight"]) for message in messages])

    def _visible(self, principal: str | None) -> list[dict[str, Any]]:
        """WeightInfo messages for the roles that the principal may see."""
        seen = roles.sees(self._state, principal)
        return [{"role": role, "weight": weight} for role, weight in self._state.weights.items() if seen(role)]


def _unreserved(entry: Mapping[str, Any]) -> dict[str, Any]:
    """An entry of a guarantee as a master keeps it: the role "*" says nothing."""
    return {key: value for key, value in entry.items() if (key, value) != ("role", DEFAULT_ROLE)}


def _amounts(message: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    return {name: scalar["value"] for name, scalar in message.items()}


def _tokens(path: str) -> list[str]:
    """At most three tokens, without empty ones; the third is the unchanged rest."""
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
