"""How a master is spoken to: who asks, how TLS is checked, how long it may take, who is told."""

import base64
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Credentials:
    """A principal and its secret; the secret is never part of the text of this value."""

    principal: str
    secret: str = field(repr=False)

    def header(self) -> str:
        """The value of `Authorization` for Basic authentication."""
        return "Basic " + base64.b64encode(f"{self.principal}:{self.secret}".encode(errors="surrogateescape")).decode()


@dataclass(frozen=True, slots=True)
class Tls:
    """Files: the authorities to trust instead of the system's, and a client's certificate and key."""

    ca_file: str | None = None
    cert_file: str | None = None
    key_file: str | None = None


def _nobody(_: str) -> None:
    return None


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything about a conversation but the address.

    `notice` gets sentences an operator should see, `alarm` those that must not be missed, `trace`
    one line an exchange; the clock, the pause and the jitter (a factor between 0 and 1) are
    replaced in tests.
    """

    credentials: Credentials | None = None
    tls: Tls = field(default_factory=Tls)
    timeout: float = 30.0
    notice: Callable[[str], None] = _nobody
    alarm: Callable[[str], None] = _nobody
    trace: Callable[[str], None] = _nobody
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    jitter: Callable[[], float] = random.random


class Deadline:
    """A point in time that all attempts together must not pass.

    `sharers` is how many masters may have to be connected to, one after the other, in what is left.
    """

    def __init__(self, seconds: float, clock: Callable[[], float]) -> None:
        self.seconds = seconds
        self.sharers = 1
        self._clock = clock
        self._end = clock() + seconds

    def remaining(self) -> float:
        """Seconds left; zero or less when it has passed."""
        return self._end - self._clock()

    def to_connect(self) -> float:
        """Seconds left for connecting to the next of them, so that a silent one does not eat it all."""
        return self.remaining() / self.sharers

    def extend_to(self, seconds: float) -> None:
        """Leave at least `seconds` from now: time to find out what became of a change."""
        self._end = max(self._end, self._clock() + seconds)
