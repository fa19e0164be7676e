"""What carries requests in the same process, as a transport for clients of httpx."""

import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Protocol

import httpx

if TYPE_CHECKING:
    from fake_master.http.exchange import Response
    from fake_master.master import Master
    from fake_master.state.streams import EventStream
    from fake_master.transports.direct import Events, Sleep


class Carrier(Protocol):
    """Carries requests to a master: `DirectTransport`, `Recorder` or `LazyTransport`."""

    def answer(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> "Response":
        """The answer; the names of headers are in lower case."""
        ...

    def events(self, stream: "EventStream", patience: float | None) -> "Events":
        """What comes on the stream of an answer; `patience` in seconds, None for ever."""
        ...

    def close(self) -> None:
        """End the master."""
        ...


class CarrierTransport(httpx.BaseTransport):
    """Hands each request of an httpx client to a carrier."""

    def __init__(self, carrier: Carrier) -> None:
        self._carrier = carrier

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """One exchange; the answer is whole before it returns, unless it is a stream."""
        response = self._carrier.answer(
            request.method,
            # A client that must not have its path normalised says it here, as to a socket.
            request.extensions.get("target", request.url.raw_path).decode(errors="surrogateescape"),
            {name.lower(): value for name, value in request.headers.items()},
            request.read(),
        )
        if response.stream is not None:
            events = self._carrier.events(response.stream, request.extensions.get("timeout", {}).get("read"))
            return httpx.Response(response.status, headers=dict(response.headers), stream=_Stream(events))
        headers = {"Content-Length": str(len(response.body)), **response.headers}
        return httpx.Response(response.status, headers=headers, content=response.body)

    def close(self) -> None:
        """Let go of the master's registry."""
        self._carrier.close()


class _Stream(httpx.SyncByteStream):
    """Events as httpx reads them."""

    def __init__(self, events: "Events") -> None:
        self._events = events

    def __iter__(self) -> Iterator[bytes]:
        try:
            yield from self._events
        except TimeoutError as error:
            raise httpx.ReadTimeout(str(error)) from error

    def close(self) -> None:
        """The subscriber hangs up."""
        self._events.close()


class InProcessTransport(CarrierTransport):
    """Carries each request of an httpx client straight to a master; see `DirectTransport`."""

    def __init__(self, master: "Master", sleep: "Sleep" = time.sleep) -> None:
        # Late: a `LazyTransport` is carried by this module too, and may never start a master.
        from fake_master.transports.direct import DirectTransport

        super().__init__(DirectTransport(master, sleep))
