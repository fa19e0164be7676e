"""One exchange over HTTP: the only module that touches httpx, and where its exceptions end.

ConnectError, ConnectTimeout, PoolTimeout    certainly not sent
WriteError, ReadError, RemoteProtocolError,
WriteTimeout, ReadTimeout                    may have been sent, whatever broke: TLS too can break late
"""

import re
import ssl
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from mesosctl.client.answer import Answer
from mesosctl.client.settings import Deadline, Tls
from mesosctl.core.errors import (
    BadInput,
    DeadlinePassed,
    MesosctlError,
    TlsFailure,
    UnexpectedAnswer,
    Unreachable,
    UsageError,
)
from mesosctl.core.printable import printable

if TYPE_CHECKING:
    import httpx

    from mesosctl.client.network import Network
    from mesosctl.client.stream import EventStream

    Transport = httpx.BaseTransport

LARGEST_ANSWER = 512 * 1024 * 1024
"""Bytes.  `/slaves` of 50,000 agents is about 150 MB; beyond this nobody sane is talking."""

# "[Errno 111] …", "[SSL: WRONG_VERSION_NUMBER] … (_ssl.c:1006)"
_LEAKS = re.compile(r"^\[[^\]]*\] |\(_ssl\.c:\d+\)$")

# What a path may hold as it is; everything else is quoted for URL and sent verbatim (see `_target`).
_PATH_SAFE = "/:@!$&'()*+,;=~-._"


class Carrier:
    """Sends requests one after the other, on connections that it keeps.

    `transport` replaces the network: the in-process fake, or a test.
    """

    def __init__(self, tls: Tls, transport: "httpx.BaseTransport | None" = None, largest: int = LARGEST_ANSWER) -> None:
        self._tls = tls
        self._transport = transport
        self._largest = largest
        self._clients: dict[str, httpx.Client] = {}
        self._network: Network | None = None

    def close(self) -> None:
        """Close every connection."""
        for client in self._clients.values():
            client.close()
        self._clients.clear()

    def exchange(
        self, method: str, base: str, path: str, headers: Mapping[str, str], body: bytes | None, deadline: Deadline
    ) -> Answer:
        """One request and its whole answer; `path` is sent as it is, byte for byte.

        Raises Unreachable, TlsFailure, DeadlinePassed or UnexpectedAnswer.
        """
        import httpx

        url = base + quote(path, safe=_PATH_SAFE)
        if deadline.remaining() <= 0:
            raise _deadline_passed(deadline, url, sent=False)
        client = self._client(urlsplit(base).scheme)
        prefix = urlsplit(base).path
        if self._network is not None:
            self._network.deadline = deadline
        timeout = httpx.Timeout(deadline.remaining(), connect=deadline.to_connect())
        extensions: dict[str, Any] = {"timeout": timeout.as_dict()}
        if quote(path, safe=_PATH_SAFE) != path:
            extensions["target"] = (prefix + path).encode()
        try:
            request = client.build_request(method, url, headers=dict(headers), content=body, extensions=extensions)
        except (httpx.InvalidURL, UnicodeError) as error:  # a host that passes for one, and is none
            raise UsageError(f"{base} is not the address of a master: {error}", field="--master") from None
        try:
            response = client.send(request, stream=True)
            try:
                content = _read(response.iter_bytes(), deadline, url, self._largest)
            finally:
                response.close()
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
            raise _translate(error, base, deadline) from error
        return Answer(
            status=response.status_code,
            url=url,
            content_type=response.headers.get("content-type", "").lower(),
            body=content,
            location=response.headers.get("location"),
        )

    def subscribe(
        self, base: str, path: str, headers: Mapping[str, str], body: bytes, patience: float
    ) -> "EventStream | Answer":
        """POST and keep listening; an answer other than 200 is read whole instead.

        `patience`: seconds without any event after which the subscriber gives up.
        Raises Unreachable, TlsFailure, DeadlinePassed.
        """
        import httpx

        from mesosctl.client.stream import EventStream

        client = self._client(urlsplit(base).scheme)
        agreed = Deadline(patience, time.monotonic)
        timeout = {"timeout": httpx.Timeout(patience).as_dict()}
        request = client.build_request("POST", base + path, headers=dict(headers), content=body, extensions=timeout)
        try:
            response = client.send(request, stream=True)
            if response.status_code == 200:
                return EventStream(response, lambda error: _translate(error, base, agreed))
            content = response.read()
        except httpx.HTTPError as error:
            raise _translate(error, base, agreed) from error
        return Answer(
            status=response.status_code,
            url=base + path,
            content_type=response.headers.get("content-type", "").lower(),
            body=content,
            location=response.headers.get("location"),
        )

    def _client(self, scheme: str) -> "httpx.Client":
        if scheme not in self._clients:
            import httpx

            transport = self._transport
            if transport is None:
                from mesosctl.client.network import Network, Transport

                self._network = self._network or Network()
                transport = Transport(self._network, _ssl_context(self._tls) if scheme == "https" else None)
            # No proxies and no .netrc from the environment: a master is spoken to directly, and
            # credentials come from where the operator put them.
            self._clients[scheme] = httpx.Client(transport=transport, trust_env=False, follow_redirects=False)
        return self._clients[scheme]


def _ssl_context(tls: Tls) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=tls.ca_file)
        if tls.cert_file is not None:
            context.load_cert_chain(tls.cert_file, tls.key_file)
    except (OSError, ssl.SSLError) as error:
        raise BadInput(
            f"the TLS files cannot be used: {_words(error)}", hint="see --cacert, --cert and --key"
        ) from None
    return context


def _read(chunks: Iterator[bytes], deadline: Deadline, url: str, largest: int) -> bytes:
    parts: list[bytes] = []
    size = 0
    for chunk in chunks:
        size += len(chunk)
        if size > largest:
            raise UnexpectedAnswer(f"{url} answered with more than {largest} bytes")
        if deadline.remaining() <= 0:
            raise _deadline_passed(deadline, url, sent=True)
        parts.append(chunk)
    return b"".join(parts)


def _translate(error: Exception, base: str, deadline: Deadline) -> MesosctlError:
    """An exception of httpx as one of ours."""
    import httpx

    if isinstance(error, httpx.ConnectTimeout) and deadline.sharers > 1:
        return Unreachable(f"{base} takes no connection", sent=False, hint="check --master")
    if isinstance(error, httpx.ConnectTimeout | httpx.PoolTimeout):
        return _deadline_passed(deadline, base, sent=False)
    if isinstance(error, httpx.TimeoutException):
        return _deadline_passed(deadline, base, sent=True)
    tls = _tls_cause(error)
    if tls is not None and isinstance(error, httpx.ConnectError):
        return TlsFailure(f"TLS with {base} failed: {_words(tls)}", hint="see --cacert, --cert and --key")
    if isinstance(error, httpx.ConnectError):
        return Unreachable(f"{base} cannot be reached: {_words(error)}", sent=False, hint="check --master")
    if isinstance(error, httpx.InvalidURL | httpx.UnsupportedProtocol | httpx.LocalProtocolError):
        return Unreachable(f"{base} cannot be asked: {_words(error)}", sent=False, hint="check --master")
    if isinstance(error, httpx.DecodingError):
        return UnexpectedAnswer(f"{base} answered with a broken content encoding")
    if isinstance(error, httpx.RemoteProtocolError) and "illegal" in str(error):
        return Unreachable(f"{base} answered with something that is not HTTP", sent=True, hint="check --master")
    return Unreachable(
        f"the connection to {base} broke after the request left: {_words(error) or 'no reason given'}",
        sent=True,
        hint=None if tls is None else "it was TLS that broke; see --cacert, --cert and --key",
    )


def _words(error: Exception) -> str:
    """The sentence of an error without the numbers and files of the libraries below."""
    return printable(_LEAKS.sub("", str(error)).strip())


def _tls_cause(error: BaseException | None) -> ssl.SSLError | None:
    seen: set[int] = set()  # a chain of causes may be a ring
    while error is not None and id(error) not in seen:
        if isinstance(error, ssl.SSLError):
            return error
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return None


def _deadline_passed(deadline: Deadline, url: str, *, sent: bool) -> DeadlinePassed:
    return DeadlinePassed(
        f"{url} did not answer within {deadline.seconds:g} s", sent=sent, hint="give it longer with --timeout"
    )


def open_transport(fake: str | None) -> "httpx.BaseTransport | None":
    """The way to the in-process fake master; None, the network, for a real one."""
    if fake is None:
        return None
    import fake_master

    return fake_master.open_transport(fake)
