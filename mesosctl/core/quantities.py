"""Amounts by resource name, and limits on them (spec/allocator.md §1).

Both are immutable mappings from a name to thousandths.  In `Quantities` a missing name means
nothing at all and entries of zero vanish; in `Limits` a missing name means no limit, and a
limit of zero is kept.
"""

from collections.abc import ItemsView, Iterable, Iterator, Mapping
from typing import NamedTuple

from mesosctl.core.scalars import format_milli


class _Amounts(Mapping[str, int]):
    """A sorted, immutable mapping from resource name to thousandths."""

    __slots__ = ("_amounts",)
    _amounts: dict[str, int]

    def __getitem__(self, name: str) -> int:
        return self._amounts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._amounts)

    def __len__(self) -> int:
        return len(self._amounts)

    def __contains__(self, name: object) -> bool:
        return name in self._amounts

    def items(self) -> ItemsView[str, int]:
        return self._amounts.items()

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other._amounts == self._amounts

    def __hash__(self) -> int:
        return hash(tuple(self._amounts.items()))

    def __str__(self) -> str:
        return "; ".join(f"{name}:{format_milli(amount)}" for name, amount in self._amounts.items()) or "nothing"

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self}>"


class Quantities(_Amounts):
    """Strictly positive amounts by name; what is not named is zero.  Subtraction clamps at zero."""

    __slots__ = ()

    def __init__(self, amounts: Mapping[str, int] | None = None) -> None:
        self._amounts = {name: (amounts or {})[name] for name in sorted(amounts or ()) if (amounts or {})[name] > 0}

    def get_amount(self, name: str) -> int:
        """The amount of `name` in thousandths, zero where it is not named."""
        return self._amounts.get(name, 0)

    def __add__(self, other: "Quantities") -> "Quantities":
        sums = dict(self._amounts)
        add_up(sums, other._amounts.items())
        return Quantities(sums)

    def __sub__(self, other: "Quantities") -> "Quantities":
        theirs = other._amounts
        return Quantities(
            {name: amount - theirs[name] if name in theirs else amount for name, amount in self._amounts.items()}
        )

    def contains(self, other: "Quantities") -> bool:
        """Whether every amount of `other` is at most the amount here."""
        return all(self.get_amount(name) >= amount for name, amount in other._amounts.items())

    @staticmethod
    def total(parts: Iterable["Quantities"]) -> "Quantities":
        """Sum of any number of quantities."""
        sums: dict[str, int] = {}
        for part in parts:
            add_up(sums, part._amounts.items())
        return Quantities(sums)


def add_up(sums: dict[str, int], amounts: Iterable[tuple[str, int]]) -> None:
    """Add to each sum; what is the first of its name stays as it came, as in Mesos (`scalars.AsSent`)."""
    for name, amount in amounts:
        sums[name] = sums[name] + amount if name in sums else amount


class Limits(_Amounts):
    """Upper bounds by name, zero included; what is not named is unlimited."""

    __slots__ = ()

    def __init__(self, amounts: Mapping[str, int] | None = None) -> None:
        self._amounts = {name: (amounts or {})[name] for name in sorted(amounts or ())}

    def __sub__(self, used: Quantities) -> "Limits":
        """What is left under each bound, never below zero."""
        return Limits({name: max(0, bound - used.get_amount(name)) for name, bound in self._amounts.items()})

    def contains(self, quantities: Quantities) -> bool:
        """Whether every amount stays within its bound."""
        return all(quantities.get_amount(name) <= bound for name, bound in self._amounts.items())


class Quota(NamedTuple):
    """What a role is guaranteed and what it may not exceed; the default is neither."""

    guarantees: Quantities = Quantities()
    limits: Limits = Limits()

    @property
    def is_default(self) -> bool:
        """Whether this is the same as having no quota."""
        return not self.guarantees and not self.limits
