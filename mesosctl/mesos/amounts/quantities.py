"""Scalar amounts, exact to three decimals (Mesos documentation, "Attributes and Resources").

An amount is held as an integer number of thousandths ("milli").  Mesos does the same in every operator and comparison,
so there are no rounding errors: 0.1 + 0.2 is 0.3.
"""

import math
import re
import shlex
from collections.abc import ItemsView, Iterable, Iterator, Mapping
from typing import NamedTuple, Self

from mesosctl.mesos.errors import RuleViolation

# Beyond this, Mesos's own conversion exceeds a 64-bit integer.
_LARGEST_MILLI = 2**63 - 1
_NUMBER = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*([A-Za-z]*)", re.ASCII)

# Mesos counts mem and disk in MB and means 2**20 bytes by it (as do its own byte units).
SIZED_NAMES = ("mem", "disk")
WHOLE_NAMES = (*SIZED_NAMES, "gpus")
"""Resources of which mesosctl chooses whole numbers; of the others, thousandths."""
REVOCABLE = "_revocable"
"""The end of the name of a revocable amount that stands beside others, as in Mesos's JSON: cpus_revocable."""
_LIKE_RANGES = re.compile(r"\d+-\d+(?:,\d+-\d+)*", re.ASCII)
_UNIT_KIB = {"k": 1, "m": 1024, "g": 1024**2, "t": 1024**3, "p": 1024**4}
SIGN = "amount.sign"
"""The rule of an amount or a weight with a sign, such as "+2", which is meant as a change."""
_SIGNED = re.compile(r"\s*[+-]\s*[\d.]", re.ASCII)
_RANGE = f"an amount has at most three decimals, and is at most {_LARGEST_MILLI // 1000 - 1}"
"""The next whole number is not a double; the nearest one is beyond the range."""


def ranges_hint(name: str) -> str:
    """How the ranges of a resource are written."""
    return f"for example, {name}:[31000-31005], or {name}:[31000-31000] for one"


def to_milli(value: float) -> int:
    """Thousandths of a double, rounded half away from zero as llround does.

    Raises ValueError for NaN, an infinity or an amount beyond 64 bits of thousandths.
    """
    if not math.isfinite(value):
        raise ValueError(f"{value} is not a finite amount")
    product = value * 1000.0
    if not math.isfinite(product):
        raise ValueError(f"{value} is too large for an amount")
    # floor(x + 0.5) would round 0.49999999999999994 up, so look at the fraction itself.
    whole = math.floor(abs(product))
    if abs(product) - whole >= 0.5:
        whole += 1
    if whole > _LARGEST_MILLI:
        raise ValueError(f"{value} is too large for an amount")
    return -whole if product < 0 else whole


def to_double(milli: int) -> float:
    """The double of an amount that Mesos has calculated: whole part plus thousandths, truncating division.

    For one amount in five below 4 it is not the double that its decimal text denotes: 1.14 is 1.1400000000000001.
    """
    if milli < 0:
        return -to_double(-milli)
    return float(milli // 1000) + float(milli % 1000) / 1000.0


def to_number(milli: int) -> float:
    """The double nearest an amount, which its shortest decimal text denotes: what people and programs write."""
    return milli / 1000


class AsSent(int):
    """Thousandths with the double that was received.

    Mesos rounds only in its operators, and until then shows an amount as it was sent. Every sum and every difference is
    a plain `int`, which loses the double in the same way.
    """

    sent: float

    def __new__(cls, milli: int, sent: float) -> Self:
        """The thousandths, and the double."""
        made = super().__new__(cls, milli)
        made.sent = sent
        return made

    def __reduce__(self) -> tuple[type[Self], tuple[int, float]]:
        """The parts of a copy, in another process too."""
        return type(self), (int(self), self.sent)


def to_sent_milli(value: float) -> int:
    """`to_milli`, remembering a double that is finer than that.  Raises ValueError."""
    milli = to_milli(value)
    return milli if to_double(milli) == value else AsSent(milli, value)


def to_shown(milli: int) -> float:
    """The double that a master shows: as it was sent, unless the master has calculated with it."""
    return milli.sent if isinstance(milli, AsSent) else to_double(milli)


def refuse_sign(name: str, text: str) -> None:
    """Raise RuleViolation for a number with a sign: it would be read as the whole, but it is meant as a change."""
    if _SIGNED.match(text):
        raise RuleViolation(
            f"{name}: {text} has a sign, but only the whole can be given, not a change",
            field=name,
            rule=SIGN,
            hint="write the whole, without a sign",
        )


def format_double(value: float) -> str:
    """A double with all of its digits: "2", "1234567.125", or "Infinity"; `:g` keeps six."""
    return "Infinity" if value == math.inf else repr(float(value)).removesuffix(".0")


def parse_double(text: str) -> float:
    """A double that somebody typed; of those without end, "Infinity" alone, as a master reads it.

    Raises ValueError for what is not a number, and RuleViolation for a sign, NaN and other spellings of infinity.
    """
    value = float(text)
    refuse_sign("weight", text.strip())
    if text != "Infinity" and not math.isfinite(value):
        raise RuleViolation(f"{text} is not a finite number", rule="number.finite", hint="a master takes only Infinity")
    return value


def format_milli(milli: int) -> str:
    """Shortest exact decimal text: 12000 gives "12", 1500 gives "1.5"."""
    sign = "-" if milli < 0 else ""
    whole, thousandths = divmod(abs(milli), 1000)
    return f"{sign}{whole}" + (f".{thousandths:03d}".rstrip("0") if thousandths else "")


def parse_amount(name: str, text: str) -> int:
    """Thousandths of an amount on the command line: "12", "0.5", "6GiB".

    Only mem and disk have units. An amount finer than 0.001 is refused, because Mesos would silently round it.  Raises
    RuleViolation.
    """
    match = _NUMBER.fullmatch(text.strip())
    if match is None or len(text) > 64:
        hint = (
            ranges_hint(name) if name == "ports" else f"for example, {name}:{'6GiB' if name in SIZED_NAMES else '12'}"
        )
        if _LIKE_RANGES.fullmatch(text):
            hint = f"write {shlex.quote(f'{name}:[{text}]')}"
        raise RuleViolation(
            f"{name}: '{text}' is not a number",
            field=name,
            rule="resource.number",
            hint=hint,
            values={"part": text} if text.endswith("%") else None,
        )
    number, unit = match.groups()
    thousandths = _exact_thousandths(number)
    if thousandths is None:
        raise RuleViolation(f"{name}: {number} is out of range", field=name, rule="resource.number", hint=_RANGE)
    numerator, denominator = thousandths
    if unit:
        scale, divisor = _unit_factor(name, unit)
        numerator, denominator = numerator * scale, denominator * divisor
    milli, rest = divmod(numerator, denominator)
    if rest:
        # Never "write 0": that means something else.
        nearest = (2 * numerator + denominator) // (2 * denominator) or (1 if numerator > 0 else -1)
        raise RuleViolation(
            f"{name}: {text} is finer than a thousandth, the smallest step that Mesos keeps",
            field=name,
            rule="resource.precision",
            hint=f"write {name}:{format_milli(nearest)}",
        )
    try:
        return to_sent_milli(to_number(milli))
    except ValueError:
        raise RuleViolation(
            f"{name}: {text} is out of range", field=name, rule="resource.number", hint=_RANGE
        ) from None


def _exact_thousandths(number: str) -> tuple[int, int] | None:
    """A decimal text as an exact fraction of thousandths, or None if its exponent is absurd."""
    mantissa, _, exponent_text = number.lower().partition("e")
    exponent = int(exponent_text or 0)
    if abs(exponent) > 30:
        return None
    whole, _, fraction = mantissa.partition(".")
    digits = int(whole + fraction)
    power = exponent - len(fraction) + 3
    return (digits * 10**power, 1) if power >= 0 else (digits, 10**-power)


def _unit_factor(name: str, unit: str) -> tuple[int, int]:
    """(multiplier, divisor) from `unit` to MiB."""
    prefix = unit.lower().removesuffix("b").removesuffix("i")
    if name not in SIZED_NAMES:
        from mesosctl.mesos.roles import closest  # imported late: for an error only

        likely = closest(name, SIZED_NAMES)
        raise RuleViolation(
            f"{name}: '{unit}' is a unit, but only {' and '.join(SIZED_NAMES)} take one",
            field=name,
            rule="resource.unit",
            hint=f"did you mean {likely}?" if likely else f"write {name} as a plain number",
        )
    if unit.lower() == "b":
        return 1, 1024**2
    if prefix not in _UNIT_KIB:
        raise RuleViolation(
            f"{name}: '{unit}' is not a unit",
            field=name,
            rule="resource.unit",
            hint="units are B, KiB, MiB, GiB, TiB and PiB; KB to PB and Ki to Pi mean the same; the default is MiB",
        )
    return _UNIT_KIB[prefix], 1024


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
        self._amounts = {name: amount for name, amount in sorted((amounts or {}).items()) if amount > 0}

    def get_amount(self, name: str) -> int:
        """The amount of `name` in thousandths, zero if it is not named."""
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

    def average(self, parts: int, *, up: bool = False) -> "Quantities":
        """The size of each of `parts` equal parts, rounded down, or with `up` rounded up."""
        spare = parts - 1 if up else 0
        return Quantities({name: (amount + spare) // parts for name, amount in self._amounts.items()})

    @staticmethod
    def total(parts: Iterable["Quantities"]) -> "Quantities":
        """Sum of any number of quantities."""
        sums: dict[str, int] = {}
        for part in parts:
            add_up(sums, part._amounts.items())
        return Quantities(sums)


def add_up(sums: dict[str, int], amounts: Iterable[tuple[str, int]]) -> None:
    """Add to each sum; the first amount of a name keeps its double, as in Mesos."""
    for name, amount in amounts:
        sums[name] = sums[name] + amount if name in sums else amount


class Limits(_Amounts):
    """Upper bounds by name, zero included; what is not named is unlimited."""

    __slots__ = ()

    def __init__(self, amounts: Mapping[str, int] | None = None) -> None:
        self._amounts = dict(sorted((amounts or {}).items()))

    def __sub__(self, used: Quantities) -> "Limits":
        """Return the room left under each limit, never below zero."""
        return Limits({name: max(0, bound - used.get_amount(name)) for name, bound in self._amounts.items()})

    def bounded(self, quantities: Quantities) -> Quantities:
        """Return the most of each amount that stays within its bound."""
        return Quantities({name: min(amount, self._amounts.get(name, amount)) for name, amount in quantities.items()})

    def contains(self, quantities: Quantities) -> bool:
        """Whether every amount stays within its bound."""
        return all(quantities.get_amount(name) <= bound for name, bound in self._amounts.items())


class Quota(NamedTuple):
    """The guarantees and the limits of a role; neither by default."""

    guarantees: Quantities = Quantities()
    limits: Limits = Limits()

    @property
    def is_default(self) -> bool:
        """Whether it is the same as no quota."""
        return not self.guarantees and not self.limits

    @property
    def names(self) -> set[str]:
        """The names of its resources."""
        return {*self.guarantees, *self.limits}

    def bounds(self, *, guarantee_is_limit: bool) -> Limits:
        """The most that a role with it is offered: its limits, or its guarantee where that is a limit."""
        return Limits(self.guarantees) if guarantee_is_limit else self.limits


_PART = re.compile(r"(\d{1,12}(?:\.\d{1,9})?)\s*%", re.ASCII)


def is_part(text: str) -> bool:
    """Whether an amount is a part of a whole: 50%."""
    return _PART.fullmatch(text.strip()) is not None


def part_of(name: str, text: str, whole: Quantities) -> int:
    """Thousandths of a part, such as "50%", of what `whole` has of a resource, rounded down.

    mem and disk are whole MiB, and gpus are whole.
    """
    numerator, denominator = _exact_part(name, text, whole)
    milli = numerator // denominator
    return milli // 1000 * 1000 if name in WHOLE_NAMES else milli


def is_rounded(name: str, text: str, whole: Quantities) -> bool:
    """Whether a part is less than its percentage, because it is rounded down."""
    numerator, denominator = _exact_part(name, text, whole)
    return part_of(name, text, whole) * denominator != numerator


def _exact_part(name: str, text: str, whole: Quantities) -> tuple[int, int]:
    """Thousandths, as a numerator and a denominator."""
    found = _PART.fullmatch(text.strip())
    assert found is not None
    thousandths = _exact_thousandths(found[1])
    assert thousandths is not None
    return thousandths[0] * whole.get_amount(name), thousandths[1] * 100_000
