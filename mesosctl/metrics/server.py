"""The server of `metrics --listen`: HTTP for Prometheus, which nobody can keep busy, and one reading for many scrapes.

It builds on the standard library's WSGI server, whose threads and waiting have no bounds. Here a connection has a time
to send the head of its request, and to take its answer. Of too many connections, the one that has waited longest for a
head is closed; if all have one, the next is accepted as soon as one of them ends.
"""

import socket
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from http.client import LineTooLong
from io import BufferedIOBase
from socketserver import TCPServer, ThreadingMixIn
from threading import Condition, Lock, Thread
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from wsgiref.simple_server import ServerHandler, WSGIRequestHandler, WSGIServer

from mesosctl.mesos.errors import MesosctlError

if TYPE_CHECKING:
    from wsgiref.types import WSGIApplication

MOST_CONNECTIONS = 64
"""Connections, and so threads, at once."""
_BACKLOG = 128
"""Connections that the system keeps until they are accepted."""
SECONDS = 10.0
"""The time for the head of a request, and for its answer to be taken."""
_PATIENCE = 0.25
"""Seconds for which a connection without a head is not closed for another one: its head may be on its way."""
LARGEST_HEAD = 1 << 14
"""The most bytes of a head; that of Prometheus has about 300."""
_SECONDS_UNTIL_OLD, _TIMES_UNTIL_OLD = 60.0, 10.0
Reading = TypeVar("Reading")


class SharedReading(Generic[Reading]):
    """Callers that come while a reading is under way all get its result."""

    def __init__(self, read: Callable[[], Reading]) -> None:
        self._read = read
        self._lock = Lock()
        self._under_way: Future[Reading] | None = None

    def __call__(self) -> Reading:
        """The reading that is under way, or a new one.  Raises what reading raises."""
        with self._lock:
            found = self._under_way
            if found is None:
                mine = self._under_way = Future()
        if found is not None:
            return found.result()
        try:
            reading = self._read()
        except BaseException as error:
            self._end()
            mine.set_exception(error)
            raise
        self._end()
        mine.set_result(reading)
        return reading

    def _end(self) -> None:
        """Let the next caller begin a new reading, before any caller has the result of this one."""
        with self._lock:
            self._under_way = None


class AgingReading(Generic[Reading]):
    """Keeps the last result of a slow reading: callers get it at once, and if it is stale, a thread makes a new one.

    It is stale after a minute, or after ten times as long as it took. If it cannot be made again, it stays, and
    `failed` is told. The first one is made at once.  Raises what reading raises.
    """

    def __init__(
        self,
        read: Callable[[], Reading],
        failed: Callable[[MesosctlError], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._read, self._failed, self._clock = read, failed, clock
        self._lock = Lock()
        self._is_under_way = False
        self._make()

    def _make(self) -> None:
        began = self._clock()
        try:
            self._last = self._read()
        finally:
            self._due = self._clock() + max(_SECONDS_UNTIL_OLD, _TIMES_UNTIL_OLD * (self._clock() - began))

    def __call__(self) -> Reading:
        """The last reading."""
        with self._lock:
            if not self._is_under_way and self._clock() >= self._due:
                self._is_under_way = True
                Thread(target=self._make_again, daemon=True).start()
        return self._last

    def _make_again(self) -> None:
        try:
            self._make()
        except MesosctlError as error:
            self._failed(error)
        finally:
            self._is_under_way = False


class _Head:
    """The lines of a request's head; reading more than it may have raises LineTooLong."""

    def __init__(self, inner: BufferedIOBase) -> None:
        self._inner = inner
        self._left = LARGEST_HEAD

    def readline(self, size: int = -1) -> bytes:
        """The next line."""
        line = self._inner.readline(self._left + 1 if size < 0 else min(size, self._left + 1))
        self._left -= len(line)
        if self._left < 0:
            raise LineTooLong("head")
        return line


class _Answer(ServerHandler):
    """Writes an answer; a client that goes away, or does not take it, is no fault of the server."""

    def log_exception(self, exc_info: Any) -> None:
        """Say nothing about a connection that broke."""
        if not issubclass(exc_info[0], OSError):
            super().log_exception(exc_info)

    def error_output(self, environ: Any, start_response: Any) -> list[bytes]:
        """Nothing but the status."""
        del environ
        start_response("500 Internal Server Error", [("Content-Type", "text/plain")])
        return [b"the metrics cannot be shown\n"]


class _Handler(WSGIRequestHandler):
    """One request of a connection, which ends after it."""

    server: "MetricsServer"
    timeout = SECONDS

    def handle(self) -> None:
        """Read the head within bounds, and answer."""
        self.requestline = self.request_version = self.command = ""
        body: Any = self.rfile
        self.rfile = _Head(body)  # type: ignore[assignment]  # only its lines are read
        try:
            self.raw_requestline = self.rfile.readline()
            if not self.raw_requestline or not self.parse_request():
                return
        except LineTooLong:
            self.send_error(431)
            return
        finally:
            self.rfile = body
        self.server.has_head(self.connection)
        out: Any = self.wfile
        answer = _Answer(body, out, self.get_stderr(), self.get_environ(), multithread=True)
        answer.request_handler = self  # type: ignore[attr-defined]  # where wsgiref looks for it
        app = self.server.get_app()
        assert app is not None, "it is set when the server is made"
        answer.run(app)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the name of the library
        """Say nothing about a request."""


class MetricsServer(ThreadingMixIn, WSGIServer):
    """Serves `app` at a host and a port until it is interrupted.  Raises OSError if it cannot listen there."""

    daemon_threads = True
    request_queue_size = _BACKLOG

    def __init__(self, place: tuple[str, int], app: "WSGIApplication") -> None:
        (family, _, _, _, address), *_ = socket.getaddrinfo(*place, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        self.address_family = family
        self._changed = Condition()
        self._open: dict[socket.socket, float | None] = {}
        """When each connection was accepted, the first one first; None once it has sent its head."""
        super().__init__(address, _Handler)  # type: ignore[arg-type]  # of either family
        self.set_app(app)

    def server_bind(self) -> None:
        """Bind, without asking for the name of the address, which may take long."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])
        self.setup_environ()

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer a connection in a thread of its own, once there is room for it."""
        with self._changed:
            while len(self._open) >= MOST_CONNECTIONS:
                waiting = next(
                    ((connection, since) for connection, since in self._open.items() if since is not None), None
                )
                left = SECONDS if waiting is None else waiting[1] + _PATIENCE - time.monotonic()
                if waiting is None or left > 0:
                    self._changed.wait(left)
                else:
                    self._close(waiting[0])
            self._open[request] = time.monotonic()
        super().process_request(request, client_address)

    def _close(self, connection: socket.socket) -> None:
        """End a connection, so that its thread ends too."""
        del self._open[connection]
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)

    def has_head(self, connection: socket.socket) -> None:
        """Say that the head of a request has arrived."""
        with self._changed:
            if connection in self._open:
                self._open[connection] = None

    def service_actions(self) -> None:
        """Close the connections whose head has not arrived in time."""
        before = time.monotonic() - SECONDS
        with self._changed:
            for connection in [
                connection for connection, since in self._open.items() if since is not None and since < before
            ]:
                self._close(connection)

    def shutdown_request(self, request: Any) -> None:
        """End a connection, and make room for the next."""
        super().shutdown_request(request)
        with self._changed:
            self._open.pop(request, None)
            self._changed.notify()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing about a connection that broke."""
        import sys

        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)
