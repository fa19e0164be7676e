"""The configuration file: read strictly, and written back in its own layout."""

import json
from dataclasses import dataclass
from typing import Any

from mesosctl.core import ratelimit
from mesosctl.core.printable import printable_json
from mesosctl.wire.files import read_json
from mesosctl.wire.rate_limits import RateLimits

_INDENT = "  "


@dataclass(frozen=True, slots=True)
class Configuration:
    """The JSON of a file, and what a master reads in it."""

    document: dict[str, Any]
    limits: ratelimit.RateLimits


def parse(text: str, name: str) -> Configuration:
    """The configuration in `text`; `name` stands for it in errors.

    Raises BadInput: for broken JSON with line, column and what was expected there, for anything else that is not as
    documented with its path.  The rules of core are not checked.
    """
    document = read_json(text, name)
    return Configuration(document, RateLimits.read(document, name).to_core())


def dump(document: dict[str, Any], like: str = "") -> str:
    """The document as text, in the layout of `like`, the text of another one."""
    if not like.strip():
        return _with_short_entries(document, _INDENT)
    original = json.loads(like)
    # Of the two layouts that people write, the one that says more of the old text in the same lines.
    lines = set(like.splitlines())
    layouts = (_with_short_entries, _with_long_entries)
    layout = max(layouts, key=lambda layout: len(lines & set(layout(original, _indent(like)).splitlines())))
    return layout(document, _indent(like))


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
