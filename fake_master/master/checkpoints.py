"""What agents keep across restarts: dynamic reservations and volumes (spec/reservation.md §6).

The master's word (202) and the agent's deed are two things: a message goes from one to the other,
and it may be late or never arrive.  Only what has arrived is kept, in the registry's records of
kind "checkpoint", by what sets one agent apart: its hostname, or its id where several may share that.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fake_master.master.agents import Agent
from fake_master.master.registry import UnreadableRegistry
from mesosctl.core import operations
from mesosctl.core.errors import Conflict, RuleViolation
from mesosctl.core.operations import Conversion
from mesosctl.core.resource import Resource
from mesosctl.core.resources import Resources
from mesosctl.wire.messages import read
from mesosctl.wire.resources import RESOURCE, list_to_json, to_core

if TYPE_CHECKING:
    from fake_master.master.master import Master

KIND = "checkpoint"


class DoesNotFit(Exception):
    """An agent was started with less than it has promised; it refuses to start."""


class Checkpoints:
    """The agents' side of every operation."""

    def __init__(self, master: "Master") -> None:
        self._master = master

    def restored(self, agent: Agent, configured: Resources) -> Resources:
        """`configured` with what the agent had checkpointed in place.  Raises DoesNotFit, RegistryFailure."""
        try:
            kept = _read(self._master.registry.record(KIND, agent.checkpoint_key) or ())
        except (ValueError, TypeError, RuleViolation) as error:
            raise UnreadableRegistry(f"what agent {agent.hostname} has checkpointed cannot be read: {error}") from error
        base = Resources(configured_form(resource) for resource in kept)
        if not configured.contains(base):
            raise DoesNotFit(f"agent {agent.hostname} has checkpointed {kept}, which does not fit into {configured}")
        return configured - base + kept

    def restart(self, agent: Agent, configured: Resources) -> None:
        """The agent was started anew with other --resources.

        Raises DoesNotFit where it refuses to start; it is disconnected then, and nothing of it is offered.
        """
        allocator = self._master.allocator
        try:
            restored = self.restored(agent, configured)
        except DoesNotFit:
            agent.connected = False
            allocator.deactivate_agent(agent.id)
            self._rescind(agent)
            raise
        agent.configured = configured
        if not agent.connected:
            agent.connected = True
            allocator.activate_agent(agent.id)
        self.came_back(agent, restored)

    def came_back(self, agent: Agent, resources: Resources) -> None:
        """An agent registered again: what it says it has is what it has."""
        agent.total = agent.applied = resources
        self._rescind(agent)
        self._master.allocator.update_agent(agent.allocator_info(), agent.whole)

    def _rescind(self, agent: Agent) -> None:
        for offer in self._master.offers.on_agent(agent.id):
            self._master.offers.rescind(offer)

    def tell(self, agent: Agent, conversions: Sequence[Conversion]) -> None:
        """Send an accepted operation on its way to the agent.  Inside a transaction."""
        faults = agent.faults
        if faults.loses:
            faults.loses -= faults.loses > 0
        elif faults.delay:
            master = self._master
            master.timers.at(master.now + faults.delay, lambda: self._arrive_late(agent, conversions))
        else:
            self._arrive(agent, conversions)

    def _arrive_late(self, agent: Agent, conversions: Sequence[Conversion]) -> None:
        with self._master.transaction():
            self._arrive(agent, conversions)

    def _arrive(self, agent: Agent, conversions: Sequence[Conversion]) -> None:
        """The agent applies it and checkpoints; where it cannot, it registers again with what it has."""
        try:
            agent.applied = operations.apply_all(agent.applied, conversions)
        except Conflict:
            self.came_back(agent, agent.applied)
            return
        kept = [entry for entry in agent.applied if entry.is_dynamically_reserved or entry.is_persistent_volume]
        self._master.registry.write(KIND, agent.checkpoint_key, list_to_json(kept, "POST") or None)


def _read(messages: Sequence[Mapping[str, Any]]) -> Resources:
    return Resources(to_core(read(RESOURCE, message)) for message in messages)


def configured_form(resource: Resource) -> Resource:
    """What a checkpointed resource is in the agent's own configuration: static reservations stay."""
    if not resource.reservations and resource.disk is None and not resource.shared:
        return resource  # as most are: one value for what is configured and what there is
    static = resource.reservations[:1] if resource.is_statically_reserved else ()
    disk = replace(resource.disk, persistence_id=None) if resource.disk and resource.disk.source else None
    return replace(resource, reservations=static, disk=disk, shared=False, copies=1)
