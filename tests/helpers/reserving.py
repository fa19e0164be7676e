"""Reserving without a master: a reservation put on top of every stack."""

from dataclasses import replace

from mesosctl.model.resource import Reservation
from mesosctl.model.resources import Resources


def push(resources: Resources, top: Reservation) -> Resources:
    """The same amounts with `top` on every stack, merged anew."""
    return Resources(replace(entry, reservations=(*entry.reservations, top)) for entry in resources)
