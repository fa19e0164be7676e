"""How long a master is waited for: one deadline over all attempts, and what each wait may take of it."""

from collections.abc import Callable
from typing import Self

CONNECT_TIMEOUT = 10.0
"""Seconds for a connection, at most, if another master can be asked instead."""


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
        """Seconds left for connecting, so that one who did not accept a connection does not eat it all."""
        return min(CONNECT_TIMEOUT, self._share()) if self.others else self.remaining()

    def to_answer(self) -> float:
        """Seconds left until the first byte of the answer, so that one who stays silent does not eat it all."""
        return self._share() if self.others and self._repeatable else self.remaining()

    @property
    def waited(self) -> float:
        """Seconds since the attempt began."""
        return self._left_at_first - self.remaining()

    def _share(self) -> float:
        return self._left_at_first / (self.others + 1) - self.waited

    def again(self) -> "Deadline":
        """A deadline of the same length that begins now."""
        return Deadline(self.seconds, self._clock)

    def extend_to(self, seconds: float) -> None:
        """Leave at least `seconds` from now: time to find out what became of a change."""
        self._end = max(self._end, self._clock() + seconds)


class Timeout(float):
    """Seconds, as httpx takes a timeout, that know what is left of them later.

    httpx hands one number to every read of an answer, so that a master which drips bytes would be given all of
    it each time.  `client.transport` asks for what is left; any other transport sees a number.
    """

    __slots__ = ("answered", "left")

    left: Callable[[], float]
    answered: Callable[[], None]
    """To be called when the first byte of the answer has come."""

    def __new__(cls, left: Callable[[], float], answered: Callable[[], None]) -> Self:
        """Make it of what is left, and what is to be called when the first byte has come."""
        made = super().__new__(cls, left())
        made.left = left
        made.answered = answered
        return made


class Timeouts:
    """The timeouts of one exchange, in seconds.

    All of them end with `deadline`; with `listening` each read may last as long as the whole, since events may be
    rare.  Until the first byte of an answer a read ends sooner if another master can be asked instead.
    """

    def __init__(self, deadline: Deadline, *, listening: bool = False) -> None:
        self._deadline = deadline
        self._listening = listening
        self._reserve = deadline.remaining() - deadline.to_answer()

    def extension(self) -> dict[str, float]:
        """The `timeout` extension of a request of httpx."""
        waits = {
            "connect": self._deadline.to_connect,
            "pool": self._deadline.to_connect,
            "write": self._deadline.remaining,
            "read": self._to_read,
        }
        return {name: Timeout(left, self._answered) for name, left in waits.items()}

    def _answered(self) -> None:
        # The rest of the answer may take whatever is left.
        self._reserve = 0.0

    def _to_read(self) -> float:
        return self._deadline.seconds if self._listening else self._deadline.remaining() - self._reserve
