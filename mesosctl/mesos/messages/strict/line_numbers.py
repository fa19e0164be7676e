"""The line of each value of a file, by its path: `quotas.web.limit`, `guarantee[1].name`."""

import json
import re
import tomllib
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

_BLANK = re.compile(r"\s*")
_SIMPLE = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s,\]}]+')
"""A string, or a number or a word."""
_HEADER = re.compile(r"\s*(\[\[?)\s*(.+?)\s*\]\]?\s*(?:#.*)?")
_KEY = re.compile(r"""\s*((?:"(?:[^"\\]|\\.)*"|'[^']*'|[A-Za-z0-9_-]|\s*\.\s*)+?)\s*=""")
_LAST_STEP = re.compile(r"(.*?)(?:\.[^.\[\]]*|\[\d+\]|[^.\[\]]+)", re.DOTALL)


class Places(NamedTuple):
    """The line of every path in a file."""

    lines: Mapping[str, int] = {}
    entries: Mapping[str, str] = {}
    """The path of the object that describes a role, by role, if a file names it with a key `role`."""

    def line_of(self, field: str, role: str = "") -> int | None:
        """The line of a field, which may be relative to the entry of a role, or else of the nearest enclosing value."""
        entry = self.entries.get(role, "")
        within = self._nearest(f"{entry}.{field}" if entry else "", entry) or self._nearest(field, "")
        return within or self._nearest(entry and f"{entry}.role", "") or self._first_part(field)

    def _first_part(self, field: str) -> int | None:
        """The line of the first part of a table that only the headers of its parts name: [quotas.web]."""
        return next((line for path, line in self.lines.items() if path.startswith(f"{field}.")), None)

    def _nearest(self, path: str, within: str) -> int | None:
        if "[0]" in self.lines and not path.startswith("["):
            path = path[path.find("[") :] if "[" in path else ""  # readers give a bare array the key of a request
        while len(path) > len(within):
            if path in self.lines:
                return self.lines[path]
            shorter = _LAST_STEP.fullmatch(path)
            path = shorter[1] if shorter else ""
        return None


def places_in_json(text: str) -> Places:
    """The place of every value of a JSON text; nothing if the text is not JSON."""
    try:
        document = json.loads(text)
        found = _json_values(text, _skip(text, 0), "")
        ends = [end for end, character in enumerate(text) if character == "\n"]
        lines = {path: bisect_left(ends, at) + 1 for path, at in found if path}
        return Places(lines, dict(_entries(document, "")))
    except (ValueError, RecursionError):
        return Places()


def _entries(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Every role that an object names, and the object's path."""
    if isinstance(value, list):
        for index, entry in enumerate(value):
            yield from _entries(entry, f"{path}[{index}]")
    elif isinstance(value, dict):
        if isinstance(value.get("role"), str):
            yield value["role"], path
        for key, part in value.items():
            yield from _entries(part, f"{path}.{key}".lstrip("."))


def _json_values(text: str, at: int, path: str) -> Iterator[tuple[str, int]]:
    """Every value from `at` on and its start; last, by the empty path, the end."""
    if path:
        yield path, at
    if text[at] not in "{[":
        yield "", _end_of_simple(text, at)
        return
    closing = "}" if text[at] == "{" else "]"
    number, at = 0, _skip(text, at + 1)
    while text[at] != closing:
        if closing == "}":
            end = _end_of_simple(text, at)
            inner = f"{path}.{json.loads(text[at:end], strict=False)}".lstrip(".")
            at = _skip(text, _skip(text, end) + 1)  # beyond the colon
        else:
            inner = f"{path}[{number}]"
        for found, place in _json_values(text, at, inner):
            if found:
                yield found, place
            else:
                at = _skip(text, place)
        number += 1
        if text[at] == ",":
            at = _skip(text, at + 1)
    yield "", at + 1


def _skip(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _end_of_simple(text: str, at: int) -> int:
    found = _SIMPLE.match(text, at)
    return found.end() if found else at


def places_in_toml(text: str) -> Places:
    """The line of every table, array entry and key in a TOML text that is laid out line by line."""
    lines: dict[str, int] = {}
    entries: Counter[str] = Counter()
    table = ""
    for number, line in enumerate(text.splitlines(), 1):
        header = _HEADER.fullmatch(line)
        if header is not None:
            table = _path_of_table(_keys(f"[{header[2]}]"), entries)
            if header[1] == "[[":
                entries[table] += 1
                table = f"{table}[{entries[table] - 1}]"
            lines.setdefault(table, number)
        elif (key := _KEY.match(line)) is not None:
            lines.setdefault(f"{table}.{'.'.join(_keys(f'{key[1]} = 0'))}".lstrip("."), number)
    return Places(lines)


def _path_of_table(keys: Sequence[str], entries: Counter[str]) -> str:
    """The path of a table: a key of an array of tables means its last entry so far."""
    path = ""
    for key in keys:
        path = f"{path}[{entries[path] - 1}]" if entries[path] else path
        path = f"{path}.{key}".lstrip(".")
    return path


def _keys(toml: str) -> list[str]:
    """The parts of the one key in a line of TOML."""
    try:
        value = tomllib.loads(toml)
    except (ValueError, RecursionError):
        return []
    keys = []
    while isinstance(value, dict) and value:
        key, value = next(iter(value.items()))
        keys.append(key)
    return keys
