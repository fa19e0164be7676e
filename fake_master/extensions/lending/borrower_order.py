"""The order of roles and borrowers while similar agents are lent to them one after another.

The keys are those of `DrfSorter`; loans are counted here, and the sorters are updated at the end.
"""

from bisect import insort
from collections.abc import Iterator, Mapping
from typing import Self

from fake_master.allocator.hierarchical.offerable.allocations import Allocation, Pairs
from fake_master.allocator.hierarchical.offerable.free_resources import FreeResources
from fake_master.allocator.hierarchical.records import AllocatorClient
from fake_master.allocator.hierarchical.sorters.drf_sorter import DrfSorter
from fake_master.allocator.hierarchical.sorters.sorter import Node
from fake_master.extensions.lending.idle_reservations import Borrower, BorrowerRole, IdleReservations, Loans
from mesosctl.mesos.amounts.resources import Resources


class Shares(dict[int, float]):
    """The shares of all borrowers with the same holdings before a row, by the number of agents that they got."""

    __slots__ = ("_base", "_divisors", "_weight")

    def __init__(self, node: Node, divisors: Mapping[str, float], scalars: Pairs) -> None:
        super().__init__()
        held = dict(node.amounts)
        self._divisors = [(held.pop(name, 0), amount, divisors[name]) for name, amount in scalars if name in divisors]
        self._base = max((_double(held[name]) / divisors[name] for name in held if name in divisors), default=0.0)
        """The largest share of resources that are not lent here."""
        self._weight = node.weight

    def __missing__(self, given: int) -> float:
        shares = (_double(held + given * amount) / divisor for held, amount, divisor in self._divisors)
        share = self[given] = max(self._base, *shares) / self._weight
        return share


def _double(amount: int) -> float:
    return amount // 1000 + amount % 1000 / 1000.0


class BorrowerPlace:
    """The place of a role or a borrower in the order, while it is given one agent after another."""

    __slots__ = ("_count", "_path", "_shares", "given", "node")

    def __init__(self, node: Node) -> None:
        self.node = node
        self.given = 0
        """The number of agents that it got."""

    def begin(self, shares: Shares) -> None:
        """Prepare for `take`, by which it moves among others; nothing is given yet."""
        node = self.node
        self.given = 0
        self._shares, self._count, self._path = shares, node.count, node.path

    def take(self) -> tuple[float, int, str, Self]:
        """Count one more agent, and return its new key in the order."""
        self.given = given = self.given + 1
        return self._shares[given], self._count + given, self._path, self


class LendingBorrower(BorrowerPlace):
    """A borrower that takes agents of this kind."""

    __slots__ = ("borrower", "client", "loans")

    def __init__(self, borrower: Borrower, client: AllocatorClient, loans: Loans) -> None:
        super().__init__(borrower.leaf)
        self.borrower = borrower
        self.client = client
        self.loans = loans
        """The loans of each agent that it gets."""


class LendingRole(BorrowerPlace):
    """A role, and its borrowers that take agents of this kind."""

    __slots__ = ("allocation", "beside", "borrowers", "next", "offered", "order")

    def __init__(self, role: BorrowerRole, allocation: Allocation, borrowers: list[LendingBorrower]) -> None:
        super().__init__(role.leaf)
        self.allocation = allocation
        self.borrowers = borrowers
        if borrowers:
            self.next = borrowers[0]
            """The borrower whose turn it is."""
        self.order: list[tuple[float, int, str, LendingBorrower]] = []
        """The keys of the borrowers, that of `next` first; empty unless there are several."""
        self.beside: Resources | None = None
        """The regular offer of the last agent."""
        self.offered = allocation.with_role
        """The regular offer and the loan, in one."""

    def begin_row(self, row: "Row") -> None:
        """Prepare it and its borrowers for a row, in which nothing is given yet."""
        borrowers = self.borrowers
        if not borrowers:
            return
        self.begin(row.shares(self.node))
        if len(borrowers) > 1:
            for place in borrowers:
                place.begin(row.shares(place.node))
            sorter: DrfSorter = self.node.client.sorter
            sorter.refresh()
            places = {place.node: place for place in borrowers}
            self.order = [
                (share, count, path, places[node]) for share, count, path, node in sorter.root.ranking if node in places
            ]
            self.next = self.order[0][3]

    def pass_turn(self) -> None:
        """Count an agent for the borrower whose turn it is, and let the next one have its turn."""
        _, _, _, place = self.order.pop(0)
        insort(self.order, place.take())
        self.next = self.order[0][3]


class Row:
    """Agents with the same free resources, of which nothing is lent."""

    def __init__(self, free_resources: FreeResources, idle: IdleReservations) -> None:
        self.free_resources = free_resources
        self.idle = idle
        self.slack = dict(idle.amounts)
        """The amounts that each of them can lend: one shared dictionary, which is never changed."""
        self.scalars: Pairs = tuple(sorted(idle.amounts))
        self.roles: dict[BorrowerRole, LendingRole] = {}
        """Roles that had a turn in this or an earlier run."""
        self.opened: list[LendingRole] = []
        """Roles that had a turn in this row."""
        self._divisors: Mapping[str, float] = {}
        self._shares: dict[tuple[object, ...], Shares] = {}

    def begin(self, divisors: Mapping[str, float]) -> None:
        """Prepare for a row of a run with these totals."""
        self.opened = []
        self._divisors = divisors
        self._shares = {}

    def shares(self, node: Node) -> Shares:
        """Return the shares of borrowers with the same holdings and weight."""
        key = node.weight, *node.amounts.items()
        found = self._shares.get(key)
        if found is None:
            found = self._shares[key] = Shares(node, self._divisors, self.scalars)
        return found

    def is_even(self, turns: int) -> bool:
        """Whether that many turns were of as many roles, and all have the same shares, which grow."""
        if len(self.opened) != turns or len(self._shares) != 1:
            return False
        (shares,) = self._shares.values()
        return shares[1] < shares[2]

    def rounds(self) -> Iterator[LendingRole]:
        """Yield the roles in the same order again and again, if the first round was even.

        While the share grows with each agent, nobody overtakes another.
        """
        (shares,) = self._shares.values()
        takers = [lending for lending in self.opened if lending.borrowers]
        given = 1
        while shares[given] < shares[given + 1]:
            for lending in takers:
                yield lending
                lending.given += 1
                if lending.order:
                    lending.pass_turn()
            given += 1
