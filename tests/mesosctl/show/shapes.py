"""The shapes that amounts and resources may have in JSON, and what has another."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

Schema = Mapping[str, Any]
AMOUNTS, RESOURCES, TEXT, OTHER = "amounts by name", "amounts and text", "a text", "something else"
_VALUE = r"(?:[0-9]+(?:\.[0-9]+)?|\[[0-9, -]+\]|\{[^{}]*\})"
NOTATION = re.compile(rf"(?:[a-z_]+(?:\([^()]*\))?(?:\[[^\[\]]*\])?(?:\{{[A-Z,]+\}})?:{_VALUE}(?:; ?|$))+")
"""A whole text that is resources as commands accept them."""
_CHANGING = ("PlanStep", "SavedStep", "SnapshotChange")
TEXTS = {
    **{(of, side): "in words, of whatever kind of setting" for of in _CHANGING for side in ("before", "after")},
    ("", "task"): "the id of a task that was replayed",
    ("UnjoinedTask", "task"): "the id of a task in a log",
}
"""Fields that are texts although others of their name are amounts, and what they are."""


def parts(schema: Schema) -> Iterator[tuple[str, Schema]]:
    """Every object of a schema with its name; the whole is named ''."""
    yield "", schema
    yield from schema.get("$defs", {}).items()


def fields(schema: Schema) -> Iterator[tuple[str, str, Schema]]:
    """Every field of every object: the object's name, the field's, and its own schema."""
    for name, part in parts(schema):
        for field, kind in part.get("properties", {}).items():
            yield name, field, kind


def shapes(kind: Schema, definitions: Schema) -> set[str]:
    """The shapes that a value may have; null is none."""
    if "$ref" in kind:
        kind = definitions[kind["$ref"].rpartition("/")[2]]
    found: set[str] = set()
    for alternative in kind.get("anyOf", [kind]):
        if "$ref" in alternative:
            found |= shapes(alternative, definitions)
        elif alternative.get("properties", {}).keys() == {"amounts", "text"}:
            found.add(RESOURCES)
        elif alternative.get("additionalProperties") == {"type": "number"}:
            found.add(AMOUNTS)
        elif alternative.get("type") == "string" and "enum" not in alternative:
            found.add(TEXT)
        elif alternative.get("type") != "null":
            found.add(OTHER)
    return found


def other_shapes(schemas: Mapping[str, Schema]) -> set[str]:
    """Each field that has another shape than amounts and resources have, by document: none is expected.

    A name that means amounts or resources anywhere is no text anywhere else; the field `resources` is resources, or a
    list of objects that have them; and nothing has amounts beside resources.
    """
    of_names: dict[str, set[str]] = {}
    for schema in schemas.values():
        for _, field, kind in fields(schema):
            of_names.setdefault(field, set()).update(shapes(kind, schema.get("$defs", {})))
    measured = {name for name, found in of_names.items() if found & {AMOUNTS, RESOURCES}} | {"resources"}
    wrong = set()
    for document, schema in schemas.items():
        for of, field, kind in fields(schema):
            found = shapes(kind, schema.get("$defs", {}))
            is_text = field in measured and TEXT in found and (of, field) not in TEXTS
            is_bare = field == "resources" and AMOUNTS in found
            if is_text or is_bare:
                wrong.add(f"{document}: {of}.{field} is {' or '.join(sorted(found))}")
        for of, part in parts(schema):
            if {"amounts", "resources"} <= part.get("properties", {}).keys():
                wrong.add(f"{document}: {of} has amounts and resources")
    return wrong


BESIDE_VALUES = {
    "before": "before_values",
    "after": "after_values",
    "actual": "actual_values",
    "wanted": "wanted_values",
}
"""Settings in words, and the fields beside them that have the amounts."""
STATE = "state"
"""A setting that a saved plan rests on: it is compared to the letter."""


def in_notation(document: Any, key: str = "") -> Iterator[str]:
    """Each text of a document that is resources in Mesos's notation, but for the field `text` and texts of settings."""
    if isinstance(document, Mapping):
        for name, value in document.items():
            if name not in ("text", STATE) and not document.get(BESIDE_VALUES.get(name, "")):
                yield from in_notation(value, name)
    elif isinstance(document, list):
        for value in document:
            yield from in_notation(value, key)
    elif isinstance(document, str) and NOTATION.fullmatch(document):
        yield f"{key}: {document}"
