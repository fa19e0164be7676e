"""The offers of each framework in an answer, which may come one by one before the framework itself."""

from collections.abc import Iterable, Mapping
from typing import Any

from mesosctl.api.frameworks import Offered, offer, offered_of
from mesosctl.api.protobuf_json.buffered_text import Shortcut
from mesosctl.api.protobuf_json.decoding import text_if_undecoded
from mesosctl.api.protobuf_json.message_tables import mesos_message
from mesosctl.api.protobuf_json.resource_lists import Known, ResourceLists
from mesosctl.model.offers.offers import Offer
from mesosctl.model.roles import DEFAULT_ROLE


class FrameworkOffers:
    """Collects the offers of the framework that comes next; equal resources become one value."""

    def __init__(self, lists: ResourceLists) -> None:
        self._lists = lists
        self._known: Known[str, Offered] = Known()
        self._waiting: list[Offer | Mapping[str, Any]] = []

    def shortcut(self) -> Shortcut:
        """The reader of many offers in text."""
        from mesosctl.api.protobuf_json.typed_elements import TypedElements, decoded_members  # late: it loads msgspec

        ids = ("id.value", "framework_id.value", "agent_id.value")
        members = decoded_members(
            mesos_message("mesos.v1.Offer"), *ids, "hostname", "allocation_info.role", "resources"
        )
        return TypedElements(members, self.read).read

    def add(self, offers: Iterable[Offer | Mapping[str, Any]]) -> None:
        """Offers of the next framework, read or as messages."""
        self._waiting += offers

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

    def read(self, message: Mapping[str, Any]) -> Offer:
        """An offer without the name of its framework; raises as `of`, also for text that needs a closer look."""
        if "role" not in message.get("allocation_info", {}) and text_if_undecoded(message["resources"]) is not None:
            raise ValueError("its resources name the role")
        return offer(message, known=self._offered)

    def _read(self, one: Offer | Mapping[str, Any]) -> Offer:
        return one if isinstance(one, Offer) else self.read(one)

    def _offered(self, messages: Any) -> Offered:
        if text_if_undecoded(messages) is None:
            return self._known.get(repr(messages), lambda: offered_of(messages))
        (resources,) = self._lists.by_role_in(messages, "resources").values()
        return DEFAULT_ROLE, resources, True
