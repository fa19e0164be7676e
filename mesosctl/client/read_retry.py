"""The retry of a read: what only asks is repeated where another attempt may get an answer.

A request that changes something is never repeated: the master may have carried it out before the connection broke.
"""

from collections.abc import Callable
from typing import TypeVar

from mesosctl.client.deadline import Deadline
from mesosctl.client.settings import ClientSettings
from mesosctl.model.errors import MasterFailed, NoMaster, NoZooKeeper, TlsFailure, UnexpectedAnswer

Value = TypeVar("Value")

READ_ATTEMPTS = 3
FIRST_PAUSE = 0.25
"""Seconds before the second attempt, at most; the pause doubles with each attempt."""

_SETTLED = (UnexpectedAnswer, TlsFailure, NoZooKeeper)
"""Errors that a repetition would not change, or that have been waited for already."""


def retry_read(read: Callable[[], Value], deadline: Deadline, settings: ClientSettings) -> Value:
    """Return the value of `read`, called up to READ_ATTEMPTS times within the deadline.

    Raises the error of the last attempt, or the first that a repetition would not change.
    """
    pause = FIRST_PAUSE
    for _ in range(READ_ATTEMPTS - 1):
        try:
            return read()
        except (NoMaster, MasterFailed) as error:
            if isinstance(error, _SETTLED) or pause > deadline.remaining():
                raise
        # Between half and the whole: many clients of one dead leader should not come back at once.
        settings.sleep(pause * (1 + settings.jitter()) / 2)
        pause *= 2
    return read()
