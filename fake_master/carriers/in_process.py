"""The fake master in the same process: an httpx transport with no socket and no thread."""

import math
import time
from collections.abc import Callable, Iterator

import httpx

from fake_master.http.application import Application
from fake_master.http.exchange import Request
from fake_master.master.master import Master
from fake_master.master.streams import EventStream

Sleep = Callable[[float], None]
"""Lets so many seconds pass by the master's clock: `time.sleep`, or that of a `VirtualClock`."""


class InProcessTransport(httpx.BaseTransport):
    """Carries each request of an httpx client straight to a master.

    Nothing happens between requests, since there is no thread in which it could: whoever reads a
    stream of events lets time pass, for the whole master, until there is something to read.
    """

    def __init__(self, master: Master, sleep: Sleep = time.sleep) -> None:
        self._application = Application(master)
        self._sleep = sleep

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """One exchange; the answer is whole before it returns, unless it is a stream."""
        response = self._application.handle(
            Request(
                method=request.method,
                # A client that must not have its path normalised says it here, as to a socket.
                target=request.extensions.get("target", request.url.raw_path).decode(errors="surrogateescape"),
                headers={name.lower(): value for name, value in request.headers.items()},
                body=request.read(),
            )
        )
        if response.stream is not None:
            patience = request.extensions.get("timeout", {}).get("read")
            events = _Events(self._application, response.stream, self._sleep, patience)
            return httpx.Response(response.status, headers=dict(response.headers), stream=events)
        headers = {"Content-Length": str(len(response.body)), **response.headers}
        return httpx.Response(response.status, headers=headers, content=response.body)

    def close(self) -> None:
        """Let go of the master's registry."""
        self._application.master.registry.close()


class _Events(httpx.SyncByteStream):
    """A subscriber's stream.  `patience` is httpx's read timeout: seconds between two pieces, None for ever."""

    def __init__(self, application: Application, stream: EventStream, sleep: Sleep, patience: float | None) -> None:
        self._application = application
        self._stream = stream
        self._sleep = sleep
        self._patience = math.inf if patience is None else patience

    def __iter__(self) -> Iterator[bytes]:
        clock = self._application.master.clock
        give_up = clock() + self._patience
        while True:
            if records := self._stream.take():
                yield from records
                give_up = clock() + self._patience
            elif self._stream.closed:
                return
            elif clock() >= give_up:
                raise httpx.ReadTimeout(f"no event within {self._patience:g} s")
            else:
                self._wait(give_up)

    def _wait(self, give_up: float) -> None:
        """Until the master has something to do, and let it do that."""
        master = self._application.master
        due = master.next_deadline()
        until = give_up if due is None else min(due, give_up)
        self._sleep(max(0.0, until - master.clock()))
        self._application.tick()

    def close(self) -> None:
        """The subscriber hangs up, as far as the master is concerned."""
        self._stream.abandon()
        self._application.tick()
