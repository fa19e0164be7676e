"""A network on which one deadline covers an exchange whole.

A timeout of httpx begins anew with each read, so an answer that drips would never end.  Here each
connect, read and write waits for what is left of the deadline.  Looking up a host name is up to the
system's resolver and its own limits.

Imported by `client.carrier` when the first request is made.
"""

import ssl
from collections.abc import Iterable
from typing import Any

import httpcore
import httpx

from mesosctl.client.settings import Deadline

_PIECE = 64 * 1024


class Network(httpcore.SyncBackend):
    """Connections whose every wait ends with `deadline`, which belongs to the exchange under way.

    Until the first byte of an answer a wait ends sooner where another master can be asked instead.
    """

    deadline: Deadline

    def __init__(self) -> None:
        self._reserve = 0.0

    def begin(self, deadline: Deadline) -> None:
        """Another exchange; what must be left of the deadline for others is kept until somebody answers."""
        self.deadline = deadline
        self._reserve = deadline.remaining() - deadline.to_answer()

    def answered(self) -> None:
        """The first byte has come: the rest of it may take whatever is left."""
        self._reserve = 0.0

    def to_read(self) -> float:
        """Seconds that the next read may take."""
        return self.deadline.remaining() - self._reserve

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """As `httpcore.SyncBackend`; a host of several addresses gets no more time than one of a single."""
        import socket

        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError as error:
            raise httpcore.ConnectError(error) from error
        except UnicodeError as error:
            raise httpcore.ConnectError("that is no name of a host") from error
        left = min(timeout or self.deadline.remaining(), self.deadline.remaining())
        for index, (*_, address) in enumerate(found):
            part = left / (len(found) - index)
            try:
                stream = super().connect_tcp(str(address[0]), port, part, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                left -= part if isinstance(error, httpcore.ConnectTimeout) else 0
                if index == len(found) - 1:
                    raise
            else:
                return _Stream(stream, self)
        raise httpcore.ConnectError("the name has no address")


class _Stream(httpcore.NetworkStream):
    """A stream of the system, waited for no longer than the deadline of its network."""

    def __init__(self, inner: httpcore.NetworkStream, network: Network) -> None:
        self._inner = inner
        self._network = network

    def _left(self, late: type[Exception], seconds: float | None = None) -> float:
        remaining = self._network.deadline.remaining() if seconds is None else seconds
        if remaining <= 0:
            raise late("the deadline has passed")
        return remaining

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """What has come, by the deadline."""
        del timeout
        data = self._inner.read(max_bytes, self._left(httpcore.ReadTimeout, self._network.to_read()))
        self._network.answered()
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Everything, by the deadline."""
        del timeout
        for start in range(0, len(buffer), _PIECE):
            self._inner.write(buffer[start : start + _PIECE], self._left(httpcore.WriteTimeout))

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        """The handshake, in the time that is left for connecting."""
        left = self._left(httpcore.ConnectTimeout)
        inner = self._inner.start_tls(ssl_context, server_hostname, min(timeout or left, left))
        return _Stream(inner, self._network)

    def close(self) -> None:
        """Close the connection."""
        self._inner.close()

    def get_extra_info(self, info: str) -> Any:
        """What the stream of the system says."""
        return self._inner.get_extra_info(info)


class Transport(httpx.HTTPTransport):
    """Requests over `network`."""

    def __init__(self, network: Network, context: ssl.SSLContext | None) -> None:
        # verify=False has no meaning for http and saves loading the certificates of the whole world.
        super().__init__(verify=False if context is None else context)
        self._pool = httpcore.ConnectionPool(ssl_context=context, network_backend=network)

    def end_idle(self) -> None:
        """Close the connections that nothing is under way on; the pool forgets them."""
        for connection in self._pool.connections:
            if connection.is_idle():
                connection.close()
