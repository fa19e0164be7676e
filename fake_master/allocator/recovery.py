"""When runs are held back: the master's brackets, and recovery after a failover (spec/allocator.md §9)."""

from collections.abc import Callable

from fake_master.allocator.clock import Timers


class Gate:
    """Open while runs may happen.

    Brackets are counted and recovery is kept apart from them.  Mesos has one flag for both, so
    there a bracket during recovery ends it; this difference is deliberate (README).
    """

    def __init__(self) -> None:
        self._brackets = 0
        self._expected = 0

    @property
    def is_open(self) -> bool:
        """Whether runs may happen."""
        return self._brackets == 0 and self._expected == 0

    def pause(self) -> None:
        """Open a bracket."""
        self._brackets += 1

    def resume(self) -> None:
        """Close the innermost bracket.  Raises ValueError if there is none."""
        if not self._brackets:
            raise ValueError("resume without pause")
        self._brackets -= 1

    def recover(self, expected: int, timers: Timers, timeout: float) -> None:
        """Stay closed until `expected` agents are known, or `timeout` seconds have passed."""
        if expected > 0:
            self._expected = expected
            timers.after(timeout, self._end)

    def agents_known(self, count: int) -> None:
        """So many agents are known now."""
        if count >= self._expected:
            self._end()

    def _end(self) -> None:
        self._expected = 0


def agents_to_wait_for(known_before: int, factor: float) -> int:
    """Truncated, so that of one agent known before none is waited for."""
    return int(known_before * factor)


class RunQueue:
    """The run that is due, and for which agents: any number of events cause one run (spec/allocator.md §3)."""

    def __init__(self, gate: Gate, run: Callable[[dict[str, None]], None]) -> None:
        self._gate = gate
        self._run = run
        self._pending = False
        self.candidates: dict[str, None] = {}

    @property
    def is_pending(self) -> bool:
        """Whether a run is due at this moment."""
        return self._pending

    def ask(self, agents: dict[str, None]) -> None:
        """Run for these agents too; while runs are held back this is not remembered."""
        if self._gate.is_open:
            self.candidates |= agents
            self._pending = True

    def drain(self) -> None:
        """Run if a run is due.  While runs are held back the candidates gathered before stay."""
        if self._pending:
            self._pending = False
            if self._gate.is_open:
                candidates, self.candidates = self.candidates, {}
                self._run(candidates)
