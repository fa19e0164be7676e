"""Offers between JSON and core, and the calls of the scheduler API that deal in them (spec/endpoints.md §5)."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from mesosctl.core.errors import BadInput, RuleViolation
from mesosctl.core.offers import Offer, OfferOperation
from mesosctl.core.resources import Resources
from mesosctl.core.roles import DEFAULT_ROLE
from mesosctl.wire.answers import NATURAL, text, undocumented, wrong
from mesosctl.wire.decoding import ConversionError, decode
from mesosctl.wire.json_faults import why_broken
from mesosctl.wire.messages import read
from mesosctl.wire.resources import RESOURCE, to_core, to_json

_V0_NAMES = {"slave_id": "agent_id"}
_IDS = ("id", "framework_id", "agent_id")


def outstanding(answer: Any) -> list[Offer]:
    """GET_FRAMEWORKS: every outstanding offer, in the master's order.  Raises UnexpectedAnswer."""
    is_it = isinstance(answer, dict) and answer.get("type", "GET_FRAMEWORKS") == "GET_FRAMEWORKS"
    told = answer.get("get_frameworks", {} if "type" in answer else None) if is_it else None
    if not isinstance(told, dict):
        raise wrong(told, "an object", "get_frameworks")
    listed = told.get("frameworks", [])
    if not isinstance(listed, list):
        raise wrong(listed, "a list", "get_frameworks.frameworks")
    found = []
    for index, entry in enumerate(listed):
        try:
            name = text(entry["framework_info"]["name"])
            found += [offer(message, name) for message in entry.get("offers", ())]
        except NATURAL as error:
            raise undocumented(error, f"get_frameworks.frameworks[{index}]") from None
    return found


def subscribed_as(event: Mapping[str, Any]) -> str:
    """The framework id in a SUBSCRIBED event.  Raises UnexpectedAnswer."""
    try:
        return text(event["subscribed"]["framework_id"]["value"])
    except NATURAL as error:
        raise undocumented(error, "subscribed") from None


def offered(event: Mapping[str, Any]) -> list[Offer]:
    """The offers of an OFFERS event.  Raises UnexpectedAnswer."""
    try:
        return [offer(message) for message in event["offers"]["offers"]]
    except NATURAL as error:
        raise undocumented(error, "offers") from None


Offered = tuple[str, Resources, bool]
"""Whose what is offered is where the offer does not say, the resources, and whether they have stacks."""


def offered_of(messages: Iterable[Any]) -> Offered:
    """What a list of Resource messages offers.  Raises TypeError or ValueError where it is none."""
    entries = [read(RESOURCE, entry) for entry in messages]
    owner = next((entry["role"] for entry in entries if entry.get("role", DEFAULT_ROLE) != DEFAULT_ROLE), DEFAULT_ROLE)
    resources = Resources(to_core(entry) for entry in entries).allocated_to(None)
    return owner, resources, not any("role" in entry for entry in entries)


def offer(message: Mapping[str, Any], framework: str = "", known: Callable[[Any], Offered] = offered_of) -> Offer:
    """One Offer message, of either format; `known` reads its resources.

    Raises KeyError, TypeError or ValueError where it is none.
    """
    owner, resources, stacked_format = known(message["resources"])
    role = message.get("allocation_info", {}).get("role")
    return Offer(
        id=text(message["id"]["value"]),
        # A framework without MULTI_ROLE is not told the role; what is reserved names it.
        role=text(owner if role is None else role),
        framework_id=text(message["framework_id"]["value"]),
        framework=framework,
        agent_id=text(message["agent_id"]["value"]),
        hostname=text(message.get("hostname", "")),
        resources=resources,
        stacked_format=stacked_format,
    )


def read_offer(document: str, offer_id: str | None = None) -> Offer:
    """An offer as somebody received it: an Offer message, or an OFFERS event with one or, by `offer_id`, more.

    Raises BadInput.
    """
    try:
        value = decode(document)
    except ConversionError as error:
        raise BadInput(f"the offer is not JSON: {why_broken(document, error)}", field="--offer") from None
    candidates = list(_messages(value))
    if offer_id is not None:
        candidates = [message for message in candidates if message.get("id") == {"value": offer_id}]
    if len(candidates) != 1:
        raise BadInput(
            f"the file holds {len(candidates)} offers, and one is needed",
            field="--offer",
            hint="give an Offer message, or name one of an OFFERS event with --id",
        )
    try:
        return offer(candidates[0])
    except (KeyError, TypeError, AttributeError) as error:
        what = f"{error} is missing" if isinstance(error, KeyError) else "a field is not what it should be"
        raise BadInput(
            f"the offer is not as documented: {what}", field="--offer", hint="give it as the master sent it"
        ) from None
    except RuleViolation as error:
        raise BadInput(f"the offer is not as documented: {error.message}", field=f"--offer {error.field}") from None
    except ValueError as error:
        raise BadInput(f"the offer is not as documented: {error}", field="--offer") from None


def _messages(value: Any) -> Iterator[dict[str, Any]]:
    if not isinstance(value, dict):
        return
    inside = value.get("offers")
    if isinstance(inside, dict):
        inside = inside.get("offers")
    for message in inside if isinstance(inside, list) else (value,):
        if isinstance(message, dict):
            yield _as_sent(message)


def _as_sent(message: dict[str, Any]) -> dict[str, Any]:
    """An offer as documents print it, in the words of the v1 API: the agent is `slave_id`, and an id may stand bare."""
    known = {_V0_NAMES.get(key, key): value for key, value in message.items()}
    bare = {key: {"value": known[key]} for key in _IDS if isinstance(known.get(key), str)}
    return known | bare


def accept_call(
    offers: Iterable[Offer], operation: OfferOperation, refuse_seconds: float | None = None
) -> dict[str, Any]:
    """The ACCEPT call, in the format of the (first) offer."""
    taken = list(offers)
    style = "POST" if taken[0].stacked_format else "PRE"
    try:
        resources = [to_json(entry, style) for entry in operation.resources]  # type: ignore[arg-type]
    except ValueError as error:
        raise RuleViolation(
            str(error),
            field="resources",
            rule="operation.format",
            hint="only a framework with RESERVATION_REFINEMENT can refine a reservation",
        ) from None
    for entry in resources:
        entry["allocation_info"] = {"role": taken[0].role}
    deed = {"type": operation.deed, operation.deed.lower(): {"resources": resources}}
    filters = {} if refuse_seconds is None else {"filters": {"refuse_seconds": refuse_seconds}}
    return {
        "framework_id": {"value": taken[0].framework_id},
        "type": "ACCEPT",
        "accept": {"offer_ids": [{"value": one.id} for one in taken], "operations": [deed], **filters},
    }


def decline_call(offers: Sequence[Offer], refuse_seconds: float) -> dict[str, Any]:
    """The DECLINE call for offers of one framework."""
    return {
        "framework_id": {"value": offers[0].framework_id},
        "type": "DECLINE",
        "decline": {
            "offer_ids": [{"value": one.id} for one in offers],
            "filters": {"refuse_seconds": refuse_seconds},
        },
    }


def subscribe_call(name: str, role: str, principal: str | None) -> dict[str, Any]:
    """The SUBSCRIBE call of a framework that refines reservations and does not fail over."""
    info: dict[str, Any] = {
        "user": "root",
        "name": name,
        "roles": [role],
        "capabilities": [{"type": "MULTI_ROLE"}, {"type": "RESERVATION_REFINEMENT"}],
        "failover_timeout": 0.0,
    }
    if principal is not None:
        info["principal"] = principal
    return {"type": "SUBSCRIBE", "subscribe": {"framework_info": info}}


def body(call: Mapping[str, Any]) -> bytes:
    """A call as it is sent."""
    return json.dumps(call, separators=(",", ":")).encode()
