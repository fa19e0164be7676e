"""The endpoint of a master for the messages of drivers.

Source: Mesos documentation, "Framework Rate Limiting" and "Authentication".

A driver is identified by its pid. Its messages are handled as calls of the scheduler API, and it gets the events of
that API as messages. Malformed messages, and messages from another sender than the framework's driver, are silently
dropped, as on a master.
"""

import logging
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Protocol

from fake_master.driver.authentication import ACTOR, Authentication
from fake_master.driver.messages import (
    CALLS,
    Address,
    DriverEvents,
    Message,
    Pid,
    RefusedMessage,
    as_call,
    packed,
    parse_message,
    parse_pid,
)
from fake_master.http.request_response import MOST_VALUES, Refusal, Request, Response
from fake_master.http.scheduler_api import SchedulerApi
from fake_master.master import Master
from fake_master.protobuf.conversion import NotAMessage, parse, serialize
from fake_master.protobuf.limits import MessageTooLarge
from fake_master.state.streams import EventStream
from mesosctl.mesos.messages.protobuf_json.decoding import ConversionError
from mesosctl.mesos.messages.protobuf_json.messages import read

_CALL = "mesos.scheduler.Call"
_PACKAGE = "mesos.internal."
_AUTHENTICATE = f"{_PACKAGE}AuthenticateMessage"
_DEACTIVATE = f"{_PACKAGE}DeactivateFrameworkMessage"
_TO_EXECUTOR = f"{_PACKAGE}FrameworkToExecutorMessage"
Document = Mapping[str, Any]
_LOG = logging.getLogger(__name__)


class Connections(Protocol):
    """Connections to the addresses of drivers, one each."""

    def post(self, to: Address, data: bytes) -> None:
        """Write to an address as soon as there is a connection, without waiting for it."""
        ...

    def link(self, to: Address) -> None:
        """Open a connection if there is none, so that its end is noticed."""
        ...


class DriverStream(EventStream):
    """Events for one driver, each posted as a message at once."""

    def __init__(self, messages: DriverEvents, post: Callable[[str, bytes], None]) -> None:
        super().__init__()
        self.messages = messages
        self._post = post

    def send(self, event: Mapping[str, Any]) -> None:
        """Post the message of an event."""
        message = None if self.closed else self.messages.message(event)
        if message is not None:
            self._post(*message)


class DriverEndpoint:
    """Receives the messages of drivers for one master, and posts events to them."""

    def __init__(self, master: Master, scheduler_api: SchedulerApi, connections: Connections) -> None:
        self._master = master
        self._state = master.state
        self._api = scheduler_api
        self._connections = connections
        self._release = master.state.profile.release
        flags = master.state.flags
        self._must_authenticate = flags.is_true("authenticate_frameworks")
        self._authentication = Authentication(flags.credentials, master.state.hostname, self._send)

    def find(self, request: Request) -> Callable[[], Response] | None:
        """Return the function that answers a request, or None for a request that is not a message."""
        message = parse_message(request)
        return None if message is None else partial(self._answer, message)

    def _answer(self, message: Message) -> Response:
        status = 202 if self.receive(message) else 404
        return Response(status, is_awaited=message.wants_answer)

    def receive(self, message: Message) -> bool:
        """Take a message, and return whether its receiver exists."""
        if message.actor == "master":
            self._to_master(message)
            return True
        if message.actor.startswith(f"{ACTOR}("):
            self._to_authenticator(message)
            return True
        agent = next((a for a in self._state.agents.values() if a.pid.startswith(f"{message.actor}@")), None)
        if agent is not None and message.name == _TO_EXECUTOR:
            self._deliver(message)
        return agent is not None

    def exited(self, address: Address) -> None:
        """Drop the drivers at an address whose connection is lost."""
        for framework in list(self._state.frameworks.values()):
            pid = parse_pid(framework.pid or "")
            if pid is not None and pid.address == address and framework.stream is not None:
                self._authentication.forget(str(pid))
                framework.stream.abandon()

    # --- To the master --------------------------------------------------------------------------------

    def _to_master(self, message: Message) -> None:
        if message.name == _AUTHENTICATE:
            document = self._parsed_if_small(message)
            if document is not None:
                self._authentication.begin(message.sender, document)
            return
        if message.name not in (_CALL, _DEACTIVATE, *CALLS):
            return
        sender = str(message.sender)
        framework = next((known for known in self._state.frameworks.values() if known.pid == sender), None)
        if framework is None:
            self._deliver(message)  # a sender whose messages are not counted
        else:
            self._master.rate_limiting.receive(framework, partial(self._deliver, message))

    def _to_authenticator(self, message: Message) -> None:
        document = self._parsed_if_small(message)
        if document is None:
            return
        if message.name == f"{_PACKAGE}AuthenticationStartMessage":
            self._authentication.start(message.actor, document)
        elif message.name == f"{_PACKAGE}AuthenticationStepMessage":
            self._authentication.step(message.actor, document)

    def _deliver(self, message: Message) -> None:
        """Carry out a message, once rate limits let it through."""
        try:
            document = self._parsed(message)
        except MessageTooLarge as problem:
            self._tell_error(message.sender, str(problem))
            return
        if document is None:
            return
        if message.name == _DEACTIVATE:
            framework = self._state.frameworks.get(document["framework_id"]["value"])
            if framework is not None and framework.pid == str(message.sender):
                self._master.subscriptions.deactivate(framework)
            return
        try:
            as_sent = document if message.name == _CALL else as_call(message.name, document)
            call = read(self._state.message(_CALL), as_sent)
            name = self._api.check(call)
        except RefusedMessage as problem:
            self._tell_error(message.sender, str(problem))
        except (ConversionError, Refusal):
            return
        else:
            if name == "SUBSCRIBE":
                self._subscribe(message.sender, call)
            else:
                self._perform(message, name, call)

    def _perform(self, message: Message, name: str, call: Document) -> None:
        framework = self._state.frameworks.get(call["framework_id"]["value"])
        if framework is None or framework.pid != str(message.sender):
            return
        if message.name == _CALL:
            framework.counts[f"calls/{name.lower()}"] += 1
        if framework.stream is None:
            self._tell_error(message.sender, "Framework disconnected")
            return
        try:
            self._api.perform(framework, name, call)
        except Refusal as refusal:
            self._tell_error(message.sender, _reason(refusal))

    def _parsed(self, message: Message) -> Document | None:
        """Return the document of a message; None for bytes that are no such message.  Raises TooLarge."""
        try:
            return parse(message.name, message.body, most_values=MOST_VALUES, release=self._release)
        except (NotAMessage, KeyError):
            return None

    def _parsed_if_small(self, message: Message) -> Document | None:
        """Return the document of a message that belongs to no framework; None also for one that is too large."""
        try:
            return self._parsed(message)
        except MessageTooLarge:
            return None

    # --- Registration ---------------------------------------------------------------------------------

    def _subscribe(self, sender: Pid, call: Document) -> None:
        pid, info = str(sender), call["subscribe"]["framework_info"]
        principal = self._authentication.principals.get(pid)
        problem = self._not_authenticated(pid, principal, info)
        if problem is not None:
            self._tell_error(sender, problem)
            return
        self._connections.link(sender.address)
        framework_id = info.get("id", {}).get("value", "")
        known = self._state.frameworks.get(framework_id)
        if not framework_id and self._is_told_again(pid):
            return
        force = bool(call["subscribe"].get("force"))
        before = bool(framework_id) and (known is None or known.recovered or not force)
        to = sender
        if known is not None and known.pid is not None and not force:
            # Without force a master keeps the driver that it has, and tells that one.
            to = parse_pid(known.pid) or sender
        if known is not None and isinstance(known.stream, DriverStream):
            known.stream.messages.registered_before = before
        try:
            self._api.subscribe(call, principal, str(to), self._stream(to, registered_before=before))
        except Refusal as refusal:
            self._tell_error(sender, _reason(refusal))

    def _is_told_again(self, pid: str) -> bool:
        """Send a driver its registration again, and return True; False if it is not registered."""
        for framework in self._state.frameworks.values():
            if framework.pid == pid and isinstance(framework.stream, DriverStream):
                framework.stream.messages.registered_before = False
                self._master.events.subscribed(framework)
                return True
        return False

    def _not_authenticated(self, pid: str, principal: str | None, info: Document) -> str | None:
        """Return the reason for which a driver may not register, or None."""
        if principal is None:
            return f"Framework at {pid} is not authenticated." if self._must_authenticate else None
        claimed = info.get("principal", principal)
        if claimed == principal:
            return None
        return f"Framework principal '{claimed}' does not match authenticated principal '{principal}'"

    # --- To drivers -----------------------------------------------------------------------------------

    def _stream(self, to: Pid, *, registered_before: bool) -> DriverStream:
        messages = DriverEvents(self._pid_of_agent, self._release, registered_before=registered_before)
        return DriverStream(messages, partial(self._post, self._state.pid, to))

    def _pid_of_agent(self, agent_id: str) -> str:
        agent = self._state.agents.get(agent_id)
        return "" if agent is None else agent.pid

    def _tell_error(self, to: Pid, problem: str) -> None:
        self._send("master", to, "FrameworkErrorMessage", {"message": problem})

    def _send(self, actor: str, to: Pid, name: str, document: Document) -> None:
        sender = f"{actor}@{self._state.pid.partition('@')[2]}"
        try:
            self._post(sender, to, _PACKAGE + name, serialize(_PACKAGE + name, document, self._release))
        except Exception:  # noqa: BLE001  # any: what the message is about has happened
            _LOG.exception("%s cannot be sent to %s", name, to)

    def _post(self, sender: str, to: Pid, name: str, body: bytes) -> None:
        self._connections.post(to.address, packed(sender, to, name, body))


def _reason(refusal: Refusal) -> str:
    return refusal.response.body.decode(errors="surrogateescape")
