"""One exchange over HTTP, by httpx."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from mesosctl.client.answer import Answer, Take
from mesosctl.client.failures import deadline_passed, translate
from mesosctl.client.settings import Deadline, Tls
from mesosctl.core.errors import UnexpectedAnswer, UsageError

if TYPE_CHECKING:
    import httpx

    from mesosctl.client.network import Network
    from mesosctl.client.network import Transport as NetworkTransport
    from mesosctl.client.stream import EventStream

    Transport = httpx.BaseTransport

LARGEST_ANSWER = 512 * 1024 * 1024
"""Bytes.  `/slaves` of 50,000 agents is about 150 MB; beyond this nobody sane is talking."""

# What a path may hold as it is; everything else is quoted for the URL; on the wire it is verbatim.
_PATH_SAFE = "/:@!$&'()*+,;=~-._?"


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
        self._over_network: list[NetworkTransport] = []
        self.received: Callable[[int], None] = _nothing
        """Told how many bytes of the answer that is being read have come."""

    def close(self) -> None:
        """Close every connection."""
        for client in self._clients.values():
            client.close()
        self._clients.clear()

    def end_idle(self) -> None:
        """Close the connections that nothing is under way on."""
        for transport in self._over_network:
            transport.end_idle()

    def exchange(
        self,
        method: str,
        base: str,
        path: str,
        headers: Mapping[str, str],
        body: bytes | None,
        deadline: Deadline,
        take: Take | None = None,
    ) -> Answer:
        """One request and its whole answer; `path` is sent as it is, byte for byte.

        With `take` the body of a success is not kept: it is read by it, piece by piece, once it has come.
        Raises Unreachable, TlsFailure, DeadlinePassed or UnexpectedAnswer.
        """
        import httpx

        from mesosctl.client.held import HeldAnswer

        url = base + quote(path, safe=_PATH_SAFE)
        if deadline.remaining() <= 0:
            raise deadline_passed(deadline, url, sent=False)
        client = self._client(urlsplit(base).scheme)
        prefix = urlsplit(base).path
        if self._network is not None:
            self._network.begin(deadline)
        timeout = httpx.Timeout(deadline.remaining(), connect=deadline.to_connect())
        extensions: dict[str, Any] = {"timeout": timeout.as_dict()}
        if "?" in path or quote(path, safe=_PATH_SAFE) != path:
            extensions["target"] = (prefix + path).encode()
        try:
            request = client.build_request(method, url, headers=dict(headers), content=body, extensions=extensions)
        except (httpx.InvalidURL, UnicodeError) as error:  # a host that passes for one, and is none
            raise UsageError(f"{base} is not the address of a master: {error}", field="--master") from None
        try:
            response = client.send(request, stream=True)
            answer = Answer(
                status=response.status_code,
                url=url,
                content_type=response.headers.get("content-type", "").lower(),
                location=response.headers.get("location"),
            )
            try:
                chunks = self._read(response.iter_bytes(), deadline, url)
                if take is None or answer.status != 200 or not answer.is_json:
                    return replace(answer, body=b"".join(chunks))
                held = HeldAnswer(chunks)
            finally:
                response.close()
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
            raise translate(error, base, deadline) from error
        return replace(answer, taken=answer.take(take, held.pieces()))

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
        if self._network is not None:
            self._network.answered()  # events may be rare; `patience` says how rare
        timeout = {"timeout": httpx.Timeout(patience).as_dict()}
        request = client.build_request("POST", base + path, headers=dict(headers), content=body, extensions=timeout)
        try:
            response = client.send(request, stream=True)
            if response.status_code == 200:
                return EventStream(response, lambda error: translate(error, base, agreed))
            content = response.read()
        except httpx.HTTPError as error:
            raise translate(error, base, agreed) from error
        return Answer(
            status=response.status_code,
            url=base + path,
            content_type=response.headers.get("content-type", "").lower(),
            body=content,
            location=response.headers.get("location"),
        )

    def _read(self, chunks: Iterator[bytes], deadline: Deadline, url: str) -> Iterator[bytes]:
        size = 0
        for chunk in chunks:
            size += len(chunk)
            if size > self._largest:
                raise UnexpectedAnswer(f"{url} answered with more than {self._largest} bytes")
            if deadline.remaining() <= 0:
                raise deadline_passed(deadline, url, sent=True)
            self.received(size)
            yield chunk

    def _client(self, scheme: str) -> "httpx.Client":
        if scheme not in self._clients:
            import httpx

            transport = self._transport
            if transport is None:
                from mesosctl.client.network import Network, Transport
                from mesosctl.client.tls import open_context

                self._network = self._network or Network()
                transport = Transport(self._network, open_context(self._tls) if scheme == "https" else None)
                self._over_network.append(transport)
            # No proxies and no .netrc from the environment: a master is spoken to directly, and
            # credentials come from where the operator put them.
            self._clients[scheme] = httpx.Client(transport=transport, trust_env=False, follow_redirects=False)
        return self._clients[scheme]


def _nothing(_: int) -> None:
    return None


def open_transport(fake: str | None) -> "httpx.BaseTransport | None":
    """The way to the in-process fake master; None, the network, for a real one."""
    if fake is None:
        return None
    import fake_master

    return fake_master.open_transport(fake)
