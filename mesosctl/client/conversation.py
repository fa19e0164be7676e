"""How a master is spoken to: how TLS is checked, how long it may take, who is told."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from mesosctl.client.credentials import Credentials, Token
    from mesosctl.client.exchange import Exchange


class Tls(NamedTuple):
    """Files: the authorities to trust instead of the system's, and a client's certificate and key."""

    ca_file: str | None = None
    cert_file: str | None = None
    key_file: str | None = None

    def __bool__(self) -> bool:
        """Whether any is given, as somebody does who means TLS."""
        return self.ca_file is not None or self.cert_file is not None


def _nobody(*_: Any) -> None:
    return None


def _by_chance() -> float:
    import random

    return random.random()  # noqa: S311  # spreads clients out, and hides nothing


class Conversation(NamedTuple):
    """Everything about a conversation but the address.

    Without `may_change` a master is only read, whatever else is asked for: the promise of a dry run.
    `notice` gets sentences an operator should see, `alarm` those that must not be missed, `trace`
    every exchange where it is given, `learn` each path that was read with its JSON; the clock, the
    pause and the jitter (a factor between 0 and 1) are replaced in tests.
    """

    credentials: "Credentials | Token | None" = None
    tls: Tls = Tls()
    timeout: float = 30.0
    notice: Callable[[str], None] = _nobody
    alarm: Callable[[str], None] = _nobody
    trace: "Callable[[Exchange], None] | None" = None
    learn: Callable[[str, Any], None] = _nobody
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    jitter: Callable[[], float] = _by_chance
    may_change: bool = True


CONNECT_PATIENCE = 10.0
"""Seconds for a connection, at most, where another master can be asked instead."""


class Deadline:
    """A point in time that all attempts together must not pass."""

    def __init__(self, seconds: float, clock: Callable[[], float]) -> None:
        self.seconds = seconds
        self._clock = clock
        self._end = clock() + seconds
        self.begin()

    def begin(self, others: int = 0, *, repeatable: bool = False) -> None:
        """Before each attempt.

        `others`: how many masters may still be asked after this one.  `repeatable`: they may be even
        though this one may have taken the request.
        """
        self.others = others
        self._repeatable = repeatable
        self._left_at_first = self.remaining()

    def remaining(self) -> float:
        """Seconds left; zero or less when it has passed."""
        return self._end - self._clock()

    def to_connect(self) -> float:
        """Seconds left for connecting, so that one who takes no connection does not eat it all."""
        return min(CONNECT_PATIENCE, self._share()) if self.others else self.remaining()

    def to_answer(self) -> float:
        """Seconds left until the first byte of the answer, so that one who stays silent does not eat it all."""
        return self._share() if self.others and self._repeatable else self.remaining()

    @property
    def waited(self) -> float:
        """Seconds since the attempt began."""
        return self._left_at_first - self.remaining()

    def _share(self) -> float:
        return self._left_at_first / (self.others + 1) - self.waited

    def extend_to(self, seconds: float) -> None:
        """Leave at least `seconds` from now: time to find out what became of a change."""
        self._end = max(self._end, self._clock() + seconds)
