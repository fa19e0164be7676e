"""Transports of httpx to a master in the same process, over one of its connections."""

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import httpx

from fake_master.transports.connections import Connection, DirectConnection, Events, Sleep

if TYPE_CHECKING:
    from fake_master.master import Master


class ConnectionTransport(httpx.BaseTransport):
    """Carries each request of an httpx client over a connection to a master in this process."""

    def __init__(self, connection: Connection, pass_time: Sleep = lambda _: None) -> None:
        """`pass_time` is called with the seconds that the client has waited."""
        self._connection = connection
        self.pass_time = pass_time

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """One exchange; the answer is whole before it returns, unless it is a stream."""
        response = self._connection.answer(
            request.method,
            # A client that must not have its path normalised says it here, as to a socket.
            request.extensions.get("target", request.url.raw_path).decode(errors="surrogateescape"),
            {name.lower(): value for name, value in request.headers.items()},
            request.read(),
        )
        if response.stream is not None:
            events = self._connection.events(response.stream, request.extensions.get("timeout", {}).get("read"))
            return httpx.Response(response.status, headers=dict(response.headers), stream=_Stream(events))
        headers = {"Content-Length": str(len(response.body)), **response.headers}
        return httpx.Response(response.status, headers=headers, content=response.body)

    def close(self) -> None:
        """Close the master's registry."""
        self._connection.close()


class _Stream(httpx.SyncByteStream):
    """Events as httpx reads them."""

    def __init__(self, events: Events) -> None:
        self._events = events

    def __iter__(self) -> Iterator[bytes]:
        try:
            yield from self._events
        except TimeoutError as error:
            raise httpx.ReadTimeout(str(error)) from error

    def close(self) -> None:
        """The subscriber hangs up."""
        self._events.close()


class InProcessTransport(ConnectionTransport):
    """Hands each request of an httpx client straight to a master; see `DirectConnection`."""

    def __init__(self, master: "Master", sleep: Sleep = time.sleep) -> None:
        super().__init__(DirectConnection(master, sleep))
