"""Time for a master: the system's own, or one that passes only when somebody waits."""

import time


class VirtualClock:
    """Seconds since the epoch that stand still until `sleep` moves them on at once.

    Given to a master as its clock, and to the carrier as its way to wait, it plays hours in
    milliseconds and the same way every time.
    """

    def __init__(self, now: float | None = None) -> None:
        self.now = time.time() if now is None else now

    def __call__(self) -> float:
        """What time it is."""
        return self.now

    def sleep(self, seconds: float) -> None:
        """Be `seconds` later."""
        self.now += max(0.0, seconds)
