"""Agents on which something was asked back, held for whom it was asked.

Without that, what comes back bit by bit would be offered around before there is enough of it, and
be taken by those who had just lost it.
"""

from collections.abc import Iterator, Mapping, Sequence

from fake_master.allocator.interface import AgentInfo, Holding, HoldingKey
from fake_master.allocator.records import Agent, Client
from fake_master.allocator.requests import Request, Requests
from fake_master.allocator.state import State
from mesosctl.core.priorities import Priorities
from mesosctl.core.quantities import Quantities


class Claim:
    """What one framework in a role waits for on one agent."""

    __slots__ = ("agent", "client", "priority", "requests", "waits_for")

    def __init__(self, agent: Agent, client: Client, priority: int) -> None:
        self.agent = agent
        self.client = client
        self.priority = priority
        self.requests: list[Request] = []
        self.waits_for: dict[HoldingKey, Holding] = {}
        """What has not ended yet; when all of it has, the next run offers the agent to the client."""


class Claims:
    """At most one an agent."""

    def __init__(self, priorities: Priorities) -> None:
        self._priorities = priorities
        self._by_agent: dict[str, Claim] = {}

    def __contains__(self, agent: str) -> bool:
        return agent in self._by_agent

    def __len__(self) -> int:
        return len(self._by_agent)

    def __iter__(self) -> Iterator[Claim]:
        return iter(self._by_agent.values())

    def holds(self, claim: Claim) -> bool:
        """Whether the claim still stands."""
        return self._by_agent.get(claim.agent.id) is claim

    def withheld(self, framework: str, role: str, agent: AgentInfo) -> bool:
        """Whether the agent is kept from somebody: from all but those of higher priority, and whom it is for."""
        claim = self._by_agent.get(agent.id)
        if claim is None or self._priorities.of(role) > claim.priority:
            return False
        its_own = claim.client.framework.id == framework and claim.client.role.name == role
        return bool(claim.waits_for) or not its_own

    def add(self, claim: Claim) -> None:
        """From now on the agent waits."""
        self._by_agent[claim.agent.id] = claim
        claim.agent.forget_proofs()

    def drop(self, claim: Claim) -> None:
        """The agent is anybody's again, and what was to be met there may be met elsewhere."""
        if self.holds(claim):
            del self._by_agent[claim.agent.id]
            claim.agent.forget_proofs()
            for request in claim.requests:
                request.claimed_on = None

    def review(self, state: State, requests: Requests, holdings: Mapping[str, Sequence[Holding]]) -> None:
        """Before a run: forget claims that nobody has any more, and what has ended meanwhile."""
        for claim in list(self._by_agent.values()):
            if not _is_wanted(claim, state, requests):
                self.drop(claim)
            elif claim.waits_for:
                present = {holding.key for holding in holdings.get(claim.agent.id, ())}
                claim.waits_for = {key: held for key, held in claim.waits_for.items() if key in present}
                if _is_enough(claim, requests):
                    claim.waits_for.clear()
                if not claim.waits_for:
                    claim.agent.forget_proofs()

    def drop_delivered(self) -> None:
        """After a batch: what had come back was offered, or was of no use."""
        for claim in [claim for claim in self._by_agent.values() if not claim.waits_for]:
            self.drop(claim)
            for request in claim.requests:
                request.exhausted = True


def _is_wanted(claim: Claim, state: State, requests: Requests) -> bool:
    client, agent = claim.client, claim.agent
    return (
        state.agents.get(agent.id) is agent
        and agent.activated
        and state.frameworks.get(client.framework.id) is client.framework
        and takes_part(client)
        and any(requests.stands(client.framework.id, request) for request in claim.requests)
    )


def _is_enough(claim: Claim, requests: Requests) -> bool:
    """Whether there is enough already, because something else has ended: then the rest may stay."""
    framework = claim.client.framework.id
    wanted = Quantities.total(
        request.wanted.amounts for request in claim.requests if requests.stands(framework, request)
    )
    return claim.client.eligibility.usable(claim.agent.shape.resources).contains(wanted)


def takes_part(client: Client) -> bool:
    """Whether the client is offered anything at all."""
    return client.subscribed and client.framework.active and not client.suppressed
