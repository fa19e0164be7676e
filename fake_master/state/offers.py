"""Outstanding offers, by id and by agent, and offer operations until their frameworks have acknowledged them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mesosctl.mesos.amounts.resource import Revocability
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.amounts.values import immutable


@immutable
class OutstandingOffer:
    """Resources of one agent, offered to one role of one framework."""

    id: str
    framework_id: str
    agent_id: str
    role: str
    resources: Resources
    """Allocated to `role`."""
    kind: Revocability = "regular"
    """Offers of a master that lends are of one kind each; of any other master all count as regular."""
    executors: tuple[str, ...] = ()
    """The ids of the executors that the framework had on the agent when it was offered."""


class OutstandingOffers:
    """Every outstanding offer, oldest first."""

    def __init__(self) -> None:
        self._by_id: dict[str, OutstandingOffer] = {}
        self._by_agent: dict[str, tuple[OutstandingOffer, ...]] = {}
        self.made = 0
        """The number of offers so far, which gives the next one its id."""
        self.revision = object()
        """A new object after each change, so that unchanged offers are recognised at once."""

    def __len__(self) -> int:
        return len(self._by_id)

    def __iter__(self) -> Iterator[OutstandingOffer]:
        return iter(list(self._by_id.values()))

    def __contains__(self, offer: OutstandingOffer) -> bool:
        return offer.id in self._by_id

    def new_id(self, master_id: str) -> str:
        """Return the id of the next offer; inverse offers are counted with them."""
        self.made += 1
        return f"{master_id}-O{self.made - 1}"

    def get(self, offer_id: str) -> OutstandingOffer | None:
        """Return the outstanding offer with this id, or None."""
        return self._by_id.get(offer_id)

    def on_agent(self, agent_id: str) -> tuple[OutstandingOffer, ...]:
        """Return the outstanding offers of one agent, oldest first."""
        return self._by_agent.get(agent_id, ())

    def add(self, offer: OutstandingOffer) -> None:
        """Enter an offer."""
        self.revision = object()
        self._by_id[offer.id] = offer
        self._by_agent[offer.agent_id] = (*self._by_agent.get(offer.agent_id, ()), offer)

    def remove(self, offer: OutstandingOffer) -> None:
        """Strike out an outstanding offer."""
        self.revision = object()
        del self._by_id[offer.id]
        left = tuple(outstanding for outstanding in self._by_agent[offer.agent_id] if outstanding.id != offer.id)
        if left:
            self._by_agent[offer.agent_id] = left
        else:
            del self._by_agent[offer.agent_id]


@dataclass(frozen=True, slots=True)
class OfferOperation:
    """An operation with an id, until its framework has acknowledged that the agent has done it."""

    uuid: str
    framework_id: str
    agent_id: str
    info: Mapping[str, Any]
    status: Mapping[str, Any]
    """The latest: OPERATION_PENDING until the agent reports."""

    @property
    def id(self) -> str:
        """The name that its framework gave it; two may have the same."""
        return str(self.info["id"]["value"])

    @property
    def is_pending(self) -> bool:
        """Whether its agent does not have it yet."""
        return bool(self.status["state"] == "OPERATION_PENDING")

    def message(self) -> dict[str, Any]:
        """Return the Operation message, as GET_OPERATIONS shows it."""
        reported = {} if self.is_pending else {"statuses": [dict(self.status)]}
        return {
            "framework_id": {"value": self.framework_id},
            "agent_id": {"value": self.agent_id},
            "info": dict(self.info),
            "latest_status": dict(self.status),
            **reported,
            "uuid": {"value": self.uuid},
        }
