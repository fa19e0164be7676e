"""Lending similar agents as a batch, with the same result as one by one.

Most of a third stage is about agents with the same free resources and no loans: each goes as a whole to the borrower
with the smallest share that accepts it. The order is kept in lists, and the sorters are updated at the end.
"""

from bisect import insort
from collections.abc import Iterator
from itertools import islice
from operator import add

from fake_master.allocator.hierarchical.offerable.free_resources import FreeResources
from fake_master.allocator.hierarchical.records import AllocatorAgent, AllocatorClient, Offered
from fake_master.allocator.hierarchical.sorters.drf_sorter import DrfSorter
from fake_master.allocator.hierarchical.sorters.sorter import Key, Kind, Node
from fake_master.allocator.hierarchical.state import State
from fake_master.extensions.lending.borrower_order import LendingBorrower, LendingRole, Row
from fake_master.extensions.lending.idle_reservations import BorrowerRole
from fake_master.extensions.lending.lent_resources import LentState
from mesosctl.mesos.amounts.identity import IdentityCache
from mesosctl.mesos.amounts.resources import Resources

_MOST_JOINED = 10_000
_MOST_ROWS = 100

_SHORT = 8
"""Agents in a row that are not worth a row of their own."""
_MOST_SHORT = 8
"""The number of short rows in one stage after which no more are tried."""


class JoinedOffers:
    """Adds loans to the offers of a run, together with a client's regular offers."""

    def __init__(self) -> None:
        self._joined = IdentityCache(add, most=_MOST_JOINED).of
        """Both kinds in one."""

    def add(self, offered: Offered, client: AllocatorClient, agent: AllocatorAgent, lent: Resources) -> None:
        """Add a loan of an agent to a client's offers."""
        by_agent = offered.setdefault(client, {})
        by_agent[agent.id] = self.of(by_agent.get(agent.id), lent)

    def of(self, regular: Resources | None, lent: Resources) -> Resources:
        """Return the regular offer, if any, together with the loan."""
        return lent if regular is None else self._joined(regular, lent)


class LendingBatch:
    """The rows of similar agents in third stages."""

    def __init__(self, state: State, lent: LentState, joined: JoinedOffers) -> None:
        self._state = state
        self._lent = lent
        self._joined = joined
        self._offered: Offered = {}
        self._short = 0
        self._rows: dict[FreeResources, Row] = {}
        self._rows_epoch: object = None
        """The `LentState.epoch` in which the rows were made: which borrowers take what does not change in it."""

    def begin(self, offered: Offered) -> None:
        """Begin a stage, which adds to these offers."""
        self._offered = offered
        self._short = 0
        if self._rows_epoch is not self._lent.epoch or len(self._rows) > _MOST_ROWS:
            self._rows = {}
            self._rows_epoch = self._lent.epoch

    def lend(self, agents: list[AllocatorAgent], start: int) -> int:
        """Lend agents from index `start` on while they are similar; return the index of the next one."""
        lent = self._lent
        record, sorter = lent.agents[agents[start].id], lent.role_sorter
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
        row = self._row(agents[start].free_resources)
        place = self._lend_row(agents, start, row, sorter.root.ranking)
        for lending in row.opened:
            self._account(lending)
        self._short += place - start < _SHORT
        return place

    def _row(self, free_resources: FreeResources) -> Row:
        row = self._rows.get(free_resources)
        if row is None:
            row = self._rows[free_resources] = Row(free_resources, self._lent.idle(free_resources))
        row.begin(self._lent.totals.divisors)
        return row

    def _lend_row(self, agents: list[AllocatorAgent], start: int, row: Row, ranking: list[Key]) -> int:
        """Lend until an agent differs or must be offered to several.

        Everything that an agent can lend is lent, so nothing remains to be settled.
        """
        records, epoch, offered = self._lent.agents, self._lent.epoch, self._offered
        free_resources = row.free_resources
        index = start
        for lending, agent in zip(self._turns(row, ranking), islice(agents, start, None), strict=False):
            borrower = lending.next
            client = borrower.client
            name = agent.id
            record = records[name]
            if (
                record.slack_worked_out_for is not free_resources
                or record.lent
                or record.has_usage_slack
                or record.idle_epoch is epoch
                or (client.filters.count and client.filters.cover(agent.sequence, lending.allocation.without_role))
                or (client.excludes is not None and client.excludes(agent.info))
            ):
                break
            record.lent = borrower.loans
            by_agent = offered.get(client)
            if by_agent is None:
                by_agent = offered[client] = {}
            regular = by_agent.get(name)
            if regular is not lending.beside:
                lending.beside, lending.offered = regular, self._joined.of(regular, lending.allocation.with_role)
            by_agent[name] = lending.offered
            index += 1
        return index

    def _turns(self, row: Row, ranking: list[Key]) -> Iterator[LendingRole]:
        """Yield the role whose turn it is; it has been given an agent when the next one is asked for."""
        order: list[tuple[float, int, str, Node | LendingRole]] = [
            key for key in ranking if key[3].children or key[3].client.accepts_revocable
        ]
        roles = len(order)
        for turn, (_, _, _, place) in enumerate(order):  # a role that was given an agent comes again later in it
            if turn == roles and row.is_even(roles):
                yield from row.rounds()
                return
            lending = place if isinstance(place, LendingRole) else self._open(place, row)
            if lending is None:
                return
            if not lending.borrowers:
                continue
            yield lending
            if lending.order:
                lending.pass_turn()
            key = lending.take()
            if order[-1] < key:
                order.append(key)  # as mostly
            else:
                insort(order, key)

    def _open(self, node: Node, row: Row) -> LendingRole | None:
        """Return a role whose turn has come; None if it has roles below it, or may have a part of such agents only."""
        if node.children:
            return None
        role: BorrowerRole = node.client
        lending = row.roles.get(role)
        if lending is None:
            lending = self._lending_role(role, row)
            if lending is None:
                return None
            row.roles[role] = lending
        lending.begin_row(row)
        row.opened.append(lending)
        return lending

    def _lending_role(self, role: BorrowerRole, row: Row) -> LendingRole | None:
        lent = self._lent
        part = row.idle.lendable_whole(role.name)
        if part and part != row.slack:
            return None
        allocation = lent.allocation_of_pairs(role.name, row.scalars)
        borrowers: list[LendingBorrower] = []
        for borrower in role.borrowers.values() if part else ():
            if borrower.leaf.kind is not Kind.ACTIVE:  # it may have left the role, and hold loans in it still
                continue
            client = self._state.frameworks[borrower.framework].clients[role.name]
            eligibility = client.eligibility
            if (
                eligibility.accepted_kinds.revocable
                and eligibility.admits(row.free_resources.features)
                and lent.is_allocatable(allocation, eligibility)
            ):
                borrowers.append(LendingBorrower(borrower, client, {borrower: row.slack}))
        return LendingRole(role, allocation, borrowers)

    def _account(self, lending: LendingRole) -> None:
        """Update the sorters with the loans."""
        if not lending.given:
            return
        self._lent.role_sorter.allocated(lending.node, "", lending.allocation, lending.given)
        for place in lending.borrowers:
            given = place.given if lending.order else lending.given
            if given:
                place.borrower.held += given
                place.borrower.role.sorter.allocated(place.node, "", lending.allocation, given)
