"""The agents' side of lending: tasks start, wait or are evicted (docs/explanation/allocator.md, "Agent: eviction").

`fake_master.extensions.lending.eviction` has the arithmetic of one agent.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from fake_master.extensions.lending.allocator import LendingAllocator
from fake_master.extensions.lending.eviction import (
    NOTHING,
    AgentOccupancy,
    AgentTasks,
    HeldAmounts,
    PlacedTask,
    candidates,
    choose,
    hand_over,
    terms,
)
from fake_master.services.task_runner import TaskRunner
from fake_master.state.agents import KnownAgent
from fake_master.state.extension_points import AgentRuntime
from fake_master.state.frameworks import KnownFramework
from fake_master.state.master_state import MasterState
from fake_master.state.tasks import Executor, KnownTask, TaskState
from mesosctl.mesos.amounts.quantities import Quantities, to_number
from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.cluster.snapshot import Lending, TaskPhase
from mesosctl.mesos.messages.resources import list_to_json

_MEASURED = ("cpus", "gpus", "mem", "disk")
_MESSAGE = "Lent resources are needed by their owner"


class RevocableTasks(AgentRuntime):
    """Starts, holds back and evicts the tasks of every agent."""

    evicts = True
    shows_more = True

    def __init__(self, state: MasterState, allocator: LendingAllocator, task_runner: TaskRunner) -> None:
        super().__init__()
        self._state = state
        self._allocator = allocator
        self._task_runner = task_runner
        self._by_agent: dict[str, AgentTasks] = {}
        self.evictions = 0
        """The number of evicted tasks so far."""

    def occupancy(self, agent: KnownAgent) -> AgentOccupancy:
        """The present terms of the formula on an agent."""
        sums: dict[str, list[Quantities]] = {}
        for placed in self._placed(agent.id):
            for term, part in terms(placed):
                sums.setdefault(term, []).append(part)
        total = agent.total.non_revocable().scalar_quantities()
        return AgentOccupancy(self._lendable(total), **{term: Quantities.total(parts) for term, parts in sums.items()})

    def tasks(self, agent_id: str) -> Iterator[tuple[KnownFramework, KnownTask, TaskPhase]]:
        """Every task that an agent has heard of: those that have started in that order, the others as they came."""
        for placed in self._placed(agent_id):
            yield (
                placed.framework,
                placed.task,
                "ending" if placed.task.ending else "waiting" if placed.waits else "running",
            )

    def restore(self, framework: KnownFramework, task: KnownTask, executor: Executor | None) -> None:
        """A task that was on its agent before this master was made; it answers for `executor`."""
        executor_part = self._part(executor.resources) if executor is not None else NOTHING
        placed = PlacedTask(
            framework, task, self._part(task.resources), executor_part, executor_runs=not task.is_staging
        )
        self._tasks_on_agent(task.agent_id).tasks.append(placed)

    def restore_lending(self, lending: Lending) -> None:
        """See `AgentRuntime.restore_lending`."""
        for refusal in lending.refusals:
            self._allocator.restore_refusal(
                refusal.framework_id, refusal.agent_id, refusal.role, refusal.resources, refusal.seconds
            )
        for debt in lending.debts:
            self._allocator.restore_debt(debt.framework_id, debt.agent_id, debt.resources.allocated_to(debt.role))

    def would_be_evicted(self, agent: KnownAgent, used: Resources) -> list[tuple[KnownFramework, KnownTask]]:
        """Return the tasks that would be evicted if this much more of an agent were in regular use."""
        occupancy = self.occupancy(agent)
        lack = replace(occupancy, occupied=occupancy.occupied + self._part(used).regular).shortfall()
        return [(placed.framework, placed.task) for together in self._chosen(agent, lack, None) for placed in together]

    def may_start(self, framework: KnownFramework, task: KnownTask, executor: Executor | None) -> bool:
        """A task that has reached its agent starts, waits, or is refused; a normal one may evict borrowers.

        The runtime sees to each of these itself.
        """
        self._arrived(framework, task, executor)
        return False

    def _arrived(self, framework: KnownFramework, task: KnownTask, executor: Executor | None) -> None:
        agent = self._state.agents[task.agent_id]
        shared = executor.resources if executor is not None else Resources()
        placed = PlacedTask(framework, task, self._part(task.resources), self._part(shared))
        regular = placed.own.regular + placed.executor.regular
        arrival = self.occupancy(agent).on_revocable_launch(placed.own.lent + placed.executor.lent)
        if placed.borrows and arrival == "refused":
            self._refuse(placed)
            return
        self._tasks_on_agent(agent.id).tasks.append(placed)
        if placed.borrows and not regular and arrival == "starts":
            # It delays no waiting task.
            self._start(placed)
            return
        if regular:
            self._make_room(agent, placed)
        self._start_waiting(agent)

    def left(self, framework: KnownFramework, task: KnownTask) -> None:
        """A task has ended; waiting tasks are checked after all that end at the same time."""
        on_agent = self._tasks_on_agent(task.agent_id)
        placed = next(
            (placed for placed in on_agent.tasks if placed.task is task and placed.framework is framework), None
        )
        if placed is None:
            return
        on_agent.tasks.remove(placed)
        others = [other for other in on_agent.tasks if other.container == placed.container]
        hand_over(placed, [other for other in others if not other.task.ending] or others)
        if not on_agent.starting:
            on_agent.starting = True
            agent = self._state.agents[task.agent_id]
            self._state.timers.at(self._state.now, lambda: self._look_again(agent, on_agent))

    # --- What is shown --------------------------------------------------------------------------------

    def allocation_slack(self, agent: KnownAgent) -> Quantities | None:
        """See `AgentRuntime.allocation_slack`."""
        return self._allocator.allocation_slack(agent.id)

    def describe_agent(self, agent: KnownAgent) -> Mapping[str, Any]:
        """See `AgentRuntime.describe_agent`: tasks that run or wait there, and what borrowers owe."""
        debts = self._allocator.lent.agent(agent.id).debt
        return {
            "lending": {
                "guests": [
                    {"framework_id": {"value": framework.id}, "task_id": {"value": task.id}, "standing": standing}
                    for framework, task, standing in self.tasks(agent.id)
                ],
                "debts": [
                    {
                        "framework_id": {"value": borrower.framework},
                        "role": borrower.role.name,
                        "resources": list_to_json(_revocable(amounts), "POST"),
                    }
                    for borrower, amounts in debts.items()
                ],
                "stop_seconds": self._state.task_outcome.stop_seconds,
            }
        }

    def describe_framework(self, framework: KnownFramework) -> Mapping[str, Any]:
        """See `AgentRuntime.describe_framework`: its refusals, and their durations."""
        if framework.id not in self._state.frameworks:
            return {}
        return {
            "refusals": [
                {
                    "agent_id": {"value": agent_id},
                    "role": role,
                    "resources": list_to_json(refused, "POST"),
                    "seconds": seconds,
                }
                for agent_id, role, refused, seconds in self._allocator.refusals(framework.id)
            ]
        }

    def metrics(self) -> Mapping[str, float]:
        """See `AgentRuntime.metrics`."""
        figures = {"master/revocable_evictions": float(self.evictions)}
        total = Quantities.total(self._revocable(agent) for agent in self._state.agents.values())
        used = Quantities.total(agent.used.revocable().scalar_quantities() for agent in self._state.agents.values())
        for name in _MEASURED:
            parts = to_number(total.get_amount(name)), to_number(used.get_amount(name))
            figures[f"master/{name}_revocable_total"] = parts[0]
            figures[f"master/{name}_revocable_percent"] = parts[1] / parts[0] if parts[0] else 0.0
        return figures

    def _revocable(self, agent: KnownAgent) -> Quantities:
        """Return the revocable resources of an agent at the last run: usage slack, idle reservations, and debts.

        What borrowers use beyond an idle reservation is a debt, so the sum includes it.
        """
        record = self._allocator.lent.agent(agent.id)
        return Quantities.total(
            [
                agent.whole.revocable().scalar_quantities(),
                Quantities(record.allocation_slack),
                *(Quantities(amounts) for amounts in record.debt.values()),
            ]
        )

    # --- Within ---------------------------------------------------------------------------------------

    def _look_again(self, agent: KnownAgent, on_agent: AgentTasks) -> None:
        on_agent.starting = False
        self._start_waiting(agent)

    def _placed(self, agent_id: str) -> list[PlacedTask]:
        """Return the tasks on an agent.  One that ends hands its executor over to another task in it, if any."""
        placed_tasks = self._tasks_on_agent(agent_id).tasks
        for placed in placed_tasks:
            if placed.task.ending and placed.executor.everything:
                hand_over(placed, [o for o in placed_tasks if o.container == placed.container and not o.task.ending])
        return placed_tasks

    def _part(self, resources: Resources) -> HeldAmounts:
        plain = resources.allocated_to(None)
        lent = plain.filter(lambda entry: entry.revocability == "non-throttleable")
        return HeldAmounts(
            self._lendable(plain.non_revocable().scalar_quantities()), self._lendable(lent.scalar_quantities())
        )

    def _refuse(self, placed: PlacedTask) -> None:
        state: TaskState = "TASK_DROPPED" if placed.framework.is_partition_aware else "TASK_LOST"
        self._task_runner.end(
            placed.framework,
            placed.task,
            state,
            source="SOURCE_AGENT",
            reason="REASON_RESOURCES_UNKNOWN",
            message="The lent resources were taken back, and no eviction in progress makes room for the task",
        )

    def _make_room(self, agent: KnownAgent, newcomer: PlacedTask) -> None:
        """Evict as few borrowers as make room for a normal task."""
        for placed_tasks in self._chosen(agent, self.occupancy(agent).shortfall(), newcomer):
            told = self._task_runner.evict(
                placed_tasks[0].framework,
                placed_tasks[0].task,
                grace_seconds=self._state.task_outcome.stop_seconds,
                message=_MESSAGE,
            )
            self.evictions += len(told)
            for task in told:
                self.on_eviction(placed_tasks[0].framework, task)

    def _chosen(self, agent: KnownAgent, lack: Quantities, newcomer: PlacedTask | None) -> list[list[PlacedTask]]:
        """Return the containers of borrowers to evict, each as its tasks."""
        placed_tasks = [placed for placed in self._placed(agent.id) if not placed.task.ending]
        return choose(lack, [container for container in candidates(placed_tasks) if newcomer not in container.task])

    def _start_waiting(self, agent: KnownAgent) -> None:
        """First come, first served: if one has no room, the others wait for it."""
        for placed in [placed for placed in self._tasks_on_agent(agent.id).tasks if placed.waits]:
            if not self.occupancy(agent).fits_now(placed.needed):
                return
            self._start(placed)

    def _start(self, placed: PlacedTask) -> None:
        placed_tasks = self._tasks_on_agent(placed.task.agent_id).tasks
        placed_tasks.remove(placed)
        placed_tasks.append(placed)
        placed.executor_runs = True
        self._task_runner.start(placed.framework, placed.task)

    def _tasks_on_agent(self, agent_id: str) -> AgentTasks:
        return self._by_agent.setdefault(agent_id, AgentTasks())

    def _lendable(self, amounts: Quantities) -> Quantities:
        names = self._state.flags.lendable_names
        return Quantities({name: amount for name, amount in amounts.items() if name in names})


def _revocable(amounts: Mapping[str, int]) -> Resources:
    """Return amounts in thousandths as revocable resources, by name."""
    return Resources(Resource(name, milli, revocable=True) for name, milli in sorted(amounts.items()))
