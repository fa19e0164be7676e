"""JSON that a person wrote, read strictly: nothing is guessed, and nothing is ignored.

What a master reads and answers follows protobuf's leniency (`api.protobuf_json`).  A file is read by this module
instead: a duplicate key, a number that is not finite and text after the end are refused with their place.
"""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from mesosctl.model.errors import BadInput

_NO_MARK = "save it as UTF-8 without a byte order mark"
Path = tuple[str | int, ...]
"""The names and indices that lead to a value."""
_SNAPSHOT_HEAD = 200
"""Characters, within which a snapshot says when it was taken."""
_MOST_DIGITS = 20
"""Of 64 bits and a sign; an integer with more digits is read as a double."""


class _Repeating(dict[str, Any]):
    """An object with a duplicate key."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        seen: set[str] = set()
        self.key = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]


def read_json(text: str, where: str) -> Any:
    """The one JSON value in the text of a file.

    Raises BadInput: with line and column for what is not JSON, with the path for a duplicate key, a number that is not
    finite and text that is not Unicode.
    """
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_int=_integer)
        fault = next(_faults(value, ()), None)
    except json.JSONDecodeError as error:
        broken = explain(text, error)
        raise BadInput(
            f"{where} is not JSON: {broken}",
            field=f"line {broken.line}, column {broken.column}",
            rule="file.json",
            hint=_NO_MARK if text.startswith("\N{ZERO WIDTH NO-BREAK SPACE}") else None,
        ) from None
    except RecursionError:
        raise BadInput(f"{where} is nested too deeply", rule="file.json") from None
    if fault is not None:
        path, sentence = fault
        raise refused(where, path, sentence)
    return value


def refused(where: str, path: Path, sentence: str, hint: str | None = None) -> BadInput:
    """The error for a value at a place in a file."""
    named = place(path)
    return BadInput(
        f"{where}: {named or 'the top level'}: {sentence}", field=named or None, rule="file.fields", hint=hint
    )


def place(path: Path) -> str:
    """A path as text: `guarantee[0].scalar.value`."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    return found if len(found) == len(pairs) else _Repeating(pairs)


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= _MOST_DIGITS else float(digits)


def _faults(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    """The places that make a value unusable, from the outside to the inside."""
    if isinstance(value, dict):
        if isinstance(value, _Repeating):
            yield (*path, value.key), f"the key '{value.key}' appears twice in one object"
        for key, part in value.items():
            yield from _text_faults(key, path)
            yield from _faults(part, (*path, key))
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from _faults(part, (*path, index))
    elif isinstance(value, str):
        yield from _text_faults(value, path)
    elif isinstance(value, float) and not math.isfinite(value):
        yield path, "it should be a finite number"


def _text_faults(text: str, path: Path) -> Iterator[tuple[Path, str]]:
    if any("\ud800" <= character <= "\udfff" for character in text):
        yield path, "the text contains half of a surrogate pair"


_SAID = {
    "Expecting value": "a value",
    "Expecting ',' delimiter": "','",
    "Expecting ':' delimiter": "':'",
    "Expecting property name enclosed in double quotes": "a name in double quotes, or '}'",
    "Illegal trailing comma before end of object": "no ',' before '}'",
    "Illegal trailing comma before end of array": "no ',' before ']'",
    "Unterminated string starting at": "a closing '\"' for this string",
    "Extra data": "nothing more after the end",
    "Invalid control character at": "an escape, such as \\n, for a control character",
    "Invalid \\escape": "a JSON escape, such as \\\\ or \\n",
    "Invalid \\uXXXX escape": "four hexadecimal digits after \\u",
    "Unexpected UTF-8 BOM (decode using utf-8-sig)": "a value, and no byte order mark",
}
_CLOSING = {"{": "}", "[": "]"}
_LONGEST_SHOWN = 1000
_FARTHEST = 1 << 20
"""Characters before a fault that are read again to find what is open there; beyond that, only the place is given."""


@dataclass(frozen=True, slots=True)
class Fault:
    """The first place where a text stops being JSON; line and column count from 1."""

    line: int
    column: int
    expected: str
    found: str

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: expected {self.expected}, found {self.found}"


def explain(text: str, error: json.JSONDecodeError) -> Fault:
    """Where `text` is broken; `json` says no more about it than `error`."""
    expected = _SAID.get(error.msg, error.msg)
    at = error.pos
    before = text[:at].rstrip()
    if text[at : at + 1] in ("}", "]") and before.endswith(","):
        # Newer Pythons say so themselves, and show the comma.
        return _fault(text, len(before) - 1, f"no ',' before '{text[at]}'")
    if at > _FARTHEST:
        return _fault(text, at, expected)
    enclosing, last_string = _read_up_to(text, at)
    if at >= len(text.rstrip()) and enclosing:
        return _fault(
            text, len(text.rstrip()), " and ".join(f"'{_CLOSING[bracket]}'" for bracket in reversed(enclosing))
        )
    if text[at : at + 1] == ":" and enclosing[-1:] == ["["]:
        # A name and a colon belong in an object, so its brace is missing before the name.
        return _fault(text, last_string, "'{', because an entry of an array is an object")
    if text[at : at + 1] == ":" and not enclosing:
        return _fault(text, last_string, "'{', which opens the object")
    if error.msg == "Expecting ',' delimiter" and enclosing:
        expected = f"',' or '{_CLOSING[enclosing[-1]]}'"
    return _fault(text, at, expected)


def _read_up_to(text: str, end: int) -> tuple[list[str], int]:
    """The brackets that are open at `end`, outermost first, and where the last string before it began."""
    enclosing: list[str] = []
    last_string, at = 0, 0
    while at < end:
        character = text[at]
        if character == '"':
            last_string = at
            at += 1
            while at < end and text[at] != '"':
                at += 2 if text[at] == "\\" else 1
        elif character in _CLOSING:
            enclosing.append(character)
        elif character in "}]" and enclosing:
            enclosing.pop()
        at += 1
    return enclosing, last_string


def _fault(text: str, at: int, expected: str) -> Fault:
    line_start = text.rfind("\n", 0, at) + 1
    rest = text[at : at + _LONGEST_SHOWN].split("\n", 1)[0].strip()
    shown = rest if len(rest) <= 24 else rest[:24] + "…"
    return Fault(text.count("\n", 0, at) + 1, at - line_start + 1, expected, f"'{shown}'" if rest else "the end")


LONGEST = 64 * 1024 * 1024
"""Characters: a file of 100,000 agents is shorter."""
_DEEPEST = 64
# Parts of a dotted key; reading more would take too long.
_LONG_KEY = re.compile(r"""(?:(?:(?<![A-Za-z0-9_-])[A-Za-z0-9_-]++|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){1000}""")


def read(text: str, where: str) -> dict[str, Any]:
    """The table in a text.  Raises BadInput naming `where`, and the line for what is not TOML."""
    if len(text) > LONGEST:
        raise BadInput(f"{where} is longer than {LONGEST} characters")
    if _LONG_KEY.search(text):
        raise BadInput(f"{where} is nested too deeply")
    try:
        import tomllib  # imported late: most files are JSON

        table = tomllib.loads(text)
    except RecursionError:
        raise BadInput(f"{where} is nested too deeply") from None
    except ValueError as error:  # TOMLDecodeError, and integers of thousands of digits
        raise _no_toml(text, where, error) from None
    if _is_too_deep(table):
        raise BadInput(f"{where} is nested too deeply")
    return table


_TOML_PLACE = re.compile(r"line \d+(, column \d+)?")


def _no_toml(text: str, where: str, error: ValueError) -> BadInput:
    """The error for a text that is not TOML, which always names a line."""
    line = max(1, len(text.rstrip().splitlines()))
    reason = str(error).replace("at end of document", f"at the end, line {line}")
    if text.startswith("\N{ZERO WIDTH NO-BREAK SPACE}"):
        return BadInput(
            f"{where} is not TOML: it starts with a byte order mark (line 1)", field="line 1", hint=_NO_MARK
        )
    hint = "name each key and each table once" if reason.startswith(("Cannot overwrite", "Cannot declare")) else None
    if text.startswith("{") and '"taken_at"' in text[:_SNAPSHOT_HEAD]:
        hint = "it is a snapshot: give it with --from; mesosctl export --from SNAPSHOT -f FILE makes a file to apply"
    place = _TOML_PLACE.search(reason)
    return BadInput(f"{where} is not TOML: {reason}", field=place and place[0], hint=hint)


def _is_too_deep(table: dict[str, Any]) -> bool:
    """Whether a value is inside more than this many tables and arrays."""
    level: list[Any] = [table]
    for _ in range(_DEEPEST):
        level = [
            part
            for value in level
            for part in (value.values() if isinstance(value, dict) else value)
            if isinstance(part, dict | list)
        ]
        if not level:
            return False
    return True
