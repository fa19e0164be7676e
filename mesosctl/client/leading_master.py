"""A leading master: reads that may be repeated, changes that are sent once.

with Master(parse_address("http://host:5050"), ClientSettings()) as master:
    master.get("/quota")             decoded JSON
    master.stream("/slaves", take)   what is made of a large answer, piece by piece
    master.refusal_of(b"{…}")        the reason for which a call is refused
    master.post("/quota", b"{…}")    nothing, or an error
    master.delete("/quota/dev")
    master.call(b'{"type": …}')      POST /api/v1 for a change
    master.post_form("/reserve", {…})
    master.agent_state("slave(1)@…") what an agent itself says
    master.profile                   what is to be expected of this version
"""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import httpx

from mesosctl.client.address import Address
from mesosctl.client.attempts import ANSWERED_BY_ALL, JSON, Request, Sender, retry_read
from mesosctl.client.deadline import Deadline
from mesosctl.client.http_client import HttpClient
from mesosctl.client.response import Response, Take, raise_for_status
from mesosctl.client.response_body import EventStream, check_readable
from mesosctl.client.settings import ClientSettings
from mesosctl.mesos.errors import (
    Conflict,
    Denied,
    Forbidden,
    MasterFailed,
    MesosctlError,
    Rejected,
    RuleViolation,
    UnexpectedAnswer,
    UsageError,
    printable,
)

if TYPE_CHECKING:
    from mesosctl.mesos.rules.version_profile import Profile

AGENT_TIMEOUT = 5.0
"""Seconds for one answer of an agent, at most."""
_LACKING = (404, 405)
"""The statuses of a master for a path that it does not have."""


_SILENCE = 60.0
"""Seconds without a heartbeat, which masters send every 15, after which a stream is considered broken."""
_A_DAY = 86400.0


class LeadingMaster:
    """The leading master of an address.

    One deadline covers all requests to it.  Every method raises an error of `mesosctl.mesos.errors`: NoMaster and its
    subclasses, DeadlinePassed, and the errors of `client.response.raise_for_status`. An httpx `transport` replaces that
    of the address.  `fake` is the text of a `fake:` address, and None for another one.
    """

    def __init__(
        self,
        address: Address,
        settings: ClientSettings | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        settings = settings or ClientSettings()
        self.fake = address.fake if transport is None else None
        http = HttpClient(
            address.fake,
            settings.tls,
            transport,
            timeout=settings.timeout,
            notice=settings.notice,
            proxies=settings.proxies,
        )

        def sleep(seconds: float) -> None:
            settings.sleep(seconds)
            http.pass_time(seconds)

        self.settings = settings._replace(sleep=sleep)
        self._sender = Sender(address, self.settings, http)
        self._profile: Profile | None = None
        self._subscribed_at: str | None = None
        self._read_before: dict[str, Any] = {}

    @property
    def deadline(self) -> Deadline:
        """The one that covers everything."""
        return self._sender.deadline

    @property
    def is_fake(self) -> bool:
        """Whether it is a fake master in this process."""
        return self._sender.leader.address.fake is not None

    @property
    def changes_sent(self) -> int:
        """The number of changes that were sent, whatever the answers."""
        return self._sender.changes_sent

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, UnexpectedAnswer) or (isinstance(error, MesosctlError) and error.status in _LACKING):
            self._name_old_version(error)
        self.close()

    def _name_old_version(self, error: MesosctlError) -> None:
        """Say so if a master whose answer cannot be read, or that lacks a path, is older than all that are known."""
        from mesosctl.mesos.messages import responses
        from mesosctl.mesos.rules.version_profile import is_too_old

        with suppress(MesosctlError):
            version = responses.version(self.get_once("/version"))
            if is_too_old(version):
                error.reword(f"Mesos {version} is too old: mesosctl works with Mesos 1.4 and later")
                error.field, error.hint = None, "upgrade the master, or name another one with --master"

    @property
    def is_closed(self) -> bool:
        """Whether its connections were closed."""
        return self._sender.http.is_closed

    def close(self) -> None:
        """Close the connections."""
        self._sender.http.close()

    def notice(self, sentence: str) -> None:
        """Show the operator a note."""
        self.settings.notice(sentence)

    def alarm(self, sentence: str) -> None:
        """Show the operator a warning."""
        self.settings.alarm(sentence)

    @property
    def profile(self) -> "Profile":
        """The profile of the master, with a notice if its version is unreadable or newer than all that are known."""
        from mesosctl.mesos.messages import responses
        from mesosctl.mesos.rules.version_profile import is_version, newer_than_known, profile_of

        if self._profile is None:
            version = self.version()
            self._profile = profile_of(version, responses.git_tag(self.get_once("/version")))
            if not is_version(version):
                self.notice(f"the master shows '{version}' as its version; assumed to be {self._profile}")
            elif (note := newer_than_known(version)) is not None:
                self.notice(note)
        return self._profile

    def version(self) -> str:
        """The version that the master shows (GET /version, which is open to all)."""
        from mesosctl.mesos.messages import responses

        return responses.version(self.get_once("/version"))

    # --- Reading ----------------------------------------------------------------------------------

    def get(self, path: str) -> Any:
        """The JSON at `path`.  Repeated after a pause if no master answered, or one failed."""
        answer = self._read(Request("GET", path, repeatable=True))
        self.settings.learn(path, answer)
        self._read_before[path] = answer
        return answer

    def get_once(self, path: str) -> Any:
        """The JSON at `path`, which is read only if it has not been: for a note that needs no new answer."""
        return self._read_before[path] if path in self._read_before else self.get(path)

    def stream(self, path: str, take: Take) -> Any:
        """Return the value that `take` makes of the JSON at `path`, read in pieces: it is never in memory as a whole.

        Repeated like `get`; `take` is called after the answer has arrived, and has as much time again. The caller
        passes names from the answer to `settings.learn`.
        """
        return self._receive(Request("GET", path, repeatable=True, hold=True)).take(take, self.deadline.again())

    def stream_call(self, call: str, take: Take) -> Any:
        """Like `stream`, for the answer to a v1 call that only reads."""
        return self.receive_call(call).take(take, self.deadline.again())

    def receive_call(self, call: str) -> Response:
        """The answer to a v1 call that only reads, which may be read while other requests are sent."""
        return self._receive(_reading_call(call, hold=True))

    def ask(self, call: str) -> Any:
        """The JSON of a v1 call that only reads, by its name. Repeated like `get`."""
        return self._read(_reading_call(call))

    def refusal_of(self, call: bytes) -> MesosctlError:
        """Return why a master refuses a v1 call that it cannot carry out.

        Repeated like `get`.  Raises UnexpectedAnswer if the call is accepted, Unauthenticated, and what `get` raises.
        """
        request = Request("POST", "/api/v1", call, repeatable=True)
        try:
            answer = self._receive(request)
        except (Forbidden, Rejected, Conflict) as refused:
            return refused
        except UnexpectedAnswer as refused:
            if refused.status == 404:  # what the call is about does not exist
                return refused
            raise
        raise UnexpectedAnswer(f"{answer.url} accepted a request that cannot be carried out", status=answer.status)

    @contextmanager
    def hearing(self, received: Callable[[int, float | None], None]) -> Iterator[None]:
        """Call `received` with the bytes of each answer so far, and their fraction of the answer if that is known."""
        before, self._sender.http.received = self._sender.http.received, received
        try:
            yield
        finally:
            self._sender.http.received = before

    def _read(self, request: Request) -> Any:
        return self._json(self._receive(request))

    def _receive(self, request: Request) -> Response:
        """The answer to a request that only reads, and may be repeated."""
        return retry_read(lambda: self._send_read(request), self.deadline, self.settings)

    def _json(self, answer: Response) -> Any:
        """A parsed answer; parsing may take as long again as the exchange."""
        check_readable(self.deadline.again(), answer.url, answer.body)
        return answer.json()

    def _send_read(self, request: Request) -> Response:
        """One reading from the leader, which is found first if any master would answer.

        A server that is not a complete master may not answer the search, and is asked anyway.
        """
        if self._may_miss_leader(request.path):
            with suppress(MasterFailed, Denied):
                self._sender.find_leader()
        return self._sender.send(request)

    def _may_miss_leader(self, path: str) -> bool:
        """Whether a master that does not lead would answer `path`, but should not."""
        if path not in ANSWERED_BY_ALL or self._sender.leader.address.fake:
            return False
        if path == "/metrics/snapshot":
            return True  # at this moment, and so is the search for the leader
        # Masters of one list have one version, except during an upgrade.
        return self._sender.leader.base is None and (path == "/flags" or len(self._sender.leader.address.bases) > 1)

    # --- The state of an agent ----------------------------------------------------------------

    def agent_state(self, pid: str) -> Any:
        """The JSON of an agent's own `/state`; `pid` is as masters show it, `slave(1)@host:port`.

        Sent once. An agent is not trusted: it gets the secret only if its host and port are those of a master that was
        named, or if everything is fake.
        """
        name, base = self._agent_of(pid)
        headers = {"Accept": "application/json"}
        credentials = self.settings.credentials
        if credentials is not None and (self._sender.leader.address.fake or self._sender.leader.is_known(base)):
            headers["Authorization"] = credentials.header()
        # One silent agent must not use the whole deadline.
        deadline = Deadline(min(AGENT_TIMEOUT, self.deadline.remaining()), self.settings.clock)
        request = Request("GET", f"/{name}/state", repeatable=True)
        answer = self._sender.exchange(request, base, headers, deadline)
        raise_for_status(answer, self._sender.requester(base, request))
        return self._json(answer)

    def _agent_of(self, pid: str) -> tuple[str, str]:
        """The name of an agent and the URL of its host.  Raises UnexpectedAnswer for an invalid one."""
        from urllib.parse import urlsplit

        from mesosctl.client.address import ascii_host

        name, _, host = pid.partition("@")
        base = f"{self._sender.leader.scheme}://{host}"
        try:
            url = urlsplit(base)
            is_place = bool(ascii_host(url)) and url.port != 0  # both raise for invalid text
        except ValueError:
            is_place = False
        if not is_place:
            raise UnexpectedAnswer(f"the master shows an agent at '{printable(pid)}', which is not an address")
        return name, base

    # --- Changing ---------------------------------------------------------------------------------

    def post(self, path: str, body: bytes) -> None:
        """Change something by POST.  Sent once."""
        self._change("POST", path, body)

    def put(self, path: str, body: bytes) -> None:
        """Change something by PUT.  Sent once."""
        self._change("PUT", path, body)

    def post_form(self, path: str, fields: Mapping[str, str]) -> None:
        """Change something by POST of a form.  Sent once."""
        from urllib.parse import urlencode

        self._change("POST", path, urlencode(fields).encode(), "application/x-www-form-urlencoded")

    def delete(self, path: str) -> None:
        """Change something by DELETE; `path` is sent byte for byte, because a master reads roles from it. Sent once."""
        self._change("DELETE", path, None)

    def call(self, body: bytes) -> None:
        """Change something by a v1 call (Mesos documentation, "HTTP Endpoints").  Sent once.

        Raises RuleViolation, and sends nothing, if the release of the master lacks the call.
        """
        found = _TYPE.search(body)
        if found is not None:
            self.check_has(found[1].decode())
        self._change("POST", "/api/v1", body)

    def lacking(self, call: str) -> str | None:
        """The sentence about a v1 call that came with a later release than the master's.

        None if the master has it, or does not say its version.
        """
        from mesosctl.mesos.rules.version_profile import needs

        first = self._first_with(f"Call.Type={call}")
        return None if first is None else needs(call, first, self.profile)

    def _first_with(self, member: str) -> str | None:
        """The first release with a part of the v1 operator API, if the master's came before it."""
        from mesosctl.mesos.messages.protobuf_json.releases import first_with, has

        first = first_with(f"mesos.v1.master.{member}")
        try:
            return None if first is None or has(self.profile.release, first) else first
        except Denied:
            return None

    def check_has(self, call: str, hint: str | None = None) -> None:
        """Raise RuleViolation for a v1 call that the release of the master lacks: it would be refused as nonsense."""
        lacking = self.lacking(call)
        if lacking is not None:
            raise RuleViolation(lacking, rule="call.release", hint=hint)

    def _check_may_change(self) -> None:
        """Raise UsageError for a change in a dry run of a command that has none: it must not change anything."""
        if not self.settings.may_change:
            raise UsageError(
                "this command has no dry run; nothing was sent", field="--dry-run", hint="leave out --dry-run"
            )

    def _change(self, method: str, path: str, body: bytes | None, content_type: str = JSON) -> None:
        self._check_may_change()
        self.settings.changing(_name_of(method, path, body))
        with self._sender.on_its_own():
            answer = self._sender.send(Request(method, path, body, content_type))
        if answer.is_html:
            raise UnexpectedAnswer(f"{answer.url} answered a change with an HTML page, as a proxy does", status=200)
        if answer.body.strip():
            raise UnexpectedAnswer(
                f"{answer.url} answered a change with data, as if it were another request", status=answer.status
            )

    # --- Events -----------------------------------------------------------------------------------

    def subscribe(self, path: str, body: bytes, timeout: float) -> EventStream:
        """Open a stream of events on the leading master; see `client.response_body.EventStream`."""
        if path.endswith("/scheduler"):  # a subscriber of that endpoint is a framework; other streams only read
            self._check_may_change()
        stream, self._subscribed_at = self._sender.subscribe(path, body, timeout)
        return stream

    @property
    def sends_heartbeats(self) -> bool:
        """Whether subscribed operators hear from the master when nothing happens (from 1.5 on)."""
        return self._first_with("Event.Type=HEARTBEAT") is None

    def subscribe_operator(self, most: float | None = None) -> EventStream:
        """Open the stream of all that happens in the cluster.

        It is broken if nothing comes for a minute.  From a master that sends no heartbeats, nothing may come for `most`
        seconds, or for a day: then other requests have to tell whether the master is still there.
        """
        silence = _SILENCE if self.sends_heartbeats else _A_DAY if most is None else most
        return self.subscribe("/api/v1", b'{"type":"SUBSCRIBE"}', silence)

    def tell(self, path: str, body: bytes, stream_id: str, *, repeatable: bool = False) -> None:
        """A call of a subscribed framework.  Sent once, to the master that the stream comes from.

        `repeatable` if it changes nothing but the offers to this framework.
        """
        self._check_may_change()
        if not repeatable:
            self.settings.changing(_name_of("POST", path, body))
        base = self._subscribed_at  # the leading master may be gone, or may have changed
        assert base is not None, "a framework calls after it has subscribed"
        headers = self._sender.headers(base, JSON) | {"Mesos-Stream-Id": stream_id}
        self.deadline.begin()
        with self._sender.on_its_own():
            request = Request("POST", path, body, repeatable=repeatable)
            answer = self._sender.exchange(request, base, headers, self.deadline)
            raise_for_status(answer, self._sender.requester(base, request))


def _name_of(method: str, path: str, body: bytes | None) -> str:
    """`POST /quota`, and of a call also its type."""
    found = _TYPE.search(body) if body is not None and path.startswith("/api/") else None
    return f"{method} {path}" + ("" if found is None else f" {found[1].decode()}")


_TYPE = re.compile(rb'"type":\s*"([A-Z_]+)"')
"""The type of a call, which comes first in it."""


def _reading_call(call: str, *, hold: bool = False) -> Request:
    return Request("POST", "/api/v1", b'{"type":"%s"}' % call.encode(), repeatable=True, hold=hold)
