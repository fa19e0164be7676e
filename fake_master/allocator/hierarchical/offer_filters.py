"""Filters of refused offers and inverse offers (allocator specification, "Recovering resources and filters")."""

import math
from collections.abc import Iterable

from fake_master.allocator.hierarchical.batch_schedule import Timers
from fake_master.allocator.hierarchical.records import Agent, Client, Framework, InverseOfferFilter, OfferFilter
from fake_master.allocator.hierarchical.state import State
from fake_master.allocator.interface import DEFAULT_REFUSE_SECONDS, Unavailability
from mesosctl.model.resources import Resources

_LONGEST = 365 * 24 * 3600.0
# Mesos keeps durations as 64-bit nanoseconds; what does not fit is not representable.
_REPRESENTABLE = (2**63 - 1) / 1e9


class OfferFilters:
    """Installs and drops the filters of refused offers."""

    def __init__(self, state: State, timers: Timers) -> None:
        self._state = state
        self._timers = timers

    def install(self, client: Client, agent: Agent, refused: Resources, refuse_seconds: float) -> float | None:
        """Filter what a client has refused, without allocation roles.

        Returns the seconds that the filter holds; None where there is none.
        """
        if not client.subscribed:
            return None
        seconds = filter_seconds(refuse_seconds, self._state.options.allocation_interval)
        if seconds is not None:
            self.restore(client, agent, refused, seconds)
        return seconds

    def restore(self, client: Client, agent: Agent, refused: Resources, seconds: float) -> None:
        """Filter these resources for exactly so long."""
        offer_filter = OfferFilter(client, agent, refused, self._timers.now + seconds)
        client.filters.setdefault(agent, []).append(offer_filter)
        self._timers.after(seconds, offer_filter.expire)

    def forget(self, client: Client) -> None:
        """Drop all filters of a client."""
        for filters in client.filters.values():
            for offer_filter in filters:
                offer_filter.alive = False
        client.filters.clear()
        self._state.renew_tokens(client)

    def remaining(self, client: Client) -> Iterable[tuple[Agent, Resources, float]]:
        """Yield (agent, what is refused there, seconds left) for each filter of a client."""
        for agent, filters in client.filters.items():
            for offer_filter in filters:
                yield agent, offer_filter.refused, offer_filter.until - self._timers.now


class InverseOffers:
    """Asks frameworks to leave agents with maintenance ahead, and remembers who has refused."""

    def __init__(self, state: State, timers: Timers) -> None:
        self._state = state
        self._timers = timers

    def make(self, agents: Iterable[Agent]) -> dict[str, dict[str, Unavailability]]:
        """Return {framework: {agent: unavailability}} for those who hold something there and have not been asked.

        Agents that are deactivated are asked for as well.
        """
        asked: dict[str, dict[str, Unavailability]] = {}
        for agent in agents:
            if agent.unavailability is None:
                continue
            for framework in agent.holders():
                if (
                    framework.active
                    and framework not in agent.inverse_offered_to
                    and not framework.inverse_filters.get(agent)
                ):
                    agent.inverse_offered_to.add(framework)
                    asked.setdefault(framework.id, {})[agent.id] = agent.unavailability
        return asked

    def answered(self, framework_id: str, agent_id: str, refuse_seconds: float | None) -> None:
        """Note an answer; with `refuse_seconds` do not ask again for that long, which may be less than an interval."""
        framework, agent = self._state.frameworks.get(framework_id), self._state.agents.get(agent_id)
        if framework is None or agent is None:
            return
        agent.inverse_offered_to.discard(framework)
        seconds = 0.0 if refuse_seconds is None else timeout_of(refuse_seconds)
        if seconds == 0:
            return
        refusal = InverseOfferFilter()
        framework.inverse_filters.setdefault(agent, []).append(refusal)

        def expire() -> None:
            if refusal.alive:
                _drop(framework, agent, refusal)

        self._timers.after(seconds, expire)

    def forget_agent(self, agent: Agent) -> None:
        """Drop what all frameworks have refused of an agent."""
        for framework in self._state.frameworks.values():
            _forget(framework, agent)

    def forget_framework(self, framework: Framework) -> None:
        """Drop what a framework has refused."""
        for agent in list(framework.inverse_filters):
            _forget(framework, agent)


def _forget(framework: Framework, agent: Agent) -> None:
    for refusal in framework.inverse_filters.pop(agent, ()):
        refusal.alive = False


def _drop(framework: Framework, agent: Agent, refusal: InverseOfferFilter) -> None:
    refusal.alive = False
    filters = framework.inverse_filters[agent]
    filters.remove(refusal)
    if not filters:
        del framework.inverse_filters[agent]


def filter_seconds(refuse_seconds: float, interval: float) -> float | None:
    """Return the seconds that a filter of offers holds, None where there is to be none.

    It always outlives the next batch.
    """
    timeout = timeout_of(refuse_seconds)
    return max(timeout, interval) if timeout > 0 else None


def timeout_of(refuse_seconds: float) -> float:
    """Return the seconds that a refusal lasts: five where the number makes no sense, at most a year."""
    if math.isnan(refuse_seconds) or refuse_seconds < 0 or refuse_seconds > _REPRESENTABLE:
        return DEFAULT_REFUSE_SECONDS
    return min(refuse_seconds, _LONGEST)
