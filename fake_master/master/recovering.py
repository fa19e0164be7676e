"""Frameworks and tasks that a new leader hears of from an agent (spec/endpoints.md §2, `recovered`).

As in Mesos: the agent is added first, then each framework that nobody here has heard of is recovered from the
FrameworkInfo that the agent has.  A recovered framework holds what its tasks hold and is offered nothing until
it subscribes with its id; it may stay away for as long as it likes, unless an operator tears it down.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fake_master.master import describe
from fake_master.master.agents import Agent
from fake_master.master.task_records import Brought
from fake_master.master.tasks import Executor
from mesosctl.core.resources import Resources

if TYPE_CHECKING:
    from fake_master.master.master import Master

Used = Mapping[str, Resources]
"""What is held on one agent, by framework id."""


def fits(master: "Master", agent: Agent, brought: Sequence[Brought]) -> bool:
    """Whether an agent, as it was started now, has room for what it ran; slack of use comes and goes.

    Raises DoesNotFit as `Checkpoints.restored`.
    """
    total = master.checkpoints.restored(agent, agent.configured)
    held = [entry for resources in _held(brought).values() for entry in resources.non_revocable()]
    # Several tasks may hold one shared volume.
    return total.contains(Resources(entry for entry in held if not entry.shared).allocated_to(None))


def admit(
    master: "Master",
    agent: Agent,
    brought: Sequence[Brought],
    infos: Mapping[str, Mapping[str, Any]],
    used: Used | None,
) -> None:
    """Register an agent with what it runs; `infos` holds the FrameworkInfo of each framework by id.

    `used` is what this master knows of already, of an agent that it had lost: None of any other.
    Raises DoesNotFit.
    """
    held = _held(brought)
    known = {of: resources for of, resources in held.items() if of in master.frameworks}
    booked = dict(used or {})
    for framework_id, resources in known.items():
        booked[framework_id] = booked.get(framework_id, Resources()) + resources
    master.register(agent, booked)
    for framework_id, resources in held.items():
        taken = {agent.id: resources} if len(resources) else {}
        if framework_id not in known:
            master.subscriptions.recover(infos[framework_id], taken)
        elif taken:
            master.frameworks[framework_id].hold(agent, resources)
    executors = _executors(brought)
    for under in executors.values():
        master.frameworks[under.framework_id].executors[under.agent_id, under.id] = under
    # Those that run were on the agent before those that wait for room there.
    for one in sorted(brought, key=lambda one: one.task.is_staging):
        framework = master.frameworks[one.task.framework_id]
        framework.tasks[one.task.id] = one.task
        framework.count_task(one.task)
        master.tell.operators("TASK_ADDED", {"task": describe.task(one.task)})
        if used is not None:
            master.task_updates.tell_back(framework, one.task)
        executor = None if one.task.is_terminal else executors.pop(_container(one), None)
        master.task_runner.go_on(framework, one.task, executor)


def _held(brought: Iterable[Brought]) -> dict[str, Resources]:
    """What each framework holds, its executors included."""
    held: dict[str, Resources] = {}
    for one in brought:
        own = Resources() if one.task.is_terminal else one.task.resources
        held[one.task.framework_id] = held.get(one.task.framework_id, Resources()) + own
    for executor in _executors(brought).values():
        held[executor.framework_id] += executor.resources
    return held


def _executors(brought: Iterable[Brought]) -> dict[tuple[str, str], Executor]:
    """Every executor that has a task, once."""
    return {_container(one): one.executor for one in brought if one.executor is not None and not one.task.is_terminal}


def _container(one: Brought) -> tuple[str, str]:
    return one.task.framework_id, one.task.executor_id
