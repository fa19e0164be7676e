"""Things to do later, in virtual time."""

import heapq
import logging
from collections.abc import Callable
from dataclasses import dataclass, field

from fake_master.master.registry import RegistryFailure

_LOG = logging.getLogger(__name__)
_RETRY_AFTER = 1.0
"""Seconds."""


@dataclass(order=True, slots=True)
class Timer:
    """One thing to do at `deadline` (seconds since the epoch); `cancel` forgets it."""

    deadline: float
    order: int
    action: Callable[[], None] | None = field(compare=False)

    def cancel(self) -> None:
        """Never do it."""
        self.action = None


class Timers:
    """Timers by deadline, and by age among equals."""

    def __init__(self) -> None:
        self._heap: list[Timer] = []
        self._made = 0

    def at(self, deadline: float, action: Callable[[], None]) -> Timer:
        """Do `action` once `deadline` is reached."""
        timer = Timer(deadline, self._made, action)
        self._made += 1
        heapq.heappush(self._heap, timer)
        return timer

    def next_deadline(self) -> float | None:
        """When the next one is due."""
        while self._heap and self._heap[0].action is None:
            heapq.heappop(self._heap)
        return self._heap[0].deadline if self._heap else None

    def run_due(self, now: float) -> None:
        """Do everything that is due at `now`, what that makes due included.

        What the registry would not keep is tried again a little later.
        """
        while self._heap and self._heap[0].deadline <= now:
            action = heapq.heappop(self._heap).action
            if action is not None:
                try:
                    action()
                except RegistryFailure as failure:
                    _LOG.warning("%s; trying again", failure)
                    self.at(now + _RETRY_AFTER, action)
