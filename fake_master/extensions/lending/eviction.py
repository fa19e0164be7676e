"""The tasks of an agent that lends, the terms in which they count, and those to evict when lent resources are needed.

Source: "Oversubscription for reservations", eviction.

The arithmetic is of one agent. Amounts are thousandths by name; a balance may be below zero. The note's
`total >= occupied + occupiedRev + evicting` is always true for what is physically in use: no part of
`AgentOccupancy.free_now` is below zero.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, Literal, NamedTuple, TypeVar

from fake_master.state.frameworks import KnownFramework
from fake_master.state.tasks import KnownTask
from mesosctl.mesos.amounts.quantities import Quantities

# --- Tasks on an agent ------------------------------------------------------------------------------


class HeldAmounts(NamedTuple):
    """Amounts that a task or an executor holds, of names that can be lent."""

    regular: Quantities
    lent: Quantities

    @property
    def everything(self) -> Quantities:
        """Both kinds together."""
        return self.regular + self.lent


@dataclass(slots=True, eq=False)
class PlacedTask:
    """A task on an agent; one of those in an executor answers for what that holds, too."""

    framework: KnownFramework
    task: KnownTask
    own: HeldAmounts
    executor: HeldAmounts
    executor_runs: bool = False

    @property
    def container(self) -> tuple[str, str | None, str | None]:
        """Identifies the container that it lives in, and ends with: an executor, or a task that has none."""
        executor = self.task.executor_id or None
        return self.framework.id, executor, None if executor else self.task.id

    @property
    def waits(self) -> bool:
        """Whether the agent has not started it."""
        return self.task.is_staging and not self.task.ending

    @property
    def borrows(self) -> bool:
        """Whether any of it is lent."""
        return bool(self.own.lent or self.executor.lent)

    @property
    def everything(self) -> Quantities:
        """All that it holds, or will."""
        return self.own.everything + self.executor.everything

    @property
    def needed(self) -> Quantities:
        """The amounts that it takes to start."""
        return self.own.everything if self.executor_runs else self.everything


NOTHING = HeldAmounts(Quantities(), Quantities())


@dataclass(slots=True)
class AgentTasks:
    """The tasks of one agent: started ones in the order of their start, waiting ones in that of their arrival."""

    tasks: list[PlacedTask] = field(default_factory=list)
    starting: bool = False
    """Whether those that wait will be looked at in a moment."""


def hand_over(placed: PlacedTask, heirs: list[PlacedTask]) -> None:
    """Another task of the same executor answers for it from now on."""
    if heirs and placed.executor.everything:
        heirs[0].executor, heirs[0].executor_runs = placed.executor, placed.executor_runs
        placed.executor = NOTHING


def terms(placed: PlacedTask) -> Iterator[tuple[str, Quantities]]:
    """Yield the terms of the formula in which a task counts, with its amounts."""
    goes = placed.task.ending
    if not (goes and placed.task.is_staging):
        yield from _terms_of(placed.own, started=not placed.waits, evicted=goes and placed.borrows)
    if placed.executor_runs or not goes:
        yield from _terms_of(placed.executor, started=placed.executor_runs, evicted=goes and placed.borrows)


def _terms_of(part: HeldAmounts, *, started: bool, evicted: bool) -> Iterator[tuple[str, Quantities]]:
    if evicted:
        yield "evicting", part.everything
        return
    yield "occupied", part.regular
    if started:
        yield "running", part.regular
    yield "occupied_rev" if started else "waiting_rev", part.lent


# --- The formula ------------------------------------------------------------------------------------

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


def candidates(placed_tasks: Iterable[PlacedTask]) -> list[Candidate[list[PlacedTask]]]:
    """The containers that hold lent resources, each with its tasks; `placed_tasks` are sorted by arrival, oldest first.

    A container ends as a whole, so everything that it holds would be free, and it has started as soon as one of its
    tasks has.
    """
    containers: dict[tuple[str, str | None, str | None], list[PlacedTask]] = {}
    for placed in placed_tasks:
        containers.setdefault(placed.container, []).append(placed)
    return [
        Candidate(
            together,
            Quantities.total(placed.everything for placed in together),
            started=not all(placed.waits for placed in together),
        )
        for together in containers.values()
        if any(placed.borrows for placed in together)
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
