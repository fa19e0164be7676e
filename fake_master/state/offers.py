"""Outstanding offers: who was offered what, and how an offer ends."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mesosctl.model.quantities import Quantities
from mesosctl.model.resource import Revocability
from mesosctl.model.resources import Resources

if TYPE_CHECKING:
    from fake_master.master import Master


@dataclass(frozen=True, slots=True)
class Offer:
    """Resources of one agent, offered to one role of one framework."""

    id: str
    framework_id: str
    agent_id: str
    role: str
    resources: Resources
    """Allocated to `role`."""
    kind: Revocability = "regular"
    """Offers of a master that lends are of one kind each; of any other master all count as regular."""


class Offers:
    """Every outstanding offer of the master."""

    def __init__(self, master: "Master") -> None:
        self._master = master
        self._by_id: dict[str, Offer] = {}
        self._by_agent: dict[str, dict[str, Offer]] = {}
        self._made = 0
        self.on_rescind: Callable[[Offer], None] | None = None
        """Told of every offer that is taken back, while it is still outstanding."""

    def __len__(self) -> int:
        return len(self._by_id)

    def __iter__(self) -> Iterator[Offer]:
        return iter(list(self._by_id.values()))

    def new_id(self) -> str:
        """The id of the next offer; inverse offers are counted with them."""
        self._made += 1
        return f"{self._master.id}-O{self._made - 1}"

    def get(self, offer_id: str) -> Offer | None:
        """The outstanding offer with this id."""
        return self._by_id.get(offer_id)

    def on_agent(self, agent_id: str) -> list[Offer]:
        """The outstanding offers of one agent, oldest first."""
        return list(self._by_agent.get(agent_id, {}).values())

    def make(self, framework_id: str, by_role: Mapping[str, Mapping[str, Resources]]) -> None:
        """What the allocator decided for one framework becomes offers, in one event.

        Where idle reservations are lent, what may be taken back is offered apart from what may not.
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
                for kind, part in self._kinds(resources):
                    offer = Offer(self.new_id(), framework_id, agent_id, role, part, kind)
                    self._keep(offer)
                    made.append(offer)
        if framework is not None and made:
            framework.counts["offers/sent"] += len(made)
            master.events.offers(framework, made)
            if master.flags.offer_seconds is not None:
                master.timers.at(master.now + master.flags.offer_seconds, lambda: self._time_out(made))

    def _time_out(self, made: "Iterable[Offer]") -> None:
        for offer in made:
            if offer.id in self._by_id:
                self.rescind(offer)

    def _kinds(self, resources: Resources) -> Iterable[tuple[Revocability, Resources]]:
        if self._master.lends and any(entry.revocable for entry in resources):
            return resources.by_revocability().items()
        return (("regular", resources),)

    def restore(self, offer: Offer) -> None:
        """An offer that was outstanding before this master was made; nobody is told of it again."""
        self._keep(offer)
        self._master.allocator.restore_offered(offer.framework_id, offer.agent_id, offer.resources)

    def _keep(self, offer: Offer) -> None:
        self._by_id[offer.id] = offer
        self._by_agent.setdefault(offer.agent_id, {})[offer.id] = offer
        self._master.frameworks[offer.framework_id].add_offer(offer)

    def discard(self, offer: Offer) -> None:
        """The offer is no longer outstanding; what happens to its resources is the caller's business."""
        del self._by_id[offer.id]
        del self._by_agent[offer.agent_id][offer.id]
        framework = self._master.frameworks.get(offer.framework_id)
        if framework is not None:
            framework.drop_offer(offer)

    def take_back(self, offer: Offer, refuse_seconds: float | None = None) -> None:
        """Discard, and give the resources back to the allocator, with a filter if asked."""
        self.discard(offer)
        self._master.allocator.recover_resources(offer.framework_id, offer.agent_id, offer.resources, refuse_seconds)

    def rescind(self, offer: Offer, refuse_seconds: float | None = None) -> None:
        """Tell the framework, then take back."""
        if self.on_rescind is not None:
            self.on_rescind(offer)
        framework = self._master.frameworks.get(offer.framework_id)
        if framework is not None:
            framework.counts["offers/rescinded"] += 1
            self._master.events.rescind(framework, offer)
        self.take_back(offer, refuse_seconds)

    def lent_no_longer(self, framework_id: str, by_agent: Mapping[str, Resources]) -> None:
        """The allocator took lent resources back: rescind whole offers of them, newest first, as far as need be.

        What no offer covers is in use; the agent makes room where that is needed.
        """
        for agent_id, resources in by_agent.items():
            missing: dict[str | None, Quantities] = {}
            for entry in resources:
                sums = missing.get(entry.allocation_role, Quantities())
                missing[entry.allocation_role] = sums + Resources([entry]).scalar_quantities()
            for offer in reversed(self.on_agent(agent_id)):
                if (offer.framework_id, offer.kind) != (framework_id, "non-throttleable"):
                    continue
                held, short = offer.resources.scalar_quantities(), missing.get(offer.role)
                if short and any(name in held for name in short):
                    missing[offer.role] = short - held
                    self.rescind(offer)
