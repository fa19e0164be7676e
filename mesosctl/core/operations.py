"""What an operation does to resources, and when it may be done (spec/reservation.md §4 and §6).

An operation is one or more conversions: something is taken out of a collection and something else
is put in its place.  Amounts never change.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from mesosctl.core import roles
from mesosctl.core.errors import Conflict, RuleViolation
from mesosctl.core.resources import Disk, Reservation, Resource, Resources


@dataclass(frozen=True, slots=True)
class Conversion:
    """One step: what it takes away and what it puts in its place.

    With nothing consumed it only adds (a further copy of a shared volume).
    """

    consumed: Resources
    converted: Resources

    def apply(self, to: Resources) -> Resources:
        """`to` with the step done.  Raises Conflict where it does not contain what is consumed."""
        if not to.contains(self.consumed):
            raise Conflict(f"{to} does not contain {self.consumed}", rule="operation.contained")
        return to - self.consumed + self.converted


def apply_all(to: Resources, conversions: Iterable[Conversion]) -> Resources:
    """Every step in turn.  Raises Conflict."""
    for conversion in conversions:
        to = conversion.apply(to)
    return to


def reserve(resources: Resources, source: Resources | None = None) -> list[Conversion]:
    """From what lies below the top reservation, or from `source`, to `resources`."""
    return [Conversion(resources.pop_reservation() if source is None else source, resources)]


def unreserve(resources: Resources) -> list[Conversion]:
    """From `resources` to what lies below their top reservation."""
    return [Conversion(resources, resources.pop_reservation())]


def create(volumes: Resources) -> list[Conversion]:
    """From plain disk to each volume."""
    return [Conversion(Resources([_plain_disk(volume)]), Resources([volume])) for volume in volumes]


def destroy(volumes: Resources) -> list[Conversion]:
    """From each volume to plain disk; what it held is gone."""
    return [Conversion(Resources([volume]), Resources([_plain_disk(volume)])) for volume in volumes]


def grow(volume: Resource, addition: Resource) -> list[Conversion]:
    """From a volume and a free piece of the same disk to a larger volume."""
    grown = replace(volume, value=_amount(volume) + _amount(addition))
    return [Conversion(Resources([volume, addition]), Resources([grown]))]


def shrink(volume: Resource, subtract: int) -> list[Conversion]:
    """From a volume to a smaller one and a free piece of `subtract` thousandths."""
    left = replace(volume, value=_amount(volume) - subtract)
    freed = replace(_plain_disk(volume), value=subtract)
    return [Conversion(Resources([volume]), Resources([left, freed]))]


def _amount(resource: Resource) -> int:
    assert isinstance(resource.value, int), "a disk is an amount"
    return resource.value


def _plain_disk(volume: Resource) -> Resource:
    """What a volume is made of: the same disk without the volume; its source stays."""
    source = volume.disk.source if volume.disk is not None else None
    return replace(volume, disk=Disk(source=source) if source is not None else None, shared=False, copies=1)


# --- Rules ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Requester:
    """Who asks for an operation.

    `principal` None means that nobody is known by name.  For a framework, `framework_roles` are
    its roles and `offer_role` the role of the offer; an operator has neither.
    """

    principal: str | None = None
    framework_roles: frozenset[str] | None = None
    offer_role: str | None = None
    may_share: bool = True


ALL_CAPABILITIES: frozenset[str] = frozenset({"HIERARCHICAL_ROLE", "RESERVATION_REFINEMENT"})


def check_reserve(
    resources: Collection[Resource],
    requester: Requester,
    *,
    source: Collection[Resource] | None = None,
    agent_capabilities: Collection[str] = ALL_CAPABILITIES,
) -> None:
    """RESERVE.  Raises RuleViolation naming the entry and the rule."""
    _check_some(resources, "resources")
    if source is not None:
        _check_rereservation(resources, source)
    for index, resource in enumerate(resources):
        field = f"resources[{index}]"
        _check_amount(resource, field)
        if not resource.is_dynamically_reserved:
            raise RuleViolation(
                f"{resource} is not dynamically reserved: its last reservation must be DYNAMIC",
                field=f"{field}.reservations",
                rule="reserve.dynamic",
            )
        if resource.revocable:
            raise RuleViolation(
                f"{resource} is revocable and cannot be reserved", field=f"{field}.revocable", rule="reserve.revocable"
            )
        if resource.is_persistent_volume:
            raise RuleViolation(
                f"{resource} is a volume; reserve the disk first, then create the volume",
                field=f"{field}.disk",
                rule="reserve.no-volume",
            )
        _check_principal(resource.reservations[-1], requester, field)
        _check_allocation(resource, requester, field)
        _check_agent(resource, agent_capabilities, field)


def check_unreserve(resources: Collection[Resource], requester: Requester) -> None:
    """UNRESERVE.  Raises RuleViolation; who may undo whose reservation is not decided here."""
    _check_some(resources, "resources")
    for index, resource in enumerate(resources):
        field = f"resources[{index}]"
        _check_amount(resource, field)
        if not resource.is_dynamically_reserved:
            raise RuleViolation(
                f"{resource} is not dynamically reserved: a static reservation belongs to its agent's configuration",
                field=f"{field}.reservations",
                rule="unreserve.dynamic",
            )
        if resource.is_persistent_volume:
            raise RuleViolation(
                f"{resource} is a persistent volume; destroy it first, then unreserve the disk",
                field=f"{field}.disk",
                rule="unreserve.no-volume",
            )
        if requester.framework_roles is None and resource.allocation_role is not None:
            raise _allocated(resource, field)


def check_create(
    volumes: Collection[Resource],
    requester: Requester,
    *,
    existing: Iterable[Resource] = (),
    agent_capabilities: Collection[str] = ALL_CAPABILITIES,
) -> None:
    """CREATE; `existing` are the agent's volumes.  Raises RuleViolation."""
    _check_some(volumes, "volumes")
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
                f"which names {_quoted(volume.disk.principal)}",
                field=f"{field}.disk.persistence.principal",
                rule="create.principal",
            )
        _check_allocation(volume, requester, field)
        _check_agent(volume, agent_capabilities, field)


def check_destroy(
    volumes: Collection[Resource], *, existing: Iterable[Resource], in_use: Iterable[Resource] = ()
) -> None:
    """DESTROY; `existing` are the agent's volumes, `in_use` those of its tasks.  Raises RuleViolation."""
    _check_some(volumes, "volumes")
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


def _check_some(resources: Collection[Resource], field: str) -> None:
    if not resources:
        raise RuleViolation(f"{field} is empty", field=field, rule="operation.empty")
    if len({resource.provider_id for resource in resources}) > 1:
        raise RuleViolation(
            "the resources have multiple resource providers", field=field, rule="operation.one-provider"
        )


def _check_amount(resource: Resource, field: str) -> None:
    """A real master answers 202 to a zero and then dies on it (spec/crashers.md)."""
    if isinstance(resource.value, int) and resource.value <= 0:
        raise RuleViolation(f"{resource.name} is zero", field=f"{field}.scalar.value", rule="operation.above-zero")


def _check_principal(reservation: Reservation, requester: Requester, field: str) -> None:
    if requester.principal is None or reservation.principal == requester.principal:
        return
    raise RuleViolation(
        f"a reserve by principal '{requester.principal}' must name it in the reservation, "
        f"which names {_quoted(reservation.principal)}",
        field=f"{field}.reservations[-1].principal",
        rule="reserve.principal",
    )


def _quoted(principal: str | None) -> str:
    return "none" if principal is None else f"'{principal}'"


def _check_allocation(resource: Resource, requester: Requester, field: str) -> None:
    if requester.framework_roles is None:
        if resource.allocation_role is not None:
            raise _allocated(resource, field)
        return
    role = resource.allocation_role or requester.offer_role
    if resource.role != role or resource.role not in requester.framework_roles:
        raise RuleViolation(
            f"{resource.name} is for role '{resource.role}', the offer is for '{role}'",
            field=f"{field}.reservations[-1].role",
            rule="reserve.offer-role",
        )


def _allocated(resource: Resource, field: str) -> RuleViolation:
    return RuleViolation(
        f"{resource} is allocated; an operator deals in unallocated resources only",
        field=f"{field}.allocation_info",
        rule="operation.unallocated",
    )


def _check_agent(resource: Resource, capabilities: Collection[str], field: str) -> None:
    if "/" in resource.role and "HIERARCHICAL_ROLE" not in capabilities:
        raise RuleViolation(
            f"role '{resource.role}' needs an agent with HIERARCHICAL_ROLE", field=field, rule="agent.hierarchical"
        )
    if resource.is_refined and "RESERVATION_REFINEMENT" not in capabilities:
        raise RuleViolation(
            f"{resource.name} is refined, which needs an agent with RESERVATION_REFINEMENT",
            field=field,
            rule="agent.refinement",
        )


def _check_rereservation(resources: Collection[Resource], source: Collection[Resource]) -> None:
    """From one stack to another over the same amounts."""
    _check_some(source, "source")
    for field, entries in (("source", source), ("resources", resources)):
        if len({entry.reservations for entry in entries}) > 1:
            raise RuleViolation("mixed reservations are not supported", field=field, rule="reserve.one-stack")
    before, after = Resources(source).to_unreserved(), Resources(resources).to_unreserved()
    if before != after:
        raise RuleViolation(
            f"source and resources are not the same amounts: {before} and {after}",
            field="source",
            rule="reserve.same-amounts",
        )


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
    _check_amount(volume, field)
