"""Requests of frameworks (`Call.Request`), and agents that are held for them.

Without holds, resources that become free bit by bit would be offered to others before there is enough, often to those
who had just lost them.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from fake_master.allocator.hierarchical.records import AllocatorAgent, AllocatorClient
from fake_master.allocator.hierarchical.state import State
from fake_master.allocator.interface import AgentInfo, ResourceRequest
from fake_master.allocator.revocation import Holding, HoldingKey
from mesosctl.mesos.amounts.quantities import Quantities
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.roles import Priorities


class OpenRequest:
    """One request, until an offer has met it."""

    __slots__ = ("asked", "exhausted", "hold_agent", "left_unmet")

    def __init__(self, wanted: ResourceRequest) -> None:
        self.asked = wanted
        self.left_unmet = False
        """Whether a batch has left it unmet."""
        self.hold_agent: str | None = None
        """The agent on which something was asked back for it and has not all come back."""
        self.exhausted = False
        """Whether that came back, and did not do; it is not done again, unless the framework asks again."""


class Requests:
    """Every pending request, by framework.

    A request is for an offer: it is satisfied, and removed, once an offer of one agent contains it.
    """

    def __init__(self) -> None:
        self._by_framework: dict[str, list[OpenRequest]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._by_framework.values()))

    def replace(self, framework: str, wanted: Sequence[ResourceRequest]) -> None:
        """Replace the requests of a framework; those that are repeated stay the same requests."""
        before = [request for request in self._by_framework.get(framework, ()) if not request.exhausted]
        before.sort(key=lambda request: request.hold_agent is None)
        found = []
        for asked in wanted:
            known = next((request for request in before if request.asked == asked), None)
            if known is not None:
                before.remove(known)
            if asked.amounts:
                found.append(known or OpenRequest(asked))
        if found:
            self._by_framework[framework] = found
        else:
            self._by_framework.pop(framework, None)

    def stands(self, framework: str, request: OpenRequest) -> bool:
        """Whether it was neither met nor withdrawn."""
        return request in self._by_framework.get(framework, ())

    def offered(self, framework: str, by_role: Mapping[str, Mapping[str, Resources]]) -> None:
        """Remove the requests that an offer satisfies."""
        standing = self._by_framework.get(framework)
        if standing is None:
            return
        for role, by_agent in by_role.items():
            for agent, resources in by_agent.items():
                left = resources.scalar_quantities()
                for request in sorted(standing, key=lambda request: _nearness(request, agent)):
                    if _fits(request.asked, role, agent) and left.contains(request.asked.amounts):
                        left -= request.asked.amounts
                        standing.remove(request)
        if not standing:
            del self._by_framework[framework]

    def overdue(self) -> Iterator[tuple[str, OpenRequest]]:
        """(framework, request) of those that were left unmet by a batch, and an interval later by another.

        To be called after each batch: of other runs not every one is over all agents.
        """
        for framework, standing in self._by_framework.items():
            for request in standing:
                if not request.left_unmet:
                    request.left_unmet = True
                elif not request.hold_agent and not request.exhausted:
                    yield framework, request


def _fits(wanted: ResourceRequest, role: str, agent: str) -> bool:
    return wanted.role in (None, role) and wanted.agent in (None, agent)


def _nearness(request: OpenRequest, agent: str) -> int:
    """Which of several requests an offer meets first: one for which something was revoked there; last, elsewhere."""
    return {agent: 0, None: 1}.get(request.hold_agent, 2)


class Hold:
    """The hold of one client on one agent, and what it waits for there."""

    __slots__ = ("agent", "client", "priority", "requests", "waits_for")

    def __init__(self, agent: AllocatorAgent, client: AllocatorClient, priority: int) -> None:
        self.agent = agent
        self.client = client
        self.priority = priority
        self.requests: list[OpenRequest] = []
        self.waits_for: dict[HoldingKey, Holding] = {}
        """Holdings that have not ended yet; when all have, the next run offers the agent to the client."""


class Holds:
    """The holds of agents, at most one for each."""

    def __init__(self, priorities: Priorities) -> None:
        self._priorities = priorities
        self._by_agent: dict[str, Hold] = {}

    def __contains__(self, agent: str) -> bool:
        return agent in self._by_agent

    def __len__(self) -> int:
        return len(self._by_agent)

    def __iter__(self) -> Iterator[Hold]:
        return iter(self._by_agent.values())

    def holds(self, hold: Hold) -> bool:
        """Whether this hold is still valid."""
        return self._by_agent.get(hold.agent.id) is hold

    def withheld(self, framework: str, role: str, agent: AgentInfo) -> bool:
        """Whether the agent is kept from a client: from all except those of higher priority, and its own."""
        hold = self._by_agent.get(agent.id)
        if hold is None or self._priorities.of(role) > hold.priority:
            return False
        its_own = hold.client.framework.id == framework and hold.client.role.name == role
        return bool(hold.waits_for) or not its_own

    def add(self, hold: Hold) -> None:
        """Hold an agent from now on."""
        self._by_agent[hold.agent.id] = hold
        hold.agent.forget_proofs()

    def drop(self, hold: Hold) -> None:
        """Release the agent; its requests may be met elsewhere."""
        if self.holds(hold):
            del self._by_agent[hold.agent.id]
            hold.agent.forget_proofs()
            for request in hold.requests:
                request.hold_agent = None

    def review(self, state: State, requests: Requests, holdings: Mapping[str, Sequence[Holding]]) -> None:
        """Before a run, drop holds that are no longer needed, and tasks that have ended."""
        for hold in list(self._by_agent.values()):
            if not _is_wanted(hold, state, requests):
                self.drop(hold)
            elif hold.waits_for:
                present = {holding.key for holding in holdings.get(hold.agent.id, ())}
                hold.waits_for = {key: held for key, held in hold.waits_for.items() if key in present}
                if _is_enough(hold, requests):
                    hold.waits_for.clear()
                if not hold.waits_for:
                    hold.agent.forget_proofs()

    def drop_delivered(self) -> None:
        """After a batch: what had come back was offered, or was of no use."""
        for hold in [hold for hold in self._by_agent.values() if not hold.waits_for]:
            self.drop(hold)
            for request in hold.requests:
                request.exhausted = True


def _is_wanted(hold: Hold, state: State, requests: Requests) -> bool:
    client, agent = hold.client, hold.agent
    return (
        state.agents.get(agent.id) is agent
        and agent.activated
        and state.frameworks.get(client.framework.id) is client.framework
        and takes_part(client)
        and any(requests.stands(client.framework.id, request) for request in hold.requests)
    )


def _is_enough(hold: Hold, requests: Requests) -> bool:
    """Whether there is enough already, because something else has ended: then the rest may stay."""
    framework = hold.client.framework.id
    wanted = Quantities.total(request.asked.amounts for request in hold.requests if requests.stands(framework, request))
    return hold.client.eligibility.usable(hold.agent.free_resources.resources).contains(wanted)


def takes_part(client: AllocatorClient) -> bool:
    """Whether the client is offered anything at all."""
    return client.subscribed and client.framework.active and not client.suppressed


class EvictionCost(NamedTuple):
    """The cost of taking a holding; the lowest is taken first."""

    is_task: bool
    priority: int
    negated_share: float
    """The dominant share of its role with its sign turned: of equal priorities the largest share goes first."""


class PreemptionTarget:
    """One agent for one client: its own offers there, and, once open, what could be offered and taken for it."""

    def __init__(self, agent: AllocatorAgent, client: AllocatorClient, holdings: Sequence[Holding]) -> None:
        self.agent = agent
        self.client = client
        self._holdings = holdings
        self.free = Quantities()
        """Amounts that the client could be offered at once."""
        self.coming = Quantities()
        """Amounts that it could be offered once all ending tasks have ended."""
        self.ending: list[Holding] = []
        self.candidates: list[Holding] = []
        """Holdings that may be taken, the cheapest first."""
        self.unanswered = {holding.key: self.useful(holding.frees) for holding in holdings if self.is_own(holding)}
        """The rest of each of the client's own offers, with which it could meet requests itself."""
        self.hold: Hold | None = None

    def open(
        self,
        promised: Quantities,
        is_lower: Callable[[Holding, AllocatorClient], bool],
        eviction_cost: Callable[[Holding], EvictionCost],
    ) -> None:
        """Something might be offered to the client there; `promised` of what is free is left to others."""
        self.free = self.useful(self.agent.free_resources.resources) - promised
        self.ending = [holding for holding in self._holdings if holding.ending]
        for holding in self.ending:
            self.coming += self.useful(holding.frees)
        takable = [
            holding
            for holding in self._holdings
            if not holding.ending and (self.is_own(holding) or is_lower(holding, self.client))
        ]
        takable.reverse()  # the newest first, wherever nothing else decides
        self.candidates = sorted(takable, key=lambda holding: self.eviction_cost(holding, eviction_cost))

    def eviction_cost(self, holding: Holding, others: Callable[[Holding], EvictionCost]) -> tuple[bool, EvictionCost]:
        """Own offers before everything of others."""
        return not self.is_own(holding), others(holding)

    def is_own(self, holding: Holding) -> bool:
        """Whether it is an offer that the client itself has not answered."""
        whose = holding.framework, holding.role, holding.is_task
        return whose == (self.client.framework.id, self.client.role.name, False)

    def answerable(self, amounts: Quantities) -> HoldingKey | None:
        """An offer that the client has and that contains so much: it need only answer."""
        return next((key for key, left in self.unanswered.items() if left.contains(amounts)), None)

    def useful(self, resources: Resources) -> Quantities:
        """The part of some resources that the client could be offered."""
        return self.client.eligibility.usable(resources)


def unreserved_nonrevocable(holdings: Iterable[Holding]) -> Quantities:
    """Return the unreserved non-revocable scalars that they free, which quota counts."""
    return Quantities.total(holding.frees.unreserved().non_revocable().scalar_quantities() for holding in holdings)
