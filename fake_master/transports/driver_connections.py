"""Connections to scheduler drivers: one to each address, opened with the first message for it."""

import asyncio
import contextlib
from collections.abc import Callable

from aiohttp import web
from aiohttp.abc import AbstractStreamWriter

from fake_master.driver.endpoint import DriverEndpoint
from fake_master.driver.messages import Address
from fake_master.http.application import Application
from fake_master.state.streams import LARGEST_BACKLOG

_CONNECT_SECONDS = 10.0
_PIECE = 64 * 1024


class DriverConnections:
    """Writes to drivers and notices when they are gone; `exited` is called with an address whose connection is lost."""

    def __init__(self, exited: Callable[[Address], None]) -> None:
        self._exited = exited
        self._open: dict[Address, _Connection] = {}
        self._closing = False

    def post(self, to: Address, data: bytes) -> None:
        """Write to an address, once there is a connection; a driver that does not read is disconnected."""
        self._to(to).post(data)

    def link(self, to: Address) -> None:
        """Open a connection if there is none, so that its end is noticed."""
        self._to(to)

    def unanswered(self) -> web.StreamResponse:
        """Return the answer to libprocess: nothing."""
        return _Unanswered(status=202)

    async def close(self) -> None:
        """Hang up everywhere."""
        self._closing = True
        connections = list(self._open.values())
        for connection in connections:
            connection.task.cancel()
        await asyncio.gather(*(connection.task for connection in connections), return_exceptions=True)

    def _to(self, to: Address) -> "_Connection":
        connection = self._open.get(to)
        if connection is None:
            connection = self._open[to] = _Connection(to)
            connection.task.add_done_callback(lambda _task: self._lost(to))
        return connection

    def _lost(self, to: Address) -> None:
        del self._open[to]
        if not self._closing:
            self._exited(to)


class _Connection:
    """One connection, from the attempt to open it to its end."""

    def __init__(self, to: Address) -> None:
        self._to = to
        self._waiting: list[bytes] = []
        self._writer: asyncio.StreamWriter | None = None
        self.task = asyncio.get_running_loop().create_task(self._run())

    def post(self, data: bytes) -> None:
        """Write, or keep until there is a connection."""
        if self._writer is None:
            self._waiting.append(data)
            return
        self._writer.write(data)
        if self._writer.transport.get_write_buffer_size() > LARGEST_BACKLOG:
            self._writer.transport.abort()

    async def _run(self) -> None:
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(_CONNECT_SECONDS):
                reader, self._writer = await asyncio.open_connection(self._to.ip, self._to.port)
            try:
                for data in self._waiting:
                    self.post(data)
                self._waiting.clear()
                while await reader.read(_PIECE):
                    pass  # a driver answers with its own messages, to the master's address
            finally:
                self._writer.close()


class _Unanswered(web.StreamResponse):
    """The absence of an answer: libprocess reads none, and keeps its connection."""

    async def prepare(self, request: web.BaseRequest) -> AbstractStreamWriter | None:
        """Write nothing."""
        del request
        return None

    async def write_eof(self, data: bytes = b"") -> None:
        """Write nothing."""

    @property
    def keep_alive(self) -> bool | None:
        """Whether more messages may come."""
        return True


def serve_drivers(application: Application, wake: Callable[[], None]) -> DriverConnections:
    """Have the messages of drivers taken, inside a running loop; `wake` is called when one is lost."""

    def exited(address: Address) -> None:
        endpoint.exited(address)
        wake()

    connections = DriverConnections(exited)
    endpoint = DriverEndpoint(application.master, application.endpoints.scheduler_api, connections)
    application.find_message = endpoint.find
    return connections
