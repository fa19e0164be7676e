"""Filters of refused offers and inverse offers (docs/explanation/allocator.md, "Recovering resources and filters")."""

import math
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from fake_master.allocator.hierarchical.packed_filters import RefusedResources
from fake_master.allocator.hierarchical.records import AllocatorAgent, AllocatorClient, AllocatorFramework
from fake_master.allocator.hierarchical.run_schedule import AllocatorTimers
from fake_master.allocator.hierarchical.state import State
from fake_master.allocator.interface import DEFAULT_REFUSE_SECONDS, Unavailability
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.rules.version_profile import A_YEAR

# Mesos keeps durations as 64-bit nanoseconds, which limits them.
_REPRESENTABLE = (2**63 - 1) / 1e9


class OfferFilters:
    """Installs and drops the filters of refused offers; calls `on_expiry` with the agent of each that ends."""

    def __init__(self, state: State, timers: AllocatorTimers, on_expiry: Callable[[AllocatorAgent], None]) -> None:
        self._state = state
        self._timers = timers
        self._latest: dict[tuple[float, int], RefusedResources] = {}
        """Refusals that further filters may share, by end and identity.

        Each keeps its resources, which have no hash, and a framework may decline thousands of offers at once.
        """
        self._timers_created = 0
        """When the last of those was made."""
        self._on_expiry = on_expiry
        self._departed: dict[str, int] = {}
        """The numbers of removed agents on which there may be filters, by id."""

    def install(
        self, client: AllocatorClient, agent: AllocatorAgent, refused: Resources, refuse_seconds: float
    ) -> None:
        """Add a filter for resources that a client has refused, without allocation roles."""
        if client.subscribed:
            options = self._state.options
            seconds = filter_seconds(refuse_seconds, options.allocation_interval, options.longest_refusal)
            if seconds is not None:
                self.restore(client, agent, refused, seconds)

    def restore(self, client: AllocatorClient, agent: AllocatorAgent, refused: Resources, seconds: float) -> None:
        """Filter these resources for exactly this long."""
        refusal = self._refusal(refused, seconds)
        if not refusal.clients or refusal.clients[-1] is not client:
            refusal.clients.append(client)
        client.filters.add(agent.sequence, refusal)

    def _refusal(self, refused: Resources, seconds: float) -> RefusedResources:
        """Return the refusal of this moment: one for all whose filters end together, with no other timer between."""
        timers = self._timers
        if timers.created != self._timers_created:
            self._latest.clear()
        until = timers.now + seconds
        refusal = self._latest.get((until, id(refused)))
        if refusal is None:
            refusal = self._latest[until, id(refused)] = self._state.refusals.add(refused, until)
            timers.after(seconds, partial(self._expire, refusal))
            self._timers_created = timers.created
        return refusal

    def _expire(self, refusal: RefusedResources) -> None:
        """Drop the filters of a refusal that has ended."""
        state = self._state
        state.has_changed = True
        self._latest.clear()
        for client in refusal.clients:
            tokens = client.token | client.role.token
            for number in client.filters.remove_refusal(refusal):
                agent = state.agents_by_sequence.get(number)
                if agent is not None:
                    agent.forget_proofs(tokens)
                    self._on_expiry(agent)
        state.refusals.remove(refusal)

    def postpone(self, seconds: float) -> None:
        """Let each filter end this much later; its timer is postponed too."""
        self._latest.clear()
        for refusal in self._state.refusals.values():
            refusal.until += seconds

    def forget(self, client: AllocatorClient) -> None:
        """Drop all filters of a client."""
        client.filters.clear()
        self._state.renew_tokens(client)

    def forget_agent(self, agent: AllocatorAgent) -> None:
        """Drop the filters of all frameworks on an agent."""
        for client in self._filtering_clients():
            client.filters.remove_agent(agent.sequence)
        agent.forget_proofs()

    def agent_removed(self, agent: AllocatorAgent) -> None:
        """Drop the filters on it, or keep them until it returns."""
        if not self._state.options.filters_outlive_agents:
            self.forget_agent(agent)
        elif self._state.refusals:
            self._departed[agent.id] = agent.sequence

    def agent_added(self, agent: AllocatorAgent) -> None:
        """Let the filters hold that an agent of this id left behind."""
        before = self._departed.pop(agent.id, None)
        if before is not None:
            for client in self._filtering_clients():
                client.filters.move(before, agent.sequence)

    def _filtering_clients(self) -> Iterator[AllocatorClient]:
        """All clients; none if there is no filter, as mostly where thousands of agents go at once."""
        if self._state.refusals:
            for framework in self._state.frameworks.values():
                yield from framework.clients.values()

    def remaining(self, client: AllocatorClient) -> Iterable[tuple[AllocatorAgent, Resources, float]]:
        """Yield (agent, what is refused there, seconds left) for each filter of a client on an agent that is there."""
        for number, refusal in client.filters:
            agent = self._state.agents_by_sequence.get(number)
            if agent is not None:
                yield agent, refusal.refused, refusal.until - self._timers.now


class InverseOfferFilters:
    """Asks frameworks to leave agents with maintenance ahead, and remembers who has refused."""

    def __init__(self, state: State, timers: AllocatorTimers) -> None:
        self._state = state
        self._timers = timers

    def make(self, agents: Iterable[AllocatorAgent]) -> dict[str, dict[str, Unavailability]]:
        """Return {framework: {agent: unavailability}} for frameworks that hold something there and were not asked."""
        asked: dict[str, dict[str, Unavailability]] = {}
        for agent in agents:
            if agent.unavailability is None:
                continue
            for framework in dict.fromkeys(client.framework for client, _ in agent.allocations):
                if (
                    framework.active
                    and framework not in agent.inverse_offered_to
                    and not framework.inverse_filters.get(agent)
                ):
                    agent.inverse_offered_to |= {framework}
                    asked.setdefault(framework.id, {})[agent.id] = agent.unavailability
        return asked

    def answered(self, framework_id: str, agent_id: str, refuse_seconds: float | None) -> None:
        """Record an answer; with `refuse_seconds`, which may be less than an interval, do not ask again until then."""
        framework, agent = self._state.frameworks.get(framework_id), self._state.agents.get(agent_id)
        if framework is None or agent is None:
            return
        agent.inverse_offered_to -= {framework}
        longest = self._state.options.longest_refusal
        seconds = 0.0 if refuse_seconds is None else timeout_of(refuse_seconds, longest)
        if seconds <= 0:
            return
        refusal = object()
        framework.inverse_filters.setdefault(agent, []).append(refusal)

        def expire() -> None:
            filters = framework.inverse_filters.get(agent, [])
            if refusal in filters:  # else it was dropped before
                filters.remove(refusal)

        self._timers.after(seconds, expire)

    def forget_agent(self, agent: AllocatorAgent) -> None:
        """Drop what all frameworks have refused of an agent."""
        for framework in self._state.frameworks.values():
            framework.inverse_filters.pop(agent, None)

    def forget_framework(self, framework: AllocatorFramework) -> None:
        """Drop what a framework has refused."""
        framework.inverse_filters.clear()


def filter_seconds(refuse_seconds: float, interval: float, longest: float = A_YEAR) -> float | None:
    """Return the duration of a filter of offers in seconds, or None for no filter.

    It always outlives the next batch.
    """
    timeout = timeout_of(refuse_seconds, longest)
    return max(timeout, interval) if timeout != 0 else None


def timeout_of(refuse_seconds: float, longest: float = A_YEAR) -> float:
    """Return the seconds that a refusal lasts: at most `longest`; five if the number makes no sense.

    What a duration cannot hold makes none, where there is no longest time.  NaN, which protobuf can carry, makes none
    there either; elsewhere it is a time that is over: a real master makes the least of its 64-bit numbers of it.
    """
    if math.isnan(refuse_seconds):
        return DEFAULT_REFUSE_SECONDS if math.isinf(longest) else -math.inf
    seconds = min(refuse_seconds, longest)
    return seconds if 0 <= seconds <= _REPRESENTABLE else DEFAULT_REFUSE_SECONDS
