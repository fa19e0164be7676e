"""The offers of each framework in an answer, which may come one by one before the framework itself."""

from collections.abc import Iterable, Mapping
from typing import Any

from mesosctl.api.elements import offers
from mesosctl.api.protobuf_json.buffered_text import Shortcut
from mesosctl.api.protobuf_json.message_tables import mesos_message
from mesosctl.api.protobuf_json.resource_lists import ResourceLists
from mesosctl.model.offers.offers import Offer


class FrameworkOffers:
    """Collects the offers of the framework that comes next."""

    def __init__(self, lists: ResourceLists) -> None:
        self._reader = offers.OfferReader(lists)
        self._waiting: list[Offer | Mapping[str, Any]] = []

    def shortcut(self) -> Shortcut:
        """The reader of many offers in text."""
        from mesosctl.api.protobuf_json.wanted_members import WantedMembers, decoded_members  # late: it loads msgspec

        members = decoded_members(mesos_message(offers.MESSAGE), *offers.MEMBERS)
        return WantedMembers(members, self._reader.of_message).read

    def add(self, waiting: Iterable[Offer | Mapping[str, Any]]) -> None:
        """Offers of the next framework, read or as messages."""
        self._waiting += waiting

    def drop(self) -> None:
        """Forget them, because another list begins."""
        self._waiting.clear()

    def of(self, entry: Mapping[str, Any], name: str, *, stacked_format: bool = False) -> list[Offer]:
        """Return the offers of the framework in `entry`: those in it, or else those that were collected.

        Raises one of `NATURAL` for what is no offer.
        """
        found = [
            Offer(one.id, one.role, one.framework_id, name, one.agent_id, one.hostname, one.resources, stacked_format)
            for one in map(self._read, entry.get("offers", self._waiting))
        ]
        self.drop()
        return found

    def _read(self, one: Offer | Mapping[str, Any]) -> Offer:
        return one if isinstance(one, Offer) else self._reader.of_message(one)
