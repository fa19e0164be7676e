"""The master: agents, frameworks, quotas, weights, and the one transaction in which each change happens."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from fake_master.allocator.interface import Allocator
from fake_master.extensions import allocators
from fake_master.extensions.revocation_timers import Revoking
from fake_master.registry.interface import Registry, RegistryFailure, reading_records
from fake_master.services import descriptions
from fake_master.services.agents.failover import Failover
from fake_master.services.agents.maintenance import InverseOffers, Machines
from fake_master.services.agents.registry import AgentRegistry
from fake_master.services.agents.removal import AgentRemoval, Draining
from fake_master.services.events import EventPublisher
from fake_master.services.operation_updates import OperationUpdates
from fake_master.services.quota import Quotas, Weights
from fake_master.services.rate_limits import RateLimiting
from fake_master.services.reservations import Checkpoints, Reservations
from fake_master.services.subscriptions import Subscriptions
from fake_master.services.task_runner import TaskRunner
from fake_master.services.task_updates import TaskUpdates
from fake_master.state import clock as clock_state
from fake_master.state import roles
from fake_master.state.acls import Access
from fake_master.state.agents import Agent
from fake_master.state.clock import SteadyClock, Timers
from fake_master.state.flags import MasterFlags
from fake_master.state.frameworks import Framework
from fake_master.state.logging_level import LoggingLevel
from fake_master.state.offers import Offers
from fake_master.state.tasks import TaskOutcome
from mesosctl.model.profile import MESOS_1_11, Profile
from mesosctl.model.quantities import Quantities, Quota
from mesosctl.model.quota.capacity import capacity
from mesosctl.model.reservations import operations
from mesosctl.model.reservations.operations import Conversion
from mesosctl.model.resources import Resources
from mesosctl.model.text import parse_duration

if TYPE_CHECKING:
    from fake_master.extensions.revocable_tasks import RevocableTasks

Clock = Callable[[], float]
"""Seconds since the epoch, by which timers go: a SteadyClock, or a VirtualClock."""
_MOST_TO_CATCH_UP = 10.0
"""Seconds."""


class Master:
    """One leading master.

    Its lasting state is the registry's; what it holds in memory can be rebuilt from there at any
    time, which `transaction` does when a change could not be kept or another process made one.
    With `takes_over` it is a new leader, with an id of its own; without, it goes on as the master
    that the registry belongs to, as every command upon a `fake:` address does.
    Time passes only in `advance`: a request finds everything that was due before it done.
    """

    def __init__(
        self,
        *,
        profile: Profile,
        flags: MasterFlags,
        registry: Registry,
        clock: Clock,
        address: tuple[str, int],
        task_outcome: TaskOutcome | None = None,
        takes_over: bool = False,
    ) -> None:
        self.profile = profile
        self.flags = flags
        self.registry = registry
        self.clock = clock
        self.hostname, self.port = address
        self.task_outcome = task_outcome or TaskOutcome()
        self.now = clock()
        self.timers = Timers()
        self.counts: Counter[str] = Counter()
        """What is counted of no framework in particular, by its metric's name below `master/`."""
        self.agents: dict[str, Agent] = {}
        self.frameworks: dict[str, Framework] = {}
        self.access = Access(flags.authorizer)
        self.events = EventPublisher(self)
        self.offers = Offers(self)
        self.inverse_offers = InverseOffers(self)
        self.machines = Machines(self)
        self.agent_registry = AgentRegistry(self)
        self.failover = Failover(self)
        self.agent_removal = AgentRemoval(self)
        self.draining = Draining(self)
        self.rate_limiting = RateLimiting(self)
        self.subscriptions = Subscriptions(self)
        self.reservations = Reservations(self)
        self.checkpoints = Checkpoints(self)
        self.task_updates = TaskUpdates(self)
        self.task_runner = TaskRunner(self, self.task_updates)
        self.operation_updates = OperationUpdates(self)
        self.logging_level = LoggingLevel(self)
        self.quotas = Quotas(self)
        self.weights = Weights(self)
        self.revoking = Revoking(self)
        self.tenancy = self._tenancy()
        self.lending = allocators.make_lending(self)
        self.allocator: Allocator = self.lending or allocators.make(self)
        self.ended: str | None = None
        """Why this master has given up leading; whoever carries its requests sees to its end."""
        self._is_stale = False
        """Whether what is in memory may differ from the registry."""
        self.id, self.start_time = clock_state.of_master(registry, self.now, anew=takes_over)
        self._load()
        if takes_over:
            self.failover.begin()

    @property
    def lends(self) -> bool:
        """Whether idle reservations are lent; no Mesos does."""
        return self.flags.oversubscribe_reservations

    @property
    def pid(self) -> str:
        """The master as libprocess names it."""
        return f"master@{self.hostname}:{self.port}"

    @property
    def wall_time(self) -> float:
        """What is shown as the time at which something happened: seconds since the epoch."""
        return self.clock.wall() if isinstance(self.clock, SteadyClock) else self.now

    @property
    def allocation_interval(self) -> float:
        """Seconds between two allocations."""
        return parse_duration(self.flags.shown["allocation_interval"])

    # --- Time -----------------------------------------------------------------------------------------

    def advance(self) -> None:
        """Do everything that has become due by the clock, in order.

        What became due while the process was stopped or the machine asleep is not made up for: nobody would be
        answered meanwhile.
        """
        deadline, target = self.next_deadline(), self.clock()
        late = 0.0 if deadline is None else target - max(deadline, self.now)
        if late > _MOST_TO_CATCH_UP and isinstance(self.clock, SteadyClock):
            self.clock.lose(late - _MOST_TO_CATCH_UP)
            target = self.clock()
        while (deadline := self.next_deadline()) is not None and deadline <= target:
            self._step(max(deadline, self.now))
        self._step(max(target, self.now))

    def next_deadline(self) -> float | None:
        """When something is due next, in seconds since the epoch."""
        deadlines = [at for at in (self.timers.next_deadline(), self.allocator.next_deadline()) if at is not None]
        return min(deadlines, default=None)

    def _step(self, now: float) -> None:
        self.now = now
        self.timers.run_due(now)
        self.allocator.advance_to(now)

    # --- Changes --------------------------------------------------------------------------------------

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """One change: kept before the caller goes on, or undone entirely.  Raises RegistryFailure."""
        try:
            with self.registry.transaction():
                self.refresh()
                self.failover.memory.begin()
                yield
                self.failover.memory.write()
            self.failover.memory.written()
        except BaseException:
            if self.registry.was_written:
                self._is_stale = True
                with suppress(RegistryFailure):  # whoever asks next tries again, and is told
                    self.refresh()
            raise

    def refresh(self) -> None:
        """Take over what another process has changed in the same registry."""
        if self.registry.changed_elsewhere() or self._is_stale:
            self._is_stale = True
            self._load()
            self._is_stale = False

    def register(self, agent: Agent, used: Mapping[str, Resources] | None = None) -> None:
        """A new agent, or a known one that is back with what it had checkpointed, and what tasks use there.

        Raises DoesNotFit.
        """
        agent.total = agent.applied = self.checkpoints.restored(agent, agent.configured)
        self.agents[agent.id] = agent
        self.allocator.add_agent(agent.allocator_info(), agent.whole, used, unavailability=self.machines.span(agent))
        if not agent.active:
            self.allocator.deactivate_agent(agent.id)
        self.events.operators("AGENT_ADDED", {"agent": descriptions.agent(self, agent)})

    def agent_was_converted(self, agent: Agent, conversions: Sequence[Conversion]) -> None:
        """An operation was accepted: the master's view changes at once, the agent is told."""
        agent.total = operations.apply_all(agent.total, conversions)
        self.checkpoints.tell_agent(agent, conversions)

    def listens_on(self, port: int) -> None:
        """The port that requests came to be taken on; the agents are in the same process and share it."""
        self.port = port
        for agent in self.agent_registry.hosts.values():
            agent.port = port

    def close(self) -> None:
        """The process ends."""
        self.failover.memory.close()
        self.registry.close()

    # --- Figures --------------------------------------------------------------------------------------

    def capacity(self, *, newest_rule: bool = False) -> Quantities:
        """What quota may promise; UPDATE_QUOTA goes by the newest rule on every master."""
        return capacity((agent.capacity for agent in self.agents.values()), MESOS_1_11 if newest_rule else self.profile)

    def consumed(self, role: str) -> Quantities:
        """What counts against the limits of `role`: allocated, and reserved but idle where that counts."""
        return roles.Ledger(self).consumed(role)

    def used_on(self, agent_id: str) -> Resources:
        """What tasks and executors hold on an agent, allocation roles included."""
        return self.agents[agent_id].used

    def offered_on(self, agent_id: str) -> Resources:
        """What is offered of an agent, allocation roles included."""
        return Resources(entry for offer in self.offers.on_agent(agent_id) for entry in offer.resources)

    def allocation_slack(self, agent: Agent) -> Quantities | None:
        """An agent's idle reservations as of the last run, lent or not; None where nothing is ever lent."""
        return None if self.lending is None else self.lending.allocation_slack(agent.id)

    def held_on(self, agent_id: str) -> Resources:
        """What is used or offered of an agent."""
        return self.used_on(agent_id) + self.offered_on(agent_id)

    # --- Within ---------------------------------------------------------------------------------------

    def _tenancy(self) -> "RevocableTasks | None":
        """The agents' side of a master that lends."""
        if not self.lends:
            return None
        from fake_master.extensions.revocable_tasks import RevocableTasks

        return RevocableTasks(self)

    def _load(self) -> None:
        """Everything lasting anew.  Raises RegistryFailure for a record that this master did not write."""
        with reading_records():
            self._load_records()

    def _load_records(self) -> None:
        """Take over what the registry holds, and tell the allocator of each difference."""
        before = self.quotas.meanings()
        self.quotas.load()
        after = self.quotas.meanings()
        for role in before.keys() | after.keys():
            if before.get(role) != after.get(role):
                self.allocator.update_quota(role, after.get(role, Quota()))
        self.weights.load()
        self.allocator.update_weights(self.weights.configured)
        self.machines.load()
        self.agent_registry.load()
        for agent in list(self.agents.values()):
            restored = self.checkpoints.restored(agent, agent.configured)
            if restored != agent.total:
                self.checkpoints.came_back(agent, restored)
