"""The offers of each framework in an answer, which may come one by one before the framework itself."""

from collections.abc import Iterable, Mapping
from typing import Any

from mesosctl.mesos.messages.elements import offers
from mesosctl.mesos.messages.protobuf_json.buffered_text import Shortcut
from mesosctl.mesos.messages.protobuf_json.message_tables import mesos_message
from mesosctl.mesos.messages.protobuf_json.resource_lists import ResourceLists
from mesosctl.mesos.rules.offers.offers import OutstandingOffer


class FrameworkOffers:
    """Collects the offers of the framework that comes next."""

    def __init__(self, lists: ResourceLists) -> None:
        self._reader = offers.OfferReader(lists)
        self._waiting: list[OutstandingOffer | Mapping[str, Any]] = []

    def shortcut(self) -> Shortcut:
        """The reader of many offers in text."""
        from mesosctl.mesos.messages.protobuf_json.wanted_members import (  # late: it loads msgspec
            WantedMembers,
            decoded_members,
        )

        members = decoded_members(mesos_message(offers.MESSAGE), *offers.MEMBERS)
        return WantedMembers(members, self._reader.of_message).read

    def add(self, waiting: Iterable[OutstandingOffer | Mapping[str, Any]]) -> None:
        """Offers of the next framework, read or as messages."""
        self._waiting += waiting

    def drop(self) -> None:
        """Forget them, because another list begins."""
        self._waiting.clear()

    def of(self, entry: Mapping[str, Any], name: str, *, stacked_format: bool = False) -> list[OutstandingOffer]:
        """Return the offers of the framework in `entry`: those in it, or else those that were collected.

        Raises one of `NATURAL` for what is no offer.
        """
        found = [
            OutstandingOffer(
                offer.id,
                offer.role,
                offer.framework_id,
                name,
                offer.agent_id,
                offer.hostname,
                offer.resources,
                stacked_format,
            )
            for offer in map(self._read, entry.get("offers", self._waiting))
        ]
        self.drop()
        return found

    def _read(self, offer: OutstandingOffer | Mapping[str, Any]) -> OutstandingOffer:
        return offer if isinstance(offer, OutstandingOffer) else self._reader.of_message(offer)
