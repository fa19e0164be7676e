"""Offers as a master tells of them, and what an operator learns about them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple, Self

from mesosctl.model.errors import Conflict
from mesosctl.model.quantities import Quantities, to_double, to_milli
from mesosctl.model.reservations import operations
from mesosctl.model.reservations.operations import Conversion
from mesosctl.model.reservations.rules import Requester, check_reserve, check_unreserve
from mesosctl.model.resource import Labels, Reservation, Resource
from mesosctl.model.resources import Resources
from mesosctl.model.values import value_quantity

Deed = Literal["RESERVE", "UNRESERVE"]


@dataclass(frozen=True, slots=True)
class Offer:
    """Resources of one agent that one role of one framework may take."""

    id: str
    role: str
    framework_id: str
    framework: str
    """Its name, where it is known."""
    agent_id: str
    hostname: str
    resources: Resources
    """Without allocation roles."""
    stacked_format: bool = True
    """Whether it came in the format with reservation stacks (capability RESERVATION_REFINEMENT)."""


@dataclass(frozen=True, slots=True)
class Reason:
    """One possible reason for getting no offers.  `holds` is None where a master does not tell."""

    name: str
    holds: bool | None
    sentence: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a role of a framework is or is not offered anything."""

    framework_id: str
    framework: str
    role: str
    offers: int
    """How many it holds now."""
    reasons: Sequence[Reason]

    @property
    def in_the_way(self) -> list[Reason]:
        """The reasons that hold."""
        return [reason for reason in self.reasons if reason.holds]


@dataclass(frozen=True, slots=True)
class OfferOperation:
    """RESERVE or UNRESERVE upon an offer: what it names, and what it turns into what."""

    deed: Deed
    resources: tuple[Resource, ...]
    conversions: tuple[Conversion, ...]


@dataclass(frozen=True, slots=True)
class Taken:
    """What `offers take` did."""

    offer: Offer
    operation: OfferOperation
    declined: int
    """How many offers it declined, before and after."""
    confirmed: bool


@dataclass(frozen=True, slots=True)
class Owner:
    """Who reserves: the principal and the labels that go into the reservation."""

    principal: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)

    def reservation(self, role: str) -> Reservation:
        """The reservation that is pushed onto the stack."""
        labels = Labels(self.labels.items()) if self.labels else None
        return Reservation("DYNAMIC", role, self.principal, labels)


def reserve(
    wanted: Sequence[Resource], offer: Offer, owner: Owner, *, role: str | None = None, roles: Collection[str] = ()
) -> OfferOperation:
    """RESERVE of plain amounts (`cpus:2`) from an offer, or of amounts reserved so far for a role above.

    `role` is the new owner, by default the offer's; `roles` are the framework's, by default that
    one alone.  Raises RuleViolation for a broken rule, Conflict where the offer has less.
    """
    owned_by = role or offer.role
    pushed = owner.reservation(owned_by)
    held = [_held(asked, offer) for asked in wanted]
    resources = tuple(replace(entry, reservations=(*entry.reservations, pushed)) for entry in held)
    requester = _requester(owner.principal, offer, roles)
    check_reserve(resources, requester)
    operation = OfferOperation("RESERVE", resources, tuple(operations.reserve(Resources(resources))))
    _check_contained(operation, offer)
    return operation


def unreserve(wanted: Sequence[Resource], offer: Offer, *, role: str | None = None) -> OfferOperation:
    """UNRESERVE of amounts that the offer has reserved for `role`, by default the offer's own.

    Raises RuleViolation for a broken rule, Conflict where the offer has less.
    """
    owned_by = role or offer.role
    resources = tuple(piece for asked in wanted for piece in _reserved(asked, offer, owned_by))
    check_unreserve(resources)
    operation = OfferOperation("UNRESERVE", resources, tuple(operations.unreserve(Resources(resources))))
    _check_contained(operation, offer)
    return operation


def _requester(principal: str | None, offer: Offer, roles: Collection[str]) -> Requester:
    return Requester(principal, frozenset(roles) or frozenset((offer.role,)), offer.role)


def _held(asked: Resource, offer: Offer) -> Resource:
    """What is asked for, as the offer has it: unreserved, or with the stack that the words name."""
    if not asked.is_reserved:
        return asked
    stacks = [entry for entry in offer.resources if entry.name == asked.name and entry.role == asked.role]
    if not stacks:
        raise Conflict(f"the offer has no {asked.name} reserved for '{asked.role}'", rule="operation.available")
    return replace(asked, reservations=stacks[0].reservations)


def _reserved(asked: Resource, offer: Offer, role: str) -> list[Resource]:
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
            f"the offer has too little {asked.name} that is dynamically reserved for '{owner}'",
            rule="operation.available",
        )
    return found


def _check_contained(operation: OfferOperation, offer: Offer) -> None:
    try:
        operations.apply_all(offer.resources, operation.conversions)
    except Conflict as error:
        owners = sorted({entry.role for entry in offer.resources if entry.is_reserved})
        if owners and operation.deed == "RESERVE":
            error.hint = f"what is reserved already is named with its owner, as cpus({owners[0]}):2"
        raise


class AgentFeatures(NamedTuple):
    """What of an agent decides whether a framework may have anything of it at all."""

    has_gpus: bool
    """It has some, and they are kept for those who ask for them."""
    remote: bool
    """In another region than the master."""
    multi_role: bool
    hierarchical_role: bool

    @classmethod
    def of(
        cls,
        capabilities: Collection[str],
        total: Resources,
        *,
        filter_gpus: bool,
        region: str | None,
        master_region: str | None,
    ) -> Self:
        """Those of an agent with these capabilities and resources; a region is None where it has no fault domain."""
        return cls(
            has_gpus=filter_gpus and total.scalar_quantities().get_amount("gpus") > 0,
            remote=None not in (region, master_region) and region != master_region,
            multi_role="MULTI_ROLE" in capabilities,
            hierarchical_role="HIERARCHICAL_ROLE" in capabilities,
        )


class Capabilities(NamedTuple):
    """What of a framework in a role decides which agents it may have anything of."""

    gpus: bool
    region_aware: bool
    multi_role: bool
    below_a_role: bool
    """Its role lies below another."""

    @classmethod
    def of(cls, role: str, capabilities: Collection[str]) -> Self:
        """Those of a framework with these capabilities."""
        can = capabilities.__contains__
        return cls(can("GPU_RESOURCES"), can("REGION_AWARE"), can("MULTI_ROLE"), "/" in role)

    def missing_capability(self, traits: AgentFeatures) -> str | None:
        """The capability for want of which an agent is not offered, the framework's or the agent's; None for none."""
        if traits.has_gpus and not self.gpus:
            return "GPU_RESOURCES"
        if traits.remote and not self.region_aware:
            return "REGION_AWARE"
        if self.below_a_role and not traits.hierarchical_role:
            return "HIERARCHICAL_ROLE of the agent"
        if self.multi_role and not traits.multi_role:
            return "MULTI_ROLE of the agent"
        return None


class AcceptedKinds(NamedTuple):
    """Which entries of an agent a framework can take: part of its capabilities."""

    shared: bool
    revocable: bool
    refined: bool

    @classmethod
    def of(cls, capabilities: Collection[str]) -> Self:
        """That of a framework with these capabilities."""
        can = capabilities.__contains__
        return cls(can("SHARED_RESOURCES"), can("REVOCABLE_RESOURCES"), can("RESERVATION_REFINEMENT"))

    def missing_capability(self, entry: Resource) -> str | None:
        """The capability for want of which an entry is not offered; None for none."""
        if entry.shared and not self.shared:
            return "SHARED_RESOURCES"
        if entry.revocable and not self.revocable:
            return "REVOCABLE_RESOURCES"
        if entry.is_refined and not self.refined:
            return "RESERVATION_REFINEMENT"
        return None

    def accepts(self, entry: Resource) -> bool:
        """Whether the entry is of a kind that the framework knows."""
        return self.missing_capability(entry) is None


def parse_minimum(text: str) -> tuple[Quantities, ...]:
    """The flag --min_allocatable_resources: `cpus:0.01|mem:32`, alternatives of `name:amount` joined by ";".

    Raises ValueError.
    """
    alternatives = []
    for alternative in text.split("|"):
        amounts: dict[str, int] = {}
        for token in filter(None, (part.strip() for part in alternative.split(";"))):
            name, colon, amount = token.partition(":")
            if not colon:
                raise ValueError(f"'{token}' is not NAME:AMOUNT")
            amounts[name.strip()] = to_milli(float(amount))
        if amounts:
            alternatives.append(Quantities(amounts))
    return tuple(alternatives)


def is_allocatable(resources: Resources, alternatives: tuple[Quantities, ...]) -> bool:
    """Some alternative is met by the sums over all entries; with no alternative anything but nothing is."""
    if not resources:
        return False
    return not alternatives or any(_meets(resources, alternative) for alternative in alternatives)


def _meets(resources: Resources, alternative: Quantities) -> bool:
    return all(_reaches(resources, name, to_double(amount)) for name, amount in alternative.items())


def _reaches(resources: Resources, name: str, missing: float) -> bool:
    # Mesos subtracts plain doubles entry by entry here, the one place where it does not round.
    for entry in resources:
        if entry.name == name:
            missing -= to_double(value_quantity(entry.value))
            if missing <= 0:
                return True
    return False
