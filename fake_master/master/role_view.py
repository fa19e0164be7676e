"""What the master says of each role (spec/endpoints.md §2, `/roles`)."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mesosctl.core import roles
from mesosctl.core.quantities import Quantities
from mesosctl.core.resource import Resource
from mesosctl.core.resources import Resources
from mesosctl.core.values import value_quantity

if TYPE_CHECKING:
    from fake_master.master.master import Master

_NOTHING = Quantities()


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

    def __init__(self, master: "Master") -> None:
        used = [entry for framework in master.frameworks.values() for entry in framework.used()]
        offered = [entry for framework in master.frameworks.values() for entry in framework.offered()]
        self.allocated = united(_by_role(used))
        self.offered = united(_by_role(offered))
        self.reserved = _rolled_up(_reserved(agent.total for agent in master.agents.values()).items())
        # Revocable resources count as all others do in Mesos, which knows no lending.
        self._counted = self.allocated
        if master.lends:
            self._counted = united(_by_role(entry for entry in used if not entry.revocable))
        self._in_use = united(_by_role([entry for entry in used if entry.is_reserved]))
        self._reservations_count = master.profile.reservations_consume_quota

    def consumed(self, role: str) -> Quantities:
        """What counts against the limits of `role`: allocated, and reserved but idle where that counts."""
        allocated = self._counted.get(role, _NOTHING)
        if not self._reservations_count:
            return allocated
        return allocated + (self.reserved.get(role, _NOTHING) - self._in_use.get(role, _NOTHING))


def known_roles(master: "Master") -> list[str]:
    """The roles that /roles lists, by name: the whitelist, or every role that anything names and its ancestors."""
    if master.flags.whitelist is not None:
        return sorted({*master.flags.whitelist, roles.DEFAULT_ROLE})
    named: set[str] = {*master.weights.configured, *master.quotas.stored}
    for agent in master.agents.values():
        named.update(entry.role for entry in agent.total if entry.reservations)
    for framework in master.frameworks.values():
        named |= framework.tracked_roles
    return sorted(named.union(*map(roles.ancestors, named)))


def views(master: "Master", names: Iterable[str]) -> list[RoleView]:
    """The figures of some roles."""
    ledger = Ledger(master)
    subscribed: dict[str, list[str]] = {}
    for framework in master.frameworks.values():
        for role in framework.tracked_roles:
            subscribed.setdefault(role, []).append(framework.id)
    return [
        RoleView(
            name=name,
            weight=master.weights.of(name),
            allocated=ledger.allocated.get(name, _NOTHING),
            offered=ledger.offered.get(name, _NOTHING),
            reserved=ledger.reserved.get(name, _NOTHING),
            consumed=ledger.consumed(name),
            frameworks=tuple(subscribed.get(name, ())),
        )
        for name in names
    ]


def _by_role(entries: Iterable[Resource]) -> Iterable[tuple[str, Iterable[Resource]]]:
    for entry in entries:
        yield entry.allocation_role or roles.DEFAULT_ROLE, (entry,)


def _reserved(totals: Iterable[Resources]) -> dict[str, Quantities]:
    """Sums by owner over all agents; sets and ranges of each agent by count."""
    sums: dict[str, dict[str, int]] = {}
    for total in totals:
        for entry in total:
            if entry.reservations:
                owned = sums.setdefault(entry.role, {})
                owned[entry.name] = owned.get(entry.name, 0) + value_quantity(entry.value)
    return {role: Quantities(owned) for role, owned in sums.items()}


def united(held: Iterable[tuple[str, Iterable[Resource]]]) -> dict[str, Quantities]:
    """Sums by role as masters make them, over all agents at once: a port that two agents have counts once."""
    by_role: dict[str, list[Resource]] = {}
    for role, entries in held:
        by_role.setdefault(role, []).extend(entries)
    return _rolled_up((role, Resources(entries).quantities()) for role, entries in by_role.items())


def _rolled_up(held: Iterable[tuple[str, Quantities]]) -> dict[str, Quantities]:
    """Sums by role, each counted for its ancestors too."""
    sums: dict[str, Quantities] = {}
    for role, quantities in held:
        for name in (role, *roles.ancestors(role)):
            sums[name] = sums.get(name, _NOTHING) + quantities
    return sums
