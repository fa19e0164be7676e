"""Percentiles by nearest rank: always one of the values."""

from collections.abc import Sequence
from typing import TypeVar

Value = TypeVar("Value", int, float)


def nearest_rank(ordered: Sequence[Value], percent: int) -> Value | None:
    """Return the smallest of the ordered values that `percent` of all do not exceed; None if there are none."""
    return ordered[max(0, -(-percent * len(ordered) // 100) - 1)] if ordered else None
