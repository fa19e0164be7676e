"""Amounts of several resources in one integer, so that all of them are compared, added and subtracted at once.

Each name has a lane of bits, all as wide. The highest bit of a lane is its guard, which amounts leave 0: set before
a subtraction, it shows afterwards whether that lane had enough, and keeps the other lanes from being borrowed from.
Sums need nothing but `+`, and differences nothing but `-`, where the first amounts contain the second.
"""

from collections.abc import Iterator, Mapping, Sequence

Amounts = int
"""Thousandths, one for each name."""


class Lanes:
    """The lanes of these names, for sums up to `most` thousandths."""

    __slots__ = ("_shift", "_width", "guards", "most", "names")

    def __init__(self, names: Sequence[str], most: int) -> None:
        self.names = names
        self._width = most.bit_length() + 1
        self._shift = self._width - 1
        """From a guard to the lowest bit of its lane."""
        self.guards = sum(1 << at + self._shift for at in self._starts())
        self.most = (1 << self._shift) - 1
        """The most thousandths that an amount can be."""

    def _starts(self) -> Iterator[int]:
        return (number * self._width for number in range(len(self.names)))

    def packed(self, amounts: Mapping[str, float], otherwise: float = 0) -> Amounts:
        """Pack thousandths by name, `otherwise` for names that are not in it; what is too much is `most`."""
        return sum(
            int(min(amounts.get(name, otherwise), self.most)) << at
            for name, at in zip(self.names, self._starts(), strict=True)
        )

    def amounts(self, packed: Amounts) -> list[int]:
        """Return the thousandths of each name, in order."""
        return [packed >> at & self.most for at in self._starts()]

    def contain(self, amounts: Amounts, others: Amounts) -> bool:
        """Whether there is as much of everything in the first as in the second."""
        guards = self.guards
        return (amounts | guards) - others & guards == guards

    def rest(self, amounts: Amounts, taken: Amounts) -> Amounts:
        """Return what is left; zero of a resource of which more is taken than there is."""
        guards = self.guards
        left = (amounts | guards) - taken
        enough = left & guards
        if enough == guards:
            return left ^ guards
        return left & enough - (enough >> self._shift)

    def least(self, amounts: Amounts, others: Amounts) -> Amounts:
        """Return the smaller amount of each resource."""
        guards = self.guards
        left = (amounts | guards) - others
        enough = left & guards
        if enough == guards:
            return others
        return amounts - (left & enough - (enough >> self._shift))
