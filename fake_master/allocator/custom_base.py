"""The base class for your own allocator: a subclass decides whose turn it is, and the base enforces the rules of Mesos.

Each run first meets the guarantees as far as it can. Then it calls `share` of the subclass, which offers what is free.
Each offer is reduced to what Mesos allows: reserved resources go only to their roles, capabilities, refusals and limits
are respected, and what guarantees still lack is kept back.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from fake_master.allocator.hierarchical.allocation_runs import RunSteps
from fake_master.allocator.hierarchical.allocator import HierarchicalAllocator
from fake_master.allocator.hierarchical.records import AllocatorAgent, AllocatorClient
from fake_master.allocator.hierarchical.stages.parts_within_quota import fair_part
from fake_master.allocator.hierarchical.stages.run import Run, is_refused
from fake_master.allocator.hierarchical.state import State
from fake_master.allocator.interface import AgentId, Callbacks, FrameworkId, RoleName
from fake_master.allocator.options import Options
from fake_master.allocator.revocation import Holding, Revocation
from mesosctl.mesos.amounts.resources import Resources


class Client(NamedTuple):
    """A framework in one of its roles."""

    framework: FrameworkId
    role: RoleName


class SharingRun:
    """One run: the free resources, and the method that offers them."""

    def __init__(self, run: Run, agents: list[AllocatorAgent]) -> None:
        self._run = run
        self._agents = {agent.id: agent for agent in agents}
        self._records = _clients(run.state)

    @property
    def agents(self) -> list[AgentId]:
        """The agents with something free, in the order of their registration."""
        return [name for name, agent in self._agents.items() if not agent.free_resources.is_empty]

    @property
    def clients(self) -> list[Client]:
        """Every framework in each of its active roles, in the order of subscription."""
        return list(self._records)

    def free(self, agent: AgentId) -> Resources:
        """Return the resources of an agent that are neither used nor offered."""
        return self._agents[agent].free_resources.resources

    def offer(self, agent: AgentId, client: Client) -> Resources:
        """Offer a client everything that it may have of an agent, and return that; it may be empty."""
        found, record = self._agents[agent], self._records[client]
        if found.free_resources.is_empty:
            return Resources()
        offerable = self._run.offerable(found, record)
        if offerable is None:
            return Resources()
        part = offerable.full
        if record.role.allowance is not None or self._run.unmet_guarantees:
            bounded = fair_part(self._run, offerable, record.role.allowance)
            if bounded is None or not bounded.is_allocatable or is_refused(found, record, bounded):
                return Resources()
            part = bounded
        self._run.commit(found, record, part)
        return part.allocation.with_role


class SharingAllocator(HierarchicalAllocator):
    """Meets guarantees like Mesos, and shares out the rest as `share` decides."""

    def __init__(self, options: Options, master: Callbacks, now: float) -> None:
        self._master = master
        self._failure: Exception | None = None
        super().__init__(options, master, now, steps=_AfterBatch(self), share=self._share_out)

    @abstractmethod
    def share(self, run: SharingRun) -> None:
        """Offer what is free.  Called in each run."""

    def after_batch(self) -> None:
        """Called once in each allocation interval, after its run; revoke resources here."""

    def clients(self) -> list[Client]:
        """Return every framework in each of its active roles."""
        return list(_clients(self.state))

    def free(self, agent: AgentId) -> Resources:
        """Return the resources of an agent that are neither used nor offered. Raises KeyError."""
        return self.state.agents[agent].free_resources.resources

    def holdings(self) -> Mapping[AgentId, Sequence[Holding]]:
        """Return every unanswered offer and every task by agent, the oldest first."""
        return self._master.holdings()

    def revoke(self, revocations: Sequence[Revocation]) -> Sequence[Revocation]:
        """Revoke offers and tasks, and return those that a guarantee protects."""
        return self._master.revoke(revocations)

    def advance_to(self, now: float) -> None:
        """Do everything that is due up to `now`, then raise the error of `share` or `after_batch`, if any."""
        super().advance_to(now)
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def _share_out(self, run: Run, agents: list[AllocatorAgent]) -> None:
        # An aborted run would leave resources that are accounted for but offered to nobody.
        try:
            self.share(SharingRun(run, agents))
        except Exception as error:  # noqa: BLE001  # custom code; raised again by `advance_to`
            self._failure = self._failure or error

    def play_after_batch(self) -> None:
        """Call `after_batch`, and keep its error for `advance_to`."""
        try:
            self.after_batch()
        except Exception as error:  # noqa: BLE001  # as above
            self._failure = self._failure or error


class _AfterBatch(RunSteps):
    def __init__(self, allocator: SharingAllocator) -> None:
        self._allocator = allocator

    def after_batch(self) -> None:
        self._allocator.play_after_batch()


def _clients(state: State) -> dict[Client, AllocatorClient]:
    return {
        Client(framework.id, role): client
        for framework in state.frameworks.values()
        if framework.active
        for role, client in framework.clients.items()
        if client.subscribed and not client.suppressed
    }
