"""Objects that are told apart by what they are, not by their values.

Large clusters share a few objects among thousands of agents, offers and tasks: equal resources are mostly the same
object. To find something by the object takes less time than to compare or hash values, and resources, whose order does
not matter, have no hash at all. An object is kept as long as it is known, so that no other one gets its identity.
"""

from collections.abc import Callable, Iterable
from itertools import count
from typing import Any, Generic, TypeVar

_Made = TypeVar("_Made")
_Object = TypeVar("_Object")

_MOST_KEPT = 4096
"""Values; beyond this number hardly any object comes again."""


class IdentityCache(Generic[_Made]):
    """A cache of what is made of objects, found by the objects, not by their values.

    It calls `make` once for the same objects, in the same order; they must not change. It forgets everything when it
    has `most` values; with None it never does, so that the same objects always have the same value.
    """

    def __init__(self, make: Callable[..., _Made], most: int | None = _MOST_KEPT) -> None:
        self._make = make
        self._most = most
        # The objects are kept beside their value, so that their ids are not reused.
        self._kept: dict[int | tuple[int, ...], tuple[tuple[Any, ...], _Made]] = {}

    def of(self, first: Any, *more: Any) -> _Made:
        """Return the value of these objects."""
        key = (id(first), *map(id, more)) if more else id(first)  # most are made of one object
        found = self._kept.get(key)
        if found is None:
            if len(self._kept) == self._most:
                self._kept.clear()
            found = self._kept[key] = ((first, *more), self._make(first, *more))
        return found[1]

    def clear(self) -> None:
        """Forget everything."""
        self._kept.clear()


def numbering() -> Callable[[object], int]:
    """Return a function that numbers objects: the same object always has the same number, and another one another."""
    numbers = count()
    return IdentityCache(lambda _: next(numbers), most=None).of


def distinct(objects: Iterable[_Object]) -> list[_Object]:
    """Return each object once, in the order in which they first come."""
    return list({id(item): item for item in objects}.values())


def occurrences(objects: Iterable[_Object]) -> list[tuple[_Object, int]]:
    """Return each object, in the order in which they first come, and how often it comes."""
    counts: dict[int, list[Any]] = {}
    for item in objects:
        counts.setdefault(id(item), [item, 0])[1] += 1
    return [(item, number) for item, number in counts.values()]
