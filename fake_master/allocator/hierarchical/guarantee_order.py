"""The order in which guarantees are met, on releases that sort roles with quota apart from the others.

Source: docs/explanation/allocator.md, "Mesos 1.4 to 1.8: a guarantee is a ceiling".
"""

from collections.abc import Iterable

from fake_master.allocator.hierarchical.offerable.allocations import Allocation, AllocationPool, Content, Pairs
from fake_master.allocator.hierarchical.role_tree import RoleNode
from fake_master.allocator.hierarchical.sorters.ordering import Ordering
from fake_master.allocator.hierarchical.sorters.sorter import Node, Totals


class GuaranteeOrder:
    """Roles with quota, each with what itself holds and nothing revocable; the roles below it are not seen."""

    def __init__(self, totals: Totals, sorter: Ordering, pool: AllocationPool) -> None:
        self._totals = totals
        self.sorter = sorter
        self._pool = pool
        self._leaves: dict[RoleNode, Node] = {}

    def order(self, roles: Iterable[RoleNode]) -> list[Node]:
        """These roles with quota in order."""
        return self.sorter.order([self._leaves[role] for role in roles])

    def count_total(self, nonrevocable: Pairs, sign: int) -> None:
        """Count what an agent has in all (+1), or no longer (-1)."""
        self._totals.change(nonrevocable, sign)

    def enter(self, role: RoleNode, held: Iterable[tuple[str, list[Allocation]]]) -> None:
        """The role has quota from now on, and holds these, by agent; its count is that of these agents."""
        leaf = self._leaves[role] = self.sorter.add(role.name, role)
        self.sorter.activate(role.name)
        for agent, allocations in held:
            for place, allocation in enumerate(allocations):
                self.sorter.allocated(leaf, agent, self._nonrevocable(allocation), counted=place == 0)

    def leave(self, role: RoleNode) -> None:
        """The role has quota no more."""
        del self._leaves[role]
        self.sorter.remove(role.name)

    def allocated(self, role: RoleNode, agent: str, allocation: Allocation, sign: int, *, counted: bool) -> None:
        """See `Sorter.allocated`; of a role without quota this is nothing."""
        leaf = self._leaves.get(role)
        if leaf is not None:
            self.sorter.allocated(leaf, agent, self._nonrevocable(allocation), sign, counted=counted)

    def _nonrevocable(self, allocation: Allocation) -> Allocation:
        if not allocation.revocable:
            return allocation
        return self._pool.for_role(allocation.role, Content(allocation.without_role.non_revocable()))
