"""Reservations that lie idle, and what of them may be lent to whom (spec/oversubscription.md §3, A6)."""

from fake_master.allocator.amounts import Amounts, add, scalar_pairs
from fake_master.allocator.lent_records import LentAgent, beyond, common
from mesosctl.core import roles
from mesosctl.core.resources import Resources


class Idle:
    """Idle reservations of agents that look alike, and what of them may be lent to a role."""

    def __init__(self, lendable: Resources) -> None:
        self._lendable = lendable
        self.everything = scalar_pairs(lendable)
        self._others: dict[str, Amounts] = {}

    def of_others(self, role: str) -> Amounts:
        """What `role` is never offered regularly: neither its own nor its ancestors'."""
        found = self._others.get(role)
        if found is None:
            others = self._lendable.filter(lambda entry: not entry.allocatable_to(role))
            found = self._others[role] = dict(scalar_pairs(others))
        return found


def free_for(agent: LentAgent, idle: Idle, role: str, left: Amounts) -> Amounts:
    """What of all that is left may be lent to a role (A6), and to no role below an owner more than what others own."""
    for name in (role, *roles.ancestors(role)):
        if not left:
            break
        own = idle.of_others(name)
        if own != agent.slack:
            bound = beyond(own, _lent_within(agent, name))
            left = common(left, bound)
    return left


def _lent_within(agent: LentAgent, role: str) -> Amounts:
    sums: Amounts = {}
    for tenant, amounts in agent.lent.items():
        if tenant.role.name == role or roles.is_strict_subrole(tenant.role.name, role):
            add(sums, tuple(amounts.items()))
    return sums
