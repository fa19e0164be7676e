"""The rules by which offers are rescinded for a change of quota, weights, reservations or what is lent.

The allocator decides what is no longer lent (`fake_master/extensions/lending/stage.py`), and this module which offers
are rescinded for it.  Other reasons to rescind: `fake_master/allocator/README.md`, "Where rescinding is decided".

Sources: Mesos documentation, "Quota" and "Reservation"; for what they leave open, a Mesos 1.11.0 master.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from fake_master.allocator.interface import DEFAULT_REFUSE_SECONDS
from fake_master.services.offers import Offers
from fake_master.state import quota as quota_state
from fake_master.state.agents import KnownAgent
from fake_master.state.master_state import MasterState
from fake_master.state.offers import OutstandingOffer
from mesosctl.mesos import roles
from mesosctl.mesos.amounts.quantities import Quantities, Quota
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.errors import Conflict
from mesosctl.mesos.rules.reservations import operations
from mesosctl.mesos.rules.reservations.operations import Conversion


class Rescinding:
    """Rescinds the offers that are in the way of a change."""

    def __init__(self, state: MasterState, offers: Offers) -> None:
        self._state = state
        self._offers = offers

    def for_new_quota(self, role: str, needed: Quantities) -> None:
        """POST /quota: rescind the offers of whole agents in turn.

        The last one is that which covers the guarantee, once there is one agent for each framework of the role.
        """
        frameworks = sum(of.active and role in of.tracked_roles for of in self._state.frameworks.values())
        covered, visited = Quantities(), 0
        for agent in self._state.agents.values():
            if covered.contains(needed) and visited >= frameworks:
                return
            offers = _regular(self._state.offers.on_agent(agent.id)) if agent.active else []
            for offer in offers:
                covered += _plain(offer)
                self._offers.rescind(offer)
            visited += bool(offers)

    def for_updated_quota(self, role: str, quota: Quota) -> None:
        """UPDATE_QUOTA: rescind the role's own offers, down to its limits; then others' offers, up to its guarantees.

        A master counts whole offers here, even reservations of other roles: they count towards the guarantees although
        the role cannot have it, and one of the role's own that is being offered counts twice, as consumed and as
        offered.

        Agents and frameworks come in the master's own order.  The newest offer of each comes first: Mesos leaves that
        open, but its sets of offers have the newest at the front (all but always, if there are three or more).
        """
        counted = self._state.revocability.counted_offers
        offered = quota_state.sums(counted(framework) for framework in self._state.frameworks.values())
        held = self._state.role_usage().consumed(role) + offered.get(role, Quantities())
        for framework in list(self._state.frameworks.values()):
            for offer in _newest_first(framework.offers.values()):
                if quota.limits.contains(held):
                    break
                if _within(offer, role):
                    held -= offer.resources.quantities()
                    self._offers.rescind(offer)
        for agent in list(self._state.agents.values()):
            for offer in _newest_first(self._state.offers.on_agent(agent.id)):
                if held.contains(quota.guarantees):
                    return
                if not _within(offer, role):
                    held += offer.resources.quantities()
                    self._offers.rescind(offer)

    def for_weights(self, changed: Collection[str]) -> None:
        """PUT /weights: rescind every regular offer of the cluster, if a framework has one of these roles."""
        if any(not framework.tracked_roles.isdisjoint(changed) for framework in self._state.frameworks.values()):
            for offer in _regular(self._state.offers):
                self._offers.rescind(offer)

    def for_operation(self, agent: KnownAgent, conversions: Sequence[Conversion]) -> None:
        """An operation of an operator: rescind offers until it can be done, even if free resources would do."""
        required = Resources()
        for conversion in conversions:
            required += conversion.consumed
        recovered = Resources()
        for offer in self._state.offers.on_agent(agent.id):
            part = offer.resources.allocated_to(None)
            if required == required - part:
                continue
            self._offers.rescind(offer, DEFAULT_REFUSE_SECONDS)
            recovered += part
            required -= part
            try:
                operations.apply_all(recovered, conversions)
            except Conflict:
                continue
            return

    def for_lent_no_longer(self, framework_id: str, by_agent: Mapping[str, Resources]) -> None:
        """Lent resources that the allocator took back: rescind as few whole offers of them as necessary, newest first.

        The rest is in use; the agent makes room if necessary.
        """
        for agent_id, resources in by_agent.items():
            missing: dict[str | None, Quantities] = {}
            for entry in resources:
                sums = missing.get(entry.allocation_role, Quantities())
                missing[entry.allocation_role] = sums + Resources([entry]).scalar_quantities()
            for offer in reversed(self._state.offers.on_agent(agent_id)):
                if (offer.framework_id, offer.kind) != (framework_id, "non-throttleable"):
                    continue
                held, short = offer.resources.scalar_quantities(), missing.get(offer.role)
                if short and any(name in held for name in short):
                    missing[offer.role] = short - held
                    self._offers.rescind(offer)


def _regular(offers: Iterable[OutstandingOffer]) -> list[OutstandingOffer]:
    """Return the regular offers: neither lent resources nor slack of use serve a quota."""
    return [offer for offer in offers if offer.kind == "regular"]


def _newest_first(offers: Iterable[OutstandingOffer]) -> list[OutstandingOffer]:
    return _regular(offers)[::-1]


def _plain(offer: OutstandingOffer) -> Quantities:
    """Return what serves a v0 guarantee: unreserved, non-revocable amounts of no particular disk or provider."""
    plain = offer.resources.unreserved().non_revocable()
    return plain.filter(lambda entry: entry.disk is None and entry.provider_id is None).scalar_quantities()


def _within(offer: OutstandingOffer, role: str) -> bool:
    return offer.role == role or roles.is_strict_subrole(offer.role, role)
