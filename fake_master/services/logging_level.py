"""How much a master logs: SET_LOGGING_LEVEL for a while, GET_LOGGING_LEVEL (Mesos operator HTTP API).

This master logs no more for it; scripts that turn the level up and look at it see what they would on Mesos.
"""

from fake_master.state.clock import Timer
from fake_master.state.master_state import MasterState

_USUAL = 0


class LoggingLevel:
    """The level of the moment; the last one that was set counts, and for its own time."""

    def __init__(self, state: MasterState) -> None:
        self._state = state
        self._timer: Timer | None = None
        self.level = _USUAL

    def set(self, level: int, seconds: float) -> None:
        """Set it for so long; nothing is awaited where that is the usual level."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self.level = level
        if level != _USUAL:
            self._timer = self._state.timers.at(self._state.now + seconds, self._revert)

    def _revert(self) -> None:
        self._timer = None
        self.level = _USUAL
