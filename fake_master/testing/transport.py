"""The httpx transport to the master of a `FakeMaster`, for clients in any thread and in any asyncio loop."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator

import httpx

from fake_master.http.application import Application
from fake_master.http.request_response import Request, Response
from fake_master.state.streams import EventStream
from fake_master.testing.threads import ThreadGate
from fake_master.transports.connections import ConnectionDropped, Events, Sleep


class FakeTransport(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Carries the requests of httpx clients, synchronous and asynchronous, to a master in this process.

    A stream of events lets virtual time pass if it is read in the thread that made the master, because nothing else
    could; in other threads it waits for events, like a stream through a socket. Closing a client does not close the
    master.
    """

    def __init__(self, application: Application, gate: ThreadGate, sleep: Sleep, owner: threading.Thread) -> None:
        self._application = application
        self._gate = gate
        self._sleep = sleep
        self._owner = owner
        self.listeners = 0
        """Open streams that are read elsewhere than in the owner's synchronous code."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Answer one request of a synchronous client."""
        answer = self._answer(request, request.read())
        if answer.stream is None:
            return _whole(answer)
        timeout = _timeout(request)
        if threading.current_thread() is self._owner:
            stream: httpx.SyncByteStream = _OwnStream(
                self._gate, Events(self._application, answer.stream, self._sleep, timeout or float("inf"))
            )
        else:
            stream = _ThreadStream(self, answer.stream, timeout)
        return httpx.Response(answer.status, headers=dict(answer.headers), stream=stream)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Answer one request of an asynchronous client."""
        answer = self._answer(request, await request.aread())
        if answer.stream is None:
            return _whole(answer)
        stream = _LoopStream(self, answer.stream, _timeout(request))
        return httpx.Response(answer.status, headers=dict(answer.headers), stream=stream)

    def _answer(self, request: httpx.Request, body: bytes) -> Response:
        target = request.extensions.get("target", request.url.raw_path).decode(errors="surrogateescape")
        headers = {name.lower(): value for name, value in request.headers.items()}
        asked = Request(request.method, target, headers, body)
        try:
            return self._gate(lambda: self._application.handle(asked))
        except ConnectionDropped:
            told = "Server disconnected without sending a response."
            raise httpx.RemoteProtocolError(told, request=request) from None

    def take(self, stream: EventStream) -> tuple[list[bytes], bool]:
        """Take the waiting events of a stream; also return whether more may come."""
        return self._gate(lambda: (stream.take(), not stream.closed))

    def hang_up(self, stream: EventStream) -> None:
        """The subscriber is gone."""

        def abandon() -> None:
            stream.abandon()
            self._application.tick()

        self._gate(abandon)


class _OwnStream(httpx.SyncByteStream):
    """A stream that is read in the owner's thread."""

    def __init__(self, gate: ThreadGate, events: Events) -> None:
        self._gate = gate
        self._events = events
        self._pieces = iter(events)

    def __iter__(self) -> Iterator[bytes]:
        try:
            while (piece := self._gate(lambda: next(self._pieces, None))) is not None:
                yield piece
        except TimeoutError as error:
            raise httpx.ReadTimeout(str(error)) from error

    def close(self) -> None:
        self._gate(self._events.close)


class _ThreadStream(httpx.SyncByteStream):
    """A stream that is read in another thread."""

    def __init__(self, transport: FakeTransport, stream: EventStream, timeout: float | None) -> None:
        self._transport, self._stream, self._timeout = transport, stream, timeout
        self._news = threading.Event()
        stream.on_event(self._news.set)
        transport.listeners += 1

    def __iter__(self) -> Iterator[bytes]:
        while True:
            self._news.clear()
            pieces, is_open = self._transport.take(self._stream)
            yield from pieces
            if not pieces:
                if not is_open:
                    return
                if not self._news.wait(self._timeout):
                    raise httpx.ReadTimeout("no event came in time")

    def close(self) -> None:
        self._transport.listeners -= 1
        self._transport.hang_up(self._stream)


class _LoopStream(httpx.AsyncByteStream):
    """A stream that is read in an asyncio loop."""

    def __init__(self, transport: FakeTransport, stream: EventStream, timeout: float | None) -> None:
        self._transport, self._stream, self._timeout = transport, stream, timeout
        self._news = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        stream.on_event(self._wake)
        transport.listeners += 1

    def _wake(self) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._news.set)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while True:
            self._news.clear()
            pieces, is_open = self._transport.take(self._stream)
            for piece in pieces:
                yield piece
            if not pieces:
                if not is_open:
                    return
                try:
                    await asyncio.wait_for(self._news.wait(), self._timeout)
                except TimeoutError as error:
                    raise httpx.ReadTimeout("no event came in time") from error

    async def aclose(self) -> None:
        self._transport.listeners -= 1
        self._transport.hang_up(self._stream)


def _whole(answer: Response) -> httpx.Response:
    headers = {"Content-Length": str(len(answer.body)), **answer.headers}
    return httpx.Response(answer.status, headers=headers, content=answer.body)


def _timeout(request: httpx.Request) -> float | None:
    """Seconds between two pieces of a stream, by the timeouts of the client."""
    timeout: float | None = request.extensions.get("timeout", {}).get("read")
    return timeout
