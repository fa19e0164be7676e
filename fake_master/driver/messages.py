"""The libprocess messages between a driver and a master, and their meaning in the scheduler API.

A message is a POST whose path names an actor and a message, and whose sender is named in a header.  The only answer is
"202 Accepted", and only to a sender that is not libprocess. The receiver posts its own messages to the sender's
address. Those of older drivers correspond to calls; a driver gets events as messages.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any, NamedTuple
from urllib.parse import unquote

from fake_master.http.request_response import Request
from fake_master.protobuf.conversion import serialize

Document = Mapping[str, Any]
Call = dict[str, Any]
Event = Mapping[str, Any]
_PACKAGE = "mesos.internal."
_AGENT = "libprocess/"
_PID = re.compile(r"([!-?A-~]*)@([0-9.]+|\[[0-9A-Fa-f:.]+\]):([0-9]{1,5})")


class Address(NamedTuple):
    """Where a libprocess listens."""

    ip: str
    port: int


class Pid(NamedTuple):
    """The name of one actor: `scheduler-1@127.0.0.1:8080`."""

    id: str
    address: Address

    def __str__(self) -> str:
        ip = f"[{self.address.ip}]" if ":" in self.address.ip else self.address.ip
        return f"{self.id}@{ip}:{self.address.port}"


def parse_pid(text: str) -> Pid | None:
    """Return the pid that a text names, or None.

    Its id is printable ASCII without blanks: it is written into the path and the headers of answers.
    """
    found = _PID.fullmatch(text)
    if found is None:
        return None
    ip, port = found[2].strip("[]"), int(found[3])
    try:
        ip_address(ip)
    except ValueError:
        return None
    return Pid(found[1], Address(ip, port)) if 0 < port < 2**16 else None


@dataclass(frozen=True, slots=True)
class Message:
    """A message that has come in."""

    sender: Pid
    actor: str
    """The receiver: `master`, `slave(1)`."""
    name: str
    """The full name of the protobuf message that the body holds."""
    body: bytes
    wants_answer: bool
    """Whether the sender reads "202 Accepted"; a libprocess does not."""


def parse_message(request: Request) -> Message | None:
    """Return the message in a request; None if there is none, or if its sender cannot be named."""
    if request.method != "POST":
        return None
    agent = request.headers.get("user-agent", "")
    is_libprocess = agent.startswith(_AGENT)
    named = request.headers.get("libprocess-from") or (agent.removeprefix(_AGENT) if is_libprocess else "")
    sender = parse_pid(named)
    actor, _, name = request.path.removeprefix("/").partition("/")
    if sender is None or not actor or not name:
        return None
    return Message(sender, unquote(actor), name, request.body, wants_answer=not is_libprocess)


def packed(sender: str, to: Pid, name: str, body: bytes) -> bytes:
    """Return a message as it is written to a connection."""
    head = (
        f"POST /{to.id}/{name} HTTP/1.1\r\n"
        f"User-Agent: {_AGENT}{sender}\r\n"
        f"Libprocess-From: {sender}\r\n"
        "Connection: Keep-Alive\r\n"
        f"Host: {to.address.ip}:{to.address.port}\r\n"
    )
    if not body:
        return f"{head}\r\n".encode()
    return f"{head}Transfer-Encoding: chunked\r\n\r\n{len(body):x}\r\n".encode() + body + b"\r\n0\r\n\r\n"


# --- From drivers: single messages as the calls that they represent ------------------------------------


class RefusedMessage(ValueError):
    """A message that corresponds to no call; its sender gets the reason in a FrameworkErrorMessage."""


def _register(message: Document) -> Call:
    if message["framework"].get("id", {}).get("value"):
        raise RefusedMessage("Registering with 'id' already set")
    return {"type": "SUBSCRIBE", "subscribe": {"framework_info": message["framework"]}}


def _reregister(message: Document) -> Call:
    known = message["framework"].get("id", {})
    if not known.get("value"):
        raise RefusedMessage("Re-registering without an 'id'")
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


def _message_to_executor(message: Document) -> Call:
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
    "mesos.internal.FrameworkToExecutorMessage": _message_to_executor,
    "mesos.internal.ReconcileTasksMessage": _reconcile,
}
"""The maker of a call by the full name of a message.  A maker raises RefusedMessage."""


def as_call(name: str, message: Document) -> Call:
    """Return the call of a single message, with the framework id that it names.  Raises RefusedMessage."""
    call = CALLS[name](message)
    if "framework_id" in message:
        call["framework_id"] = message["framework_id"]
    return call


# --- To drivers: events as messages ----------------------------------------------------------------------


class DriverEvents:
    """Makes messages for one framework; `pid_of_agent` returns an agent's pid by its id, or "" for an unknown one."""

    def __init__(self, pid_of_agent: Callable[[str], str], release: str | None, *, registered_before: bool) -> None:
        self._pid_of_agent = pid_of_agent
        self._release = release
        self.registered_before = registered_before
        """Whether SUBSCRIBED becomes FrameworkReregisteredMessage, not FrameworkRegisteredMessage."""
        self._framework_id: Mapping[str, Any] = {}

    def message(self, event: Event) -> tuple[str, bytes] | None:
        """Return the full name and the body of an event's message; None if drivers do not get it."""
        make = _MESSAGES.get(event["type"])
        if make is None:
            return None
        name, document = make(self, event.get(event["type"].lower(), {}))
        return _PACKAGE + name, serialize(_PACKAGE + name, document, self._release)

    def _subscribed(self, content: Event) -> tuple[str, Event]:
        self._framework_id = content["framework_id"]
        name = "FrameworkReregisteredMessage" if self.registered_before else "FrameworkRegisteredMessage"
        return name, content

    def _offers(self, content: Event) -> tuple[str, Event]:
        pids = [self._pid_of_agent(offer["agent_id"]["value"]) for offer in content["offers"]]
        return "ResourceOffersMessage", {**content, "pids": pids}

    def _inverse_offers(self, content: Event) -> tuple[str, Event]:
        pids = [self._pid_of_agent(offer["agent_id"]["value"]) for offer in content["inverse_offers"]]
        return "InverseOffersMessage", {**content, "pids": pids}

    def _rescind(self, content: Event) -> tuple[str, Event]:
        return "RescindResourceOfferMessage", content

    def _rescind_inverse_offer(self, content: Event) -> tuple[str, Event]:
        return "RescindInverseOfferMessage", content

    def _update(self, content: Event) -> tuple[str, Event]:
        """Return the message of a status; the pid of an agent asks for an acknowledgement."""
        status = content["status"]
        update = {
            "framework_id": self._framework_id,
            "status": status,
            "timestamp": status["timestamp"],
            "latest_state": status["state"],
            **{key: status[key] for key in ("executor_id", "agent_id", "uuid") if key in status},
        }
        if "uuid" not in status:
            return "StatusUpdateMessage", {"update": update}
        return "StatusUpdateMessage", {"update": update, "pid": self._pid_of_agent(status["agent_id"]["value"])}

    def _message(self, content: Event) -> tuple[str, Event]:
        return "ExecutorToFrameworkMessage", {**content, "framework_id": self._framework_id}

    def _failure(self, content: Event) -> tuple[str, Event]:
        if "executor_id" in content:
            return "ExitedExecutorMessage", {**content, "framework_id": self._framework_id}
        return "LostSlaveMessage", content

    def _error(self, content: Event) -> tuple[str, Event]:
        return "FrameworkErrorMessage", content


_MESSAGES: dict[str, Callable[[DriverEvents, Event], tuple[str, Event]]] = {
    "SUBSCRIBED": DriverEvents._subscribed,
    "OFFERS": DriverEvents._offers,
    "INVERSE_OFFERS": DriverEvents._inverse_offers,
    "RESCIND": DriverEvents._rescind,
    "RESCIND_INVERSE_OFFER": DriverEvents._rescind_inverse_offer,
    "UPDATE": DriverEvents._update,
    "MESSAGE": DriverEvents._message,
    "FAILURE": DriverEvents._failure,
    "ERROR": DriverEvents._error,
}
"""The maker of a message by the type of an event. Drivers get no heartbeats and no events about operations."""
