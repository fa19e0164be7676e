"""Which offers a new quota takes back (seeds/quota.md "Rescinding Outstanding Offers", spec/quota.md §7, §8)."""

from typing import TYPE_CHECKING

from mesosctl.core import roles
from mesosctl.core.quantities import Quantities
from mesosctl.core.quota import Quota

if TYPE_CHECKING:
    from fake_master.master.offers import Offer
    from fake_master.master.state import Master


def for_new_quota(master: "Master", role: str, needed: Quantities) -> None:
    """Whole agents in turn, until the guarantee is covered and there is one agent for each framework."""
    frameworks = sum(1 for framework in master.frameworks.values() if framework.active and role in framework.roles)
    covered, visited = Quantities(), 0
    for agent in master.agents.values():
        if covered.contains(needed) and visited >= frameworks:
            return
        offers = master.offers.on_agent(agent.id) if agent.active else []
        for offer in offers:
            covered += _counted(offer)
            master.offers.rescind(offer)
        visited += bool(offers)


def for_updated_quota(master: "Master", role: str, quota: Quota) -> None:
    """First the role's own offers, down to its limits; then others' offers, up to its guarantees."""
    consumed = master.consumed(role)
    own = [offer for offer in master.offers if _within(offer, role)]
    offered = Quantities.total(offer.resources.quantities() for offer in own)
    for offer in own:
        if quota.limits.contains(consumed + offered):
            break
        offered -= offer.resources.quantities()
        master.offers.rescind(offer)
    covered = consumed + offered
    for agent in master.agents.values():
        for offer in master.offers.on_agent(agent.id):
            if covered.contains(quota.guarantees):
                return
            if not _within(offer, role):
                covered += _counted(offer)
                master.offers.rescind(offer)


def _counted(offer: "Offer") -> Quantities:
    """Only what nobody owns and nobody may take back serves a guarantee."""
    return offer.resources.unreserved().non_revocable().scalar_quantities()


def _within(offer: "Offer", role: str) -> bool:
    return offer.role == role or roles.is_strict_subrole(offer.role, role)
