"""The fake master in the same process: a request is a function call, with no socket and no thread."""

import math
import time
from collections.abc import Callable, Iterator, Mapping

from fake_master.http.application import Application
from fake_master.http.exchange import Request, Response
from fake_master.master import Master
from fake_master.state.streams import EventStream

Sleep = Callable[[float], None]
"""Lets so many seconds pass by the master's clock: `time.sleep`, or that of a `VirtualClock`."""


class ConnectionDropped(Exception):
    """The connection breaks, and no answer comes: a fault that a test asked for."""


class DirectTransport:
    """Carries each request straight to a master.

    Nothing happens between requests, since there is no thread in which it could: whoever reads a
    stream of events lets time pass, for the whole master, until there is something to read.
    """

    def __init__(self, master: Master, sleep: Sleep = time.sleep) -> None:
        self._application = Application(master)
        self._sleep = sleep

    def answer(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Response:
        """The answer; the names of headers are in lower case.  It is whole unless it is a stream."""
        return self._application.handle(Request(method, target, headers, body))

    def respond(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Response:
        """The same; raises RegistryFailure where that is no answer of the master, but a fault of its file."""
        return self._application.respond(Request(method, target, headers, body))

    def events(self, stream: EventStream, patience: float | None) -> "Events":
        """Return the events on the stream of an answer; `patience`: seconds between two pieces, None for ever."""
        return Events(self._application, stream, self._sleep, math.inf if patience is None else patience)

    def close(self) -> None:
        """End the master."""
        self._application.master.close()


class Events:
    """A subscriber's stream.  Iterating raises TimeoutError where nothing comes for too long."""

    def __init__(self, application: Application, stream: EventStream, sleep: Sleep, patience: float) -> None:
        self._application = application
        self._stream = stream
        self._sleep = sleep
        self._patience = patience

    def __iter__(self) -> Iterator[bytes]:
        clock = self._application.master.state.clock
        give_up = clock() + self._patience
        while True:
            if records := self._stream.take():
                yield from records
                give_up = clock() + self._patience
            elif self._stream.closed:
                return
            elif clock() >= give_up:
                raise TimeoutError(f"no event within {self._patience:g} s")
            else:
                self._wait(give_up)

    def _wait(self, give_up: float) -> None:
        """Until the master has something to do, and let it do that."""
        master = self._application.master
        due = master.next_deadline()
        until = give_up if due is None else min(due, give_up)
        self._sleep(max(0.0, until - master.state.clock()))
        self._application.tick()

    def close(self) -> None:
        """The subscriber hangs up, as far as the master is concerned."""
        self._stream.left()
        self._application.tick()
