"""Which revocable resources a master knows that lends idle reservations, and what they count for."""

from collections.abc import Iterable

from fake_master.state.extension_points import RevocabilityRules
from fake_master.state.frameworks import Framework
from mesosctl.model.resource import Resource, Revocability
from mesosctl.model.resources import Resources


class LendingRules(RevocabilityRules):
    """What is lent and slack of use are offered apart, serve no quota and count against none."""

    throttles = True
    counts_revocable = False

    def kinds(self, resources: Resources) -> Iterable[tuple[Revocability, Resources]]:
        """See `RevocabilityRules.kinds`."""
        if any(entry.revocable for entry in resources):
            return resources.by_revocability().items()
        return super().kinds(resources)

    def kind_of(self, offered: Resources) -> Revocability | None:
        """See `RevocabilityRules.kind_of`."""
        kind = offered.revocability
        return None if kind == "mixed" else kind

    def counted_offers(self, framework: Framework) -> Iterable[Resource]:
        """See `RevocabilityRules.counted_offers`."""
        return (entry for offer in framework.offers.values() if offer.kind == "regular" for entry in offer.resources)

    def is_slack_of_use(self, entry: Resource) -> bool:
        """See `RevocabilityRules.is_slack_of_use`."""
        return entry.throttleable
