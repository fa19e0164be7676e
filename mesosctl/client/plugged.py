"""A transport of httpx in the place of the network: whatever somebody plugs in, and tests do."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from socket import SHUT_RDWR
from typing import Any
from urllib.parse import quote, urlsplit

import httpx

from mesosctl.client import failures
from mesosctl.client.way import PATH_SAFE, Outgoing, Patience
from mesosctl.core.errors import UsageError

_KINDS: tuple[tuple[tuple[type[Exception], ...], type[failures.Failure]], ...] = (
    ((httpx.ConnectTimeout, httpx.PoolTimeout), failures.ConnectedTooLate),
    ((httpx.TimeoutException,), failures.TooLate),
    ((httpx.ConnectError,), failures.NotConnected),
    ((httpx.InvalidURL, httpx.UnsupportedProtocol, httpx.LocalProtocolError), failures.Unaskable),
    ((httpx.DecodingError,), failures.Undecodable),
    ((httpx.HTTPError, httpx.StreamError), failures.Broken),
)


class Plugged:
    """Requests over a transport: a `Way`."""

    def __init__(self, transport: httpx.BaseTransport) -> None:
        self._client = httpx.Client(transport=transport, trust_env=False, follow_redirects=False)

    def send(self, request: Outgoing, patience: Patience) -> "Response":
        """Send a request and wait for the head of its answer.  Raises Failure, UsageError."""
        quoted = quote(request.target, safe=PATH_SAFE)
        timeout = httpx.Timeout(patience.to_read(), connect=patience.to_connect())
        extensions: dict[str, Any] = {"timeout": timeout.as_dict()}
        if "?" in request.target or quoted != request.target:
            extensions["target"] = (urlsplit(request.base).path + request.target).encode()
        try:
            built = self._client.build_request(
                request.method,
                request.base + quoted,
                headers=dict(request.headers),
                content=request.body,
                extensions=extensions,
            )
        except (httpx.InvalidURL, UnicodeError) as error:  # a host that passes for one, and is none
            raise UsageError(f"{request.base} is not the address of a master: {error}", field="--master") from None
        with _translating():
            return Response(self._client.send(built, stream=True))

    def end_idle(self) -> None:
        """Nothing is kept here."""

    def close(self) -> None:
        """Close the transport."""
        self._client.close()


class Response:
    """An answer of httpx: an `Incoming`."""

    def __init__(self, response: httpx.Response) -> None:
        self._response = response
        self.status = response.status_code
        self.headers: Mapping[str, str] = response.headers

    def pieces(self) -> Iterator[bytes]:
        """The body as it comes, unpacked."""
        with _translating():
            yield from self._response.iter_bytes()

    def cut(self) -> None:
        """End it from another thread, where it comes over a socket."""
        network = self._response.extensions.get("network_stream")
        connection = network.get_extra_info("socket") if network is not None else None
        if connection is not None:
            with suppress(OSError):  # it may have ended by itself
                connection.shutdown(SHUT_RDWR)

    def close(self) -> None:
        """Let go of it."""
        self._response.close()


@contextmanager
def _translating() -> Iterator[None]:
    """Every exception of httpx as the failure that it is."""
    try:
        yield
    except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
        kind = next(kind for theirs, kind in _KINDS if isinstance(error, theirs))
        if isinstance(error, httpx.RemoteProtocolError) and "illegal" in str(error):
            kind = failures.NotHttp
        raise kind(str(error)) from error
