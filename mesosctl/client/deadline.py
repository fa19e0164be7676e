"""The deadline for all attempts together, and each attempt's share of it."""

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
        """Called before each attempt.

        `others`: the number of masters that may still be asked after this one. `repeatable`: they may be asked even if
        this one may have got the request.
        """
        self.others = others
        self._repeatable = repeatable
        self._left_at_first = self.remaining()

    def remaining(self) -> float:
        """Seconds left; zero or less when it has passed."""
        return self._end - self._clock()

    def to_connect(self) -> float:
        """Seconds left for connecting, so that a master that does not accept connections does not use all of it."""
        return min(CONNECT_TIMEOUT, self._share()) if self.others else self.remaining()

    def to_answer(self) -> float:
        """Seconds left until the first byte of the answer, so that a silent master does not use all of it."""
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

    def end(self) -> None:
        """Expire now, so that a reader in another thread stops at its next piece."""
        self._end = self._clock()

    def extend_to(self, seconds: float) -> None:
        """Leave at least `seconds` from now, as time to find out whether a change was made."""
        self._end = max(self._end, self._clock() + seconds)


class Timeout(float):
    """A timeout for httpx, in seconds, that shrinks as time passes.

    httpx uses one number for every read of an answer,
    so a master that drips bytes would get all of it each time. `client.transport` asks for the rest; any other
    transport sees a number.
    """

    __slots__ = ("answered", "left")

    left: Callable[[], float]
    answered: Callable[[], None]
    """Called when the first byte of the answer arrives."""

    def __new__(cls, left: Callable[[], float], answered: Callable[[], None]) -> Self:
        """Take the function that returns the rest, and the one to call at the first byte."""
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
        # The rest of the answer may take the remaining time.
        self._reserve = 0.0

    def _to_read(self) -> float:
        return self._deadline.seconds if self._listening else self._deadline.remaining() - self._reserve
