"""The fake master in this process, instead of the network."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from mesosctl.client.failures import TooLate
from mesosctl.client.way import Outgoing, Patience

if TYPE_CHECKING:
    from fake_master import Listening, OnCall


class Fake:
    """Requests straight to a fake master: a `Way`."""

    def __init__(self, carrier: "OnCall | Listening") -> None:
        self._carrier = carrier

    def send(self, request: Outgoing, patience: Patience) -> "Answered":
        """Ask the master.  Raises BadInput where its state cannot be used."""
        headers = {name.lower(): value for name, value in request.headers.items()}
        answer = self._carrier.answer(request.method, request.target, headers, request.body or b"")
        headers = {name.lower(): value for name, value in answer.headers.items()}
        if answer.stream is None:
            return Answered(answer.status, headers, (answer.body,))
        events = self._carrier.events(answer.stream, patience.to_read())
        return Answered(answer.status, headers, events, events.close)

    def end_idle(self) -> None:
        """There are no connections."""

    def close(self) -> None:
        """Let go of the master's registry."""
        self._carrier.close()


class Answered:
    """An answer of it: an `Incoming`."""

    def __init__(
        self,
        status: int,
        headers: Mapping[str, str],
        pieces: Iterable[bytes],
        hang_up: Callable[[], None] | None = None,
    ) -> None:
        self.status = status
        self.headers = headers
        self._pieces = pieces
        self._hang_up = hang_up

    def pieces(self) -> Iterator[bytes]:
        """The body as it comes."""
        try:
            yield from self._pieces
        except TimeoutError as error:
            raise TooLate(str(error)) from error

    def cut(self) -> None:
        """Nobody waits in another thread: time passes in the one that reads."""

    def close(self) -> None:
        """Hang up, where it is a stream."""
        if self._hang_up is not None:
            self._hang_up()
