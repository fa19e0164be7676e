"""Quota in preemption: limits and headroom for the one that asks, guarantees of those that would lose."""

from fake_master.allocator.hierarchical.offerable.allocations import Amounts, Pairs, add, difference, scalar_pairs
from fake_master.allocator.hierarchical.role_tree import RoleNode
from fake_master.allocator.hierarchical.stages.run import headroom
from fake_master.allocator.hierarchical.state import State
from fake_master.allocator.revocation import Holding
from mesosctl.mesos import roles
from mesosctl.mesos.amounts.quantities import Quantities


class Bounds:
    """Limits, and the headroom of all guarantees, after a run."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._consumed = {role.name: state.consumed_by(role) for role in state.roles.with_quota()}
        self._lacking = {
            role.name: difference(dict(role.quota.guarantees.items()), self._consumed[role.name])
            for role in state.roles.with_quota()
        }
        self._headroom: Amounts = headroom(state) if any(self._lacking.values()) else {}
        self._promised: dict[str, Amounts] = {}

    def allow(self, role: RoleNode, amounts: Quantities, freed: Quantities) -> bool:
        """Whether the role could be offered this much more if these resources became free."""
        top = self._state.roles.get(roles.top_level(role.name))
        assert top is not None, "a role with a framework is in the tree"
        promised = self._promised.get(top.name, {})
        consumed = self._consumed.get(top.name, {})
        for name, bound in top.quota.limits.items():
            if amounts.get_amount(name) > bound - consumed.get(name, 0) - promised.get(name, 0):
                return False
        if not any(self._lacking.values()):
            return True
        own = difference(self._lacking.get(top.name, {}), promised)
        return all(
            amount <= own.get(name, 0) + max(0, self._spare(name) + freed.get_amount(name))
            for name, amount in amounts.items()
        )

    def promise(self, role: RoleNode, amounts: Quantities, freed: Quantities) -> None:
        """So much is taken to be given, and so much to be free for it."""
        add(self._headroom, tuple(freed.items()))
        add(self._promised.setdefault(roles.top_level(role.name), {}), tuple(amounts.items()))

    def _spare(self, name: str) -> int:
        """Return the headroom for roles that lack nothing; below zero if guarantees cannot be met."""
        lacking = sum(
            max(0, amounts.get(name, 0) - self._promised.get(role, {}).get(name, 0))
            for role, amounts in self._lacking.items()
        )
        promised = sum(amounts.get(name, 0) for amounts in self._promised.values())
        return self._headroom.get(name, 0) - lacking - promised


class Guarantees:
    """The amounts that each role with a guarantee still holds after the holdings given up so far."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._given_up: dict[str, Amounts] = {}

    def allows(self, holding: Holding) -> bool:
        """Whether its role would still hold its guarantee without it.

        For a task, its whole executor counts, because it may have to be killed. An offer is not part of what the role
        holds, but a role below its guarantee keeps its offers too.
        """
        role = self._state.roles.get(roles.top_level(holding.role))
        if role is None or not role.quota.guarantees:
            return True
        left = self._held(role)
        add(left, tuple((name, -amount) for name, amount in self._given_up.get(role.name, {}).items()))
        add(left, tuple((name, -amount) for name, amount in _counted(holding)))
        return all(left.get(name, 0) >= amount for name, amount in role.quota.guarantees.items())

    def give_up(self, holding: Holding) -> None:
        """Count a holding as gone from now on."""
        add(self._given_up.setdefault(roles.top_level(holding.role), {}), _counted(holding))

    def copy(self) -> "Guarantees":
        """Return a copy to try something out on."""
        twin = Guarantees(self._state)
        twin._given_up = {role: dict(amounts) for role, amounts in self._given_up.items()}
        return twin

    def _held(self, role: RoleNode) -> Amounts:
        held = dict(role.allocated_unreserved)
        if self._state.options.reservations_consume_quota:
            add(held, tuple(role.reservations.items()))
        return held


def _counted(holding: Holding) -> Pairs:
    """Return what counts towards a guarantee: unreserved and not revocable, in use."""
    if not holding.is_task:
        return ()
    return scalar_pairs(holding.container.unreserved().non_revocable())
