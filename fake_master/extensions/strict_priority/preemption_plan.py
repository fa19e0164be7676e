"""The choice of the victims for a request that free resources cannot meet.

If resources are not freed quickly enough, the allocation module may revoke tasks (docs/explanation/documents.md,
"Playing Traffic Cop").  Which ones is left to the policy; this one is

1. only from roles of a lower priority, and never from one that would hold less than it is guaranteed;
2. on the one agent where it costs least: nothing but what is coming back anyway, then offers that
   nobody has answered, then tasks of the lowest priority, then the fewest tasks;
3. there: its own offers first, which come back as part of a larger one, and unanswered offers of
   others; then the lowest priority, then the role with the largest dominant share, then what began
   last, since that loses the least work;
4. only what is needed: whatever the rest makes superfluous is let go again, the dearest first.
"""

import heapq
import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from fake_master.allocator.hierarchical.records import AllocatorAgent, AllocatorClient
from fake_master.allocator.hierarchical.state import State
from fake_master.allocator.revocation import Holding, HoldingKey
from fake_master.extensions.strict_priority.quota_safeguards import Bounds, Guarantees
from fake_master.extensions.strict_priority.resource_holds import (
    EvictionCost,
    Hold,
    Holds,
    OpenRequest,
    PreemptionTarget,
    unreserved_nonrevocable,
)
from mesosctl.mesos.amounts.quantities import Quantities
from mesosctl.mesos.roles import Priorities

Cost = tuple[int, float, int]
"""(kind, highest priority among the losers of tasks, number of tasks): the lower, the better."""

_FREE, _COMING, _OFFERS, _TASKS = range(4)


class Option(NamedTuple):
    """A way to meet a request on one agent."""

    cost: Cost
    chosen: tuple[Holding, ...]


class Plan:
    """The agent for each request, and what is taken for it, planned after a run."""

    def __init__(
        self, state: State, priorities: Priorities, holds_by_agent: Holds, holdings: Mapping[str, Sequence[Holding]]
    ) -> None:
        self._state = state
        self._priorities = priorities
        self._earlier_holds = holds_by_agent
        self._holdings = holdings
        self._guaranteed = Guarantees(state)
        self._bounds = Bounds(state)
        self._promised: dict[str, Quantities] = {}
        """Free amounts that are left to earlier requests, by agent id."""
        self.holds_by_agent: dict[str, Hold] = {}
        """New ones, by agent id."""
        self.revoked: list[tuple[Hold, Holding]] = []
        self._taken: set[HoldingKey] = set()
        self._known_targets: dict[tuple[str, AllocatorClient], PreemptionTarget] = {}
        for hold in holds_by_agent:
            amounts = Quantities.total(request.asked.amounts for request in hold.requests)
            self._bounds.promise(hold.client.role, amounts, unreserved_nonrevocable(hold.waits_for.values()))
            for holding in hold.waits_for.values():
                self._guaranteed.give_up(holding)

    def place(self, client: AllocatorClient, requests: Sequence[OpenRequest]) -> None:
        """Meet these requests of one client, all of the same amounts, as far as that is possible."""
        wanted = requests[0].asked
        heap: list[tuple[Cost, int, PreemptionTarget]] = []
        order = itertools.count()
        for target in self._targets(client, wanted.agent):
            option = self._option(target, wanted.amounts)
            if option is not None:
                heapq.heappush(heap, (option.cost, next(order), target))
        for request in requests:
            self._place(request, heap)

    def release_superfluous(self) -> None:
        """Take nothing that other revocations make superfluous; of that the dearest is released first."""
        for target in self._known_targets.values():
            if target.hold is None:
                continue
            names = {name for request in target.hold.requests for name in request.asked.amounts}
            own = [holding for hold, holding in self.revoked if hold is target.hold]
            for holding in sorted(
                own, key=lambda holding: target.eviction_cost(holding, self._eviction_cost), reverse=True
            ):
                spare, useful = target.free + target.coming, target.useful(holding.frees)
                if all(useful.get_amount(name) <= spare.get_amount(name) for name in names):
                    target.free, target.coming = spare - useful, Quantities()
                    self.revoked.remove((target.hold, holding))
                    del target.hold.waits_for[holding.key]

    def _place(self, request: OpenRequest, heap: list[tuple[Cost, int, PreemptionTarget]]) -> None:
        amounts = request.asked.amounts
        while heap:
            cost, number, target = heapq.heappop(heap)
            # Requests that were placed before may have made it more expensive, or impossible.
            option = self._option(target, amounts)
            if option is None:
                continue
            if option.cost > cost:
                heapq.heappush(heap, (option.cost, number, target))
                continue
            self._take(target, option, request)
            again = self._option(target, amounts)
            if again is not None:
                heapq.heappush(heap, (again.cost, number, target))
            return

    def _targets(self, client: AllocatorClient, only: str | None) -> Iterable[PreemptionTarget]:
        for agent in self._state.agents.values():
            if only in (None, agent.id):
                key = agent.id, client
                if key not in self._known_targets:
                    self._known_targets[key] = self._target(agent, client)
                yield self._known_targets[key]

    def _target(self, agent: AllocatorAgent, client: AllocatorClient) -> PreemptionTarget:
        holdings = self._holdings.get(agent.id, ())
        target = PreemptionTarget(agent, client, [holding for holding in holdings if holding.key not in self._taken])
        if self._is_open(agent, client):
            target.open(self._promised.get(agent.id, Quantities()), self._is_lower, self._eviction_cost)
        return target

    def _is_open(self, agent: AllocatorAgent, client: AllocatorClient) -> bool:
        """Whether the client could be offered more of it, now or when something has ended."""
        whitelist = self._state.whitelist
        return (
            agent.activated
            and (whitelist is None or agent.info.hostname in whitelist)
            and agent.id not in self._earlier_holds
            and agent.id not in self.holds_by_agent
            and client.eligibility.admits(agent.free_resources.features)
            and not (client.excludes is not None and client.excludes(agent.info))
        )

    def _is_lower(self, holding: Holding, client: AllocatorClient) -> bool:
        return self._priorities.of(holding.role) < self._priorities.of(client.role.name)

    def _eviction_cost(self, holding: Holding) -> EvictionCost:
        role = holding.role
        return EvictionCost(holding.is_task, self._priorities.of(role), -self._state.role_sorter.share(role))

    def _option(self, target: PreemptionTarget, amounts: Quantities) -> Option | None:
        """The best way to meet a request there, None if there is none."""
        if target.free.contains(amounts) or target.answerable(amounts) is not None:
            return Option((_FREE, 0.0, 0), ())
        short = amounts - target.free - target.coming
        chosen = self._choose(target, short)
        if chosen is None:
            return None
        own = unreserved_nonrevocable(holding for holding in chosen if target.is_own(holding))
        freed = unreserved_nonrevocable(chosen) + (
            unreserved_nonrevocable(target.ending) if target.hold is None else Quantities()
        )
        if not self._bounds.allow(target.client.role, amounts - own, freed - own):
            return None
        tasks = [holding for holding in chosen if holding.is_task]
        if not tasks:
            return Option((_OFFERS if chosen else _COMING, 0.0, 0), tuple(chosen))
        highest = max(self._priorities.of(holding.role) for holding in tasks)
        return Option((_TASKS, float(highest), len(tasks)), tuple(chosen))

    def _choose(self, target: PreemptionTarget, short: Quantities) -> list[Holding] | None:
        """Choose as few as free what is short, in the order of the policy."""
        chosen: list[Holding] = []
        missing, trial = short, self._guaranteed.copy()
        for holding in target.candidates:
            if not missing:
                break
            useful = target.useful(holding.frees)
            if (target.is_own(holding) or trial.allows(holding)) and any(name in useful for name in missing):
                chosen.append(holding)
                trial.give_up(holding)
                missing -= useful
        if missing:
            return None
        for holding in reversed(list(chosen)):
            rest = [other for other in chosen if other is not holding]
            if Quantities.total(target.useful(other.frees) for other in rest).contains(short):
                chosen = rest
        return chosen

    def _take(self, target: PreemptionTarget, option: Option, request: OpenRequest) -> None:
        """Decide so."""
        amounts = request.asked.amounts
        answerable = None if target.free.contains(amounts) else target.answerable(amounts)
        if answerable is not None:
            target.unanswered[answerable] -= amounts
            target.candidates = [holding for holding in target.candidates if holding.key != answerable]
            return
        freed = [*option.chosen, *(target.ending if target.hold is None else ())]
        from_free = Quantities({name: min(milli, target.free.get_amount(name)) for name, milli in amounts.items()})
        self._promised[target.agent.id] = self._promised.get(target.agent.id, Quantities()) + from_free
        whole = target.free.contains(amounts)
        target.free -= amounts
        if whole:
            self._bounds.promise(target.client.role, amounts, Quantities())
            return
        self._bounds.promise(target.client.role, amounts, unreserved_nonrevocable(freed))
        if target.hold is None:
            priority = self._priorities.of(target.client.role.name)
            target.hold = self.holds_by_agent[target.agent.id] = Hold(target.agent, target.client, priority)
            target.hold.waits_for = {holding.key: holding for holding in target.ending}
        request.hold_agent = target.agent.id
        target.hold.requests.append(request)
        for holding in option.chosen:
            target.coming += target.useful(holding.frees)
            target.candidates.remove(holding)
            target.unanswered.pop(holding.key, None)
            target.hold.waits_for[holding.key] = holding
            self._guaranteed.give_up(holding)
            self.revoked.append((target.hold, holding))
            self._taken.add(holding.key)
        target.coming -= amounts - from_free
