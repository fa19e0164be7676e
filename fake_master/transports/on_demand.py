"""The fake master behind a `fake:` address, which starts when it is asked something that takes a master.

What a registry says by itself it says at once: `quota list` on the built-in cluster should not be slower than
over a network, where somebody else has started the master.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from fake_master.http.exchange import Request, Response, json_response
from fake_master.http.quota_status import quota_status
from fake_master.registry.interface import Registry, RegistryFailure
from mesosctl.model.version_profile import Profile

if TYPE_CHECKING:
    from fake_master.state.streams import EventStream
    from fake_master.transports.direct import DirectTransport, Events


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
