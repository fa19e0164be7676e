"""The limits of one client: how much it may send, how long it may take, how many may come at once.

A Mesos master has few such limits; the fake one has them so that a slow, silent or hostile client gets the HTTP status
for it, and does not affect others.
"""

import asyncio
import resource
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import HttpVersion11, StreamReader, web
from aiohttp.abc import AbstractStreamWriter
from aiohttp.http import RawRequestMessage

from fake_master.transports.request_bytes import Boundaries

MIB = 1024 * 1024
_LARGEST_WRITE = 256 * 1024
_MOST_FILES = 20_000
_SPARE_FILES = 64
"""Kept for the registry, the standard streams and what Python opens."""


def allow_many_files() -> None:
    """Let this process have as many connections as the system permits, which by default is fewer."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MOST_FILES if hard == resource.RLIM_INFINITY else min(_MOST_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _most_connections() -> int:
    """Return how many connections the process's limit of open files allows, less a reserve for accepting."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(16, 16384 if soft == resource.RLIM_INFINITY else min(16384, soft - _SPARE_FILES))


@dataclass(frozen=True, slots=True)
class ClientLimits:
    """Sizes in bytes, times in seconds."""

    body: int = 64 * MIB
    """The unpacked body of one request (413)."""
    bodies: int = 256 * MIB
    """The bodies of all requests that are being read (503)."""
    expansion: int = 100
    """The largest expansion of a compressed body (413); 64 KiB are always allowed."""
    line: int = 64 * 1024
    """The request line (400)."""
    header: int = 16 * 1024
    """One header (400); there may be 128 of them."""
    connections: int = field(default_factory=_most_connections)
    """Open at once (503), after those have been closed that only wait for another request."""
    driver_connections: int = field(default_factory=lambda: _most_connections() // 4)
    """Opened to drivers at once, if drivers are served; they are taken off `connections`."""
    request_seconds: float = 30.0
    """From the first byte of a request to the end of its headers (408), and for a client to say anything at all."""
    body_seconds: float = 60.0
    """To send the body (408)."""
    answer_seconds: float = 60.0
    """The time to read an answer, except a stream; then the client is disconnected."""
    registry_seconds: float = 10.0
    """To wait for a registry that another process holds (500)."""
    idle_seconds: float = 3600.0
    """Between two requests; long, because schedulers count on a connection that they seldom use."""


class TimedConnection(web.RequestHandler):
    """One client.  It is timed while it sends the head of a request, and left alone while one is answered."""

    def __init__(self, door: "Door", **options: Any) -> None:
        super().__init__(door, **options)
        self._door = door
        self._limit: asyncio.TimerHandle | None = None
        self._heard = False
        self._ended = False
        self.answering = False
        self._streaming = False
        self._on_lost: list[Callable[[], None]] = []
        self._body: StreamReader | None = None
        self._boundaries = Boundaries()

    @property
    def is_idle(self) -> bool:
        """Whether it only waits for another request."""
        return not self.answering and self._limit is None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Let a connection in, or turn it away."""
        super().connection_made(transport)
        if self._door.is_full_for(self):
            self._end_with(503, "There are too many connections")
        else:
            self._start_timing()

    def data_received(self, data: bytes) -> None:
        """A piece of a request."""
        self._heard = True
        if not self.answering and self._limit is None:
            self._start_timing()
        self._boundaries.feed(data)
        super().data_received(data)

    def eof_received(self) -> bool:  # type: ignore[override]  # aiohttp means "no" by None
        """The client sends no more requests; pending ones are still answered, except streams. TLS cannot do that."""
        self._ended = True
        if not self._heard or self._streaming or (self._body is not None and not self._body.is_eof()):
            return False
        return self.transport is not None and self.transport.get_extra_info("sslcontext") is None

    def connection_lost(self, exc: BaseException | None) -> None:
        """The connection is gone: stop the timers, and call the callbacks."""
        self._stop_timing()
        super().connection_lost(exc)
        for tell in self._on_lost:
            tell()

    def begin(self) -> None:
        """A request's head is complete."""
        self._stop_timing()
        self.answering = True

    def await_body(self, body: StreamReader) -> None:
        """Return the bytes that belong to the request.  Raises ConnectionError if nothing more comes of it."""
        self._body = body
        if self._ended and not body.is_eof():
            raise ConnectionResetError("it ends early")

    def end(self) -> None:
        """The request was answered."""
        self.answering = self._heard = self._streaming = False
        self._body = None
        if self._ended:
            self.close()
        elif not (self._messages or self._boundaries.is_between):
            self._heard = True
            self._start_timing()  # a part of the next one came with this one

    def stream(self, on_lost: Callable[[], None]) -> bool:
        """Mark the answer as a stream; return whether the client is still connected.

        `on_lost` is called when the connection ends.
        """
        self._streaming = True
        self._on_lost.append(on_lost)
        return not self._ended

    def _start_timing(self) -> None:
        seconds = self._door.limits.request_seconds
        self._limit = asyncio.get_running_loop().call_later(seconds, self._too_slow)

    def _stop_timing(self) -> None:
        if self._limit is not None:
            self._limit.cancel()
            self._limit = None

    def _too_slow(self) -> None:
        self._limit = None
        if self.answering:
            return
        if self._heard:
            self._end_with(408, "The request did not arrive in time")
        else:
            self.force_close()

    def _end_with(self, status: int, sentence: str) -> None:
        """Sent without a request, because there is none that could be answered."""
        phrase = web.Response(status=status).reason
        head = f"HTTP/1.1 {status} {phrase}\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\n"
        if self.transport is not None:
            self.transport.write(f"{head}Content-Length: {len(sentence)}\r\n\r\n{sentence}".encode())
        self.force_close()


def _request(
    message: RawRequestMessage,
    payload: StreamReader,
    protocol: web.RequestHandler,
    writer: AbstractStreamWriter,
    task: "asyncio.Task[None]",
) -> web.BaseRequest:
    """A request that is answered with HTTP/1.1, like on Mesos: a 1.0 request gets a stream too, in chunks."""
    asked = message._replace(version=HttpVersion11)
    return web.BaseRequest(asked, payload, protocol, writer, task, asyncio.get_running_loop())


class Door(web.Server):
    """Makes connections, as many as there may be."""

    def __init__(self, handler: Callable[[web.BaseRequest], Any], limits: ClientLimits) -> None:
        self.limits = limits
        self._options = {
            "access_log": None,
            "keepalive_timeout": limits.idle_seconds,
            "max_line_size": limits.line,
            "max_field_size": limits.header,
            "auto_decompress": False,  # see `Unpacker`
        }
        super().__init__(handler, request_factory=_request, handler_cancellation=True)

    def __call__(self) -> TimedConnection:
        """A new connection, before it is used."""
        return TimedConnection(self, loop=asyncio.get_running_loop(), **self._options)

    def is_full_for(self, newcomer: TimedConnection) -> bool:
        """Return whether there is no room, even after closing the oldest idle connection."""
        if len(self._connections) <= self.limits.connections:
            return False
        for other in self._connections:
            if other is not newcomer and isinstance(other, TimedConnection) and other.is_idle:
                other.force_close()
                return False
        return True


def connection_of(request: web.BaseRequest) -> TimedConnection:
    """Return the connection of a request."""
    assert isinstance(request.protocol, TimedConnection)
    return request.protocol


def cut_off(request: web.BaseRequest) -> None:
    """Close without waiting until the other side has read everything."""
    if request.transport is not None:
        request.transport.abort()


async def write_chunk(
    request: web.BaseRequest, response: web.StreamResponse, record: bytes, writing: asyncio.Lock
) -> None:
    """Send one record in its own chunk.

    A large one is sent in pieces, each when the previous one was taken: otherwise a copy of all of it would wait in the
    buffer of every subscriber that does not read. Only one subscriber gets a piece at a time, so that other requests
    are answered in between.
    """
    if len(record) <= _LARGEST_WRITE:
        await response.write(record)
        return
    writer = request.writer
    writer.send_headers()
    whole = memoryview(record)
    pieces: list[bytes | memoryview] = [whole[at : at + _LARGEST_WRITE] for at in range(0, len(record), _LARGEST_WRITE)]
    for piece in (b"%x\r\n" % len(record), *pieces, b"\r\n"):
        async with writing:
            if request.transport is None or request.transport.is_closing():
                raise ConnectionResetError("the subscriber is gone")
            request.transport.write(piece)
            await asyncio.sleep(0)
        await writer.drain()
