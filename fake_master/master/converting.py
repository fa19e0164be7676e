"""RESERVE, UNRESERVE, CREATE, DESTROY, GROW_VOLUME and SHRINK_VOLUME upon offers (spec/reservation.md §6.1)."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fake_master.master.ground import Ground, entries
from mesosctl.core import operations
from mesosctl.core.errors import RuleViolation
from mesosctl.core.operations import Conversion
from mesosctl.core.reservation_rules import Requester, check_reserve, check_unreserve
from mesosctl.core.resource import Resource
from mesosctl.core.resources import Resources
from mesosctl.core.scalars import to_milli
from mesosctl.core.volume_rules import check_create, check_destroy, check_grow, check_shrink

if TYPE_CHECKING:
    from fake_master.master.master import Master


# What these convert is not there for later operations of the same ACCEPT, and of what shrinking frees the
# master of Mesos 1.11.0 loses sight: it stays allocated to the framework until that is gone.
_RESIZES = ("GROW_VOLUME", "SHRINK_VOLUME")


def convert(master: "Master", ground: Ground, operation: Mapping[str, Any]) -> None:
    """Check, and convert the agent, the allocator and the ground.  Raises RuleViolation, Conflict, Forbidden."""
    conversions = _conversions(master, ground, operation)
    allocated = [
        Conversion(step.consumed.allocated_to(ground.role), step.converted.allocated_to(ground.role))
        for step in conversions
    ]
    left = operations.apply_all(ground.left, allocated)
    if operation["type"] in _RESIZES:
        (step,) = allocated
        left = ground.left - step.consumed
        ground.resized += step.converted.filter(lambda entry: entry.is_persistent_volume)
    master.allocator.update_allocation(ground.framework.id, ground.agent.id, ground.left, allocated)
    ground.left = left
    master.agent_was_converted(ground.agent, conversions)


def _conversions(master: "Master", ground: Ground, operation: Mapping[str, Any]) -> list[Conversion]:
    kind = operation["type"]
    if kind in ("CREATE_DISK", "DESTROY_DISK"):
        raise RuleViolation("'source' is not managed by a resource provider")
    body = operation.get(kind.lower())
    if body is None:
        raise RuleViolation(f"Expecting '{kind.lower()}' to be present")
    requester = Requester(
        principal=ground.framework.principal,
        framework_roles=ground.framework.roles,
        offer_role=ground.role,
        may_share="SHARED_RESOURCES" in ground.framework.capabilities,
    )
    principal = ground.framework.principal
    if kind in ("RESERVE", "UNRESERVE"):
        resources = _offered(body.get("resources", ()), ground)
        if kind == "UNRESERVE":
            check_unreserve(resources)
            master.access.may_unreserve(principal, resources)
            return operations.unreserve(_plain(resources))
        if body.get("source"):
            raise RuleViolation("Reservation updates are not yet implemented for the scheduler API.")
        check_reserve(resources, requester, agent_capabilities=ground.agent.capabilities)
        master.access.may_reserve(principal, resources)
        return operations.reserve(_plain(resources))
    if kind in ("CREATE", "DESTROY"):
        volumes = _offered(body.get("volumes", ()), ground)
        if kind == "CREATE":
            check_create(
                volumes, requester, existing=ground.agent.volumes(), agent_capabilities=ground.agent.capabilities
            )
            master.access.may_create(principal, volumes)
            return operations.create(_plain(volumes))
        check_destroy(volumes, existing=ground.agent.volumes(), in_use=master.used_on(ground.agent.id))
        master.access.may_destroy(principal, volumes)
        return operations.destroy(_plain(volumes))
    if kind == "GROW_VOLUME":
        volume, addition = _plain(_offered((body["volume"], body["addition"]), ground))
        check_grow(volume, addition)
        master.access.may_resize(principal, volume)
        return operations.grow(volume, addition)
    if kind == "SHRINK_VOLUME":
        (volume,) = _plain(_offered((body["volume"],), ground))
        subtract = to_milli(body["subtract"]["value"])
        check_shrink(volume, subtract)
        master.access.may_resize(principal, volume)
        return operations.shrink(volume, subtract)
    raise RuleViolation(f"Operation {kind} is not supported")


def _offered(messages: Sequence[Mapping[str, Any]], ground: Ground) -> list[Resource]:
    """What an operation names.  Raises RuleViolation where it is allocated to another role than the offer."""
    found = entries(messages, ground)
    for entry in found:
        if entry.allocation_role != ground.role:
            raise RuleViolation(f"{entry} is allocated to another role than the offer: '{ground.role}'")
    return found


def _plain(resources: Sequence[Resource]) -> Resources:
    return Resources(resources).allocated_to(None)
