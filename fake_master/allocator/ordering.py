"""What the allocator asks of a sorter of roles or of frameworks, whatever the order (spec/allocator.md §7)."""

# ruff: noqa: D102  # `sorter.Sorter` documents the methods

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Protocol

from fake_master.allocator.amounts import Amounts

if TYPE_CHECKING:
    from fake_master.allocator.parcels import Parcel
    from fake_master.allocator.sorter import Node


class Ordering(Protocol):
    """Clients, what is allocated to them, and who of them comes first.  `sorter.Sorter` says what each method means."""

    @property
    def order_lasts(self) -> bool: ...

    def walk(self) -> Iterator["Node"]: ...

    def order(self, leaves: Iterable["Node"]) -> list["Node"]: ...

    def share(self, path: str) -> float: ...

    def add(self, path: str, client: Any = None) -> "Node": ...

    def remove(self, path: str) -> None: ...

    def activate(self, path: str) -> None: ...

    def deactivate(self, path: str) -> None: ...

    def update_weight(self, path: str, weight: float) -> None: ...

    def allocated(self, leaf: "Node", agent: str, parcel: "Parcel", *, counted: bool = True) -> None: ...

    def unallocated(self, leaf: "Node", agent: str, parcel: "Parcel") -> None: ...

    def allocation(self, path: str) -> Amounts: ...
