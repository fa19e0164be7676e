"""When persistent volumes may be created, destroyed and resized (spec/reservation.md §6)."""

from collections.abc import Collection, Iterable
from dataclasses import replace

from mesosctl.core import roles
from mesosctl.core.errors import RuleViolation
from mesosctl.core.reservation_rules import (
    ALL_CAPABILITIES,
    Requester,
    check_agent,
    check_allocation,
    check_amount,
    check_some,
    quoted,
)
from mesosctl.core.resource import Disk, Resource
from mesosctl.core.resources import Resources


def check_create(
    volumes: Collection[Resource],
    requester: Requester,
    *,
    existing: Iterable[Resource] = (),
    agent_capabilities: Collection[str] = ALL_CAPABILITIES,
) -> None:
    """CREATE; `existing` are the agent's volumes.  Raises RuleViolation."""
    check_some(volumes, "volumes")
    taken = {(volume.role, volume.disk.persistence_id) for volume in existing if volume.disk is not None}
    for index, volume in enumerate(volumes):
        field = f"volumes[{index}]"
        _check_volume(volume, field)
        assert volume.disk is not None
        identity = (volume.role, volume.disk.persistence_id)
        if identity in taken:
            raise RuleViolation(
                f"persistence id '{volume.disk.persistence_id}' is not unique for role '{volume.role}' on this agent",
                field=f"{field}.disk.persistence.id",
                rule="create.unique-id",
            )
        taken.add(identity)
        if volume.shared and not requester.may_share:
            raise RuleViolation(
                "a shared volume needs the framework capability SHARED_RESOURCES",
                field=f"{field}.shared",
                rule="create.shared",
            )
        if requester.principal is not None and volume.disk.principal != requester.principal:
            raise RuleViolation(
                f"a create by principal '{requester.principal}' must name it in the volume, "
                f"which names {quoted(volume.disk.principal)}",
                field=f"{field}.disk.persistence.principal",
                rule="create.principal",
            )
        if requester.framework_roles is None:  # a framework may use what is reserved for a role above its own
            check_allocation(volume, requester, field)
        check_agent(volume, agent_capabilities, field)


def check_destroy(
    volumes: Collection[Resource], *, existing: Iterable[Resource], in_use: Iterable[Resource] = ()
) -> None:
    """DESTROY; `existing` are the agent's volumes, `in_use` those of its tasks.  Raises RuleViolation."""
    check_some(volumes, "volumes")
    held = [replace(volume, allocation_role=None) for volume in existing]
    used = [replace(volume, allocation_role=None) for volume in in_use]
    for index, volume in enumerate(volumes):
        field = f"volumes[{index}]"
        _check_volume(volume, field)
        plain = replace(volume, allocation_role=None)
        if not any(present.contains(plain) for present in held):
            raise RuleViolation("persistent volume not found", field=field, rule="destroy.exists")
        if any(present.kind == plain.kind for present in used):
            raise RuleViolation("persistent volume in use by a task", field=field, rule="destroy.unused")


def check_grow(volume: Resource, addition: Resource) -> None:
    """GROW_VOLUME: a volume and a free piece of the very same disk.  Raises RuleViolation.

    Whether the agent has both is found out by the conversion, as for a reserve.
    """
    _check_resizable(volume)
    check_amount(addition, "addition")
    if len(Resources([plain_disk(volume), addition])) > 1:
        raise RuleViolation(
            f"{addition} is not of the same kind as what {volume} is made of",
            field="addition",
            rule="grow.same-kind",
        )


def check_shrink(volume: Resource, subtract: int) -> None:
    """SHRINK_VOLUME; `subtract` in thousandths of a MB.  Raises RuleViolation."""
    _check_resizable(volume)
    if not isinstance(volume.value, int) or not 0 < subtract < volume.value:
        raise RuleViolation(
            "what is taken off a volume must be above zero and smaller than the volume",
            field="subtract.value",
            rule="shrink.amount",
        )


def _check_resizable(volume: Resource) -> None:
    _check_volume(volume, "volume")
    if volume.shared:
        raise RuleViolation("a shared volume cannot be resized", field="volume.shared", rule="resize.shared")
    source = volume.disk.source if volume.disk is not None else None
    if source is not None and source.type != "PATH":
        raise RuleViolation(
            f"a volume on a {source.type} disk is the whole disk and cannot be resized",
            field="volume.disk.source",
            rule="resize.source",
        )


def plain_disk(volume: Resource) -> Resource:
    """What a volume is made of: the same disk without the volume; its source stays."""
    source = volume.disk.source if volume.disk is not None else None
    return replace(volume, disk=Disk(source=source) if source is not None else None, shared=False, copies=1)


def _check_volume(volume: Resource, field: str) -> None:
    if volume.disk is None:
        raise RuleViolation(f"{volume} has no disk info", field=f"{field}.disk", rule="volume.disk")
    if not volume.is_persistent_volume:
        raise RuleViolation(f"{volume} is no persistent volume", field=f"{field}.disk.persistence", rule="volume.id")
    if volume.disk.container_path is None:
        raise RuleViolation(
            f"{volume} has no volume: a container path and a mode",
            field=f"{field}.disk.volume",
            rule="volume.container-path",
        )
    if volume.disk.host_path is not None:
        raise RuleViolation(
            "a persistent volume cannot have a host path",
            field=f"{field}.disk.volume.host_path",
            rule="volume.host-path",
        )
    if volume.disk.mode != "RW":
        raise RuleViolation("a volume cannot be read-only", field=f"{field}.disk.volume.mode", rule="volume.mode")
    if not volume.is_reserved or volume.role == roles.DEFAULT_ROLE:
        raise RuleViolation(
            f"{volume} is unreserved; a volume needs a reservation",
            field=f"{field}.reservations",
            rule="volume.reserved",
        )
    if volume.revocable:
        raise RuleViolation(f"{volume} is revocable", field=f"{field}.revocable", rule="volume.not-revocable")
    check_amount(volume, field)
