"""The network: connections to masters, and those that are kept for the next request.

One deadline covers an exchange whole: each connect, read and write waits for what is left of it.  Looking
up a host name is up to the system's resolver and its own limits.  No proxies and no .netrc from the
environment: a master is spoken to directly, and credentials come from where the operator put them.
"""

import socket
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, quote, urlsplit

from mesosctl import __version__
from mesosctl.client.address import ascii_host, bracketed, default_port
from mesosctl.client.connection import Connection, Reply, left
from mesosctl.client.conversation import Tls
from mesosctl.client.failures import ConnectedTooLate, NotConnected
from mesosctl.client.way import PATH_SAFE, Outgoing, Patience
from mesosctl.core.errors import UsageError

if TYPE_CHECKING:
    import ssl

_WITH_BODY = ("POST", "PUT")


class Network:
    """Masters on sockets: a `Way`.  One idle connection to each is kept."""

    def __init__(self, tls: Tls) -> None:
        self._tls = tls
        self._context: ssl.SSLContext | None = None
        self._idle: dict[tuple[str, str, int], Connection] = {}

    def send(self, request: Outgoing, patience: Patience) -> Reply:
        """Send a request and wait for the head of its answer.  Raises Failure, BadInput, UsageError."""
        url = urlsplit(request.base)
        port = default_port(url.scheme) if url.port is None else url.port
        place = (url.scheme, _host(url, request.base), port)
        connection = self._idle.pop(place, None)
        if connection is not None and not connection.is_open:
            connection.close()
            connection = None
        if connection is None:
            connection = Connection(self._connect(*place, patience), lambda free: self._keep(place, free))
        headers = _common_headers(place) | dict(request.headers)
        if request.body or request.method in _WITH_BODY:
            headers["Content-Length"] = str(len(request.body or b""))
        target = quote(url.path, safe=PATH_SAFE + "%") + request.target
        return connection.exchange(request.method, target, headers, request.body, patience)

    def end_idle(self) -> None:
        """Close the connections that nothing is under way on."""
        for connection in self._idle.values():
            connection.close()
        self._idle.clear()

    close = end_idle

    def _keep(self, place: tuple[str, str, int], connection: Connection) -> None:
        other = self._idle.pop(place, None)
        if other is not None:
            other.close()
        self._idle[place] = connection

    def _connect(self, scheme: str, host: str, port: int, patience: Patience) -> socket.socket:
        context = self._open_context() if scheme == "https" else None
        stream = _open_socket(host, port, patience)
        try:
            stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if context is None:
                return stream
            stream.settimeout(left(patience.to_connect()))
            return context.wrap_socket(stream, server_hostname=host)
        except TimeoutError as error:
            stream.close()
            raise ConnectedTooLate(str(error)) from error
        except OSError as error:
            stream.close()
            raise NotConnected(str(error)) from error
        except BaseException:
            stream.close()
            raise

    def _open_context(self) -> "ssl.SSLContext":
        if self._context is None:
            from mesosctl.client.tls import open_context

            self._context = open_context(self._tls)
        return self._context


def _open_socket(host: str, port: int, patience: Patience) -> socket.socket:
    """A connection to a host; one of several addresses gets no more time than one of a single.  Raises Failure."""
    try:
        # In bytes: it is ASCII by now, and a text would have Python load its own tables of IDNA.
        found = socket.getaddrinfo(host.encode(), port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise NotConnected(str(error)) from error
    for index, (family, kind, protocol, _, address) in enumerate(found):
        try:
            seconds = left(patience.to_connect()) / (len(found) - index)
            return _connected(socket.socket(family, kind, protocol), address, seconds)
        except OSError as error:  # also an address of a kind that this machine does not speak
            if index == len(found) - 1:
                raise (ConnectedTooLate if isinstance(error, TimeoutError) else NotConnected)(str(error)) from error
    raise NotConnected("the name has no address")


def _connected(stream: socket.socket, address: Any, seconds: float) -> socket.socket:
    try:
        stream.settimeout(seconds)
        stream.connect(address)
    except BaseException:
        stream.close()
        raise
    return stream


def _host(url: SplitResult, base: str) -> str:
    """Raises UsageError for one that passes for a name, and is none."""
    try:
        return ascii_host(url)
    except ValueError as error:
        raise UsageError(f"{base} is not the address of a master: {error}", field="--master") from None


def _common_headers(place: tuple[str, str, int]) -> dict[str, str]:
    scheme, host, port = place
    shown = bracketed(host)
    return {
        "Host": shown if port == default_port(scheme) else f"{shown}:{port}",
        "Accept-Encoding": "gzip",
        "Connection": "keep-alive",
        "User-Agent": f"mesosctl/{__version__}",
    }
