"""The remainder of a cluster that the second stage of a run may hand out if quota takes whole agents.

The masters of the design documents work this way (allocator specification, "The documents' master (1.4): coarse
shares"): what guarantees lack is kept back from the sum over all agents, and no agent is divided.
"""

from collections.abc import Iterable

from fake_master.allocator.hierarchical.offerable.allocations import Amounts, clamped_subtract
from fake_master.allocator.hierarchical.offerable.free_resources import OfferedPart
from fake_master.allocator.hierarchical.role_tree import Role
from fake_master.allocator.hierarchical.state import State
from mesosctl.model.offers.frameworks import is_allocatable
from mesosctl.model.resource import Resource
from mesosctl.model.resources import Resources


class Remainder:
    """Scalars of all agents that are neither used nor lacked by a guarantee, shared volumes apart."""

    def __init__(self, state: State, roles_with_quota: Iterable[Role]) -> None:
        self.left: Amounts = dict(state.totals.amounts)
        clamped_subtract(self.left, tuple(state.total_used().items()))
        held = state.roles.root.used_reserved.copies
        for agent in state.agents.values():
            for entry, amount in agent.capacity.shared:
                if (agent.id, entry) not in held:
                    clamped_subtract(self.left, ((entry.name, amount),))
        for role in roles_with_quota:
            if role.allowance is not None:
                clamped_subtract(self.left, tuple(role.allowance.unmet_guarantee.items()))
        self._minimum = state.options.min_allocatable_resources

    def holds(self, part: OfferedPart) -> bool:
        """Whether a part can be offered whole."""
        left = self.left
        return all(amount <= left.get(name, 0) for name, amount in part.allocation.scalars)

    def charge(self, part: OfferedPart) -> None:
        """Count a part as handed out."""
        clamped_subtract(self.left, part.allocation.scalars)

    @property
    def is_too_little(self) -> bool:
        """Whether it is below the minimum of an offer."""
        return not is_allocatable(
            Resources(Resource(name, amount) for name, amount in sorted(self.left.items())), self._minimum
        )
