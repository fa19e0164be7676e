"""Reserving without a master: a reservation put on top of every stack."""

from dataclasses import replace

from mesosctl.core.resource import Reservation
from mesosctl.core.resources import Resources


def push(resources: Resources, top: Reservation) -> Resources:
    """The same amounts with `top` on every stack, merged anew."""
    return Resources(replace(entry, reservations=(*entry.reservations, top)) for entry in resources)
