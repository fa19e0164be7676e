"""The three kinds of value a resource can have (Mesos documentation, "Attributes and Resources").

A scalar is an `int` of thousandths; ranges and sets have their own types.  All are immutable.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

from mesosctl.mesos.amounts.quantities import AsSent, format_milli

NONE = "none"
"""The word for no limits, or no guarantee."""
_Class = TypeVar("_Class")


@dataclass_transform(frozen_default=True)
def immutable(cls: type[_Class]) -> type[_Class]:
    """A data class that the type checker takes for frozen, for objects that large clusters have by the million.

    To make one of a class that is frozen takes more than twice the time.
    """
    return dataclass(slots=True, unsafe_hash=True)(cls)


@immutable
class Ranges:
    """Inclusive ranges of unsigned numbers: sorted, disjoint and never adjacent.

    Build it with `Ranges.of`, which coalesces.  `sent` is the form in which they were sent, if it differs: a master
    shows it until it calculates with them.
    """

    spans: tuple[tuple[int, int], ...] = ()
    sent: tuple[tuple[int, int], ...] = field(default=(), compare=False, repr=False)

    @classmethod
    def of(cls, spans: Iterable[tuple[int, int]]) -> "Ranges":
        """Coalesce overlapping and adjacent spans; a span with begin > end is dropped."""
        merged: list[tuple[int, int]] = []
        for begin, end in sorted(spans):
            if begin > end:
                continue
            if merged and begin <= merged[-1][1] + 1:
                merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
            else:
                merged.append((begin, end))
        return cls(tuple(merged))

    @classmethod
    def as_sent(cls, spans: Iterable[tuple[int, int]]) -> "Ranges":
        """The same, with the form in which they were sent."""
        sent = tuple(spans)
        made = cls.of(sent)
        return made if made.spans == sent else cls(made.spans, sent)

    def __add__(self, other: "Ranges") -> "Ranges":
        return Ranges.of(self.spans + other.spans)

    def __sub__(self, other: "Ranges") -> "Ranges":
        left = sorted(self.sent or self.spans)
        for cut_begin, cut_end in other.spans:
            kept = []
            for begin, end in left:
                if cut_end < begin or end < cut_begin:
                    kept.append((begin, end))
                    continue
                if begin < cut_begin:
                    kept.append((begin, cut_begin - 1))
                if cut_end < end:
                    kept.append((cut_end + 1, end))
            left = kept
        # Mesos coalesces when it adds, not when it subtracts.
        return Ranges.as_sent(left) if self.sent else Ranges(tuple(left))

    def contains(self, other: "Ranges") -> bool:
        """Whether every number of `other` is in this value."""
        return not (other - self).spans

    def count(self) -> int:
        """The number of numbers."""
        return sum(end - begin + 1 for begin, end in self.spans)

    def __bool__(self) -> bool:
        return bool(self.spans)

    def __str__(self) -> str:
        return "[" + ", ".join(f"{begin}-{end}" for begin, end in self.spans) + "]"


@immutable
class Items:
    """A set of names; the order does not matter for equality, but is shown: `order`, or alphabetical."""

    names: frozenset[str] = frozenset()
    order: tuple[str, ...] = field(default=(), compare=False, repr=False)

    @classmethod
    def of(cls, names: Iterable[str]) -> "Items":
        """The names in this order, without duplicates."""
        order = tuple(dict.fromkeys(names))
        return cls(frozenset(order), order)

    def __iter__(self) -> Iterator[str]:
        return iter(self.order or sorted(self.names))

    def __add__(self, other: "Items") -> "Items":
        return Items.of((*self, *other))

    def __sub__(self, other: "Items") -> "Items":
        return Items.of(name for name in self if name not in other.names)

    def contains(self, other: "Items") -> bool:
        """Whether every name of `other` is in this value."""
        return other.names <= self.names

    def count(self) -> int:
        """The number of names."""
        return len(self.names)

    def __bool__(self) -> bool:
        return bool(self.names)

    def __str__(self) -> str:
        return "{" + ", ".join(self) + "}"


Value = int | Ranges | Items


def as_sent(value: Value) -> object:
    """The form in which a value was sent, if equal values may be shown differently; otherwise None or empty."""
    if type(value) is int:  # nearly all are
        return None
    if isinstance(value, (AsSent, Ranges)):
        return value.sent
    return value.order if isinstance(value, Items) else None


def value_type(value: Value) -> str:
    """SCALAR, RANGES or SET, as on the wire."""
    if isinstance(value, int):
        return "SCALAR"
    return "RANGES" if isinstance(value, Ranges) else "SET"


def format_value(value: Value) -> str:
    """The value as Mesos's text form writes it."""
    return format_milli(value) if isinstance(value, int) else str(value)


def value_contains(whole: Value, part: Value) -> bool:
    """Whether `part` fits into `whole`; values of different kinds never do."""
    if isinstance(whole, int):
        return isinstance(part, int) and part <= whole
    if isinstance(whole, Ranges):
        return isinstance(part, Ranges) and whole.contains(part)
    return isinstance(part, Items) and whole.contains(part)


def value_add(left: Value, right: Value) -> Value:
    """Sum of two values of the same kind; raises TypeError otherwise."""
    if isinstance(left, int) and isinstance(right, int):
        return left + right
    if isinstance(left, Ranges) and isinstance(right, Ranges):
        return left + right
    if isinstance(left, Items) and isinstance(right, Items):
        return left + right
    raise TypeError(f"cannot add {value_type(right)} to {value_type(left)}")


def value_sum(values: Sequence[Value]) -> Value:
    """Sum of two or more values of the same kind; raises TypeError otherwise."""
    amounts = [value for value in values if isinstance(value, int)]
    if len(amounts) == len(values):
        return sum(amounts)
    ranges = [value for value in values if isinstance(value, Ranges)]
    if len(ranges) == len(values):
        return Ranges.of(span for value in ranges for span in value.spans)
    items = [value for value in values if isinstance(value, Items)]
    if len(items) == len(values):
        return Items.of(name for value in items for name in value)
    raise TypeError(f"cannot add {' and '.join(sorted(set(map(value_type, values))))}")


def value_times(value: Value, count: int) -> Value:
    """Return the sum of a value and of others like it, `count` together: ranges and sets are the same after two."""
    if isinstance(value, int):
        return value * count
    return value_add(value, value) if count > 1 else value


def value_subtract(left: Value, right: Value) -> Value:
    """Difference of two values of the same kind; a scalar may become negative."""
    if isinstance(left, int) and isinstance(right, int):
        return left - right
    if isinstance(left, Ranges) and isinstance(right, Ranges):
        return left - right
    if isinstance(left, Items) and isinstance(right, Items):
        return left - right
    raise TypeError(f"cannot subtract {value_type(right)} from {value_type(left)}")


def value_is_empty(value: Value) -> bool:
    """Whether an entry with this value vanishes from a collection (a scalar of zero or less)."""
    return value <= 0 if isinstance(value, int) else not value


def value_quantity(value: Value) -> int:
    """The value as a quantity in thousandths: sets count their names, ranges their numbers."""
    return value if isinstance(value, int) else value.count() * 1000
