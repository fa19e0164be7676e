"""The configuration file: read with all that is in it, and written back as a whole or not at all."""

import json
from dataclasses import dataclass
from typing import Any

from mesosctl.core.errors import BadInput
from mesosctl.core.printable import printable_json
from mesosctl.core.ratelimit import RateLimits
from mesosctl.wire.decoding import TOO_DEEP, ConversionError, decode
from mesosctl.wire.json_faults import find_fault
from mesosctl.wire.ratelimit import from_json

_INDENT = "  "
_DEEPEST = 100
"""Levels of nesting, as many as protobuf takes; a file of limits has three."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """The JSON of a file, everything unknown included, and what a master reads in it."""

    document: dict[str, Any]
    limits: RateLimits


def parse(text: str, name: str) -> Configuration:
    """The configuration in `text`; `name` stands for it in errors.

    Raises BadInput: for broken JSON with line, column and what was expected there, for a field of
    the wrong type with its path.  The rules of core are not checked.
    """
    fault = find_fault(text)
    if fault is not None:
        raise BadInput(f"{name}: {fault}", field=f"line {fault.line}, column {fault.column}", rule="ratelimit.json")
    try:
        document = decode(text)
        _check_depth(document, _DEEPEST)
        return Configuration(document, from_json(document))
    except ConversionError as error:
        raise BadInput(f"{name}: {error}", field=error.path or None, rule="ratelimit.fields") from None


def _check_depth(value: Any, levels: int) -> None:
    """Raises ConversionError where a value of JSON is nested more than so many levels deep."""
    if levels < 0:
        raise ConversionError(TOO_DEEP, "")
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _check_depth(inner, levels - 1)


def dump(document: dict[str, Any], like: str = "") -> str:
    """The document as text, in the layout of `like`, as far as that is known."""
    original = _decoded(like)
    if original is None:
        return _with_short_entries(document, _INDENT)
    # Of the two layouts that people write, the one that says more of the old text in the same lines.
    lines = set(like.splitlines())
    layouts = (_with_short_entries, _with_long_entries)
    layout = max(layouts, key=lambda layout: len(lines & set(layout(original, _indent(like)).splitlines())))
    return layout(document, _indent(like))


def _decoded(text: str) -> dict[str, Any] | None:
    try:
        value = decode(text)
    except ConversionError:
        return None
    return value if isinstance(value, dict) else None


def _indent(text: str) -> str:
    indented = next((line for line in text.splitlines() if line[:1] in (" ", "\t") and line.strip()), _INDENT)
    return indented[: len(indented) - len(indented.lstrip())]


def _with_long_entries(document: dict[str, Any], indent: str) -> str:
    return printable_json(json.dumps(document, indent=indent, ensure_ascii=False)) + "\n"


def _with_short_entries(document: dict[str, Any], indent: str) -> str:
    """Each field on a line, and each entry of an array too, as in Mesos's own document."""
    fields = []
    for name, value in document.items():
        text = _in_one_line(value)
        if isinstance(value, list) and value:
            entries = f",\n{indent}{indent}".join(map(_in_one_line, value))
            text = f"[\n{indent}{indent}{entries}\n{indent}]"
        fields.append(f"{indent}{_in_one_line(name)}: {text}")
    return "{\n" + ",\n".join(fields) + "\n}\n" if fields else "{}\n"


def _in_one_line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
