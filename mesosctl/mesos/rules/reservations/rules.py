"""The rules for resources in an operation, for operators and frameworks (Mesos documentation, "Reservation")."""

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Literal, NamedTuple

from mesosctl.mesos import roles
from mesosctl.mesos.amounts.quantities import to_double
from mesosctl.mesos.amounts.resource import Reservation, Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.amounts.values import value_is_empty, value_type
from mesosctl.mesos.errors import RuleViolation
from mesosctl.mesos.roles import id_error
from mesosctl.mesos.rules.version_profile import MESOS_1_11, Profile

_WHOLE = 1000
"""Thousandths in one."""
Nothing = Literal["never", "beside something", "always"]
"""When entries of zero, of no ports and of no names are taken."""


def taken_of_nothing(profile: Profile) -> Nothing:
    """When UNRESERVE, CREATE and DESTROY take an entry of nothing."""
    return "always" if profile.operates_on_nothing else "never"


def check_operands(
    resources: Collection[Resource], field: str, *, among: Nothing = "never", profile: Profile = MESOS_1_11
) -> None:
    """One provider, whole GPUs, valid disks, and no reservation of revocable resources.  Raises RuleViolation.

    Each entry is something, unless nothing is taken `among` them.
    """
    if not resources and not profile.takes_no_entries:
        raise RuleViolation(f"{field} is empty", field=field, rule="operation.empty")
    if profile.operations_have_one_provider and len({resource.provider_id for resource in resources}) > 1:
        raise RuleViolation(
            "the resources have multiple resource providers", field=field, rule="operation.one-provider"
        )
    check_each(resources, field, among=among)


def check_each(resources: Collection[Resource], field: str, *, among: Nothing = "never") -> None:
    """The same, from any number of providers.  Raises RuleViolation."""
    check_gpus(resources, field)
    is_enough = among == "always" or (
        among == "beside something" and any(not value_is_empty(resource.value) for resource in resources)
    )
    for index, resource in enumerate(resources):
        where = f"{field}[{index}]"
        if not is_enough:
            check_amount(resource, where)
        check_disk(resource, f"{where}.disk")
        if resource.is_dynamically_reserved and resource.revocable:
            raise RuleViolation(
                f"{resource.in_words} is revocable and cannot be reserved",
                field=f"{where}.revocable",
                rule="reserve.revocable",
            )


def check_gpus(resources: Collection[Resource], field: str) -> None:
    """Whole GPUs in all.  Raises RuleViolation."""
    # Like Mesos, with a truncated double: 1.001 is whole, 1.002 is not.
    if int(to_double(Resources(resources).scalar_quantities().get_amount("gpus")) * 1000.0) % _WHOLE:
        raise RuleViolation("gpus come in whole numbers", field=field, rule="operation.whole-gpus")


def check_amount(resource: Resource, field: str) -> None:
    """An amount above zero, or at least one number or name.  Raises RuleViolation.

    A real master answers 202 to an operation on nothing, and then crashes.
    """
    if value_is_empty(resource.value):
        kind = value_type(resource.value).lower()
        raise RuleViolation(
            f"{resource.name} is {'zero, but must be above zero' if kind == 'scalar' else 'empty'}",
            field=f"{field}.scalar.value" if kind == "scalar" else f"{field}.{kind}",
            rule="operation.above-zero",
            hint=f"leave {resource.name} out",
        )


def check_disk(resource: Resource, field: str) -> None:
    """Check disk info, if there is any.  Raises RuleViolation."""
    disk = resource.disk
    if disk is None:
        return
    if disk.persistence_id is None:
        if disk.container_path is not None:
            raise RuleViolation(
                f"{resource.in_words} has a path but no persistence id; other volumes are not supported",
                field=f"{field}.volume",
                rule="volume.id",
            )
        if disk.source is None:
            raise RuleViolation(f"{field} is empty", field=field, rule="volume.disk")
        return
    if resource.revocable:
        raise RuleViolation(
            f"{resource.in_words} is revocable", field=f"{field}.persistence", rule="volume.not-revocable"
        )
    if not resource.is_reserved:
        raise RuleViolation(
            f"{resource.in_words} is unreserved; a volume needs a reservation",
            field=f"{field}.persistence",
            rule="volume.reserved",
        )
    if disk.container_path is None:
        raise RuleViolation(
            f"{resource.in_words} has no volume: a container path and a mode",
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
            f"the persistence id becomes the name of a directory: {problem}",
            field=f"{field}.persistence.id",
            rule="volume.id-characters",
        )


class Requester(NamedTuple):
    """The principal, or the framework, that sends an operation.

    `principal` None means that the principal is unknown.  For a framework, `framework_roles` are
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
    profile: Profile = MESOS_1_11,
) -> None:
    """RESERVE, which may pass over an entry of nothing beside others.  Raises RuleViolation naming entry and rule."""
    among = taken_of_nothing(profile)
    if among == "never" and profile.reserve_passes_over_nothing:
        among = "beside something"
    check_operands(resources, "resources", among=among, profile=profile)
    if source is not None:
        check_each(source, "source", among=among)
        _check_rereservation(resources, source)
    if not profile.reserves_one_by_one:  # or else the second finds nothing
        _check_nothing_twice(resources)
    for index, resource in enumerate(resources):
        field = f"resources[{index}]"
        if not resource.is_dynamically_reserved:
            raise RuleViolation(
                f"{resource.in_words} is not dynamically reserved: its last reservation must be DYNAMIC",
                field=f"{field}.reservations",
                rule="reserve.dynamic",
            )
        if resource.is_persistent_volume and not profile.reserves_volumes:
            raise RuleViolation(
                f"{resource.in_words} is a persistent volume, whose reservation this release does not refine",
                field=f"{field}.disk",
                rule="reserve.no-volume",
            )
        _check_principal(resource.reservations[-1], requester, field)
        _check_allocation(resource, requester, field)
        check_agent(resource, agent_capabilities, field)


def check_unreserve(resources: Collection[Resource], profile: Profile = MESOS_1_11) -> None:
    """UNRESERVE.  Raises RuleViolation; who may undo whose reservation is decided elsewhere."""
    check_operands(resources, "resources", among=taken_of_nothing(profile), profile=profile)
    for index, resource in enumerate(resources):
        field = f"resources[{index}]"
        if not resource.is_dynamically_reserved:
            raise RuleViolation(
                f"{resource.in_words} is not dynamically reserved: a static reservation belongs to "
                "its agent's configuration",
                field=f"{field}.reservations",
                rule="unreserve.dynamic",
            )
        if resource.is_persistent_volume:
            raise RuleViolation(
                f"{resource.in_words} is a persistent volume; destroy it first, then unreserve the disk",
                field=f"{field}.disk",
                rule="unreserve.no-volume",
            )


def refinement_problem(role: str, below: str) -> str | None:
    """Why a reservation for `below` cannot be refined for `role`; None if it can."""
    if roles.is_strict_subrole(role, below):
        return None
    return f"role '{role}' is not below '{below}': a refinement must go down the tree, but it may skip levels"


def reserved_role_problem(role: str) -> str | None:
    """Why nothing can be reserved for this role; None if it can."""
    return roles.role_error(role) or ("role '*' cannot be reserved" if role == roles.DEFAULT_ROLE else None)


def check_reservable(role: str, field: str) -> None:
    """Something can be reserved for this role.  Raises RuleViolation."""
    roles.check_role(role, field)
    problem = reserved_role_problem(role)
    if problem is not None:
        raise RuleViolation(problem, field=field, rule="reservation.role")


def check_stack(levels: Iterable[tuple[str, str]]) -> None:
    """(field, role) from the bottom up: each can be reserved for, and refines the one before it.

    Raises RuleViolation.
    """
    below = None
    for field, role in levels:
        check_reservable(role, field)
        problem = None if below is None else refinement_problem(role, below)
        if problem is not None:
            raise RuleViolation(problem, field=field, rule="reservation.refinement")
        below = role


def _check_principal(reservation: Reservation, requester: Requester, field: str) -> None:
    if requester.principal is None or reservation.principal == requester.principal:
        return
    raise RuleViolation(
        f"a RESERVE operation by principal '{requester.principal}' must name it in the reservation, "
        f"which names {quoted(reservation.principal)}",
        field=f"{field}.reservations[-1].principal",
        rule="reserve.principal",
    )


def quoted(principal: str | None) -> str:
    """A principal in a sentence; None means no principal."""
    return "none" if principal is None else f"'{principal}'"


def _check_allocation(resource: Resource, requester: Requester, field: str) -> None:
    """An operator's entry is unallocated, a framework's is for the role of its offer.  Raises RuleViolation."""
    if requester.framework_roles is None:
        if resource.allocation_role is not None:
            raise RuleViolation(
                f"{resource.in_words} is allocated; an operator can only reserve and unreserve what is not allocated",
                field=f"{field}.allocation_info",
                rule="operation.unallocated",
            )
        return
    role = requester.offer_role if resource.allocation_role is None else resource.allocation_role
    if resource.role != role or resource.role not in requester.framework_roles:
        raise RuleViolation(
            f"{resource.name} is for role '{resource.role}', but the offer is for '{role}'",
            field=f"{field}.reservations[-1].role",
            rule="reserve.offer-role",
        )


def check_agent(resource: Resource, capabilities: Collection[str], field: str) -> None:
    """The agent has the capabilities that the stack needs. Raises RuleViolation."""
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
    for field, entries in (("source", source), ("resources", resources)):
        if len({entry.reservations for entry in entries}) > 1:
            raise RuleViolation("mixed reservations are not supported", field=field, rule="reserve.one-stack")
    if _configured(source) != _configured(resources):
        raise RuleViolation(
            "a static reservation belongs to its agent's configuration: it must be at the bottom of both stacks or "
            "of neither",
            field="source",
            rule="reserve.static-stays",
            hint="a real master accepts this, but an agent with less than these amounts unreserved then crashes",
        )
    before, after = Resources(source).to_unreserved(), Resources(resources).to_unreserved()
    if before != after:
        raise RuleViolation(
            f"source and resources are not the same amounts: {before} and {after}",
            field="source",
            rule="reserve.same-amounts",
        )


def _check_nothing_twice(resources: Collection[Resource]) -> None:
    """No port and no name goes to two owners at once.  Raises RuleViolation.

    A real master accepts it, because it sees one resource, and the agent crashes.
    """
    whole = Resources(resources)
    below = Resources(replace(entry, reservations=entry.reservations[:-1]) for entry in whole)
    given, taken = whole.quantities(), below.quantities()
    for name in given:
        if given[name] != taken[name]:
            raise RuleViolation(
                f"part of '{name}' goes to two owners at once", field="resources", rule="reserve.nothing-twice"
            )


def _configured(entries: Collection[Resource]) -> set[tuple[Reservation, ...]]:
    """Return the static reservations at the bottom of the stacks."""
    return {entry.reservations[:1] if entry.is_statically_reserved else () for entry in entries}
