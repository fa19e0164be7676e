"""Whom to take something from, for a request that nothing free can meet (seeds/drf.txt).

The seed: "when resources are not being freed quickly enough, the resource allocation module has
the ability to revoke tasks".  It leaves the choice to an allocation policy; this one is

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

from fake_master.allocator.bounds import Bounds
from fake_master.allocator.claims import Claim, Claims
from fake_master.allocator.guaranteed import Guaranteed
from fake_master.allocator.interface import Holding, HoldingKey
from fake_master.allocator.records import Agent, Client
from fake_master.allocator.requests import Request
from fake_master.allocator.sites import Dearness, Site, loose
from fake_master.allocator.state import State
from mesosctl.core.priorities import Priorities
from mesosctl.core.quantities import Quantities

Cost = tuple[int, float, int]
"""(what kind, highest priority among those who lose a task, how many do): the lower the better."""

_FREE, _COMING, _OFFERS, _TASKS = range(4)


class Option(NamedTuple):
    """A way to meet a request on one agent."""

    cost: Cost
    chosen: tuple[Holding, ...]


class Plan:
    """Where each request is to be met, and what is taken for it.  Made after a run, for one moment."""

    def __init__(
        self, state: State, priorities: Priorities, claims: Claims, holdings: Mapping[str, Sequence[Holding]]
    ) -> None:
        self._state = state
        self._priorities = priorities
        self._standing = claims
        self._holdings = holdings
        self._guaranteed = Guaranteed(state)
        self._bounds = Bounds(state)
        self._promised: dict[str, Quantities] = {}
        """By agent id, what is free there and is left to requests placed before."""
        self.claims: dict[str, Claim] = {}
        """New ones, by agent id."""
        self.revoked: list[tuple[Claim, Holding]] = []
        self._taken: set[HoldingKey] = set()
        self._sites_seen: dict[tuple[str, Client], Site] = {}
        for claim in claims:
            amounts = Quantities.total(request.wanted.amounts for request in claim.requests)
            self._bounds.promise(claim.client.role, amounts, loose(claim.waits_for.values()))
            for holding in claim.waits_for.values():
                self._guaranteed.give_up(holding)

    def place(self, client: Client, requests: Sequence[Request]) -> None:
        """Meet these requests of one client, all of the same amounts, as far as that is possible."""
        wanted = requests[0].wanted
        heap: list[tuple[Cost, int, Site]] = []
        order = itertools.count()
        for site in self._sites(client, wanted.agent):
            option = self._option(site, wanted.amounts)
            if option is not None:
                heapq.heappush(heap, (option.cost, next(order), site))
        for request in requests:
            self._place(request, heap)

    def let_superfluous_go(self) -> None:
        """What one request made room for may have been taken for another already: the dearest first is not taken."""
        for site in self._sites_seen.values():
            if site.claim is None:
                continue
            names = {name for request in site.claim.requests for name in request.wanted.amounts}
            own = [holding for claim, holding in self.revoked if claim is site.claim]
            for holding in sorted(own, key=lambda holding: site.dearness(holding, self._dearness), reverse=True):
                spare, useful = site.free + site.coming, site.useful(holding.frees)
                if all(useful.get_amount(name) <= spare.get_amount(name) for name in names):
                    site.free, site.coming = spare - useful, Quantities()
                    self.revoked.remove((site.claim, holding))
                    del site.claim.waits_for[holding.key]

    def _place(self, request: Request, heap: list[tuple[Cost, int, Site]]) -> None:
        amounts = request.wanted.amounts
        while heap:
            cost, number, site = heapq.heappop(heap)
            # What was placed before may have made it dearer, or impossible.
            option = self._option(site, amounts)
            if option is None:
                continue
            if option.cost > cost:
                heapq.heappush(heap, (option.cost, number, site))
                continue
            self._take(site, option, request)
            again = self._option(site, amounts)
            if again is not None:
                heapq.heappush(heap, (again.cost, number, site))
            return

    def _sites(self, client: Client, only: str | None) -> Iterable[Site]:
        for agent in self._state.agents.values():
            if only in (None, agent.id):
                key = agent.id, client
                if key not in self._sites_seen:
                    self._sites_seen[key] = self._site(agent, client)
                yield self._sites_seen[key]

    def _site(self, agent: Agent, client: Client) -> Site:
        holdings = self._holdings.get(agent.id, ())
        site = Site(agent, client, [holding for holding in holdings if holding.key not in self._taken])
        if self._is_open(agent, client):
            site.open(self._promised.get(agent.id, Quantities()), self._is_lower, self._dearness)
        return site

    def _is_open(self, agent: Agent, client: Client) -> bool:
        """Whether the client could be offered more of it, now or when something has ended."""
        whitelist = self._state.whitelist
        return (
            agent.activated
            and (whitelist is None or agent.info.hostname in whitelist)
            and agent.id not in self._standing
            and agent.id not in self.claims
            and client.eligibility.admits(agent.shape.traits)
            and not (client.excludes is not None and client.excludes(agent.info))
        )

    def _is_lower(self, holding: Holding, client: Client) -> bool:
        return self._priorities.of(holding.role) < self._priorities.of(client.role.name)

    def _dearness(self, holding: Holding) -> Dearness:
        role = holding.role
        return holding.is_task, self._priorities.of(role), -self._state.role_sorter.share(role)

    def _option(self, site: Site, amounts: Quantities) -> Option | None:
        """The best way to meet a request there, None if there is none."""
        if site.free.contains(amounts) or site.answerable(amounts) is not None:
            return Option((_FREE, 0.0, 0), ())
        short = amounts - site.free - site.coming
        chosen = self._choose(site, short)
        if chosen is None:
            return None
        own = loose(holding for holding in chosen if site.is_own(holding))
        freed = loose(chosen) + (loose(site.ending) if site.claim is None else Quantities())
        if not self._bounds.allow(site.client.role, amounts - own, freed - own):
            return None
        tasks = [holding for holding in chosen if holding.is_task]
        if not tasks:
            return Option((_OFFERS if chosen else _COMING, 0.0, 0), tuple(chosen))
        highest = max(self._priorities.of(holding.role) for holding in tasks)
        return Option((_TASKS, float(highest), len(tasks)), tuple(chosen))

    def _choose(self, site: Site, short: Quantities) -> list[Holding] | None:
        """As few as it takes to free what is short, in the order of the policy."""
        chosen: list[Holding] = []
        missing, trial = short, self._guaranteed.copy()
        for holding in site.candidates:
            if not missing:
                break
            useful = site.useful(holding.frees)
            if (site.is_own(holding) or trial.allows(holding)) and any(name in useful for name in missing):
                chosen.append(holding)
                trial.give_up(holding)
                missing -= useful
        if missing:
            return None
        for holding in reversed(list(chosen)):
            rest = [other for other in chosen if other is not holding]
            if Quantities.total(site.useful(other.frees) for other in rest).contains(short):
                chosen = rest
        return chosen

    def _take(self, site: Site, option: Option, request: Request) -> None:
        """Decide so."""
        amounts = request.wanted.amounts
        answerable = None if site.free.contains(amounts) else site.answerable(amounts)
        if answerable is not None:
            site.unanswered[answerable] -= amounts
            site.candidates = [holding for holding in site.candidates if holding.key != answerable]
            return
        freed = [*option.chosen, *(site.ending if site.claim is None else ())]
        from_free = Quantities({name: min(milli, site.free.get_amount(name)) for name, milli in amounts.items()})
        self._promised[site.agent.id] = self._promised.get(site.agent.id, Quantities()) + from_free
        whole = site.free.contains(amounts)
        site.free -= amounts
        if whole:
            self._bounds.promise(site.client.role, amounts, Quantities())
            return
        self._bounds.promise(site.client.role, amounts, loose(freed))
        if site.claim is None:
            priority = self._priorities.of(site.client.role.name)
            site.claim = self.claims[site.agent.id] = Claim(site.agent, site.client, priority)
            site.claim.waits_for = {holding.key: holding for holding in site.ending}
        request.claimed_on = site.agent.id
        site.claim.requests.append(request)
        for holding in option.chosen:
            site.coming += site.useful(holding.frees)
            site.candidates.remove(holding)
            site.unanswered.pop(holding.key, None)
            site.claim.waits_for[holding.key] = holding
            self._guaranteed.give_up(holding)
            self.revoked.append((site.claim, holding))
            self._taken.add(holding.key)
        site.coming -= amounts - from_free
