"""An offer in a file: an Offer message as a master sent it, or an OFFERS event with several.

Source: Mesos documentation, "Scheduler HTTP API".
"""

from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BeforeValidator, Field

from mesosctl.api.base_model import Documented
from mesosctl.api.files.reading import read_json
from mesosctl.api.offers import offer
from mesosctl.api.resource_model import AllocationInfo, Resource
from mesosctl.model.errors import BadInput, RuleViolation
from mesosctl.model.offers import offers as core


class Id(Documented):
    """A name that a master gave."""

    value: str


def _bare(value: Any) -> Any:
    """Documents print an id as a text alone."""
    return {"value": value} if isinstance(value, str) else value


AnyId = Annotated[Id, BeforeValidator(_bare)]


class Offer(Documented):
    """An Offer message; what is not looked into is kept as it came."""

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

    def to_core(self) -> core.Offer:
        """The offer it is.  Raises RuleViolation."""
        return offer(self.content())


class Offers(Documented):
    """Several offers: the part of an event that has them."""

    offers: list[Offer]


class OffersEvent(Documented):
    """The event OFFERS."""

    type: Literal["OFFERS"] = "OFFERS"
    offers: Offers


def read_offer(document: str, where: str, offer_id: str | None = None) -> core.Offer:
    """The offer in a file, or the one of several that `offer_id` names.  Raises BadInput with the place."""
    candidates = _offers(read_json(document, where), where)
    if offer_id is not None:
        candidates = [message for message in candidates if message.id.value == offer_id]
    if len(candidates) != 1:
        raise BadInput(
            f"{where} holds {len(candidates)} offers, but exactly one is needed",
            field="--offer",
            hint="give an Offer message, or name one of an OFFERS event with --id",
        )
    try:
        return candidates[0].to_core()
    except RuleViolation as error:
        raise BadInput(f"{where}: {error.field}: {error.message}", field=error.field) from None


def _offers(value: Any, where: str) -> list[Offer]:
    inside = value.get("offers") if isinstance(value, dict) else None
    if isinstance(inside, dict):
        return OffersEvent.read(value, where).offers.offers
    if inside is not None:
        return Offers.read(value, where).offers
    return [Offer.read(value, where)]
