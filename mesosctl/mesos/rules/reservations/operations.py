"""The effect of operations on resources (Mesos documentation, "Reservation" and "Persistent Volumes").

An operation is one or more conversions: it replaces some entries of a collection with others. Amounts never change.
`rules` says when it is allowed.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from mesosctl.mesos.amounts.resource import Disk, Reservation, Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.amounts.values import value_is_empty
from mesosctl.mesos.errors import Conflict, RuleViolation
from mesosctl.mesos.rules.reservations.rules import (
    ALL_CAPABILITIES,
    Requester,
    check_agent,
    check_amount,
    check_operands,
    quoted,
    taken_of_nothing,
)
from mesosctl.mesos.rules.version_profile import MESOS_1_11, Profile


@dataclass(frozen=True, slots=True)
class Conversion:
    """One conversion: what it consumes and what it creates.

    If nothing is consumed, it only adds a further copy of a shared volume. `every_copy` means that no copy of the
    consumed entry may be left.
    """

    consumed: Resources
    converted: Resources
    every_copy: bool = False
    nothing: Resource | None = None
    """An entry of nothing in the place of what is consumed: something of its kind must be there."""

    def apply(self, to: Resources) -> Resources:
        """`to` after the conversion.  Raises Conflict if it does not contain what is consumed."""
        if not to.contains(self.consumed):
            raise Conflict(f"{to.in_words} does not contain {self.consumed.in_words}", rule="operation.contained")
        if self.nothing is not None and not any(entry.contains(self.nothing) for entry in to):
            raise Conflict(f"{to.in_words} has nothing like {self.nothing.in_words}", rule="operation.contained")
        left = to - self.consumed
        looked_for = self.consumed if self.nothing is None else (self.nothing,)
        kinds = {entry.kind for entry in looked_for} if self.every_copy else set()
        if any(entry.kind in kinds for entry in left):
            raise Conflict(f"{to.in_words} has further copies of {self.consumed.in_words}", rule="operation.last-copy")
        return left + self.converted


def apply_all(to: Resources, conversions: Iterable[Conversion]) -> Resources:
    """`to` after all conversions. Raises Conflict."""
    for conversion in conversions:
        to = conversion.apply(to)
    return to


def reserve(
    entries: Iterable[Resource], source: Iterable[Resource] | None = None, *, one_by_one: bool = False
) -> list[Conversion]:
    """From the stack below the top reservation, or from `source`, to `entries`: all at once, or `one_by_one`."""
    if one_by_one:
        return [conversion for entry in entries for conversion in reserve([entry])]
    resources = Resources(entries)
    return [Conversion(resources.pop_reservation() if source is None else Resources(source), resources)]


def looked_for(entries: Sequence[Resource], profile: Profile) -> Sequence[Resource]:
    """The entries that an UNRESERVE, CREATE or DESTROY converts: nothing is passed over, or else looked for too."""
    return entries if profile.looks_for_nothing else [entry for entry in entries if not value_is_empty(entry.value)]


def unreserve(resources: Iterable[Resource]) -> list[Conversion]:
    """From each entry to the stack below its top reservation, which a later one may use.

    Entries that overlap stay two: the second finds nothing.
    """
    return [_converted(entry, Resources([entry]).pop_reservation()) for entry in resources]


def _converted(entry: Resource, into: Resources, *, every_copy: bool = False) -> Conversion:
    """From one entry, which may be nothing."""
    nothing = entry if value_is_empty(entry.value) else None
    return Conversion(Resources([entry]), into, every_copy=every_copy, nothing=nothing)


def changed_levels(
    resources: Sequence[Resource], source: Sequence[Resource] | None = None
) -> tuple[list[Resource], list[Resource]]:
    """Return the levels that a RESERVE removes from the stacks of its source, and those that it adds.

    Each must be authorized. Without a source, it adds the resources themselves. With one, each level that only one of
    the two stacks has counts, from the top down or from the bottom up; the amounts do not matter.
    """
    if not source:
        return [], list(resources)
    before, after = source[0].reservations, resources[0].reservations
    common = len(common_bottom(before, after))
    removed = [Resource("any", 1, before[:depth]) for depth in range(len(before), common, -1)]
    return removed, [Resource("any", 1, after[: depth + 1]) for depth in range(common, len(after))]


def common_bottom(stack: Sequence[Reservation], other: Sequence[Reservation]) -> tuple[Reservation, ...]:
    """Return the levels that two stacks share, from the bottom up: a change of owner does not touch them."""
    shared = 0
    while shared < min(len(stack), len(other)) and stack[shared] == other[shared]:
        shared += 1
    return tuple(stack[:shared])


def create(volumes: Iterable[Resource]) -> list[Conversion]:
    """From plain disk to each volume."""
    return [_converted(plain_disk(volume), Resources([volume])) for volume in volumes]


def destroy(volumes: Iterable[Resource]) -> list[Conversion]:
    """From each volume to plain disk; its data is lost."""
    return [
        _converted(volume, Resources([plain_disk(volume)]), every_copy=volume.shared or not volume.is_persistent_volume)
        for volume in volumes
    ]


def grow(volume: Resource, addition: Resource) -> list[Conversion]:
    """From a volume and a free piece of the same disk to a larger volume."""
    grown = replace(volume, value=_amount(volume) + _amount(addition))
    return [Conversion(Resources([volume, addition]), Resources([grown]))]


def shrink(volume: Resource, subtract: int) -> list[Conversion]:
    """From a volume to a smaller one and a free piece of `subtract` thousandths."""
    left = replace(volume, value=_amount(volume) - subtract)
    freed = replace(plain_disk(volume), value=subtract)
    return [Conversion(Resources([volume]), Resources([left, freed]))]


def _amount(resource: Resource) -> int:
    assert isinstance(resource.value, int), "a disk is an amount"
    return resource.value


def check_create(
    volumes: Collection[Resource],
    requester: Requester,
    *,
    existing: Iterable[Resource] = (),
    agent_capabilities: Collection[str] = ALL_CAPABILITIES,
    profile: Profile = MESOS_1_11,
) -> None:
    """CREATE; `existing` are the agent's volumes.  Raises RuleViolation."""
    check_operands(volumes, "volumes", among=taken_of_nothing(profile), profile=profile)
    taken = {(volume.role, volume.disk.persistence_id) for volume in existing if volume.disk is not None}
    for index, volume in enumerate(volumes):
        field = f"volumes[{index}]"
        _check_volume(volume, field)
        assert volume.disk is not None
        identity = (volume.role, volume.disk.persistence_id)
        is_something = not value_is_empty(volume.value)  # nothing does not take an id
        if is_something and identity in taken:
            raise RuleViolation(
                f"persistence id '{volume.disk.persistence_id}' is not unique for role '{volume.role}' on this agent",
                field=f"{field}.disk.persistence.id",
                rule="create.unique-id",
            )
        if is_something:
            taken.add(identity)
        if volume.shared and not requester.may_share:
            raise RuleViolation(
                "a shared volume needs the framework capability SHARED_RESOURCES",
                field=f"{field}.shared",
                rule="create.shared",
            )
        if requester.principal is not None and volume.disk.principal != requester.principal:
            raise RuleViolation(
                f"a CREATE operation by principal '{requester.principal}' must name it in the volume, "
                f"which names {quoted(volume.disk.principal)}",
                field=f"{field}.disk.persistence.principal",
                rule="create.principal",
            )
        check_agent(volume, agent_capabilities, field)


def check_destroy(
    volumes: Collection[Resource],
    *,
    existing: Iterable[Resource],
    in_use: Iterable[Resource] = (),
    profile: Profile = MESOS_1_11,
) -> None:
    """DESTROY; `existing` are the agent's volumes, `in_use` those of its tasks.  Raises RuleViolation or Conflict.

    Whether a provider has the volume is left to the conversion.  Plain disk of no size beside volumes is a conflict.
    """
    is_plain_nothing = [
        profile.destroy_finds_each_alone and volume.disk is None and volume.name == "disk" and volume.value == 0
        for volume in volumes
    ]
    if any(is_plain_nothing) and not all(is_plain_nothing):
        rest = [volume for volume, is_plain in zip(volumes, is_plain_nothing, strict=True) if not is_plain]
        check_destroy(rest, existing=existing, in_use=in_use, profile=profile)
        raise Conflict("plain disk of no size is no volume", field="volumes", rule="destroy.exists")
    if profile.operates_on_nothing:
        volumes = [volume for volume in volumes if not value_is_empty(volume.value)]
    check_operands(volumes, "volumes", among=taken_of_nothing(profile), profile=profile)
    held = [replace(volume, allocation_role=None) for volume in existing]
    used = [replace(volume, allocation_role=None) for volume in in_use]
    for index, volume in enumerate(volumes):
        field = f"volumes[{index}]"
        _check_volume(volume, field)
        plain = replace(volume, allocation_role=None)
        present = next((present for present in held if present.contains(plain)), None)
        if present is not None and not profile.destroy_finds_each_alone:
            held.remove(present)
        is_looked_for = plain.provider_id is None or not profile.destroy_finds_each_alone
        if is_looked_for and present is None:
            raise RuleViolation("persistent volume not found", field=field, rule="destroy.exists")
        if any(present.kind == plain.kind for present in used):
            raise RuleViolation("persistent volume in use by a task", field=field, rule="destroy.unused")


def check_grow(volume: Resource, addition: Resource) -> None:
    """GROW_VOLUME: a volume and a free piece of the very same disk.  Raises RuleViolation.

    Whether the agent has both is left to the conversion, as for a reserve.  A volume of size zero is on every agent, so
    the addition alone becomes a volume.
    """
    _check_resizable(volume)
    check_amount(addition, "addition")
    if len(Resources([plain_disk(volume), addition])) > 1:
        raise RuleViolation(
            f"{addition.in_words} is not the same kind of disk as {volume.in_words}, or the volume is a whole disk",
            field="addition",
            rule="grow.same-kind",
        )


def check_shrink(volume: Resource, subtract: int) -> None:
    """SHRINK_VOLUME; `subtract` in thousandths of a MB.  Raises RuleViolation."""
    _check_resizable(volume)
    if volume.disk is not None and volume.disk.source is not None and volume.disk.source.type == "MOUNT":
        raise RuleViolation(
            "a volume on a MOUNT disk is the whole disk and cannot be resized",
            field="volume.disk.source",
            rule="resize.source",
        )
    if not isinstance(volume.value, int) or not 0 < subtract < volume.value:
        raise RuleViolation(
            "the amount to subtract must be above zero and smaller than the volume",
            field="subtract.value",
            rule="shrink.amount",
        )


def _check_resizable(volume: Resource) -> None:
    """Fewer rules than for new volumes: the conversion refuses what no agent has."""
    _check_volume(volume, "volume")
    if volume.shared:
        raise RuleViolation("a shared volume cannot be resized", field="volume.shared", rule="resize.shared")
    if volume.provider_id is not None:
        raise RuleViolation(
            "a volume of a resource provider cannot be resized", field="volume.provider_id", rule="resize.provider"
        )


def plain_disk(volume: Resource) -> Resource:
    """Return the plain disk of a volume: the same disk without the volume; its source stays."""
    source = volume.disk.source if volume.disk is not None else None
    return replace(volume, disk=Disk(source=source) if source is not None else None, shared=False, copies=1)


def _check_volume(volume: Resource, field: str) -> None:
    if volume.disk is None:
        raise RuleViolation(f"{volume.in_words} has no disk info", field=f"{field}.disk", rule="volume.disk")
    if not volume.is_persistent_volume:
        raise RuleViolation(
            f"{volume.in_words} is not a persistent volume", field=f"{field}.disk.persistence", rule="volume.id"
        )
    if volume.disk.container_path is None:
        raise RuleViolation(
            f"{volume.in_words} has no volume: a container path and a mode",
            field=f"{field}.disk.volume",
            rule="volume.container-path",
        )
    if volume.disk.mode != "RW":
        raise RuleViolation("a volume cannot be read-only", field=f"{field}.disk.volume.mode", rule="volume.mode")
