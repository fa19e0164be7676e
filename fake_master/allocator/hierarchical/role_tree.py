"""The tree of roles: quota, weights, reservations, and what is held below each.

Amounts of a role are those of its whole subtree.  A role exists while it has a child, a framework, a reservation,
quota, or a weight other than 1.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import reduce
from operator import or_

from fake_master.allocator.hierarchical.offerable.allocations import (
    Allocation,
    Amounts,
    Pairs,
    Tally,
    add,
    clamped_subtract,
    difference,
)
from fake_master.allocator.hierarchical.sorters.sorter import Node, Sorter
from mesosctl.mesos.amounts.quantities import Quota, add_up

DEFAULT_QUOTA = Quota()
Reserved = Iterable[tuple[str, Pairs]]
"""Reserved scalars by owner."""


class QuotaAllowance:
    """The amounts that a role with quota may still get in one run."""

    __slots__ = ("_met_by", "limits_left", "unmet_guarantee")

    def __init__(
        self, quota: Quota, consumed: Amounts, *, one_name_is_enough: bool = False, guarantee_is_limit: bool = False
    ) -> None:
        """`one_name_is_enough`: whether a guarantee counts as met when one of its names is."""
        self._met_by = max(0, len(quota.guarantees) - 1) if one_name_is_enough else 0
        """How many names may be unmet in a guarantee that counts as met."""
        self.unmet_guarantee = difference(dict(quota.guarantees.items()), consumed)
        """The guarantee minus what is consumed; zeros dropped."""
        limits = quota.guarantees if guarantee_is_limit else quota.limits
        self.limits_left = {name: max(0, bound - consumed.get(name, 0)) for name, bound in limits.items()}
        """Each limit minus what is consumed; zeros kept, a name not in it is unlimited."""

    @property
    def is_below_guarantee(self) -> bool:
        """Whether the first stage of a run gives the role more."""
        return len(self.unmet_guarantee) > self._met_by

    def charge(self, pairs: Pairs) -> None:
        """Count amounts that the role was given."""
        clamped_subtract(self.unmet_guarantee, pairs)
        for name, amount in pairs:
            if name in self.limits_left:
                self.limits_left[name] = max(0, self.limits_left[name] - amount)


class RoleNode:
    """One role.  `root` is the role with the empty name."""

    __slots__ = (
        "allocated_unreserved",
        "allowance",
        "children",
        "leaf",
        "name",
        "parent",
        "quota",
        "reservations",
        "sorter",
        "token",
        "used_reserved",
        "used_unreserved",
        "weight",
    )  # fmt: skip

    def __init__(self, name: str, parent: "RoleNode | None") -> None:
        self.name = name
        self.parent = parent
        self.children: dict[str, RoleNode] = {}
        self.quota = DEFAULT_QUOTA
        self.weight = 1.0
        self.sorter: Sorter | None = None
        """Orders the frameworks of this very role; None while it has none."""
        self.leaf: Node | None = None
        """Its own place in the role sorter, or None."""
        self.token = 0
        """Changes whenever one of its frameworks might accept more than before."""
        self.reservations: Amounts = {}
        self.used_reserved = Tally()
        self.used_unreserved: Amounts = {}
        """Offered or allocated, unreserved, not revocable."""
        self.allocated_unreserved: Amounts = {}
        self.allowance: QuotaAllowance | None = None
        """While a run lasts, and only with quota."""

    def consumed(self, *, with_reservations: bool, with_subroles: bool = True) -> Amounts:
        """Return what counts towards its quota: held or offered, and reserved, in use or not."""
        amounts = dict(self.used_unreserved)
        if with_reservations:
            add(amounts, tuple(self.reservations.items()))
        if not with_subroles:
            for child in self.children.values():
                add(amounts, tuple(child.consumed(with_reservations=with_reservations).items()), -1)
        return amounts

    @property
    def is_needed(self) -> bool:
        """Whether anything keeps it in the tree."""
        return bool(
            self.children
            or self.sorter is not None
            or self.reservations
            or not self.quota.is_default
            or self.weight != 1.0
        )


class RoleTree:
    """All roles."""

    def __init__(self) -> None:
        self.root = RoleNode("", None)
        self._roles: dict[str, RoleNode] = {}

    def __iter__(self) -> Iterator[RoleNode]:
        return iter(self._roles.values())

    def get(self, name: str) -> RoleNode | None:
        """The role, if it exists."""
        return self._roles.get(name)

    def ensure(self, name: str) -> RoleNode:
        """The role, made with its ancestors if need be."""
        missing = []
        above, slash = name, "/"
        while slash and above not in self._roles:
            missing.append(above)
            above, slash, _ = above.rpartition("/")
        role = self._roles[above] if slash else self.root
        for each in reversed(missing):
            parent, role = role, RoleNode(each, role)
            self._roles[each] = parent.children[each.rpartition("/")[2]] = role
        return role

    def subtrees(self, names: Iterable[str]) -> Iterator[RoleNode]:
        """The roles of these names, as far as they exist, and those below each."""
        waiting = [self._roles[name] for name in names if name in self._roles]
        while waiting:
            role = waiting.pop()
            yield role
            waiting += role.children.values()

    def prune(self, role: RoleNode) -> None:
        """Remove the role, and then its ancestors, unless something keeps them."""
        while role.parent is not None and not role.is_needed:
            del self._roles[role.name]
            del role.parent.children[role.name.rpartition("/")[2]]
            role = role.parent

    def with_quota(self) -> Iterator[RoleNode]:
        """Top-level roles whose quota is not the default."""
        return (role for role in self.root.children.values() if not role.quota.is_default)

    def set_quota(self, name: str, quota: Quota) -> None:
        """Replace a quota."""
        role = self.ensure(name)
        role.quota = quota
        self.prune(role)

    def set_weight(self, name: str, weight: float) -> None:
        """Replace a weight."""
        role = self.ensure(name)
        role.weight = weight
        self.prune(role)

    def reserve(self, gone: Reserved, come: Reserved) -> None:
        """Reservations disappear from an agent, and others appear."""
        touched = {}
        for reserved, is_new in ((gone, False), (come, True)):
            for name, pairs in reserved:
                touched[name] = self.ensure(name)
                for node in lineage(touched[name]):
                    if is_new:
                        add_up(node.reservations, pairs)
                    else:
                        add(node.reservations, pairs, -1)
        for name, role in touched.items():
            if self._roles.get(name) is role:
                self.prune(role)

    def hold(self, changes: Mapping[Allocation, int]) -> None:
        """Count how often more each allocation is held or offered; shared volumes apart."""
        for allocation, times in changes.items():
            for role in lineage(self._roles[allocation.role]) if times else ():
                add(role.used_reserved.amounts, allocation.reserved, times)
                add(role.used_unreserved, allocation.unreserved, times)

    def hold_shared(self, allocation: Allocation, agent: str, sign: int) -> None:
        """Copies of shared volumes of the allocation are taken (+1) or come back (-1)."""
        for role in lineage(self._roles[allocation.role]):
            if sign > 0:
                role.used_reserved.add_shared(agent, allocation.shared)
            else:
                role.used_reserved.remove_shared(agent, allocation.shared)

    def allocate(self, name: str, pairs: Pairs, sign: int) -> None:
        """Unreserved non-revocable amounts went from offered to allocated (+1), or were given back (-1)."""
        for role in lineage(self._roles[name]):
            add(role.allocated_unreserved, pairs, sign)


def tokens_of(roles: Iterable[RoleNode]) -> int:
    """Return the tokens of roles, or-ed."""
    return reduce(or_, (role.token for role in roles), 0)


def lineage(role: RoleNode | None) -> Iterator[RoleNode]:
    """The role, its ancestors, and the root."""
    while role is not None:
        yield role
        role = role.parent
