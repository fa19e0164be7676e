"""Agents register, for the first time or again, with what they run, and report their usage slack."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from fake_master.allocator.interface import Allocator
from fake_master.services.agents.checkpointed_resources import CheckpointedResources
from fake_master.services.agents.checkpointed_tasks import RecoveredTask, TaskStore
from fake_master.services.events import EventPublisher
from fake_master.services.offers import Offers
from fake_master.services.subscriptions import Subscriptions
from fake_master.services.task_runner import TaskRunner
from fake_master.state.agents import KnownAgent
from fake_master.state.master_state import MasterState
from fake_master.state.tasks import Executor
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.errors import RuleViolation

_LOG = logging.getLogger(__name__)
Used = Mapping[str, Resources]
"""The resources that are held on one agent, by framework id."""


class AgentRegistration:
    """Adds agents to the master: its state, the allocator, and the events for operators."""

    def __init__(
        self,
        state: MasterState,
        allocator: Allocator,
        events: EventPublisher,
        store: TaskStore,
        checkpointed_resources: CheckpointedResources,
        subscriptions: Subscriptions,
        task_runner: TaskRunner,
    ) -> None:
        self._state = state
        self._allocator = allocator
        self._events = events
        self._store = store
        self._checkpointed_resources = checkpointed_resources
        self._subscriptions = subscriptions
        self._task_runner = task_runner

    def register(self, agent: KnownAgent, used: Used | None = None) -> None:
        """Register an agent with everything that it runs.

        `used` is what this master already knows of an agent that it had lost, and None for any other. An agent that was
        restarted with too few resources for what it ran is a new one, and its tasks have ended. Raises DoesNotFit.
        """
        recovered = self._store.recovered_from(agent.id)
        if recovered and not self._fits(agent, recovered):
            _LOG.warning("agent %s no longer has room for its tasks: they have ended", agent.hostname)
            for task in recovered:
                self._store.drop_task(task.task)
            recovered = []
        held = _held(recovered)
        known = {of: resources for of, resources in held.items() if of in self._state.frameworks}
        booked = dict(used or {})
        for framework_id, resources in known.items():
            booked[framework_id] = booked.get(framework_id, Resources()) + resources
        self._admit(agent, booked)
        for framework_id, resources in held.items():
            taken = {agent.id: resources} if len(resources) else {}
            if framework_id not in known:
                self._subscriptions.recover(self._store.framework_infos[framework_id], taken)
            elif taken:
                self._state.frameworks[framework_id].hold(agent, resources)
        self._take_in(recovered, was_lost=used is not None)

    def _fits(self, agent: KnownAgent, recovered: Sequence[RecoveredTask]) -> bool:
        """Return whether an agent, with its present resources, has room for what it ran; usage slack does not count.

        Raises DoesNotFit like `CheckpointedResources.restored`.
        """
        total = self._checkpointed_resources.restored(agent, agent.configured)
        held = [entry for resources in _held(recovered).values() for entry in resources.non_revocable()]
        # Several tasks may hold one shared volume.
        return total.contains(Resources(entry for entry in held if not entry.shared).allocated_to(None))

    def _admit(self, agent: KnownAgent, used: Used) -> None:
        """Add an agent with its checkpointed resources, and what is held there. Raises DoesNotFit."""
        restored = self._checkpointed_resources.restored(agent, agent.configured)
        if restored is not agent.total or restored is not agent.applied:
            agent.total = agent.applied = restored
        self._state.agents[agent.id] = agent
        self._state.track_reservations(Resources(), agent.total)
        unavailability = self._state.maintenance.span(agent)
        self._allocator.add_agent(agent.allocator_info(), agent.whole, used, unavailability=unavailability)
        if not agent.active:
            self._allocator.deactivate_agent(agent.id)
        if self._events.have_operators:
            self._events.agent_added(agent, self._task_runner.runtime.describe_agent(agent))

    def _take_in(self, recovered: Sequence[RecoveredTask], *, was_lost: bool) -> None:
        """Add tasks and executors that an agent brings, which continue."""
        executors = _executors(recovered)
        for executor in executors.values():
            self._state.frameworks[executor.framework_id].executors[executor.agent_id, executor.id] = executor
        # Those that run were on the agent before those that wait for room there.
        for task in sorted(recovered, key=lambda task: task.task.is_staging):
            framework = self._state.frameworks[task.task.framework_id]
            framework.add_task(task.task)
            framework.count_task(task.task)
            self._events.task_added(framework, task.task)
            if was_lost:
                self._task_runner.updates.send_reregistered(framework, task.task)
            held_by = None if task.task.is_terminal else executors.pop(_container(task), None)
            self._task_runner.go_on(framework, task.task, held_by)


def _held(recovered: Iterable[RecoveredTask]) -> dict[str, Resources]:
    """Return the resources that each framework holds, its executors included."""
    held: dict[str, Resources] = {}
    for task in recovered:
        own = Resources() if task.task.is_terminal else task.task.resources
        held[task.task.framework_id] = held.get(task.task.framework_id, Resources()) + own
    for executor in _executors(recovered).values():
        held[executor.framework_id] += executor.resources
    return held


def _executors(recovered: Iterable[RecoveredTask]) -> dict[tuple[str, str], Executor]:
    """Every executor that has a task, once."""
    return {
        _container(task): task.executor for task in recovered if task.executor is not None and not task.task.is_terminal
    }


def _container(recovered: RecoveredTask) -> tuple[str, str]:
    return recovered.task.framework_id, recovered.task.executor_id


def slack_of_use(reported: Resources, *, throttleable: bool) -> Resources:
    """Return plain amounts as revocable resources. Raises RuleViolation for resources that cannot be oversubscribed."""
    for entry in reported:
        if entry.is_reserved or entry.disk is not None or entry.shared:
            raise RuleViolation(
                f"{entry.in_words} cannot be oversubscribed: only plain amounts can", field="oversubscribed"
            )
    return Resources(replace(entry, revocable=True, throttleable=throttleable) for entry in reported)


class Oversubscription:
    """Takes estimates of agents."""

    def __init__(self, state: MasterState, allocator: Allocator, offers: Offers) -> None:
        self._state = state
        self._allocator = allocator
        self._offers = offers

    def report(self, agent: KnownAgent, reported: Resources) -> None:
        """Replace an agent's estimate, and rescind whole offers with the old one.

        Raises RuleViolation. The allocator is updated first.
        """
        rules = self._state.revocability
        slack = slack_of_use(reported, throttleable=rules.throttles)
        if slack == agent.oversubscribed and not self._state.profile.same_slack_ends_offers:
            return
        agent.oversubscribed = slack
        self._allocator.update_agent(agent.allocator_info(), agent.whole)
        for offer in self._state.offers.on_agent(agent.id):
            if any(rules.is_slack_of_use(entry) for entry in offer.resources):
                self._offers.rescind(offer)
