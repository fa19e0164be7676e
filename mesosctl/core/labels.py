"""Labels of a reservation: equal whatever their order, shown in the order in which they were given."""

from collections.abc import Iterable, Iterator
from functools import cached_property

Pair = tuple[str, str | None]
"""A key and its value; None where the label has a key only."""


class Labels:
    """An unordered collection in which a pair may stand more than once (spec/reservation.md §4).

    No labels at all (None, where a `Labels` may be) is another thing than an empty `Labels`.
    """

    def __init__(self, pairs: Iterable[Pair] = ()) -> None:
        self._given = tuple(pairs)

    @cached_property
    def _sorted(self) -> tuple[tuple[str, bool, str], ...]:
        return tuple(sorted((key, value is not None, value or "") for key, value in self._given))

    def __iter__(self) -> Iterator[Pair]:
        return iter(self._given)

    def __len__(self) -> int:
        return len(self._given)

    def __eq__(self, other: object) -> bool:
        return self._sorted == other._sorted if isinstance(other, Labels) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._sorted)

    def __str__(self) -> str:
        return "{" + ", ".join(key if value is None else f"{key}: {value}" for key, value in self._given) + "}"

    def __repr__(self) -> str:
        return f"<Labels {self}>"
