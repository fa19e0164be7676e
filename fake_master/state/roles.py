"""What the master says of each role (spec/endpoints.md §2, `/roles`)."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from fake_master.state.master_state import MasterState
from mesosctl.model import roles
from mesosctl.model.quantities import Quantities, add_up
from mesosctl.model.resource import Resource
from mesosctl.model.resources import Resources
from mesosctl.model.values import value_quantity

_NOTHING = Quantities()
Sees = Callable[[str], bool]
"""Whether somebody may see a role."""


@dataclass(frozen=True, slots=True)
class RoleView:
    """One role, descendants included in every quantity."""

    name: str
    weight: float
    allocated: Quantities
    offered: Quantities
    reserved: Quantities
    consumed: Quantities
    frameworks: tuple[str, ...] = ()


class Ledger:
    """Who holds what at one moment: every role's sums from one walk over the cluster.

    Each sum includes the roles below, as `/roles` has it since 1.9.
    """

    def __init__(self, state: MasterState) -> None:
        frameworks = state.frameworks.values()
        self.allocated = sums(framework.used() for framework in frameworks)
        self.offered = sums(framework.offered() for framework in frameworks)
        self.reserved = _rolled_up(_reserved(agent.total for agent in state.agents.values()).items())
        self._counted = self.allocated
        if not state.revocability.counts_revocable:
            self._counted = sums(framework.used().non_revocable() for framework in frameworks)
        # Of the owners: what is reserved for an ancestor is in use there, and idle nowhere.
        self._in_use = _rolled_up(
            (owner, owned.quantities())
            for framework in frameworks
            for owner, owned in framework.used().by_owner().items()
        )
        self._reservations_count = state.profile.reservations_consume_quota

    def consumed(self, role: str) -> Quantities:
        """What counts against the limits of `role`: allocated, and reserved but idle where that counts."""
        allocated = self._counted.get(role, _NOTHING)
        if not self._reservations_count:
            return allocated
        return allocated + (self.reserved.get(role, _NOTHING) - self._in_use.get(role, _NOTHING))


def everything(_role: str) -> bool:
    """What those may see whom no ACL concerns."""
    return True


def sees(state: MasterState, principal: str | None) -> Sees:
    """Which roles a principal may see."""
    authorizer = state.flags.authorizer
    if authorizer.permissive and not authorizer.rules.get("view_roles"):
        return everything
    return lambda role: authorizer.allows("view_roles", principal, role)


def seen(resources: Resources, by: Sees) -> Resources:
    """The entries that somebody may see: every level of the stack, and whom they are allocated to."""
    if by is everything:
        return resources
    return resources.filter(
        lambda entry: (
            all(by(level.role) for level in entry.reservations)
            and (entry.allocation_role is None or by(entry.allocation_role))
        )
    )


def known_roles(state: MasterState) -> list[str]:
    """The roles that /roles lists, by name: the whitelist, or every role that anything names and its ancestors."""
    if state.flags.whitelist is not None:
        return sorted({*state.flags.whitelist, roles.DEFAULT_ROLE})
    named: set[str] = {*state.weights, *state.quotas}
    for agent in state.agents.values():
        named.update(entry.role for entry in agent.total if entry.reservations)
    for framework in state.frameworks.values():
        named |= framework.tracked_roles
    return sorted(named.union(*map(roles.ancestors, named)))


def views(state: MasterState, names: Iterable[str]) -> list[RoleView]:
    """The figures of some roles."""
    ledger = Ledger(state)
    subscribed: dict[str, list[str]] = {}
    for framework in state.frameworks.values():
        for role in framework.tracked_roles:
            subscribed.setdefault(role, []).append(framework.id)
    return [
        RoleView(
            name=name,
            weight=state.weights.get(name, 1.0),
            allocated=ledger.allocated.get(name, _NOTHING),
            offered=ledger.offered.get(name, _NOTHING),
            reserved=ledger.reserved.get(name, _NOTHING),
            consumed=ledger.consumed(name),
            frameworks=tuple(subscribed.get(name, ())),
        )
        for name in names
    ]


def _reserved(totals: Iterable[Resources]) -> dict[str, Quantities]:
    """Sums by owner over all agents; sets and ranges of each agent by count."""
    sums: dict[str, dict[str, int]] = {}
    for total in totals:
        for entry in total:
            if entry.reservations:
                add_up(sums.setdefault(entry.role, {}), ((entry.name, value_quantity(entry.value)),))
    return {role: Quantities(owned) for role, owned in sums.items()}


def sums(held: Iterable[Iterable[Resource]]) -> dict[str, Quantities]:
    """Sums by allocation role, from what each framework holds: of one, a port that two agents have counts once."""
    return _rolled_up(pair for entries in held for pair in _by_role(entries))


def _by_role(entries: Iterable[Resource]) -> Iterator[tuple[str, Quantities]]:
    by_role: dict[str, list[Resource]] = {}
    for entry in entries:
        by_role.setdefault(entry.allocation_role or roles.DEFAULT_ROLE, []).append(entry)
    for role, held in by_role.items():
        yield role, Resources(held).quantities()


def _rolled_up(held: Iterable[tuple[str, Quantities]]) -> dict[str, Quantities]:
    """Sums by role, each counted for its ancestors too."""
    sums: dict[str, Quantities] = {}
    for role, quantities in held:
        for name in (role, *roles.ancestors(role)):
            sums[name] = sums.get(name, _NOTHING) + quantities
    return sums
