"""`/api/v1`: the operator calls (spec/endpoints.md §4)."""

from collections.abc import Callable, Mapping
from typing import Any

from fake_master.http import information, quota, views, weights
from fake_master.http.exchange import (
    JSON,
    PROTOBUF,
    Refusal,
    Request,
    Response,
    accepted_silently,
    json_body,
    json_response,
    standard_refusal,
)
from fake_master.master import metrics
from fake_master.master.state import Master
from mesosctl.core.errors import Forbidden
from mesosctl.wire.messages import ConversionError, Field, Message, one_of, read

_DURATION = Message("DurationInfo", {"nanoseconds": Field("int64", "required")})
_BODIES = {
    "GET_METRICS": Message("Call.GetMetrics", {"timeout": Field(_DURATION)}),
    "SET_QUOTA": Message("Call.SetQuota", {"quota_request": Field(quota.QUOTA_REQUEST, "required")}),
    "REMOVE_QUOTA": Message("Call.RemoveQuota", {"role": Field("string", "required")}),
    "UPDATE_QUOTA": Message(
        "Call.UpdateQuota", {"force": Field("bool"), "quota_configs": Field(quota.QUOTA_CONFIG, "repeated")}
    ),
    "UPDATE_WEIGHTS": Message("Call.UpdateWeights", {"weight_infos": Field(weights.WEIGHT_INFO, "repeated")}),
}

Body = Mapping[str, Any]
Reader = Callable[[Master, Body, str | None], dict[str, Any] | None]
Writer = Callable[[Master, Body, str | None], None]


def _get_health(_master: Master, _body: Body, _principal: str | None) -> dict[str, Any]:
    return {"healthy": True}


def _get_version(master: Master, _body: Body, _principal: str | None) -> dict[str, Any]:
    return {"version_info": information.version_info(master)}


def _get_flags(master: Master, _body: Body, principal: str | None) -> dict[str, Any]:
    if not master.flags.authorizer.allows("view_flags", principal, None):
        raise standard_refusal(403)
    return {"flags": [{"name": name, "value": value} for name, value in sorted(master.flags.shown.items())]}


def _get_metrics(master: Master, _body: Body, _principal: str | None) -> dict[str, Any]:
    return {"metrics": [{"name": name, "value": value} for name, value in metrics.snapshot(master).items()]}


def _get_master(master: Master, _body: Body, _principal: str | None) -> dict[str, Any]:
    return {
        "master_info": {
            "id": master.id,
            "ip": int.from_bytes(bytes(map(int, master.hostname.split("."))), "little") if _is_ip(master) else 0,
            "port": master.port,
            "pid": master.pid,
            "hostname": master.hostname,
            "version": master.profile.version,
            "address": {"hostname": master.hostname, "ip": master.hostname, "port": master.port},
            # A capability newer than the message's own list is written as an empty object.
            "capabilities": [
                {} if name == "QUOTA_V2" else {"type": name} for name in master.profile.master_capabilities
            ],
        },
        "start_time": master.start_time,
        "elected_time": master.start_time,
    }


def _is_ip(master: Master) -> bool:
    return master.hostname.replace(".", "").isdigit()


def _get_agents(master: Master, _body: Body, _principal: str | None) -> dict[str, Any]:
    return {"agents": [views.agent_message(agent) for agent in master.agents.values()], "recovered_agents": []}


def _get_state(master: Master, body: Body, principal: str | None) -> dict[str, Any]:
    return {
        "get_tasks": {"tasks": [], "unreachable_tasks": [], "completed_tasks": []},
        "get_executors": {"executors": []},
        "get_frameworks": {"frameworks": [], "completed_frameworks": []},
        "get_agents": _get_agents(master, body, principal),
    }


def _get_roles(master: Master, _body: Body, principal: str | None) -> dict[str, Any]:
    roles = [{"name": role.name, "weight": role.weight} for role in views.visible_roles(master, principal)]
    return {"roles": roles} if roles else {}


def _get_weights(master: Master, _body: Body, principal: str | None) -> dict[str, Any] | None:
    infos = weights.visible(master, principal)
    return {"weight_infos": infos} if infos else None


def _get_quota(master: Master, _body: Body, principal: str | None) -> dict[str, Any]:
    return {"status": quota.status(master, principal)}


def _set_quota(master: Master, body: Body, principal: str | None) -> None:
    quota.set_quota(master, body["quota_request"], principal)


def _update_weights(master: Master, body: Body, principal: str | None) -> None:
    weights.update(master, body.get("weight_infos", ()), principal)


READERS: dict[str, Reader] = {
    "GET_HEALTH": _get_health,
    "GET_VERSION": _get_version,
    "GET_FLAGS": _get_flags,
    "GET_METRICS": _get_metrics,
    "GET_MASTER": _get_master,
    "GET_AGENTS": _get_agents,
    "GET_STATE": _get_state,
    "GET_ROLES": _get_roles,
    "GET_WEIGHTS": _get_weights,
    "GET_QUOTA": _get_quota,
}
WRITERS: dict[str, Writer] = {
    "SET_QUOTA": _set_quota,
    "REMOVE_QUOTA": quota.remove_quota,
    "UPDATE_QUOTA": quota.update_quota,
    "UPDATE_WEIGHTS": _update_weights,
}
# Calls that the real API has and this master does not serve yet, so that they are told from typing errors.
_NOT_SERVED = (
    "LIST_FILES",
    "READ_FILE",
    "GET_LOGGING_LEVEL",
    "SET_LOGGING_LEVEL",
    "GET_FRAMEWORKS",
    "GET_EXECUTORS",
    "GET_TASKS",
    "GET_OPERATIONS",
    "SUBSCRIBE",
    "RESERVE_RESOURCES",
    "UNRESERVE_RESOURCES",
    "CREATE_VOLUMES",
    "DESTROY_VOLUMES",
    "GROW_VOLUME",
    "SHRINK_VOLUME",
    "GET_MAINTENANCE_STATUS",
    "GET_MAINTENANCE_SCHEDULE",
    "UPDATE_MAINTENANCE_SCHEDULE",
    "START_MAINTENANCE",
    "STOP_MAINTENANCE",
    "TEARDOWN",
    "MARK_AGENT_GONE",
    "DRAIN_AGENT",
    "DEACTIVATE_AGENT",
    "REACTIVATE_AGENT",
)
_CALL = Message(
    "Call",
    {
        "type": Field(one_of("Call.Type", "UNKNOWN", *READERS, *WRITERS, *_NOT_SERVED)),
        **{name.lower(): Field(body) for name, body in _BODIES.items()},
    },
)


def call(master: Master, request: Request, principal: str | None) -> Response:
    """POST /api/v1."""
    check_content_type(request)
    body = json_body(request, dict, "body into JSON")
    try:
        message = read(_CALL, body)
    except ConversionError as error:
        raise Refusal(400, f"Failed to convert JSON into Call protobuf: {error}") from error
    name = message.get("type")
    if name is None:
        raise Refusal(400, "Failed to validate master::Call: Expecting 'type' to be present")
    field = name.lower()
    if name in _BODIES and field not in message:
        raise Refusal(400, f"Failed to validate master::Call: Expecting '{field}' to be present")
    check_accept(request)
    if name in READERS:
        answer = READERS[name](master, message.get(field, {}), principal)
        return json_response({"type": name} if answer is None else {"type": name, field: answer}, request)
    if name in WRITERS:
        try:
            WRITERS[name](master, message[field], principal)
        except Forbidden:
            raise standard_refusal(403) from None
        return accepted_silently()
    raise standard_refusal(501)


def check_content_type(request: Request) -> None:
    """Exactly the type, without parameters.  Raises Refusal (400, 415)."""
    given = request.headers.get("content-type")
    if given is None:
        raise Refusal(400, "Expecting 'Content-Type' to be present")
    # Protobuf is a known type, but its bodies are not read here.
    if given == PROTOBUF:
        raise Refusal(400, "Failed to parse body into Call protobuf")
    if given != JSON:
        raise Refusal(415, f"Expecting 'Content-Type' of {JSON} or {PROTOBUF}")


def check_accept(request: Request) -> None:
    """Whether the client takes JSON.  Raises Refusal (406)."""
    given = request.headers.get("accept")
    if given is None:
        return
    for choice in given.split(","):
        media, *parameters = (part.strip() for part in choice.split(";"))
        refused = any(parameter.replace(" ", "") in ("q=0", "q=0.0") for parameter in parameters)
        if media in (JSON, "application/*", "*/*") and not refused:
            return
    raise Refusal(406, f"Expecting 'Accept' to allow '{PROTOBUF}' or '{JSON}'")
