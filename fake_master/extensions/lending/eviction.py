"""The tasks to evict when lent resources are needed on an agent ("Oversubscription for reservations", eviction).

The arithmetic of one agent. Amounts are thousandths by name; a balance may be below zero. The note's `total >= occupied
+ occupiedRev + evicting` is always true for what is physically in use: no part of `AgentOccupancy.free_now` is below
zero.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar

from mesosctl.model.quantities import Quantities

Balance = dict[str, int]
"""Thousandths by name, of either sign."""
LaunchDecision = Literal["starts", "waits", "refused"]
TaskT = TypeVar("TaskT")


@dataclass(frozen=True, slots=True)
class AgentOccupancy:
    """The terms of one agent, for the resources that can be lent."""

    total: Quantities
    """Regular: unreserved and reserved."""
    occupied: Quantities = field(default_factory=Quantities)
    """Of normal tasks that the agent accepted, started or waiting."""
    running: Quantities = field(default_factory=Quantities)
    """The part of it that has started, terminating tasks included."""
    occupied_rev: Quantities = field(default_factory=Quantities)
    """Of revocable tasks that run and are not being evicted."""
    waiting_rev: Quantities = field(default_factory=Quantities)
    """Of revocable tasks that were accepted and wait."""
    evicting: Quantities = field(default_factory=Quantities)
    """Of revocable tasks that are being killed, or are ending."""

    @property
    def names(self) -> list[str]:
        """Every name there is."""
        parts = (self.total, self.occupied, self.occupied_rev, self.waiting_rev, self.evicting)
        return sorted({name for part in parts for name in part})

    def balance(self) -> Balance:
        """Return the amounts left when all evictions have ended and all waiting tasks run; negative ones are missing.

        The note's `total - occupied - occupiedRev + evicting`, whose occupiedRev still contains those that go.
        Counting them as occupied instead would evict twice.
        """
        return _less(self.names, self.total, self.occupied, self.occupied_rev, self.waiting_rev)

    def shortfall(self) -> Quantities:
        """The amounts that must become free: the negative part of the balance."""
        return Quantities({name: -left for name, left in self.balance().items()})

    def free_now(self) -> Balance:
        """Return the amounts that are not in use at this moment."""
        return _less(self.names, self.total, self.running, self.occupied_rev, self.evicting)

    def fits_now(self, needed: Quantities) -> bool:
        """Whether a task can start at this moment."""
        free = self.free_now()
        return all(amount <= free.get(name, 0) for name, amount in needed.items())

    def on_revocable_launch(self, needed: Quantities) -> LaunchDecision:
        """Decide on a revocable task in a valid offer: refused only if evictions will not make room for it."""
        later = self.balance()
        if any(amount > later.get(name, 0) for name, amount in needed.items()):
            return "refused"
        at_once = all(amount <= later.get(name, 0) - self.evicting.get_amount(name) for name, amount in needed.items())
        return "starts" if at_once else "waits"


@dataclass(frozen=True, slots=True)
class Candidate(Generic[TaskT]):
    """A tenant, the amounts that its end would free, and whether it has started."""

    task: TaskT
    holds: Quantities
    started: bool = True


@dataclass(frozen=True, slots=True)
class AgentTask(Generic[TaskT]):
    """A task on an agent; all tasks in a container end together."""

    task: TaskT
    container: Hashable
    """An executor, or the task itself."""
    holds: Quantities
    """One of those in an executor also accounts for what the executor holds."""
    lent: bool
    """Whether any of it has started."""
    started: bool = True


def candidates(guests: Iterable[AgentTask[TaskT]]) -> list[Candidate[list[TaskT]]]:
    """The containers that hold lent resources, each with its tasks; `guests` are sorted by arrival, oldest first.

    A container ends as a whole, so everything that it holds would be free, and it has started as soon as one of its
    tasks has.
    """
    containers: dict[Hashable, list[AgentTask[TaskT]]] = {}
    for guest in guests:
        containers.setdefault(guest.container, []).append(guest)
    return [
        Candidate(
            [guest.task for guest in together],
            Quantities.total(guest.holds for guest in together),
            started=any(guest.started for guest in together),
        )
        for together in containers.values()
        if any(guest.lent for guest in together)
    ]


def choose(shortfall: Quantities, candidates: Sequence[Candidate[TaskT]]) -> list[TaskT]:
    """Return the tasks to evict, in order; `candidates` are sorted by arrival, oldest first.

    Those that have not started go first, because there is nothing to kill; then the newest. Each must hold something
    that is still short, and none is superfluous.
    """
    newest_first = candidates[::-1]
    missing, taken = shortfall, []
    for candidate in sorted(newest_first, key=lambda candidate: candidate.started):
        if not missing:
            break
        if any(name in candidate.holds for name in missing):
            taken.append(candidate)
            missing -= candidate.holds
    for candidate in reversed(list(taken)):
        others = [other for other in taken if other is not candidate]
        still_short = shortfall - Quantities.total(other.holds for other in others)
        if not any(name in candidate.holds for name in still_short):
            taken = others
    return [candidate.task for candidate in taken]


def _less(names: Iterable[str], total: Quantities, *parts: Mapping[str, int]) -> Balance:
    return {name: total.get_amount(name) - sum(part.get(name, 0) for part in parts) for name in names}
