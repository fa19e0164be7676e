"""The place where a text stops being JSON: what was expected there, and what to do about it."""

import json
import re
from dataclasses import dataclass
from typing import NamedTuple

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


@dataclass(frozen=True, slots=True)
class JsonFault:
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


class _Cause(NamedTuple):
    """The place of a fault in a text, and what is expected there, or a sentence about what is too much."""

    at: int
    expected: str | None
    too_much: str | None = None


def fault_of(text: str) -> JsonFault | None:
    """The first place where a text is not JSON; None if it is, or if it is nested too deeply to say so."""
    try:
        json.loads(text, parse_int=float)
    except json.JSONDecodeError as error:
        return explain(text, error)
    except RecursionError:
        return None
    return None


def explain(text: str, error: json.JSONDecodeError) -> JsonFault:
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


def _told(text: str, cause: _Cause) -> JsonFault:
    line_start = text.rfind("\n", 0, cause.at) + 1
    rest = text[cause.at : cause.at + _LONGEST_SHOWN].split("\n", 1)[0].strip()
    shown = rest if len(rest) <= 24 else rest[:24] + "…"
    found = f"'{shown}'" if rest else "the end"
    return JsonFault(
        text.count("\n", 0, cause.at) + 1,
        cause.at - line_start + 1,
        cause.too_much or f"expected {cause.expected}, found {found}",
        hint_at(rest) or ("remove this comma" if cause.too_much and rest.startswith(",") else None),
    )


_DOTS = re.compile(r"\.\.\.|…")
_PLACEHOLDER = re.compile(r"<[A-Za-z]+(?:[ _-][A-Za-z]+)*>")
_OTHER_WORD = re.compile(r"(True|False|None|undefined|NaN)\b")
_OTHER_WORDS = {"True": "true", "False": "false"}
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
