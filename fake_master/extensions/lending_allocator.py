"""The hierarchical allocator with a third stage, which lends idle reservations (spec/oversubscription.md §3).

Its regular half never sees anything revocable: of every event it takes its own part, and the rest is kept here.
"""

# ruff: noqa: D102  # the interface documents its methods

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from fake_master.allocator.hierarchical.allocations import allocation_role
from fake_master.allocator.hierarchical.allocator import HierarchicalAllocator
from fake_master.allocator.hierarchical.records import Agent, Framework
from fake_master.allocator.hierarchical.stages import Offers
from fake_master.allocator.interface import AgentInfo, InverseOfferCallback, OfferCallback, Unavailability
from fake_master.allocator.options import Options
from fake_master.extensions.idle_reservations import Tenant, beyond, common, forget_idleness
from fake_master.extensions.lending import Decisions, Lending, totals
from fake_master.extensions.lent_resources import LentState
from mesosctl.model.quantities import Quantities, to_double
from mesosctl.model.resources import Resources

RescindCallback = Callable[[str, dict[str, Resources]], None]
"""(framework id, {agent id: resources lent no longer, with allocation roles}), once a framework and run."""


class LendingAllocator(HierarchicalAllocator):
    """Offers regular resources as `HierarchicalAllocator` does, and lends what then lies idle.

    A total's revocable entries are an agent's slack of use.  What a client is offered of one agent
    in a run comes together in one `Resources`, regular entries first; the kinds are the master's to
    keep apart.  Rescinds are called before the offers of the same run.
    """

    def __init__(
        self,
        options: Options,
        on_offers: OfferCallback,
        on_rescind: RescindCallback,
        on_inverse_offers: InverseOfferCallback | None = None,
        now: float = 0.0,
    ) -> None:
        super().__init__(options, on_offers, on_inverse_offers, now)
        self._on_rescind = on_rescind
        self._lent = LentState(options, options.lendable_names)
        self._lending = Lending(self._state, self._lent)
        self._decided = Decisions()
        self._rescinds = 0

    @property
    def lent(self) -> LentState:
        """What is lent to whom, for reading."""
        return self._lent

    def allocation_slack(self, agent: str) -> Quantities:
        """What lay idle of an agent's reservations after the last run, lent or not."""
        return Quantities(self._lent.agent(agent).slack)

    def _own(self, resources: Resources) -> Resources:
        return resources.non_revocable()

    def refusals(self, framework: str) -> Iterator[tuple[str, str, Resources, float]]:
        """(agent, role, resources without allocation roles, seconds left) of all that a framework refuses."""
        for role, client in self._state.frameworks[framework].clients.items():
            for agent, filters in client.filters.items():
                for held in filters:
                    yield agent.id, role, held.refused, held.until - self._timers.now

    # --- As a master was before this one ------------------------------------------------------------

    def restore_offered(self, framework: str, agent: str, resources: Resources) -> None:
        regular = resources.non_revocable()
        if regular:
            super().restore_offered(framework, agent, regular)
        self._account_lent(agent, framework, resources)

    def restore_debt(self, framework: str, agent: str, owed: Resources) -> None:
        """A part of what a framework has of the slack of allocation, with its role, is lent no longer."""
        role, record = self._lent.roles.get(allocation_role(owed)), self._lent.agent(agent)
        tenant = role.tenants.get(framework) if role is not None else None
        part = common(dict(owed.scalar_quantities().items()), record.lent.get(tenant, {})) if tenant else {}
        if tenant is not None and part:
            self._lent.unlend(record, tenant, part)
            self._lent.owe(record, tenant, part, 1)

    def restore_refusal(self, framework: str, agent: str, role: str, refused: Resources, seconds: float) -> None:
        """What a framework refuses for so long yet, without allocation roles."""
        client = self._state.frameworks[framework].clients.get(role)
        if client is not None and client.subscribed:
            self._keep_filter(client, self._state.agents[agent], refused, seconds)
            lent = self._lent.agent(agent)
            self._timers.after(seconds, lambda: forget_idleness(lent))

    # --- Runs ---------------------------------------------------------------------------------------

    def _share(self, candidates: dict[str, None]) -> Offers:
        offers = super()._share(candidates)
        self._decided = self._lending.run(self._cycle.visited)
        for client, agent, resources in self._decided.offers:
            by_agent = offers.setdefault(client.framework.id, {}).setdefault(client.role.name, {})
            by_agent[agent.id] = by_agent[agent.id] + resources if agent.id in by_agent else resources
        return offers

    def _tell(self, offers: Offers) -> None:
        for framework, by_agent in self._decided.rescinds.items():
            self._rescinds += 1
            self._on_rescind(framework, by_agent)
        super()._tell(offers)

    # --- Agents -------------------------------------------------------------------------------------

    def add_agent(
        self,
        info: AgentInfo,
        total: Resources,
        used: Mapping[str, Resources] | None = None,
        unavailability: Unavailability | None = None,
    ) -> None:
        self._lent.set_usage(self._lent.agent(info.id), _slack_of_use(total))
        super().add_agent(info, total, used, unavailability)

    def update_agent(self, info: AgentInfo, total: Resources | None = None) -> None:
        super().update_agent(info, total)
        forget_idleness(self._lent.agent(info.id))
        if total is not None and self._lent.set_usage(self._lent.agent(info.id), _slack_of_use(total)):
            self._queue.ask({info.id: None})

    def add_resource_provider(self, agent: str, total: Resources, used: Mapping[str, Resources]) -> None:
        record = self._lent.agent(agent)
        self._lent.set_usage(record, record.usage + _slack_of_use(total))
        super().add_resource_provider(agent, total, used)

    def remove_agent(self, agent: str) -> None:
        super().remove_agent(agent)
        for tenant in self._lent.drop(self._lent.agent(agent)):
            self._lent.forget_unless_needed(tenant)

    def _account(self, agent: Agent, framework: Framework, used: Resources) -> None:
        super()._account(agent, framework, used)
        self._account_lent(agent.id, framework.id, used)

    def _account_lent(self, agent: str, framework: str, used: Resources) -> None:
        record = self._lent.agent(agent)
        for entry in used.revocable():
            tenant = self._lent.track(framework, entry.allocation_role or "*")
            if entry.throttleable:
                self._lent.throttle(record, tenant, Resources([replace(entry, allocation_role=None)]))
            elif isinstance(entry.value, int):
                self._lent.lend(record, tenant, {entry.name: entry.value})

    # --- Frameworks ---------------------------------------------------------------------------------

    def remove_framework(self, framework: str) -> None:
        super().remove_framework(framework)
        for tenant in self._lent.of(framework):
            for record in self._lent.agents.values():
                if tenant in record.lent:
                    self._lent.unlend(record, tenant, dict(record.lent[tenant]))
                if tenant in record.throttled:
                    self._lent.unthrottle(record, tenant, record.throttled[tenant])
                if tenant in record.debt:
                    self._lent.owe(record, tenant, dict(record.debt[tenant]), -1)
            self._unsubscribe(tenant)

    def _framework_changed(self, framework: str) -> None:
        """The revocable sorters have the same clients as the regular ones, active when those are."""
        record = self._state.frameworks[framework]
        subscribed = {name: client for name, client in record.clients.items() if client.subscribed}
        for name, client in subscribed.items():
            tenant = self._lent.track(framework, name)
            tenant.subscribed = True
            self._lent.set_able(tenant, able=client.eligibility.accepted_kinds.revocable)
            self._lent.set_active(tenant, active=record.active and not client.suppressed)
        for tenant in self._lent.of(framework):
            if tenant.role.name not in subscribed:
                self._unsubscribe(tenant)

    def _unsubscribe(self, tenant: Tenant) -> None:
        tenant.subscribed = False
        self._lent.set_able(tenant, able=False)
        self._lent.set_active(tenant, active=False)
        self._lent.forget_unless_needed(tenant)

    # --- Resources ----------------------------------------------------------------------------------

    def recover_resources(
        self,
        framework: str,
        agent: str,
        resources: Resources,
        refuse_seconds: float | None = None,
        *,
        is_allocated: bool = False,
    ) -> None:
        for kind, part in resources.by_revocability().items():
            if kind == "regular":
                given = resources if len(part) == len(resources) else part
                super().recover_resources(framework, agent, given, refuse_seconds, is_allocated=is_allocated)
            else:
                self._recover_lent(framework, agent, part, refuse_seconds)

    def _recover_lent(self, framework: str, agent: str, part: Resources, refuse_seconds: float | None) -> None:
        """What is given back pays debts first."""
        name = allocation_role(part)
        role, record = self._lent.roles.get(name), self._lent.agents.get(agent)
        tenant = role.tenants.get(framework) if role is not None else None
        if record is None or tenant is None:
            return
        if all(entry.throttleable for entry in part):
            self._lent.unthrottle(record, tenant, part)
        else:
            amounts = dict(part.scalar_quantities().items())
            paid = common(amounts, record.debt.get(tenant, {}))
            rest = beyond(amounts, paid)
            if beyond(rest, record.lent.get(tenant, {})):
                raise ValueError(f"{framework} is not lent {part} on {agent}")
            self._lent.owe(record, tenant, paid, -1)
            self._lent.unlend(record, tenant, rest)
        self._lent.forget_unless_needed(tenant)
        self._refuse(framework, agent, name, part.allocated_to(None), refuse_seconds)

    def _refuse(self, framework: str, agent: str, role: str, part: Resources, seconds: float | None) -> None:
        record, where = self._state.frameworks.get(framework), self._state.agents.get(agent)
        client = record.clients.get(role) if record is not None else None
        if client is None or where is None:
            return
        held = self._install_filter(client, where, part, seconds)
        if held is not None:
            lent = self._lent.agent(agent)
            self._timers.after(held, lambda: forget_idleness(lent))

    # --- Roles and figures --------------------------------------------------------------------------

    def update_weights(self, weights: Mapping[str, float]) -> None:
        super().update_weights(weights)
        for role, weight in weights.items():
            self._lent.role_sorter.update_weight(role, weight)

    def metrics(self) -> dict[str, float]:
        figures = super().metrics()
        sums = totals(self._lent)
        for kind in ("throttleable", "non_throttleable"):
            whole, taken = sums.get(f"{kind}/total", {}), sums.get(f"{kind}/allocated", {})
            for name in sorted({*self._lent.lendable_names, *whole, *taken}):
                prefix = f"allocator/mesos/revocable/{kind}/resources/{name}"
                figures[f"{prefix}/total"] = to_double(whole.get(name, 0))
                figures[f"{prefix}/allocated"] = to_double(taken.get(name, 0))
        figures["allocator/mesos/revocable/rescinds"] = float(self._rescinds)
        return figures


def _slack_of_use(total: Resources) -> Resources:
    return Resources(replace(entry, throttleable=True) for entry in total.revocable())
