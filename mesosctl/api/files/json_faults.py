"""The places where a text stops being JSON: what was expected there, and what to do about it.

A text with a fault is never used. It is repaired only to look behind the fault, so that all faults are found at once.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

_SAID = {
    "Expecting value": "a value",
    "Expecting ',' delimiter": "','",
    "Expecting ':' delimiter": "':'",
    "Expecting property name enclosed in double quotes": "a name in double quotes, or '}'",
    "Unterminated string starting at": "a closing '\"' for this string",
    "Invalid control character at": "an escape, such as \\n, for a control character",
    "Invalid \\escape": "a JSON escape, such as \\\\ or \\n",
    "Invalid \\uXXXX escape": "four hexadecimal digits after \\u",
}


def _comma_before(closing: str) -> str:
    return f"there is a comma too many before '{closing}'"


_TOO_MUCH = {
    "Illegal trailing comma before end of object": _comma_before("}"),
    "Illegal trailing comma before end of array": _comma_before("]"),
    "Extra data": "there is more after the end",
    "Unexpected UTF-8 BOM (decode using utf-8-sig)": "there is a byte order mark before the value",
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
    sentence: str
    """The words about what is wrong there."""
    hint: str | None = None

    def __str__(self) -> str:
        return f"{self.field}: {self.sentence}"

    @property
    def field(self) -> str:
        """Its place, as errors name it."""
        return f"line {self.line}, column {self.column}"


class Repaired(NamedTuple):
    """The faults of a text in order, and the text without them; None if nobody can guess what was meant."""

    faults: list[Fault]
    text: str | None


class _Cause(NamedTuple):
    """The place of a fault in a text, and what is expected there, or a sentence about what is too much."""

    at: int
    expected: str | None
    too_much: str | None = None


def explain(text: str, error: json.JSONDecodeError) -> Fault:
    """Where `text` is broken; `json` says no more about it than `error`."""
    return _told(text, _cause_of(text, error))


def _cause_of(text: str, error: json.JSONDecodeError) -> _Cause:
    at = error.pos
    before = text[:at].rstrip()
    if text[at : at + 1] in ("}", "]") and before.endswith(","):
        # Newer Pythons say so themselves, and show the comma.
        return _Cause(len(before) - 1, None, _comma_before(text[at]))
    cause = _Cause(at, None if error.msg in _TOO_MUCH else _SAID.get(error.msg, error.msg), _TOO_MUCH.get(error.msg))
    if at > _FARTHEST:
        return cause
    enclosing, last_string = _read_up_to(text, at)
    if at >= len(text.rstrip()) and enclosing:
        return _Cause(len(text.rstrip()), " and ".join(f"'{_CLOSING[bracket]}'" for bracket in reversed(enclosing)))
    if text[at : at + 1] == ":" and enclosing[-1:] == ["["]:
        # A name and a colon belong in an object, so its brace is missing before the name.
        return _Cause(last_string, "'{', because an entry of an array is an object")
    if text[at : at + 1] == ":" and not enclosing:
        return _Cause(last_string, "'{', which opens the object")
    if error.msg == "Expecting ',' delimiter" and enclosing:
        return _Cause(at, f"',' or '{_CLOSING[enclosing[-1]]}'")
    return cause


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


def _told(text: str, cause: _Cause) -> Fault:
    line_start = text.rfind("\n", 0, cause.at) + 1
    rest = text[cause.at : cause.at + _LONGEST_SHOWN].split("\n", 1)[0].strip()
    shown = rest if len(rest) <= 24 else rest[:24] + "…"
    found = f"'{shown}'" if rest else "the end"
    return Fault(
        text.count("\n", 0, cause.at) + 1,
        cause.at - line_start + 1,
        cause.too_much or f"expected {cause.expected}, found {found}",
        hint_at(rest) or ("remove this comma" if cause.too_much and rest.startswith(",") else None),
    )


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
    original = text
    faults: dict[int, Fault] = {}
    """By their place in the original; of two at one place, the later one knows more."""
    repairs: list[tuple[int, int, int]] = []
    """The place of each in the text before it, and the lengths of what is replaced and of what replaces it."""
    last = -1
    while len(faults) < _MOST_FAULTS:
        try:
            json.loads(text, parse_int=float)
        except json.JSONDecodeError as error:
            if error.pos <= last:  # a repair that has not helped
                return Repaired(list(faults.values()), None)
            cause, change = _cause_of(text, error), _change(text, error)
            at = _in_original(cause.at, repairs)
            faults[at] = _told(original, cause._replace(at=at))
            if change is None:
                return Repaired(list(faults.values()), None)
            start, end, new = change
            text = text[:start] + new + text[end:]
            repairs.append((start, end - start, len(new)))
            last = start + len(new) - 1 if len(new) > end - start else error.pos - 1
        except RecursionError:
            return Repaired(list(faults.values()), None)
        else:
            return Repaired(list(faults.values()), text)
    return Repaired(list(faults.values()), None)


def _in_original(at: int, repairs: Sequence[tuple[int, int, int]]) -> int:
    """The place before these repairs; one within what a repair has put there is that of the repair."""
    for start, before, after in reversed(repairs):
        if at >= start + after:
            at += before - after
        elif at > start:
            at = start
    return at


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
