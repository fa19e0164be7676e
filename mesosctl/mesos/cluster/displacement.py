"""Whether the tasks of agents that leave would fit on the others: first fit, the largest first.

It is an answer about room alone: frameworks decide where they start tasks, and quota may keep them from it
(`forecast`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from mesosctl.mesos.amounts.notation import counted, listed
from mesosctl.mesos.amounts.quantities import Quantities
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.cluster.holdings import RegisteredAgent


class RunningTask(NamedTuple):
    """A task that runs on an agent that leaves."""

    id: str
    framework: str
    agent_id: str
    role: str
    resources: Resources


@dataclass(frozen=True, slots=True)
class DrainPlan:
    """Agents that leave, in order, and what ends there."""

    agents: tuple[RegisteredAgent, ...]
    tasks: tuple[RunningTask, ...]
    stranded: tuple[RunningTask, ...]
    """The tasks that fit on no other agent."""
    lost: tuple[RunningTask, ...] = ()
    """The tasks on those of the agents that are unreachable; their frameworks may have started others elsewhere."""

    @property
    def title(self) -> str:
        """The agents and their tasks in a phrase."""
        count = len(self.tasks) + len(self.lost)
        ends = f", which ends {counted(count, 'task')}" if count else ""
        return f"{self.names}{ends}"

    @property
    def names(self) -> str:
        """The agents in a phrase."""
        return listed([agent.name for agent in self.agents])

    def tasks_on(self, agent: RegisteredAgent) -> list[RunningTask]:
        """The tasks that end on one of the agents."""
        return [task for task in (*self.tasks, *self.lost) if task.agent_id == agent.id]

    def lost_on(self, agent: RegisteredAgent) -> list[RunningTask]:
        """Those of them that are out of reach."""
        return [task for task in self.lost if task.agent_id == agent.id]

    def stranded_on(self, agent: RegisteredAgent) -> list[RunningTask]:
        """Those of them that fit on no other agent."""
        return [task for task in self.stranded if task.agent_id == agent.id]


@dataclass(slots=True)
class _Room:
    """The resources of an agent that no task uses: for every role, and reserved for some."""

    plain: Quantities
    owned: dict[str, Quantities] = field(default_factory=dict)

    @classmethod
    def of(cls, agent: RegisteredAgent) -> "_Room":
        """Offers do not count: a framework that takes one starts its tasks there."""
        left = agent.available.filter(lambda entry: not entry.revocable and not entry.is_persistent_volume)
        by_owner = {role: owned.quantities() for role, owned in left.by_owner().items()}
        return cls(left.unreserved().quantities(), by_owner)

    def take(self, role: str, amounts: Quantities) -> bool:
        """Take the amounts if there is room: first of what is reserved for the role."""
        reserved = self.owned.get(role, Quantities())
        beyond = amounts - reserved
        if not self.plain.contains(beyond):
            return False
        self.plain -= beyond
        if role in self.owned:
            self.owned[role] = reserved - amounts
        return True


def without_room(tasks: Iterable[RunningTask], others: Sequence[RegisteredAgent]) -> list[RunningTask]:
    """The tasks that fit on none of the other agents, while those before them are there.

    A task with a persistent volume is one of them: its volume stays behind.
    """
    rooms = [_Room.of(agent) for agent in others if agent.active]
    left: list[RunningTask] = []
    for task in sorted(tasks, key=lambda task: (-_size(task), task.framework, task.id)):
        moves = not any(entry.is_persistent_volume for entry in task.resources)
        amounts = task.resources.quantities()
        if not moves or not any(room.take(task.role, amounts) for room in rooms):
            left.append(task)
    return left


def _size(task: RunningTask) -> int:
    return max((milli for _, milli in task.resources.quantities().items()), default=0)
