"""Inverse offers: asking frameworks to leave agents that will be down (spec/allocator.md §10)."""

from collections.abc import Iterable

from fake_master.allocator.clock import Timers
from fake_master.allocator.filters import InverseOfferFilter, timeout_of
from fake_master.allocator.interface import Unavailability
from fake_master.allocator.records import Agent, Framework


def inverse_offers(agents: Iterable[Agent]) -> dict[str, dict[str, Unavailability]]:
    """{framework: {agent: unavailability}} for those who hold something there and have not been asked.

    Agents that are deactivated are asked for as well.
    """
    asked: dict[str, dict[str, Unavailability]] = {}
    for agent in agents:
        if agent.unavailability is None:
            continue
        for framework in agent.holders():
            if framework.active and framework not in agent.outstanding and not framework.inverse_filters.get(agent):
                agent.outstanding.add(framework)
                asked.setdefault(framework.id, {})[agent.id] = agent.unavailability
    return asked


def refuse(framework: Framework, agent: Agent, refuse_seconds: float, timers: Timers) -> None:
    """Do not ask again for a while; unlike an offer's filter this may be shorter than the interval."""
    timeout = timeout_of(refuse_seconds)
    if timeout == 0:
        return
    refusal = InverseOfferFilter()
    framework.inverse_filters.setdefault(agent, []).append(refusal)

    def expire() -> None:
        if refusal.alive:
            _drop(framework, agent, refusal)

    timers.after(timeout, expire)


def forget(framework: Framework, agent: Agent | None = None) -> None:
    """Drop a framework's refusals, of one agent or of all."""
    for where in [agent] if agent is not None else list(framework.inverse_filters):
        for refusal in framework.inverse_filters.pop(where, ()):
            refusal.alive = False


def _drop(framework: Framework, agent: Agent, refusal: InverseOfferFilter) -> None:
    refusal.alive = False
    held = framework.inverse_filters[agent]
    held.remove(refusal)
    if not held:
        del framework.inverse_filters[agent]
