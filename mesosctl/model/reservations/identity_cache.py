"""A cache of what is made of values that cannot be keys: thousands of agents share the same few objects."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

Made = TypeVar("Made")

_MOST_KEPT = 4096
"""Values; beyond this number hardly any object comes again."""


class IdentityCache(Generic[Made]):
    """Calls `make` once for the same objects, in the same order; they must not change."""

    def __init__(self, make: Callable[..., Made]) -> None:
        self._make = make
        # The objects are kept beside their value, so that their ids are not reused.
        self._kept: dict[tuple[int, ...], tuple[tuple[Any, ...], Made]] = {}

    def of(self, *objects: Any) -> Made:
        """Return the value of these objects."""
        key = tuple(map(id, objects))
        found = self._kept.get(key)
        if found is None:
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            found = self._kept[key] = (objects, self._make(*objects))
        return found[1]
