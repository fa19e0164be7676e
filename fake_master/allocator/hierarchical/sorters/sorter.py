"""The tree beneath a sorter: clients as leaves of `/`-separated paths (docs/explanation/allocator.md, "Sorter").

One class serves for roles and for frameworks.  `drf_sorter` and `random_sorter` order its clients.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Any, ClassVar

from fake_master.allocator.hierarchical.offerable.allocations import Allocation, Amounts, Pairs, Tally, add

VIRTUAL = "."
Key = tuple[float, int, str, "Node"]


class Kind(Enum):
    """The kinds of nodes."""

    INTERNAL = "internal"
    ACTIVE = "active leaf"
    INACTIVE = "inactive leaf"


class Totals:
    """The scalar totals of all agents, which every sorter of an allocator shares.

    `divisors` holds them as doubles, without the names excluded from fairness; `version` tells
    the sorters that every share has changed.
    """

    def __init__(self, excluded: frozenset[str] = frozenset()) -> None:
        self.amounts: Amounts = {}
        self.version = 0
        self._excluded = excluded
        self._divisors: dict[str, float] | None = None

    def change(self, pairs: Pairs, times: int = 1) -> None:
        """Add the pairs `times` over; -1 takes them away."""
        if pairs:
            add(self.amounts, pairs, times)
            self.version += 1
            self._divisors = None

    @property
    def divisors(self) -> dict[str, float]:
        """The totals that shares are divided by, only names of which there is anything."""
        if self._divisors is None:
            self._divisors = {
                name: amount // 1000 + amount % 1000 / 1000.0
                for name, amount in self.amounts.items()
                if amount > 0 and name not in self._excluded
            }
        return self._divisors


class HeldTotals(Totals):
    """The totals of what the clients of one sorter hold together: their shares are of these."""

    def __init__(self, excluded: frozenset[str] = frozenset()) -> None:
        super().__init__(excluded)
        self._tally = Tally()
        self.amounts = self._tally.amounts

    def hold(self, agent: str, allocation: Allocation, sign: int) -> None:
        """One of the clients got an allocation (+1), or gave it back (-1)."""
        if allocation.shared:
            (self._tally.add_shared if sign > 0 else self._tally.remove_shared)(agent, allocation.shared)
        add(self.amounts, allocation.scalars, sign)
        self.version += 1
        self._divisors = None


class Node(Tally):
    """One node, and the tally of what it holds; `client` is any object of the sorter's owner."""

    __slots__ = (
        "children", "client", "count", "key", "kind", "name", "parent", "path", "ranking", "stale", "weight",
    )  # fmt: skip

    def __init__(self, name: str, path: str, parent: "Node | None", kind: Kind) -> None:
        super().__init__()
        self.name = name
        self.path = path
        self.parent = parent
        self.kind = kind
        self.client: Any = None
        self.children: dict[str, Node] = {}
        self.count = 0
        self.weight = 1.0
        self.key: Key | None = None
        """Its place among its siblings as of the last refresh; None while it has none."""
        self.ranking: list[Key] = []
        """The keys of its ordered children."""
        self.stale = False

    @property
    def client_path(self) -> str:
        """The path of its client: a virtual leaf `a/.` represents `a`."""
        return self.path.removesuffix("/" + VIRTUAL) if self.name == VIRTUAL else self.path


class Sorter(ABC):
    """Clients and what is allocated to them; a subclass says in which order they come."""

    __slots__ = ("_leaves", "active", "dirty", "inner_weights_stay", "root", "totals", "weights")

    order_lasts: ClassVar[bool]
    """Whether `order` gives the same again as long as nothing is allocated to those clients."""

    def __init__(self, totals: Totals, weights: dict[str, float] | None = None) -> None:
        self.totals = totals
        self.weights = {} if weights is None else weights
        self.root = Node("", "", None, Kind.INTERNAL)
        self._leaves: dict[str, Node] = {}
        self.active = 0
        """The number of clients that take part in the order."""
        self.dirty = True
        """Whether the present order is no longer valid."""
        self.inner_weights_stay = False
        """Whether a node with others below it and no client keeps the weight that it had when it was ordered first."""

    @abstractmethod
    def walk(self) -> Iterator[Node]:
        """Active clients in order. Allocations during the walk count from the next walk on."""

    @abstractmethod
    def refresh(self) -> None:
        """Put the clients in order, if anything has changed."""

    @abstractmethod
    def order(self, leaves: Iterable[Node]) -> list[Node]:
        """These active clients of different top-level roles, as `walk` would meet them."""

    @abstractmethod
    def _changed(self, node: Node) -> None:
        """Called when the allocation of `node` has changed."""

    @abstractmethod
    def touch(self, node: Node) -> None:
        """Order a node again: its count has changed, or whether it takes part in the order."""

    @abstractmethod
    def share(self, path: str) -> float:
        """The weighted dominant share of a client."""

    def __contains__(self, path: str) -> bool:
        return path in self._leaves

    def __len__(self) -> int:
        return len(self._leaves)

    def leaf(self, path: str) -> Node:
        """The leaf of a client."""
        return self._leaves[path]

    def sort(self) -> list[str]:
        """The paths of the active clients in order."""
        return [leaf.client_path for leaf in self.walk()]

    def add(self, path: str, client: Any = None) -> Node:
        """Add an inactive client."""
        if path in self._leaves:
            raise ValueError(f"{path} is already a client")
        node = self.root
        *inner, last = path.split("/")
        for name in inner:
            child = node.children.get(name)
            if child is None:
                child = self._child(node, name, Kind.INTERNAL)
            elif child.kind is not Kind.INTERNAL:
                child = self._grow(child)
            node = child
        node = node.children.get(last) or self._child(node, last, Kind.INACTIVE)
        if node.kind is Kind.INTERNAL:
            node = self._child(node, VIRTUAL, Kind.INACTIVE)
        node.client = client
        self._leaves[path] = node
        self.dirty = True
        return node

    def remove(self, path: str) -> None:
        """Remove a client; what it held leaves its ancestors too."""
        self.deactivate(path)
        leaf = self._leaves.pop(path)
        pairs = tuple((name, -amount) for name, amount in leaf.without_shared().items())
        copies = tuple(leaf.copies.items())
        node = leaf.parent
        while node is not None:
            add(node.amounts, pairs)
            for (agent, entry), count in copies:
                node.remove_shared(agent, ((entry, count),))
            node = node.parent
        node = leaf
        while not node.children and node.parent is not None and node is not self.root:
            del node.parent.children[node.name]
            node = node.parent
        if node is not self.root and set(node.children) == {VIRTUAL}:
            self._collapse(node)
        self.dirty = True

    def activate(self, path: str) -> None:
        """Let the client take part in the order."""
        self._set_kind(self._leaves[path], Kind.ACTIVE)

    def deactivate(self, path: str) -> None:
        """Leave the client out of the order; what it holds still counts for its ancestors."""
        self._set_kind(self._leaves[path], Kind.INACTIVE)

    def _set_kind(self, leaf: Node, kind: Kind) -> None:
        if leaf.kind is not kind:
            leaf.kind = kind
            self.active += 1 if kind is Kind.ACTIVE else -1
            self.touch(leaf)

    def update_weight(self, path: str, weight: float) -> None:
        """Set the weight of a path, in the tree or not yet."""
        self.weights[path] = weight
        node: Node | None = self.root
        for name in path.split("/"):
            node = node.children.get(name) if node is not None else None
        if node is not None and not (self.inner_weights_stay and node.key is not None and _has_no_client(node)):
            node.weight = weight
        self.dirty = True

    def allocated(
        self, leaf: Node, agent: str, allocation: Allocation, times: int = 1, *, counted: bool = True
    ) -> None:
        """The client got something, or gave it back (-1): amounts change on the leaf and below the root.

        `times` over it is got on as many agents, and then there are no shared volumes in it.  `counted` is whether the
        count of allocations grows, which it never does when something is given back.
        """
        root = self.root
        count = times if counted and times > 0 else 0
        node: Node = leaf
        while node is not root:
            amounts = node.amounts
            for name, amount in allocation.scalars:
                amounts[name] = amounts.get(name, 0) + amount * times
            if allocation.shared:
                (node.add_shared if times > 0 else node.remove_shared)(agent, allocation.shared)
            node.count += count
            if not node.stale:
                self._changed(node)
            node = node.parent  # type: ignore[assignment]  # only the root has none

    def allocation(self, path: str) -> Amounts:
        """Return what a client holds, without zeros."""
        return {name: amount for name, amount in self._leaves[path].amounts.items() if amount}

    def _child(self, parent: Node, name: str, kind: Kind) -> Node:
        path = f"{parent.path}/{name}" if parent is not self.root else name
        node = Node(name, path, parent, kind)
        node.weight = self.weights.get(path, 1.0)
        parent.children[name] = node
        return node

    def _grow(self, leaf: Node) -> Node:
        """Make room below a leaf: a new inner node takes its place and the leaf becomes its virtual child."""
        assert leaf.parent is not None
        inner = Node(leaf.name, leaf.path, leaf.parent, Kind.INTERNAL)
        inner.weight, inner.key = leaf.weight, leaf.key
        inner.count = leaf.count
        inner.amounts = dict(leaf.amounts)
        inner.copies = dict(leaf.copies)
        leaf.parent.children[leaf.name] = inner
        leaf.name, leaf.path, leaf.parent = VIRTUAL, f"{inner.path}/{VIRTUAL}", inner
        leaf.weight = self.weights.get(leaf.path, 1.0)
        inner.children[VIRTUAL] = leaf
        return inner

    def _collapse(self, inner: Node) -> None:
        """Only the virtual leaf is left: it becomes the node, with the count of the whole subtree."""
        assert inner.parent is not None
        leaf = inner.children[VIRTUAL]
        leaf.name, leaf.path, leaf.parent = inner.name, inner.path, inner.parent
        leaf.weight, leaf.count = inner.weight, inner.count
        inner.parent.children[inner.name] = leaf


def _has_no_client(node: Node) -> bool:
    return node.kind is Kind.INTERNAL and VIRTUAL not in node.children
