"""The hierarchical allocator with a third stage, which lends idle reservations.

The regular half sees nothing revocable: it gets its own part of each event, and the rest is kept in `lent`.
"""

# ruff: noqa: D102  # the interface documents its methods

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from fake_master.allocator.hierarchical.allocator import HierarchicalAllocator
from fake_master.allocator.hierarchical.offerable.allocations import allocation_role
from fake_master.allocator.hierarchical.records import AllocatorAgent
from fake_master.allocator.hierarchical.state import State
from fake_master.allocator.interface import (
    AgentInfo,
    Callbacks,
    FrameworkInfo,
    Unavailability,
    Used,
)
from fake_master.allocator.options import Options
from fake_master.extensions.lending.idle_reservations import Borrower, excess, forget_idleness, overlap
from fake_master.extensions.lending.lent_resources import LentState
from fake_master.extensions.lending.stage import LendingStage, RescindCallback, totals
from mesosctl.mesos.amounts.quantities import Quantities, to_double
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.rules.reservations.operations import Conversion


class LendingAllocator(HierarchicalAllocator):
    """Offers regular resources like `HierarchicalAllocator`, and lends what is then idle.

    The revocable entries of a total are an agent's usage slack. The resources of one agent that a client is offered in
    a run are in one `Resources`, regular entries first; the master separates the kinds.  Rescinds are called before the
    offers of the same run.
    """

    def __init__(
        self,
        options: Options,
        master: Callbacks,
        now: float,
        *,
        on_rescind: RescindCallback,
    ) -> None:
        state = State(options)
        self.lent = LentState(options, options.lendable_names)
        """The lent resources, for reading."""
        self._stage = LendingStage(state, self.lent, on_rescind)
        super().__init__(options, master, now, state=state, steps=self._stage)

    def allocation_slack(self, agent: str) -> Quantities:
        """Return what lay idle of an agent's reservations after the last run, lent or not."""
        return Quantities(self.lent.agent(agent).allocation_slack)

    # --- As a master was before this one ------------------------------------------------------------

    def restore_offered(self, framework: str, agent: str, resources: Resources) -> None:
        regular = resources.non_revocable()
        if regular:
            super().restore_offered(framework, agent, regular)
        self._account_lent(agent, framework, resources)

    def restore_debt(self, framework: str, agent: str, owed: Resources) -> None:
        """Turn a part of a framework's loan, with its allocation role, into a debt."""
        role, record = self.lent.roles.get(allocation_role(owed)), self.lent.agent(agent)
        borrower = role.borrowers.get(framework) if role is not None else None
        part = overlap(dict(owed.scalar_quantities().items()), record.lent.get(borrower, {})) if borrower else {}
        if borrower is not None and part:
            self.lent.unlend(record, borrower, part)
            self.lent.owe(record, borrower, part, 1)

    # --- Agents -------------------------------------------------------------------------------------

    def add_agent(
        self, info: AgentInfo, total: Resources, used: Used | None = None, unavailability: Unavailability | None = None
    ) -> None:
        super().add_agent(info, total.non_revocable(), _regular(used), unavailability)
        self.lent.set_usage(self.lent.agent(info.id), _slack_of_use(total))
        self._account_all_lent(info.id, used or {})

    def update_agent(self, info: AgentInfo, total: Resources | None = None) -> None:
        super().update_agent(info, None if total is None else total.non_revocable())
        record = self.lent.agent(info.id)
        forget_idleness(record)
        if total is not None and self.lent.set_usage(record, _slack_of_use(total)):
            self.allocation_runs.request_run(info.id)

    def add_resource_provider(self, agent: str, total: Resources, used: Used) -> None:
        super().add_resource_provider(agent, total.non_revocable(), _regular(used))
        record = self.lent.agent(agent)
        self.lent.set_usage(record, record.usage_slack + _slack_of_use(total))
        self._account_all_lent(agent, used)

    def remove_agent(self, agent: str) -> None:
        super().remove_agent(agent)
        for borrower in self.lent.drop(self.lent.agent(agent)):
            self.lent.forget_unless_needed(borrower)

    def _account_all_lent(self, agent: str, used: Used) -> None:
        for framework, resources in used.items():
            if framework in self.state.frameworks:
                self._account_lent(agent, framework, resources)

    def _account_lent(self, agent: str, framework: str, used: Resources) -> None:
        record = self.lent.agent(agent)
        for entry in used.revocable():
            borrower = self.lent.ensure_borrower(framework, entry.allocation_role or "*")
            if entry.throttleable:
                self.lent.throttle(record, borrower, Resources([replace(entry, allocation_role=None)]))
            elif isinstance(entry.value, int):
                self.lent.lend(record, borrower, {entry.name: entry.value})

    # --- Frameworks ---------------------------------------------------------------------------------

    def add_framework(
        self, info: FrameworkInfo, used: Used | None = None, *, active: bool = True, suppressed: Collection[str] = ()
    ) -> None:
        super().add_framework(info, _regular(used), active=active, suppressed=suppressed)
        for agent, resources in (used or {}).items():
            if agent in self.state.agents:
                self._account_lent(agent, info.id, resources)
        # Not by the base, because the order of random draws depends on which borrowers are known first: those of loans.
        self._framework_changed(info.id)

    def remove_framework(self, framework: str) -> None:
        super().remove_framework(framework)
        for borrower in self.lent.of(framework):
            for record in self.lent.agents.values():
                if borrower in record.lent:
                    self.lent.unlend(record, borrower, dict(record.lent[borrower]))
                if borrower in record.throttled:
                    self.lent.unthrottle(record, borrower, record.throttled[borrower])
                if borrower in record.debt:
                    self.lent.owe(record, borrower, dict(record.debt[borrower]), -1)
            self._unsubscribe(borrower)

    def _framework_changed(self, framework: str) -> None:
        """Give the revocable sorters the same clients as the regular ones, active when those are."""
        record = self.state.frameworks[framework]
        subscribed = {name: client for name, client in record.clients.items() if client.subscribed}
        for name, client in subscribed.items():
            borrower = self.lent.ensure_borrower(framework, name)
            borrower.subscribed = True
            self.lent.set_accepts_revocable(borrower, accepts_revocable=client.eligibility.accepted_kinds.revocable)
            self.lent.set_active(borrower, active=record.active and not client.suppressed)
        for borrower in self.lent.of(framework):
            if borrower.role.name not in subscribed:
                self._unsubscribe(borrower)

    def _filter_expired(self, agent: AllocatorAgent) -> None:
        forget_idleness(self.lent.agent(agent.id))

    def _unsubscribe(self, borrower: Borrower) -> None:
        borrower.subscribed = False
        self.lent.set_accepts_revocable(borrower, accepts_revocable=False)
        self.lent.set_active(borrower, active=False)
        self.lent.forget_unless_needed(borrower)

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
        """Take back lent resources; they pay debts first."""
        name = allocation_role(part)
        role, record = self.lent.roles.get(name), self.lent.agents.get(agent)
        borrower = role.borrowers.get(framework) if role is not None else None
        if record is None or borrower is None:
            return
        if all(entry.throttleable for entry in part):
            self.lent.unthrottle(record, borrower, part)
        else:
            amounts = dict(part.scalar_quantities().items())
            paid = overlap(amounts, record.debt.get(borrower, {}))
            rest = excess(amounts, paid)
            if excess(rest, record.lent.get(borrower, {})):
                raise ValueError(f"{framework} is not lent {part} on {agent}")
            self.lent.owe(record, borrower, paid, -1)
            self.lent.unlend(record, borrower, rest)
        self.lent.forget_unless_needed(borrower)
        self._refuse(framework, agent, name, part.allocated_to(None), refuse_seconds)

    def _refuse(self, framework: str, agent: str, role: str, part: Resources, seconds: float | None) -> None:
        record, where = self.state.frameworks.get(framework), self.state.agents.get(agent)
        client = record.clients.get(role) if record is not None else None
        if client is None or where is None:
            return
        if seconds is not None:
            self.filters.install(client, where, part, seconds)

    def transition_offered_to_allocated(self, agent: str, resources: Resources) -> None:
        super().transition_offered_to_allocated(agent, resources.non_revocable())

    def update_allocation(
        self, framework: str, agent: str, offered: Resources, conversions: Iterable[Conversion]
    ) -> None:
        super().update_allocation(framework, agent, offered.non_revocable(), conversions)

    # --- Roles and figures --------------------------------------------------------------------------

    def update_weights(self, weights: Mapping[str, float]) -> None:
        super().update_weights(weights)
        for role, weight in weights.items():
            self.lent.role_sorter.update_weight(role, weight)

    def metrics(self) -> dict[str, float]:
        figures = super().metrics()
        sums = totals(self.lent)
        for kind in ("throttleable", "non_throttleable"):
            total, taken = sums.get(f"{kind}/total", {}), sums.get(f"{kind}/allocated", {})
            for name in sorted({*self.lent.lendable_names, *total, *taken}):
                prefix = f"allocator/mesos/revocable/{kind}/resources/{name}"
                figures[f"{prefix}/total"] = to_double(total.get(name, 0))
                figures[f"{prefix}/allocated"] = to_double(taken.get(name, 0))
        figures["allocator/mesos/revocable/rescinds"] = float(self._stage.rescinds)
        return figures


def _slack_of_use(total: Resources) -> Resources:
    return Resources(replace(entry, throttleable=True) for entry in total.revocable())


def _regular(used: Used | None) -> dict[str, Resources]:
    return {name: resources.non_revocable() for name, resources in (used or {}).items()}
