"""Time for a master: a clock that follows the system's, a virtual clock, and timers."""

import heapq
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from uuid import uuid4

from fake_master.registry.interface import Registry, RegistryFailure, UnreadableRegistry

NANOSECONDS = 1_000_000_000
"""Nanoseconds in a second: Mesos writes times and durations as whole nanoseconds."""


class SteadyClock:
    """Seconds since the epoch that pass evenly, even if the system's wall clock is changed.

    They start at the wall clock and follow the monotonic clock, so that durations are right.
    """

    def __init__(self, monotonic: Callable[[], float] | None = None, wall: Callable[[], float] | None = None) -> None:
        self._monotonic = monotonic or time.monotonic
        self._wall = wall or time.time
        self._offset = self._wall() - self._monotonic()
        self._moved = 0.0
        """The seconds by which the time that is shown has been moved."""
        self._paused_at: float | None = None
        """The time of the monotonic clock since which it stands still."""

    def __call__(self) -> float:
        """Return the time for durations."""
        return self._offset + (self._monotonic() if self._paused_at is None else self._paused_at)

    def wall(self) -> float:
        """Return the time that is shown."""
        still = 0.0 if self._paused_at is None else self._monotonic() - self._paused_at
        return self._wall() + self._moved - still

    @property
    def is_paused(self) -> bool:
        """Whether it stands still, until `run` or `sleep`."""
        return self._paused_at is not None

    def pause(self) -> None:
        """Stand still."""
        if self._paused_at is None:
            self._paused_at = self._monotonic()

    def run(self) -> None:
        """Go on, where it stands still."""
        if self._paused_at is not None:
            still, self._paused_at = self._monotonic() - self._paused_at, None
            self._offset -= still
            self._moved -= still

    def sleep(self, seconds: float) -> None:
        """Be `seconds` later at once, paused or not."""
        self._offset += max(0.0, seconds)
        self._moved += max(0.0, seconds)

    def lose(self, seconds: float) -> None:
        """Skip some time, for example because the process was suspended."""
        self._offset -= seconds


class VirtualClock:
    """Seconds since the epoch that do not change until `sleep` moves them forward at once.

    As the clock of a master and of its transport, it simulates hours in milliseconds, always with the same result.
    """

    def __init__(self, now: float | None = None) -> None:
        self.now = time.time() if now is None else now

    def __call__(self) -> float:
        """Return the time."""
        return self.now

    def sleep(self, seconds: float) -> None:
        """Be `seconds` later."""
        self.now += max(0.0, seconds)


class WaitingClock(VirtualClock):
    """Seconds since the epoch that pass only while somebody waits, and not while a command or the master works.

    So what a command reads does not depend on the speed of the machine.
    """

    def wait(self, seconds: float) -> None:
        """Really wait, and be that much later."""
        time.sleep(max(0.0, seconds))
        self.sleep(seconds)


class RunningClock(VirtualClock):
    """Seconds since the epoch that pass by themselves, and that `sleep` moves on at once."""

    def __init__(self, now: float | None = None) -> None:
        super().__init__(now)
        self._start = time.monotonic()

    def __call__(self) -> float:
        """Return the time."""
        return self.now + time.monotonic() - self._start


_LOG = logging.getLogger(__name__)
_RETRY_AFTER = 1.0
"""Seconds."""


@dataclass(slots=True)
class Timer:
    """One thing to do at its time; `cancel` forgets it."""

    action: Callable[[], None] | None

    def cancel(self) -> None:
        """Never do it."""
        self.action = None


class Timers:
    """Timers by deadline, and by age among equals."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Timer]] = []
        """The deadline of each, in seconds since the epoch, and its age."""
        self._made = 0

    def at(self, deadline: float, action: Callable[[], None]) -> Timer:
        """Do `action` once `deadline` is reached."""
        timer = Timer(action)
        heapq.heappush(self._heap, (deadline, self._made, timer))
        self._made += 1
        return timer

    def next_deadline(self) -> float | None:
        """When the next one is due."""
        while self._heap and self._heap[0][2].action is None:
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def run_due(self, now: float) -> None:
        """Do everything that is due at `now`, including what becomes due by that.

        What the registry could not save is tried again a little later.
        """
        while self._heap and self._heap[0][0] <= now:
            action = heapq.heappop(self._heap)[2].action
            if action is not None:
                try:
                    action()
                except RegistryFailure as failure:
                    _LOG.warning("%s; trying again", failure)
                    self.at(now + _RETRY_AFTER, action)


def of_master(registry: Registry, now: float, *, anew: bool) -> tuple[str, float]:
    """Id and start time (seconds since the epoch), created at `now` if there are none, or new ones are needed.

    Raises UnreadableRegistry for a record that no master wrote.
    """
    known = registry.records("master")
    if anew or "identity" not in known:
        with registry.transaction():
            # Read again: two processes may start on one new file.
            if anew or "identity" not in registry.records("master"):
                registry.write("master", "identity", {"id": str(uuid4()), "start_time": now})
        known = registry.records("master")
    try:
        return str(known["identity"]["id"]), float(known["identity"]["start_time"])
    except (KeyError, TypeError, ValueError) as error:
        raise UnreadableRegistry(f"the registry does not say which master it belongs to ({error!r})") from error
