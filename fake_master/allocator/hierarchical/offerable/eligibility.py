"""The properties of frameworks and agents that decide what can be offered, quota and filters apart.

Source: docs/explanation/allocator.md, "Capabilities and agent properties".
"""

from dataclasses import dataclass

from fake_master.allocator.interface import FrameworkInfo
from fake_master.allocator.options import Options
from mesosctl.mesos.amounts.quantities import Quantities
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.rules.offers.frameworks import AcceptedKinds, AgentFeatures, Capabilities


@dataclass(frozen=True, slots=True, eq=False)
class Eligibility:
    """The properties of a framework in a role that decide what it can be offered of a given agent.

    Interned by the allocator, so that similar frameworks share one object, and everything that is cached with it.
    """

    role: str
    accepted_kinds: AcceptedKinds
    own_capabilities: Capabilities
    minimum: tuple[Quantities, ...]

    def admits(self, features: AgentFeatures) -> bool:
        """Whether an agent with these features can be offered at all."""
        return self.own_capabilities.missing_capability(features) is None

    def usable(self, resources: Resources) -> Quantities:
        """The resources that a request can name: plain scalars that could be offered."""
        return (
            resources.allocated_to(None)
            .filter(
                lambda entry: (
                    entry.disk is None
                    and not entry.shared
                    and not entry.revocable
                    and entry.allocatable_to(self.role)
                    and self.accepted_kinds.accepts(entry)
                )
            )
            .scalar_quantities()
        )


class Eligibilities:
    """Interned eligibilities."""

    def __init__(self, options: Options) -> None:
        self._minimum = options.min_allocatable_resources
        self._known: dict[tuple[str, frozenset[str], tuple[Quantities, ...]], Eligibility] = {}

    def of(self, info: FrameworkInfo, role: str) -> Eligibility:
        """Return the eligibility of a framework in a role."""
        minimum = info.minimums.get(role, self._minimum)
        key = (role, info.capabilities, minimum)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = Eligibility(
                role, AcceptedKinds.of(info.capabilities), Capabilities.of(role, info.capabilities), minimum
            )
        return found
