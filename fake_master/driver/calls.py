"""The single messages of older drivers, as the calls that they stand for."""

from collections.abc import Callable, Mapping
from typing import Any

Document = Mapping[str, Any]
Call = dict[str, Any]


class Refused(ValueError):
    """The framework is told why, in a FrameworkErrorMessage."""


def _register(message: Document) -> Call:
    if message["framework"].get("id", {}).get("value"):
        raise Refused("Registering with 'id' already set")
    return {"type": "SUBSCRIBE", "subscribe": {"framework_info": message["framework"]}}


def _reregister(message: Document) -> Call:
    known = message["framework"].get("id", {})
    if not known.get("value"):
        raise Refused("Re-registering without an 'id'")
    subscribe = {"framework_info": message["framework"], "force": message["failover"]}
    return {"type": "SUBSCRIBE", "framework_id": known, "subscribe": subscribe}


def _unregister(_message: Document) -> Call:
    return {"type": "TEARDOWN"}


def _request(message: Document) -> Call:
    return {"type": "REQUEST", "request": {"requests": message.get("requests", [])}}


def _launch(message: Document) -> Call:
    launch = {"type": "LAUNCH", "launch": {"task_infos": message.get("tasks", [])}}
    accept = {"offer_ids": message.get("offer_ids", []), "operations": [launch], "filters": message["filters"]}
    return {"type": "ACCEPT", "accept": accept}


def _revive(message: Document) -> Call:
    return {"type": "REVIVE", "revive": {"roles": message.get("roles", [])}}


def _kill(message: Document) -> Call:
    kill = {key: message[key] for key in ("task_id", "kill_policy") if key in message}
    return {"type": "KILL", "kill": kill}


def _acknowledge(message: Document) -> Call:
    return {"type": "ACKNOWLEDGE", "acknowledge": {key: message[key] for key in ("agent_id", "task_id", "uuid")}}


def _message(message: Document) -> Call:
    return {"type": "MESSAGE", "message": {key: message[key] for key in ("agent_id", "executor_id", "data")}}


def _reconcile(message: Document) -> Call:
    tasks = [
        {key: status[key] for key in ("task_id", "agent_id") if key in status} for status in message.get("statuses", ())
    ]
    return {"type": "RECONCILE", "reconcile": {"tasks": tasks}}


CALLS: dict[str, Callable[[Document], Call]] = {
    "mesos.internal.RegisterFrameworkMessage": _register,
    "mesos.internal.ReregisterFrameworkMessage": _reregister,
    "mesos.internal.UnregisterFrameworkMessage": _unregister,
    "mesos.internal.ResourceRequestMessage": _request,
    "mesos.internal.LaunchTasksMessage": _launch,
    "mesos.internal.ReviveOffersMessage": _revive,
    "mesos.internal.KillTaskMessage": _kill,
    "mesos.internal.StatusUpdateAcknowledgementMessage": _acknowledge,
    "mesos.internal.FrameworkToExecutorMessage": _message,
    "mesos.internal.ReconcileTasksMessage": _reconcile,
}
"""By the full name of a message; what makes a call raises Refused."""


def as_call(name: str, message: Document) -> Call:
    """The call of a single message, with the id of its framework where it names one.  Raises Refused."""
    call = CALLS[name](message)
    if "framework_id" in message:
        call["framework_id"] = message["framework_id"]
    return call
