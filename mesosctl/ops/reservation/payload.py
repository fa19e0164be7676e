"""The documented JSON of an operation, from a file (seeds/reservation.txt, spec/reservation.md §5 and §8)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from mesosctl.client.master import Master
from mesosctl.core.errors import BadInput
from mesosctl.core.resource import Resource
from mesosctl.wire.decoding import ConversionError, decode
from mesosctl.wire.json_faults import why_broken
from mesosctl.wire.messages import read
from mesosctl.wire.resources import RESOURCE, to_core

_WRAPPERS = ("reserve_resources", "unreserve_resources", "reserve", "unreserve")


@dataclass(frozen=True, slots=True)
class Payload:
    """Resources with their stacks, and what they are taken from where that is said."""

    resources: Sequence[Resource]
    source: Sequence[Resource] | None = None


def read_payload(text: str, filled_in_by: Master | None = None) -> Payload:
    """A JSON array of resources, an object with `resources` and `source`, or a v1 call or an offer operation around it.

    With `filled_in_by`, a dynamic reservation at the top without principal gets that of the master's credentials.
    Raises BadInput for what cannot be read, RuleViolation for what is no valid resource.
    """
    try:
        value = decode(text)
    except ConversionError as error:
        raise BadInput(f"the file is not JSON: {why_broken(text, error)}", field="--file") from None
    if isinstance(value, dict):
        for wrapper in _WRAPPERS:
            value = value.get(wrapper, value)
    body = {"resources": value} if isinstance(value, list) else value
    if not isinstance(body, dict) or not isinstance(body.get("resources"), list):
        raise BadInput("the file holds no JSON array of resources", field="--file")
    credentials = filled_in_by.settings.credentials if filled_in_by else None
    principal = credentials.principal if credentials else None
    resources = [_filled_in(entry, principal) if principal else entry for entry in _entries(body, "resources")]
    return Payload(resources, _entries(body, "source") if body.get("source") else None)


def _entries(body: dict[str, Any], field: str) -> list[Resource]:
    entries = body[field]
    if not isinstance(entries, list):
        raise BadInput(f"'{field}' is no JSON array", field=field)
    try:
        return [
            to_core(read(RESOURCE, entry, f"{field}[{index}]"), f"{field}[{index}]")
            for index, entry in enumerate(entries)
        ]
    except ConversionError as error:
        raise BadInput(str(error), field=error.path or field) from None


def _filled_in(entry: Resource, principal: str) -> Resource:
    if not entry.is_dynamically_reserved or entry.reservations[-1].principal is not None:
        return entry
    return replace(entry, reservations=(*entry.reservations[:-1], replace(entry.reservations[-1], principal=principal)))
