"""The revocable resources: usage slack and allocation slack, separate from the regular accounting.

Usage slack (throttleable) is what an agent's estimator reports; allocation slack (not throttleable) consists of idle
reservations, lent to others. Sorters of the same class as the regular ones order the borrowers.
"""

from random import Random

from fake_master.allocator.hierarchical.offerable.allocations import (
    Allocation,
    AllocationPool,
    Amounts,
    Content,
    Pairs,
    add,
    scalar_pairs,
)
from fake_master.allocator.hierarchical.offerable.eligibility import Eligibility
from fake_master.allocator.hierarchical.offerable.free_resources import FreeResources
from fake_master.allocator.hierarchical.sorters.drf_sorter import DrfSorter
from fake_master.allocator.hierarchical.sorters.random_sorter import RandomSorter
from fake_master.allocator.hierarchical.sorters.sorter import Sorter, Totals
from fake_master.allocator.options import Options, SorterName
from fake_master.extensions.lending.idle_reservations import (
    NO_LOANS,
    Borrower,
    BorrowerRole,
    IdleReservations,
    LentAgent,
    Loans,
)
from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.rules.offers.frameworks import is_allocatable

_MOST_REMEMBERED = 50_000


class LentState:
    """Agents, borrowers and the sorters."""

    def __init__(self, options: Options, lendable_names: frozenset[str]) -> None:
        self.lendable_names = lendable_names
        self.agents: dict[str, LentAgent] = {}
        self.roles: dict[str, BorrowerRole] = {}
        self.totals = Totals(options.fair_sharing_excluded_resource_names)
        self._options = options
        # A separate source of random numbers, so that the regular draws stay the same.
        self._random = Random(0)  # noqa: S311  # no secrets here
        self.role_sorter = self._sorter(options.role_sorter)
        self.epoch = object()
        """Replaced whenever a framework might accept what it did not before."""
        self._allocations = AllocationPool()
        self._by_amounts: dict[tuple[str, Pairs], Allocation] = {}
        self._allocatable: dict[tuple[Allocation, Eligibility], bool] = {}
        self._idle: dict[FreeResources, IdleReservations] = {}

    # --- Roles and borrowers ------------------------------------------------------------------------

    def ensure_borrower(self, framework: str, name: str) -> Borrower:
        """The framework in a role, inactive at first."""
        role = self.roles.get(name)
        if role is None:
            sorter = self._sorter(self._options.framework_sorter)
            role = self.roles[name] = BorrowerRole(name, self.role_sorter.add(name), sorter)
            role.leaf.client = role
            self.role_sorter.activate(name)
        borrower = role.borrowers.get(framework)
        if borrower is None:
            leaf = role.sorter.add(framework.replace("/", "\0"))
            leaf.client = borrower = role.borrowers[framework] = Borrower(framework, role, leaf)
        return borrower

    def of(self, framework: str) -> list[Borrower]:
        """The framework in every role in which it is known."""
        return [role.borrowers[framework] for role in self.roles.values() if framework in role.borrowers]

    def set_active(self, borrower: Borrower, *, active: bool) -> None:
        """Whether it is active."""
        self.epoch = object()
        switch = borrower.role.sorter.activate if active else borrower.role.sorter.deactivate
        switch(borrower.leaf.path)

    def set_accepts_revocable(self, borrower: Borrower, *, accepts_revocable: bool) -> None:
        """Whether it has the capability; roles without any such framework are passed over."""
        borrower.role.accepts_revocable += accepts_revocable - borrower.accepts_revocable
        borrower.accepts_revocable = accepts_revocable

    def forget_unless_needed(self, borrower: Borrower) -> None:
        """Forget a borrower that is not subscribed and has nothing."""
        if borrower.subscribed or borrower.held:
            return
        role = borrower.role
        role.sorter.remove(borrower.leaf.path)
        del role.borrowers[borrower.framework]
        if not role.borrowers:
            self.role_sorter.remove(role.name)
            del self.roles[role.name]

    def fair_rank(self, borrower: Borrower) -> tuple[object, ...]:
        """Return the key by which the worst-off borrowers come first, active or not."""
        role, leaf = borrower.role, borrower.leaf
        return (
            self.role_sorter.share(role.name), role.leaf.count, role.name,
            role.sorter.share(leaf.path), leaf.count, leaf.path,
        )  # fmt: skip

    # --- Handing out and taking back ----------------------------------------------------------------

    def lend(self, agent: LentAgent, borrower: Borrower, amounts: Amounts, *, counted: bool = True) -> Resources:
        """Slack of allocation for a borrower; `counted` is whether the sorters see an allocation."""
        allocation = self.allocation(borrower.role.name, amounts)
        agent.lent = _changed(agent.lent, borrower, amounts, 1)
        self._enter(borrower, agent, allocation, 1, counted=counted)
        return allocation.with_role

    def unlend(self, agent: LentAgent, borrower: Borrower, amounts: Amounts) -> Resources:
        """The reverse."""
        allocation = self.allocation(borrower.role.name, amounts)
        agent.lent = _changed(agent.lent, borrower, amounts, -1)
        self._enter(borrower, agent, allocation, -1)
        return allocation.with_role

    def owe(self, agent: LentAgent, borrower: Borrower, amounts: Amounts, sign: int) -> None:
        """A debt grows (+1), or is paid or turned back (-1)."""
        agent.debt = _changed(agent.debt, borrower, amounts, sign)
        agent.unsettle()

    def throttle(self, agent: LentAgent, borrower: Borrower, resources: Resources) -> Resources:
        """Slack of use, without allocation roles, for a borrower."""
        allocation = self._allocations.for_role(borrower.role.name, Content(resources))
        present = agent.throttled.get(borrower)
        borrower.held += present is None
        agent.throttled[borrower] = allocation.with_role if present is None else present + allocation.with_role
        self._enter(borrower, agent, allocation, 1)
        return allocation.with_role

    def unthrottle(self, agent: LentAgent, borrower: Borrower, tagged: Resources) -> None:
        """The reverse. Raises ValueError for resources that are not held."""
        present = agent.throttled.get(borrower, Resources())
        if not present.contains(tagged):
            raise ValueError(f"{borrower.framework} holds {present} on {agent.id}, not {tagged}")
        left = present - tagged
        if left:
            agent.throttled[borrower] = left
        else:
            del agent.throttled[borrower]
            borrower.held -= 1
        self._enter(borrower, agent, self._allocations.of(tagged), -1)

    def _enter(
        self, borrower: Borrower, agent: LentAgent, allocation: Allocation, sign: int, *, counted: bool = True
    ) -> None:
        role = borrower.role
        agent.idle_epoch = None
        agent.unsettle()
        self.role_sorter.allocated(role.leaf, agent.id, allocation, sign, counted=counted)
        role.sorter.allocated(borrower.leaf, agent.id, allocation, sign, counted=counted)

    def is_allocatable(self, allocation: Allocation, eligibility: Eligibility) -> bool:
        """Whether an offer of lent resources reaches the minimum of such frameworks."""
        key = allocation, eligibility
        found = self._allocatable.get(key)
        if found is None:
            found = self._allocatable[key] = is_allocatable(allocation.without_role, eligibility.minimum)
        return found

    def allocation(self, role: str, amounts: Amounts) -> Allocation:
        """Return allocation slack in the form of an offer to a role, without the lender and the reservations."""
        return self.allocation_of_pairs(role, tuple(sorted(amounts.items())))

    def allocation_of_pairs(self, role: str, pairs: Pairs) -> Allocation:
        """Return the same for amounts in the order of their names."""
        key = role, pairs
        allocation = self._by_amounts.get(key)
        if allocation is None:
            if len(self._by_amounts) > _MOST_REMEMBERED:
                self._by_amounts.clear()
                self._allocatable.clear()
                self._allocations.forget()
            entries = (Resource(name, amount, revocable=True) for name, amount in pairs)
            allocation = self._by_amounts[key] = self._allocations.for_role(role, Content(Resources(entries)))
        return allocation

    # --- Agents -------------------------------------------------------------------------------------

    def agent(self, name: str) -> LentAgent:
        """Return the record of an agent, a new one if it is not known."""
        found = self.agents.get(name)
        if found is None:
            found = self.agents[name] = LentAgent(name)
        return found

    def set_usage(self, agent: LentAgent, usage: Resources) -> bool:
        """Another report of slack of use.  Whether it differs from the last."""
        changed = agent.usage_slack != usage
        agent.usage_slack = usage
        agent.has_usage_slack = bool(usage)
        agent.idle_epoch = None
        self._enter_totals(agent)
        return changed

    def set_slack(self, agent: LentAgent, free_resources: FreeResources) -> None:
        """Work out the slack of allocation of an agent with these free resources."""
        agent.slack_worked_out_for = free_resources
        agent.idle_epoch = None
        agent.allocation_slack = dict(self.idle(free_resources).amounts)
        agent.unsettle()
        self._enter_totals(agent)

    def drop(self, agent: LentAgent) -> list[Borrower]:
        """Remove an agent and its debts; return the frameworks that held something there."""
        borrowers = list(dict.fromkeys((*agent.lent, *agent.throttled, *agent.debt)))
        for borrower, amounts in list(agent.lent.items()):
            self.unlend(agent, borrower, dict(amounts))
        for borrower, held in list(agent.throttled.items()):
            self.unthrottle(agent, borrower, held)
        for borrower, amounts in list(agent.debt.items()):
            self.owe(agent, borrower, dict(amounts), -1)
        self.totals.change(agent.counted_in_totals, -1)
        del self.agents[agent.id]
        return borrowers

    def _enter_totals(self, agent: LentAgent) -> None:
        sums = dict(agent.allocation_slack)
        add(sums, scalar_pairs(agent.usage_slack))
        counted_in_totals = tuple(sorted(sums.items()))
        if counted_in_totals != agent.counted_in_totals:
            self.totals.change(agent.counted_in_totals, -1)
            self.totals.change(counted_in_totals)
            agent.counted_in_totals = counted_in_totals

    def idle(self, free_resources: FreeResources) -> IdleReservations:
        """Return the part of some free resources that lies idle and can be lent."""
        found = self._idle.get(free_resources)
        if found is None:
            if len(self._idle) > _MOST_REMEMBERED:
                self._idle.clear()
            found = self._idle[free_resources] = IdleReservations(free_resources.resources.filter(self._is_lendable))
        return found

    def _is_lendable(self, entry: Resource) -> bool:
        return (
            entry.is_scalar
            and entry.is_reserved
            and entry.disk is None
            and not entry.shared
            and not entry.revocable
            and entry.name in self.lendable_names
        )

    def _sorter(self, kind: SorterName) -> Sorter:
        return RandomSorter(self.totals, None, self._random) if kind == "random" else DrfSorter(self.totals)


def _changed(loans: Loans, borrower: Borrower, amounts: Amounts, sign: int) -> Loans:
    """Return the loans with so much more or less for a borrower, and count whether it has any."""
    changed = dict(loans)
    present = dict(changed.pop(borrower, {}))
    add(present, tuple(amounts.items()), sign)
    if present:
        changed[borrower] = present
    borrower.held += len(changed) - len(loans)
    return changed or NO_LOANS
