"""The master: its services wired together, its clock, and the one transaction in which each change happens."""

import math
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from fake_master.allocator.interface import Callbacks
from fake_master.extensions.bundled_allocators import make_allocator
from fake_master.extensions.lending.rules import make_rules, make_runtime
from fake_master.extensions.revocation import Revoking
from fake_master.registry.interface import Registry, RegistryFailure, reading_records
from fake_master.services.agents.checkpointed_resources import CheckpointedResources
from fake_master.services.agents.checkpointed_tasks import CheckpointedTasks, TaskStore
from fake_master.services.agents.draining import Draining
from fake_master.services.agents.maintenance import Maintenance
from fake_master.services.agents.master_failover import Failover
from fake_master.services.agents.registered_agents import AgentRegistry
from fake_master.services.agents.registration import AgentRegistration, Oversubscription
from fake_master.services.agents.registry_garbage import RegistryGarbageCollection
from fake_master.services.agents.registry_records import AgentRecords
from fake_master.services.agents.removal import AgentRemoval
from fake_master.services.events import EventPublisher
from fake_master.services.launch import TaskLauncher
from fake_master.services.metrics import LoggingLevel, Metrics
from fake_master.services.offer_answers import OfferAnswers
from fake_master.services.offers import Offers
from fake_master.services.operation_updates import OperationUpdates
from fake_master.services.quota import Quotas, Weights
from fake_master.services.rate_limits import RateLimiting
from fake_master.services.rescinding import Rescinding
from fake_master.services.reservations import Reservations
from fake_master.services.subscriptions import Subscriptions
from fake_master.services.task_runner import TaskRunner
from fake_master.services.task_updates import TaskUpdates
from fake_master.state import clock as clock_state
from fake_master.state.clock import SteadyClock
from fake_master.state.flags import MasterFlags
from fake_master.state.master_state import Clock, MasterState
from fake_master.state.tasks import TaskOutcome
from mesosctl.mesos.amounts.notation import parse_duration
from mesosctl.mesos.rules.version_profile import Profile

_MOST_TO_CATCH_UP = 10.0
"""Seconds."""


class Master:
    """One leading master.

    Its lasting state is in the registry, from which the state in memory can be rebuilt at any time. `transaction` does
    so when a change could not be saved or another process made one. With `takes_over` it is a new leader with a new id;
    without, it continues as the master of the registry, like every command on a `fake:` address. Time passes only in
    `advance`: a request finds everything that was due before it done.
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
        self.registry = registry
        self.state = state = MasterState(
            profile=profile,
            flags=flags,
            clock=clock,
            address=address,
            task_outcome=task_outcome or TaskOutcome(),
            revocability=make_rules(flags),
        )
        # The allocator and the services that carry out its decisions need each other, so these are looked up late.
        self.allocator = allocator = make_allocator(
            state,
            Callbacks(
                offers=lambda *decision: self.offers.make(*decision),  # noqa: PLW0108
                inverse_offers=lambda *decision: self.offers.inverse.make(*decision),  # noqa: PLW0108
                holdings=lambda: self.revoking.holdings(),  # noqa: PLW0108
                revoke=lambda revocations: self.revoking.revoke(revocations),  # noqa: PLW0108
            ),
            lent_no_longer=lambda *decision: self.rescinding.for_lent_no_longer(*decision),  # noqa: PLW0108
        )
        # Each service knows those above it here, as far as it names them.
        self.events = events = EventPublisher(state)
        self.offers = offers = Offers(state, allocator, events)
        self.rescinding = rescinding = Rescinding(state, offers)
        self.logging_level = LoggingLevel(state)
        self.rate_limiting = RateLimiting(state, events, self.transaction)
        keeps = takes_over and registry.outlives_process
        self._store = store = CheckpointedTasks(state, registry, self.transaction) if keeps else TaskStore()
        self.task_updates = updates = TaskUpdates(state, events, store)
        self.task_runner = runner = TaskRunner(state, allocator, events, store, updates)
        self.runtime = runner.runtime = make_runtime(state, allocator, runner)
        self.run_times = allocator.run_times
        self.quotas = Quotas(state, registry, allocator, rescinding)
        self.metrics = Metrics(
            state, allocator.metrics, self.quotas.metrics, self.rate_limiting.metrics, runner.runtime.metrics
        )
        self.revoking = Revoking(state, offers, runner)
        self.subscriptions = Subscriptions(state, allocator, events, store, offers, self.rate_limiting, runner)
        self.checkpointed_resources = CheckpointedResources(state, registry, allocator, offers, self.transaction)
        self.operation_updates = OperationUpdates(state, events)
        self.reservations = Reservations(
            state, allocator, rescinding, self.checkpointed_resources, self.operation_updates
        )
        self.offer_answers = OfferAnswers(
            state,
            allocator,
            offers,
            TaskLauncher(state.access, allocator, updates, runner),
            self.checkpointed_resources,
            updates,
            self.operation_updates,
        )
        self.weights = Weights(state, registry, allocator, rescinding)
        self.maintenance = Maintenance(state, registry, allocator, offers)
        self.oversubscription = Oversubscription(state, allocator, offers)
        records = AgentRecords(state, registry, allocator, offers, self.transaction)
        self.agent_removal = AgentRemoval(state, allocator, events, store, offers, records, runner)
        self.agent_removal.on_operations_lost = self.operation_updates.agent_lost
        self.draining = Draining(state, records, self.agent_removal, runner)
        updates.on_done = self.draining.may_be_over
        self.failover = Failover(state, registry, allocator, store, records, self.agent_removal)
        registration = AgentRegistration(
            state, allocator, events, store, self.checkpointed_resources, self.subscriptions, runner
        )
        self.agent_registry = AgentRegistry(
            state, allocator, records, self.agent_removal, self.draining, self.failover, registration
        )
        self._is_stale = False
        """Whether the state in memory may differ from the registry."""
        state.id, state.start_time = clock_state.of_master(registry, state.now, anew=takes_over)
        self._load()
        if takes_over:
            self.failover.begin()
            RegistryGarbageCollection(state, records).begin()
            if state.flags.weights:
                with self.transaction():
                    self.weights.keep_flag()

    # --- Time -----------------------------------------------------------------------------------------

    @property
    def allocation_interval(self) -> float:
        """Seconds between two allocations."""
        return parse_duration(self.state.flags.shown["allocation_interval"])

    def advance(self) -> None:
        """Do everything that has become due by the clock, in order.

        What became due while the process or the machine was suspended is not made up for, because no request would be
        answered meanwhile.
        """
        clock = self.state.clock
        deadline, target = self.next_deadline(), clock()
        late = 0.0 if deadline is None else target - max(deadline, self.state.now)
        if late > _MOST_TO_CATCH_UP and isinstance(clock, SteadyClock):
            clock.lose(late - _MOST_TO_CATCH_UP)
            target = clock()
        while self.do_next(target):
            pass
        self._step(max(target, self.state.now))

    def do_next(self, until: float) -> bool:
        """Do what is due next, and everything else of that moment; return False if nothing is due up to `until`."""
        deadline = self.next_deadline()
        if deadline is None or deadline > until:
            return False
        self._step(max(deadline, self.state.now))
        return True

    def next_deadline(self) -> float | None:
        """When something is due next, in seconds since the epoch."""
        deadlines = (self.state.timers.next_deadline(), self.allocator.next_deadline())
        return min((at for at in deadlines if at is not None), default=None)

    def _step(self, now: float) -> None:
        if now > self.state.now:
            # An allocator that is quiet lets time pass it by: take it along before anything changes.
            self.allocator.advance_to(math.nextafter(now, -math.inf))
        self.state.now = now
        self.state.timers.run_due(now)
        self.allocator.advance_to(now)

    # --- Changes --------------------------------------------------------------------------------------

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """One change: kept before the caller goes on, or undone entirely.  Raises RegistryFailure."""
        try:
            with self.registry.transaction():
                self.refresh()
                self._store.begin()
                yield
                self._store.write()
            self._store.written()
        except BaseException:
            if self.registry.was_written:
                self._is_stale = True
                with suppress(RegistryFailure):  # the next request tries again, and gets the error
                    self.refresh()
            raise

    def refresh(self) -> None:
        """Take over what another process has changed in the same registry."""
        if self.registry.changed_elsewhere() or self._is_stale:
            self._is_stale = True
            self._load()
            self._is_stale = False

    def _load(self) -> None:
        """Read the lasting state again. Raises RegistryFailure for a record that no master wrote."""
        with reading_records():
            self.quotas.load()
            self.weights.load()
            self.maintenance.load()
            self.agent_registry.load()
            self.checkpointed_resources.load()

    # --- The process ----------------------------------------------------------------------------------

    def listens_on(self, port: int) -> None:
        """Take note of the port that requests come in on; the agents are in the same process and share it."""
        self.state.port = port
        for agent in self.state.known_agents.hosts.values():
            agent.port = port

    def close(self) -> None:
        """End: write pending changes, and close the registry."""
        self._store.close()
        self.registry.close()
