"""What every operation asks of the resources that it names, whoever sends it (spec/reservation.md §3)."""

from collections.abc import Collection

from mesosctl.core.errors import RuleViolation
from mesosctl.core.ids import id_error
from mesosctl.core.resource import Disk, Resource
from mesosctl.core.resources import Resources
from mesosctl.core.scalars import to_double
from mesosctl.core.values import value_is_empty, value_type

_WHOLE = 1000
"""Thousandths in one."""


def check_operands(resources: Collection[Resource], field: str) -> None:
    """One provider, whole GPUs, disks that may be, and no reservation of what is revocable.  Raises RuleViolation."""
    if not resources:
        raise RuleViolation(f"{field} is empty", field=field, rule="operation.empty")
    if len({resource.provider_id for resource in resources}) > 1:
        raise RuleViolation(
            "the resources have multiple resource providers", field=field, rule="operation.one-provider"
        )
    check_each(resources, field)


def check_each(resources: Collection[Resource], field: str) -> None:
    """The same, from as many providers as there are.  Raises RuleViolation."""
    check_gpus(resources, field)
    for index, resource in enumerate(resources):
        where = f"{field}[{index}]"
        check_amount(resource, where)
        if resource.disk is not None:
            _check_disk(resource, resource.disk, f"{where}.disk")
        if resource.is_dynamically_reserved and resource.revocable:
            raise RuleViolation(
                f"{resource} is revocable and cannot be reserved",
                field=f"{where}.revocable",
                rule="reserve.revocable",
            )


def check_gpus(resources: Collection[Resource], field: str) -> None:
    """Whole GPUs in all.  Raises RuleViolation."""
    # As Mesos asks it, of a double, and cut: 1.001 is whole, 1.002 is not.
    if int(to_double(Resources(resources).scalar_quantities().get_amount("gpus")) * 1000.0) % _WHOLE:
        raise RuleViolation("gpus come in whole numbers", field=field, rule="operation.whole-gpus")


def check_amount(resource: Resource, field: str) -> None:
    """An amount above zero, or at least one number or name.  Raises RuleViolation.

    A real master answers 202 to an operation on nothing and then dies on it.
    """
    if value_is_empty(resource.value):
        kind = value_type(resource.value).lower()
        raise RuleViolation(
            f"{resource.name} is {'zero' if kind == 'scalar' else 'empty'}: there is nothing to deal in",
            field=f"{field}.scalar.value" if kind == "scalar" else f"{field}.{kind}",
            rule="operation.above-zero",
            hint=f"leave {resource.name} out",
        )


def _check_disk(resource: Resource, disk: Disk, field: str) -> None:
    """What disk info may say.  Raises RuleViolation."""
    if disk.persistence_id is None:
        if disk.container_path is not None:
            raise RuleViolation(
                f"{resource} has a path and no persistence id: there are no other volumes",
                field=f"{field}.volume",
                rule="volume.id",
            )
        if disk.source is None:
            raise RuleViolation(f"{field} says nothing", field=field, rule="volume.disk")
        return
    if resource.revocable:
        raise RuleViolation(f"{resource} is revocable", field=f"{field}.persistence", rule="volume.not-revocable")
    if not resource.is_reserved:
        raise RuleViolation(
            f"{resource} is unreserved; a volume needs a reservation",
            field=f"{field}.persistence",
            rule="volume.reserved",
        )
    if disk.container_path is None:
        raise RuleViolation(
            f"{resource} has no volume: a container path and a mode",
            field=f"{field}.volume",
            rule="volume.container-path",
        )
    if disk.host_path is not None:
        raise RuleViolation(
            "a persistent volume cannot have a host path", field=f"{field}.volume.host_path", rule="volume.host-path"
        )
    problem = id_error(disk.persistence_id)
    if problem is not None:
        raise RuleViolation(
            f"the persistence id becomes the name of a folder: {problem}",
            field=f"{field}.persistence.id",
            rule="volume.id-characters",
        )
