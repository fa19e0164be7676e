"""What quota would leave of something that came back: no use in taking what may not be given (spec/allocator.md §5)."""

from fake_master.allocator.amounts import Amounts, add, difference
from fake_master.allocator.role_tree import Role
from fake_master.allocator.run import headroom
from fake_master.allocator.state import State
from mesosctl.core import roles
from mesosctl.core.quantities import Quantities


class Bounds:
    """Limits, and the headroom of all guarantees, as they stand after a run."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._consumed = {role.name: state.consumed_by(role) for role in state.roles.with_quota()}
        self._lacking = {
            role.name: difference(dict(role.quota.guarantees.items()), self._consumed[role.name])
            for role in state.roles.with_quota()
        }
        self._headroom: Amounts = headroom(state) if any(self._lacking.values()) else {}
        self._promised: dict[str, Amounts] = {}

    def allow(self, role: Role, amounts: Quantities, freed: Quantities) -> bool:
        """Whether the role could be offered so much more, were this much free on top of what is."""
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

    def promise(self, role: Role, amounts: Quantities, freed: Quantities) -> None:
        """So much is taken to be given, and so much to be free for it."""
        add(self._headroom, tuple(freed.items()))
        add(self._promised.setdefault(roles.top_level(role.name), {}), tuple(amounts.items()))

    def _spare(self, name: str) -> int:
        """What is left of the headroom for those who lack nothing; below zero where guarantees cannot be met."""
        lacking = sum(
            max(0, amounts.get(name, 0) - self._promised.get(role, {}).get(name, 0))
            for role, amounts in self._lacking.items()
        )
        promised = sum(amounts.get(name, 0) for amounts in self._promised.values())
        return self._headroom.get(name, 0) - lacking - promised
