"""One exchange with one master over httpx: a request, and an answer that is read completely or as a stream.

The errors of httpx become those of `mesos.errors` here.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

import httpx

from mesosctl import __version__
from mesosctl.client.deadline import Deadline, Timeouts
from mesosctl.client.proxies import NO_PROXIES, Proxies, Proxy
from mesosctl.client.response import Response, asked_in_clear
from mesosctl.client.response_body import BROKEN, LARGEST_ANSWER, EventStream, HeldBody, is_packed, limited, pieces_of
from mesosctl.client.settings import NO_TLS_FILES, Tls
from mesosctl.client.tls import (
    find_cause,
    plain_reason,
    refused_by_master,
    tls_failure,
    was_hung_up_on,
    without_tls,
)
from mesosctl.mesos.errors import DeadlinePassed, MesosctlError, UnexpectedAnswer, Unreachable, UsageError

if TYPE_CHECKING:
    from fake_master import ConnectionTransport
    from mesosctl.client.transport import NetworkTransport

_PATH_SAFE = "/:@!$&'()*+,;=~-._?"
"""Characters of a path that are not escaped when a URL is shown."""


class HttpClient:
    """Sends requests one after the other, or beside a stream that stays open, on connections that it keeps.

    It uses `transport` if one is given, the fake master in process for a `fake:` address, and the network otherwise.
    `timeout`: seconds to wait for the state of a fake master while another process holds it; `notice` gets
    sentences about that master for the operator; `proxies` are between the network and masters.
    """

    def __init__(
        self,
        fake: str | None = None,
        tls: Tls = NO_TLS_FILES,
        transport: httpx.BaseTransport | None = None,
        *,
        timeout: float | None = None,
        notice: Callable[[str], None] = lambda _: None,
        proxies: Proxies = NO_PROXIES,
        largest: int = LARGEST_ANSWER,
    ) -> None:
        self._fake = fake
        self._network = _open_network(tls) if transport is None and fake is None else None
        self.pass_time: Callable[[float], None] = lambda _: None
        """Called with the seconds that the client waits between requests; the time of `fake:FILE` passes with them."""
        if transport is None and self._network is None:
            transport = opened = _open_fake(fake, timeout, notice)
            self.pass_time = opened.pass_time
        self._client = httpx.Client(
            transport=transport or self._network,
            mounts=None if self._network is None else _mounted(self._network, proxies),
            # In process, nothing is compressed.
            headers={"User-Agent": f"mesosctl/{__version__}", "Accept-Encoding": "identity" if fake else "gzip"},
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),  # no cookies of another master
            # Credentials come from the settings, never from .netrc.
            trust_env=False,
            follow_redirects=False,
            event_hooks={"response": [_keep_location]},
        )
        self._largest = largest
        self.received: Callable[[int, float | None], None] = _nothing
        """Called with the number of bytes of the answer so far."""
        self.request_was_sent = False
        """Whether the current or last request may have reached a master."""

    @property
    def is_closed(self) -> bool:
        """Whether it was closed."""
        return self._client.is_closed

    def close(self) -> None:
        """Close every connection."""
        self._client.close()

    def close_idle(self) -> None:
        """Close the idle connections."""
        if self._network is not None:
            self._network.close_idle()

    def exchange(
        self,
        method: str,
        base: str,
        path: str,
        headers: Mapping[str, str],
        body: bytes | None,
        deadline: Deadline,
        *,
        hold: bool = False,
    ) -> Response:
        """One request and its whole answer; `path` is sent as it is, byte for byte.

        With `hold`, the body of a success is held compressed, for a reader of pieces. Raises Unreachable, TlsFailure,
        DeadlinePassed or UnexpectedAnswer.
        """
        self.request_was_sent = False
        url = self.named(base, quoted(path))
        if deadline.remaining() <= 0:
            raise _deadline_passed(deadline, url, may_have_happened=False)
        try:
            response = self._send(method, base, path, headers, body, Timeouts(deadline))
            try:
                answer = _head(response, url)
                if not hold or answer.status != 200 or not answer.is_json:
                    pieces = self._counted(pieces_of(response), deadline, url, _whole_size(response))
                    return answer._replace(body=b"".join(pieces))
                packed = is_packed(response)
                arriving = response.iter_raw() if packed else pieces_of(response)
                pieces = self._counted(arriving, deadline, url, _sent_size(response))
                return answer._replace(held=HeldBody(pieces, url, packed=packed, largest=self._largest))
            finally:
                response.close()
        except BROKEN as error:
            raise _translate(error, self.named(base), deadline) from error

    def named(self, base: str, path: str = "") -> str:
        """A URL in sentences: that of a fake master is the address that the user gave."""
        return self._fake or base + path

    def subscribe(
        self, base: str, path: str, headers: Mapping[str, str], body: bytes, timeout: float
    ) -> EventStream | Response:
        """POST, and open a stream; an answer other than 200 is read completely instead.

        `timeout`: seconds without any event until the subscriber gives up. Raises Unreachable, TlsFailure,
        DeadlinePassed.
        """
        agreed, url = Deadline(timeout, time.monotonic), self.named(base, path)
        try:
            response = self._send("POST", base, path, headers, body, Timeouts(agreed, listening=True))
            if response.status_code == 200:
                return EventStream(response, url, lambda error: _translate(error, self.named(base), agreed))
            try:
                pieces = self._counted(pieces_of(response), agreed, url)
                return _head(response, url)._replace(body=b"".join(pieces))
            finally:
                response.close()
        except BROKEN as error:
            raise _translate(error, self.named(base), agreed) from error

    def _send(
        self, method: str, base: str, path: str, headers: Mapping[str, str], body: bytes | None, timeouts: Timeouts
    ) -> httpx.Response:
        """Send a request and wait for the head of its answer.  Raises errors of httpx, and UsageError for no host."""
        # httpx would normalise the path, but a master reads roles from it literally.
        target = (quote(urlsplit(base).path, safe=_PATH_SAFE + "%") + path).encode()
        extensions: dict[str, Any] = {"timeout": timeouts.extension(), "target": target}
        if self._network is None:
            self.request_was_sent = True
        else:  # connecting does not yet send a request
            extensions["trace"] = self._follow
        try:
            request = self._client.build_request(
                method, base + quoted(path), headers=dict(headers), content=body, extensions=extensions
            )
        except (httpx.InvalidURL, UnicodeError) as error:  # a host that looks valid, but is not
            raise UsageError(f"{base} is not the address of a master: {error}", field="--master") from None
        return self._client.send(request, stream=True)

    def _follow(self, event: str, _info: Mapping[str, Any]) -> None:
        """Called by httpcore with the steps of a request ("trace", in its documentation of extensions)."""
        self.request_was_sent = self.request_was_sent or event.endswith("send_request_headers.started")

    def _counted(
        self, pieces: Iterator[bytes], deadline: Deadline, url: str, whole: int | None = None
    ) -> Iterator[bytes]:
        size = 0
        for piece in limited(pieces, url, self._largest):
            size += len(piece)
            if deadline.remaining() <= 0:
                raise _deadline_passed(deadline, url, may_have_happened=True)
            self.received(size, size / whole if whole else None)
            yield piece


def quoted(path: str) -> str:
    """A path as a URL shows it; a master gets the path itself."""
    return quote(path, safe=_PATH_SAFE)


def _whole_size(response: httpx.Response) -> int | None:
    """Return the size of an uncompressed body in bytes, if the server says it."""
    is_plain = response.headers.get("content-encoding", "identity").strip().lower() == "identity"
    return _sent_size(response) if is_plain else None


def _sent_size(response: httpx.Response) -> int | None:
    """Return the size of a body as it is sent, in bytes, if the server says it."""
    text = response.headers.get("content-length", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < _LONGEST_SIZE else None


_LONGEST_SIZE = 16
"""Digits of a number of bytes."""


def _open_network(tls: Tls) -> "NetworkTransport":
    # Imported late: it loads httpcore, which a fake master in this process does not need.
    from mesosctl.client.transport import NetworkTransport

    return NetworkTransport(tls)


def _mounted(network: "NetworkTransport", proxies: Proxies) -> dict[str, httpx.BaseTransport | None]:
    """The ways to masters that are not the direct one, by patterns of their URLs."""
    if not proxies:
        return {}
    from mesosctl.client.transport import ProxiedTransport

    return {pattern: proxy and ProxiedTransport(network, proxy) for pattern, proxy in proxies.items()}


def _proxy_behind(error: Exception) -> Proxy | None:
    """The proxy that a request with this error went through."""
    try:
        request = error.request if isinstance(error, httpx.RequestError) else None
    except RuntimeError:  # an error of no request
        return None
    return None if request is None else request.extensions.get("proxy")


def _open_fake(address: str | None, timeout: float | None, notice: Callable[[str], None]) -> "ConnectionTransport":
    import fake_master

    assert address is not None, "an address that is not fake: is on the network"
    return fake_master.open_transport(address, timeout, notice=notice)


def _keep_location(response: httpx.Response) -> None:
    """Hide the target of a redirect from httpx, which would fail if it is invalid; `client.leader` reports that."""
    location = response.headers.pop("location", None)
    if location is not None:
        response.extensions["location"] = location


def _head(response: httpx.Response, url: str) -> Response:
    return Response(
        status=response.status_code,
        url=url,
        content_type=response.headers.get("content-type", "").lower(),
        location=response.extensions.get("location"),
    )


def _nothing(_size: int, _part: float | None) -> None:
    return None


def _translate(error: Exception, base: str, deadline: Deadline) -> MesosctlError:
    """Return one of `BROKEN` as an error for people, which says whether the request may have arrived.

    ConnectError, ConnectTimeout, PoolTimeout, LocalProtocolError: it was certainly not sent.
    ReadError, WriteError, RemoteProtocolError, ReadTimeout, WriteTimeout: it may have been; TLS too can break late.
    DecodingError: it was answered, in a broken encoding.
    """
    # Imported late: it loads httpcore, which a fake master in this process does not need.
    from mesosctl.client.transport import AnsweredInTls, NotHttp, Unanswered

    if isinstance(error, httpx.TimeoutException):
        return _too_late(
            base, deadline, may_have_happened=not isinstance(error, httpx.ConnectTimeout | httpx.PoolTimeout)
        )
    proxy, cause = _proxy_behind(error), find_cause(error)
    if isinstance(error, httpx.ProxyError):
        refused = Unreachable(
            f"{base} cannot be reached: the proxy {proxy} refused: {plain_reason(error)}", may_have_happened=False
        )
        return refused.advised("master.proxy", place=proxy.place if proxy is not None else "--proxy")
    if cause is not None and (isinstance(error, httpx.ConnectError) or refused_by_master(cause)):
        return tls_failure(base, cause)
    words = plain_reason(error)
    if isinstance(error, httpx.ConnectError):
        if base.startswith("https:") and was_hung_up_on(error):
            return without_tls(base)
        if proxy is not None:
            dead = Unreachable(
                f"{base} cannot be reached: the proxy {proxy} does not answer: {words}", may_have_happened=False
            )
            return dead.advised("master.proxy", place=proxy.place)
        is_fake = urlsplit(base).hostname == "fake"
        colon = "the built-in fake master is fake:, with a colon" if is_fake else None
        unreachable = Unreachable(f"{base} cannot be reached: {words}", may_have_happened=False, hint=colon)
        return unreachable.advised("master.address")
    if isinstance(error, httpx.LocalProtocolError | httpx.UnsupportedProtocol):
        unsent = Unreachable(f"no request can be sent to {base}: {words}", may_have_happened=False)
        return unsent.advised("master.address")
    if isinstance(error, httpx.DecodingError):
        return UnexpectedAnswer(f"{base} answered with a broken content encoding")
    if isinstance(error.__cause__, AnsweredInTls):
        return asked_in_clear(base)
    if isinstance(error.__cause__, NotHttp):
        alien = Unreachable(f"{base} answered with something that is not HTTP", may_have_happened=True)
        return alien.advised("master.address")
    hint = None if cause is None else "the TLS connection broke; see --cacert, --cert and --key"
    if hint is None and isinstance(error.__cause__, Unanswered):  # it never spoke the protocol of the request
        hint = (
            "it may require a client certificate: give --cert and --key"
            if base.startswith("https:")
            else "it may speak https: write https:// in --master"
        )
    return Unreachable(
        f"the connection to {base} broke after the request was sent: {words or 'no reason given'}",
        may_have_happened=True,
        hint=hint,
    )


def _too_late(base: str, deadline: Deadline, *, may_have_happened: bool) -> MesosctlError:
    if not deadline.others or deadline.remaining() <= 0:
        return _deadline_passed(deadline, base, may_have_happened=may_have_happened)
    what = "accepted a connection, but did not answer" if may_have_happened else "did not accept a connection"
    return Unreachable(
        f"{base} {what} in {deadline.waited:.1f} s, its share of {deadline.seconds:g} s",
        may_have_happened=may_have_happened,
    ).advised("master.address", otherwise="allow more time with --timeout")


def _deadline_passed(deadline: Deadline, url: str, *, may_have_happened: bool) -> DeadlinePassed:
    """The error if the deadline for all attempts has passed."""
    return DeadlinePassed(
        f"{url} did not answer within {deadline.seconds:g} s",
        may_have_happened=may_have_happened,
        hint="allow more time with --timeout",
    )
