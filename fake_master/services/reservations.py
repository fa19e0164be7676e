"""Reservations and volumes that operators make.

Sources: Mesos documentation, "Reservation" and "Persistent Volumes".
"""

from collections.abc import Sequence

from fake_master.allocator.interface import Allocator
from fake_master.services.agents.checkpointed_resources import CheckpointedResources
from fake_master.services.operation_updates import OperationUpdates
from fake_master.services.rescinding import Rescinding
from fake_master.state.agents import KnownAgent
from fake_master.state.master_state import MasterState
from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.errors import Conflict
from mesosctl.mesos.rules.reservations import operations
from mesosctl.mesos.rules.reservations.operations import (
    Conversion,
    check_create,
    check_destroy,
    check_grow,
    check_shrink,
    looked_for,
)
from mesosctl.mesos.rules.reservations.rules import Requester, check_reserve, check_unreserve


class Reservations:
    """Carries out the operations of operators on an agent's resources."""

    def __init__(
        self,
        state: MasterState,
        allocator: Allocator,
        rescinding: Rescinding,
        checkpointed_resources: CheckpointedResources,
        operation_updates: OperationUpdates,
    ) -> None:
        self._state = state
        self._allocator = allocator
        self._rescinding = rescinding
        self._checkpointed_resources = checkpointed_resources
        self._operation_updates = operation_updates

    def reserve(
        self, principal: str | None, agent: KnownAgent, resources: Sequence[Resource], source: Sequence[Resource] | None
    ) -> None:
        """RESERVE.  Raises RuleViolation, Forbidden or Conflict."""
        check_reserve(
            resources,
            Requester(principal),
            source=source,
            agent_capabilities=agent.capabilities,
            profile=self._state.profile,
        )
        removed, added = operations.changed_levels(resources, source)
        self._state.access.may_unreserve(principal, removed)
        self._state.access.may_reserve(principal, added)
        one_by_one = self._state.profile.reserves_one_by_one
        self._perform("RESERVE", agent, operations.reserve(resources, source, one_by_one=one_by_one))

    def unreserve(self, principal: str | None, agent: KnownAgent, resources: Sequence[Resource]) -> None:
        """UNRESERVE.  Raises RuleViolation, Forbidden or Conflict."""
        check_unreserve(resources, self._state.profile)
        self._state.access.may_unreserve(principal, resources)
        self._perform("UNRESERVE", agent, operations.unreserve(looked_for(resources, self._state.profile)))

    def create(self, principal: str | None, agent: KnownAgent, volumes: Sequence[Resource]) -> None:
        """CREATE.  Raises RuleViolation, Forbidden or Conflict."""
        check_create(
            volumes,
            Requester(principal),
            existing=agent.volumes(),
            agent_capabilities=agent.capabilities,
            profile=self._state.profile,
        )
        self._state.access.may_create(principal, volumes)
        self._perform("CREATE", agent, operations.create(looked_for(volumes, self._state.profile)))

    def destroy(self, principal: str | None, agent: KnownAgent, volumes: Sequence[Resource]) -> None:
        """DESTROY.  Raises RuleViolation, Forbidden or Conflict."""
        check_destroy(
            volumes, existing=agent.volumes(), in_use=self._state.used_on(agent.id), profile=self._state.profile
        )
        self._state.access.may_destroy(principal, volumes)
        self._perform("DESTROY", agent, operations.destroy(looked_for(volumes, self._state.profile)))

    def grow(self, principal: str | None, agent: KnownAgent, volume: Resource, addition: Resource) -> None:
        """GROW_VOLUME.  Raises RuleViolation, Forbidden or Conflict."""
        check_grow(volume, addition)
        self._state.access.may_resize(principal, volume)
        self._perform("GROW_VOLUME", agent, operations.grow(volume, addition))

    def shrink(self, principal: str | None, agent: KnownAgent, volume: Resource, subtract: int) -> None:
        """SHRINK_VOLUME; `subtract` in thousandths.  Raises RuleViolation, Forbidden or Conflict."""
        check_shrink(volume, subtract)
        self._state.access.may_resize(principal, volume)
        self._perform("SHRINK_VOLUME", agent, operations.shrink(volume, subtract))

    def _perform(self, kind: str, agent: KnownAgent, conversions: Sequence[Conversion]) -> None:
        """Rescind what the operation needs, ask the allocator, convert the agent.  Raises RuleViolation, Conflict."""
        self._checkpointed_resources.check(agent, conversions)
        self._rescinding.for_operation(agent, conversions)
        if not self._allocator.update_available(agent.id, conversions):
            free = agent.total - self._state.held_on(agent.id).allocated_to(None)
            # Its message says what is missing, or that it is offered, in use or in a volume.
            try:
                operations.apply_all(free, conversions)
            except Conflict as error:
                if volumes := _volumes_of(agent, conversions):
                    error.reword(f"{error.message}; it is part of volumes: {', '.join(volumes)}")
                raise
            raise Conflict(f"not available on agent {agent.id}", rule="operation.available")
        self._checkpointed_resources.convert(
            agent, conversions, lambda *, applied: self._operation_updates.done(kind, applied=applied)
        )


def _volumes_of(agent: KnownAgent, conversions: Sequence[Conversion]) -> list[str]:
    """The ids of volumes on disk with the owners of what plain disk is asked for."""
    asked = {
        entry.reservations
        for conversion in conversions
        for entry in conversion.consumed
        if entry.name == "disk" and not entry.is_persistent_volume
    }
    return [
        volume.disk.persistence_id
        for volume in agent.volumes()
        if volume.reservations in asked and volume.disk is not None and volume.disk.persistence_id is not None
    ]
