"""Time for a master: the system's own, or one that passes only when somebody waits."""

import time
from collections.abc import Callable


class SteadyClock:
    """Seconds since the epoch that pass evenly, whatever is done to the system's wall clock meanwhile.

    They begin as the wall clock shows and go on by the monotonic one, so that what lasts takes as long as it should.
    """

    def __init__(self, monotonic: Callable[[], float] | None = None, wall: Callable[[], float] | None = None) -> None:
        self._monotonic = monotonic or time.monotonic
        self._wall = wall or time.time
        self._offset = self._wall() - self._monotonic()

    def __call__(self) -> float:
        """What time it is for everything that lasts."""
        return self._monotonic() + self._offset

    def wall(self) -> float:
        """What time it is for whoever looks."""
        return self._wall()

    def lose(self, seconds: float) -> None:
        """Take some time for not having passed, as where the process was stopped."""
        self._offset -= seconds


class VirtualClock:
    """Seconds since the epoch that stand still until `sleep` moves them on at once.

    Given to a master as its clock, and to the carrier as its way to wait, it plays hours in
    milliseconds and the same way every time.
    """

    def __init__(self, now: float | None = None) -> None:
        self.now = time.time() if now is None else now

    def __call__(self) -> float:
        """What time it is."""
        return self.now

    def sleep(self, seconds: float) -> None:
        """Be `seconds` later."""
        self.now += max(0.0, seconds)
