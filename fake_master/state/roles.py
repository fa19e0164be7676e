"""Roles as a master shows them, and the roles that a principal may see.

Source: Mesos documentation, "HTTP Endpoints", "/roles".
"""

from collections.abc import Callable
from dataclasses import dataclass

from fake_master.state.agents import totals
from fake_master.state.master_state import MasterState
from mesosctl.mesos import roles
from mesosctl.mesos.amounts.quantities import Quantities
from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.amounts.resources import Resources

_NOTHING = Quantities()
Sees = Callable[[str], bool]
"""Whether a principal may see a role."""


@dataclass(frozen=True, slots=True)
class RoleView:
    """One role, descendants included in every quantity but its own."""

    name: str
    weight: float
    allocated: Quantities
    offered: Quantities
    reserved: Quantities
    consumed: Quantities
    own: Resources
    """Where roles are no tree, the resources that are allocated and offered to itself; else empty."""
    frameworks: tuple[str, ...] = ()


def everything(_role: str) -> bool:
    """Return True: the sight of a principal whom no ACL concerns."""
    return True


def sees(state: MasterState, principal: str | None) -> Sees:
    """Which roles a principal may see."""
    authorizer = state.flags.authorizer
    if authorizer.allows_all("view_roles"):
        return everything
    return lambda role: authorizer.allows("view_roles", principal, role)


def seen(resources: Resources, by: Sees) -> Resources:
    """The entries that a principal may see: it must see every level of the stack, and the allocation role."""
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
        listed = {*state.flags.whitelist, roles.DEFAULT_ROLE}
        return sorted(roles.with_ancestors(listed) if state.profile.whitelist_shows_roles_above else listed)
    named: set[str] = {*state.weights, *state.quotas}
    if not state.profile.roles_are_a_tree:
        return sorted(named.union(*(framework.tracked_roles for framework in state.frameworks.values())))
    for total, _ in totals(state.agents.values()):
        named.update(entry.role for entry in total if entry.reservations)
    for framework in state.frameworks.values():
        named |= framework.tracked_roles
    return sorted(named.union(*map(roles.ancestors, named)))


def views(state: MasterState) -> list[RoleView]:
    """The figures of every known role, by name."""
    usage = state.role_usage()
    subscribed: dict[str, list[str]] = {}
    held: dict[str, list[Resource]] = {}
    for framework in state.frameworks.values():
        for role in framework.tracked_roles:
            subscribed.setdefault(role, []).append(framework.id)
        if not state.profile.roles_are_a_tree:
            for entry in (*framework.used(), *framework.offered()):
                held.setdefault(entry.allocation_role or "", []).append(entry)
    return [
        RoleView(
            name=name,
            weight=state.weights.get(name, 1.0),
            allocated=usage.allocated.get(name, _NOTHING),
            offered=usage.offered.get(name, _NOTHING),
            reserved=usage.reserved.get(name, _NOTHING),
            consumed=usage.consumed(name),
            own=Resources(held.get(name, ())),
            frameworks=tuple(subscribed.get(name, ())),
        )
        for name in known_roles(state)
    ]
