"""A stream of events to one subscriber, whichever transport carries it."""

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from uuid import uuid4

from mesosctl.mesos.messages.protobuf_json import recordio
from mesosctl.mesos.messages.protobuf_json.messages import written

# A subscriber that does not read uses at most this much memory, and is then abandoned.
LARGEST_BACKLOG = 64 * 1024 * 1024


_ENCODER = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False)
_WITH_NAN = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False)


def encoded(event: Mapping[str, Any]) -> bytes:
    """An event as a record."""
    return recordio.encode(event_text(event))


def event_text(event: Mapping[str, Any]) -> bytes:
    """An event as JSON.

    Bytes that were no UTF-8 when they came in go out as they were, and doubles that JSON has no number for as a master
    writes them.
    """
    try:
        text = _ENCODER.encode(event)
    except ValueError:
        text = _WITH_NAN.encode(written(event))
    return text.encode(errors="surrogateescape")


Encoder = Callable[[Mapping[str, Any]], bytes]
"""Makes a record of an event."""


class SharedEvent:
    """An event to many streams, written once in each encoding."""

    def __init__(self, event: Mapping[str, Any]) -> None:
        self._event = event
        self._records: dict[Encoder, bytes] = {}

    def record(self, encode: Encoder) -> bytes:
        """The event as a record."""
        if encode not in self._records:
            self._records[encode] = encode(self._event)
        return self._records[encode]


class EventStream:
    """Events that wait to be sent to one subscriber.

    The master sends and closes; the transport takes, and calls `abandon` when the subscriber is gone. Sending never
    waits: for a subscriber that falls too far behind it fails. Only `EventPublisher` sends, because it knows what to do
    then.
    """

    is_read = True
    """Whether it may still be read."""

    def __init__(self, on_abandon: Callable[[], None] | None = None, encode: Encoder = encoded) -> None:
        self._encode = encode
        self.id = str(uuid4())
        self.closed = False
        self.overrun = False
        """Whether the subscriber was abandoned because it does not read."""
        self._pending: list[bytes] = []
        self._size = 0
        self._wake: Callable[[], None] | None = None
        self._on_abandon = on_abandon
        self._on_leave: Callable[[], None] | None = None
        self._has_left = False

    def on_abandon(self, action: Callable[[], None]) -> None:
        """Set the action for the loss of the subscriber."""
        self._on_abandon = action

    def on_leave(self, action: Callable[[], None]) -> None:
        """Set the action for the loss of a subscriber of a closed stream; run it now if it is already lost."""
        if self._has_left:
            action()
        else:
            self._on_leave = action

    def on_event(self, wake: Callable[[], None]) -> None:
        """Set the callback for new events and for the end of the stream."""
        self._wake = wake

    def send(self, event: Mapping[str, Any]) -> None:
        """Queue one event; nothing happens on a closed stream."""
        if not self.closed:
            self.send_record(self._encode(event))

    def send_shared(self, event: SharedEvent) -> None:
        """Queue an event that goes to others as well."""
        if not self.closed:
            self.send_record(event.record(self._encode))

    def send_first(self, record: bytes) -> None:
        """Queue the first record of a new stream, however large; the others wait behind it, and are counted."""
        # It is one object for all subscribers, and they cannot be behind yet: of 50,000 agents it is larger than any
        # backlog may be.
        if not self.closed:
            self._pending.append(record)
            self._notify()

    def send_record(self, record: bytes) -> None:
        """Queue an event that is written already.  Raises BufferError if the subscriber is too far behind."""
        if self.closed:
            return
        if self._size + len(record) > LARGEST_BACKLOG:
            self._pending.clear()
            self.overrun = True
            self.close()
            raise BufferError("the subscriber does not read")
        self._pending.append(record)
        self._size += len(record)
        self._notify()

    @property
    def is_behind(self) -> bool:
        """Whether events wait to be taken."""
        return bool(self._pending)

    def take(self) -> list[bytes]:
        """Everything that waits, one RecordIO record for each event.

        A transport sends each in its own chunk, like Mesos, because some clients rely on it.
        """
        taken, self._pending = self._pending, []
        self._size = 0
        return taken

    def close(self) -> None:
        """Close the stream; events that wait are still carried."""
        if not self.closed:
            self.closed = True
            self._notify()

    def abandon(self) -> None:
        """End the stream: the subscriber is gone."""
        if not self.closed:
            self.close()
            self.lost()

    def left(self) -> None:
        """The connection that carried the stream has ended."""
        self._has_left = True
        self.abandon()
        action, self._on_leave = self._on_leave, None
        if action is not None:
            action()

    def lost(self) -> None:
        """Run the action for a lost subscriber, although the master closed the stream."""
        if self._on_abandon is not None:
            self._on_abandon()

    def _notify(self) -> None:
        if self._wake is not None:
            self._wake()


class Listener(NamedTuple):
    """An operator that is subscribed to events."""

    stream: EventStream
    principal: str | None


class SilentStream(EventStream):
    """The stream of a framework that listens and does nothing."""

    is_read = False

    def send(self, event: Mapping[str, Any]) -> None:
        """Keep nothing, because nothing reads it."""
