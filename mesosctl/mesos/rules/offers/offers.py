"""The offers of a master, and the operations that a framework makes on them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from mesosctl.mesos.amounts.quantities import Quantities
from mesosctl.mesos.amounts.resource import Labels, Reservation, Resource, Revocability
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.amounts.values import immutable
from mesosctl.mesos.errors import Conflict, RuleViolation
from mesosctl.mesos.roles import STANDARD_NAMES, did_you_mean
from mesosctl.mesos.rules.reservations import operations
from mesosctl.mesos.rules.reservations.operations import Conversion
from mesosctl.mesos.rules.reservations.rules import Requester, check_each, check_reserve, check_unreserve

OfferOperationKind = Literal["RESERVE", "UNRESERVE"]


class OnAgent:
    """Resources that a role of a framework holds, or is offered, on one agent."""

    __slots__ = ()
    resources: Resources

    @property
    def amounts(self) -> Quantities:
        """The sums by name; ports by count."""
        return self.resources.quantities()

    @property
    def revocability(self) -> Revocability | Literal["mixed"]:
        """Whether they are revocable."""
        return self.resources.revocability


@immutable
class OutstandingOffer(OnAgent):
    """Resources of one agent that one role of one framework may take."""

    id: str
    role: str
    framework_id: str
    framework: str
    """Its name, if it is known."""
    agent_id: str
    hostname: str
    resources: Resources
    """Without allocation roles."""
    stacked_format: bool = True
    """Whether it came in the format with reservation stacks (capability RESERVATION_REFINEMENT)."""


@dataclass(frozen=True, slots=True)
class OfferOperation:
    """RESERVE or UNRESERVE on an offer: the entries that it names, and its conversions."""

    action: OfferOperationKind
    resources: tuple[Resource, ...]
    conversions: tuple[Conversion, ...]


@dataclass(frozen=True, slots=True)
class TakenOffer:
    """The result of `offers take`."""

    offer: OutstandingOffer
    operation: OfferOperation
    declined: int
    """The number of offers that it declined, before and after."""
    confirmed: bool


@dataclass(frozen=True, slots=True)
class Reserver:
    """The principal and the labels that go into a reservation."""

    principal: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)

    def reservation(self, role: str) -> Reservation:
        """The reservation that is pushed onto the stack."""
        labels = Labels(self.labels.items()) if self.labels else None
        return Reservation("DYNAMIC", role, self.principal, labels)


def reserve(
    entries: Sequence[Resource],
    offer: OutstandingOffer,
    reserver: Reserver,
    *,
    role: str | None = None,
    roles: Collection[str] = (),
) -> OfferOperation:
    """RESERVE of plain amounts (`cpus:2`) from an offer, or of amounts that are reserved for a parent role.

    `role` is the new owner, by default the offer's role; `roles` are the framework's, by default only that one.  Raises
    RuleViolation for a broken rule, Conflict if the offer has less.
    """
    owned_by = role or offer.role
    pushed = reserver.reservation(owned_by)
    held = [_held(asked, offer) for asked in entries]
    resources = tuple(replace(entry, reservations=(*entry.reservations, pushed)) for entry in held)
    requester = _requester(reserver.principal, offer, roles)
    check_reserve(resources, requester)
    check_each(resources, "resources")  # as for an operator's RESERVE
    operation = OfferOperation("RESERVE", resources, tuple(operations.reserve(Resources(resources))))
    _check_contained(operation, offer)
    return operation


def unreserve(entries: Sequence[Resource], offer: OutstandingOffer, *, role: str | None = None) -> OfferOperation:
    """UNRESERVE of amounts that the offer has reserved for `role`, by default the offer's own.

    Raises RuleViolation for a broken rule, Conflict if the offer has less.
    """
    owned_by = role or offer.role
    resources = tuple(piece for asked in entries for piece in _reserved(asked, offer, owned_by))
    check_unreserve(resources)
    operation = OfferOperation("UNRESERVE", resources, tuple(operations.unreserve(resources)))
    _check_contained(operation, offer)
    return operation


def check_offered(resources: Sequence[Resource], offer: OutstandingOffer) -> None:
    """Raise RuleViolation for a name that neither Mesos defines nor the offer has, which is probably mistyped."""
    offered = {entry.name for entry in offer.resources}
    for entry in resources:
        if entry.name not in offered.union(STANDARD_NAMES):
            raise RuleViolation(
                f"the offer has no resource '{entry.name}'",
                field=entry.name,
                rule="resource.known",
                hint=did_you_mean(entry.name, sorted(offered), f"it has {', '.join(sorted(offered))}"),
            )


def _requester(principal: str | None, offer: OutstandingOffer, roles: Collection[str]) -> Requester:
    return Requester(principal, frozenset(roles) or frozenset((offer.role,)), offer.role)


def _held(asked: Resource, offer: OutstandingOffer) -> Resource:
    """Return the requested entry as the offer has it: unreserved, or with the stack of the role that it names."""
    if not asked.is_reserved:
        return asked
    stacks = [entry for entry in offer.resources if entry.name == asked.name and entry.role == asked.role]
    if not stacks:
        raise Conflict(f"the offer has no {asked.name} reserved for '{asked.role}'", rule="operation.available")
    return replace(asked, reservations=stacks[0].reservations)


def _reserved(asked: Resource, offer: OutstandingOffer, role: str) -> list[Resource]:
    """The reserved entries that make up an amount, each with its own stack."""
    owner = asked.role if asked.is_reserved else role
    entries = [
        entry
        for entry in offer.resources
        if entry.name == asked.name and entry.is_dynamically_reserved and entry.role == owner and entry.disk is None
    ]
    if not isinstance(asked.value, int):
        return [replace(asked, reservations=entries[0].reservations)] if entries else [asked]
    found: list[Resource] = []
    missing = asked.value
    for entry in entries:
        if missing > 0 and isinstance(entry.value, int):
            taken = min(missing, entry.value)
            found.append(replace(entry, value=taken))
            missing -= taken
    if missing > 0:
        raise Conflict(
            f"the offer does not have enough {asked.name} dynamically reserved for '{owner}'",
            rule="operation.available",
        )
    return found


def _check_contained(operation: OfferOperation, offer: OutstandingOffer) -> None:
    try:
        operations.apply_all(offer.resources, operation.conversions)
    except Conflict as error:
        owners = sorted({entry.role for entry in offer.resources if entry.is_reserved})
        if owners and operation.action == "RESERVE":
            error.hint = f"name the owner of reserved resources, as in cpus({owners[0]}):2"
        raise
