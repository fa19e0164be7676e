"""The first event of an operator's subscription: the whole state, written once for all who see the same."""

import json
from collections.abc import Callable, Mapping
from typing import Any
from weakref import WeakKeyDictionary

from fake_master.http import agents as agents_endpoints
from fake_master.http import frameworks, information, maintenance, quota, reservations, views
from fake_master.http.content import accepted_type, answer, event_encoder, read_call
from fake_master.http.exchange import (
    Refusal,
    Request,
    Response,
    Written,
    accepted_silently,
    standard_refusal,
    written,
)
from fake_master.master import Master
from fake_master.services import descriptions
from fake_master.services.events import HEARTBEAT_SECONDS
from fake_master.state.clock import NANOSECONDS
from fake_master.state.streams import Encoder, EventStream, encoded
from mesosctl.api.protobuf import streaming
from mesosctl.api.protobuf.messages import Field, Message, one_of

_LAST: WeakKeyDictionary[Master, tuple[Written, dict[Encoder, bytes]]] = WeakKeyDictionary()


def subscribed(master: Master, state: Written, encode: Encoder = encoded) -> bytes:
    """SUBSCRIBED with this state, as a record.

    As long as the state is the same it is the same object: of 10,000 agents it has 20 MB, and hundreds may listen.
    """
    known = _LAST.get(master)
    if known is None or known[0] != state:
        known = _LAST[master] = (state, {})
    records = known[1]
    if encode not in records:
        content = written({"get_state": state, "heartbeat_interval_seconds": HEARTBEAT_SECONDS})
        text = b"".join(written({"type": "SUBSCRIBED", "subscribed": content}))
        records[encode] = streaming.encode(text) if encode is encoded else encode(_read_again(text))
    return records[encode]


def _read_again(text: bytes) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text.decode(errors="surrogateescape"))
    return found


_DURATION = Message("DurationInfo", {"nanoseconds": Field("int64", "required")})
_BODIES = {
    "GET_METRICS": Message("Call.GetMetrics", {"timeout": Field(_DURATION)}),
    "SET_QUOTA": Message("Call.SetQuota", {"quota_request": Field(quota.QUOTA_REQUEST, "required")}),
    "REMOVE_QUOTA": Message("Call.RemoveQuota", {"role": Field("string", "required")}),
    "UPDATE_QUOTA": Message(
        "Call.UpdateQuota", {"force": Field("bool"), "quota_configs": Field(quota.QUOTA_CONFIG, "repeated")}
    ),
    "UPDATE_WEIGHTS": Message("Call.UpdateWeights", {"weight_infos": Field(quota.WEIGHT_INFO, "repeated")}),
    "RESERVE_RESOURCES": reservations.RESERVE,
    "UNRESERVE_RESOURCES": reservations.UNRESERVE,
    "CREATE_VOLUMES": reservations.CREATE,
    "DESTROY_VOLUMES": reservations.DESTROY,
    "GROW_VOLUME": reservations.GROW,
    "SHRINK_VOLUME": reservations.SHRINK,
    "UPDATE_MAINTENANCE_SCHEDULE": maintenance.UPDATE,
    "START_MAINTENANCE": maintenance.START,
    "STOP_MAINTENANCE": maintenance.STOP,
    "MARK_AGENT_GONE": agents_endpoints.MARK_GONE,
    "DRAIN_AGENT": agents_endpoints.DRAIN,
    "DEACTIVATE_AGENT": agents_endpoints.DEACTIVATE,
    "REACTIVATE_AGENT": agents_endpoints.REACTIVATE,
    "SET_LOGGING_LEVEL": Message(
        "Call.SetLoggingLevel", {"level": Field("uint32", "required"), "duration": Field(_DURATION, "required")}
    ),
    "TEARDOWN": Message(
        "Call.Teardown",
        {"framework_id": Field(Message("FrameworkID", {"value": Field("string", "required")}), "required")},
    ),
}
# These say that something was taken on, not that it is done.
_ACCEPTED = frozenset(
    {"RESERVE_RESOURCES", "UNRESERVE_RESOURCES", "CREATE_VOLUMES", "DESTROY_VOLUMES", "GROW_VOLUME", "SHRINK_VOLUME"}
)

Body = Mapping[str, Any]
Reader = Callable[[Master, Body, str | None], dict[str, Any] | Written | None]
Writer = Callable[[Master, Body, str | None], None]


def _get_health(_master: Master, _body: Body, _principal: str | None) -> dict[str, Any]:
    return {"healthy": True}


def _get_version(master: Master, _body: Body, _principal: str | None) -> dict[str, Any]:
    return {"version_info": information.version_info(master)}


def _get_flags(master: Master, _body: Body, principal: str | None) -> dict[str, Any]:
    if not master.state.flags.authorizer.allows("view_flags", principal, None):
        raise standard_refusal(403)
    return {"flags": [{"name": name, "value": value} for name, value in sorted(master.state.flags.shown.items())]}


def _get_metrics(master: Master, _body: Body, _principal: str | None) -> dict[str, Any]:
    return {"metrics": [{"name": name, "value": value} for name, value in information.all_metrics(master).items()]}


def _get_logging_level(master: Master, _body: Body, _principal: str | None) -> dict[str, Any]:
    return {"level": master.logging_level.level}


def _set_logging_level(master: Master, body: Body, principal: str | None) -> None:
    if not master.state.flags.authorizer.allows("set_log_level", principal, None):
        raise standard_refusal(403)
    master.logging_level.set(body["level"], body["duration"]["nanoseconds"] / NANOSECONDS)


def _get_master(master: Master, _body: Body, _principal: str | None) -> dict[str, Any]:
    return {
        "master_info": descriptions.master_info(master.state),
        "start_time": master.state.start_time,
        "elected_time": master.state.start_time,
    }


def _get_agents(master: Master, _body: Body, principal: str | None) -> Written:
    agents = views.agents_described(master.state, master.runtime, principal)
    return written({"agents": agents, "recovered_agents": master.failover.recovered()})


def _get_state(master: Master, body: Body, principal: str | None) -> Written:
    return written(
        {
            "get_tasks": _get_tasks(master, body, principal),
            "get_executors": _get_executors(master, body, principal),
            "get_frameworks": _get_frameworks(master, body, principal),
            "get_agents": _get_agents(master, body, principal),
        }
    )


def _get_frameworks(master: Master, _body: Body, principal: str | None) -> dict[str, Any]:
    return {
        "frameworks": [
            descriptions.framework(master.state, of, master.runtime.describe_framework(of))
            for of in frameworks.visible(master.state, principal, master.state.frameworks.values())
        ],
        "completed_frameworks": [
            descriptions.framework(master.state, of, master.runtime.describe_framework(of))
            for of in frameworks.visible(master.state, principal, master.state.completed_frameworks.values())
        ],
    }


def _get_tasks(master: Master, _body: Body, principal: str | None) -> dict[str, Any]:
    everybody = frameworks.visible(
        master.state, principal, [*master.state.frameworks.values(), *master.state.completed_frameworks.values()]
    )
    return {
        "tasks": [descriptions.task(task) for of in everybody for task in of.tasks.values()],
        "unreachable_tasks": [descriptions.task(task) for of in everybody for task in of.unreachable_tasks.values()],
        "completed_tasks": [descriptions.task(task) for of in everybody for task in of.completed_tasks],
    }


def _get_executors(master: Master, _body: Body, principal: str | None) -> dict[str, Any]:
    return {
        "executors": [
            {"executor_info": descriptions.executor(executor), "agent_id": {"value": executor.agent_id}}
            for of in frameworks.visible(master.state, principal, master.state.frameworks.values())
            for executor in of.executors.values()
        ]
    }


def _get_operations(master: Master, _body: Body, _principal: str | None) -> dict[str, Any]:
    shown = master.operation_updates.shown()
    return {"operations": shown} if shown else {}


def _teardown(master: Master, body: Body, principal: str | None) -> None:
    frameworks.teardown(master, body["framework_id"]["value"], principal)


def _get_roles(master: Master, _body: Body, principal: str | None) -> dict[str, Any]:
    roles = [views.role_message(role) for role in views.visible_roles(master.state, principal)]
    return {"roles": roles} if roles else {}


def _get_weights(master: Master, _body: Body, principal: str | None) -> dict[str, Any] | None:
    infos = quota.visible(master, principal)
    return {"weight_infos": infos} if infos else None


def _get_quota(master: Master, _body: Body, principal: str | None) -> dict[str, Any]:
    return {"status": quota.status(master, principal)}


def _set_quota(master: Master, body: Body, principal: str | None) -> None:
    quota.set_quota(master, body["quota_request"], principal)


def _update_weights(master: Master, body: Body, principal: str | None) -> None:
    quota.update(master, body.get("weight_infos", ()), principal)


READERS: dict[str, Reader] = {
    "GET_HEALTH": _get_health,
    "GET_VERSION": _get_version,
    "GET_FLAGS": _get_flags,
    "GET_METRICS": _get_metrics,
    "GET_LOGGING_LEVEL": _get_logging_level,
    "GET_MASTER": _get_master,
    "GET_AGENTS": _get_agents,
    "GET_STATE": _get_state,
    "GET_ROLES": _get_roles,
    "GET_WEIGHTS": _get_weights,
    "GET_QUOTA": _get_quota,
    "GET_FRAMEWORKS": _get_frameworks,
    "GET_TASKS": _get_tasks,
    "GET_EXECUTORS": _get_executors,
    "GET_OPERATIONS": _get_operations,
    "GET_MAINTENANCE_SCHEDULE": maintenance.call_get_schedule,
    "GET_MAINTENANCE_STATUS": maintenance.call_get_status,
}
WRITERS: dict[str, Writer] = {
    "SET_QUOTA": _set_quota,
    "REMOVE_QUOTA": quota.remove_quota,
    "UPDATE_QUOTA": quota.update_quota,
    "UPDATE_WEIGHTS": _update_weights,
    "RESERVE_RESOURCES": reservations.call_reserve,
    "UNRESERVE_RESOURCES": reservations.call_unreserve,
    "CREATE_VOLUMES": reservations.call_create,
    "DESTROY_VOLUMES": reservations.call_destroy,
    "GROW_VOLUME": reservations.call_grow,
    "SHRINK_VOLUME": reservations.call_shrink,
    "SET_LOGGING_LEVEL": _set_logging_level,
    "TEARDOWN": _teardown,
    "UPDATE_MAINTENANCE_SCHEDULE": maintenance.call_update,
    "START_MAINTENANCE": maintenance.call_start,
    "STOP_MAINTENANCE": maintenance.call_stop,
    "MARK_AGENT_GONE": agents_endpoints.mark_gone,
    "DRAIN_AGENT": agents_endpoints.drain,
    "DEACTIVATE_AGENT": agents_endpoints.deactivate,
    "REACTIVATE_AGENT": agents_endpoints.reactivate,
}
# Answered by a stream of events.
STREAMS = ("SUBSCRIBE",)
# Calls that the real API has and this master does not serve yet, so that they are told from typing errors.
NOT_SERVED = (
    "LIST_FILES",
    "READ_FILE",
)
_CALL = Message(
    "Call",
    {
        "type": Field(one_of("Call.Type", "UNKNOWN", *STREAMS, *READERS, *WRITERS, *NOT_SERVED)),
        **{name.lower(): Field(body) for name, body in _BODIES.items()},
    },
)


def call(master: Master, request: Request, principal: str | None) -> Response:
    """POST /api/v1: a transaction where something is changed, and none where somebody reads.  Raises Forbidden."""
    message = read_call(request, _CALL, "mesos.v1.master.Call")
    name = message.get("type")
    if name is None:
        raise Refusal(400, "Failed to validate master::Call: Expecting 'type' to be present")
    field = name.lower()
    if name in _BODIES and field not in message:
        raise Refusal(400, f"Failed to validate master::Call: Expecting '{field}' to be present")
    if name in ("RESERVE_RESOURCES", "UNRESERVE_RESOURCES"):
        reservations.check_resources(message[field])
    media = accepted_type(request)
    if name in READERS:
        content = READERS[name](master, message.get(field, {}), principal)
        told = {"type": name} if content is None else {"type": name, field: content}
        return answer(told, request, media, "mesos.v1.master.Response")
    if name in WRITERS:
        with master.transaction():
            WRITERS[name](master, message[field], principal)
        return accepted_silently(202 if name in _ACCEPTED else 200)
    if name in STREAMS:
        encode = event_encoder(media, "mesos.v1.master.Event")
        first = subscribed(master, _get_state(master, {}, principal), encode)
        stream = master.events.add_operator(EventStream(encode=encode), first)
        return Response(200, headers={"Content-Type": media}, stream=stream)
    raise standard_refusal(501)
