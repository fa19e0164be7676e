"""A queue that is asked while a cluster is recorded: the launch queue of a Marathon, over the client of this tool.

queue = AskedQueue("marathon", lambda deadline: …)
queue.ask(at)             its answer is taken
queue.join(recording, …)  what it said so far is joined with the tasks that are recorded
"""

from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import urlsplit

from mesosctl.client.deadline import Deadline
from mesosctl.client.http_client import HttpClient
from mesosctl.client.settings import ClientSettings, Credentials, Token
from mesosctl.history.imports.join import join_rows
from mesosctl.history.imports.marathon_queue import MarathonQueue
from mesosctl.history.imports.rows import Unusable
from mesosctl.history.interface import RecordingWriter
from mesosctl.history.records import Micros, RecordedCluster
from mesosctl.mesos.errors import MasterFailed, MesosctlError, Unauthenticated, UnexpectedAnswer, UsageError

_PATH = "/v2/queue"


class QueueAddress(NamedTuple):
    """A framework, by its name or id, and the address of its Marathon."""

    framework: str
    base: str


def parse_queue(text: str) -> QueueAddress:
    """Return FRAMEWORK=URL as values.  Raises UsageError, without a secret that the URL may have."""
    framework, _, base = text.partition("=")
    try:
        url = urlsplit(base)
        is_plain = url.scheme in ("http", "https") and url.hostname and not url.query and not url.fragment
        has_secret = url.username is not None
    except ValueError:
        is_plain, has_secret = False, False
    if has_secret:
        raise UsageError(
            "a secret cannot stand in an address", field="--queue", hint="give it with --queue-secret-file FILE"
        )
    if not framework or not is_plain:
        raise UsageError(
            "a queue is a framework and the address of its Marathon",
            field="--queue",
            hint="write --queue marathon=https://marathon.example.com:8080",
        )
    return QueueAddress(framework, base.rstrip("/"))


def header_of(secret: str) -> str:
    """The value of `Authorization` for a file with `principal:secret`, or with a token."""
    principal, colon, rest = secret.partition(":")
    return (Credentials(principal, rest) if colon else Token(secret)).header()


def marathon(
    address: QueueAddress, client: HttpClient, settings: ClientSettings, header: str | None
) -> Callable[[], bytes]:
    """Return what asks a Marathon for its queue.  It raises MesosctlError."""
    headers = {"Accept": "application/json"} | ({} if header is None else {"Authorization": header})

    def ask() -> bytes:
        answer = client.exchange("GET", address.base, _PATH, headers, None, Deadline(settings.timeout, settings.clock))
        if answer.status in (401, 403):
            raise Unauthenticated(f"{answer.url} needs other credentials", hint="give --queue-secret-file FILE")
        if answer.status >= 500:
            raise MasterFailed(f"{answer.url} failed with {answer.status}", status=answer.status)
        if answer.status != 200:
            raise UnexpectedAnswer(f"{answer.url} answered {answer.status}, not the queue of a Marathon")
        return answer.body

    return ask


class AskedQueue:
    """The queue of one framework."""

    def __init__(self, framework: str, ask: Callable[[], bytes], every: float, tell: Callable[[str], None]) -> None:
        self._framework, self._ask, self._tell = framework, ask, tell
        self.every = every
        """Seconds between two answers."""
        self._queue = MarathonQueue(framework)
        self._is_away = False

    def ask(self) -> bytes | None:
        """Return its answer; None, which is told once, if it gives none."""
        try:
            found = self._ask()
        except MesosctlError as error:
            self._miss(error.message)
            return None
        self._is_away = False
        return found

    def take(self, answer: bytes, at: Micros) -> None:
        """Take an answer that came at a moment; one that cannot be read is told once."""
        try:
            self._queue.take(0, answer, at)
        except Unusable as error:
            self._miss(error.cause)

    def _miss(self, why: str) -> None:
        if not self._is_away:
            self._tell(f"the queue of {self._framework} is not known: {why}")
        self._is_away = True

    def join(self, recording: RecordingWriter, cluster: RecordedCluster) -> None:
        """Join what it said with the recorded tasks.  Within a transaction."""
        rows = list(self._queue.rows())
        if rows:
            join_rows(recording, cluster, rows, f"queue of {self._framework}", "marathon-queue", replace=False)
            self._queue.forget_left()
