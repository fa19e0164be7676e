"""The agents' side of every operation: what an agent has applied and checkpointed, in the registry of the fake master.

Sources: Mesos documentation, "Reservation" and "Persistent Volumes".
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from fake_master.allocator.interface import Allocator
from fake_master.registry.interface import Registry, Transaction, UnreadableRegistry
from fake_master.services.offers import Offers
from fake_master.services.operation_updates import Arrival
from fake_master.state.agents import KnownAgent
from fake_master.state.master_state import MasterState
from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.errors import Conflict, RuleViolation
from mesosctl.mesos.messages.protobuf_json.messages import read
from mesosctl.mesos.messages.resources import RESOURCE, list_to_json, to_model
from mesosctl.mesos.rules.reservations import operations
from mesosctl.mesos.rules.reservations.operations import Conversion, plain_disk

CHECKPOINT_KIND = "checkpoint"


class DoesNotFit(Exception):
    """An agent was started with less than it has promised; it refuses to start."""


class CheckpointedResources:
    """Keeps the resources that agents have checkpointed, and applies operations to them."""

    def __init__(
        self, state: MasterState, registry: Registry, allocator: Allocator, offers: Offers, transaction: Transaction
    ) -> None:
        self._state = state
        self._registry = registry
        self._allocator = allocator
        self._offers = offers
        self._transaction = transaction
        self._just_written: dict[str, Resources] = {}

    def just_written(self, checkpoints: Mapping[str, Iterable[Resource]]) -> None:
        """Take note, by key, of what the registry of this process has been given: to read it back takes long."""
        self._just_written = {key: Resources(entries) for key, entries in checkpoints.items()}

    def load(self) -> None:
        """Apply the registry to every registered agent."""
        for agent in list(self._state.agents.values()):
            restored = self.restored(agent, agent.configured)
            if restored != agent.total:
                self.came_back(agent, restored)

    def restored(self, agent: KnownAgent, configured: Resources) -> Resources:
        """`configured` with the checkpointed resources of the agent.  Raises DoesNotFit, RegistryFailure."""
        kept = self._just_written.pop(agent.checkpoint_key, None) or self._read_of(agent)
        if not kept:
            return configured
        base = Resources(configured_form(resource) for resource in kept)
        if not configured.contains(base):
            raise DoesNotFit(f"agent {agent.hostname} has checkpointed {kept}, which does not fit into {configured}")
        return configured - base + kept

    def _read_of(self, agent: KnownAgent) -> Resources:
        try:
            messages = self._registry.record(CHECKPOINT_KIND, agent.checkpoint_key) or ()
            return Resources(to_model(read(RESOURCE, message)) for message in messages)
        except (ValueError, TypeError, RuleViolation) as error:
            raise UnreadableRegistry(
                f"the checkpointed resources of agent {agent.hostname} cannot be read: {error}"
            ) from error

    def restart(self, agent: KnownAgent, configured: Resources) -> None:
        """Restart the agent with other --resources.

        Raises DoesNotFit if it refuses to start; then it is disconnected, and nothing of it is offered.
        """
        try:
            restored = self.restored(agent, configured)
        except DoesNotFit:
            agent.connected = False
            self._allocator.deactivate_agent(agent.id)
            self._offers.rescind_on(agent.id)
            raise
        agent.configured = configured
        if not agent.connected:
            agent.connected = True
            self._allocator.activate_agent(agent.id)
        self.came_back(agent, restored)

    def came_back(self, agent: KnownAgent, resources: Resources) -> None:
        """Take over the resources of an agent that registered again."""
        self._state.track_reservations(agent.total, resources)
        agent.total = agent.applied = resources
        self._offers.rescind_on(agent.id)
        self._allocator.update_agent(agent.allocator_info(), agent.whole)

    def check(self, agent: KnownAgent, conversions: Sequence[Conversion]) -> None:
        """Refuse an operation that would end a real master of this release.  Raises RuleViolation."""
        tracked = self._state.tracked_reservations
        if tracked is None:
            return
        try:
            total = operations.apply_all(agent.total, conversions)
        except Conflict:
            return  # it will not be done
        if tracked.would_end(agent.total, total):
            raise RuleViolation(
                "the operation would end a real master: its allocator has forgotten a role for which agent "
                f"{agent.id} has no amount reserved",
                rule="operation.role-forgotten",
            )

    def convert(self, agent: KnownAgent, conversions: Sequence[Conversion], arrived: Arrival) -> None:
        """Make an accepted operation true of the agent at once, and send it on its way there.  Inside a transaction."""
        before = agent.total
        agent.total = operations.apply_all(agent.total, conversions)
        self._state.track_reservations(before, agent.total)
        message = _Message(conversions, agent.total, arrived)
        faults = agent.faults
        if faults.loses:
            if faults.loses > 0:  # a negative number loses every message
                faults.loses -= 1
        elif faults.delay:
            self._state.timers.at(self._state.now + faults.delay, lambda: self._arrive_late(agent, message))
        else:
            self._arrive(agent, message)

    def _arrive_late(self, agent: KnownAgent, message: "_Message") -> None:
        with self._transaction():
            if self._state.agents.get(agent.id) is agent:
                self._arrive(agent, message)

    def _arrive(self, agent: KnownAgent, message: "_Message") -> None:
        """The agent applies it and checkpoints; if it cannot, it registers again with what it has."""
        try:
            agent.applied = self._applied(agent, message)
        except Conflict:
            self.came_back(agent, agent.applied)
            message.arrived(applied=False)
            return
        kept = [entry for entry in agent.applied if entry.is_dynamically_reserved or entry.is_persistent_volume]
        self._registry.write(CHECKPOINT_KIND, agent.checkpoint_key, list_to_json(kept, "POST") or None)
        message.arrived(applied=True)

    def _applied(self, agent: KnownAgent, message: "_Message") -> Resources:
        """Return the agent's resources after a message.  Raises Conflict."""
        if self._state.profile.sends_whole_checkpoint:
            return message.total
        return operations.apply_all(agent.applied, message.conversions)


@dataclass(frozen=True, slots=True)
class _Message:
    """An operation on its way to the agent."""

    conversions: Sequence[Conversion]
    total: Resources
    """The agent's resources after it, as the master knows them."""
    arrived: Arrival


def configured_form(resource: Resource) -> Resource:
    """Return a checkpointed resource as the agent's own configuration has it: static reservations stay."""
    static = resource.reservations[:1] if resource.is_statically_reserved else ()
    if len(static) == len(resource.reservations) and resource.disk is None and not resource.shared:
        return resource  # like most agents: one value for configured and present resources
    return replace(plain_disk(resource), reservations=static)
