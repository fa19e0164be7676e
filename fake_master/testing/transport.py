"""The ways in which requests reach the master of a `FakeMaster`: in process, from any thread, or through a socket.

A master knows no threads, so one thread at a time may touch it.  Once there is a server, its thread does everything:
events reach an asyncio loop from nowhere else.  On its way a request may get lost, for `FakeMaster.drop_next`.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal, TypeVar, get_args

import httpx

from fake_master.http.application import Application
from fake_master.http.request_response import Request, Response
from fake_master.master import Master
from fake_master.state.streams import EventStream
from fake_master.transports.in_process import ConnectionDropped, Events, Sleep

Lost = Literal["request", "response"]


@dataclass(slots=True)
class _Fault:
    lost: Lost
    path: str | None
    times: int

    def concerns(self, request: Request) -> bool:
        path = request.path.removeprefix("/master")
        return self.path is None or fnmatchcase(path, self.path.removeprefix("/master"))


class FaultyApplication(Application):
    """Answers requests to a master, and drops those that it was asked to drop."""

    def __init__(self, master: Master) -> None:
        super().__init__(master)
        self._faults: list[_Fault] = []

    def drop(self, lost: Lost, path: str | None, times: int) -> None:
        """Lose the next `times` requests to paths like `path`, a shell pattern, or the answers to them.

        Raises ValueError.
        """
        if lost not in get_args(Lost):
            raise ValueError(f"lost is {lost!r}: write {' or '.join(map(repr, get_args(Lost)))}")
        if times < 1:
            raise ValueError(f"times is {times}: it must be above zero")
        self._faults.append(_Fault(lost, path, times))

    def respond(self, request: Request) -> Response:
        """See `Application.respond`.  Raises ConnectionDropped for a request that is lost."""
        fault = next((fault for fault in self._faults if fault.concerns(request)), None)
        if fault is None:
            return super().respond(request)
        fault.times -= 1
        if not fault.times:
            self._faults.remove(fault)
        if fault.lost == "response":
            answer = super().respond(request)
            if answer.stream is not None:
                answer.stream.abandon()
                self.tick()
        raise ConnectionDropped

    def end_streams(self) -> None:
        """End every stream of events, for example at the end of a master."""
        state = self.master.state
        frameworks = [known.stream for known in state.frameworks.values()]
        for stream in (*frameworks, *(listener.stream for listener in state.operator_streams.values())):
            if stream is not None:
                stream.close()


T = TypeVar("T")
_SECONDS_TO_START = 30.0


class Gate:
    """Lets one thread at a time use the master: `gate(action)` returns what the action returns."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def __call__(self, action: Callable[[], T]) -> T:
        """Run the action in this thread, or in the server's once there is one; raises what the action raises."""
        with self._lock:
            loop = self._loop
            if loop is None or threading.current_thread() is self._thread:
                return action()
        done: Future[T] = Future()

        def do() -> None:
            try:
                done.set_result(action())
            except BaseException as error:  # noqa: BLE001  # raised again in the thread that waits
                done.set_exception(error)

        loop.call_soon_threadsafe(do)
        return done.result()

    def run_in(self, loop: asyncio.AbstractEventLoop | None) -> None:
        """From now on, run actions in this thread, which runs `loop`; if it is None, in the calling thread."""
        with self._lock:
            self._loop, self._thread = loop, threading.current_thread()


class ServerThread:
    """A server for the application, in a separate thread; `url` is its address."""

    def __init__(self, application: Application, gate: Gate) -> None:
        # Imported late: in process, aiohttp is not needed.
        from fake_master.transports.server import Server

        self._application = application
        self._gate = gate
        self._server_type = Server
        self._address: Future[str] = Future()
        self._thread = threading.Thread(target=self._run, name="fake-master", daemon=True)
        self._thread.start()
        self.url = self._address.result(_SECONDS_TO_START)

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:
            if self._address.done():
                raise
            self._address.set_exception(error)

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._gate.run_in(self._loop)
        try:
            self._server = self._server_type(self._application)
            await self._server.run("127.0.0.1", 0, self._address.set_result, obey_signals=False)
        finally:
            self._gate.run_in(None)

    def close(self) -> None:
        """End the server and its master."""
        self._loop.call_soon_threadsafe(self._server.stop)
        self._thread.join()


class FakeTransport(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Carries the requests of httpx clients, synchronous and asynchronous, to a master in this process.

    A stream of events lets virtual time pass if it is read in the thread that made the master, because nothing else
    could; in other threads it waits for events, like a stream through a socket. Closing a client does not close the
    master.
    """

    def __init__(self, application: Application, gate: Gate, sleep: Sleep) -> None:
        self._application = application
        self._gate = gate
        self._sleep = sleep
        self._owner = threading.current_thread()
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

    def __init__(self, gate: Gate, events: Events) -> None:
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
