"""The order of roles as an allocator uses it: a sorter, or several that an extension puts together."""

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from fake_master.allocator.hierarchical.offerable.allocations import Allocation, Amounts
from fake_master.allocator.hierarchical.sorters.sorter import Node


class Ordering(Protocol):
    """The order of roles as an allocator uses it.  `Sorter` documents the methods."""

    @property
    def order_lasts(self) -> bool: ...  # noqa: D102

    def walk(self) -> Iterator[Node]: ...  # noqa: D102

    def order(self, leaves: Iterable[Node]) -> list[Node]: ...  # noqa: D102

    def refresh(self) -> None: ...  # noqa: D102

    def share(self, path: str) -> float: ...  # noqa: D102

    def add(self, path: str, client: Any = None) -> Node: ...  # noqa: D102

    def remove(self, path: str) -> None: ...  # noqa: D102

    def activate(self, path: str) -> None: ...  # noqa: D102

    def deactivate(self, path: str) -> None: ...  # noqa: D102

    def update_weight(self, path: str, weight: float) -> None: ...  # noqa: D102

    def allocated(  # noqa: D102
        self, leaf: Node, agent: str, allocation: Allocation, times: int = 1, *, counted: bool = True
    ) -> None: ...

    def allocation(self, path: str) -> Amounts: ...  # noqa: D102
