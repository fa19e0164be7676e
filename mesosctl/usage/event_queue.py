"""The events of a span in the order of time, for calculations that go through a recording once."""

import heapq
from collections.abc import Callable
from itertools import count

from mesosctl.history.records import Micros

_LAST = 1 << 62
"""The place of what happens last of all at a moment."""


class EventQueue:
    """Functions that are called at their moments; those of one moment in the order in which they were added."""

    def __init__(self, since: Micros, until: Micros, advance: Callable[[Micros], object]) -> None:
        """Take the span, and the function that is told each moment before what happens then."""
        self._since, self._until, self._advance = since, until, advance
        self._events: list[tuple[Micros, int, Callable[[], None]]] = []
        self._order = count()

    def next_number(self) -> int:
        """Return a number that grows, and that no event has."""
        return next(self._order)

    def at(self, time: Micros, happen: Callable[[], None], *, at_end: bool = False) -> None:
        """Let something happen in the span, also at its last moment if `at_end`; what was before it happens first."""
        if time < self._until or (at_end and time == self._until):
            heapq.heappush(self._events, (max(time, self._since), next(self._order), happen))

    def after_all_at(self, time: Micros, happen: Callable[[], None]) -> None:
        """Let something happen after everything else of its moment."""
        heapq.heappush(self._events, (time, _LAST, happen))

    def between(self, start: Micros, end: Micros | None, begin: Callable[[], None], finish: Callable[[], None]) -> None:
        """Let something begin, and end if it does."""
        self.at(start, begin)
        if end is not None:
            self.at(end, finish)

    def go(self, to: Micros) -> None:
        """Let everything happen until then, and at that moment."""
        while self._events and self._events[0][0] <= to:
            time, _, happen = heapq.heappop(self._events)
            self._advance(time)
            happen()
        self._advance(to)
