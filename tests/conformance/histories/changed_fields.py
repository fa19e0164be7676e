"""One thing in a message changed, at any place that its table knows: the ways in which few clients send it.

An optional field is set that nobody sets, a value of an enumeration is one that no Mesos knows, a number is not finite,
a value is null or of another kind, an entry is there twice, or a field is missing.
"""

import copy
import math
import random
from collections.abc import Iterator
from typing import Any, NamedTuple

from mesosctl.mesos.messages.protobuf_json.message_tables import Enumeration, Field, Message

Place = tuple[str | int, ...]
STRANGERS: tuple[Any, ...] = (None, "x", "", 1, -1, 0.5, True, [], {}, [1], [None], {"value": "x"}, {"x": None})
LATER: tuple[Any, ...] = ("OF_A_LATER_MESOS", 999, 77, "7", "")
"""Values that no enumeration has: names, and numbers, which protobuf alone carries as such."""
UUID = "AAECAwQFRgeICQoLDA0ODw=="
_AMOUNTS = (0.5, 1.0, 64.0, 0.001)
_ODD_AMOUNTS = (math.nan, math.inf, -math.inf, -0.0, -1.0)
_WHOLE = (0, 1, 5, 80, 31000)
_DEEPEST = 4


class Spot(NamedTuple):
    """A place in a document, and what its message has there."""

    place: Place
    field: Field
    name: str
    """Of the field."""


class Changes:
    """A source of changes; `texts` are likely values of text by the name of their field."""

    def __init__(self, chance: random.Random, texts: dict[str, tuple[str, ...]]) -> None:
        self._random = chance
        self._texts = texts

    def change(self, document: Any, spots: list[Spot], *, in_protobuf: bool) -> tuple[Any, Place]:
        """The document with one thing changed, and its place; nothing else of it is shared."""
        spot = self._random.choice(spots)
        *before, last = spot.place or (None,)
        changed = copy.deepcopy(document)
        if last is None:
            return self._other(changed, spot, in_protobuf=in_protobuf), ()
        holder = changed
        for part in before:
            holder = holder[part]
        if isinstance(holder, dict) and last != "type" and self._random.random() < 0.2:
            del holder[last]
        else:
            holder[last] = self._other(holder[last], spot, in_protobuf=in_protobuf)
        return changed, spot.place

    def _other(self, value: Any, spot: Spot, *, in_protobuf: bool) -> Any:
        kind, chance = spot.field.type, self._random.random()
        if chance < 0.1 and not in_protobuf:
            return self._random.choice(STRANGERS)
        if isinstance(value, list) and value and chance < 0.7:
            return self._random.choice((value[::-1], [*value, value[0]], [], [*value, copy.deepcopy(value[-1])]))
        if isinstance(value, dict) and isinstance(kind, Message):
            return self._with_more(value, kind)
        if isinstance(kind, Enumeration):
            return self._value_of(kind, odd=chance < 0.6)
        if kind in ("double", "float"):
            return self._random.choice(_ODD_AMOUNTS)
        return self._scalar(kind, spot.name)

    def _with_more(self, value: dict[str, Any], message: Message) -> dict[str, Any]:
        """A message with a field that was not set."""
        fields = {name: field for name, field in message.fields.items() if field.number}  # any other is none of Mesos's
        unset = [name for name, field in fields.items() if name not in value and field.label != "required"]
        if not unset:
            return value
        name = self._random.choice(unset)
        return {**value, name: self._field(message.fields[name], name, 0)}

    # --- Values of a kind -----------------------------------------------------------------------------------

    def _field(self, field: Field, name: str, depth: int) -> Any:
        if field.label == "repeated":
            return [self._value(field, name, depth) for _ in range(self._random.choice((0, 1, 1, 2)))]
        if field.label == "map":
            return {self._random.choice(("r", "cpus")): self._value(field, name, depth)}
        return self._value(field, name, depth)

    def _value(self, field: Field, name: str, depth: int) -> Any:
        kind = field.type
        if isinstance(kind, Enumeration):
            return self._value_of(kind, odd=self._random.random() < 0.1)
        if not isinstance(kind, Message):
            return self._scalar(kind, name)
        if set(kind.fields) == {"value"} and kind.fields["value"].type == "string":
            return {"value": self._scalar("string", name)}
        optional = [key for key, of in kind.fields.items() if of.number and key not in kind.required]
        count = self._random.choice((0, 1, 2)) if depth < _DEEPEST else 0
        few = self._random.sample(optional, min(len(optional), count))
        return {key: self._field(kind.fields[key], key, depth + 1) for key in (*kind.required, *few)}

    def _value_of(self, kind: Enumeration, *, odd: bool) -> Any:
        return self._random.choice(LATER if odd else tuple(kind.values))

    def _scalar(self, kind: Any, name: str) -> Any:
        if kind == "string":
            return self._random.choice(self._texts.get(name, ("x", "y", "")))
        if kind == "bytes":
            return self._random.choice((UUID, "eA==", ""))
        if kind == "bool":
            return self._random.choice((True, False))
        if kind in ("double", "float"):
            return self._random.choice((*_AMOUNTS, *_ODD_AMOUNTS) if self._random.random() < 0.3 else _AMOUNTS)
        return self._random.choice(_WHOLE)


def finite(part: Any) -> Any:
    """A document with text for numbers that JSON lacks, as Mesos reads them."""
    if isinstance(part, dict):
        return {name: finite(value) for name, value in part.items()}
    if isinstance(part, list):
        return list(map(finite, part))
    if isinstance(part, float) and not math.isfinite(part):
        return "NaN" if math.isnan(part) else "Infinity" if part > 0 else "-Infinity"
    return part


def in_message(message: Message, value: Any, place: Place = ()) -> Iterator[Spot]:
    """The places of a document that sets this message: its own, and those of its fields at any depth."""
    if not isinstance(value, dict):
        return
    yield Spot(place, Field(message), "")
    for key, part in value.items():
        if key in message.fields:
            yield from in_field(message.fields[key], part, (*place, key), key)


def in_field(field: Field, value: Any, place: Place, name: str) -> Iterator[Spot]:
    """The place of a field, and those inside its value."""
    kind = field.type
    if field.label in ("repeated", "map") and isinstance(value, list | dict):
        yield Spot(place, Field("any"), name)
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from in_field(Field(kind), part, (*place, key), name)
    elif isinstance(kind, Message):
        yield from in_message(kind, value, place)
    else:
        yield Spot(place, field, name)
