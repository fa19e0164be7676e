"""Waiting for something that a master or an agent will show soon."""

from mesosctl.client.leading_master import LeadingMaster

_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 1.0
"""Seconds between two readings."""


class BackOff:
    """The pauses between readings: each twice as long as the one before, up to a second."""

    def __init__(self, master: LeadingMaster) -> None:
        self._master = master
        self._pause = _FIRST_PAUSE

    @property
    def is_too_late(self) -> bool:
        """Whether the deadline comes before the next reading."""
        return self._master.deadline.remaining() <= self._pause

    def sleep(self) -> None:
        """Pause."""
        self._master.settings.sleep(self._pause)
        self._pause = min(2 * self._pause, _LONGEST_PAUSE)
