# ruff: noqa: E501  # lists of odd texts, several to a line
"""JSON as text, so that it may be what no JSON library would write: keys twice, NaN, halves of characters.

Literal   a text that stands for itself: `NaN`, `1e400`, a thousand brackets
Pairs     an object whose keys may repeat
write     a value with these inside, as bytes
"""

import json
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

LONG = 20_000


@dataclass(frozen=True)
class Literal:
    """Written as it is."""

    text: str

    def __repr__(self) -> str:
        return f"Literal({self.text[:60]!r}{'…' if len(self.text) > 60 else ''})"


@dataclass(frozen=True)
class Pairs:
    """An object, its keys in order."""

    items: tuple[tuple[str, Any], ...]


def write(value: Any) -> bytes:
    """The text; what is no UTF-8 (surrogateescape) goes out as the byte it was."""
    return _written(value).encode(errors="surrogateescape")


def _written(value: Any) -> str:
    if isinstance(value, Literal):
        return value.text
    if isinstance(value, Pairs):
        return "{" + ",".join(f"{_quoted(key)}:{_written(part)}" for key, part in value.items) + "}"
    if isinstance(value, dict):
        return _written(Pairs(tuple(value.items())))
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(_written, value)) + "]"
    return _quoted(value) if isinstance(value, str) else json.dumps(value)


def _quoted(text: str) -> str:
    # Bytes that are no UTF-8 stay bytes; every other half of a character is written as an escape.
    return "".join(
        character
        if "\udc80" <= character <= "\udcff"
        else json.dumps(character)[1:-1]
        if "\ud800" <= character <= "\udfff"
        else character
        for character in json.dumps(text, ensure_ascii=False)
    )


ODD_NUMBERS = [
    0, -1, 1, 0.0001, -0.0004, 1e-300, 1e12, 1e15, 1e18, 1e300, 2**31, 2**32, 2**53 + 1, 2**63 - 1, 2**63, 2**64, -(2**63),
    Literal("1e400"), Literal("-1e400"), Literal("NaN"), Literal("Infinity"), Literal("-Infinity"), Literal("-0"),
    Literal("01"), Literal("1."), Literal("-"), Literal("1e"), Literal("9" * 400), Literal("9" * 5000), Literal("0.0004999"),
    Literal("1" * 300 + ".5"), Literal("1e-400"),
]  # fmt: skip
ODD_TEXTS = [
    "", " ", "*", "/", ".", "..", "-", "a/../b", "a//b", "a/", "/a", "\0", "a\0b", "\x1b[2J\x1b[31mred", "\r\nX-Y: z", "\x7f\x9b", "\u202eevil\u2066",
    "\ud800", "\udc00x", "\udcff\udcfe", "\U0001f600", "e\u0301" * 50, "NaN", "1e309", "-1", "9" * 400, "%00", "%", "%2e%2e/", "a;b:c(d)[1-2]",
    "x" * LONG, "a/" * (LONG // 2) + "a", "{}", "null", "'\"`$(id)", "(", "[", "(a+)+$", "a{1000}{1000}", "\\", "ï»¿", "=", "&", "A" * 300,
]  # fmt: skip
ODD_VALUES: list[Any] = [
    None, True, False, [], {}, [[]], [None], [[[[]]]], {"": None}, {"value": None}, {"value": {}},
    Literal("[" * 400 + "]" * 400), Literal('{"a":' * 400 + "1" + "}" * 400), Literal("[" * LONG), Literal('{"value":' * LONG), Literal(""),
    Literal("{"), Literal("'x'"), Literal("undefined"), Literal("\0"), Literal('"\\ud800"'), Literal('"\\x00"'), Literal('"a\nb"'), Literal("1 2"),
]  # fmt: skip

odd_numbers = st.sampled_from(ODD_NUMBERS)
odd_texts = st.sampled_from(ODD_TEXTS) | st.text(st.characters(), max_size=12)
odd_values = st.sampled_from(ODD_VALUES) | odd_numbers | odd_texts
