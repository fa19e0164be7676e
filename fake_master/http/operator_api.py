"""`/api/v1`, the operator API: its calls, and the stream of events that SUBSCRIBE begins.

Source: Mesos documentation, "Operator HTTP API".  The endpoints of each noun declare the calls that belong to them.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from fake_master.http.encodings import accepted_type, answer, event_encoder, parts_as_shown, read_call
from fake_master.http.json_text import JsonPieces, json_object, values_of, with_short_numbers
from fake_master.http.request_response import JSON, Refusal, Request, Response, accepted_silently, standard_refusal
from fake_master.registry.interface import Transaction
from fake_master.services.events import HEARTBEAT_SECONDS, EventPublisher
from fake_master.state.master_state import MasterState
from fake_master.state.streams import Encoder, EventStream
from mesosctl.mesos.messages.protobuf_json import recordio
from mesosctl.mesos.messages.protobuf_json.defaults import as_shown
from mesosctl.mesos.messages.protobuf_json.message_tables import mesos_message

Body = Mapping[str, Any]
"""The message of a call."""
# Answered by a stream of events.
STREAMS = ("SUBSCRIBE",)
CALL = mesos_message("mesos.v1.master.Call")
"""As all releases together have it."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A call that changes nothing; `read` returns its answer for a principal, None if the answer is empty."""

    name: str
    read: Callable[[Body, str | None], dict[str, Any] | None]


@dataclass(frozen=True, slots=True)
class Change:
    """A call that changes something, for a principal, inside a transaction."""

    name: str
    change: Callable[[Body, str | None], Refusal | None]
    """A refusal that it returns undoes nothing; one that it raises undoes the change."""
    status: int = 200
    """202 says that something was taken on, not that it is done."""
    check: Callable[[Body], None] | None = None
    """The rules that a master checks before it looks at the Accept header.  Raises Refusal."""


class OperatorApi:
    """Answers calls of operators; `describe_state` returns what GET_STATE shows to a principal."""

    def __init__(
        self,
        state: MasterState,
        events: EventPublisher,
        transaction: Transaction,
        describe_state: Callable[[str | None], dict[str, Any]],
        calls: Iterable[Reading | Change],
    ) -> None:
        self._events = events
        self._transaction = transaction
        self._describe_state = describe_state
        self._call = state.message(CALL.name)
        self._response = state.message("mesos.v1.master.Response")
        self._event = state.message("mesos.v1.master.Event")
        self._has_short_numbers = state.profile.json_numbers_are_short
        self.calls = {call.name: call for call in calls if call.name in self._call.types}
        self._subscribed: tuple[JsonPieces, dict[Encoder, bytes]] | None = None
        """The last state that a subscriber was sent, and the records of it."""

    @property
    def not_served(self) -> set[str]:
        """The calls of a real master that this one does not serve."""
        return self._call.types - {*STREAMS, *self.calls}

    def call(self, request: Request, principal: str | None) -> Response:
        """POST /api/v1: a transaction for a change, and none for reading.  Raises Forbidden."""
        message = read_call(request, self._call)
        name = message.get("type")
        if name is None:
            raise Refusal(400, "Failed to validate master::Call: Expecting 'type' to be present")
        field = name.lower()
        called = self.calls.get(name)
        if name != "DRAIN_AGENT":
            _check_grace_period(message)
        if field in self._call.fields and field not in message:
            raise Refusal(400, f"Failed to validate master::Call: Expecting '{field}' to be present")
        if isinstance(called, Change) and called.check is not None:
            called.check(message[field])
        media = accepted_type(request)
        if isinstance(called, Reading):
            content = called.read(message.get(field, {}), principal)
            told = {"type": name} if content is None else {"type": name, field: content}
            return answer(told, request, media, self._response)
        if isinstance(called, Change):
            with self._transaction():
                refusal = called.change(message[field], principal)
            if refusal is not None:
                raise refusal
            return accepted_silently(called.status)
        if name in STREAMS:
            encode = self._encoder(media)
            stream = self._events.add_operator(
                EventStream(encode=encode), principal, self._first_event(principal, encode)
            )
            return Response(200, headers={"Content-Type": media}, stream=stream)
        raise standard_refusal(501)

    def _first_event(self, principal: str | None, encode: Encoder) -> bytes:
        """Return SUBSCRIBED as a record.

        As long as the state is the same the record is the same object: of 10,000 agents it has 20 MB, and hundreds may
        listen.
        """
        state = self._describe_state(principal)
        text = json_object(parts_as_shown(self._response.field("get_state"), state))
        if self._subscribed is None or self._subscribed[0] != text:
            self._subscribed = (text, {})
        records = self._subscribed[1]
        if encode not in records:
            is_json = encode is self._encoder(JSON)
            content = {
                "get_state": text if is_json else values_of(state),
                "heartbeat_interval_seconds": HEARTBEAT_SECONDS,
            }
            event = {"type": "SUBSCRIBED", "subscribed": content}
            records[encode] = self._json_record(event) if is_json else encode(event)
        return records[encode]

    def _json_record(self, event: Mapping[str, Any]) -> bytes:
        text = bytes(json_object(as_shown(self._event, event)))
        return recordio.encode(with_short_numbers(text) if self._has_short_numbers else text)

    def _encoder(self, media: str) -> Encoder:
        return event_encoder(media, self._event, short_numbers=self._has_short_numbers)


def _check_grace_period(message: Body) -> None:
    """Refuse a grace period of no seconds in a call that is of another type: so does a Mesos 1.11.0 master.

    It reads such a call as the message of an older API, in which this number must be there.
    """
    grace_period = message.get("drain_agent", {}).get("max_grace_period")
    if grace_period is not None and not grace_period.get("seconds"):
        missing = "drain_agent.max_grace_period.nanoseconds"
        raise Refusal(400, f"Failed to validate master::Call: Not initialized: {missing}")
