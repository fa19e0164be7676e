"""When resources may be reserved and unreserved (spec/reservation.md §6).

The command line runs these rules before anything is sent, the fake master when something arrives.
Each names the entry and the rule that it breaks.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from mesosctl.core import roles
from mesosctl.core.errors import RuleViolation
from mesosctl.core.resource import Reservation, Resource
from mesosctl.core.resources import Resources
from mesosctl.core.scalars import format_milli
from mesosctl.core.values import value_is_empty, value_type


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
    check_some(resources, "resources")
    if source is not None:
        _check_rereservation(resources, source)
    _check_nothing_twice(resources)
    for index, resource in enumerate(resources):
        field = f"resources[{index}]"
        check_amount(resource, field)
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
        _check_principal(resource.reservations[-1], requester, field)
        check_allocation(resource, requester, field)
        check_agent(resource, agent_capabilities, field)


def check_unreserve(resources: Collection[Resource], requester: Requester) -> None:
    """UNRESERVE.  Raises RuleViolation; who may undo whose reservation is not decided here."""
    check_some(resources, "resources")
    for index, resource in enumerate(resources):
        field = f"resources[{index}]"
        check_amount(resource, field)
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


def refinement_problem(role: str, below: str) -> str | None:
    """Why what is reserved for `below` cannot be refined for `role`; None where it can."""
    if roles.is_strict_subrole(role, below):
        return None
    return f"role '{role}' is not below '{below}': a refinement goes down the tree, levels may be skipped"


def reserved_role_problem(role: str) -> str | None:
    """Why nothing can be reserved for this role; None where it can."""
    return roles.role_error(role) or ("role '*' cannot be reserved" if role == roles.DEFAULT_ROLE else None)


def check_stack(levels: Iterable[tuple[str, str]]) -> None:
    """(field, role) from the bottom up: each can be reserved for, and refines the one before it.

    Raises RuleViolation.
    """
    below = None
    for field, role in levels:
        roles.check_role(role, field)
        problem, rule = reserved_role_problem(role), "reservation.role"
        if problem is None and below is not None:
            problem, rule = refinement_problem(role, below), "reservation.refinement"
        if problem is not None:
            raise RuleViolation(problem, field=field, rule=rule)
        below = role


def common_bottom(one: Sequence[Reservation], other: Sequence[Reservation]) -> tuple[Reservation, ...]:
    """The levels that two stacks share, from the bottom up; what a change of owner does not touch."""
    shared = 0
    while shared < min(len(one), len(other)) and one[shared] == other[shared]:
        shared += 1
    return tuple(one[:shared])


def check_some(resources: Collection[Resource], field: str) -> None:
    """At least one entry, and all from one resource provider.  Raises RuleViolation."""
    if not resources:
        raise RuleViolation(f"{field} is empty", field=field, rule="operation.empty")
    if len({resource.provider_id for resource in resources}) > 1:
        raise RuleViolation(
            "the resources have multiple resource providers", field=field, rule="operation.one-provider"
        )


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
    check_whole(resource, field)


def check_whole(resource: Resource, field: str) -> None:
    """GPUs are dealt in as wholes.  Raises RuleViolation."""
    if resource.name == "gpus" and isinstance(resource.value, int) and resource.value % 1000:
        raise RuleViolation(
            f"gpus:{format_milli(resource.value)} is not a whole number of GPUs",
            field=f"{field}.scalar.value",
            rule="operation.whole-gpus",
        )


def _check_principal(reservation: Reservation, requester: Requester, field: str) -> None:
    if requester.principal is None or reservation.principal == requester.principal:
        return
    raise RuleViolation(
        f"a reserve by principal '{requester.principal}' must name it in the reservation, "
        f"which names {quoted(reservation.principal)}",
        field=f"{field}.reservations[-1].principal",
        rule="reserve.principal",
    )


def quoted(principal: str | None) -> str:
    """A principal in a sentence; None is no principal."""
    return "none" if principal is None else f"'{principal}'"


def check_allocation(resource: Resource, requester: Requester, field: str) -> None:
    """An operator's entry is unallocated, a framework's is for the role of its offer.  Raises RuleViolation."""
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


def check_agent(resource: Resource, capabilities: Collection[str], field: str) -> None:
    """The agent knows what the stack needs.  Raises RuleViolation."""
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
    check_some(source, "source")
    for field, entries in (("source", source), ("resources", resources)):
        if len({entry.reservations for entry in entries}) > 1:
            raise RuleViolation("mixed reservations are not supported", field=field, rule="reserve.one-stack")
    if _configured(source) != _configured(resources):
        raise RuleViolation(
            "a static reservation belongs to its agent's configuration: it must lie at the bottom of both stacks or "
            "of none",
            field="source",
            rule="reserve.static-stays",
            hint="a real master accepts this, and the agent dies of it",
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

    A real master accepts it, since what lies below is one resource to it, and the agent dies of having both.
    """
    whole = Resources(resources)
    below = Resources(replace(entry, reservations=entry.reservations[:-1]) for entry in whole)
    given, taken = whole.quantities(), below.quantities()
    for name in given:
        if given[name] != taken[name]:
            raise RuleViolation(
                f"some of {name} is given to two owners at once", field="resources", rule="reserve.nothing-twice"
            )


def _configured(entries: Collection[Resource]) -> set[tuple[Reservation, ...]]:
    """What lies at the bottom of stacks because the agent was started with it."""
    return {entry.reservations[:1] if entry.is_statically_reserved else () for entry in entries}
