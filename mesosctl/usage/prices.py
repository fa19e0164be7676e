"""Prices in TOML.

    currency = "EUR"

    [[prices]]                        # of several that fit, the first in the file counts
    attributes = { type = "gpu" }     # agents with these attributes
    from = 2026-11-15                 # from this day on
    gpu_hour = 1.10

    [[prices]]
    cpu_hour = 0.031
    mem_gib_hour = 0.004
    disk_gib_hour = 0.0001
    gpu_hour = 1.35

Money is counted exactly. A price has at most six decimals, so it is a whole number of millionths; an amount is a whole
number of thousandths, and a time a whole number of microseconds. Their product is a whole number of `UNITS`.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from decimal import Decimal
from typing import Annotated

from msgspec import Meta, field

from mesosctl.files.typed_file import TypedFile, read_typed
from mesosctl.history.records import MICROS, Micros, to_micros
from mesosctl.mesos.amounts.quantities import format_double
from mesosctl.mesos.messages.strict.shapes import LARGEST, Table

SCHEMA_VERSION = 1
_MILLIONTHS = 1_000_000
_MIB_OF_GIB = 1024
UNITS = _MILLIONTHS * 1000 * _MIB_OF_GIB * 3600 * MICROS
"""Units of money in one of the currency: its millionths, times thousandths of a MiB in a GiB, times microseconds."""
LEAST = UNITS // 10**12
"""The least that a part of a moment is worth: 10⁻¹² of the currency."""
_DECIMALS = 6
_HIGHEST = 1_000_000_000
_CURRENCY = re.compile("[A-Z]{3}")
HOURS: Mapping[str, str] = {"cpus": "cpu_hour", "mem": "mem_gib_hour", "disk": "disk_gib_hour", "gpus": "gpu_hour"}
"""The key of the price of each resource."""
_OF_MIB = frozenset({"mem", "disk"})
Rates = Mapping[str, int]
"""The units that a thousandth of each resource costs in a microsecond; a resource without a price is not in it."""


# --- The shape of the file ----------------------------------------------------------------------------

_Number = Annotated[float, Meta(ge=-LARGEST, le=LARGEST)]
_Price = Annotated[Annotated[float, Meta(ge=0, le=_HIGHEST)] | None, Meta(examples=[0.03])]


class Price(Table, kw_only=True):
    """Prices: of which agents, and from which day on."""

    attributes: Annotated[
        dict[str, str | _Number],
        Meta(description="The prices count for agents with all of these attributes.", examples=[{"type": "gpu"}]),
    ] = field(default_factory=dict)
    since: Annotated[
        date | None,
        Meta(description="The prices count from midnight of this day on.", examples=[date(2026, 11, 15)]),
    ] = field(default=None, name="from")
    cpu_hour: _Price = None
    mem_gib_hour: _Price = None
    disk_gib_hour: _Price = None
    gpu_hour: _Price = None

    def of(self, resource: str) -> float | None:
        """The price of an hour of a resource; None if it has none."""
        key = HOURS.get(resource)
        found: float | None = None if key is None else getattr(self, key)
        return found

    def fits(self, attributes: Mapping[str, str | float]) -> bool:
        """Whether an agent with these attributes has this price."""
        return all(
            name in attributes and _text(attributes[name]) == _text(value) for name, value in self.attributes.items()
        )


class PricesDocument(Table):
    """A file of prices."""

    currency: Annotated[str, Meta(description="The three letters of the currency.", examples=["EUR"])]
    prices: Annotated[list[Price], Meta(description="Of several that fit, the first in the file counts.")]
    schema_version: int = SCHEMA_VERSION


# --- What it means ------------------------------------------------------------------------------------


def _text(value: str | float) -> str:
    """An attribute's value as text: `8` and `8.0` are the same scalar."""
    return value if isinstance(value, str) else format_double(float(value))


@dataclass(frozen=True, slots=True)
class Prices:
    """The prices of a currency, in the order of their file; they begin at midnight in a time zone."""

    currency: str
    prices: tuple[Price, ...]
    zone: tzinfo

    def begins(self, price: Price) -> Micros | None:
        """The moment from which a price counts; None for always."""
        day = price.since
        if day is None:
            return None
        return to_micros(datetime(day.year, day.month, day.day, tzinfo=self.zone).timestamp())

    def changes(self) -> list[Micros]:
        """The moments from which other prices count."""
        return sorted({begin for price in self.prices if (begin := self.begins(price)) is not None})

    def rates(self, attributes: Mapping[str, str | float], at: Micros) -> Rates:
        """The prices of an agent with these attributes at a moment."""
        rates: dict[str, int] = {}
        for price in self.prices:
            begin = self.begins(price)
            if (begin is None or begin <= at) and price.fits(attributes):
                for resource in HOURS:
                    of_hour = price.of(resource)
                    if of_hour is not None and resource not in rates:
                        rates[resource] = _rate(resource, of_hour)
        return rates

    def never_used(self) -> Iterator[str]:
        """Yield the prices that never count, since one above them fits whatever they fit."""
        for number, price in enumerate(self.prices):
            for resource, key in HOURS.items():
                if price.of(resource) is None:
                    continue
                for above, other in enumerate(self.prices[:number]):
                    if other.of(resource) is not None and self._covers(other, price):
                        yield f"prices[{number}].{key} never counts, since prices[{above}] comes first and always fits"
                        break

    def _covers(self, first: Price, other: Price) -> bool:
        begin, of_other = self.begins(first), self.begins(other)
        is_earlier = begin is None or (of_other is not None and begin <= of_other)
        named, wanted = ({name: _text(value) for name, value in of.attributes.items()} for of in (first, other))
        return is_earlier and named.items() <= wanted.items()


def _rate(resource: str, of_hour: float) -> int:
    return int(_millionths(of_hour)) * (1 if resource in _OF_MIB else _MIB_OF_GIB)


def _millionths(of_hour: float) -> Decimal:
    """A price in millionths, of the shortest decimal number that means the same double: the one in the file."""
    return Decimal(repr(of_hour)) * _MILLIONTHS


def load(text: str, where: str, zone: tzinfo) -> Prices:
    """Read a file of prices.  Raises BadInput naming `where`, and every fault at once with its line."""
    read = read_typed(text, where, PricesDocument)
    document = read.value
    read.check_version(document.schema_version, SCHEMA_VERSION)
    if not _CURRENCY.fullmatch(document.currency):
        read.wrong("currency", f"'{document.currency}' is not three capital letters", 'for example, currency = "EUR"')
    if not document.prices:
        read.wrong("prices", "it is empty", "write [[prices]] with cpu_hour = 0.03")
    for number, price in enumerate(document.prices):
        _check_price(read, price, f"prices[{number}]")
    read.refuse()
    return Prices(document.currency, tuple(document.prices), zone)


def _check_price(read: TypedFile[PricesDocument], price: Price, where: str) -> None:
    named = {key: of_hour for resource, key in HOURS.items() if (of_hour := price.of(resource)) is not None}
    if not named and not read.is_wrong_at(where):
        read.wrong(where, "it names no price", f"name one of {', '.join(HOURS.values())}")
    for key, of_hour in named.items():
        millionths = _millionths(of_hour)
        if millionths != int(millionths):
            read.wrong(f"{where}.{key}", f"{Decimal(repr(of_hour)):f} has more than {_DECIMALS} decimals")
