"""Transports of httpx to a fake master in the same process, which may start when a request needs it.

A registry answers by itself what it can: `quota list` on the built-in cluster should not be slower than over a
network, where the master has been started before.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

import httpx

from fake_master.http.exchange import Request, Response, json_response
from fake_master.registry.interface import Registry, RegistryFailure
from mesosctl.api.responses import quota_status
from mesosctl.model.version_profile import Profile

if TYPE_CHECKING:
    from fake_master.master import Master
    from fake_master.state.streams import EventStream
    from fake_master.transports.direct import DirectTransport, Events, Sleep


class Carrier(Protocol):
    """Carries requests to a master: `DirectTransport`, `Recorder` or `LazyTransport`."""

    def answer(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> "Response":
        """The answer; the names of headers are in lower case."""
        ...

    def events(self, stream: "EventStream", patience: float | None) -> "Events":
        """Return the events on the stream of an answer; `patience` in seconds, None for ever."""
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


class LazyTransport:
    """Carries requests as `DirectTransport` does, to a master that `start` starts.

    With a `profile` it is a master without flags, so that nobody is kept from seeing anything, and what its
    `registry` holds is the answer.  Whatever is strange about that is left to the master to say.
    `explained` makes a BadInput of each RegistryFailure: the file is that of whoever asks.
    """

    def __init__(
        self,
        start: "Callable[[], DirectTransport]",
        registry: Registry,
        profile: Profile | None,
        explained: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self._start = start
        self._explained = explained
        self._registry = registry
        self._profile = profile
        self._started: DirectTransport | None = None

    def answer(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Response:
        """See `DirectTransport.answer`.  Raises BadInput where the master cannot start, or its state cannot be used."""
        if self._started is None:
            known = self._answer_at_rest(Request(method, target, headers, body))
            if known is not None:
                return known
        with self._explained():
            return self._master().respond(method, target, headers, body)

    def events(self, stream: "EventStream", patience: float | None) -> "Events":
        """See `DirectTransport.events`.  Raises BadInput as `answer` does."""
        with self._explained():
            return self._master().events(stream, patience)

    def close(self) -> None:
        """End the master, where it has started, and let go of the registry."""
        if self._started is None:
            self._registry.close()
        else:
            self._started.close()

    def _master(self) -> "DirectTransport":
        if self._started is None:
            self._started = self._start()
        return self._started

    def _answer_at_rest(self, request: Request) -> Response | None:
        if self._profile is None or (request.method, request.target) != ("GET", "/quota"):
            return None
        try:
            if self._registry.record("master", "identity") is None:
                return None
            records = self._registry.records("quota")
            stored = {role: (dict(kept["guarantees"]), dict(kept["limits"])) for role, kept in records.items()}
        except (RegistryFailure, KeyError, TypeError, ValueError):
            return None
        return json_response(quota_status(stored, self._profile), request)
