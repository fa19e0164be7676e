"""A leading master: reads that may be repeated, changes that are sent once.

with Master(parse_address("http://host:5050"), Settings()) as master:
    master.get("/quota")             decoded JSON
    master.stream("/slaves", take)   what is made of a large answer, piece by piece
    master.post("/quota", b"{…}")    nothing, or an error
    master.delete("/quota/dev")
    master.call(b'{"type": …}')      POST /api/v1 for a change
    master.post_form("/reserve", {…})
    master.agent_state("slave(1)@…") what an agent itself says
    master.profile                   what is to be expected of this version
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlencode

from mesosctl.client.address import Address
from mesosctl.client.answer import Answer, Take, raise_for_status
from mesosctl.client.carrier import Carrier, open_transport
from mesosctl.client.leader import MOST_REDIRECTS, Leader, nobody_answered, redirect_loop, redirected_base
from mesosctl.client.settings import Deadline, Settings
from mesosctl.core.errors import (
    DeadlinePassed,
    Denied,
    MasterFailed,
    MesosctlError,
    NoMaster,
    NoZooKeeper,
    TlsFailure,
    Unauthenticated,
    UnexpectedAnswer,
    UsageError,
)
from mesosctl.core.profile import Profile, profile_of
from mesosctl.wire import answers

if TYPE_CHECKING:
    import httpx

    from mesosctl.client.stream import EventStream

JSON = "application/json"
READ_ATTEMPTS = 3
AGENT_PATIENCE = 5.0
"""Seconds for one answer of an agent, at most."""
FIRST_PAUSE = 0.25
"""Seconds before the first repetition of a read, at most; it doubles with each."""


LEADERS_ONLY = "/slaves?slave_id=none"
"""What only whoever leads answers, everybody may ask, and costs a master nothing (spec/endpoints.md §1, §2)."""
_ANSWERED_BY_ALL = ("/version", "/flags", "/metrics/snapshot")
"""What a master that does not lead answers as well, and of itself."""

_SETTLED = (UnexpectedAnswer, TlsFailure, NoZooKeeper)
"""What asking again would not change, or has already been waited for."""


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of whoever leads; `repeatable` where nothing changes by asking twice.

    `take` reads the answer piece by piece.
    """

    method: str
    path: str
    body: bytes | None = None
    content_type: str = JSON
    repeatable: bool = False
    take: Take | None = None


class Master:
    """Whoever leads among the masters of an address.  One deadline covers all that is asked of it.

    Every method raises an error of `mesosctl.core.errors`: NoMaster and its kinds, DeadlinePassed,
    and what `client.answer.raise_for_status` makes of a status.
    """

    def __init__(
        self, address: Address, settings: Settings | None = None, transport: "httpx.BaseTransport | None" = None
    ) -> None:
        self.settings = settings or Settings()
        self.deadline = Deadline(self.settings.timeout, self.settings.clock)
        self._leader = Leader(address, self.settings, self.deadline)
        self._carrier = Carrier(self.settings.tls, transport or open_transport(address.fake))
        self._profile: Profile | None = None
        self._strangers: set[str] = set()
        self._subscribed_at: str | None = None
        self.changes_left = 0
        """How many changes went out that a master may have looked at."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._carrier.close()

    def notice(self, sentence: str) -> None:
        """Tell the operator something that is not the answer."""
        self.settings.notice(sentence)

    def alarm(self, sentence: str) -> None:
        """Tell the operator something that must not be missed."""
        self.settings.alarm(sentence)

    @property
    def profile(self) -> Profile:
        """What this master's version is known for; asked once (GET /version, which is open to all)."""
        if self._profile is None:
            self._profile = profile_of(answers.version(self.get("/version")))
        return self._profile

    def get(self, path: str) -> Any:
        """The JSON at `path`.  Repeated after a pause where nobody answered, or a master failed."""
        answer = self._read(Request("GET", path, repeatable=True))
        self.settings.learn(path, answer)
        return answer

    def stream(self, path: str, take: Take) -> Any:
        """What `take` makes of the JSON at `path`, piece by piece: neither text nor tree need ever be there whole.

        Repeated as `get`; `take` is called once the answer has come, which the deadline is for.  Whoever learns
        names from answers has to be told by the caller.
        """
        return self._read(Request("GET", path, repeatable=True, take=take))

    def stream_call(self, call: str, take: Take) -> Any:
        """As `stream`, of the answer to a v1 call that only reads."""
        return self._read(_reading_call(call, take))

    def _read(self, request: Request) -> Any:
        """What a request that only reads, and so may be repeated, is answered: its JSON, or what is made of that."""
        pause = FIRST_PAUSE
        for _ in range(READ_ATTEMPTS - 1):
            try:
                return self._value(request)
            except (NoMaster, MasterFailed) as error:
                if isinstance(error, _SETTLED) or pause > self.deadline.remaining():
                    raise
            # Between half and the whole: many clients of one dead leader should not come back at once.
            self.settings.sleep(pause * (1 + self.settings.jitter()) / 2)
            pause *= 2
        return self._value(request)

    def _value(self, request: Request) -> Any:
        answer = self._send_read(request)
        if request.take is None:
            return answer.json()
        return answer.take(request.take, [answer.body]) if answer.taken is None else answer.taken

    def _send_read(self, request: Request) -> Answer:
        """One reading of what the leader says: who leads is found first where any master would answer.

        Something that is no whole master may not know that question, and is asked all the same.
        """
        if self._may_miss_leader(request.path):
            with suppress(MasterFailed, Denied):
                self._find_leader()
        return self._send(request)

    def _may_miss_leader(self, path: str) -> bool:
        """Whether `path` might be answered by a master that does not lead, and should not be."""
        if path not in _ANSWERED_BY_ALL or self._leader.address.fake:
            return False
        if path == "/metrics/snapshot":
            return True  # of now, and so is the question who leads
        # Masters of one list have one version, but while they are being upgraded.
        return self._leader.base is None and (path == "/flags" or len(self._leader.address.bases) > 1)

    def post(self, path: str, body: bytes) -> None:
        """Change something by POST.  Sent once."""
        self._change("POST", path, body)

    def put(self, path: str, body: bytes) -> None:
        """Change something by PUT.  Sent once."""
        self._change("PUT", path, body)

    def agent_state(self, pid: str) -> Any:
        """The JSON that an agent itself gives at `/state`; `pid` as masters show it, `slave(1)@host:port`.

        Asked once.  An agent is a stranger: it is shown the secret only where its host and port are those of a
        master that was named, or everything is a fake.
        """
        name, _, host = pid.partition("@")
        base = f"{self._leader.scheme}://{host}"
        headers = {"Accept": "application/json"}
        credentials = self.settings.credentials
        if credentials is not None and (self._leader.address.fake or self._leader.is_known(base)):
            headers["Authorization"] = credentials.header()
        # One agent that swallows connections must not eat up the whole deadline.
        deadline = Deadline(min(AGENT_PATIENCE, self.deadline.remaining()), self.settings.clock)
        answer = self._exchange(Request("GET", f"/{name}/state", repeatable=True), base, headers, deadline)
        raise_for_status(answer)
        return answer.json()

    def post_form(self, path: str, fields: Mapping[str, str]) -> None:
        """Change something by POST of a form.  Sent once."""
        self._change("POST", path, urlencode(fields).encode(), "application/x-www-form-urlencoded")

    def delete(self, path: str) -> None:
        """Change something by DELETE; `path` goes out byte for byte, as a master reads roles from it.  Sent once."""
        self._change("DELETE", path, None)

    def call(self, body: bytes) -> None:
        """Change something by a v1 call (spec/endpoints.md §4).  Sent once."""
        self._change("POST", "/api/v1", body)

    def ask(self, call: str) -> Any:
        """The JSON of a v1 call that only reads, by its name.  Repeated as `get`."""
        return self._read(_reading_call(call))

    @contextmanager
    def hearing(self, received: Callable[[int], None]) -> Iterator[None]:
        """Meanwhile tell `received` how many bytes of each answer have come: for progress."""
        before, self._carrier.received = self._carrier.received, received
        try:
            yield
        finally:
            self._carrier.received = before

    def subscribe(self, path: str, body: bytes, patience: float) -> "EventStream":
        """Open a stream of events on whoever leads; see `client.stream`."""
        if path.endswith("/scheduler"):  # whoever subscribes there is a framework; other streams only tell
            self._check_may_change()
        base = self._leader.base or self._find_leader()
        for _ in range(MOST_REDIRECTS + 1):
            headers = self._headers(base, JSON)
            opened = self._carrier.subscribe(base, path, headers, body, patience)
            self._tell_of_stream(base + path, headers, body, opened)
            if not isinstance(opened, Answer):
                self._leader.base = self._subscribed_at = base
                return opened
            onward = redirected_base(opened, base, path)
            if onward is None:
                raise_for_status(opened)
                raise UnexpectedAnswer(f"{opened.url} answered {opened.status} instead of a stream")
            base = onward
        raise redirect_loop(base)

    def _tell_of_stream(
        self, url: str, headers: Mapping[str, str], body: bytes, opened: "EventStream | Answer"
    ) -> None:
        if self.settings.trace is not None:
            from mesosctl.client.exchange import Exchange, presentable

            answer = opened if isinstance(opened, Answer) else None
            self.settings.trace(Exchange("POST", url, presentable(headers), body, 0.0, answer))

    def _find_leader(self) -> str:
        """Whoever answers an endpoint that only leaders serve."""
        self._send(Request("GET", LEADERS_ONLY, repeatable=True))
        assert self._leader.base is not None, "it has just answered"
        return self._leader.base

    def tell(self, path: str, body: bytes, stream_id: str, *, repeatable: bool = False) -> None:
        """A call of a subscribed framework.  Sent once, to the master that the stream comes from.

        `repeatable` where it changes nothing but what this framework is offered.
        """
        self._check_may_change()
        base = self._subscribed_at  # whoever leads may have been lost meanwhile, or be another
        assert base is not None, "a framework calls after it has subscribed"
        headers = self._headers(base, JSON) | {"Mesos-Stream-Id": stream_id}
        self.deadline.begin()
        with self._on_its_own():
            raise_for_status(
                self._exchange(Request("POST", path, body, repeatable=repeatable), base, headers, self.deadline)
            )

    def _check_may_change(self) -> None:
        """Raises UsageError where a command without a dry run is asked for one: it must not change anything."""
        if not self.settings.may_change:
            raise UsageError(
                "this command cannot be tried out; nothing was sent", field="--dry-run", hint="leave it out"
            )

    def _change(self, method: str, path: str, body: bytes | None, content_type: str = JSON) -> None:
        self._check_may_change()
        with self._on_its_own():
            answer = self._send(Request(method, path, body, content_type))
        if answer.is_html:
            raise UnexpectedAnswer(f"{answer.url} answered a change with an HTML page, as a proxy does", status=200)
        if answer.body.strip():
            raise UnexpectedAnswer(
                f"{answer.url} answered a change with data, as if to another request", status=answer.status
            )

    @contextmanager
    def _on_its_own(self) -> Iterator[None]:
        """A change on a connection that nothing was on before, and nothing is on after it.

        A connection that was kept may just be ending, which would leave open what became of the change; and
        bytes too many after one answer would be taken for the next.
        """
        self._carrier.end_idle()
        try:
            yield
        finally:
            self._carrier.end_idle()

    def _send(self, request: Request) -> Answer:
        """One request to whoever leads.

        The next master is asked only where the last one certainly did not take the request, or it
        may be repeated.
        """
        failures: list[MesosctlError] = []
        try:
            for base, others in self._leader.candidates():
                try:
                    return self._ask(request, base, others)
                except NoMaster as error:
                    self._leader.base = None
                    if error.sent and not request.repeatable:
                        raise
                    failures.append(error)
        except (NoMaster, DeadlinePassed) as error:
            if error.sent and not request.repeatable:
                raise
            failures.append(error)
        raise nobody_answered(failures)

    def _ask(self, request: Request, base: str, others: int) -> Answer:
        """One request to `base` and along its redirects; the scheme, the method and the body stay.

        `others`: how many masters may be asked after `base`, and have to be left time for.
        """
        for _ in range(MOST_REDIRECTS + 1):
            headers = self._headers(base, None if request.body is None else request.content_type)
            self.deadline.begin(others, repeatable=request.repeatable)
            answer = self._exchange(request, base, headers, self.deadline)
            onward = redirected_base(answer, base, request.path)
            if onward is None:
                self._check(answer, base)
                if request.path not in _ANSWERED_BY_ALL or self._leader.address.zookeeper:
                    self._leader.base = base
                return answer
            base, others = onward, min(others, 1)
        raise redirect_loop(base)

    def _exchange(self, request: Request, base: str, headers: Mapping[str, str], deadline: Deadline) -> Answer:
        """As `_carry`; remembers whether a change may have been looked at."""
        try:
            answer = self._carry(request, base, headers, deadline)
        except MesosctlError as error:
            self.changes_left += error.sent and not request.repeatable
            raise
        looked_at = answer.status not in (307, 503) or answer.may_follow_a_change
        self.changes_left += looked_at and not request.repeatable
        return answer

    def _carry(self, request: Request, base: str, headers: Mapping[str, str], deadline: Deadline) -> Answer:
        """As the carrier does it; told, however it ends, to whoever wants to see exchanges."""
        method, path, body = request.method, request.path, request.body
        trace = self.settings.trace
        if trace is None:
            return self._carrier.exchange(method, base, path, headers, body, deadline, request.take)
        # Who looks on wants to see the whole of it.
        from mesosctl.client.exchange import Exchange, presentable

        started = self.settings.clock()
        answer, failure = None, None
        try:
            answer = self._carrier.exchange(method, base, path, headers, body, deadline)
        except MesosctlError as error:
            failure = error.message
            raise
        finally:
            took = self.settings.clock() - started
            url = base + path if answer is None else answer.url
            trace(Exchange(method, url, presentable(headers), body, took, answer, failure))
        return answer

    def _check(self, answer: Answer, base: str) -> None:
        """Raise what a status means."""
        try:
            raise_for_status(answer)
        except Unauthenticated as error:
            if base in self._strangers:
                error.hint = f"{base} leads and was not shown the secret; name it too: --master …,{base}"
            raise

    def _headers(self, base: str, content_type: str | None) -> dict[str, str]:
        # A v1 endpoint wants its exact type, without parameters.
        headers = {"Accept": JSON} | ({"Content-Type": content_type} if content_type else {})
        credentials = self.settings.credentials
        if credentials is None:
            return headers
        if self._leader.may_see_credentials(base):
            headers["Authorization"] = credentials.header()
        elif base not in self._strangers:
            self._strangers.add(base)
            self.notice(f"the leading master {base} was not named with --master: it is not shown the secret")
        return headers


def _reading_call(call: str, take: Take | None = None) -> Request:
    return Request("POST", "/api/v1", b'{"type":"%s"}' % call.encode(), repeatable=True, take=take)
