"""Waiting in virtual time, for `FakeMaster.settle`."""

import math
import time
from collections.abc import Callable

from fake_master.allocator.interface import DEFAULT_REFUSE_SECONDS
from fake_master.state.clock import RunningClock, VirtualClock
from fake_master.state.master_state import MasterState
from fake_master.testing import values
from fake_master.testing.faults import FaultyApplication
from fake_master.testing.threads import ThreadGate

_TURN = 0.01
"""Seconds of real time that clients elsewhere are given between two allocations."""
_SHORT_TURN = 0.001
"""The same while no client elsewhere is connected yet."""
_MOST_INTERVALS = 1000
"""Allocations to wait for if no other program could act."""


class SettlingCluster:
    """The cluster of a `FakeMaster`, in which time passes; `has_clients` says whether it has clients elsewhere."""

    def __init__(
        self,
        application: FaultyApplication,
        gate: ThreadGate,
        clock: RunningClock | VirtualClock,
        has_clients: Callable[[], bool],
    ) -> None:
        self._application = application
        self._gate = gate
        self._clock = clock
        self._has_clients = has_clients

    @property
    def is_shared(self) -> bool:
        """Whether another program may act meanwhile; in real time, one always may."""
        return isinstance(self._clock, RunningClock) or self._has_clients()

    @property
    def allocation_interval(self) -> float:
        """Seconds between two allocations."""
        return self._application.master.allocation_interval

    def pass_interval(self) -> None:
        """Let the next allocation happen."""

        def pass_time() -> None:
            self._clock.sleep(0.0 if isinstance(self._clock, RunningClock) else self.allocation_interval)
            self._application.tick()

        self._gate(pass_time)

    def condition(self) -> object:
        """Return everything that an allocation may change; offers are compared by their content."""
        return self._gate(lambda: self._condition(self._application.master.state))

    def _condition(self, state: MasterState) -> object:
        offered = sorted(
            (offer.framework_id, offer.role, offer.agent_id, str(offer.resources)) for offer in values.offers_of(state)
        )
        tasks = [(task.id, task.state) for task in values.tasks_of(state)]
        return offered, tasks, values.agents_of(state), values.frameworks_of(state)

    def summary(self) -> str:
        """Return the frameworks and tasks that there are, in one line."""
        state = self._application.master.state
        return self._gate(lambda: values.summary(values.frameworks_of(state), values.tasks_of(state)))


class Settling:
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
