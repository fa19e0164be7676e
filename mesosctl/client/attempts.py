"""The attempts of one request: the masters that are asked, the headers, and the repetition of reads.

A request that changes something is never repeated: the master may have carried it out before the connection broke.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple, TypeVar

from mesosctl.client.address import Address
from mesosctl.client.deadline import Deadline
from mesosctl.client.http_client import HttpClient, quoted
from mesosctl.client.leader import MOST_REDIRECTS, Leader, no_answer, redirect_loop, redirected_base
from mesosctl.client.response import RequestIdentity, Response, raise_for_status
from mesosctl.client.response_body import EventStream
from mesosctl.client.settings import ClientSettings
from mesosctl.mesos.errors import (
    DeadlinePassed,
    MasterFailed,
    MesosctlError,
    NoLeader,
    NoMaster,
    NoZooKeeper,
    TlsFailure,
    Unauthenticated,
    UnexpectedAnswer,
    Unreachable,
)

Value = TypeVar("Value")

JSON = "application/json"
LEADERS_ONLY = "/slaves?slave_id=none"
"""A path that only the leader answers, that is open to every principal, and that is cheap."""
ANSWERED_BY_ALL = ("/version", "/flags", "/metrics/snapshot")
"""Paths that every master answers, about itself."""
READ_ATTEMPTS = 3
FIRST_PAUSE = 0.25
"""Seconds before the second attempt, at most; the pause doubles with each attempt."""

_SETTLED = (UnexpectedAnswer, TlsFailure, NoZooKeeper)
"""Errors that a repetition would not change, or that were already repeated."""

_ACTIONS = {
    ("GET", "/flags"): "VIEW_FLAGS",
    ("POST", "/quota"): "UPDATE_QUOTA",
    ("PUT", "/quota"): "UPDATE_QUOTA",
    ("DELETE", "/quota"): "UPDATE_QUOTA",
    ("PUT", "/weights"): "UPDATE_WEIGHT",
    ("POST", "/reserve"): "RESERVE_RESOURCES",
    ("POST", "/unreserve"): "UNRESERVE_RESOURCES",
    ("POST", "/create-volumes"): "CREATE_VOLUME",
    ("POST", "/destroy-volumes"): "DESTROY_VOLUME",
}
"""The action that a Mesos authorizer checks, by path."""


class Request(NamedTuple):
    """A request to the leading master; `repeatable` if a repetition changes nothing.

    With `hold`, a large answer is held until it is read in pieces.
    """

    method: str
    path: str
    body: bytes | None = None
    content_type: str = JSON
    repeatable: bool = False
    hold: bool = False

    @property
    def action(self) -> str:
        """The permission that it needs, by Mesos's name if it has one (Mesos documentation, "Authorization")."""
        path = self.path.partition("?")[0]
        if path.startswith("/api/v1"):
            return str(json.loads(self.body or b"{}").get("type", path))
        return _ACTIONS.get((self.method, "/" + path.split("/")[1]), f"{self.method} {path}")


class Sender:
    """The masters of an address, with one deadline for all requests."""

    def __init__(self, address: Address, settings: ClientSettings, http: HttpClient) -> None:
        self.deadline = Deadline(settings.timeout, settings.clock)
        self.leader = Leader(address, settings, self.deadline)
        self.http = http
        self.changes_sent = 0
        """The number of changes that were sent, whatever the answers."""
        self._settings = settings
        self._strangers: set[str] = set()

    def send(self, request: Request) -> Response:
        """One request to the leading master.

        The next master is asked only if the last one certainly did not take the request, or it
        may be repeated.
        """
        failures: list[MesosctlError] = []
        try:
            for base, others in self.leader.candidates():
                try:
                    return self._ask(request, base, others)
                except NoMaster as error:
                    self.leader.base = None
                    if error.may_have_happened and not request.repeatable:
                        raise
                    failures.append(error)
        except (NoMaster, DeadlinePassed) as error:
            if error.may_have_happened and not request.repeatable:
                raise
            failures.append(error)
        raise no_answer(failures)

    def _ask(self, request: Request, base: str, others: int) -> Response:
        """One request to `base` and along its redirects; the scheme, the method and the body stay.

        `others`: the number of masters that may be asked after `base`, and need time too.
        """
        named_by = "ZooKeeper" if self.leader.address.zookeeper else ""
        for _ in range(MOST_REDIRECTS + 1):
            headers = self.headers(base, None if request.body is None else request.content_type)
            self.deadline.begin(others, repeatable=request.repeatable)
            try:
                answer = self.exchange(request, base, headers, self.deadline)
            except (Unreachable, DeadlinePassed) as error:
                if named_by and not error.may_have_happened:
                    error.hint = f"{named_by} names it as the leading master; check that this machine can reach it"
                raise
            onward = redirected_base(answer, base, request.path)
            if onward is None:
                self._check(answer, base, request)
                if request.path not in ANSWERED_BY_ALL or self.leader.address.zookeeper:
                    self.leader.base = base
                return answer
            named_by, base, others = base, onward, min(others, 1)
        raise redirect_loop(base)

    def exchange(self, request: Request, base: str, headers: Mapping[str, str], deadline: Deadline) -> Response:
        """Like `_traced`; remembers whether a change was sent."""
        try:
            answer = self._traced(request, base, headers, deadline)
        except MesosctlError as error:
            self.changes_sent += error.may_have_happened and not request.repeatable
            raise
        except KeyboardInterrupt:
            self.changes_sent += self.http.request_was_sent and not request.repeatable
            raise
        # A master that redirects has not read the request. One without a leader answers the same, but a proxy may have
        # sent the request to another master first.
        self.changes_sent += answer.status != 307 and not request.repeatable
        return answer

    def _traced(self, request: Request, base: str, headers: Mapping[str, str], deadline: Deadline) -> Response:
        """One exchange; reported to the trace however it ends."""
        method, path, body = request.method, request.path, request.body
        trace = self._settings.trace
        if trace is None:
            return self.http.exchange(method, base, path, headers, body, deadline, hold=request.hold)
        # -v shows the whole answer.
        from mesosctl.client.response import Trace, presentable

        started = self._settings.clock()
        answer, failure = None, None
        try:
            answer = self.http.exchange(method, base, path, headers, body, deadline)
        except MesosctlError as error:
            failure = error.message
            raise
        finally:
            took = self._settings.clock() - started
            trace(Trace(method, base + quoted(path), presentable(headers), body, took, answer, failure))
        return answer

    def _check(self, answer: Response, base: str, request: Request) -> None:
        """Raise the error of a status."""
        try:
            raise_for_status(answer, self.requester(base, request))
        except Unauthenticated as error:
            if base in self._strangers:
                error.hint = f"{base} leads, but was not sent the secret; name it too: --master …,{base}"
            raise
        except NoLeader as error:
            if not request.repeatable and not error.may_have_happened:
                error.reword(f"{error.message}; a change was sent to {self.http.named(base)}, but not accepted")
            raise

    def find_leader(self) -> str:
        """Find the leader: the master that answers an endpoint which only leaders serve."""
        self.send(Request("GET", LEADERS_ONLY, repeatable=True))
        assert self.leader.base is not None, "it has just answered"
        return self.leader.base

    @contextmanager
    def on_its_own(self) -> Iterator[None]:
        """A change on a new connection, which is closed afterwards.

        A kept connection may be about to end, and the fate of the change would be unknown; and surplus bytes after one
        answer would look like the next answer.
        """
        self.http.close_idle()
        try:
            yield
        finally:
            self.http.close_idle()

    def subscribe(self, path: str, body: bytes, timeout: float) -> tuple[EventStream, str]:
        """Open a stream of events on the leading master; it and the base URL of that master."""
        base = self.leader.base or self.find_leader()
        for _ in range(MOST_REDIRECTS + 1):
            headers = self.headers(base, JSON)
            opened = self.http.subscribe(base, path, headers, body, timeout)
            self._trace_stream(base + path, headers, body, opened)
            if not isinstance(opened, Response):
                self.leader.base = base
                return opened, base
            onward = redirected_base(opened, base, path)
            if onward is None:
                raise_for_status(opened, self.requester(base, Request("POST", path, body)))
                raise UnexpectedAnswer(f"{opened.url} answered {opened.status} instead of a stream")
            base = onward
        raise redirect_loop(base)

    def _trace_stream(self, url: str, headers: Mapping[str, str], body: bytes, opened: EventStream | Response) -> None:
        if self._settings.trace is not None:
            from mesosctl.client.response import Trace, presentable

            answer = opened if isinstance(opened, Response) else None
            self._settings.trace(Trace("POST", url, presentable(headers), body, 0.0, answer))

    def headers(self, base: str, content_type: str | None) -> dict[str, str]:
        """Return the headers of a request to `base`; a server that was not named gets no secret, only a note."""
        # A v1 endpoint wants its exact type, without parameters.
        headers = {"Accept": JSON} | ({"Content-Type": content_type} if content_type else {})
        credentials = self._settings.credentials
        if credentials is None:
            return headers
        if self.leader.may_see_credentials(base):
            headers["Authorization"] = credentials.header()
        elif base not in self._strangers:
            self._strangers.add(base)
            self._settings.notice(f"the leading master {base} is not named in --master, so it is not sent the secret")
        return headers

    def requester(self, base: str, request: Request) -> RequestIdentity:
        """Return the requester of `request` at `base`, as far as its credentials were sent."""
        credentials, name = self._settings.credentials, self.http.named(base)
        if credentials is None or not self.leader.is_known(base):
            return RequestIdentity(name, request.action)
        return RequestIdentity(name, request.action, credentials.principal, credentials.proof)


def retry_read(read: Callable[[], Value], deadline: Deadline, settings: ClientSettings) -> Value:
    """Return the value of `read`, called up to READ_ATTEMPTS times within the deadline.

    Raises the error of the last attempt, or the first that a repetition would not change.
    """
    pause = FIRST_PAUSE
    for _ in range(READ_ATTEMPTS - 1):
        try:
            return read()
        except (NoMaster, MasterFailed) as error:
            if isinstance(error, _SETTLED) or pause > deadline.remaining():
                raise
        # Between half and all of it: many clients of one dead leader should not return at once.
        settings.sleep(pause * (1 + settings.jitter()) / 2)
        pause *= 2
    return read()
