"""One exchange with one master: a request that is sent, and an answer that is read whole or listened to."""

import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING
from urllib.parse import quote

from mesosctl.client.answer import Answer, Take
from mesosctl.client.conversation import Deadline, Tls
from mesosctl.client.failures import Failure, deadline_passed, translate
from mesosctl.client.way import PATH_SAFE, Incoming, Outgoing, Patience, Way
from mesosctl.core.errors import UnexpectedAnswer

if TYPE_CHECKING:
    import httpx

    from mesosctl.client.stream import EventStream

    Transport = httpx.BaseTransport

LARGEST_ANSWER = 512 * 1024 * 1024
"""Bytes.  `/slaves` of 50,000 agents is about 150 MB; beyond this nobody sane is talking."""


class Carrier:
    """Sends requests one after the other, on connections that it keeps."""

    def __init__(self, open_way: Callable[[], Way], largest: int = LARGEST_ANSWER) -> None:
        self._open_way = open_way
        self._way: Way | None = None
        self._largest = largest
        self.received: Callable[[int], None] = _nothing
        """Told how many bytes of the answer that is being read have come."""

    def close(self) -> None:
        """Close every connection."""
        if self._way is not None:
            self._way.close()

    def end_idle(self) -> None:
        """Close the connections that nothing is under way on."""
        if self._way is not None:
            self._way.end_idle()

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
        url = base + quote(path, safe=PATH_SAFE)
        if deadline.remaining() <= 0:
            raise deadline_passed(deadline, url, sent=False)
        try:
            incoming = self._send(Outgoing(method, base, path, headers, body), Patience(deadline))
            try:
                answer = _answer(incoming, url)
                pieces = self._read(incoming.pieces(), deadline, url)
                if take is None or answer.status != 200 or not answer.is_json:
                    return answer._replace(body=b"".join(pieces))
                from mesosctl.client.held import HeldAnswer

                held = HeldAnswer(pieces)
            finally:
                incoming.close()
        except Failure as error:
            raise translate(error, base, deadline) from error
        return answer._replace(taken=answer.take(take, held.pieces()))

    def subscribe(
        self, base: str, path: str, headers: Mapping[str, str], body: bytes, patience: float
    ) -> "EventStream | Answer":
        """POST and keep listening; an answer other than 200 is read whole instead.

        `patience`: seconds without any event after which the subscriber gives up.
        Raises Unreachable, TlsFailure, DeadlinePassed.
        """
        from mesosctl.client.stream import EventStream

        agreed = Deadline(patience, time.monotonic)
        try:
            incoming = self._send(Outgoing("POST", base, path, headers, body), Patience(agreed, listening=True))
            if incoming.status == 200:
                return EventStream(incoming, lambda error: translate(error, base, agreed))
            try:
                pieces = self._read(incoming.pieces(), agreed, base + path)
                return _answer(incoming, base + path)._replace(body=b"".join(pieces))
            finally:
                incoming.close()
        except Failure as error:
            raise translate(error, base, agreed) from error

    def _send(self, request: Outgoing, patience: Patience) -> Incoming:
        if self._way is None:
            self._way = self._open_way()
        return self._way.send(request, patience)

    def _read(self, pieces: Iterator[bytes], deadline: Deadline, url: str) -> Iterator[bytes]:
        size = 0
        for piece in pieces:
            size += len(piece)
            if size > self._largest:
                raise UnexpectedAnswer(f"{url} answered with more than {self._largest} bytes")
            if deadline.remaining() <= 0:
                raise deadline_passed(deadline, url, sent=True)
            self.received(size)
            yield piece


def _answer(incoming: Incoming, url: str) -> Answer:
    """The head of it."""
    return Answer(
        status=incoming.status,
        url=url,
        content_type=incoming.headers.get("content-type", "").lower(),
        location=incoming.headers.get("location"),
    )


def _nothing(_: int) -> None:
    return None


def find_way(fake: str | None, tls: Tls, transport: "httpx.BaseTransport | None" = None) -> Callable[[], Way]:
    """How requests get to a master.  The network is opened with the first of them; the others are there at once.

    Over `transport` where one is plugged in, in process to the fake master behind a `fake:` address, and over the
    network otherwise.
    """
    if transport is None and fake is not None:
        import fake_master
        from mesosctl.client.fake import Fake

        way = Fake(fake_master.open_carrier(fake))
        return lambda: way
    if transport is not None:
        from mesosctl.client.plugged import Plugged

        plugged = Plugged(transport)
        return lambda: plugged

    def open_network() -> Way:
        from mesosctl.client.network import Network

        return Network(tls)

    return open_network
