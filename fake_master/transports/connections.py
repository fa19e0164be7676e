"""Connections to a master in the same process: function calls, without a socket and without a thread.

A master starts only when a request needs it: the registry alone answers what it can, so that `quota list` on the
built-in cluster is not slower than over a network.
"""

import logging
import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from fake_master.http.request_response import Request, Response, json_response
from fake_master.registry.interface import Registry, RegistryFailure
from mesosctl.mesos.messages.responses import quota_status
from mesosctl.mesos.rules.version_profile import Profile

if TYPE_CHECKING:
    from fake_master.http.application import Application
    from fake_master.master import Master
    from fake_master.sources.kept_cluster import KeptCluster
    from fake_master.state.streams import EventStream


Sleep = Callable[[float], None]
"""Lets this many seconds pass on the master's clock: `time.sleep`, or that of a `VirtualClock`."""


class ConnectionDropped(Exception):
    """The connection breaks, and no answer comes: a fault that a test asked for."""


class Events:
    """A subscriber's stream.  Iterating raises TimeoutError if nothing comes for too long."""

    def __init__(self, application: "Application", stream: "EventStream", sleep: Sleep, timeout: float) -> None:
        self._application = application
        self._stream = stream
        self._sleep = sleep
        self._timeout = timeout

    def __iter__(self) -> Iterator[bytes]:
        clock = self._application.master.state.clock
        give_up = clock() + self._timeout
        while True:
            if records := self._stream.take():
                yield from records
                give_up = clock() + self._timeout
            elif self._stream.closed:
                return
            elif clock() >= give_up:
                raise TimeoutError(f"no event within {self._timeout:g} s")
            else:
                self._wait(give_up)

    def _wait(self, give_up: float) -> None:
        """Until the master has something to do, and let it do that."""
        master = self._application.master
        due = master.next_deadline()
        until = give_up if due is None else min(due, give_up)
        self._sleep(max(0.0, until - master.state.clock()))
        self._application.tick()

    def close(self) -> None:
        """The subscriber hangs up, as far as the master is concerned."""
        self._stream.left()
        self._application.tick()


class DirectConnection:
    """A connection that hands each request straight to a master.

    Nothing happens between requests, because there is no thread for it: reading a stream of events lets time pass, for
    the whole master, until there is something to read.
    """

    def __init__(self, master: "Master", sleep: Sleep = time.sleep) -> None:
        # Imported late: the registry alone answers what it can, without a master.
        from fake_master.http.application import Application

        self._application = Application(master)
        self._sleep = sleep

    def answer(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Response:
        """The answer; the names of headers are in lower case.  It is whole unless it is a stream."""
        return self._application.handle(Request(method, target, headers, body))

    def respond(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Response:
        """The same; raises RegistryFailure for a fault of the file."""
        return self._application.respond(Request(method, target, headers, body))

    def events(self, stream: "EventStream", timeout: float | None) -> Events:
        """Return the events on the stream of an answer; `timeout`: seconds between two pieces, None for no limit."""
        return Events(self._application, stream, self._sleep, math.inf if timeout is None else timeout)

    def pass_time(self, seconds: float) -> None:
        """The client has waited so long: nothing, for a master whose clock follows the system's."""

    def close(self) -> None:
        """End the master."""
        self._application.master.close()


class KeptConnection(DirectConnection):
    """A connection to a master of a cluster that goes on with each command.

    The cluster is settled before each answer, unless its allocations run in time that passes meanwhile.  It is kept at
    the end if anything but the time has changed it.  After an interruption, the next command begins where this one did,
    with what the registry says.
    """

    def __init__(
        self,
        master: "Master",
        kept: "KeptCluster",
        sleep: Sleep,
        pass_time: Sleep,
        *,
        passes_time: bool = False,
        settles: bool = True,
    ) -> None:
        """`pass_time` lets the client's waiting time pass; `passes_time`: whether the time that passes is kept too.

        Without `settles`, a request makes no allocation run: what a recorder asks does not disturb what it records.
        """
        super().__init__(master, sleep)
        self._settles = settles
        self._pass_time = pass_time
        self._kept = kept
        self._is_settled = False
        self._is_interrupted = False
        """Whether a signal has stopped the master in the middle: half of that is not kept."""
        self._passes_time = passes_time
        self._has_changed = passes_time or kept.is_new

    def answer(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Response:
        """See `DirectConnection.answer`."""
        with self._whole():
            self._settle()
            return self._noted(method, super().answer(method, target, headers, body))

    def respond(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Response:
        """See `DirectConnection.respond`."""
        with self._whole():
            self._settle()
            return self._noted(method, super().respond(method, target, headers, body))

    @contextmanager
    def _whole(self) -> Iterator[None]:
        try:
            yield
        except KeyboardInterrupt:
            self._is_interrupted = True
            raise

    def pass_time(self, seconds: float) -> None:
        """See `DirectConnection.pass_time`."""
        self._pass_time(seconds)

    def _settle(self) -> None:
        if self._settles and not self._is_settled:
            self._kept.settle()
            self._is_settled = True

    def _noted(self, method: str, response: Response) -> Response:
        if method not in ("GET", "HEAD") and response.status < _FIRST_REFUSAL:
            self._has_changed, self._is_settled = True, False
        return response

    def close(self) -> None:
        """Keep the cluster, and end the master."""
        try:
            if self._has_changed and not self._is_interrupted:
                self._settle()
                self._kept.write(passes_time=self._passes_time)
        except RegistryFailure as failure:
            _LOG.warning("%s; the tasks of this cluster are those of the command before", failure)
        finally:
            super().close()


_FIRST_REFUSAL = 400
"""The HTTP statuses from here on change nothing."""
_LOG = logging.getLogger(__name__)


class Connection(Protocol):
    """A connection to a master: `DirectConnection`, `Recorder` or `LazyConnection`."""

    def answer(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Response:
        """The answer; the names of headers are in lower case."""
        ...

    def events(self, stream: "EventStream", timeout: float | None) -> Events:
        """Return the events on the stream of an answer; `timeout` in seconds, None for no limit."""
        ...

    def close(self) -> None:
        """End the master."""
        ...


def _amounts(record: Mapping[str, Any]) -> dict[str, Any]:
    """Read a record of quota.  Raises KeyError, TypeError and ValueError for one that no master wrote."""
    return {**record, "guarantees": dict(record["guarantees"]), "limits": dict(record["limits"])}


class LazyConnection:
    """A connection such as `DirectConnection`, to a master that `start` starts.

    With a `profile` it is a master without flags, so that everybody may see everything, and the `registry` has the
    answer. The master reports anything unusual. `explained` turns each RegistryFailure into BadInput, because the file
    belongs to the user.
    """

    def __init__(
        self,
        start: Callable[[], DirectConnection],
        registry: Registry,
        profile: Profile | None,
        explained: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self._start = start
        self._explained = explained
        self._registry = registry
        self._profile = profile
        self._started: DirectConnection | None = None

    def answer(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Response:
        """See `DirectConnection.answer`.  Raises BadInput if no master can start, or its state cannot be used."""
        if self._started is None:
            known = self._answer_at_rest(Request(method, target, headers, body))
            if known is not None:
                return known
        with self._explained():
            return self._master().respond(method, target, headers, body)

    def events(self, stream: "EventStream", timeout: float | None) -> Events:
        """See `DirectConnection.events`.  Raises BadInput as `answer` does."""
        with self._explained():
            return self._master().events(stream, timeout)

    def pass_time(self, seconds: float) -> None:
        """See `DirectConnection.pass_time`; before the first request, time stands still."""
        if self._started is not None:
            self._started.pass_time(seconds)

    def close(self) -> None:
        """End the master, if it has started, and close the registry."""
        if self._started is None:
            self._registry.close()
        else:
            self._started.close()

    def start(self) -> None:
        """Start the master before the first request.  Raises BadInput as `answer` does."""
        with self._explained():
            self._master()

    def _master(self) -> DirectConnection:
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
            stored = {role: _amounts(kept) for role, kept in records.items()}
        except (RegistryFailure, KeyError, TypeError, ValueError):
            return None
        return json_response(quota_status(stored, self._profile), request)
