"""Room for equal tasks: the number that a guarantee can hold at this moment, and the number of agents.

A task runs on one agent, so a guarantee of 24 cpus may hold fewer tasks of 2 cpus than the amounts say.  On an agent, a
task takes what is reserved for the role first, and then unreserved resources, as far as the guarantee goes.  Offers do
not count: a framework that declines one gives it back.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from mesosctl.mesos.amounts.quantities import Quantities, to_double
from mesosctl.mesos.cluster.holdings import RegisteredAgent
from mesosctl.mesos.roles import is_strict_subrole


class TasksThatFit(NamedTuple):
    """The tasks of one size that a guarantee holds."""

    task: Quantities
    guarantee: Quantities
    by_amounts: int
    """The number that the whole guarantee would hold on a single agent that is large enough."""
    now: int
    """The number of further ones that it can hold today, beside what the role uses or has reserved."""
    agents: int
    """The number of agents that these are on."""
    not_guaranteed: tuple[str, ...]
    """The resources of the task that the guarantee does not name, and so does not promise."""


@dataclass(slots=True)
class _Room:
    """The resources of one agent that no task uses: reserved for the role, and unreserved."""

    own: Quantities
    unreserved: Quantities
    tasks: int = 0

    def holds(self, task: Quantities, budget: Mapping[str, int]) -> int:
        """Return how many tasks fit here if at most `budget` of the resources that it names is taken unreserved."""
        unreserved = {
            name: min(self.unreserved.get_amount(name), budget.get(name, self.unreserved.get_amount(name)))
            for name in task
        }
        return _times(self.own + Quantities(unreserved), task)

    def take(self, task: Quantities, most: int, budget: dict[str, int]) -> None:
        """Start as many as fit, up to `most`."""
        tasks = min(most, self.holds(task, budget))
        amounts = Quantities({name: tasks * milli for name, milli in task.items()})
        beyond = amounts - self.own
        self.own -= amounts
        self.unreserved -= beyond
        self.tasks += tasks
        for name in budget:
            budget[name] -= beyond.get_amount(name)


def room_for_tasks(
    task: Quantities,
    guarantee: Quantities,
    counted: Quantities,
    role: str | None,
    agents: Sequence[RegisteredAgent],
) -> TasksThatFit:
    """Return how many tasks of this size `guarantee` holds for `role`, or for a role that has nothing.

    `task` has at least one amount, all above zero. `counted` is the part of the guarantee that the role uses or has
    reserved.  Its frameworks are offered what is reserved for it and for roles above it, not for those below.
    """
    promised = Quantities({name: milli for name, milli in task.items() if name in guarantee})
    left = guarantee - counted
    budget = {name: left.get_amount(name) for name in promised}
    rooms = [_room_of(agent, role) for agent in agents if agent.active and promised]
    # What is reserved costs nothing of the guarantee; then what needs the least beside it; then the largest agents.
    for room in rooms:
        room.take(task, _times(room.own, task), budget)
    for room in sorted(rooms, key=lambda room: -_part(room.own, task)):
        room.take(task, 1 if room.own else 0, budget)
    for room in sorted(rooms, key=lambda room: -_times(room.own + room.unreserved, task)):
        room.take(task, room.holds(task, budget), budget)
    return TasksThatFit(
        task=task,
        guarantee=guarantee,
        by_amounts=_times(guarantee, promised) if promised else 0,
        now=sum(room.tasks for room in rooms),
        agents=sum(room.tasks > 0 for room in rooms),
        not_guaranteed=tuple(name for name in task if name not in guarantee),
    )


def _room_of(agent: RegisteredAgent, role: str | None) -> _Room:
    left = agent.available.filter(lambda entry: not entry.revocable and not entry.is_persistent_volume)
    own = [
        owned.quantities()
        for owner, owned in left.by_owner().items()
        if role is not None and (owner == role or is_strict_subrole(role, owner))
    ]
    return _Room(Quantities.total(own), left.unreserved().quantities())


def _times(amounts: Quantities, task: Quantities) -> int:
    """Return how many such tasks the amounts contain."""
    return min(amounts.get_amount(name) // milli for name, milli in task.items())


def _part(amounts: Quantities, task: Quantities) -> float:
    """The part of one task that the amounts contain."""
    return min(to_double(amounts.get_amount(name)) / to_double(milli) for name, milli in task.items())
