"""Offers: the message in a file, and the calls of a scheduler on offers: SUBSCRIBE, ACCEPT, DECLINE, TEARDOWN.

Source: Mesos documentation, "Scheduler HTTP API".
"""

from collections.abc import Sequence
from typing import Any

from mesosctl.mesos.errors import BadInput, RuleViolation
from mesosctl.mesos.messages.base_model import MesosModel
from mesosctl.mesos.messages.elements.offers import OfferReader
from mesosctl.mesos.messages.resources import to_json
from mesosctl.mesos.messages.strict.reading import read_json
from mesosctl.mesos.messages.table_models import OPERATION, SCHEDULER_EVENT, call_model, model_of, scheduler_call
from mesosctl.mesos.rules.offers.offers import OfferOperation, OutstandingOffer


def read_offer(document: str, where: str, offer_id: str | None = None) -> OutstandingOffer:
    """The offer in a file, or the one of several that `offer_id` names.  Raises BadInput with the place."""
    candidates = _offers(read_json(document, where), where)
    if offer_id is not None:
        candidates = [message for message in candidates if message["id"]["value"] == offer_id]
    if len(candidates) != 1:
        raise BadInput(
            f"{where} holds {len(candidates)} offers, but exactly one is needed",
            field="offers",
            rule="offer.one",
            hint="give an Offer message",
            values={},
        )
    try:
        return OfferReader().of_message(candidates[0])
    except RuleViolation as error:
        raise BadInput(f"{where}: {error.field}: {error.message}", field=error.field) from None


def _offers(value: Any, where: str) -> list[dict[str, Any]]:
    """The Offer messages of an event, of the part of it that has them, or one alone."""
    inside = value.get("offers") if isinstance(value, dict) else None
    if isinstance(inside, dict):
        found = call_model(SCHEDULER_EVENT, "OFFERS").read(value, where).content()["offers"]
    elif inside is not None:
        found = model_of(f"{SCHEDULER_EVENT}.Offers").read(value, where).content()
    else:
        found = {"offers": [model_of("mesos.v1.Offer").read(value, where).content()]}
    return list(found["offers"])


def accept_call(
    offers: Sequence[OutstandingOffer], operation: OfferOperation, refuse_seconds: float | None = None
) -> MesosModel:
    """The call that applies operations to offers, in the format of the first.  Raises RuleViolation."""
    part: dict[str, Any] = {"offer_ids": _ids(offers), "operations": [_operation(operation, offers[0])]}
    if refuse_seconds is not None:
        part["filters"] = {"refuse_seconds": refuse_seconds}
    return scheduler_call("ACCEPT", part, offers[0].framework_id)


def decline_call(offers: Sequence[OutstandingOffer], refuse_seconds: float) -> MesosModel:
    """The call that declines offers of one framework."""
    part = {"offer_ids": _ids(offers), "filters": {"refuse_seconds": refuse_seconds}}
    return scheduler_call("DECLINE", part, offers[0].framework_id)


def subscribe_call(name: str, role: str, principal: str | None) -> MesosModel:
    """The call of a framework that refines reservations and does not fail over."""
    info = {
        "user": "root",
        "name": name,
        "roles": [role],
        "capabilities": [{"type": "MULTI_ROLE"}, {"type": "RESERVATION_REFINEMENT"}],
        "failover_timeout": 0.0,
        **({} if principal is None else {"principal": principal}),
    }
    return scheduler_call("SUBSCRIBE", {"framework_info": info})


def teardown_call(framework_id: str) -> MesosModel:
    """The call of a framework that goes away."""
    return scheduler_call("TEARDOWN", None, framework_id)


def _ids(offers: Sequence[OutstandingOffer]) -> list[dict[str, str]]:
    return [{"value": offer.id} for offer in offers]


def _operation(operation: OfferOperation, offer: OutstandingOffer) -> dict[str, Any]:
    """The operation, in the format of the offer."""
    kind = operation.action
    message = {"type": kind, kind.lower(): {"resources": _resources(operation, offer)}}
    return call_model(OPERATION, kind).read(message, kind).content()


def _resources(operation: OfferOperation, offer: OutstandingOffer) -> list[dict[str, Any]]:
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
    return [message | allocated for message in messages]
