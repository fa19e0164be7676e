"""Revocation of holdings that an allocator wants back (docs/explanation/documents.md, "Playing Traffic Cop").

"Mesos attempts to revoke a task by first requesting that an executor kill a given task and gives a
grace period for clean up by the executor.  If the executor does not respond to the request, the
allocation module then kills the executor and all its tasks."

A scheduler sees what it would see of a KILL of its own: TASK_KILLING if it has
TASK_KILLING_STATE, then TASK_KILLED, both with REASON_CONTAINER_PREEMPTED.  Of an executor that
was killed every task is TASK_LOST, or TASK_GONE for PARTITION_AWARE, for the same reason.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from fake_master.allocator.revocation import Holding, Revocation
from fake_master.services.offers import Offers
from fake_master.services.task_runner import PREEMPTED, TaskRunner, container_of
from fake_master.state.frameworks import KnownFramework
from fake_master.state.master_state import MasterState
from fake_master.state.tasks import KnownTask
from mesosctl.mesos import roles
from mesosctl.mesos.amounts.quantities import Quantities
from mesosctl.mesos.amounts.resources import Resources

RevocationKind = Literal["rescinded", "asked", "killed"]


@dataclass(frozen=True, slots=True)
class Revoked:
    """One step of a revocation, as it happened to a framework."""

    kind: RevocationKind
    """An offer was rescinded; an executor was asked to kill a task; it was killed, and the task with it."""
    framework: KnownFramework
    agent_id: str
    id: str
    """The id of the offer or the task."""
    resources: Resources
    revocation: Revocation
    """The demand that it followed from."""


class Revoking:
    """Lists what can be taken from frameworks, and takes what an allocator revokes."""

    def __init__(self, state: MasterState, offers: Offers, task_runner: TaskRunner) -> None:
        self._state = state
        self._offers = offers
        self._task_runner = task_runner
        self._spared: set[tuple[str, str]] = set()
        """(framework, task) of revocations that were no longer needed when the grace period ended.  The executors were
        asked to kill these tasks, which may still end, but are not forced to.
        """
        self._asked_back: dict[tuple[str, str], tuple[KnownFramework, KnownTask]] = {}
        """Tasks whose executor was asked to kill them, by framework and task id."""
        self.on_revoked: Callable[[Revoked], None] = lambda _revoked: None
        """Called with each of them."""

    def holdings(self) -> dict[str, list[Holding]]:
        """Every unanswered offer and every task that has not ended, by agent id, oldest first."""
        found: dict[str, list[Holding]] = {}
        for offer in self._state.offers:
            found.setdefault(offer.agent_id, []).append(
                Holding(offer.id, offer.framework_id, offer.role, offer.resources, offer.resources, is_task=False)
            )
        for framework, task in sorted(self._tasks(), key=lambda pair: pair[1].statuses[0].timestamp):
            ending = task.ending and (framework.id, task.id) not in self._spared
            found.setdefault(task.agent_id, []).append(_holding(framework, task, ending=ending))
        return found

    def _tasks(self) -> Iterator[tuple[KnownFramework, KnownTask]]:
        for framework in self._state.frameworks.values():
            for task in framework.all_tasks().values():
                if not task.is_terminal and task.statuses:
                    yield framework, task

    def revoke(self, revocations: Sequence[Revocation]) -> list[Revocation]:
        """Rescind offers at once; ask executors to kill tasks, and see after the grace period whether they did.

        Returns those that were refused, since a role would hold less than it is guaranteed.
        """
        refused = []
        for revocation in revocations:
            holding = revocation.holding
            framework = self._state.frameworks.get(holding.framework)
            if framework is None:
                continue
            if not holding.is_task:
                self._rescind(framework, revocation)
            elif (task := framework.all_tasks().get(holding.id)) is not None and not task.is_terminal:
                if not self._is_spare(framework, task, self._asked()):
                    refused.append(revocation)
                elif (framework.id, task.id) not in self._asked_back:
                    self._ask(framework, task, revocation)
        return refused

    def _asked(self) -> list[tuple[KnownFramework, KnownTask]]:
        """Return the tasks that were asked back and are still there; the others are forgotten."""
        present = {(framework.id, task.id): (framework, task) for framework, task in self._asked_back.values()}
        self._asked_back = {key: pair for key, pair in present.items() if not pair[1].is_terminal}
        return list(self._asked_back.values())

    def _is_spare(
        self, framework: KnownFramework, task: KnownTask, going: Iterable[tuple[KnownFramework, KnownTask]]
    ) -> bool:
        """Whether a role would still hold its guarantee without a task, its executor, and the tasks that are ending.

        A guarantee prevents a task from being revoked.  Source: docs/explanation/documents.md, "Playing Traffic Cop".
        """
        top = roles.top_level(task.role)
        quota = self._state.quotas.get(top)
        if quota is None or not quota.meaning.guarantees:
            return True
        gone = {
            (holder.id, other.id)
            for holder, ended in [*going, (framework, task)]
            for other in container_of(holder, ended)
        }
        counts_reservations = self._state.profile.reservations_consume_quota
        held = [
            part.unreserved().non_revocable().scalar_quantities()
            for holder in self._state.frameworks.values()
            for part in _kept(holder, top, gone)
        ]
        if counts_reservations:
            held += [
                entries.scalar_quantities()
                for agent in self._state.agents.values()
                for owner, entries in agent.total.by_owner().items()
                if roles.top_level(owner) == top
            ]
        return Quantities.total(held).contains(quota.meaning.guarantees)

    def _rescind(self, framework: KnownFramework, revocation: Revocation) -> None:
        offer = self._state.offers.get(revocation.holding.id)
        if offer is not None:
            self._offers.rescind(offer)
            self._tell("rescinded", framework, offer.id, offer.resources, revocation)

    def _ask(self, framework: KnownFramework, task: KnownTask, revocation: Revocation) -> None:
        message = f"revoked: {revocation.reason or 'the allocator requested the resources'}"
        self._asked_back[framework.id, task.id] = framework, task
        self._spared.discard((framework.id, task.id))
        self._tell("asked", framework, task.id, task.resources, revocation)
        self._task_runner.kill(framework, task, reason=PREEMPTED, message=message)
        grace = self._state.flags.revocation_grace_seconds
        if not task.is_terminal and grace is not None:
            self._state.timers.at(
                self._state.now + grace, lambda: self._kill_executor(framework, task, revocation, message)
            )

    def _kill_executor(self, framework: KnownFramework, task: KnownTask, revocation: Revocation, message: str) -> None:
        """The grace period is over: unless the task has ended, or is not wanted any more, its executor ends."""
        if task.is_terminal:
            return
        if not revocation.stands() or not self._is_spare(framework, task, ()):
            self._spared.add((framework.id, task.id))
            self._asked_back.pop((framework.id, task.id), None)
            return
        for ended in self._task_runner.end_container(framework, task, message):
            self._tell("killed", framework, ended.id, ended.resources, revocation)

    def _tell(
        self, kind: RevocationKind, framework: KnownFramework, what: str, resources: Resources, revocation: Revocation
    ) -> None:
        self.on_revoked(Revoked(kind, framework, revocation.agent, what, resources, revocation))


def _kept(framework: KnownFramework, role: str, gone: Collection[tuple[str, str]]) -> Iterator[Resources]:
    """Yield the holdings of a framework's tasks and executors in a top-level role, without those that are gone."""
    alive = [
        task for task in framework.all_tasks().values() if not task.is_terminal and (framework.id, task.id) not in gone
    ]
    for task in alive:
        if roles.top_level(task.role) == role:
            yield task.resources
    for (agent_id, executor_id), executor in framework.executors.items():
        if any((task.agent_id, task.executor_id) == (agent_id, executor_id) for task in alive):
            yield executor.resources.filter(lambda entry: roles.top_level(entry.allocation_role or "*") == role)


def _holding(framework: KnownFramework, task: KnownTask, *, ending: bool) -> Holding:
    container = container_of(framework, task)
    executor = framework.executors.get((task.agent_id, task.executor_id))
    share = executor.resources if executor is not None else Resources()
    whole = share
    for other in container:
        whole += other.resources
    return Holding(
        task.id,
        framework.id,
        task.role,
        frees=task.resources + share if len(container) == 1 else task.resources,
        container=whole,
        is_task=True,
        ending=ending,
    )
