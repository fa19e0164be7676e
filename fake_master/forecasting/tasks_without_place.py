"""Tasks that end with agents, and those of them that find no place on the agents that remain.

ended = EndedTasks(); ended.add(state, agent_ids)      before the agents are removed
ended.without_place(state, account, waiting)           after time has passed
"""

from collections import Counter
from collections.abc import Collection, Mapping
from typing import NamedTuple

from fake_master.state.master_state import MasterState
from fake_master.state.streams import SilentStream
from fake_master.state.tasks import KnownTask, TaskGroup
from mesosctl.mesos.amounts.holding import dominant_share
from mesosctl.mesos.amounts.quantities import Quantities
from mesosctl.mesos.cluster.account import ClusterAccount, LikeAgents
from mesosctl.mesos.door.forecast import TasksWithoutPlace


class _Kind(NamedTuple):
    """Tasks that are alike."""

    framework_id: str
    role: str
    size: Quantities


class EndedTasks:
    """The tasks that ended with agents."""

    def __init__(self) -> None:
        self._ended: Counter[_Kind] = Counter()
        self._ran: dict[tuple[str, str], int] = {}
        """How many each framework ran in each role before the first agent was lost."""

    def add(self, state: MasterState, agent_ids: Collection[str]) -> None:
        """Note the tasks on agents that are about to be lost."""
        gone, ran = frozenset(agent_ids), Counter[tuple[str, str]]()
        for framework in state.frameworks.values():
            for task in framework.tasks_or_groups():
                count = _count(task)
                ran[framework.id, task.role] += count
                if count and task.agent_id in gone:
                    size = task.resources.scalar_quantities().average(count, up=True)
                    self._ended[_Kind(framework.id, task.role, size)] += count
        self._ran = {**ran, **self._ran}

    def without_place(
        self, state: MasterState, account: ClusterAccount, waiting: Mapping[tuple[str, str], int]
    ) -> tuple[TasksWithoutPlace, ...]:
        """The tasks that run nowhere again, by framework and role, the largest first.

        `waiting` are those that frameworks asked for again and did not get. Another has a place if an agent has room
        for it that no task uses, even if somebody else is offered that.
        """
        runs = Counter[tuple[str, str]]()
        for framework in state.frameworks.values():
            for task in framework.tasks_or_groups():
                runs[framework.id, task.role] += _count(task)
        rooms = {(like, Quantities()): count for like, count in account.like_agents.items()}
        found: dict[tuple[str, str], TasksWithoutPlace] = {}
        by_size = sorted(self._ended.items(), key=lambda item: -dominant_share(item[0].size, account.totals)[1])
        for kind, count in by_size:
            there, key = state.frameworks.get(kind.framework_id), (kind.framework_id, kind.role)
            if there is None:
                continue
            if key in waiting:
                left = min(count, waiting[key])
            elif isinstance(there.stream, SilentStream):
                left = _not_placed(rooms, kind, count)
            else:  # it has asked again by itself
                left = _not_placed(rooms, kind, min(count, max(0, self._ran[key] - runs[key])))
            if left and key not in found:
                found[key] = TasksWithoutPlace(kind.framework_id, there.name, kind.role, left, kind.size)
            elif left:
                found[key] = found[key]._replace(tasks=found[key].tasks + left)
        return tuple(found[key] for key in sorted(found))


def _count(task: KnownTask | TaskGroup) -> int:
    return len(task) if isinstance(task, TaskGroup) else int(not task.is_terminal)


def _not_placed(rooms: dict[tuple[LikeAgents, Quantities], int], kind: _Kind, count: int) -> int:
    """Take room for tasks on the first agents that have it, and return the number of those that find none."""
    left = count if kind.size else 0
    for like, taken in list(rooms):
        room = like.now(kind.role) - taken
        on_each = min((room.get_amount(name) // milli for name, milli in kind.size.items()), default=0)
        for each in (on_each, left % on_each if on_each else 0):
            some = min(rooms[like, taken], left // each) if each else 0
            if some:
                rooms[like, taken] -= some
                more = taken + Quantities({name: milli * each for name, milli in kind.size.items()})
                rooms[like, more] = rooms.get((like, more), 0) + some
                left -= some * each
        if not left:
            break
    return left
