"""Timers in virtual time: they fire in the order (deadline, creation), spec/allocator.md §4."""

import heapq
import itertools
from collections.abc import Callable


class Timers:
    """A queue of callbacks by deadline, in seconds on a clock that only its owner moves."""

    def __init__(self, now: float = 0.0) -> None:
        self.now = now
        self._heap: list[tuple[float, int, Callable[[], None]]] = []
        self._created = itertools.count()

    def after(self, delay: float, action: Callable[[], None]) -> None:
        """Fire `action` when `delay` has passed."""
        heapq.heappush(self._heap, (self.now + delay, next(self._created), action))

    def next_deadline(self) -> float | None:
        """When the earliest timer fires."""
        return self._heap[0][0] if self._heap else None

    def fire_next(self, until: float) -> bool:
        """Move to the earliest deadline and fire that one timer; False if none is due by `until`."""
        if not self._heap or self._heap[0][0] > until:
            return False
        deadline, _, action = heapq.heappop(self._heap)
        self.now = max(self.now, deadline)
        action()
        return True
