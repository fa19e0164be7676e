"""What the master says of each role (spec/endpoints.md §2, `/roles`)."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mesosctl.core import roles
from mesosctl.core.quantities import Quantities

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
    return sorted(named.union(*map(roles.ancestors, named)))


def view(master: "Master", role: str) -> RoleView:
    """One role's figures."""
    return RoleView(
        name=role,
        weight=master.weights.of(role),
        allocated=Quantities(),
        offered=Quantities(),
        reserved=reserved_in_subtree(master, role),
        consumed=master.consumed(role),
    )


def _owners(master: "Master") -> Iterable[str]:
    for agent in master.agents.values():
        yield from agent.total.by_owner()
