"""The order of weighted chance (docs/explanation/allocator.md, "Sorter")."""

import math
import random
import sys
from collections.abc import Iterable, Iterator

from fake_master.allocator.hierarchical.sorters.sorter import Kind, Node, Sorter, Totals


class RandomSorter(Sorter):
    """Draws clients without replacement, each as likely as its weight among its siblings, level by level."""

    __slots__ = ("_exponents", "_random", "_subtrees_stay_together")

    order_lasts = False

    def __init__(
        self,
        totals: Totals,
        weights: dict[str, float] | None,
        source: random.Random,
        *,
        subtrees_stay_together: bool = False,
    ) -> None:
        """If subtrees stay together, no client comes between those below one node: each level is drawn by itself."""
        super().__init__(totals, weights)
        self._random = source
        self._subtrees_stay_together = subtrees_stay_together
        self._exponents: dict[Node, float] = {}

    def walk(self) -> Iterator[Node]:
        """One draw."""
        self.refresh()
        return iter(self._drawn_by_level() if self._subtrees_stay_together else self._draw(self._exponents))

    def order(self, leaves: Iterable[Node]) -> list[Node]:
        """One draw among some of the clients; the keys are independent, so the others need none."""
        if self._subtrees_stay_together:
            wanted = set(leaves)
            return [leaf for leaf in self._drawn_by_level() if leaf in wanted]
        self.refresh()
        return self._draw(leaves)

    def share(self, path: str) -> float:  # noqa: ARG002  # the interface's
        """The random sorter has no shares; Mesos shows zero."""
        return 0.0

    def _changed(self, node: Node) -> None:
        """Allocations do not matter here."""

    def touch(self, node: Node) -> None:  # noqa: ARG002  # the chances of its siblings change too
        """See `Sorter.touch`."""
        self.dirty = True

    def _draw(self, leaves: Iterable[Node]) -> list[Node]:
        # Mesos orders by u ** (1 / w); its logarithm has the same order and does not underflow.
        draw, exponents = self._random.random, self._exponents
        keyed = [(math.log(1.0 - draw()) * exponents[leaf], leaf) for leaf in leaves]
        keyed.sort(key=lambda pair: pair[0], reverse=True)
        return [leaf for _, leaf in keyed]

    def _drawn_by_level(self) -> list[Node]:
        found, waiting, draw = [], [self.root], self._random.random
        while waiting:
            node = waiting.pop()
            if node.kind is Kind.ACTIVE:
                found.append(node)
            # The last one that is appended is the next to be taken.
            waiting += sorted(node.children.values(), key=lambda child: math.log(1.0 - draw()) / child.weight)
        return found

    def refresh(self) -> None:
        """See `Sorter.refresh`."""
        if self.dirty:
            self._exponents = self._weigh()
            self.dirty = False

    def _weigh(self) -> dict[Node, float]:
        """One over the chance of each active client, in the order of the tree."""
        active = self._active()
        exponents = {}
        waiting = [(self.root, 1.0)]
        while waiting:
            node, weight = waiting.pop()
            if node.kind is not Kind.INTERNAL:
                # Of a chance that is too small for a double, the order says no more than that it is tiny.
                exponents[node] = 1.0 / max(weight, sys.float_info.min)
                continue
            children = [child for child in node.children.values() if child in active]
            for child in children:
                child.key = (0.0, 0, child.path, child)  # it has been ordered
            # A power of two changes no digit, and no sum overflows or vanishes.
            _, power = math.frexp(max((child.weight for child in children), default=1.0))
            scaled = [math.ldexp(child.weight, -power) for child in children]
            total = sum(scaled)
            parts = [(child, weight * part / total) for child, part in zip(children, scaled, strict=True)]
            waiting.extend(reversed(parts))
        return exponents

    def _active(self) -> set[Node]:
        """The active clients, and the nodes above them."""
        found: set[Node] = set()
        for leaf in self._leaves.values():
            node: Node | None = leaf if leaf.kind is Kind.ACTIVE else None
            while node is not None and node not in found:
                found.add(node)
                node = node.parent
        return found
