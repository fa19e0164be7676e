"""The books of what may be taken back: slack of use and slack of allocation (spec/oversubscription.md §3).

Apart from the regular books, which know nothing of it.  Slack of use (throttleable) is what an
agent's estimator reports; slack of allocation (not throttleable) are reservations that lie idle,
lent to others.  Sorters of the same class as the regular ones order who is lent something.
"""

from random import Random

from fake_master.allocator.hierarchical.allocations import (
    Allocation,
    AllocationPool,
    Amounts,
    Content,
    Pairs,
    add,
    scalar_pairs,
)
from fake_master.allocator.hierarchical.free_resources import FreeResources
from fake_master.allocator.hierarchical.sorter import Sorter, Totals
from fake_master.allocator.hierarchical.sorters import DrfSorter, RandomSorter
from fake_master.allocator.options import Options, SorterName
from fake_master.extensions.idle_reservations import Idle, LentAgent, Tenant, TenantRole
from mesosctl.model.resource import Resource
from mesosctl.model.resources import Resources

PARCELS_REMEMBERED = 50_000


class LentState:
    """Agents, tenants and the sorters."""

    def __init__(self, options: Options, lendable_names: frozenset[str]) -> None:
        self.lendable_names = lendable_names
        self.agents: dict[str, LentAgent] = {}
        self.roles: dict[str, TenantRole] = {}
        self.totals = Totals(options.fair_sharing_excluded_resource_names)
        self._options = options
        # Draws of their own, so that the regular ones come out as if nobody lent anything.
        self._random = Random(0)  # noqa: S311  # no secrets here
        self.role_sorter = self._sorter(options.role_sorter)
        self.epoch = object()
        """Replaced whenever a framework might take what it did not before."""
        self._parcels = AllocationPool()
        self._by_amounts: dict[tuple[str, Pairs], Allocation] = {}
        self._idle: dict[FreeResources, Idle] = {}

    # --- Roles and tenants --------------------------------------------------------------------------

    def track(self, framework: str, name: str) -> Tenant:
        """The framework in a role, inactive at first."""
        role = self.roles.get(name)
        if role is None:
            sorter = self._sorter(self._options.framework_sorter)
            role = self.roles[name] = TenantRole(name, self.role_sorter.add(name), sorter)
            role.leaf.client = role
            self.role_sorter.activate(name)
        tenant = role.tenants.get(framework)
        if tenant is None:
            leaf = role.sorter.add(framework.replace("/", "\0"))
            leaf.client = tenant = role.tenants[framework] = Tenant(framework, role, leaf)
        return tenant

    def of(self, framework: str) -> list[Tenant]:
        """The framework in every role in which it is known."""
        return [role.tenants[framework] for role in self.roles.values() if framework in role.tenants]

    def set_active(self, tenant: Tenant, *, active: bool) -> None:
        """Whether it takes part in sharing."""
        self.epoch = object()
        switch = tenant.role.sorter.activate if active else tenant.role.sorter.deactivate
        switch(tenant.leaf.path)

    def set_able(self, tenant: Tenant, *, able: bool) -> None:
        """Whether it has the capability; roles without any such framework are passed over."""
        tenant.role.able += able - tenant.able
        tenant.able = able

    def forget_unless_needed(self, tenant: Tenant) -> None:
        """Forget a tenant that is not subscribed and has nothing."""
        if tenant.subscribed or tenant.held:
            return
        role = tenant.role
        role.sorter.remove(tenant.leaf.path)
        del role.tenants[tenant.framework]
        if not role.tenants:
            self.role_sorter.remove(role.name)
            del self.roles[role.name]

    def standing(self, tenant: Tenant) -> tuple[object, ...]:
        """What orders tenants that hold something, whether they take part in sharing or not: the worst-off first."""
        role, leaf = tenant.role, tenant.leaf
        return (
            self.role_sorter.share(role.name), role.leaf.count, role.name,
            role.sorter.share(leaf.path), leaf.count, leaf.path,
        )  # fmt: skip

    # --- Handing out and taking back ----------------------------------------------------------------

    def lend(self, agent: LentAgent, tenant: Tenant, amounts: Amounts, *, counted: bool = True) -> Resources:
        """Slack of allocation for a tenant; `counted` is whether the sorters see an allocation."""
        allocation = self._allocation(tenant, amounts)
        self._change(agent.lent, tenant, amounts, 1)
        self._enter(tenant, agent, allocation, 1, counted=counted)
        return allocation.tagged

    def unlend(self, agent: LentAgent, tenant: Tenant, amounts: Amounts) -> Resources:
        """The reverse."""
        allocation = self._allocation(tenant, amounts)
        self._change(agent.lent, tenant, amounts, -1)
        self._enter(tenant, agent, allocation, -1)
        return allocation.tagged

    def owe(self, agent: LentAgent, tenant: Tenant, amounts: Amounts, sign: int) -> None:
        """A debt grows (+1), or is paid or turned back (-1)."""
        self._change(agent.debt, tenant, amounts, sign)

    def throttle(self, agent: LentAgent, tenant: Tenant, resources: Resources) -> Resources:
        """Slack of use, without allocation roles, for a tenant."""
        allocation = self._parcels.for_role(tenant.role.name, Content(resources))
        present = agent.throttled.get(tenant)
        tenant.held += present is None
        agent.throttled[tenant] = allocation.tagged if present is None else present + allocation.tagged
        self._enter(tenant, agent, allocation, 1)
        return allocation.tagged

    def unthrottle(self, agent: LentAgent, tenant: Tenant, tagged: Resources) -> None:
        """The reverse.  Raises ValueError for what is not held."""
        present = agent.throttled.get(tenant, Resources())
        if not present.contains(tagged):
            raise ValueError(f"{tenant.framework} holds {present} on {agent.id}, not {tagged}")
        left = present - tagged
        if left:
            agent.throttled[tenant] = left
        else:
            del agent.throttled[tenant]
            tenant.held -= 1
        self._enter(tenant, agent, self._parcels.of(tagged), -1)

    def _enter(
        self, tenant: Tenant, agent: LentAgent, allocation: Allocation, sign: int, *, counted: bool = True
    ) -> None:
        role = tenant.role
        agent.idle_in = None
        if sign > 0:
            self.role_sorter.allocated(role.leaf, agent.id, allocation, counted=counted)
            role.sorter.allocated(tenant.leaf, agent.id, allocation, counted=counted)
        else:
            self.role_sorter.unallocated(role.leaf, agent.id, allocation)
            role.sorter.unallocated(tenant.leaf, agent.id, allocation)

    @staticmethod
    def _change(book: dict[Tenant, Amounts], tenant: Tenant, amounts: Amounts, sign: int) -> None:
        present = book.get(tenant)
        if present is None:
            present = book[tenant] = {}
            tenant.held += 1
        add(present, tuple(amounts.items()), sign)
        if not present:
            del book[tenant]
            tenant.held -= 1

    def plain(self, tenant: Tenant, amounts: Amounts) -> Resources:
        """Slack of allocation as it is offered, without allocation roles."""
        return self._allocation(tenant, amounts).plain

    def _allocation(self, tenant: Tenant, amounts: Amounts) -> Allocation:
        """What is lent shows neither lender nor stack."""
        key = tenant.role.name, tuple(sorted(amounts.items()))
        allocation = self._by_amounts.get(key)
        if allocation is None:
            if len(self._by_amounts) > PARCELS_REMEMBERED:
                self._by_amounts.clear()
                self._parcels.forget()
            entries = (Resource(name, amount, revocable=True) for name, amount in key[1])
            allocation = self._by_amounts[key] = self._parcels.for_role(key[0], Content(Resources(entries)))
        return allocation

    # --- Agents -------------------------------------------------------------------------------------

    def agent(self, name: str) -> LentAgent:
        """What an agent lends, nothing at first."""
        found = self.agents.get(name)
        if found is None:
            found = self.agents[name] = LentAgent(name)
        return found

    def set_usage(self, agent: LentAgent, usage: Resources) -> bool:
        """Another report of slack of use.  Whether it differs from the last."""
        changed = agent.usage != usage
        agent.usage = usage
        agent.idle_in = None
        self._enter_totals(agent)
        return changed

    def set_slack(self, agent: LentAgent, free_resources: FreeResources) -> None:
        """What lies idle on an agent that looks like this."""
        agent.seen = free_resources
        agent.idle_in = None
        agent.slack = dict(self.idle(free_resources).everything)
        self._enter_totals(agent)

    def drop(self, agent: LentAgent) -> list[Tenant]:
        """The agent is gone, and every debt with it.  Gives who had something there."""
        tenants = list(dict.fromkeys((*agent.lent, *agent.throttled, *agent.debt)))
        for tenant, amounts in list(agent.lent.items()):
            self.unlend(agent, tenant, dict(amounts))
        for tenant, held in list(agent.throttled.items()):
            self.unthrottle(agent, tenant, held)
        for tenant, amounts in list(agent.debt.items()):
            self.owe(agent, tenant, dict(amounts), -1)
        self.totals.change(agent.entered, -1)
        del self.agents[agent.id]
        return tenants

    def _enter_totals(self, agent: LentAgent) -> None:
        sums = dict(agent.slack)
        add(sums, scalar_pairs(agent.usage))
        entered = tuple(sorted(sums.items()))
        if entered != agent.entered:
            self.totals.change(agent.entered, -1)
            self.totals.change(entered)
            agent.entered = entered

    def idle(self, free_resources: FreeResources) -> Idle:
        """What of a shape lies idle and can be lent."""
        found = self._idle.get(free_resources)
        if found is None:
            if len(self._idle) > PARCELS_REMEMBERED:
                self._idle.clear()
            found = self._idle[free_resources] = Idle(free_resources.resources.filter(self._is_lendable))
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
