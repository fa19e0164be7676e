"""JSON as the master itself decodes it (Mesos documentation, "HTTP Endpoints"), before its meaning is read.

Of duplicate keys the last one counts, and an integer beyond 64 bits is a double, as for protobuf. Files that people
write are read by `mesos.messages.strict.reading`, which refuses what a person cannot have meant.
"""

import json
import math
import re
from typing import Any

_LEAST, _MOST = -(2**63), 2**63 - 1
TOO_DEEP = "The JSON is nested too deeply"
MOST_VALUES = 8_000_000
"""The most values in one text by default: each takes its own memory, however short it is.

`/slaves` of 50,000 agents has some five million.
"""
MOST_TO_RESPELL = 1 << 20
"""The longest text, in characters, whose numbers may be spelled in a way that JSON does not allow."""
_NUMERIC = re.compile(r"[-+0-9.eE]+")
# A string, complete or not, which is left alone, or a run of the characters of numbers.
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[-0-9][-+0-9.eE]*', re.ASCII | re.DOTALL)
# A pair of surrogates, which makes one character, or half of one; not if the backslash itself is escaped.
_SURROGATE = re.compile(
    r"(?<!\\)(?:\\\\)*+\\u"
    r"(?:[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<half>[dD][89a-fA-F][0-9a-fA-F]{2}))"
)


class ConversionError(ValueError):
    """The JSON does not make the message; `path` says where ("guarantee[0].type")."""

    def __init__(self, message: str, path: str) -> None:
        super().__init__(message)
        self.path = path


class NotJson(ConversionError):
    """The text is not JSON, for this reason."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"Not JSON: {reason}", "")
        self.reason = reason


class TooManyValues(ConversionError):
    """The JSON holds more values than its reader takes."""

    def __init__(self, most: int) -> None:
        super().__init__(f"The JSON holds more than {most} values", "")


def decode(body: bytes | str, *, most_values: int = MOST_VALUES) -> Any:
    """Return the one JSON value of a text.  No NaN, no infinity, no number beyond a double.

    Raises ConversionError for everything else, however deep or long it is, and TooManyValues.
    """
    # Decoded here, or json would guess at UTF-16 and skip a byte order mark.  A master takes bytes
    # that are no UTF-8 and shows them again, which surrogateescape does.
    text = body.decode(errors="surrogateescape") if isinstance(body, bytes) else body
    check_values(text, most_values)
    try:
        try:
            value = DECODER.decode(text)
        except json.JSONDecodeError as error:
            value = _decoded_in_plain_numbers(text, error)
        check_characters(text, 0, len(text))
    except RecursionError:
        raise ConversionError(TOO_DEEP, "") from None
    except json.JSONDecodeError as error:
        raise NotJson(str(error)) from None
    return value


def check_values(text: str, most: int) -> None:
    """Raise TooManyValues if a text may hold more values than allowed, before any is created."""
    if may_hold_more(text, most):
        raise TooManyValues(most)


def may_hold_more(text: str, most: int, marks: str = ",[{") -> bool:
    """Whether a text may hold more values than `most`.

    It counts the characters that separate or open values, in strings too: this is quick, and never counts too few.
    """
    return len(text) > most and sum(map(text.count, marks)) > most


def check_characters(text: str, start: int, end: int) -> None:
    """Raise ConversionError if an escape in a part of JSON is half a surrogate pair."""
    first = min((at for at in (text.find("\\ud", start, end), text.find("\\uD", start, end)) if at >= 0), default=-1)
    if first < 0:
        return
    while first > start and text[first - 1] == "\\":  # to the beginning of a run of them
        first -= 1
    for escape in _SURROGATE.finditer(text, first, end):
        if escape["half"]:
            raise NotJson(f"\\u{escape['half']} is half of a surrogate pair")


def end_of_number(text: str, at: int) -> int:
    """Return the end of the run at `at` of characters that may belong to a number; `at` if there are none."""
    found = _NUMERIC.match(text, at)
    return at if found is None else found.end()


def in_plain_numbers(text: str) -> str:
    """Return the text with its numbers spelled as in JSON: a master takes whatever strtod takes, as `1.` or `01`."""
    return _TOKEN.sub(_plain_number, text)


def place_as_typed(text: str, place: int) -> int:
    """Return the place in `text` that has become `place` with its numbers in plain spelling."""
    longer = 0
    for token in _TOKEN.finditer(text):
        if token.start() + longer >= place:
            break
        longer += len(_plain_number(token)) - len(token[0])
    return place - longer


def _decoded_in_plain_numbers(text: str, otherwise: json.JSONDecodeError) -> Any:
    """Return the value of a text whose numbers may be spelled in a way that JSON does not allow.

    Raises JSONDecodeError with a place in the original text, or `otherwise` if no number is spelled so.  Rewriting
    numbers takes forty times the text's memory, so it is done only in short texts, and only if a number is the fault.
    """
    if len(text) > MOST_TO_RESPELL or end_of_number(text, otherwise.pos) == otherwise.pos:
        raise otherwise
    plain = in_plain_numbers(text)
    if plain == text:
        raise otherwise
    try:
        return DECODER.decode(plain)
    except json.JSONDecodeError as error:
        raise json.JSONDecodeError(error.msg, text, place_as_typed(text, error.pos)) from None


def _plain_number(token: re.Match[str]) -> str:
    if token[0].startswith('"'):
        return token[0]
    try:
        number = float(token[0])
    except ValueError:
        return token[0]
    # An amount out of range is reported as such.
    return repr(number) if math.isfinite(number) else f"{'-' if number < 0 else ''}1e999"


def _no_constant(name: str) -> float:
    raise NotJson(name)


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise NotJson("a number is out of range")
    return value


def _finite_int(text: str) -> int | float:
    # A master reads a number beyond 64 bits as a double; thousands of digits would be an attack on int().
    number = int(text) if len(text) <= len(str(_LEAST)) else None
    return number if number is not None and _LEAST <= number <= _MOST else _finite(text)


DECODER = json.JSONDecoder(parse_constant=_no_constant, parse_float=_finite, parse_int=_finite_int)
"""The decoder of one value, without the checks of `decode`."""


class UndecodedText(str):
    """The text of a part of JSON that was not decoded."""

    __slots__ = ()


_JSON_TYPES = (dict, list, tuple, str, int, float, type(None))


def text_if_undecoded(part: Any) -> str | None:
    """The text of a part of JSON that was not decoded (`UndecodedText`, or `Raw` of msgspec); None for one that was."""
    if type(part) is UndecodedText:
        return part
    return None if isinstance(part, _JSON_TYPES) else str(part, "utf-8")


def repeated_key(key: str) -> ConversionError:
    """Return the error for a duplicate key in one object."""
    return ConversionError(f"the key '{key}' appears twice in one object", "")


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise repeated_key(next(key for key in found if keys.count(key) > 1))
    return found


STRICT = json.JSONDecoder(
    parse_constant=DECODER.parse_constant,
    parse_float=DECODER.parse_float,
    parse_int=DECODER.parse_int,
    object_pairs_hook=_each_once,
)
"""Like DECODER, for text in which no object may have duplicate keys: snapshots, and parts of answers that are read
alone, of which the readers of the whole would see both keys.
"""
