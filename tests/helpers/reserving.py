"""Reserving: a reservation put on top of every stack, without a master, and entries as requests carry them."""

from dataclasses import replace
from typing import Any

from mesosctl.mesos.amounts.resource import Reservation
from mesosctl.mesos.amounts.resources import Resources


def push(resources: Resources, top: Reservation) -> Resources:
    """The same amounts with `top` on every stack, merged anew."""
    return Resources(replace(entry, reservations=(*entry.reservations, top)) for entry in resources)


def reserved_entries(role: str, principal: str | None = None, /, **amounts: float) -> list[dict[str, Any]]:
    """Scalars reserved once for a role, in JSON."""
    reservation = {"type": "DYNAMIC", "role": role, **({"principal": principal} if principal else {})}
    return [
        {"name": name, "type": "SCALAR", "scalar": {"value": amount}, "reservations": [reservation]}
        for name, amount in amounts.items()
    ]
