"""A cell of csv and a value of JSON that say the same, compared."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

AMOUNT = re.compile(r"([a-z]+):([0-9.]+)")
SAME = {
    ("agents.list", "agent"): "hostname",
    ("agents.list", "agent id"): "id",
    ("frameworks.list", "framework"): "name",
    ("frameworks.list", "framework id"): "id",
    ("roles.list", "status"): "standing",
}
"""The fields of columns that are called otherwise."""


def comparable(value: Any) -> Any:
    """A cell, or a value of JSON, so that equal ones of both are equal: texts, numbers, and amounts by name."""
    if isinstance(value, Mapping):
        amounts = value.get("amounts", value)
        return frozenset((name, float(amount)) for name, amount in amounts.items() if amount)
    if isinstance(value, list):
        return ",".join(value) or frozenset()
    if isinstance(value, bool) or value is None:
        return _text(value)
    found = AMOUNT.findall(str(value))
    if found and AMOUNT.sub("", str(value)).strip("; ") == "":
        return frozenset((name, float(amount)) for name, amount in found if float(amount))
    try:
        return float(value)
    except ValueError:
        return str(value) or frozenset()


def is_comparable(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(isinstance(amount, int | float) for amount in value.get("amounts", value).values())
    if isinstance(value, list):
        return all(isinstance(one, str) for one in value)
    return isinstance(value, str | bool | int | float)


def _text(value: Any) -> str:
    return "" if value is None else "yes" if value else "no"


def assert_alike(kind: str, rows: Sequence[Mapping[str, str]], items: Sequence[Mapping[str, Any]]) -> None:
    """Each row says what an item says, in the columns that are fields of it; in any order."""
    items = [{**item, **(item.get("usage") or {})} for item in items]
    fields = {column: SAME.get((kind, column), column) for column in rows[0]}
    fields = {column: name for column, name in fields.items() if all(is_comparable(item.get(name)) for item in items)}
    assert fields
    assert Counter(tuple(comparable(row[column]) for column in fields) for row in rows) == Counter(
        tuple(comparable(item[name]) for name in fields.values()) for item in items
    )
