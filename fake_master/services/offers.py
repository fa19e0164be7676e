"""Offers: made from the allocator's decisions, restored, taken back, rescinded; and inverse offers.

Source: Mesos documentation, "Scheduler HTTP API", "OFFERS" and "RESCIND"; "Maintenance Primitives", "Inverse Offers".
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Literal

from fake_master.allocator.interface import DEFAULT_REFUSE_SECONDS, Allocator, OffersByRole, Unavailability
from fake_master.services.events import EventPublisher
from fake_master.state.clock import NANOSECONDS
from fake_master.state.frameworks import KnownFramework
from fake_master.state.master_state import MasterState
from fake_master.state.offers import OutstandingOffer

Answer = Literal["ACCEPT", "DECLINE"]


class InverseOffers:
    """The inverse offers of every framework: `KnownFramework.inverse_offers` holds them, agent id by id."""

    def __init__(self, state: MasterState, allocator: Allocator, events: EventPublisher) -> None:
        self._state = state
        self._allocator = allocator
        self._events = events
        self._by_agent: dict[str, dict[str, str]] = {}
        """The framework id of each inverse offer id, by agent id."""

    def make(self, framework_id: str, unavailable: Mapping[str, Unavailability]) -> None:
        """Ask a framework to leave these agents, in one event."""
        framework = self._state.frameworks.get(framework_id)
        if framework is None:
            return
        made = {self._state.offers.new_id(self._state.id): agent_id for agent_id in unavailable}
        framework.inverse_offers |= made
        for offer_id, agent_id in made.items():
            self._by_agent.setdefault(agent_id, {})[offer_id] = framework_id
        self._events.inverse_offers(framework, made)
        seconds = self._state.flags.offer_seconds
        if seconds is not None:
            self._state.timers.at(self._state.now + seconds, lambda: self._time_out(framework, made))

    def _time_out(self, framework: KnownFramework, made: Mapping[str, str]) -> None:
        for offer_id, agent_id in made.items():
            if framework.inverse_offers.pop(offer_id, None) is not None:
                del self._by_agent[agent_id][offer_id]
                self._events.rescind_inverse_offer(framework, offer_id)
                self._allocator.update_inverse_offer(framework.id, agent_id)

    def answer(
        self, framework: KnownFramework, offer_ids: Iterable[str], answer: Answer, refuse_seconds: float | None
    ) -> None:
        """ACCEPT_INVERSE_OFFERS or DECLINE_INVERSE_OFFERS; ids that are not outstanding are passed over.

        The answer is kept for /maintenance/status.  Either way the framework is asked again once its filter is over.
        """
        for offer_id in offer_ids:
            agent_id = framework.inverse_offers.pop(offer_id, None)
            if agent_id is None:
                continue
            del self._by_agent[agent_id][offer_id]
            self._state.agents[agent_id].answers[framework.id] = {
                "framework_id": {"value": framework.id},
                "status": answer,
                "timestamp": {"nanoseconds": int(self._state.wall_time * NANOSECONDS)},
            }
            seconds = DEFAULT_REFUSE_SECONDS if refuse_seconds is None else refuse_seconds
            self._allocator.update_inverse_offer(framework.id, agent_id, seconds)

    def rescind_on(self, agent_id: str) -> None:
        """Rescind every inverse offer of this agent."""
        for offer_id, framework_id in self._by_agent.pop(agent_id, {}).items():
            framework = self._state.frameworks[framework_id]
            del framework.inverse_offers[offer_id]
            self._events.rescind_inverse_offer(framework, offer_id)
            self._allocator.update_inverse_offer(framework_id, agent_id)

    def forget(self, framework: KnownFramework) -> None:
        """Drop the inverse offers of a framework whose stream is gone."""
        for offer_id, agent_id in framework.inverse_offers.items():
            del self._by_agent[agent_id][offer_id]
            self._allocator.update_inverse_offer(framework.id, agent_id)
        framework.inverse_offers.clear()


class Offers:
    """Makes and ends offers: keeps the state, the allocator and the events to frameworks in step."""

    def __init__(self, state: MasterState, allocator: Allocator, events: EventPublisher) -> None:
        self._state = state
        self._allocator = allocator
        self._events = events
        self.inverse = InverseOffers(state, allocator, events)
        self.on_rescind: Callable[[OutstandingOffer], None] | None = None
        """Called with every offer that is rescinded, while it is still outstanding."""

    def make(self, framework_id: str, by_role: OffersByRole) -> None:
        """Make offers of an allocation to one framework, and send them in one event.

        If idle reservations are lent, revocable resources are offered separately. Resources that can no longer be
        offered are returned at once, without a filter.
        """
        state = self._state
        framework = state.frameworks.get(framework_id)
        made = []
        for role, by_agent in by_role.items():
            for agent_id, resources in by_agent.items():
                agent = state.agents.get(agent_id)
                if framework is None or not framework.active or agent is None or not agent.active:
                    self._allocator.recover_resources(framework_id, agent_id, resources)
                    continue
                for kind, part in state.revocability.kinds(resources):
                    name, executors = state.offers.new_id(state.id), framework.executors_on(agent_id)
                    offer = OutstandingOffer(name, framework_id, agent_id, role, part, kind, executors)
                    self._keep(offer)
                    made.append(offer)
        if framework is not None and made:
            framework.counts["offers/sent"] += len(made)
            self._events.offers(framework, made)
            if state.flags.offer_seconds is not None:
                state.timers.at(state.now + state.flags.offer_seconds, lambda: self._time_out(made))

    def _time_out(self, made: Iterable[OutstandingOffer]) -> None:
        for offer in made:
            if offer in self._state.offers:
                self.rescind(offer)

    def restore(self, offer: OutstandingOffer) -> None:
        """Add an offer that was outstanding before this master was made; its framework does not get it again."""
        self._keep(offer)
        self._allocator.restore_offered(offer.framework_id, offer.agent_id, offer.resources)

    def _keep(self, offer: OutstandingOffer) -> None:
        self._state.offers.add(offer)
        self._state.frameworks[offer.framework_id].add_offer(offer)

    def discard(self, offer: OutstandingOffer) -> None:
        """End an offer; its resources are the caller's to account for."""
        self._state.offers.remove(offer)
        framework = self._state.frameworks.get(offer.framework_id)
        if framework is not None:
            framework.drop_offer(offer)

    def take_back(self, offer: OutstandingOffer, refuse_seconds: float | None = None) -> None:
        """End an offer and return its resources to the allocator, with a filter of `refuse_seconds` if given."""
        self.discard(offer)
        self._allocator.recover_resources(offer.framework_id, offer.agent_id, offer.resources, refuse_seconds)

    def rescind(self, offer: OutstandingOffer, refuse_seconds: float | None = None) -> None:
        """Send RESCIND to the framework, then take the offer back."""
        if self.on_rescind is not None:
            self.on_rescind(offer)
        framework = self._state.frameworks.get(offer.framework_id)
        if framework is not None:
            framework.counts["offers/rescinded"] += 1
            self._events.rescind(framework, offer)
        self.take_back(offer, refuse_seconds)

    def rescind_on(self, agent_id: str) -> None:
        """Rescind every offer of an agent."""
        for offer in self._state.offers.on_agent(agent_id):
            self.rescind(offer)

    def rescind_all_on(self, agent_id: str) -> None:
        """Rescind every offer and every inverse offer of an agent."""
        self.rescind_on(agent_id)
        self.inverse.rescind_on(agent_id)
