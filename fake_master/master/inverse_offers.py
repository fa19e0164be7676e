"""Outstanding inverse offers: who was asked to leave which agent, and what they said (spec/allocator.md §10)."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal

from fake_master.allocator.interface import DEFAULT_REFUSE_SECONDS, Unavailability
from fake_master.master.frameworks import Framework

if TYPE_CHECKING:
    from fake_master.master.master import Master

Answer = Literal["ACCEPT", "DECLINE"]
_NANOSECONDS = 1_000_000_000


class InverseOffers:
    """The inverse offers of every framework: `Framework.inverse_offers` holds them, agent id by id."""

    def __init__(self, master: "Master") -> None:
        self._master = master
        self._by_agent: dict[str, dict[str, str]] = {}
        """By agent id: framework id by inverse offer id."""

    def make(self, framework_id: str, unavailable: Mapping[str, Unavailability]) -> None:
        """The allocator's decision: ask this framework to leave these agents, in one event."""
        framework = self._master.frameworks.get(framework_id)
        if framework is None:
            return
        made = {self._master.offers.new_id(): agent_id for agent_id in unavailable}
        framework.inverse_offers |= made
        for offer_id, agent_id in made.items():
            self._by_agent.setdefault(agent_id, {})[offer_id] = framework_id
        self._master.tell.inverse_offers(framework, made)
        seconds = self._master.flags.offer_seconds
        if seconds is not None:
            self._master.timers.at(self._master.now + seconds, lambda: self._time_out(framework, made))

    def _time_out(self, framework: Framework, made: Mapping[str, str]) -> None:
        for offer_id, agent_id in made.items():
            if framework.inverse_offers.pop(offer_id, None) is not None:
                del self._by_agent[agent_id][offer_id]
                self._master.tell.rescind_inverse_offer(framework, offer_id)
                self._master.allocator.update_inverse_offer(framework.id, agent_id)

    def answer(
        self, framework: Framework, offer_ids: Iterable[str], answer: Answer, refuse_seconds: float | None
    ) -> None:
        """ACCEPT_INVERSE_OFFERS or DECLINE_INVERSE_OFFERS; ids that are not outstanding are passed over.

        The answer is kept for /maintenance/status.  Either way the framework is asked again once its filter is over.
        """
        master = self._master
        for offer_id in offer_ids:
            agent_id = framework.inverse_offers.pop(offer_id, None)
            if agent_id is None:
                continue
            del self._by_agent[agent_id][offer_id]
            master.agents[agent_id].answers[framework.id] = {
                "framework_id": {"value": framework.id},
                "status": answer,
                "timestamp": {"nanoseconds": int(master.wall_time * _NANOSECONDS)},
            }
            seconds = DEFAULT_REFUSE_SECONDS if refuse_seconds is None else refuse_seconds
            master.allocator.update_inverse_offer(framework.id, agent_id, seconds)

    def rescind_on(self, agent_id: str) -> None:
        """Whatever was asked about this agent is void, and those who were asked are told."""
        for offer_id, framework_id in self._by_agent.pop(agent_id, {}).items():
            framework = self._master.frameworks[framework_id]
            del framework.inverse_offers[offer_id]
            self._master.tell.rescind_inverse_offer(framework, offer_id)
            self._master.allocator.update_inverse_offer(framework_id, agent_id)

    def forget(self, framework: Framework) -> None:
        """The framework's stream is gone: it cannot answer any more, and need not be told."""
        for offer_id, agent_id in framework.inverse_offers.items():
            del self._by_agent[agent_id][offer_id]
            self._master.allocator.update_inverse_offer(framework.id, agent_id)
        framework.inverse_offers.clear()
