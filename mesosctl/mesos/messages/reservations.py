"""Reservations between JSON and the model: the stack of a resource in its three formats.

Source: Mesos documentation, "Reservation", "Reservation Refinement" and "Labels".

A resource carries its reservations in its own message (`mesos.messages.resources`); the calls that reserve and
unreserve are in `mesos.messages.agent_operations`.  `output.json_documents.reservations` has the JSON of -o json.
"""

from collections.abc import Mapping
from typing import Any, Literal

from mesosctl.mesos import roles
from mesosctl.mesos.amounts.resource import Labels, Reservation, Resource
from mesosctl.mesos.messages.protobuf_json.defaults import replaced
from mesosctl.mesos.messages.protobuf_json.message_tables import Message
from mesosctl.mesos.messages.protobuf_json.resource_messages import labels

Format = Literal["PRE", "POST", "ENDPOINT"]
"""PRE: `role` and `reservation`.  POST: the stack `reservations`.  ENDPOINT: what masters and agents show."""
_RESOURCE = "mesos.v1.Resource"


def reservation_stack(message: Mapping[str, Any]) -> tuple[Reservation, ...]:
    """Return the reservations of a valid Resource message, the lowest first; none if it is unreserved."""
    stack = message.get("reservations", [])
    if stack:
        return tuple(
            Reservation(entry["type"], entry["role"], entry.get("principal"), labels(entry)) for entry in stack
        )
    role = message.get("role", roles.DEFAULT_ROLE)
    if role == roles.DEFAULT_ROLE:
        return ()
    reservation = message.get("reservation")
    if reservation is None:
        return (Reservation("STATIC", role),)
    return (Reservation("DYNAMIC", role, reservation.get("principal"), labels(reservation)),)


def owner_to_json(resource: Resource, style: Format) -> dict[str, Any]:
    """Return the members of a Resource message that say for whom it is reserved.

    Raises ValueError for a refined reservation in PRE, which cannot express it.
    """
    stack = resource.reservations
    written: dict[str, Any] = {}
    if style == "PRE" and len(stack) > 1:
        raise ValueError("a refined reservation cannot be written in the pre-refinement format")
    if not stack:
        if style != "POST":
            written["role"] = roles.DEFAULT_ROLE
        return written
    if style != "POST" and len(stack) == 1:
        written["role"] = stack[0].role
        if stack[0].type == "DYNAMIC":
            written["reservation"] = _reservation_to_json(stack[0], typed=False)
    if style != "PRE":
        written["reservations"] = [_reservation_to_json(entry, typed=True) for entry in stack]
    return written


def in_stacks(message: Message, document: Any) -> Any:
    """A document with the owner of every resource in it as a list of reservations, whether it is valid or not."""
    if isinstance(document, list):
        return [in_stacks(message, part) for part in document]
    if not isinstance(document, dict):
        return document
    kinds = {name: field.type for name, field in message.fields.items() if isinstance(field.type, Message)}
    parts = {name: in_stacks(kinds[name], part) if name in kinds else part for name, part in document.items()}
    if message.name == _RESOURCE:
        stack = reservation_stack(parts)
        parts = {name: part for name, part in parts.items() if name not in ("role", "reservation", "reservations")}
        if stack:
            parts["reservations"] = [_reservation_to_json(entry, typed=True) for entry in stack]
    return replaced(document, parts)


def _reservation_to_json(reservation: Reservation, *, typed: bool) -> dict[str, Any]:
    written: dict[str, Any] = {"type": reservation.type, "role": reservation.role} if typed else {}
    if reservation.principal is not None:
        written["principal"] = reservation.principal
    if reservation.labels is not None:
        written["labels"] = labels_to_json(reservation.labels)
    return written


def labels_to_json(labels: Labels) -> dict[str, Any]:
    """Return a Labels message."""
    pairs = [{"key": key} if value is None else {"key": key, "value": value} for key, value in labels]
    return {"labels": pairs} if pairs else {}
