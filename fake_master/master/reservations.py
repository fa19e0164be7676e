"""Reserving and unreserving by an operator, and volumes (spec/reservation.md §5)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fake_master.allocator.interface import DEFAULT_REFUSE_SECONDS
from fake_master.master.agents import Agent
from mesosctl.core import operations
from mesosctl.core.errors import Conflict
from mesosctl.core.operations import Conversion
from mesosctl.core.reservation_rules import Requester, check_reserve, check_unreserve, common_bottom
from mesosctl.core.resource import Resource
from mesosctl.core.resources import Resources
from mesosctl.core.volume_rules import check_create, check_destroy, check_grow, check_shrink

if TYPE_CHECKING:
    from fake_master.master.master import Master


class Reservations:
    """Operator's operations upon an agent's resources."""

    def __init__(self, master: "Master") -> None:
        self._master = master

    def reserve(
        self, principal: str | None, agent: Agent, resources: Sequence[Resource], source: Sequence[Resource] | None
    ) -> None:
        """RESERVE.  Raises RuleViolation, Forbidden or Conflict."""
        check_reserve(resources, Requester(principal), source=source, agent_capabilities=agent.capabilities)
        self._may_rereserve(principal, resources, source)
        conversions = operations.reserve(Resources(resources), None if source is None else Resources(source))
        self._perform("RESERVE", agent, conversions)

    def unreserve(self, principal: str | None, agent: Agent, resources: Sequence[Resource]) -> None:
        """UNRESERVE.  Raises RuleViolation, Forbidden or Conflict."""
        check_unreserve(resources)
        self._master.access.may_unreserve(principal, resources)
        self._perform("UNRESERVE", agent, operations.unreserve(Resources(resources)))

    def create(self, principal: str | None, agent: Agent, volumes: Sequence[Resource]) -> None:
        """CREATE.  Raises RuleViolation, Forbidden or Conflict."""
        check_create(volumes, Requester(principal), existing=agent.volumes(), agent_capabilities=agent.capabilities)
        self._master.access.may_create(principal, volumes)
        self._perform("CREATE", agent, operations.create(Resources(volumes)))

    def destroy(self, principal: str | None, agent: Agent, volumes: Sequence[Resource]) -> None:
        """DESTROY.  Raises RuleViolation, Forbidden or Conflict."""
        check_destroy(volumes, existing=agent.volumes(), in_use=self._master.used_on(agent.id))
        self._master.access.may_destroy(principal, volumes)
        self._perform("DESTROY", agent, operations.destroy(Resources(volumes)))

    def grow(self, principal: str | None, agent: Agent, volume: Resource, addition: Resource) -> None:
        """GROW_VOLUME.  Raises RuleViolation, Forbidden or Conflict."""
        check_grow(volume, addition)
        self._master.access.may_resize(principal, volume)
        self._perform("GROW_VOLUME", agent, operations.grow(volume, addition))

    def shrink(self, principal: str | None, agent: Agent, volume: Resource, subtract: int) -> None:
        """SHRINK_VOLUME; `subtract` in thousandths.  Raises RuleViolation, Forbidden or Conflict."""
        check_shrink(volume, subtract)
        self._master.access.may_resize(principal, volume)
        self._perform("SHRINK_VOLUME", agent, operations.shrink(volume, subtract))

    def _may_rereserve(
        self, principal: str | None, resources: Sequence[Resource], source: Sequence[Resource] | None
    ) -> None:
        access = self._master.access
        if not source:
            access.may_reserve(principal, resources)
            return
        before, after = source[0].reservations, resources[0].reservations
        common = len(common_bottom(before, after))
        for depth in range(len(before), common, -1):
            access.may_unreserve(principal, [Resource("any", 1, before[:depth])])
        for depth in range(common, len(after)):
            access.may_reserve(principal, [Resource("any", 1, after[: depth + 1])])

    def _perform(self, kind: str, agent: Agent, conversions: Sequence[Conversion]) -> None:
        """Rescind what the operation needs, ask the allocator, and convert the agent.  Raises Conflict."""
        master = self._master
        self._rescind_for(agent, conversions)
        if not master.allocator.update_available(agent.id, conversions):
            free = agent.total - master.held_on(agent.id).allocated_to(None)
            # Says what is missing, or that it is offered or in use.
            operations.apply_all(free, conversions)
            raise Conflict(f"not available on agent {agent.id}", rule="operation.available")
        master.agent_was_converted(agent, conversions)
        master.operation_updates.done(kind)

    def _rescind_for(self, agent: Agent, conversions: Sequence[Conversion]) -> None:
        """Offers are searched first, even where free resources would do, as in Mesos."""
        required = Resources()
        for conversion in conversions:
            required += conversion.consumed
        recovered = Resources()
        for offer in self._master.offers.on_agent(agent.id):
            part = offer.resources.allocated_to(None)
            if required == required - part:
                continue
            self._master.offers.rescind(offer, DEFAULT_REFUSE_SECONDS)
            recovered += part
            required -= part
            try:
                operations.apply_all(recovered, conversions)
            except Conflict:
                continue
            return
