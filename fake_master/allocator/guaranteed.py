"""Who may lose something (seeds/drf.txt).

"If a framework is below its guaranteed allocation, Mesos will not be able to kill its tasks."  The
guaranteed allocation of a framework is that of its role, as quota states it (seeds/quota.md).  It
is what the role may hold without losing a task, so one is also safe where its end would take the
role below.
"""

from fake_master.allocator.amounts import Amounts, Pairs, add, scalar_pairs
from fake_master.allocator.interface import Holding
from fake_master.allocator.role_tree import Role
from fake_master.allocator.state import State
from mesosctl.core import roles


class Guaranteed:
    """What every role with a guarantee would hold, were everything gone that was given up so far."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._given_up: dict[str, Amounts] = {}

    def allows(self, holding: Holding) -> bool:
        """Whether its role would still hold what it is guaranteed without it.

        Of a task its whole executor counts, since that is what may have to be killed.  An offer was
        not accepted, so it is not among what the role holds; but a role that lacks something keeps
        its offers too.
        """
        role = self._state.roles.get(roles.top_level(holding.role))
        if role is None or not role.quota.guarantees:
            return True
        left = self._held(role)
        add(left, tuple((name, -amount) for name, amount in self._given_up.get(role.name, {}).items()))
        add(left, tuple((name, -amount) for name, amount in _counted(holding)))
        return all(left.get(name, 0) >= amount for name, amount in role.quota.guarantees.items())

    def give_up(self, holding: Holding) -> None:
        """It is taken to be gone from now on."""
        add(self._given_up.setdefault(roles.top_level(holding.role), {}), _counted(holding))

    def copy(self) -> "Guaranteed":
        """To try something out upon."""
        twin = Guaranteed(self._state)
        twin._given_up = {role: dict(amounts) for role, amounts in self._given_up.items()}
        return twin

    def _held(self, role: Role) -> Amounts:
        held = dict(role.allocated_unreserved)
        if self._state.options.reservations_consume_quota:
            add(held, tuple(role.reservations.items()))
        return held


def _counted(holding: Holding) -> Pairs:
    """What counts towards a guarantee: unreserved and not revocable, in use."""
    if not holding.is_task:
        return ()
    return scalar_pairs(holding.container.unreserved().non_revocable())
