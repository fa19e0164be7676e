"""The schedule of runs: timers, the gate that holds runs back, and the run that is due."""

import heapq
import math
from collections.abc import Callable, Iterator

Due = tuple[float, int]
"""The deadline of a timer, and its number."""


class AllocatorTimers:
    """A queue of callbacks by deadline, in seconds on a clock that only its owner moves."""

    def __init__(self, now: float = 0.0) -> None:
        self.now = now
        self._heap: list[tuple[float, int, Callable[[], None]]] = []
        self.created = 0
        """The number of timers so far."""

    def after(self, delay: float, action: Callable[[], None]) -> None:
        """Fire `action` when `delay` has passed."""
        heapq.heappush(self._heap, (self.now + delay, self.number(), action))

    def number(self) -> int:
        """Return the number of a new timer: of two with the same deadline, the lower number fires first."""
        self.created += 1
        return self.created - 1

    def next_due(self) -> Due | None:
        """Return the deadline and the number of the earliest timer."""
        return self._heap[0][:2] if self._heap else None

    def pending(self) -> Iterator[Due]:
        """Yield the deadline and the number of each timer, in no order."""
        return (timer[:2] for timer in self._heap)

    def postpone(self, seconds: float) -> None:
        """Be this much later, and fire each timer this much later."""
        self.now += seconds
        self._heap = [(deadline + seconds, number, action) for deadline, number, action in self._heap]

    def fire_next(self, until: float) -> bool:
        """Move to the earliest deadline and fire that one timer; False if none is due by `until`."""
        if not self._heap or self._heap[0][0] > until:
            return False
        deadline, _, action = heapq.heappop(self._heap)
        self.now = max(self.now, deadline)
        action()
        return True


class Batches:
    """The runs for all agents that come with each allocation interval."""

    def __init__(self, timers: AllocatorTimers, interval: float) -> None:
        self._timers = timers
        self.interval = interval
        self.due: Due = (timers.now + interval, timers.number())
        """The next one."""

    def go_on(self) -> None:
        """Plan the one after this moment."""
        self.due = (self._timers.now + self.interval, self._timers.number())

    def postpone(self, seconds: float) -> None:
        """Let the next one be this much later."""
        due, number = self.due
        self.due = (due + seconds, number)

    def skip(self, until: float, skipped: Callable[[float], None]) -> int:
        """Skip those that are due up to `until` and before any timer; return how many they are.

        `skipped` gets the time of each.
        """
        timer = self._timers.next_due()
        due, interval = self.due[0], self.interval
        if interval <= 0 or due > until or (timer is not None and timer < self.due):
            return 0
        # All timers that there are were made before the second of them, and fire before it at the same moment.
        end = until if timer is None else min(until, math.nextafter(timer[0], -math.inf))
        count = 0
        while not count or due <= end:  # one by one, because a product would be rounded differently
            skipped(due)
            due += interval
            count += 1
        self.due = (due, self._timers.number())
        return count


class RunGate:
    """Open while runs may happen.

    Pairs of `pause` and `resume` are counted, separately from recovery. Mesos has one flag for both, so that a pair
    ends recovery; this difference is deliberate (README).
    """

    def __init__(self) -> None:
        self._brackets = 0
        self._expected_agents = 0

    @property
    def is_open(self) -> bool:
        """Whether runs may happen."""
        return self._brackets == 0 and self._expected_agents == 0

    def pause(self) -> None:
        """Open a bracket."""
        self._brackets += 1

    def resume(self) -> None:
        """Close the innermost bracket.  Raises ValueError if there is none."""
        if not self._brackets:
            raise ValueError("resume without pause")
        self._brackets -= 1

    def recover(self, expected_agents: int, timers: AllocatorTimers, timeout: float) -> None:
        """Stay closed until this many agents are known, or `timeout` seconds have passed."""
        if expected_agents > 0:
            self._expected_agents = expected_agents
            timers.after(timeout, self._end_recovery)

    def agents_known(self, count: int) -> None:
        """End the recovery if this many agents are enough."""
        if count >= self._expected_agents:
            self._end_recovery()

    def _end_recovery(self) -> None:
        self._expected_agents = 0


def agents_to_wait_for(known_before: int, factor: float) -> int:
    """Return the number of agents that a recovery waits for, rounded down, so zero of one."""
    return int(known_before * factor)


class RunQueue:
    """The run that is due, and its candidates: any number of events cause one run."""

    def __init__(self, gate: RunGate, run: Callable[[dict[str, None]], None]) -> None:
        self._gate = gate
        self._run = run
        self._pending = False
        self._candidates: dict[str, None] = {}

    def __len__(self) -> int:
        """The number of candidates; each is a known agent."""
        return len(self._candidates)

    @property
    def is_pending(self) -> bool:
        """Whether a run is due at this moment."""
        return self._pending

    def request(self, agents: dict[str, None]) -> None:
        """Add candidates and make a run due; while runs are held back this is not remembered."""
        if self._gate.is_open:
            self._candidates |= agents
            self._pending = True

    def discard(self, agent: str) -> None:
        """Remove a candidate."""
        self._candidates.pop(agent, None)

    def drain(self) -> None:
        """Run if a run is due.  While runs are held back the candidates gathered before stay."""
        if self._pending:
            self._pending = False
            if self._gate.is_open:
                candidates, self._candidates = self._candidates, {}
                self._run(candidates)
