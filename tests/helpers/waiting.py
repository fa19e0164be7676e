"""Waiting for a condition that nobody announces: a file of another process, a metric, a port that is taken.

Where something announces it, wait for that instead: a line on standard output, an event of a stream, a
`threading.Event`.
"""

import time
from collections.abc import Callable

PATIENCE = 60.0
"""Seconds that a busy machine may need for anything that a test waits for."""
_PAUSE = 0.01


def wait_until(
    condition: Callable[[], object], otherwise: str | Callable[[], str] = "", seconds: float = PATIENCE
) -> None:
    """Look again and again until the condition is true.  Fails with `otherwise` when the time is up."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            said = otherwise if isinstance(otherwise, str) else otherwise()
            raise AssertionError(f"not within {seconds:g} s: {said}")
        time.sleep(_PAUSE)
