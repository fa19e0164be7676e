"""What a way to a master is: it takes a request, and gives the answer as it comes.

There are three: the network (`client.network`), the fake master in this process (`client.fake`), and any
transport of httpx that somebody plugs in (`client.plugged`).  httpx itself is imported with the last one
alone: no command needs it, and with it each would be half as long again in starting.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple, Protocol

from mesosctl.client.conversation import Deadline

PATH_SAFE = "/:@!$&'()*+,;=~-._?"
"""What a path may hold as it is in a URL; everything else is quoted where one is shown, and goes out as it is."""


class Outgoing(NamedTuple):
    """One request.  `base` is the URL of the master, `target` goes out after the host byte for byte."""

    method: str
    base: str
    target: str
    headers: Mapping[str, str]
    body: bytes | None


class Patience:
    """How long each wait of one exchange may take, in seconds.

    All of them end with `deadline`, or with `listening` each lasts as long as the whole: events may be rare.
    Until the first byte of an answer a wait ends sooner where another master can be asked instead.
    """

    def __init__(self, deadline: Deadline, *, listening: bool = False) -> None:
        self._deadline = deadline
        self._listening = listening
        self._reserve = deadline.remaining() - deadline.to_answer()

    def answered(self) -> None:
        """The first byte has come: the rest of it may take whatever is left."""
        self._reserve = 0.0

    def to_connect(self) -> float:
        """For a connection, its handshake included."""
        return self._deadline.to_connect()

    def to_write(self) -> float:
        """For the next piece of the request."""
        return self._deadline.remaining()

    def to_read(self) -> float:
        """For the next piece of the answer."""
        return self._deadline.seconds if self._listening else self._deadline.remaining() - self._reserve


class Incoming(Protocol):
    """An answer whose head has come."""

    @property
    def status(self) -> int:
        """The number of it."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """Named in lower case."""
        ...

    def pieces(self) -> Iterator[bytes]:
        """The body as it comes, unpacked.  Raises Failure."""
        ...

    def cut(self) -> None:
        """End it from another thread: whoever waits for a piece is told that the connection broke."""
        ...

    def close(self) -> None:
        """Let go of it, read to its end or not."""
        ...


class Way(Protocol):
    """Requests one after the other, or beside a stream that stays open."""

    def send(self, request: Outgoing, patience: Patience) -> Incoming:
        """Send it and wait for the head of the answer.  Raises Failure, and UsageError for what is no host."""
        ...

    def end_idle(self) -> None:
        """Close the connections that nothing is under way on."""
        ...

    def close(self) -> None:
        """Close everything."""
        ...
