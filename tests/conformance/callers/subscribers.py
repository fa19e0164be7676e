"""Streams of events: opened, read in the background where that is needed, and waited for.

Subscription        what has arrived so far
OverTheNetwork      a thread reads each stream; waiting is waiting
InTheSameProcess    nothing is read until somebody waits, and waiting moves a virtual clock
"""

import contextlib
import socket
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from fake_master.http.application import Application
from fake_master.http.request_response import Request
from fake_master.state.clock import VirtualClock
from mesosctl.mesos.messages.protobuf_json import recordio
from tests.conformance.masters.codec import JSON_ALONE, Codec
from tests.helpers.waiting import PATIENCE

Event = dict[str, Any]
_LOOK_AGAIN = 0.05
"""Seconds."""


@dataclass
class Subscription:
    """A stream: `events` grows while somebody waits; `closed` says that the master ended it."""

    status: int
    headers: Mapping[str, str]
    content: bytes
    hang_up: Callable[[], None]
    path: str = ""
    codec: Codec = JSON_ALONE
    """How its events are written."""
    events: list[Event] = field(default_factory=list)
    closed: bool = False


class Subscribers(ABC):
    """How streams are opened on one master, and how its time passes."""

    codec = JSON_ALONE

    @abstractmethod
    def open(self, path: str, content: str, headers: Mapping[str, str]) -> Subscription:
        """POST; an answer other than 200 has its whole body in `content`."""

    @abstractmethod
    def wait(self, until: Callable[[], bool], seconds: float = PATIENCE) -> bool:
        """Let time pass until something holds; False if it does not within `seconds`."""

    @abstractmethod
    def now(self) -> float:
        """The time by which the master lives: seconds since the epoch."""

    def close(self) -> None:  # noqa: B027  # most have nothing to do
        """Hang up everywhere."""


class OverTheNetwork(Subscribers):
    """Real sockets and real seconds."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._news = threading.Condition()
        self._open: list[Callable[[], None]] = []

    def open(self, path: str, content: str, headers: Mapping[str, str]) -> Subscription:
        client = httpx.Client(trust_env=False, timeout=httpx.Timeout(PATIENCE, read=None))
        body, headers = self.codec.request(path, content, headers)
        request = client.build_request("POST", self._address + path, content=body, headers=dict(headers))
        response = client.send(request, stream=True)
        if response.status_code != 200:
            body = response.read()
            client.close()
            return Subscription(response.status_code, response.headers, body, lambda: None)
        connection: socket.socket = response.extensions["network_stream"].get_extra_info("socket")
        subscription = Subscription(200, response.headers, b"", lambda: hang_up(), path, self.codec)  # noqa: PLW0108  # made below
        reader = threading.Thread(target=self._read, args=(response, subscription), daemon=True)

        def hang_up() -> None:
            with contextlib.suppress(OSError):  # the master was first
                connection.shutdown(socket.SHUT_RDWR)
            reader.join(timeout=PATIENCE)
            client.close()

        reader.start()
        self._open.append(hang_up)
        return subscription

    def _read(self, response: httpx.Response, subscription: Subscription) -> None:
        with contextlib.suppress(httpx.HTTPError, recordio.BrokenRecord):
            for record in recordio.decode(response.iter_bytes()):
                with self._news:
                    subscription.events.append(subscription.codec.event(subscription.path, record))
                    self._news.notify_all()
        with self._news:
            subscription.closed = True
            self._news.notify_all()

    def now(self) -> float:
        return time.time()

    def wait(self, until: Callable[[], bool], seconds: float = PATIENCE) -> bool:
        # Woken by events; looked at in between, since what is waited for may be no event.
        deadline = time.monotonic() + seconds
        with self._news:
            while not until():
                left = deadline - time.monotonic()
                if left <= 0:
                    return False
                self._news.wait(min(left, _LOOK_AGAIN))
            return True

    def close(self) -> None:
        for hang_up in self._open:
            hang_up()


class InTheSameProcess(Subscribers):
    """A master on a virtual clock, asked directly."""

    def __init__(self, application: Application, clock: VirtualClock) -> None:
        self._application = application
        self._clock = clock
        self._carried: list[tuple[Any, Subscription]] = []

    def open(self, path: str, content: str, headers: Mapping[str, str]) -> Subscription:
        body, headers = self.codec.request(path, content, headers)
        named = {name.lower(): value for name, value in headers.items()}
        body = body.encode() if isinstance(body, str) else body or b""
        answer = self._application.handle(Request("POST", path, named, body))
        stream = answer.stream
        shown = httpx.Headers(dict(answer.headers))
        if stream is None:
            return Subscription(answer.status, shown, answer.body, lambda: None)
        subscription = Subscription(answer.status, shown, b"", stream.abandon, path, self.codec)
        self._carried.append((stream, subscription))
        self._carry()
        return subscription

    def now(self) -> float:
        return self._clock()

    def wait(self, until: Callable[[], bool], seconds: float = PATIENCE) -> bool:
        end = self._clock() + seconds
        self._carry()
        while not until():
            if self._clock() >= end:
                return False
            due = self._application.master.next_deadline()
            self._clock.now = max(self._clock(), min(end, end if due is None else due))
            self._application.tick()
            self._carry()
        return True

    def _carry(self) -> None:
        for stream, subscription in self._carried:
            records = recordio.decode(stream.take())
            subscription.events.extend(subscription.codec.event(subscription.path, record) for record in records)
            subscription.closed = stream.closed
