"""Waiting in virtual time, for `FakeMaster.settle`."""

import math
import time
from collections.abc import Callable
from typing import Protocol

from fake_master.allocator.interface import DEFAULT_REFUSE_SECONDS

_TURN = 0.01
"""Seconds of real time that clients elsewhere are given between two allocations."""
_SHORT_TURN = 0.001
"""The same while no client elsewhere is connected yet."""
_MOST_INTERVALS = 1000
"""Allocations to wait for if no other program could act."""


class SettlingCluster(Protocol):
    """The parts of a `FakeMaster` that `Waiting` needs: virtual time, and what may change in it."""

    @property
    def is_shared(self) -> bool:
        """Whether another program may act meanwhile."""
        ...

    @property
    def allocation_interval(self) -> float:
        """Seconds between two allocations."""
        ...

    def pass_interval(self) -> None:
        """Let the next allocation happen."""
        ...

    def condition(self) -> object:
        """Return everything that an allocation may change."""
        ...

    def summary(self) -> str:
        """Return the frameworks and tasks that there are, in one line."""
        ...


class Waiting:
    """One `settle`: lets time pass in steps until the condition is true."""

    def __init__(self, cluster: SettlingCluster, until: Callable[[], object] | None, timeout: float) -> None:
        self._cluster = cluster
        self._until = until
        self._give_up = time.monotonic() + timeout
        self._timeout = timeout
        self._steps = self._quiet_for = 0
        self._before: object = None

    def goes_on(self) -> bool:
        """Whether another step is needed.  Raises TimeoutError."""
        if self._is_over():
            return False
        # A condition may depend on a framework that has not subscribed yet.
        alone = self._until is None and not self._cluster.is_shared
        if time.monotonic() >= self._give_up or (alone and self._steps >= _MOST_INTERVALS):
            waited = f"{self._steps} allocations" if alone else f"{self._timeout:g} s"
            goal = "the cluster had not settled" if self._until is None else "the condition was not met"
            raise TimeoutError(f"after {waited} {goal}: {self._cluster.summary()}")
        return True

    def _is_over(self) -> bool:
        if self._until is not None:
            return bool(self._until())
        now = self._cluster.condition()
        self._quiet_for = self._quiet_for + 1 if now == self._before else 0
        self._before = now
        # Declined resources are offered again when the filter ends, which may change something.
        return self._quiet_for >= 2 + math.ceil(DEFAULT_REFUSE_SECONDS / self._cluster.allocation_interval)

    def step(self) -> float:
        """Let the next allocation happen; returns the seconds of real time for others to do something."""
        self._steps += 1
        self._cluster.pass_interval()
        if self._cluster.is_shared:
            return _TURN
        return 0.0 if self._until is None else _SHORT_TURN
