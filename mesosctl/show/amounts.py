"""Amounts as cells: one text for programs, and for people words with units, or one column a resource."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple, Self

from mesosctl.mesos.amounts.amount_text import (
    NotationText,
    enumerated,
    in_mesos_notation,
    in_words,
    mesos_name,
    shown_amount,
)
from mesosctl.mesos.amounts.quantities import REVOCABLE, Limits, Quantities, Quota
from mesosctl.mesos.amounts.resource import Resource
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.amounts.values import Ranges, Value, format_value
from mesosctl.show.report import NOTHING, Meaning

OTHER = "other"
"""The column of resources with more than a name and a value, such as volumes."""
_LONGEST_LIST = 24
"""The longest ranges or set, in characters; of longer ones a table shows the count."""


class CellPart(NamedTuple):
    """One value of a cell: its column, its owner, and its text for people.

    `whole` is the text of -o wide.
    """

    name: str
    owner: str
    shown: str
    whole: str
    meaning: Meaning | None = None


class AmountsText(NotationText):
    """The text of a cell, and its parts, for a table that has a column for each resource."""

    __slots__ = ("_parts",)
    _parts: Callable[[], Iterator[CellPart]]

    @classmethod
    def of(cls, text: str, parts: Callable[[], Iterator[CellPart]], words: Callable[[], str]) -> Self:
        """`text`, and what makes its parts and its words; they are called for tables alone."""
        made = cls.with_words(text, words)
        made._parts = parts
        return made

    def parts(self) -> Iterator[CellPart]:
        """The values in it, one by one; several may have the same name."""
        return self._parts()


def amounts_text(amounts: Quantities | Limits | None) -> str:
    """A cell of amounts, in csv `cpus:12;mem:6144`, in the form that commands accept; "-" for nothing."""
    if not amounts:
        return NOTHING

    def parts() -> Iterator[CellPart]:
        for name, milli in amounts.items():
            shown = shown_amount(name, milli)
            yield CellPart(mesos_name(name), "", shown, shown)

    return AmountsText.of(in_mesos_notation(amounts), parts, lambda: in_words(amounts))


def plain_resources_text(resources: Resources) -> str:
    """A cell of resources, without owners and disks.

    In csv it is `cpus:8;mem:4096;ports:[31000-31004]`, as commands accept it, and `cpus{REV}:2`.
    """
    from mesosctl.mesos.cluster.holdings import plain_text, without_owners  # late: few lists need it

    if not len(resources):
        return NOTHING
    return AmountsText.of(
        plain_text(resources),
        lambda: map(_part, without_owners(resources)),
        lambda: without_owners(resources).in_words,
    )


def resources_text(resources: Resources) -> str:
    """A cell of resources with their owners by name, in csv `cpus:4; cpus(ads):2; ports:[31000-32000]`."""
    from mesosctl.mesos.cluster.holdings import owned_text  # late: few lists need it

    if not len(resources):
        return NOTHING
    return AmountsText.of(owned_text(resources), lambda: map(_part, resources), lambda: resources_in_words(resources))


def resources_in_words(resources: Resources) -> str:
    """`4 cpus, 2 cpus (ads) and ports [31000-32000]`: short, owners by name; "nothing" for none."""
    texts = []
    for entry in resources:
        plain = replace(entry, reservations=(), allocation_role=None)
        texts.append(plain.in_words + (f" ({entry.role})" if entry.is_reserved else ""))
    return enumerated(texts)


def _part(entry: Resource) -> CellPart:
    owner = entry.role if entry.is_reserved else ""
    if entry.disk is not None or entry.shared:
        text = str(replace(entry, reservations=(), allocation_role=None))
        return CellPart(OTHER, owner, text, text)
    name = mesos_name(entry.name + REVOCABLE * entry.revocable)
    return CellPart(name, owner, _shown_value(entry.name, entry.value), _whole_value(entry.name, entry.value))


def _shown_value(name: str, value: Value) -> str:

    whole = _whole_value(name, value)
    if isinstance(value, int) or len(whole) <= _LONGEST_LIST:
        return whole
    return f"{value.count()} in {len(value.spans)} ranges" if isinstance(value, Ranges) else f"{value.count()} names"


def _whole_value(name: str, value: Value) -> str:

    return shown_amount(name, value) if isinstance(value, int) else format_value(value)[1:-1]


BAR = 6
"""Cells of a bar."""
_FULL, _DUE, _KEPT, _FREE, _WITHHELD = "█▒▞░·"
IN_ASCII = str.maketrans("█▒▞░·…", "#=%.--")
"""Signs for a terminal whose encoding has no bars."""


def bar(used: float, due: float, whole: float, width: int = BAR, *, kept: float = 0) -> str:
    """A bar of `width` cells: used, due beyond that (a guarantee, offers), and the rest of `whole`.

    `kept` is the part of the rest that is reserved and idle. Any amount above zero has a cell, and only the whole
    amount fills the bar. Blank if the whole is zero.
    """
    if whole <= 0:
        return " " * width
    full = _cells(used / whole, width)
    promised = max(full, _cells(due / whole, width))
    reserved = max(promised, _cells((max(used, due) + kept) / whole, width)) if kept else promised
    return (_FULL * full + _DUE * (promised - full) + _KEPT * (reserved - promised)).ljust(width, _FREE)


def _cells(part: float, width: int) -> int:
    if part >= 1:
        return width
    return min(width - 1, max(1, round(part * width))) if part > 0 else 0


def quota_use_text(used: Quantities | None, quota: Quota, missing: Quantities, names: Iterable[str]) -> str:
    """`10/12/16 ████▒░` a resource: used, guarantee and limit, and a bar up to the limit."""

    def part(name: str) -> CellPart:
        guarantee, limit = quota.guarantees.get(name), quota.limits.get(name)
        held = None if used is None else used.get(name, 0)
        whole = max(guarantee or 0, held or 0) if limit is None else limit
        meaning: Meaning | None = None
        if held is not None and (guarantee is not None or limit is not None):
            meaning = "not met" if name in missing else "at risk" if limit and held >= limit else "met"
        drawn = " " * BAR if held is None or meaning is None else bar(held, guarantee or 0, whole)
        text = f"{_together(name, (held, guarantee, limit))} {drawn}"
        return CellPart(name, "", text, text, meaning)

    return _usage_text(part, names)


def agent_use_text(
    used: Quantities, offered: Quantities, total: Quantities, kept: Quantities, *, is_in_service: bool = True
) -> str:
    """`10/16 ███▒▞░` a resource: used and total, and a bar of what is used, offered, and reserved and idle.

    Out of service, the rest of the bar is not drawn as free: `10/16 ███▒▞·`.
    """

    def part(name: str) -> CellPart:
        whole, held = total[name], used.get(name, 0)
        drawn = bar(held, held + offered.get(name, 0), whole, kept=kept.get(name, 0))
        drawn = drawn if is_in_service else drawn.replace(_FREE, _WITHHELD)
        text = f"{_together(name, (held, whole))} {drawn}"
        return CellPart(name, "", text, text)

    return _usage_text(part, total)


def _usage_text(part: Callable[[str], CellPart], names: Iterable[str]) -> str:
    shown = [part(name) for name in names]
    if not shown:
        return NOTHING
    text = ";".join(f"{part.name}:{part.shown.rstrip()}" for part in shown)
    return AmountsText.of(text, lambda: iter(shown), lambda: text)


def _together(name: str, amounts: Sequence[int | None]) -> str:
    """Amounts of one resource, with slashes between them; a shared unit appears once."""
    texts = [NOTHING if milli is None else shown_amount(name, milli) for milli in amounts]
    units = [text.lstrip("0123456789.-") for text in texts]
    if len({unit for text, unit in zip(texts, units, strict=True) if text not in (NOTHING, "0")}) == 1:
        last = max(index for index, unit in enumerate(units) if unit or index == 0)
        texts = [text if index == last else text.removesuffix(units[index]) for index, text in enumerate(texts)]
    return "/".join(texts)
