"""The offers of each framework in an answer, which may come one by one before the framework itself."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from mesosctl.api.frameworks import Offered, offer, offered_of
from mesosctl.api.protobuf_json.resource_lists import Known
from mesosctl.model.offers.offers import Offer
from mesosctl.model.resources import Resources


class ReadOffer(NamedTuple):
    """An offer, without the name of its framework."""

    id: str
    role: str
    framework_id: str
    agent_id: str
    hostname: str
    resources: Resources


class FrameworkOffers:
    """Collects the offers of the framework that comes next; equal resources become one value."""

    def __init__(self) -> None:
        self._known: Known[str, Offered] = Known()
        self._waiting: list[ReadOffer | Mapping[str, Any]] = []

    def add(self, offers: Iterable[ReadOffer | Mapping[str, Any]]) -> None:
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

    def _read(self, one: ReadOffer | Mapping[str, Any]) -> ReadOffer | Offer:
        return one if isinstance(one, ReadOffer) else offer(one, known=self._offered)

    def _offered(self, messages: Any) -> Offered:
        return self._known.get(repr(messages), lambda: offered_of(messages))
