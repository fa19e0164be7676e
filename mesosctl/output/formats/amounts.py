"""Amounts as cells: one text for programs, and for people one column a resource, with units."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, Self

from mesosctl.model.quantities import SIZED_NAMES, Limits, Quantities, format_milli
from mesosctl.output.formats.report import NOTHING

if TYPE_CHECKING:
    from mesosctl.model.resource import Resource
    from mesosctl.model.resources import Resources
    from mesosctl.model.values import Value

KNOWN_NAMES = ("cpus", "mem", "disk", "gpus", "ports")
"""The columns that come first, in this order; other resources follow by name."""
OTHER = "other"
"""The column of what is more than a name and a value, such as a volume."""
_UNITS = ("MiB", "GiB", "TiB", "PiB")
_LONGEST_EXACT = 10_000_000
"""Thousandths; from here on a size that is not a round number of the next unit is rounded."""
_LONGEST_LIST = 24
"""Characters of ranges or a set; of longer ones a table shows the count."""


class Part(NamedTuple):
    """One value of a cell: the column that it stands in, whose it is, and its text for people.

    `whole` is the text of -o wide.
    """

    name: str
    owner: str
    shown: str
    whole: str


class AmountsText(str):
    """The text of a cell, and its parts for a table that has a column a resource."""

    __slots__ = ("_parts",)
    _parts: Callable[[], Iterator[Part]]

    @classmethod
    def of(cls, text: str, parts: Callable[[], Iterator[Part]]) -> Self:
        """`text`, and what makes its parts; it is called for a table alone."""
        made = cls(text)
        made._parts = parts
        return made

    def parts(self) -> Iterator[Part]:
        """The values in it, one by one; several may have the same name."""
        return self._parts()


def amounts_text(amounts: Quantities | Limits | None) -> str:
    """`cpus:12;mem:6144`, as a person could type it again; "-" for nothing."""
    if not amounts:
        return NOTHING

    def parts() -> Iterator[Part]:
        for name, milli in amounts.items():
            shown = shown_amount(name, milli)
            yield Part(name, "", shown, shown)

    return AmountsText.of(";".join(f"{name}:{format_milli(milli)}" for name, milli in amounts.items()), parts)


def plain_resources_text(resources: "Resources") -> str:
    """`cpus:8;mem:4096;ports:[31000-31004]`, as a person could type it again; owners and disks are not part of it."""
    from mesosctl.model.reservations.holdings import plain_text, without_owners  # late: most lists have amounts alone

    if not len(resources):
        return NOTHING
    return AmountsText.of(plain_text(resources), lambda: map(_part, without_owners(resources)))


def resources_text(resources: "Resources") -> str:
    """`cpus:4; cpus(ads):2; ports:[31000-32000]`: short, owners by name."""
    texts = []
    for entry in resources:
        name, _, value = str(replace(entry, reservations=())).rpartition(":")
        owner = f"({entry.role})" if entry.is_reserved else ""
        texts.append(f"{name}{owner}:{value}")
    return AmountsText.of("; ".join(texts), lambda: map(_part, resources)) if texts else NOTHING


def _part(entry: "Resource") -> Part:
    owner = entry.role if entry.is_reserved else ""
    if entry.disk is not None or entry.shared:
        text = str(replace(entry, reservations=(), allocation_role=None))
        return Part(OTHER, owner, text, text)
    return Part(entry.name, owner, _shown_value(entry.name, entry.value), _whole_value(entry.name, entry.value))


def _shown_value(name: str, value: "Value") -> str:
    from mesosctl.model.values import Ranges

    whole = _whole_value(name, value)
    if isinstance(value, int) or len(whole) <= _LONGEST_LIST:
        return whole
    return f"{value.count()} in {len(value.spans)} ranges" if isinstance(value, Ranges) else f"{value.count()} names"


def _whole_value(name: str, value: "Value") -> str:
    from mesosctl.model.values import format_value

    return shown_amount(name, value) if isinstance(value, int) else format_value(value)[1:-1]


def shown_amount(name: str, milli: int) -> str:
    """`12`, and `6GiB` for a size, which Mesos counts in MiB.

    A size is exact as long as it has four digits before the point; above that it is rounded to a
    tenth of the larger unit, if it has to be.
    """
    if name not in SIZED_NAMES or not milli:
        return format_milli(milli)
    unit = 0
    while abs(milli) >= 1024_000 and unit + 1 < len(_UNITS) and (milli * 10 % 1024_000 == 0 or milli >= _LONGEST_EXACT):
        milli = round(milli / 102_400) * 100
        unit += 1
    return format_milli(milli) + _UNITS[unit]
