"""A leading master: reads that may be repeated, changes that are sent once.

with Master(parse_address("http://host:5050"), Settings()) as master:
    master.get("/quota")             decoded JSON
    master.post("/quota", b"{…}")    nothing, or an error
    master.delete("/quota/dev")
    master.call(b'{"type": …}')      POST /api/v1 for a change
    master.post_form("/reserve", {…})
    master.agent_state("slave(1)@…") what an agent itself says
    master.profile                   what is to be expected of this version
"""

from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlencode, urlsplit

from mesosctl.client.address import Address
from mesosctl.client.answer import Answer, raise_for_status
from mesosctl.client.carrier import Carrier, open_transport
from mesosctl.client.leader import MOST_REDIRECTS, Leader, nobody_answered, redirect_loop, redirected_base
from mesosctl.client.settings import Deadline, Settings
from mesosctl.core.errors import (
    MasterFailed,
    MesosctlError,
    NoMaster,
    UnexpectedAnswer,
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
        self._leader = Leader(address)
        self._carrier = Carrier(self.settings.tls, transport or open_transport(address.fake))
        self._profile: Profile | None = None
        self._strangers: set[str] = set()

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
        pause = FIRST_PAUSE
        for _ in range(READ_ATTEMPTS - 1):
            try:
                return self._send("GET", path).json()
            except (NoMaster, MasterFailed) as error:
                if isinstance(error, UnexpectedAnswer) or pause > self.deadline.remaining():
                    raise
            # Between half and the whole: many clients of one dead leader should not come back at once.
            self.settings.sleep(pause * (1 + self.settings.jitter()) / 2)
            pause *= 2
        return self._send("GET", path).json()

    def post(self, path: str, body: bytes) -> None:
        """Change something by POST.  Sent once."""
        self._change("POST", path, body)

    def agent_state(self, pid: str) -> Any:
        """The JSON that an agent itself gives at `/state`; `pid` as masters show it, `slave(1)@host:port`.

        Asked once.  An agent is a stranger: it is shown the secret only where its host and port are those of a
        master that was named, or everything is a fake.
        """
        name, _, host = pid.partition("@")
        base = f"{urlsplit(self._leader.candidates()[0]).scheme}://{host}"
        headers = {"Accept": "application/json"}
        credentials = self.settings.credentials
        if credentials is not None and (self._leader.address.fake or self._leader.may_see_credentials(base)):
            headers["Authorization"] = credentials.header()
        # One agent that swallows connections must not eat up the whole deadline.
        deadline = Deadline(min(AGENT_PATIENCE, self.deadline.remaining()), self.settings.clock)
        answer = self._carrier.exchange("GET", base, f"/{name}/state", headers, None, deadline)
        self.settings.trace(f"GET {answer.url} {answer.status}, {len(answer.body)} bytes")
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
        """The JSON of a v1 call that only reads, by its name.  Raises as `get`, and is not repeated."""
        return self._send("POST", "/api/v1", b'{"type":"%s"}' % call.encode()).json()

    def subscribe(self, path: str, body: bytes, patience: float) -> "EventStream":
        """Open a stream of events on whoever leads; see `client.stream`."""
        base = self._leader.base or self._find_leader()
        for _ in range(MOST_REDIRECTS + 1):
            opened = self._carrier.subscribe(base, path, self._headers(base, JSON), body, patience)
            if not isinstance(opened, Answer):
                self._leader.base = base
                return opened
            onward = redirected_base(opened, base, path)
            if onward is None:
                raise_for_status(opened)
                raise UnexpectedAnswer(f"{opened.url} answered {opened.status} instead of a stream")
            base = onward
        raise redirect_loop(base)

    def _find_leader(self) -> str:
        """Whoever answers an endpoint that only leaders serve."""
        self._send("GET", "/weights")
        assert self._leader.base is not None, "it has just answered"
        return self._leader.base

    def tell(self, path: str, body: bytes, stream_id: str) -> None:
        """A call of a subscribed framework.  Sent once, to the master that the stream comes from."""
        base = self._leader.base
        assert base is not None, "a framework calls after it has subscribed"
        headers = self._headers(base, JSON) | {"Mesos-Stream-Id": stream_id}
        raise_for_status(self._carrier.exchange("POST", base, path, headers, body, self.deadline))

    def _change(self, method: str, path: str, body: bytes | None, content_type: str = JSON) -> None:
        answer = self._send(method, path, body, content_type)
        if answer.is_html:
            raise UnexpectedAnswer(f"{answer.url} answered a change with an HTML page, as a proxy does", status=200)

    def _send(self, method: str, path: str, body: bytes | None = None, content_type: str = JSON) -> Answer:
        """One request to whoever leads.

        The next master is asked only where the last one certainly did not take the request.
        """
        failures: list[MesosctlError] = []
        candidates = self._leader.candidates()
        for index, base in enumerate(candidates):
            self.deadline.sharers = len(candidates) - index
            try:
                return self._ask(base, method, path, body, content_type)
            except NoMaster as error:
                self._leader.base = None
                if method != "GET" and error.sent:
                    raise
                failures.append(error)
        raise nobody_answered(failures)

    def _ask(self, base: str, method: str, path: str, body: bytes | None, content_type: str) -> Answer:
        """One request to `base` and along its redirects; the scheme, the method and the body stay."""
        for _ in range(MOST_REDIRECTS + 1):
            started = self.settings.clock()
            headers = self._headers(base, None if body is None else content_type)
            answer = self._carrier.exchange(method, base, path, headers, body, self.deadline)
            took = self.settings.clock() - started
            self.settings.trace(
                f"{method} {answer.url} {answer.status}, {len(answer.body)} bytes, {took * 1000:.0f} ms"
            )
            onward = redirected_base(answer, base, path)
            if onward is None:
                raise_for_status(answer)
                self._leader.base = base
                return answer
            base = onward
        raise redirect_loop(base)

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
