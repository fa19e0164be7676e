"""Roles whose bounds leave too little to offer, until the end of a run, in which limits and headroom only shrink."""

from collections.abc import Callable, Iterator
from functools import reduce
from operator import or_

from fake_master.allocator.hierarchical.offerable.free_resources import FreeResources
from fake_master.allocator.hierarchical.records import Client
from fake_master.allocator.hierarchical.role_tree import Role, lineage
from fake_master.allocator.hierarchical.sorters.sorter import Node
from fake_master.allocator.hierarchical.state import State
from mesosctl.model.quantities import Quantities

Bound = Callable[[Role, str], float]
"""The most unreserved, non-revocable resources that a role may be offered, by name."""


class ExhaustedRoles:
    """The roles that a run passes over.

    Some are passed over for free resources like those of one agent.  Those that could be offered nothing unreserved
    of any agent leave the order of roles, so that a thousand roles at their limits cost the other agents nothing.
    They come back for agents on which something is reserved for them.
    """

    def __init__(self, state: State, bound: Bound) -> None:
        self._state = state
        self._bound = bound
        self._by_free_resources: dict[FreeResources, int] = {}
        self._out_of_order: set[Role] = set()
        self._by_owner: dict[str, list[Role]] = {}
        """Roles that are out of the order, by those whose reservations they may be offered."""

    def of(self, free_resources: FreeResources) -> int:
        """Return tokens of roles whose bounds leave too little of these free resources, or that own none, or-ed."""
        found = self._by_free_resources.get(free_resources)
        if found is None:
            owners = self._state.roles.subtrees(free_resources.owners) if free_resources.is_all_reserved else ()
            found = ~reduce(or_, (role.token for role in owners), 0) if owners else 0
            self._by_free_resources[free_resources] = found
        return found

    def add(self, free_resources: FreeResources, role: Role) -> None:
        """Remember such a role, whatever the filters."""
        self._by_free_resources[free_resources] = self.of(free_resources) | role.token
        sorter = self._state.role_sorter
        if role not in self._out_of_order and sorter.order_lasts and self._is_exhausted_everywhere(role):
            sorter.deactivate(role.name)
            self._out_of_order.add(role)
            for owner in lineage(role):
                self._by_owner.setdefault(owner.name, []).append(role)

    def walk_others(self, free_resources: FreeResources) -> Iterator[Node]:
        """Return the roles in order, without those that could be offered nothing even of other agents."""
        reserved = [role for owner in free_resources.owners for role in self._by_owner.get(owner, ())]
        return self._walk_with(reserved, free_resources) if reserved else self._walk(free_resources)

    def later_owners(self, after: Node | None, free_resources: FreeResources) -> Iterator[Node] | None:
        """Return the roles that may have these free resources, those after one role in the present walk.

        None if not all of them are reserved, or if only the walk tells the order.
        """
        if not free_resources.is_all_reserved:
            return None
        owners = self._state.roles.subtrees(free_resources.owners)
        found = self._state.role_sorter.among({role.leaf for role in owners if role.leaf is not None}, after)
        return None if found is None else iter(found)

    def _walk(self, free_resources: FreeResources) -> Iterator[Node]:
        owners = self.later_owners(None, free_resources)
        return self._state.role_sorter.walk() if owners is None else owners

    def _walk_with(self, roles: list[Role], free_resources: FreeResources) -> Iterator[Node]:
        """Walk with these roles in the order again, until the walk ends or is dropped: CPython closes it at once."""
        sorter = self._state.role_sorter
        for role in roles:
            sorter.activate(role.name)
        try:
            yield from self._walk(free_resources)
        finally:
            for role in roles:
                sorter.deactivate(role.name)

    def restore_order(self) -> None:
        """Let all roles take part again."""
        for role in self._out_of_order:
            self._state.role_sorter.activate(role.name)

    def _is_exhausted_everywhere(self, role: Role) -> bool:
        """Whether no framework of the role could be offered anything unreserved, of whichever agent."""
        assert role.sorter is not None
        clients: list[Client] = [leaf.client for leaf in role.sorter.walk()]
        # Revocable resources have no bounds.
        if any(client.eligibility.accepted_kinds.revocable for client in clients):
            return False
        minimums = {client.eligibility.minimum for client in clients}
        return all(minimum and all(self._is_out_of_reach(role, each) for each in minimum) for minimum in minimums)

    def _is_out_of_reach(self, role: Role, minimum: Quantities) -> bool:
        # Only scalars have bounds.
        elsewhere = self._state.pool.names_of_other_types
        return any(name not in elsewhere and self._bound(role, name) < amount for name, amount in minimum.items())
