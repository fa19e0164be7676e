"""What the master says of each role (spec/endpoints.md §2, `/roles`)."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mesosctl.core import roles
from mesosctl.core.quantities import Quantities
from mesosctl.core.resources import Resources

if TYPE_CHECKING:
    from fake_master.master.state import Master


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


def reserved_in_subtree(master: "Master", role: str) -> Quantities:
    """Everything reserved for `role` or below it, static or dynamic, in use or not."""
    return Quantities.total(
        owned.quantities()
        for agent in master.agents.values()
        for owner, owned in agent.total.by_owner().items()
        if owner == role or roles.is_strict_subrole(owner, role)
    )


def known_roles(master: "Master") -> list[str]:
    """The roles that /roles lists, by name: the whitelist, or every role that anything names and its ancestors."""
    if master.flags.whitelist is not None:
        return sorted({*master.flags.whitelist, roles.DEFAULT_ROLE})
    named: set[str] = {*master.weights.configured, *master.quotas.stored, *_owners(master)}
    for framework in master.frameworks.values():
        named |= framework.roles
        named.update(task.role for task in framework.tasks.values())
    return sorted(named.union(*map(roles.ancestors, named)))


def view(master: "Master", role: str) -> RoleView:
    """One role's figures."""
    allocated, offered = _allocated(master, role), _offered(master, role)
    return RoleView(
        name=role,
        weight=master.weights.of(role),
        allocated=allocated.quantities(),
        offered=offered.quantities(),
        reserved=reserved_in_subtree(master, role),
        consumed=master.consumed(role),
        frameworks=tuple(of.id for of in master.frameworks.values() if role in of.roles),
    )


def held(master: "Master", role: str) -> Resources:
    """What is allocated or offered to a role and below, without the allocation."""
    return (_allocated(master, role) + _offered(master, role)).allocated_to(None)


def _allocated(master: "Master", role: str) -> Resources:
    found = Resources()
    for framework in master.frameworks.values():
        found += framework.used().filter(lambda entry: _within(entry.allocation_role or "", role))
    return found


def _offered(master: "Master", role: str) -> Resources:
    found = Resources()
    for offer in master.offers:
        if _within(offer.role, role):
            found += offer.resources
    return found


def _within(role: str, top: str) -> bool:
    return role == top or roles.is_strict_subrole(role, top)


def _owners(master: "Master") -> Iterable[str]:
    for agent in master.agents.values():
        yield from agent.total.by_owner()
