"""Plays the words of scenarios.toml on a sorter.

`add` adds, activates, and gives; `give`, `take` and `update` are on agent A unless `agent=` says otherwise.
"""

from collections import Counter

from fake_master.allocator.hierarchical.offerable.allocations import AllocationPool, Content, scalar_pairs
from fake_master.allocator.hierarchical.sorters.drf_sorter import DrfSorter
from fake_master.allocator.hierarchical.sorters.sorter import Kind, Totals
from tests.fake_master.allocator.words import expand


class SorterPlayer:
    def __init__(self) -> None:
        self.totals = Totals()
        self.sorter = DrfSorter(self.totals)
        self.allocations = AllocationPool()

    def play(self, step: str) -> None:
        command, *rest = step.split()
        positional = [word for word in rest if "=" not in word]
        options = dict(word.split("=", 1) for word in rest if "=" in word)
        getattr(self, "do_" + command)(*positional, **options)

    def do_total(self, text: str) -> None:
        self.totals.change(tuple(self.totals.amounts.items()), -1)
        self.totals.change(scalar_pairs(expand(text)))

    def do_add(self, path: str, text: str | None = None) -> None:
        self.sorter.add(path)
        self.sorter.activate(path)
        if text is not None:
            self.do_give(path, text)

    def do_remove(self, path: str) -> None:
        self.sorter.remove(path)

    def do_give(self, path: str, text: str, agent: str = "A") -> None:
        self.sorter.allocated(self.sorter.leaf(path), agent, self.allocations.for_role("r", Content(expand(text))))

    def do_take(self, path: str, text: str, agent: str = "A") -> None:
        self.sorter.allocated(self.sorter.leaf(path), agent, self.allocations.for_role("r", Content(expand(text))), -1)

    def do_update(self, path: str, before: str, after: str) -> None:
        leaf = self.sorter.leaf(path)
        self.sorter.allocated(leaf, "A", self.allocations.for_role("r", Content(expand(before))), -1)
        self.sorter.allocated(leaf, "A", self.allocations.for_role("r", Content(expand(after))), counted=False)

    def do_weight(self, path: str, weight: str) -> None:
        self.sorter.update_weight(path, float(weight))

    def do_activate(self, path: str) -> None:
        self.sorter.activate(path)

    def do_deactivate(self, path: str) -> None:
        self.sorter.deactivate(path)

    def do_sort(self, *expected: str) -> None:
        assert self.sorter.sort() == list(expected)

    def do_set(self, *expected: str) -> None:
        assert sorted(self.sorter.sort()) == sorted(expected)

    def do_count(self, expected: str) -> None:
        assert len(self.sorter) == int(expected)

    def do_contains(self, path: str) -> None:
        assert path in self.sorter

    def do_lacks(self, path: str) -> None:
        assert path not in self.sorter

    def do_leaf(self, path: str) -> None:
        assert self.sorter.leaf(path).path == path
        assert self.sorter.leaf(path).kind is Kind.ACTIVE

    def do_holds(self, path: str, text: str) -> None:
        wanted = dict(scalar_pairs(expand(text)))
        assert self.sorter.allocation(path) == wanted
        together: Counter[str] = Counter()
        for child in self.sorter.root.children.values():
            together.update(child.amounts)
        assert {name: amount for name, amount in together.items() if amount} == wanted
