"""Records of idle reservations: of an agent that lends, of borrowers, and the sums between them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from fake_master.allocator.hierarchical.offerable.allocations import Amounts, Pairs, add, scalar_pairs
from fake_master.allocator.hierarchical.offerable.free_resources import FreeResources
from fake_master.allocator.hierarchical.sorters.sorter import Node, Sorter
from mesosctl.mesos import roles
from mesosctl.mesos.amounts.resources import Resources


@dataclass(slots=True, eq=False)
class Borrower:
    """A framework in a role, as far as it may hold or holds something that can be taken back."""

    framework: str
    role: "BorrowerRole"
    leaf: Node
    subscribed: bool = False
    accepts_revocable: bool = False
    held: int = 0
    """The number of agents on which it holds anything, twice if of both kinds."""


@dataclass(slots=True, eq=False)
class BorrowerRole:
    """A role with frameworks."""

    name: str
    leaf: Node
    sorter: Sorter
    borrowers: dict[str, Borrower] = field(default_factory=dict)
    accepts_revocable: int = 0
    """The number of its frameworks that accept revocable resources."""


Loans = Mapping[Borrower, Amounts]
"""Amounts by borrower, possibly of several agents.  Replaced, never changed in place."""
NO_LOANS: Loans = {}


@dataclass(slots=True, eq=False)
class LentAgent:
    """One agent: what it can lend, and what borrowers hold of it."""

    id: str
    usage_slack: Resources = field(default_factory=Resources)
    """Usage slack, as reported."""
    has_usage_slack: bool = False
    """Whether there is any."""
    allocation_slack: Amounts = field(default_factory=dict)
    """Slack of allocation, as of the last run."""
    lent: Loans = field(default_factory=lambda: NO_LOANS)
    """Amounts of allocation slack that borrowers hold; after a run, together never more than the slack."""
    debt: Loans = field(default_factory=lambda: NO_LOANS)
    """Amounts that borrowers still hold though they are lent no longer."""
    throttled: dict[Borrower, Resources] = field(default_factory=dict)
    """Usage slack that borrowers hold, with allocation roles."""
    slack_worked_out_for: FreeResources | None = None
    """The free resources from which `allocation_slack` was worked out."""
    counted_in_totals: Pairs = ()
    """The amounts of it in the sorters' totals."""
    idle_epoch: object = None
    """The `LentState.epoch` in which no borrower accepted anything that is free now, or None."""

    settled: bool = True
    """Whether there are no loans and debts, or neither they nor the allocation slack have changed since a stage."""

    def unsettle(self) -> None:
        """The allocation slack, a loan or a debt has changed."""
        self.settled = not (self.lent or self.debt)

    def lent_in_all(self) -> Amounts:
        """Return what all borrowers have of the slack of allocation, debts aside."""
        sums: Amounts = {}
        for amounts in self.lent.values():
            add(sums, tuple(amounts.items()))
        return sums

    def usage_free(self) -> Resources:
        """Return the part of the slack of use that is not lent."""
        left = self.usage_slack
        for held in self.throttled.values():
            left -= held.allocated_to(None)
        return left


def excess(total: Amounts, part: Amounts) -> Amounts:
    """Return the amounts of `total` in excess of those of `part`, by name."""
    return {name: rest for name, amount in total.items() if (rest := amount - part.get(name, 0)) > 0}


def overlap(left: Amounts, right: Amounts) -> Amounts:
    """Return the amounts that both have, by name."""
    return {name: least for name, amount in left.items() if (least := min(amount, right.get(name, 0))) > 0}


def forget_idleness(agent: LentAgent) -> None:
    """Offer the agent's idle resources again in the next run."""
    agent.idle_epoch = None


class IdleReservations:
    """Idle reservations of similar agents, and the part that may be lent to a role."""

    def __init__(self, lendable: Resources) -> None:
        self._lendable = lendable
        self.amounts = scalar_pairs(lendable)
        self._lendable_whole: dict[str, Amounts] = {}
        self._others: dict[str, Amounts] = {}

    def lendable_whole(self, role: str) -> Amounts:
        """Return the amounts that a role may borrow of an agent of which nothing is lent."""
        found = self._lendable_whole.get(role)
        if found is None:
            found = self._lendable_whole[role] = _lendable(self, {}, role, dict(self.amounts))
        return found

    def of_others(self, role: str) -> Amounts:
        """Return what `role` is never offered regularly: neither its own nor its ancestors'."""
        found = self._others.get(role)
        if found is None:
            others = self._lendable.filter(lambda entry: not entry.allocatable_to(role))
            found = self._others[role] = dict(scalar_pairs(others))
        return found


def lendable_to(agent: LentAgent, idle: IdleReservations, role: str, left: Amounts) -> Amounts:
    """Return how much of `left` may be lent to a role: all roles below an owner get no more than others own."""
    # While nothing is lent, `left` is everything that is idle.
    return _lendable(idle, agent.lent, role, left) if agent.lent else idle.lendable_whole(role)


def _lendable(idle: IdleReservations, lent: Mapping[Borrower, Amounts], role: str, left: Amounts) -> Amounts:
    slack = dict(idle.amounts)
    for name in (role, *roles.ancestors(role)):
        if not left:
            break
        own = idle.of_others(name)
        if own != slack:
            bound = excess(own, _lent_within(lent, name))
            left = overlap(left, bound)
    return left


def _lent_within(lent: Mapping[Borrower, Amounts], role: str) -> Amounts:
    sums: Amounts = {}
    for borrower, amounts in lent.items():
        if borrower.role.name == role or roles.is_strict_subrole(borrower.role.name, role):
            add(sums, tuple(amounts.items()))
    return sums
