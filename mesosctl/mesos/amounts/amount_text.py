"""How amounts are written: for people with units, for scripts as Mesos writes them.  JSON has `to_number`.

Revocable amounts, which have a name such as `cpus_revocable`, are marked by both.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Self

from mesosctl.mesos.amounts.quantities import REVOCABLE, SIZED_NAMES, Limits, Quantities, format_milli

KNOWN_NAMES = ("cpus", "mem", "disk", "gpus", "ports")
"""The names that come first, in this order; other resources follow by name."""
_UNITS = ("MiB", "GiB", "TiB", "PiB")
_LONGEST_EXACT = 10_000_000
"""Thousandths; a larger size that is not a round number of the next unit is rounded."""


class NotationText(str):
    """A text with amounts in Mesos's notation, which scripts read, and the same text in words, for people."""

    __slots__ = ("_words",)
    _words: Callable[[], str] | str

    @classmethod
    def with_words(cls, text: str, words: Callable[[], str]) -> Self:
        """`text`, and what makes its words; it is called for people alone."""
        made = cls(text)
        made._words = words
        return made

    @property
    def words(self) -> str:
        """The text with units: `8 cpus and 16GiB mem`.  It is made once: cells of a large table share their texts."""
        if not isinstance(self._words, str):
            self._words = self._words()
        return self._words


def text_in_words(text: str) -> str:
    """A text as a person reads it: amounts with units, any other text as it is."""
    return text.words if isinstance(text, NotationText) else text


def in_words(amounts: Mapping[str, int]) -> str:
    """`8 cpus, 16GiB mem and 2 revocable cpus`, for people; "nothing" for nothing."""
    texts = [
        f"{shown_amount(name, milli)} {_counted(name, milli)}" for name, milli in sorted(amounts.items(), key=by_place)
    ]
    return enumerated(texts)


def enumerated(texts: Sequence[str]) -> str:
    """`8 cpus, 16GiB mem and 2 gpus`; "nothing" for none."""
    return " and ".join(filter(None, (", ".join(texts[:-1]), *texts[-1:]))) or "nothing"


def _counted(name: str, milli: int) -> str:
    """The name of a resource after an amount of it: one cpu, two cpus, one port."""
    plain = name.removesuffix(REVOCABLE)
    unit = plain.removesuffix("s") if milli == 1000 and plain in ("cpus", "gpus", "ports") else plain
    return unit if plain == name else f"revocable {unit}"


def in_mesos_notation(amounts: Quantities | Limits) -> str:
    """`cpus:8;mem:16384;cpus{REV}:2`, for scripts and in the form that commands accept; empty for nothing."""
    return ";".join(f"{mesos_name(name)}:{format_milli(milli)}" for name, milli in amounts.items())


def as_typed(amounts: Quantities | Limits) -> list[str]:
    """`cpus:8`, `mem:16GiB`: the words of a command for people, each exact; none for nothing."""
    return [f"{mesos_name(name)}:{_exact_amount(name, milli)}" for name, milli in amounts.items()]


def _exact_amount(name: str, milli: int) -> str:
    is_round = milli < _LONGEST_EXACT or milli % 1024_000 == 0
    return shown_amount(name, milli, is_exact=True) if is_round else format_milli(milli)


def mesos_name(name: str) -> str:
    """`cpus{REV}` for `cpus_revocable`; any other name as it is."""
    plain = name.removesuffix(REVOCABLE)
    return name if plain == name else f"{plain}{{REV}}"


def by_place(amount: tuple[str, int]) -> tuple[bool, bool, int, str]:
    """The key to sort amounts by: in the order of the columns, revocable ones last."""
    plain = amount[0].removesuffix(REVOCABLE)
    place = KNOWN_NAMES.index(plain) if plain in KNOWN_NAMES else 0
    return plain != amount[0], plain not in KNOWN_NAMES, place, plain


def shown_amount(name: str, milli: int, *, is_exact: bool = False) -> str:
    """`12`, and `6GiB` for a size, which Mesos counts in MiB.

    A size with up to four digits before the point is exact; a larger one is rounded to a tenth of the next unit, if
    necessary and unless `is_exact`.
    """
    if name.removesuffix(REVOCABLE) not in SIZED_NAMES or not milli:
        return format_milli(milli)
    unit = 0
    longest = math.inf if is_exact else _LONGEST_EXACT
    while abs(milli) >= 1024_000 and unit + 1 < len(_UNITS) and (milli * 10 % 1024_000 == 0 or milli >= longest):
        milli = round(milli / 102_400) * 100
        unit += 1
    return format_milli(milli) + _UNITS[unit]


def percent_text(part: float) -> str:
    """`58%`, for people; within ten points of nothing and of the whole with a decimal: `0.9%`, `99.6%`."""
    return f"{part:.1%}" if 0 < part < 0.1 or 0.9 < part < 1 else f"{part:.0%}"


def exact_percent_text(part: float) -> str:
    """`58.3%`, for scripts: every part of a whole with one decimal."""
    return f"{part:.1%}"
