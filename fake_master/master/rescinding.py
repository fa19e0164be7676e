"""Which offers a new quota takes back (seeds/quota.md "Rescinding Outstanding Offers", spec/quota.md §7, §8)."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from fake_master.master import role_view
from mesosctl.core import roles
from mesosctl.core.quantities import Quantities, Quota

if TYPE_CHECKING:
    from fake_master.master.master import Master
    from fake_master.master.offers import Offer


def for_new_quota(master: "Master", role: str, needed: Quantities) -> None:
    """Whole agents in turn, until the guarantee is covered and there is one agent for each framework."""
    frameworks = sum(of.active and role in of.tracked_roles for of in master.frameworks.values())
    covered, visited = Quantities(), 0
    for agent in master.agents.values():
        if covered.contains(needed) and visited >= frameworks:
            return
        offers = _regular(master.offers.on_agent(agent.id)) if agent.active else []
        for offer in offers:
            covered += _plain(offer)
            master.offers.rescind(offer)
        visited += bool(offers)


def for_updated_quota(master: "Master", role: str, quota: Quota) -> None:
    """First the role's own offers, down to its limits; then others' offers, up to its guarantees.

    A master counts whole offers here, whoever owns what is in them: a reservation of somebody else's counts
    towards the guarantees although the role cannot have it, and one of the role's own that is being offered
    counts twice, as consumed and as offered.

    Agents and frameworks come in the master's own order.  The newest offer of each comes first: Mesos leaves that
    open, but its sets of offers have the newest at the front (all but always, where there are three or more).
    """
    offered = role_view.sums(
        (entry for offer in _regular(framework.offers.values()) for entry in offer.resources)
        if master.lends
        else framework.offered()
        for framework in master.frameworks.values()
    )
    held = master.consumed(role) + offered.get(role, Quantities())
    for framework in list(master.frameworks.values()):
        for offer in _newest_first(framework.offers.values()):
            if quota.limits.contains(held):
                break
            if _within(offer, role):
                held -= offer.resources.quantities()
                master.offers.rescind(offer)
    for agent in list(master.agents.values()):
        for offer in _newest_first(master.offers.on_agent(agent.id)):
            if held.contains(quota.guarantees):
                return
            if not _within(offer, role):
                held += offer.resources.quantities()
                master.offers.rescind(offer)


def _regular(offers: "Iterable[Offer]") -> "list[Offer]":
    """What is lent, or slack of use, serves no quota."""
    return [offer for offer in offers if offer.kind == "regular"]


def _newest_first(offers: "Iterable[Offer]") -> "list[Offer]":
    return _regular(offers)[::-1]


def _plain(offer: "Offer") -> Quantities:
    """What a v0 guarantee is made of: owned by nobody, not to be taken back, of no particular disk or provider."""
    plain = offer.resources.unreserved().non_revocable()
    return plain.filter(lambda entry: entry.disk is None and entry.provider_id is None).scalar_quantities()


def _within(offer: "Offer", role: str) -> bool:
    return offer.role == role or roles.is_strict_subrole(offer.role, role)
