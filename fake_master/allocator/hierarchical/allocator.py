"""What happens to resources: refused, given back, converted (spec/allocator.md §3 and §4)."""

from collections.abc import Iterable

from fake_master.allocator.hierarchical import engine
from fake_master.allocator.hierarchical.allocations import Amounts, add, difference
from fake_master.allocator.hierarchical.engine import Engine
from fake_master.allocator.hierarchical.events import AgentEvents, FrameworkEvents
from fake_master.allocator.hierarchical.records import Agent, Client, OfferFilter, lifetime
from fake_master.allocator.hierarchical.role_tree import Role
from fake_master.allocator.hierarchical.run import headroom
from fake_master.allocator.hierarchical.state import State
from mesosctl.model import roles
from mesosctl.model.errors import Conflict
from mesosctl.model.quantities import Quantities
from mesosctl.model.reservations.operations import Conversion, apply_all
from mesosctl.model.resources import Resources

# ruff: noqa: D102  # the interface documents its methods


class ResourceEvents(Engine):
    """Resources change hands, or their kind."""

    def recover_resources(
        self,
        framework: str,
        agent: str,
        resources: Resources,
        refuse_seconds: float | None = None,
        *,
        is_allocated: bool = False,
    ) -> None:
        if not resources:
            return
        state = self._state
        allocation = state.pool.parcels.of(resources)
        where = state.agents.get(agent)
        if where is not None and is_allocated:
            state.mark_allocated(where, allocation, -1)
        record = state.frameworks.get(framework)
        client = record.clients.get(allocation.role) if record is not None else None
        if where is None or client is None:
            return
        state.give_back(where, client, allocation)
        where.refresh()
        if not client.held:
            state.untrack_unless_needed(client)
        self._install_filter(client, where, allocation.plain, refuse_seconds)

    def _install_filter(
        self, client: Client, agent: Agent, refused: Resources, refuse_seconds: float | None
    ) -> float | None:
        """Seconds that the filter holds; None where there is none."""
        seconds = lifetime(refuse_seconds, self._options.allocation_interval) if client.subscribed else None
        if seconds is not None:
            self._keep_filter(client, agent, refused, seconds)
        return seconds

    def _keep_filter(self, client: Client, agent: Agent, refused: Resources, seconds: float) -> None:
        refusal = OfferFilter(client, agent, refused, self._timers.now + seconds)
        client.filters.setdefault(agent, []).append(refusal)
        self._timers.after(seconds, refusal.expire)

    def restore_offered(self, framework: str, agent: str, resources: Resources) -> None:
        where = self._state.agents[agent]
        self._state.hold_all(where, self._state.frameworks[framework], resources)
        where.refresh()

    def transition_offered_to_allocated(self, agent: str, resources: Resources) -> None:
        self._state.mark_all_allocated(self._state.agents[agent], self._own(resources))

    def update_allocation(
        self, framework: str, agent: str, offered: Resources, conversions: Iterable[Conversion]
    ) -> None:
        state = self._state
        record = state.agents[agent]
        steps = list(conversions)
        own = self._own(offered)
        before = state.pool.parcels.of(own)
        client = state.frameworks[framework].clients[before.role]
        after = apply_all(own, steps)
        total = apply_to_total(record.capacity.total, steps)
        state.convert(record, client, before, after)
        state.replace_total(record, record.info, total)
        record.refresh()

    def update_available(self, agent: str, conversions: Iterable[Conversion]) -> bool:
        state = self._state
        record = state.agents[agent]
        steps = list(conversions)
        try:
            apply_all(record.free_resources.resources, steps)
        except Conflict:
            return False
        state.replace_total(record, record.info, apply_all(record.capacity.total, steps))
        return True

    # --- Inverse offers -----------------------------------------------------------------------------

    def update_inverse_offer(self, framework: str, agent: str, refuse_seconds: float | None = None) -> None:
        record, where = self._state.frameworks.get(framework), self._state.agents.get(agent)
        if record is None or where is None:
            return
        where.outstanding.discard(record)
        if refuse_seconds is not None:
            engine.refuse(record, where, refuse_seconds, self._timers)


class HierarchicalAllocator(AgentEvents, FrameworkEvents, ResourceEvents):
    """Shares by dominant resource fairness, guarantees first; see the package's README.

    Callbacks are called from within `advance_to`, when a run is over; what they tell the
    allocator takes part in the next run.
    """


def apply_to_total(total: Resources, conversions: Iterable[Conversion]) -> Resources:
    """What an agent's total becomes by operations upon allocated resources.  Raises Conflict.

    Further copies of a shared volume consume nothing and leave the total as it is.
    """
    steps = (step for step in conversions if step.consumed)
    return apply_all(
        total, (Conversion(step.consumed.allocated_to(None), step.converted.allocated_to(None)) for step in steps)
    )


class Bounds:
    """Limits, and the headroom of all guarantees, as they stand after a run."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._consumed = {role.name: state.consumed_by(role) for role in state.roles.with_quota()}
        self._lacking = {
            role.name: difference(dict(role.quota.guarantees.items()), self._consumed[role.name])
            for role in state.roles.with_quota()
        }
        self._headroom: Amounts = headroom(state) if any(self._lacking.values()) else {}
        self._promised: dict[str, Amounts] = {}

    def allow(self, role: Role, amounts: Quantities, freed: Quantities) -> bool:
        """Whether the role could be offered so much more, were this much free on top of what is."""
        top = self._state.roles.get(roles.top_level(role.name))
        assert top is not None, "a role with a framework is in the tree"
        promised = self._promised.get(top.name, {})
        consumed = self._consumed.get(top.name, {})
        for name, bound in top.quota.limits.items():
            if amounts.get_amount(name) > bound - consumed.get(name, 0) - promised.get(name, 0):
                return False
        if not any(self._lacking.values()):
            return True
        own = difference(self._lacking.get(top.name, {}), promised)
        return all(
            amount <= own.get(name, 0) + max(0, self._spare(name) + freed.get_amount(name))
            for name, amount in amounts.items()
        )

    def promise(self, role: Role, amounts: Quantities, freed: Quantities) -> None:
        """So much is taken to be given, and so much to be free for it."""
        add(self._headroom, tuple(freed.items()))
        add(self._promised.setdefault(roles.top_level(role.name), {}), tuple(amounts.items()))

    def _spare(self, name: str) -> int:
        """What is left of the headroom for those who lack nothing; below zero where guarantees cannot be met."""
        lacking = sum(
            max(0, amounts.get(name, 0) - self._promised.get(role, {}).get(name, 0))
            for role, amounts in self._lacking.items()
        )
        promised = sum(amounts.get(name, 0) for amounts in self._promised.values())
        return self._headroom.get(name, 0) - lacking - promised
