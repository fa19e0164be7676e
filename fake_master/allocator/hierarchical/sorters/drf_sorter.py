"""The order of dominant resource fairness (docs/explanation/allocator.md, "Sorter")."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator

from fake_master.allocator.hierarchical.sorters.sorter import Kind, Node, Sorter, Totals


class DrfSorter(Sorter):
    """Orders clients by weighted dominant share."""

    __slots__ = ("_moved", "_version", "ties")

    order_lasts = True

    def __init__(self, totals: Totals, weights: dict[str, float] | None = None) -> None:
        super().__init__(totals, weights)
        self._moved: list[Node] = []
        self._version = totals.version
        self.ties = 0
        """How often counts may have decided between equal shares."""

    def walk(self) -> Iterator[Node]:
        """Pre-order over the active leaves.  The order is frozen: changes only queue up for the next walk."""
        self.refresh()
        return _preorder(self.root)

    def order(self, leaves: Iterable[Node]) -> list[Node]:
        """Clients of different top-level roles, by the position of the roles."""
        self.refresh()
        return [leaf for _, leaf in sorted(((self._top(leaf).key, leaf) for leaf in leaves), key=_first)]  # type: ignore[arg-type]

    def share(self, path: str) -> float:
        """The weighted dominant share of a client: the seed's figure, between 0 and 1 for weight 1."""
        return _share(self._leaves[path], self.totals.divisors)

    def refresh(self) -> None:
        """Update the order with allocations since the last walk."""
        if self.dirty or self._version != self.totals.version:
            self._rebuild()
            return
        divisors = self.totals.divisors if self._moved else {}
        for node in self._moved:
            node.stale = False
            old = node.key
            ranking = node.parent.ranking  # type: ignore[union-attr]  # the root never moves
            if old is not None:
                del ranking[bisect_left(ranking, old)]
            node.key = None
            if node.kind is not Kind.INACTIVE:
                node.key = key = (_share(node, divisors), node.count, node.path, node)
                place = bisect_left(ranking, key)
                if (place and ranking[place - 1][0] == key[0]) or (
                    place < len(ranking) and ranking[place][0] == key[0]
                ):
                    self.ties += 1
                ranking.insert(place, key)
        self._moved.clear()

    def _changed(self, node: Node) -> None:
        node.stale = True
        self._moved.append(node)

    def touch(self, node: Node) -> None:
        """See `Sorter.touch`."""
        if not node.stale:
            self._changed(node)

    def _top(self, leaf: Node) -> Node:
        while leaf.parent is not self.root:
            leaf = leaf.parent  # type: ignore[assignment]  # ends at the root
        return leaf

    def _rebuild(self) -> None:
        self.ties += 1  # perhaps
        divisors = self.totals.divisors
        # Looking up an enum member costs as much as calculating a share.
        internal, inactive = Kind.INTERNAL, Kind.INACTIVE
        inner = [self.root]
        while inner:
            node = inner.pop()
            ranking = []
            for child in node.children.values():
                child.stale = False
                if child.kind is inactive:
                    child.key = None
                    continue
                child.key = (_share(child, divisors), child.count, child.path, child)
                ranking.append(child.key)
                if child.kind is internal:
                    inner.append(child)
            ranking.sort()
            node.ranking = ranking
        self._moved.clear()
        self._version = self.totals.version
        self.dirty = False


def _first(pair: tuple[object, Node]) -> object:
    return pair[0]


def _preorder(node: Node) -> Iterator[Node]:
    # Roles may be nested deeper than Python's stack.
    above = [iter(node.ranking)]
    while above:
        for _, _, _, child in above[-1]:
            if child.kind is Kind.INTERNAL:
                above.append(iter(child.ranking))
                break
            yield child
        else:
            above.pop()


def _share(node: Node, divisors: dict[str, float]) -> float:
    """Largest of amount / total, divided by the weight, in doubles exactly as in the C++ code.

    An amount becomes a double as its whole part plus thousandths / 1000; amount / 1000 may differ in the last bit,
    which would change ties.
    """
    best = 0.0
    for name, amount in node.amounts.items():
        if amount and name in divisors:
            part = (amount // 1000 + amount % 1000 / 1000.0) / divisors[name]
            if part > best:  # noqa: PLR1730  # max() costs a call, and this is the innermost loop
                best = part
    return best / node.weight
