"""Which revocable resources a master knows, and what they count for: as Mesos, unless an extension says otherwise."""

from collections.abc import Iterable

from fake_master.state.frameworks import Framework
from mesosctl.model.resource import Resource, Revocability
from mesosctl.model.resources import Resources


class RevocabilityRules:
    """The rules of Mesos: slack of use is revocable, and counts as all other resources do.

    Source: Mesos oversubscription documentation, "Revocable resources".
    """

    throttles = False
    """Whether `throttle_info` means anything; Mesos 1.11 passes over it."""

    counts_revocable = True
    """Whether revocable resources in use count against quota limits."""

    def kinds(self, resources: Resources) -> Iterable[tuple[Revocability, Resources]]:
        """Split an allocation into what is offered apart, by kind."""
        return (("regular", resources),)

    def kind_of(self, _offered: Resources) -> Revocability | None:
        """Return the kind of offer that resources would be in; None for what no one offer can hold."""
        return "regular"

    def counted_offers(self, framework: Framework) -> Iterable[Resource]:
        """Return what is offered to a framework and counts against quota limits."""
        return framework.offered()

    def is_slack_of_use(self, entry: Resource) -> bool:
        """Return whether an entry of an offer is of what an agent's estimator reports."""
        return entry.revocable
