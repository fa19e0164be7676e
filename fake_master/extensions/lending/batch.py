"""Lending similar agents as a batch, with the same result as one by one.

Most of a third stage is about agents with the same free resources and no loans: each goes as a whole to the borrower
with the smallest share that accepts it. The order is kept in heaps, and the sorters are updated at the end.
"""

from heapq import heappop, heapreplace

from fake_master.allocator.hierarchical.offerable.allocations import Allocation
from fake_master.allocator.hierarchical.records import Agent, Client
from fake_master.allocator.hierarchical.sorters.drf_sorter import DrfSorter
from fake_master.allocator.hierarchical.sorters.sorter import Key, Kind, Node
from fake_master.allocator.hierarchical.state import State
from fake_master.allocator.interface import Offers, ResourcesByAgent
from fake_master.extensions.lending.batch_order import LendingBorrower, LendingRole, Row
from fake_master.extensions.lending.idle_reservations import Borrower, BorrowerRole, LentAgent, lendable_to
from fake_master.extensions.lending.lent_resources import LentState
from mesosctl.model.resources import Resources

_MOST_JOINED = 10_000

_SHORT = 8
"""Agents in a row that are not worth the making of the heaps."""
_MOST_SHORT = 8
"""The number of short rows in one stage after which no more are tried."""


class JoinedOffers:
    """Adds loans to the offers of a run, together with a client's regular offers."""

    def __init__(self) -> None:
        self._joined: dict[tuple[int, int], tuple[Resources, Resources, Resources]] = {}
        """Both kinds in one, with their parts, identified by object id while they are kept here."""

    def add(self, offers: Offers, client: Client, agent: Agent, lent: Resources) -> None:
        """Add a loan of an agent to a client's offers."""
        by_agent = offers_of(offers, client)
        by_agent[agent.id] = self.of(by_agent.get(agent.id), lent)

    def of(self, regular: Resources | None, lent: Resources) -> Resources:
        """Return the regular offer, if any, together with the loan."""
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


class LendingBatch:
    """The rows of like agents in one third stage."""

    def __init__(self, state: State, lent: LentState, joined: JoinedOffers, offers: Offers) -> None:
        self._state = state
        self._lent = lent
        self._joined = joined
        self._offers = offers
        self._short = 0

    def lend(self, agents: list[Agent], start: int) -> int:
        """Lend agents from index `start` on while they are similar; return the index of the next one."""
        first, lent = agents[start], self._lent
        record, sorter = lent.agents[first.id], lent.role_sorter
        if (
            self._short > _MOST_SHORT
            or record.lent
            or record.has_usage_slack
            or not record.allocation_slack
            or record.idle_epoch is lent.epoch
            or not isinstance(sorter, DrfSorter)
        ):
            return start
        sorter.refresh()
        ranking = sorter.root.ranking
        if any(node.kind is Kind.INTERNAL for _, _, _, node in ranking):
            self._short = _MOST_SHORT + 1
            return start
        row = Row(first, record, lent.idle(first.free_resources), lent.totals.divisors)
        place = self._lend_row(agents, start, row, [key for key in ranking if key[3].client.accepts_revocable])
        for lending in row.opened:
            self._account(lending)
        self._short += place - start < _SHORT
        return place

    def _lend_row(
        self, agents: list[Agent], start: int, row: Row, heap: list[tuple[float, int, str, Node | LendingRole]]
    ) -> int:
        """Lend until an agent differs or must be offered to several; `heap` has the nodes of roles in order.

        Everything that an agent can lend is lent, so nothing remains to be settled.
        """
        records, epoch = self._lent.agents, self._lent.epoch
        free_resources, slack = row.first.free_resources, row.slack
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
                lending = heap[0][3]
                if isinstance(lending, Node):
                    opened = self._open(lending.client, row, record)
                    if opened is None:
                        return index
                    lending = opened
                if lending.heap:
                    break
                heappop(heap)
            else:
                return index
            borrower = lending.heap[0][3]
            if borrower.is_choosy and _rejects(borrower.client, agent, lending.allocation):
                return index
            record.lent[borrower.borrower] = slack
            if not borrower.given:
                borrower.offers = offers_of(self._offers, borrower.client)
            offers = borrower.offers
            regular = offers.get(name)
            if regular is not lending.beside:
                lending.beside, lending.offered = regular, self._joined.of(regular, lending.allocation.with_role)
            offers[name] = lending.offered
            heapreplace(heap, lending.take())
            if lending.has_several:
                heapreplace(lending.heap, borrower.take())
            else:
                borrower.given += 1
        return len(agents)

    def _open(self, role: BorrowerRole, row: Row, record: LentAgent) -> LendingRole | None:
        """Return a role with the borrowers that take such agents; None if it may have a part of them only."""
        lent, slack = self._lent, row.slack
        part = lendable_to(record, row.idle, role.name, slack)
        if part and part != slack:
            return None
        allocation = lent.allocation_of_pairs(role.name, row.scalars)
        lending = LendingRole(role, allocation)
        row.opened.append(lending)
        if not part:
            return lending
        for share, count, path, node in self._in_order(role):
            borrower: Borrower = node.client
            client = self._state.frameworks[borrower.framework].clients[role.name]
            eligibility = client.eligibility
            if (
                eligibility.accepted_kinds.revocable
                and eligibility.admits(row.first.capacity.features)
                and lent.is_allocatable(allocation, eligibility)
            ):
                lending.heap.append((share, count, path, LendingBorrower(borrower, client)))
        lending.has_several = len(lending.heap) > 1
        if lending.heap:
            lending.follow(row.shares(role.leaf))
        for _, _, _, place in lending.heap if lending.has_several else ():
            place.follow(row.shares(place.node))
        return lending

    def _in_order(self, role: BorrowerRole) -> list[Key]:
        """Return the keys of the active borrowers of a role in their order."""
        if len(role.borrowers) == 1:  # as in many clusters: there is nothing to be sorted
            (borrower,) = role.borrowers.values()
            leaf = borrower.leaf
            return [(0.0, 0, leaf.path, leaf)] if leaf.kind is Kind.ACTIVE else []
        role.sorter.refresh()  # type: ignore[attr-defined]  # all sorters are of the kind of the role sorter
        return role.sorter.root.ranking

    def _account(self, lending: LendingRole) -> None:
        """Update the sorters with the loans."""
        if not lending.given:
            return
        self._lent.role_sorter.allocated_again(lending.node, lending.allocation, lending.given)
        for _, _, _, place in lending.heap:
            if place.given:
                place.borrower.held += place.given
                lending.role.sorter.allocated_again(place.node, lending.allocation, place.given)


def _rejects(client: Client, agent: Agent, allocation: Allocation) -> bool:
    return client.filters.cover(agent.sequence, allocation.without_role) or (
        client.excludes is not None and client.excludes(agent.info)
    )
