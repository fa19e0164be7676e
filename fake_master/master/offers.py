"""Outstanding offers: who was offered what, and how an offer ends."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mesosctl.core.resources import Resources

if TYPE_CHECKING:
    from fake_master.master.state import Master


@dataclass(frozen=True, slots=True)
class Offer:
    """Resources of one agent, offered to one role of one framework."""

    id: str
    framework_id: str
    agent_id: str
    role: str
    resources: Resources
    """Allocated to `role`."""


class Offers:
    """Every outstanding offer of the master."""

    def __init__(self, master: "Master") -> None:
        self._master = master
        self._by_id: dict[str, Offer] = {}
        self._by_agent: dict[str, dict[str, Offer]] = {}
        self._made = 0

    def __len__(self) -> int:
        return len(self._by_id)

    def __iter__(self) -> Iterator[Offer]:
        return iter(list(self._by_id.values()))

    def get(self, offer_id: str) -> Offer | None:
        """The outstanding offer with this id."""
        return self._by_id.get(offer_id)

    def on_agent(self, agent_id: str) -> list[Offer]:
        """The outstanding offers of one agent, oldest first."""
        return list(self._by_agent.get(agent_id, {}).values())

    def make(self, framework_id: str, by_role: Mapping[str, Mapping[str, Resources]]) -> None:
        """What the allocator decided for one framework becomes offers, in one event.

        What can no longer be offered goes straight back, without a filter.
        """
        master = self._master
        framework = master.frameworks.get(framework_id)
        made = []
        for role, by_agent in by_role.items():
            for agent_id, resources in by_agent.items():
                agent = master.agents.get(agent_id)
                if framework is None or not framework.active or agent is None or not agent.active:
                    master.allocator.recover_resources(framework_id, agent_id, resources)
                    continue
                offer = Offer(f"{master.id}-O{self._made}", framework_id, agent_id, role, resources)
                self._made += 1
                self._by_id[offer.id] = offer
                self._by_agent.setdefault(agent_id, {})[offer.id] = offer
                framework.offers[offer.id] = offer
                made.append(offer)
        if framework is not None and made:
            framework.counts["offers/sent"] += len(made)
            master.tell.offers(framework, made)

    def discard(self, offer: Offer) -> None:
        """The offer is no longer outstanding; what happens to its resources is the caller's business."""
        del self._by_id[offer.id]
        del self._by_agent[offer.agent_id][offer.id]
        framework = self._master.frameworks.get(offer.framework_id)
        if framework is not None:
            framework.offers.pop(offer.id, None)

    def take_back(self, offer: Offer, refuse_seconds: float | None = None) -> None:
        """Discard, and give the resources back to the allocator, with a filter if asked."""
        self.discard(offer)
        self._master.allocator.recover_resources(offer.framework_id, offer.agent_id, offer.resources, refuse_seconds)

    def rescind(self, offer: Offer, refuse_seconds: float | None = None) -> None:
        """Tell the framework, then take back."""
        framework = self._master.frameworks.get(offer.framework_id)
        if framework is not None:
            framework.counts["offers/rescinded"] += 1
            self._master.tell.rescind(framework, offer)
        self.take_back(offer, refuse_seconds)
