"""The places where a text stops being JSON: what was expected there, and what to do about it.

A text with a fault is never used. It is repaired only to look behind the fault, so that all faults are found at once.
"""

import json
import re
from dataclasses import dataclass
from typing import Any, NamedTuple

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
_MOST_FAULTS = 20
"""Of one text; a person who sees more has the wrong file."""
STAND_IN = "\ue000"
"""The text of a value that is repaired, but unknown; it is of private use, so no file contains it."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A place where a text stops being JSON; line and column count from 1."""

    line: int
    column: int
    expected: str
    found: str
    hint: str | None = None

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: expected {self.expected}, found {self.found}"

    @property
    def field(self) -> str:
        """Its place, as errors name it."""
        return f"line {self.line}, column {self.column}"


class Repaired(NamedTuple):
    """The faults of a text in order, and the text without them; None if nobody can guess what was meant."""

    faults: list[Fault]
    text: str | None


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
    hint = hint_at(rest) or ("remove this comma" if expected.startswith("no ','") else None)
    return Fault(text.count("\n", 0, at) + 1, at - line_start + 1, expected, f"'{shown}'" if rest else "the end", hint)


_DOTS = re.compile(r"\.\.\.|…")
_PLACEHOLDER = re.compile(r"<[A-Za-z]+(?:[ _-][A-Za-z]+)*>")
_OTHER_WORD = re.compile(r"(True|False|None|undefined|NaN)\b")
_OTHER_WORDS = {"True": "true", "False": "false"}
_BARE_WORD = re.compile(r"[A-Za-z_][\w.-]*")
_SINGLE_QUOTES = re.compile(r"'([^'\"\\\n]*)'")
_COMMENT = re.compile(r"(//|#)[^\n]*")


def hint_at(rest: str) -> str | None:
    """The hint for `rest`, the text from a fault on; None if there is no more to say."""
    if _DOTS.match(rest):
        return "'...' stands for what a document leaves out: write that instead, or remove it"
    if placeholder := _PLACEHOLDER.match(rest):
        return placeholder_hint(placeholder[0])
    if word := _OTHER_WORD.match(rest):
        return f"JSON writes {_OTHER_WORDS.get(word[1], 'null')}; or leave the key out"
    if _SINGLE_QUOTES.match(rest):
        return "JSON has double quotes only"
    if _COMMENT.match(rest):
        return "JSON has no comments: remove it"
    return None


def placeholder_hint(placeholder: str) -> str:
    """The hint for `<operator_principal>`."""
    return f"{placeholder} is a placeholder of a document: write your own value instead"


def is_placeholder(text: str) -> bool:
    """Whether a string is only a placeholder of a document, such as `<agent_id>`."""
    return _PLACEHOLDER.fullmatch(text) is not None


def faults_of(text: str) -> Repaired:
    """Find every fault of a text, each behind a repair of the one before; none if it is JSON."""
    faults: list[Fault] = []
    moved: list[tuple[int, int]] = []
    """Where the text became longer or shorter, and by how much."""
    last = -1
    while len(faults) < _MOST_FAULTS:
        try:
            json.loads(text, parse_int=float)
        except json.JSONDecodeError as error:
            if error.pos <= last:  # a repair that has not helped
                return Repaired(faults, None)
            fault, change = explain(text, error), _change(text, error)
            faults.append(_in_original(fault, text, moved))
            if change is None:
                return Repaired(faults, None)
            start, end, new = change
            text = text[:start] + new + text[end:]
            moved.append((start, len(new) - (end - start)))
            last = start + len(new) - 1 if len(new) > end - start else error.pos - 1
        except RecursionError:
            return Repaired(faults, None)
        else:
            return Repaired(faults, text)
    return Repaired(faults, None)


def _in_original(fault: Fault, text: str, moved: list[tuple[int, int]]) -> Fault:
    """The fault with its column before the repairs in its line."""
    start = 0
    for _ in range(fault.line - 1):
        start = text.index("\n", start) + 1
    at = start + fault.column - 1
    by = sum(change for place, change in moved if start <= place < at)
    return Fault(fault.line, fault.column - by, fault.expected, fault.found, fault.hint)


def _change(text: str, error: json.JSONDecodeError) -> tuple[int, int, str] | None:
    """The smallest change that makes sense of a text: what is replaced, and by what; None if there is none."""
    at, before = error.pos, text[: error.pos].rstrip()
    if dots := _DOTS.match(text, at):
        return _without(text, dots)
    if comment := _COMMENT.match(text, at):
        return comment.start(), comment.end(), " " * len(comment[0])
    if text[at : at + 1] in ("}", "]") and before.endswith(","):
        return len(before) - 1, len(before), " "
    if error.msg.startswith("Illegal trailing comma"):
        return at, at + 1, " "
    if at >= len(text.rstrip()):
        closing = "".join(_CLOSING[bracket] for bracket in reversed(_read_up_to(text, at)[0]))
        return (len(text), len(text), closing) if closing and not before.endswith((",", ":")) else None
    if error.msg == "Expecting ',' delimiter" and text[at] not in "}]:":
        return at, at, ","
    if error.msg == "Expecting ':' delimiter":
        return (at, at + 1, ":") if text[at] == "=" else (at, at, ":")
    if error.msg == "Expecting value":
        return _value_change(text, at)
    if error.msg.startswith("Expecting property name"):
        return _name_change(text, at)
    return None


def _without(text: str, found: re.Match[str]) -> tuple[int, int, str]:
    """Blanks for dots and the comma behind them, and for the comma before them if nothing follows."""
    start, end = found.span()
    if (rest := text[end:].lstrip()).startswith(","):
        end = len(text) - len(rest) + 1
    if text[end:].lstrip()[:1] in ("}", "]") and (before := text[:start].rstrip()).endswith(","):
        start = len(before) - 1
    return start, end, re.sub(r"[^\n]", " ", text[start:end])


def _value_change(text: str, at: int) -> tuple[int, int, str] | None:
    for pattern in (_PLACEHOLDER, _SINGLE_QUOTES, _BARE_WORD):
        if found := pattern.match(text, at):
            value = found[1] if pattern is _SINGLE_QUOTES else STAND_IN
            return at, found.end(), json.dumps(value, ensure_ascii=False)
    return (at, at + 1, " ") if text[at] == "," else None


def _name_change(text: str, at: int) -> tuple[int, int, str] | None:
    if found := _SINGLE_QUOTES.match(text, at):
        return at, found.end(), f'"{found[1]}"'
    if found := _BARE_WORD.match(text, at):
        return at, found.end(), f'"{found[0]}"'
    return (at, at + 1, " ") if text[at] == "," else None


def stands_in(value: Any, path: tuple[str | int, ...]) -> bool:
    """Whether the value at a path of a repaired document is one that nobody knows."""
    for part in path:
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            return False
    return isinstance(value, str) and value == STAND_IN
