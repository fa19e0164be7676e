"""The shape of a document that people write: structs with types, of which msgspec fills one or `fit` names every fault.

    class Goals(Table):
        wait_p95: Annotated[str | None, Meta(description="The 95th percentile of the waits.", examples=["5m"])] = None

The types are the only description of the keys: which there are, what each takes, which are required. What a value
means, and what excludes what, is checked afterwards on the typed value, by the rules of the model. The first example of
a field becomes the hint for a value that does not fit.
"""

import json
import math
import re
import sys
from collections.abc import Iterable
from contextlib import suppress
from datetime import date, datetime
from typing import Annotated, Any, NamedTuple, TypeVar

import msgspec
from msgspec import Meta, inspect

from mesosctl.mesos.amounts.notation import parse_span
from mesosctl.mesos.errors import UsageError
from mesosctl.mesos.messages.strict.reading import Fault, Path, place
from mesosctl.mesos.roles import did_you_mean

T = TypeVar("T")
_NOTHING = object()
"""The part of a value of which nothing fits."""
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_LARGE = 10**9
LARGEST = 10**15
"""The largest number that can be reckoned with: TOML has infinities, and integers of any length."""
Seconds = Annotated[float, Meta(ge=0, le=LARGEST, extra={"unit": "seconds"})]
"""A time, as a plain number."""
Name = Annotated[str, Meta(min_length=1)]
"""A text that is not empty."""


class Table(msgspec.Struct, forbid_unknown_fields=True):
    """A table of a file; its fields are the keys."""


def fit(document: Any, shape: type[T], path: Path = ()) -> tuple[T | None, list[Fault]]:
    """The document at a path as a value of the shape, without the parts that do not fit, and a fault for each of those.

    A key that does not fit is left out. Nothing fits of a table without a required key, and of a list with an entry
    that does not fit. None if nothing fits at all.
    """
    try:
        return _convert(document, shape), []
    except msgspec.ValidationError:
        walk = _Walk()
        part = walk.part_of(document, inspect.type_info(shape), path)
        return None if part is _NOTHING else _convert(part, shape), walk.faults


def _convert(document: Any, shape: type[T]) -> T:
    return msgspec.convert(document, shape, builtin_types=(date,))  # so that a day is not taken from a string


class _Field(NamedTuple):
    """The types that a value may have, an example of it, and the unit of a number."""

    types: tuple[inspect.Type, ...]
    example: Any = None
    unit: str | None = None


def _field(kind: inspect.Type) -> _Field:
    if isinstance(kind, inspect.Metadata):
        inner, examples = _field(kind.type), (kind.extra_json_schema or {}).get("examples")
        unit = (kind.extra or {}).get("unit", inner.unit)
        return _Field(inner.types, examples[0] if examples else inner.example, unit)
    if isinstance(kind, inspect.UnionType):
        fields = [_field(part) for part in kind.types if not isinstance(part, inspect.NoneType)]
        example = next((member.example for member in fields if member.example is not None), None)
        unit = next((member.unit for member in fields if member.unit is not None), None)
        return _Field(tuple(part for field in fields for part in field.types), example, unit)
    return _Field((kind,))


class _Walk:
    """Goes through a document along its shape, and notes each place where they differ."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []

    def part_of(self, value: Any, kind: inspect.Type, path: Path) -> Any:
        """The part of a value that fits."""
        field = _field(kind)
        chosen = next((part for part in field.types if _is_a(value, part)), None)
        if chosen is None:
            of_unit = f" of {field.unit}" if field.unit else ""
            self._note(path, f"{_not_one_of(field.types)}{of_unit}", field._replace(example=_meant(value, field)))
            return _NOTHING
        wrong = _out_of_bounds(value, chosen)
        if wrong is not None:
            self._note(path, wrong, field)
            return _NOTHING
        part = value
        if isinstance(chosen, inspect.StructType):
            return self._table(value, chosen, path)
        if isinstance(chosen, inspect.DictType):
            parts = {key: self.part_of(part, chosen.value_type, (*path, key)) for key, part in value.items()}
            part = {key: part for key, part in parts.items() if part is not _NOTHING}
        elif isinstance(chosen, inspect.ListType):
            part = [self.part_of(part, chosen.item_type, (*path, index)) for index, part in enumerate(value)]
            if _NOTHING in part:  # without it, the others would have other places
                return _NOTHING
        return _NOTHING if _out_of_bounds(part, chosen) else part

    def _table(self, value: dict[str, Any], kind: inspect.StructType, path: Path) -> Any:
        fields = {field.encode_name: field for field in kind.fields}
        found = {}
        for key, inner in value.items():
            if key in fields:
                found[key] = self.part_of(inner, fields[key].type, (*path, key))
            else:
                hint = did_you_mean(key, fields, f"known: {', '.join(fields)}", are_numbered=False)
                self.faults.append(Fault(place((*path, key)), "there is no such key", hint))
        required = [key for key, field in fields.items() if field.required]
        for key in required:
            if key not in value:
                self._note((*path, key), "it is missing", _field(fields[key].type))
        found = {key: part for key, part in found.items() if part is not _NOTHING}
        return found if all(key in found for key in required) else _NOTHING

    def _note(self, path: Path, sentence: str, field: _Field) -> None:
        self.faults.append(Fault(place(path), sentence, _hint(path, field.types, field.example)))


def _meant(value: Any, field: _Field) -> Any:
    """The example of a field; for a span such as "5s" instead of seconds, the seconds that it means."""
    if field.unit == "seconds" and isinstance(value, str):
        with suppress(UsageError):
            seconds = parse_span(value, "")
            return int(seconds) if seconds.is_integer() else seconds
    return field.example


# --- Kinds of values --------------------------------------------------------------------------------


def _is_a(value: Any, kind: inspect.Type) -> bool:
    """Whether a value is of this kind, whatever its bounds."""
    match kind:
        case inspect.StructType() | inspect.DictType():
            return isinstance(value, dict)
        case inspect.ListType():
            return isinstance(value, list)
        case inspect.StrType():
            return isinstance(value, str)
        case inspect.LiteralType():
            return isinstance(value, str) and value in kind.values
        case inspect.BoolType():
            return isinstance(value, bool)
        case inspect.IntType():
            return isinstance(value, int) and not isinstance(value, bool)
        case inspect.FloatType():
            return isinstance(value, int | float) and not isinstance(value, bool)
        case inspect.DateType():
            return isinstance(value, date) and not isinstance(value, datetime)
        case _:
            return isinstance(kind, inspect.AnyType)


def _out_of_bounds(value: Any, kind: inspect.Type) -> str | None:
    """A sentence about a value of this kind that is too small or too large."""
    if isinstance(kind, inspect.IntType | inspect.FloatType):
        return _out_of_range(value, kind)
    least, most = getattr(kind, "min_length", None), getattr(kind, "max_length", None)
    if least is not None and len(value) < least:
        return f"it is shorter than {least:,}" if value else "it is empty"
    return f"it is longer than {most:,}" if most is not None and len(value) > most else None


def _out_of_range(value: float, kind: inspect.IntType | inspect.FloatType) -> str | None:
    if isinstance(kind, inspect.FloatType) and isinstance(value, int) and abs(value) > sys.float_info.max:
        return "it is too large a number"  # an integer of TOML has any length
    is_large_enough = (kind.ge is None or value >= kind.ge) and (kind.gt is None or value > kind.gt)
    if is_large_enough and (kind.le is None or value <= kind.le):
        return None
    if _range(kind) or (isinstance(value, float) and math.isnan(value)):
        return _not_one_of((kind,))
    if is_large_enough:
        return "it is too large a number"
    return f"it is below {_number(kind.ge)}" if kind.ge is not None else f"it is not above {_number(kind.gt or 0)}"


# --- Words ------------------------------------------------------------------------------------------


def _not_one_of(types: Iterable[inspect.Type]) -> str:
    named = list(dict.fromkeys(map(_named, types)))
    return f"it is not {named[0]}" if len(named) == 1 else f"it is neither {' nor '.join(named)}"


def _named(kind: inspect.Type) -> str:
    match kind:
        case inspect.StructType():
            return "a table"
        case inspect.DictType():
            return f"a table of {parts}" if (parts := _parts(kind.value_type)) else "a table"
        case inspect.ListType():
            return f"a list of {parts}" if (parts := _parts(kind.item_type)) else "an array of tables"
        case inspect.LiteralType():
            *others, last = map(str, kind.values)
            return f"{', '.join(others)} or {last}" if others else last
        case inspect.BoolType():
            return "true or false"
        case inspect.IntType():
            return f"a whole number{_range(kind)}"
        case inspect.FloatType():
            return f"a number{_range(kind)}"
        case inspect.DateType():
            return "a day"
        case _:
            return "a string"


def _parts(kind: inspect.Type) -> str:
    """The entries of a table or list, "strings and numbers"; empty for tables."""
    plural = {inspect.StrType: "strings", inspect.IntType: "numbers", inspect.FloatType: "numbers"}
    return " and ".join(dict.fromkeys(plural[type(part)] for part in _field(kind).types if type(part) in plural))


def _range(kind: inspect.IntType | inspect.FloatType) -> str:
    """From which number to which; empty if there is no end that anybody would reach."""
    if kind.ge is None or kind.le is None or kind.le >= _LARGE:
        return ""
    return f" from {_number(kind.ge)} to {_number(kind.le)}"


def _number(value: float) -> str:
    return f"{value:,}" if value else "zero"


def _hint(path: Path, types: tuple[inspect.Type, ...], example: Any) -> str | None:
    """A hint with the example of the field, or with the header of its table."""
    if not path:
        return None
    if example is not None:
        is_entry = isinstance(path[-1], int)
        return f"write {in_line(example)}" if is_entry else f"write {_quoted(str(path[-1]))} = {in_line(example)}"
    header = ".".join(_quoted(key) for key in path if isinstance(key, str))
    for kind in types:
        if isinstance(kind, inspect.StructType | inspect.DictType):
            return f"write [[{header}]]" if isinstance(path[-1], int) else f"write [{header}]"
        if isinstance(kind, inspect.ListType) and not _parts(kind.item_type):
            return f"write [[{header}]]"
    return None


def in_line(value: Any) -> str:
    """A value as TOML writes it within a line."""
    if isinstance(value, dict):
        pairs = (f"{_quoted(key)} = {in_line(part)}" for key, part in value.items())
        return f"{{ {', '.join(pairs)} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(in_line, value))}]"
    return value.isoformat() if isinstance(value, date) else json.dumps(value, ensure_ascii=False)


def _quoted(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) else json.dumps(key, ensure_ascii=False)
