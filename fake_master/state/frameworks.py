"""Frameworks: one of them, and the resources, offers and tasks that it holds."""

from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, get_args

from fake_master.state.agents import KnownAgent
from fake_master.state.clock import Timer
from fake_master.state.local_scheduler import LocalScheduler, LocalStream
from fake_master.state.offers import OutstandingOffer
from fake_master.state.streams import EventStream
from fake_master.state.tasks import Executor, KnownTask, TaskGroup, TaskState, TaskStatus
from mesosctl.mesos import roles as roles_model
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.rules.version_profile import TERMINAL_STATES

# Thousands of offers and tasks come and go, and their sums are rarely requested.
_CHANGES_KEPT = 1000
_COUNTERS: Mapping[TaskState, str] = {
    state: f"tasks/{'terminal' if state in TERMINAL_STATES else 'active'}/{state.lower()}"
    for state in get_args(TaskState)
}
"""The counters of a framework by the state of a task: how many are in it, or have ended in it."""


class DeferredSum:
    """Resources that are added and subtracted, as Mesos sums them over agents.

    The same ports on two agents appear once, and disappear when the first of the two is subtracted.
    """

    __slots__ = ("_changes", "_count", "_sum")

    def __init__(self) -> None:
        self._sum = Resources()
        self._changes: list[tuple[bool, list[Resources]]] = []
        """Changes that `_sum` does not have yet, in order: runs of resources added (true) or subtracted."""
        self._count = 0

    def add(self, resources: Resources) -> None:
        """Add resources."""
        self._change(resources, added=True)

    def subtract(self, resources: Resources) -> None:
        """Subtract resources."""
        self._change(resources, added=False)

    def _change(self, resources: Resources, *, added: bool) -> None:
        if not self._changes or self._changes[-1][0] is not added:
            self._changes.append((added, []))
        self._changes[-1][1].append(resources)
        self._count += 1
        if self._count >= _CHANGES_KEPT:
            self.value()

    def value(self) -> Resources:
        """Return the sum: the same object until the next change."""
        for added, changed in self._changes:
            self._sum = Resources.sum_of([self._sum, *changed]) if added else self._sum - Resources.sum_of(changed)
        self._changes.clear()
        self._count = 0
        return self._sum


@dataclass(slots=True)
class KnownFramework:
    """A framework and what it holds.  Times are seconds since the epoch."""

    id: str
    info: Mapping[str, Any]
    """FrameworkInfo, as it was sent."""
    registered_time: float
    suppressed: frozenset[str] = frozenset()
    offer_constraints: Mapping[str, Any] = field(default_factory=dict)
    active: bool = True
    connected: bool = True
    reregistered_time: float | None = None
    unregistered_time: float | None = None
    was_known: bool = False
    """Whether it came with an id already, as from a former leader."""
    recovered: bool = False
    """Whether it is known only from its agents, and has not subscribed since a new leader took over."""
    is_cut_off: bool = False
    """Whether the master ended its stream, for a message too many, and its scheduler is there."""
    is_simulated: bool = False
    """Whether it lives in the master's own process, and ends with that."""
    pid: str | None = None
    """The libprocess address of its driver, also while that is away; None over HTTP."""
    stream: EventStream | None = None
    offers: dict[str, OutstandingOffer] = field(default_factory=dict)
    inverse_offers: dict[str, str] = field(default_factory=dict)
    """Agent id by inverse offer id."""
    executors: dict[tuple[str, str], Executor] = field(default_factory=dict)
    """Executors by agent id and executor id."""
    completed_tasks: deque[KnownTask] = field(default_factory=deque)
    """The last ones, up to the flag max_completed_tasks_per_framework."""
    failover_timer: Timer | None = None
    counts: Counter[str] = field(default_factory=Counter)
    """The counters of its metrics, by their names below the framework's own: `calls/accept`."""
    alive: int = 0
    """The number of its tasks that have not ended, those of its groups included; unreachable ones are none of them."""
    _tasks: dict[str, KnownTask] = field(default_factory=dict)
    _task_groups: dict[str, tuple[TaskGroup, ...]] = field(default_factory=dict)
    """Task groups whose tasks are not made yet, by agent id."""
    _unreachable_tasks: dict[str, KnownTask] = field(default_factory=dict)
    _unreachable_groups: list[tuple[TaskGroup, TaskStatus]] = field(default_factory=list)
    """Groups that cannot be reached, whose tasks are not made yet, with the last status of each."""
    # Sums kept as tasks come and go: there may be thousands of them, and every view asks.
    _held: dict[str, Resources] = field(default_factory=dict)
    _held_anywhere: DeferredSum = field(default_factory=DeferredSum)
    _offered: DeferredSum = field(default_factory=DeferredSum)

    @property
    def name(self) -> str:
        """The name that the framework gave itself."""
        return str(self.info["name"])

    @property
    def principal(self) -> str | None:
        """The principal that the framework names, or None."""
        return self.info.get("principal")

    @property
    def capabilities(self) -> frozenset[str]:
        """Its capabilities: MULTI_ROLE, RESERVATION_REFINEMENT and so on."""
        return capabilities_of(self.info)

    @property
    def is_partition_aware(self) -> bool:
        """Whether it distinguishes the reasons for which a task is lost."""
        return "PARTITION_AWARE" in self.capabilities

    @property
    def roles(self) -> frozenset[str]:
        """The roles it is subscribed to."""
        return roles_of(self.info)

    @property
    def scheduler(self) -> LocalScheduler | None:
        """Its scheduler, if that is in this process and connected."""
        return self.stream.scheduler if isinstance(self.stream, LocalStream) and not self.stream.closed else None

    @property
    def tracked_roles(self) -> frozenset[str]:
        """The roles it is subscribed to, and those that it has left but still holds something in."""
        return self.roles.union(entry.allocation_role for entry in self.used() if entry.allocation_role is not None)

    @property
    def failover_timeout(self) -> float:
        """Seconds it may stay away."""
        return float(self.info.get("failover_timeout", 0.0))

    def all_tasks(self) -> dict[str, KnownTask]:
        """Return all its tasks by id; those of its groups are made now, and kept from now on.

        There may be hundreds of thousands: `tasks_on` makes fewer, and `tasks_or_groups` makes none.
        """
        if self._task_groups:
            groups, self._task_groups = list(self.task_groups()), {}
            self.alive -= sum(map(len, groups))
            self._make_tasks(groups)
        return self._tasks

    def tasks_on(self, agent_ids: Collection[str]) -> list[KnownTask]:
        """Return the tasks on some agents; those of a group on another agent are not made."""
        self._make_tasks(self.pop_groups(agent_ids))
        return [task for task in self._tasks.values() if task.agent_id in agent_ids]

    def _make_tasks(self, groups: Iterable[TaskGroup]) -> None:
        for group in groups:
            self._tasks.update((task.id, task) for task in group.tasks())
            self.alive += len(group)

    def pop_groups(self, agent_ids: Collection[str]) -> list[TaskGroup]:
        """Take the groups on some agents away, and return them."""
        known = sorted(self._task_groups.keys() & agent_ids)
        groups = list(chain.from_iterable(map(self._task_groups.pop, known)))
        self.alive -= sum(map(len, groups))
        return groups

    @property
    def unreachable_tasks(self) -> dict[str, KnownTask]:
        """Its tasks on agents that are unreachable or marked gone; those of groups are made, and kept from now on."""
        for group, status in self._unreachable_groups:
            for task in group.tasks():
                task.state = status.state
                task.statuses += (status,)
                self._unreachable_tasks[task.id] = task
        self._unreachable_groups.clear()
        return self._unreachable_tasks

    def add_unreachable_group(self, group: TaskGroup, status: TaskStatus) -> None:
        """Add tasks that ran and cannot be reached, and count them; `status` is the last of each."""
        self._unreachable_groups.append((group, status))
        self._count_tasks(group.state, -len(group))
        self._count_tasks(status.state, len(group))

    def add_task_group(self, group: TaskGroup) -> None:
        """Add running tasks, and count them."""
        self._task_groups[group.agent_id] = (*self._task_groups.get(group.agent_id, ()), group)
        self.alive += len(group)
        self._count_tasks(group.state, len(group))

    def add_task(self, task: KnownTask) -> None:
        """Add a task after those of its groups, which are made."""
        tasks = self.all_tasks()
        if task.id in tasks:  # the id of one that cannot be reached may have been used again
            self.alive -= not tasks[task.id].is_terminal
        tasks[task.id] = task
        self.alive += not task.is_terminal

    def drop_task(self, task: KnownTask) -> None:
        """Drop a task that has been made."""
        del self._tasks[task.id]
        self.alive -= not task.is_terminal

    def enter(self, task: KnownTask, state: TaskState) -> None:
        """Let a task enter a state, and count it there."""
        was_terminal = task.is_terminal
        if not was_terminal:  # one that counted as lost may be back
            self._count_tasks(task.state, -1)
        task.state = state
        if was_terminal is not task.is_terminal and self._tasks.get(task.id) is task:
            self.alive += 1 if was_terminal else -1
        self._count_tasks(state, 1)

    def count_task(self, task: KnownTask) -> None:
        """Count a task in its state: the present number of active ones, the total number of ended ones."""
        self._count_tasks(task.state, 1)

    def _count_tasks(self, state: TaskState, number: int) -> None:
        self.counts[_COUNTERS[state]] += number

    def lasting_counts(self) -> Counter[str]:
        """Return the framework's contribution to the master's own counters.

        Its first subscription registers it, unless it came with an id; all others do so again.
        """
        subscribed = self.counts["calls/subscribe"]
        first = 0 if self.was_known else min(subscribed, 1)
        return self.counts + Counter({"registered": first, "reregistered": subscribed - first})

    def hold(self, agent: KnownAgent, resources: Resources) -> None:
        """Add `resources` of an agent, with allocation roles, that a task or executor uses."""
        self.add_held(agent.id, resources)
        agent.used = agent.used + resources if agent.used else resources

    def add_held(self, agent_id: str, resources: Resources) -> None:
        """Add resources that it holds.

        The caller sets `KnownAgent.used`, because many frameworks begin with the master.
        """
        before = self._held.get(agent_id)
        self._held[agent_id] = resources if before is None else before + resources
        self._held_anywhere.add(resources)

    def release(self, agent: KnownAgent, resources: Resources) -> None:
        """Subtract the resources of a task or executor that has ended."""
        left = self._held[agent.id] - resources
        if len(left):
            self._held[agent.id] = left
        else:
            del self._held[agent.id]
        self._held_anywhere.subtract(resources)
        agent.used -= resources

    def lose_agents(self, gone: Mapping[str, KnownAgent]) -> None:
        """Drop the resources and executors that it holds on agents that are gone; their tasks are dropped already."""
        for agent_id in sorted(self._held.keys() & gone.keys()):
            resources = self._held.pop(agent_id)
            self._held_anywhere.subtract(resources)
            gone[agent_id].used -= resources
        self.executors = {key: executor for key, executor in self.executors.items() if executor.agent_id not in gone}

    def made_tasks(self) -> list[KnownTask]:
        """Return the tasks that are made: all but those of its groups."""
        return list(self._tasks.values())

    def add_executor(self, executor: Executor) -> None:
        """Add an executor; the caller accounts for its resources."""
        self.executors[executor.agent_id, executor.id] = executor

    def executors_on(self, agent_id: str) -> tuple[str, ...]:
        """Return the ids of its executors on an agent."""
        return tuple(executor.id for executor in self.executors.values() if executor.agent_id == agent_id)

    def task_groups(self) -> Iterator[TaskGroup]:
        """Return the groups whose tasks are not made yet."""
        return chain.from_iterable(self._task_groups.values())

    def tasks_or_groups(self) -> list[KnownTask | TaskGroup]:
        """Return its tasks, those that are not made yet as groups."""
        return [*self._tasks.values(), *self.task_groups()]

    def all_tasks_or_groups(self) -> Iterator[KnownTask | TaskGroup]:
        """Return the same, and the tasks that cannot be reached, and the last of those that have ended."""
        return chain(self.tasks_or_groups(), self.unreachable_tasks.values(), self.completed_tasks)

    @property
    def held(self) -> Mapping[str, Resources]:
        """The resources that it holds, by agent id, with allocation roles."""
        return self._held

    @property
    def agents_used(self) -> Collection[str]:
        """The agents on which it holds anything."""
        return self._held.keys()

    def used(self) -> Resources:
        """Return the resources that it holds on all agents."""
        return self._held_anywhere.value()

    def add_offer(self, offer: OutstandingOffer) -> None:
        """Add an outstanding offer."""
        self.offers[offer.id] = offer
        self._offered.add(offer.resources)

    def drop_offer(self, offer: OutstandingOffer) -> None:
        """Drop an offer that is no longer outstanding."""
        if self.offers.pop(offer.id, None) is not None:
            self._offered.subtract(offer.resources)

    def offered(self) -> Resources:
        """Return the sum of all its offers, as Mesos keeps it."""
        return self._offered.value()


def capabilities_of(info: Mapping[str, Any]) -> frozenset[str]:
    """The capabilities that a FrameworkInfo names."""
    return frozenset(entry["type"] for entry in info.get("capabilities", ()) if "type" in entry)


def roles_of(info: Mapping[str, Any]) -> frozenset[str]:
    """The roles that a FrameworkInfo subscribes to; without MULTI_ROLE exactly one."""
    if "MULTI_ROLE" in capabilities_of(info):
        return frozenset(info.get("roles", ()))
    return frozenset((info.get("role", roles_model.DEFAULT_ROLE),))
