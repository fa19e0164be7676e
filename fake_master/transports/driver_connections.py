"""Connections to scheduler drivers: one to each address, opened with the first message for it."""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass

from aiohttp import web
from aiohttp.abc import AbstractStreamWriter

from fake_master.driver.endpoint import DriverEndpoint
from fake_master.driver.messages import Address
from fake_master.http.application import Application
from fake_master.state.streams import LARGEST_BACKLOG

_CONNECT_SECONDS = 10.0
_PIECE = 64 * 1024
_LARGEST_WAITING = 16 * 1024 * 1024
"""Bytes that wait until connections are open, of all of them."""


class DriverConnections:
    """Writes to drivers and notices when they are gone; `exited` is called with an address whose connection is lost.

    The sender of a message names the address that the master connects to, so there are at most `most` connections, and
    what waits until they are open is bounded. A connection without a registered driver makes room for another.
    """

    def __init__(self, exited: Callable[[Address], None], most: int) -> None:
        self._exited = exited
        self._most = most
        self._open: dict[Address, _Connection] = {}
        self._waiting = WaitingBytes()
        self._closing = False

    def post(self, to: Address, data: bytes) -> None:
        """Write to an address, once there is a connection; a driver that does not read is disconnected.

        The message is lost if there can be no connection.
        """
        connection = self._to(to)
        if connection is not None:
            connection.post(data)

    def link(self, to: Address) -> None:
        """Open a connection if there is none, so that its end is noticed; it is lost at once if there is no room."""
        connection = self._to(to)
        if connection is None:
            asyncio.get_running_loop().call_soon(self._exited, to)
        else:
            connection.is_linked = True

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

    def _to(self, to: Address) -> "_Connection | None":
        connection = self._open.get(to)
        if connection is None and self._has_room():
            connection = self._open[to] = _Connection(to, self._waiting)
            made = connection
            connection.task.add_done_callback(lambda _task: self._lost(to, made))
        return connection

    def _has_room(self) -> bool:
        """Whether there may be another connection, after the oldest one without a driver has made room for it."""
        if len(self._open) < self._most:
            return True
        for address, connection in self._open.items():
            if not connection.is_linked:
                del self._open[address]
                connection.task.cancel()
                return True
        return False

    def _lost(self, to: Address, connection: "_Connection") -> None:
        connection.forget()
        if self._open.get(to) is connection:
            del self._open[to]
            if not self._closing:
                self._exited(to)


@dataclass(slots=True)
class WaitingBytes:
    """The bytes that wait for connections to open, of all of them."""

    size: int = 0


class _Connection:
    """One connection, from the attempt to open it to its end."""

    def __init__(self, to: Address, waiting: WaitingBytes) -> None:
        self._to = to
        self._waiting: list[bytes] = []
        self._all_waiting = waiting
        self._writer: asyncio.StreamWriter | None = None
        self.is_linked = False
        """Whether a registered driver is there."""
        self.task = asyncio.get_running_loop().create_task(self._run())

    def post(self, data: bytes) -> None:
        """Write, or keep until there is a connection; where too much waits, the connection is given up."""
        if self._writer is None:
            if self._all_waiting.size + len(data) > _LARGEST_WAITING:
                self.task.cancel()
                return
            self._waiting.append(data)
            self._all_waiting.size += len(data)
            return
        self._writer.write(data)
        if self._writer.transport.get_write_buffer_size() > LARGEST_BACKLOG:
            self._writer.transport.abort()

    def forget(self) -> None:
        """Drop what waits."""
        self._all_waiting.size -= sum(map(len, self._waiting))
        self._waiting.clear()

    async def _run(self) -> None:
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(_CONNECT_SECONDS):
                reader, self._writer = await asyncio.open_connection(self._to.ip, self._to.port)
            try:
                for data in self._waiting:
                    self.post(data)
                self.forget()
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


def serve_drivers(application: Application, wake: Callable[[], None], most: int) -> DriverConnections:
    """Have the messages of drivers taken, inside a running loop; `wake` is called when one is lost.

    `most` is how many connections there may be to them.
    """

    def exited(address: Address) -> None:
        endpoint.exited(address)
        wake()

    connections = DriverConnections(exited, most)
    endpoint = DriverEndpoint(application.master, application.endpoints.scheduler_api, connections)
    application.find_message = endpoint.find
    return connections
