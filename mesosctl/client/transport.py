"""The network as a transport of httpx: pools of httpcore on a network backend that keeps deadlines.

Each connect, read and write waits at most for the rest of the deadline (`client.deadline.Timeout`). The system's
resolver looks up host names, with its own limits; a proxy looks up those of the masters behind it.
"""

import select
import socket
import ssl
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import unquote, urlsplit

import httpcore
import httpx

from mesosctl.client.address import bracketed
from mesosctl.client.deadline import Timeout
from mesosctl.client.proxies import Proxy, is_loopback
from mesosctl.client.settings import NO_TLS_FILES, Tls
from mesosctl.client.tls import open_context
from mesosctl.mesos.errors import BadInput

_PIECE = 64 * 1024
_TLS_ALERT = b"\x15\x03"
"""The beginning of a TLS server's answer to a plain request."""


class Unanswered(httpcore.RemoteProtocolError):
    """The connection ended before anything was received on it: perhaps its server does not serve this client."""


class NotHttp(httpcore.RemoteProtocolError):
    """The answer does not begin as HTTP does."""


class AnsweredInTls(httpcore.RemoteProtocolError):
    """A plain request was answered by TLS, and so not read."""


class NetworkTransport(httpx.BaseTransport):
    """Masters on sockets.  Connections are kept for the next request; a TLS context is made only for https."""

    def __init__(self, tls: Tls) -> None:
        self._tls = tls
        self._pools: dict[tuple[str, Proxy | None], httpcore.ConnectionPool] = {}

    def handle_request(self, request: httpx.Request, proxy: Proxy | None = None) -> httpx.Response:
        """Send a request and wait for the head of the answer.  Raises errors of httpx, and BadInput for TLS files."""
        assert isinstance(request.stream, httpx.SyncByteStream), "the client is synchronous"
        url = request.url
        sent = httpcore.Request(
            request.method,
            httpcore.URL(
                scheme=url.raw_scheme,
                host=url.raw_host,
                port=url.port,
                target=request.extensions.get("target", url.raw_path),
            ),
            headers=request.headers.raw,
            content=request.stream,
            # A target would replace that of what is sent to a proxy, too.
            extensions={name: value for name, value in request.extensions.items() if name != "target"},
        )
        with _errors_of_httpx():
            try:
                response = self._pool(url.scheme, proxy).handle_request(sent)
            except httpcore.RemoteProtocolError as error:
                # httpcore itself says that a connection has ended; only its parser's error comes from another one.
                if type(error) is httpcore.RemoteProtocolError and error.__context__ is not None:
                    raise NotHttp(str(error)) from error
                raise
            if not response.extensions["network_stream"].has_read:
                # Surplus bytes after the last answer would look like this one.
                response.close()
                raise httpcore.RemoteProtocolError("it answered before the request was sent")
        return httpx.Response(
            response.status, headers=response.headers, stream=_Body(response), extensions=response.extensions
        )

    def close_idle(self) -> None:
        """Close the idle connections."""
        for pool in self._pools.values():
            for connection in pool.connections:
                if connection.is_idle():
                    connection.close()

    def close(self) -> None:
        """Close every connection."""
        for pool in self._pools.values():
            pool.close()

    def _pool(self, scheme: str, proxy: Proxy | None) -> httpcore.ConnectionPool:
        if (scheme, proxy) not in self._pools:
            context = open_context(self._tls) if scheme == "https" else None
            self._pools[scheme, proxy] = _open_pool(context, proxy)
        return self._pools[scheme, proxy]


def _open_pool(context: ssl.SSLContext | None, proxy: Proxy | None) -> httpcore.ConnectionPool:
    """Connections to masters, or to the proxy before them.  Raises BadInput for a proxy that needs a package."""
    if proxy is None:
        return httpcore.ConnectionPool(context, max_connections=None, network_backend=_Backend())
    url = urlsplit(proxy.url)
    user = None if url.username is None else (unquote(url.username), unquote(url.password or ""))
    host = f"{url.scheme}://{bracketed(url.hostname or '')}:{url.port or _PORTS[url.scheme]}"
    if url.scheme.startswith("socks"):
        try:
            return httpcore.SOCKSProxy(
                host, proxy_auth=user, ssl_context=context, max_connections=None, network_backend=_Backend()
            )
        except (ImportError, RuntimeError):
            raise BadInput(
                f"{proxy.place} names a SOCKS proxy, which needs the package socksio",
                field=proxy.place,
                hint="pip install socksio",
            ) from None
    return httpcore.HTTPProxy(
        host,
        proxy_auth=user,
        ssl_context=context,
        proxy_ssl_context=open_context(NO_TLS_FILES) if url.scheme == "https" else None,
        max_connections=None,
        network_backend=_Backend(),
    )


_PORTS = {"http": 80, "https": 443, "socks5": 1080, "socks5h": 1080}


class ProxiedTransport(httpx.BaseTransport):
    """The same masters through a proxy, except those on the loopback interface.

    An error of httpx has the proxy in the extensions of its request.
    """

    def __init__(self, network: NetworkTransport, proxy: Proxy) -> None:
        self._network, self._proxy = network, proxy

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request, as `NetworkTransport` does.  Raises ProxyError if the proxy wants credentials."""
        if is_loopback(request.url.host):
            return self._network.handle_request(request)
        request.extensions = {**request.extensions, "proxy": self._proxy}
        response = self._network.handle_request(request, self._proxy)
        if response.status_code == PROXY_WANTS_CREDENTIALS:
            response.close()
            raise httpx.ProxyError("407 Proxy Authentication Required", request=request)
        return response


PROXY_WANTS_CREDENTIALS = 407
"""A status that only a proxy has."""


class _Body(httpx.SyncByteStream):
    """The body of an answer of httpcore."""

    def __init__(self, response: httpcore.Response) -> None:
        self._response = response

    def __iter__(self) -> Iterator[bytes]:
        with _errors_of_httpx():
            yield from self._response.iter_stream()

    def close(self) -> None:
        self._response.close()


@contextmanager
def _errors_of_httpx() -> Iterator[None]:
    """Turn each error of httpcore into that of httpx with the same name, or the name of its parent."""
    try:
        yield
    except (httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError, httpcore.ProxyError) as error:
        same = next(kind for ancestor in type(error).mro() if (kind := getattr(httpx, ancestor.__name__, None)))
        raise same(str(error)) from error


class _Backend(httpcore.NetworkBackend):
    """Connects within a deadline, whatever the number of addresses."""

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> "_Stream":
        del local_address, socket_options  # our pools have none
        # As bytes: it is already ASCII, and for a str Python would load its IDNA tables.
        with _errors_of_sockets(httpcore.ConnectTimeout, httpcore.ConnectError):
            found = socket.getaddrinfo(host.encode(), port, type=socket.SOCK_STREAM)
            for index, (family, kind, protocol, _, address) in enumerate(found):
                try:
                    # Each of several addresses gets its share of the time.
                    share = _left(timeout) / (len(found) - index)
                    return _Stream(_connected(socket.socket(family, kind, protocol), address, share))
                except OSError:  # also an address of a kind that this machine does not speak
                    if index == len(found) - 1:
                        raise
        raise httpcore.ConnectError("the name does not resolve")


class _Stream(httpcore.NetworkStream):
    """A connection that waits no longer than the deadline of its exchange."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._heard = False
        self.has_read = False
        """Whether anything was read since the last write."""
        self.pause = 0.0
        """Seconds before each reading, so that what comes meanwhile is read together."""

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        with _errors_of_sockets(httpcore.ReadTimeout, httpcore.ReadError):
            try:
                if self.pause:
                    time.sleep(min(self.pause, _left(timeout)))
                self._connection.settimeout(_left(timeout))
                data = self._connection.recv(max_bytes)
            except OSError as error:
                if self._heard or isinstance(error, TimeoutError | ssl.SSLError):
                    raise
                raise Unanswered(str(error)) from error
        if not self._heard:
            self._check_first(data)
        self._heard = self.has_read = True
        if isinstance(timeout, Timeout):
            timeout.answered()
        return data

    def _check_first(self, data: bytes) -> None:
        if not data:
            raise Unanswered("Server disconnected without sending a response")
        if data.startswith(_TLS_ALERT) and not isinstance(self._connection, ssl.SSLSocket):
            raise AnsweredInTls("it answered with TLS")

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self.has_read = False
        with _errors_of_sockets(httpcore.WriteTimeout, httpcore.WriteError):
            for start in range(0, len(buffer), _PIECE):
                self._connection.settimeout(_left(timeout))
                self._connection.sendall(buffer[start : start + _PIECE])

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> "_Stream":
        with _errors_of_sockets(httpcore.ConnectTimeout, httpcore.ConnectError):
            try:
                self._connection.settimeout(_left(timeout))
                return _Stream(ssl_context.wrap_socket(self._connection, server_hostname=server_hostname))
            except BaseException:
                self.close()
                raise

    def get_extra_info(self, info: str) -> Any:
        """`is_readable`, which for an idle connection means that it has ended or has surplus bytes, and `socket`."""
        if info == "is_readable":
            poll = select.poll()
            poll.register(self._connection, select.POLLIN)
            return bool(poll.poll(0))
        return self._connection if info == "socket" else None

    def close(self) -> None:
        self._connection.close()


def _connected(connection: socket.socket, address: Any, seconds: float) -> socket.socket:
    try:
        connection.settimeout(seconds)
        connection.connect(address)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except BaseException:
        connection.close()
        raise
    return connection


def _left(timeout: float | None) -> float:
    """Seconds to wait for a socket: zero would mean not to wait at all.  Raises TimeoutError."""
    assert timeout is not None, "every exchange has a deadline"
    seconds = timeout.left() if isinstance(timeout, Timeout) else timeout
    if seconds <= 0:
        raise TimeoutError("the deadline has passed")
    return seconds


@contextmanager
def _errors_of_sockets(too_late: type[Exception], broken: type[Exception]) -> Iterator[None]:
    try:
        yield
    except TimeoutError as error:
        raise too_late(str(error)) from error
    except OSError as error:
        raise broken(str(error)) from error
