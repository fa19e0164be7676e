"""What happens to resources: refused, given back, converted (spec/allocator.md §3 and §4)."""

# ruff: noqa: D102  # the interface documents its methods

from collections.abc import Iterable

from fake_master.allocator import inverse_offers
from fake_master.allocator.conversions import apply_to_total
from fake_master.allocator.engine import Engine
from fake_master.allocator.filters import OfferFilter, lifetime
from fake_master.allocator.records import Agent, Client
from mesosctl.core.errors import Conflict
from mesosctl.core.operations import Conversion, apply_all
from mesosctl.core.resources import Resources


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
        parcel = state.catalogue.parcels.of(resources)
        where = state.agents.get(agent)
        if where is not None and is_allocated:
            state.mark_allocated(where, parcel, -1)
        record = state.frameworks.get(framework)
        client = record.clients.get(parcel.role) if record is not None else None
        if where is None or client is None:
            return
        state.give_back(where, client, parcel)
        where.refresh()
        if not client.held:
            state.untrack_unless_needed(client)
        self._install_filter(client, where, parcel.plain, refuse_seconds)

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
        before = state.catalogue.parcels.of(own)
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
            apply_all(record.shape.resources, steps)
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
            inverse_offers.refuse(record, where, refuse_seconds, self._timers)
