"""Where JSON is broken, and what was expected there, for files that people write by hand.

A master says "syntax error at line 1 near: …"; a person with an editor open wants the line, the
column, and the character that is missing.
"""

import json
from dataclasses import dataclass

_SAID = {
    "Expecting value": "a value",
    "Expecting ',' delimiter": "','",
    "Expecting ':' delimiter": "':'",
    "Expecting property name enclosed in double quotes": "a name in double quotes, or '}'",
    "Illegal trailing comma before end of object": "no ',' before '}'",
    "Illegal trailing comma before end of array": "no ',' before ']'",
    "Unterminated string starting at": "a closing '\"' for this string",
    "Extra data": "nothing more after the end",
    "Invalid control character at": "an escape, as \\n, for a control character",
    "Invalid \\escape": "one of the escapes of JSON, as \\\\ or \\n",
    "Invalid \\uXXXX escape": "four hexadecimal digits after \\u",
    "Unexpected UTF-8 BOM (decode using utf-8-sig)": "a value, and no byte order mark",
}
_CLOSING = {"{": "}", "[": "]"}
_LONGEST_SHOWN = 1000
_FARTHEST = 1 << 20
"""Characters before a fault that are read once more for what is open there; farther on only the place is told."""


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
    """Where `text` is broken, of which `json` says no more than `error`."""
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
        # A name and a colon belong into an object: its brace is what is missing, before the name.
        return _fault(text, last_string, "'{', as an entry of an array is an object")
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
