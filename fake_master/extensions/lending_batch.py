"""Lending agents that look alike in one go, with the same result as one by one.

Most of a third stage goes to agents that have the same free resources and of which nothing is lent: each goes whole
to the worst-off borrower that takes it, and then another is the worst-off.  So the order is kept in heaps, and the
sorters are told in the end how often each borrower was given something.
"""

import heapq

from fake_master.allocator.hierarchical.offerable.allocations import Allocation, Amounts, Pairs
from fake_master.allocator.hierarchical.records import Agent, Client
from fake_master.allocator.hierarchical.sorters.drf_sorter import DrfSorter
from fake_master.allocator.hierarchical.sorters.sorter import Key, Kind, Node, Sorter
from fake_master.allocator.hierarchical.state import State
from fake_master.allocator.interface import Offers, ResourcesByAgent
from fake_master.extensions.idle_reservations import Borrower, BorrowerRole, lendable_to
from fake_master.extensions.lent_resources import LentState
from mesosctl.model.resources import Resources

_MOST_JOINED = 10_000

_SHORT = 8
"""Agents in a row that are not worth the making of the heaps."""
_MOST_SHORT = 8
"""How often a row may be short in one stage until no more are tried."""


class JoinedOffers:
    """Enters what is lent among the offers of a run: it comes together with what a client is offered regularly."""

    def __init__(self) -> None:
        self._joined: dict[tuple[int, int], tuple[Resources, Resources, Resources]] = {}
        """Both kinds in one, with their parts, which an id stands for as long as they are kept here."""

    def add(self, offers: Offers, client: Client, agent: Agent, lent: Resources) -> None:
        """Enter what a client is lent of an agent."""
        by_agent = offers_of(offers, client)
        by_agent[agent.id] = self.of(by_agent.get(agent.id), lent)

    def of(self, regular: Resources | None, lent: Resources) -> Resources:
        """Return what is offered regularly, if anything, and what is lent beside it in one."""
        if regular is None:
            return lent
        key = id(regular), id(lent)
        found = self._joined.get(key)
        if found is None:
            if len(self._joined) > _MOST_JOINED:
                self._joined.clear()
            found = self._joined[key] = regular, lent, regular + lent
        return found[2]


def offers_of(offers: Offers, client: Client) -> ResourcesByAgent:
    """Return the offers of a client by agent, to be added to."""
    return offers.setdefault(client.framework.id, {}).setdefault(client.role.name, {})


class _Place:
    """The place of a role or a borrower in the order, while it is given one agent after another."""

    __slots__ = ("_base", "_count", "_path", "_shares", "_weight", "given", "node", "offers")

    def __init__(self, node: Node) -> None:
        self.node = node
        self.given = 0
        """How many agents it was given."""
        self.offers: ResourcesByAgent = {}
        """The offers of the borrower in this run, once it was given something."""

    def follow(self, sorter: Sorter, scalars: Pairs) -> None:
        """Prepare for `take`, by which it moves among others."""
        divisors, node = sorter.totals.divisors, self.node
        self._count, self._path, self._weight = node.count, node.path, node.weight
        held = node.tally.amounts
        self._shares = [(held.get(name, 0), amount, divisors[name]) for name, amount in scalars if name in divisors]
        self._base = 0.0
        """The largest share in what it is not given here."""
        given = [name for name, _ in scalars]
        for name, amount in held.items():
            if name not in given and name in divisors:
                self._base = max(self._base, (amount // 1000 + amount % 1000 / 1000.0) / divisors[name])

    def take(self) -> tuple[float, int, str]:
        """Count one more agent, and return the key by which it stands in the order from now on."""
        self.given = given = self.given + 1
        best = self._base
        for held, amount, divisor in self._shares:
            now = held + given * amount
            part = (now // 1000 + now % 1000 / 1000.0) / divisor
            if part > best:  # noqa: PLR1730  # max() costs a call
                best = part
        return best / self._weight, self._count + given, self._path


class _LendingRole:
    """A role, and its borrowers that take agents of this kind, in the order of a heap."""

    __slots__ = ("allocation", "beside", "borrowers", "has_several", "heap", "offered", "place", "role")

    def __init__(self, role: BorrowerRole, allocation: Allocation, place: _Place) -> None:
        self.role = role
        self.allocation = allocation
        self.place = place
        self.heap: list[tuple[float, int, str]] = []
        self.borrowers: dict[str, tuple[Borrower, Client, _Place, bool]] = {}
        """By path in the framework sorter, with whether filters or constraints may keep an agent from it."""
        self.has_several = False
        """Whether there are several."""
        self.beside: Resources | None = None
        """The regular offer of the last agent."""
        self.offered = allocation.with_role
        """That and what is lent beside it."""


class LendingBatch:
    """The rows of like agents in one third stage."""

    def __init__(self, state: State, lent: LentState, joined: JoinedOffers, offers: Offers) -> None:
        self._state = state
        self._lent = lent
        self._joined = joined
        self._offers = offers
        self._short = 0

    def lend(self, agents: list[Agent], start: int) -> int:
        """Lend agents from the place `start` on as long as they are alike; return the place of the next one."""
        first, sorter = agents[start], self._lent.role_sorter
        record = self._lent.agents[first.id]
        if (
            self._short > _MOST_SHORT
            or record.lent
            or record.has_usage_slack
            or not record.allocation_slack
            or record.idle_epoch is self._lent.epoch
            or not isinstance(sorter, DrfSorter)
        ):
            return start
        sorter.refresh()
        ranking = sorter.root.ranking
        if any(node.kind is Kind.INTERNAL for _, _, _, node in ranking):
            self._short = _MOST_SHORT + 1
            return start
        heap = [key[:3] for key in ranking if key[3].client.accepts_revocable]
        roles = {key[2]: key[3].client for key in ranking}
        opened: dict[str, _LendingRole] = {}
        place = self._lend_row(agents, start, heap, roles, opened)
        for one in opened.values():
            self._account(one)
        self._short += place - start < _SHORT
        return place

    def _lend_row(
        self,
        agents: list[Agent],
        start: int,
        heap: list[tuple[float, int, str]],
        roles: dict[str, BorrowerRole],
        opened: dict[str, _LendingRole],
    ) -> int:
        records, epoch = self._lent.agents, self._lent.epoch
        free_resources = agents[start].free_resources
        # One for all: what is lent is replaced where it changes.
        slack = dict(records[agents[start].id].allocation_slack)
        for index in range(start, len(agents)):
            agent = agents[index]
            name = agent.id
            record = records[name]
            if (
                agent.free_resources is not free_resources
                or record.lent
                or record.has_usage_slack
                or record.idle_epoch is epoch
            ):
                return index
            while heap:
                path = heap[0][2]
                lending = opened.get(path)
                if lending is None:
                    lending = self._open(roles[path], agent, slack)
                    if lending is None:
                        return index
                    opened[path] = lending
                if lending.heap:
                    break
                heapq.heappop(heap)
            else:
                return index
            borrower, client, place, is_choosy = lending.borrowers[lending.heap[0][2]]
            if is_choosy and _rejects(client, agent, lending.allocation):
                return index
            record.lent[borrower] = slack
            record.idle_epoch = None
            record.settled = False
            borrower.held += 1
            offers = place.offers
            if not place.given:
                offers = place.offers = offers_of(self._offers, client)
            regular = offers.get(name)
            if regular is not lending.beside:
                lending.beside, lending.offered = regular, self._joined.of(regular, lending.allocation.with_role)
            offers[name] = lending.offered
            heapq.heapreplace(heap, lending.place.take())
            if lending.has_several:
                heapq.heapreplace(lending.heap, place.take())
            else:
                place.given += 1
        return len(agents)

    def _open(self, role: BorrowerRole, agent: Agent, slack: Amounts) -> _LendingRole | None:
        """Return a role with the borrowers that take such agents; None where it may have a part of them only."""
        lent, features = self._lent, agent.capacity.features
        part = lendable_to(lent.agents[agent.id], lent.idle(agent.free_resources), role.name, slack)
        if part and part != slack:
            return None
        allocation = lent.allocation(role.name, slack)
        lending = _LendingRole(role, allocation, _Place(role.leaf))
        if not part:
            return lending
        for share, count, path, node in self._in_order(role):
            borrower: Borrower = node.client
            client = self._state.frameworks[borrower.framework].clients[role.name]
            eligibility = client.eligibility
            if (
                eligibility.accepted_kinds.revocable
                and eligibility.admits(features)
                and lent.is_allocatable(allocation, eligibility)
            ):
                lending.heap.append((share, count, path))
                is_choosy = client.filters.count > 0 or client.excludes is not None
                lending.borrowers[path] = borrower, client, _Place(node), is_choosy
        lending.has_several = len(lending.heap) > 1
        if lending.heap:
            lending.place.follow(lent.role_sorter, allocation.scalars)
        for _, _, place, _ in lending.borrowers.values() if lending.has_several else ():
            place.follow(role.sorter, allocation.scalars)
        return lending

    def _in_order(self, role: BorrowerRole) -> list[Key]:
        """Return the keys of the active borrowers of a role in their order."""
        if len(role.borrowers) == 1:  # as in many clusters: there is nothing to be sorted
            (borrower,) = role.borrowers.values()
            leaf = borrower.leaf
            return [(0.0, 0, leaf.path, leaf)] if leaf.kind is Kind.ACTIVE else []
        role.sorter.refresh()  # type: ignore[attr-defined]  # all sorters are of the kind of the role sorter
        return role.sorter.root.ranking

    def _account(self, lending: _LendingRole) -> None:
        """Tell the sorters what was given."""
        if not lending.place.given:
            return
        self._lent.role_sorter.allocated_again(lending.place.node, lending.allocation, lending.place.given)
        for _, _, place, _ in lending.borrowers.values():
            if place.given:
                lending.role.sorter.allocated_again(place.node, lending.allocation, place.given)


def _rejects(client: Client, agent: Agent, allocation: Allocation) -> bool:
    return client.filters.cover(agent.sequence, allocation.without_role) or (
        client.excludes is not None and client.excludes(agent.info)
    )
