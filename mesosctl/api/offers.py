"""Offers: the message in a file, and the calls of a scheduler on offers: SUBSCRIBE, ACCEPT, DECLINE, TEARDOWN.

Source: Mesos documentation, "Scheduler HTTP API".
"""

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import AliasChoices, BeforeValidator, Field

from mesosctl.api.agent_operations import Reserve, ReserveOperation, Unreserve, UnreserveOperation
from mesosctl.api.base_model import Double, MesosModel
from mesosctl.api.elements.offers import OfferReader
from mesosctl.api.files.reading import read_json
from mesosctl.api.resource_model import AllocationInfo, Resource
from mesosctl.api.resources import to_json
from mesosctl.model.errors import BadInput, RuleViolation
from mesosctl.model.offers.offers import Offer, OfferOperation


class Id(MesosModel):
    """A name that a master gave."""

    value: str


def _bare(value: Any) -> Any:
    """The Mesos documentation prints an id as plain text."""
    return {"value": value} if isinstance(value, str) else value


AnyId = Annotated[Id, BeforeValidator(_bare)]


class OfferMessage(MesosModel):
    """An Offer message; the parts that are not read are kept unchanged."""

    id: AnyId
    framework_id: AnyId
    agent_id: AnyId = Field(validation_alias=AliasChoices("agent_id", "slave_id"))
    hostname: str | None = None
    resources: list[Resource]
    allocation_info: AllocationInfo | None = None
    attributes: list[dict[str, Any]] | None = None
    executor_ids: list[dict[str, Any]] | None = None
    domain: dict[str, Any] | None = None
    url: dict[str, Any] | None = None
    unavailability: dict[str, Any] | None = None

    def to_model(self) -> Offer:
        """The offer that the message describes. Raises RuleViolation."""
        return OfferReader().of_message(self.content())


class Offers(MesosModel):
    """Several offers: the part of an event that has them."""

    offers: list[OfferMessage]


class OffersEvent(MesosModel):
    """The event OFFERS."""

    type: Literal["OFFERS"] = "OFFERS"
    offers: Offers


def read_offer(document: str, where: str, offer_id: str | None = None) -> Offer:
    """The offer in a file, or the one of several that `offer_id` names.  Raises BadInput with the place."""
    candidates = _offers(read_json(document, where), where)
    if offer_id is not None:
        candidates = [message for message in candidates if message.id.value == offer_id]
    if len(candidates) != 1:
        raise BadInput(
            f"{where} holds {len(candidates)} offers, but exactly one is needed",
            field="--offer",
            hint="give an Offer message, or choose an offer of an OFFERS event with --id",
        )
    try:
        return candidates[0].to_model()
    except RuleViolation as error:
        raise BadInput(f"{where}: {error.field}: {error.message}", field=error.field) from None


def _offers(value: Any, where: str) -> list[OfferMessage]:
    inside = value.get("offers") if isinstance(value, dict) else None
    if isinstance(inside, dict):
        return OffersEvent.read(value, where).offers.offers
    if inside is not None:
        return Offers.read(value, where).offers
    return [OfferMessage.read(value, where)]


class FrameworkId(MesosModel):
    """A framework."""

    value: str


class OfferId(MesosModel):
    """An offer."""

    value: str


class Filters(MesosModel):
    """How long the rest must not be offered again."""

    refuse_seconds: Double


class Accept(MesosModel):
    """Operations on offers of one agent."""

    offer_ids: list[OfferId]
    operations: list[Annotated[ReserveOperation | UnreserveOperation, Field(discriminator="type")]]
    filters: Filters | None = None


class AcceptCall(MesosModel):
    """The call ACCEPT."""

    framework_id: FrameworkId
    type: Literal["ACCEPT"] = "ACCEPT"
    accept: Accept

    @classmethod
    def of(cls, offers: Iterable[Offer], operation: OfferOperation, refuse_seconds: float | None = None) -> Self:
        """The call that applies operations to offers, in the format of the first.  Raises RuleViolation."""
        taken = list(offers)
        filters = None if refuse_seconds is None else Filters(refuse_seconds=refuse_seconds)
        return cls(
            framework_id=FrameworkId(value=taken[0].framework_id),
            accept=Accept(offer_ids=_ids(taken), operations=[_operation(operation, taken[0])], filters=filters),
        )


class Decline(MesosModel):
    """Offers to decline."""

    offer_ids: list[OfferId]
    filters: Filters


class DeclineCall(MesosModel):
    """The call DECLINE."""

    framework_id: FrameworkId
    type: Literal["DECLINE"] = "DECLINE"
    decline: Decline

    @classmethod
    def of(cls, offers: Sequence[Offer], refuse_seconds: float) -> Self:
        """The call for offers of one framework."""
        return cls(
            framework_id=FrameworkId(value=offers[0].framework_id),
            decline=Decline(offer_ids=_ids(offers), filters=Filters(refuse_seconds=refuse_seconds)),
        )


class Capability(MesosModel):
    """A capability of a framework."""

    type: Literal["MULTI_ROLE", "RESERVATION_REFINEMENT"]


class FrameworkInfo(MesosModel):
    """The framework that subscribes."""

    user: str
    name: str
    roles: list[str]
    capabilities: list[Capability]
    failover_timeout: Double
    principal: str | None = None


class Subscribe(MesosModel):
    """`subscribe` of the call."""

    framework_info: FrameworkInfo


class SubscribeCall(MesosModel):
    """The call SUBSCRIBE."""

    type: Literal["SUBSCRIBE"] = "SUBSCRIBE"
    subscribe: Subscribe

    @classmethod
    def of(cls, name: str, role: str, principal: str | None) -> Self:
        """The call of a framework that refines reservations and does not fail over."""
        info = FrameworkInfo(
            user="root",
            name=name,
            roles=[role],
            capabilities=[Capability(type="MULTI_ROLE"), Capability(type="RESERVATION_REFINEMENT")],
            failover_timeout=0.0,
            principal=principal,
        )
        return cls(subscribe=Subscribe(framework_info=info))


class TeardownCall(MesosModel):
    """The call TEARDOWN."""

    framework_id: FrameworkId
    type: Literal["TEARDOWN"] = "TEARDOWN"


def _ids(offers: Sequence[Offer]) -> list[OfferId]:
    return [OfferId(value=offer.id) for offer in offers]


def _operation(operation: OfferOperation, offer: Offer) -> ReserveOperation | UnreserveOperation:
    """The operation, in the format of the offer."""
    resources = _resources(operation, offer)
    if operation.action == "RESERVE":
        return ReserveOperation(reserve=Reserve(resources=resources))
    return UnreserveOperation(unreserve=Unreserve(resources=resources))


def _resources(operation: OfferOperation, offer: Offer) -> list[Resource]:
    allocated = {"allocation_info": {"role": offer.role}}
    try:
        messages = [to_json(entry, "POST" if offer.stacked_format else "PRE") for entry in operation.resources]
    except ValueError as error:
        raise RuleViolation(
            str(error),
            field="resources",
            rule="operation.format",
            hint="only a framework with RESERVATION_REFINEMENT can refine a reservation",
        ) from None
    return [Resource.read(message | allocated, message["name"]) for message in messages]
