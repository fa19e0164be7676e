"""JSON into messages, as the master itself reads them (Mesos documentation, "HTTP Endpoints").

`message_tables` describes the messages; `read` turns a JSON value into a plain dictionary that holds only what was set.
The rules are the master's: unknown keys are ignored, null means absent, numbers and booleans may be quoted, an unknown
name of an optional enumeration counts as absent, and every required field must be present.  A field that is absent
stays absent, even if it has a default; so does a list of protobuf without elements.  What protobuf says beyond the
tables is kept.  Older releases have fewer of these rules: a message is read as its own release reads it.
"""

import base64
import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from mesosctl.mesos.messages.protobuf_json.decoding import ConversionError, decode
from mesosctl.mesos.messages.protobuf_json.defaults import replaced
from mesosctl.mesos.messages.protobuf_json.message_tables import Enumeration, Field, Message, Scalar
from mesosctl.mesos.messages.protobuf_json.releases import has

_BASE64 = re.compile(r"[A-Za-z0-9+/]*")
_QUOTED_NUMBER = re.compile(r"\s*([-0-9][-+0-9.eE]*)(?:[^-+0-9.eE\s]\s*)?\Z")
_INTEGER_BITS = {"uint64": 64, "int64": 64, "int32": 32, "uint32": 32}
NOT_FINITE = {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}
"""How a master writes the doubles that JSON has no number for, by Python's names for them."""
INFINITE = {"Infinity": math.inf, "-Infinity": -math.inf}
"""Those of them that a master reads, too."""
# The names of JSON values in sentences.
_JSON_NAMES = {str: "string", bool: "boolean", int: "number", float: "number", list: "array", dict: "object"}


UNKNOWN_NAMES_ARE_ABSENT, QUOTED_NUMBERS, QUOTED_INFINITY = "1.5.3", "1.6.2", "1.10.0"
"""The first releases that take an unknown name of an optional enumeration, numbers and booleans in quotes, and infinity
in quotes.  Seen on a master of each release."""


class _Reading(NamedTuple):
    """The way in which one message is read, and what it misses."""

    names_may_be_unknown: bool
    numbers_may_be_quoted: bool
    numbers_may_be_infinite: bool
    missing: list[str]
    """The paths of required fields that are not there."""

    @classmethod
    def of(cls, release: str | None) -> "_Reading":
        """The way of a release."""
        return cls(
            has(release, UNKNOWN_NAMES_ARE_ABSENT), has(release, QUOTED_NUMBERS), has(release, QUOTED_INFINITY), []
        )


def read(message: Message, value: Any, path: str = "") -> dict[str, Any]:
    """Return the fields that `value`, decoded JSON, sets; nested messages are dictionaries too.

    Raises ConversionError; all missing required fields are named in one error, after every
    other mistake, as the master does.
    """
    if not isinstance(value, dict):
        raise ConversionError(f"Expecting a JSON object for {message.title}, not a {_json_name(value)}", path)
    reading = _Reading.of(message.release)
    result = _read_message(message, value, path, reading)
    if reading.missing:
        raise ConversionError("Missing required fields: " + ", ".join(reading.missing), reading.missing[0])
    return result


def written(value: Any) -> Any:
    """A JSON value with infinity as a master writes it: "Infinity", in quotes; NaN, which is not JSON, stays."""
    if isinstance(value, float):
        return NOT_FINITE[repr(value)] if math.isinf(value) else value
    if isinstance(value, Mapping):
        return {name: written(part) for name, part in value.items()}
    return list(map(written, value)) if isinstance(value, list | tuple) else value


def _read_message(message: Message, value: dict[str, Any], path: str, reading: _Reading) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, part in value.items():
        spec = message.fields.get(key)
        if spec is None or part is None:
            continue
        _read_field(result, key, spec, part, f"{path}.{key}" if path else key, reading)
    reading.missing.extend(f"{path}.{key}" if path else key for key in message.required if key not in result)
    return replaced(value, result)


def _read_field(result: dict[str, Any], key: str, spec: Field, part: Any, path: str, reading: _Reading) -> None:
    if spec.label == "map":
        entries: dict[str, Any] = result.get(key, {})
        _add_entries(entries, spec, part, path, reading)
        if entries:  # a map or a list without elements is as good as absent
            result[key] = entries
    elif spec.label == "repeated":
        items: list[Any] = result.get(key, [])
        _append(items, spec, part, path, reading)
        if items or not spec.number:  # in protobuf there is no list without elements; in our own files there is
            result[key] = items
    else:
        read_value = _read_value(spec.type, part, path, reading, required=spec.label == "required")
        if read_value is not None:
            result[key] = read_value


def _add_entries(entries: dict[str, Any], spec: Field, part: Any, path: str, reading: _Reading) -> None:
    """Add the entries of a map: a repeated field, so it too may be a list of objects, or lists in lists.

    An entry may leave its value out, which null does: it is a message without fields then, or an empty text.
    """
    if isinstance(part, list):
        for element in part:
            if element is not None:
                _add_entries(entries, spec, element, path, reading)
        return
    if not isinstance(part, dict):
        raise _unexpected(part, path)
    for index, (name, item) in enumerate(part.items()):
        value = ({} if isinstance(spec.type, Message) else "") if item is None else item
        entries[name] = _read_value(spec.type, value, f"{path}[{index}].value", reading)


def _append(items: list[Any], spec: Field, part: Any, path: str, reading: _Reading) -> None:
    """Add to a repeated field: a list, a lone element, or lists in lists; null elements are skipped."""
    if part is None:
        return
    if isinstance(part, list):
        for element in part:
            _append(items, spec, element, path, reading)
        return
    item = _read_value(spec.type, part, f"{path}[{len(items)}]", reading)
    if item is not None:
        items.append(item)


def _read_value(
    kind: "Scalar | Enumeration | Message", value: Any, path: str, reading: _Reading, *, required: bool = False
) -> Any:
    if isinstance(kind, Message) or kind == "object":
        if not isinstance(value, dict):
            raise _unexpected(value, path)
        return _read_message(kind, value, path, reading) if isinstance(kind, Message) else value
    if kind == "any":
        return value
    if isinstance(kind, Enumeration):
        return _read_name(kind, value, path, is_needed=required or not reading.names_may_be_unknown)
    if kind == "string":
        if not isinstance(value, str):
            raise _unexpected(value, path)
        return value
    if kind == "bytes":
        return _read_bytes(value, path)
    if kind == "bool":
        return _read_bool(value, path, reading)
    return _read_number(kind, value, path, reading)


def _read_name(kind: Enumeration, value: Any, path: str, *, is_needed: bool) -> str | None:
    """Return a name of the enumeration; None for any other name if none is needed."""
    if not isinstance(value, str):
        raise _unexpected(value, path)
    if value in kind.values:
        return value
    if is_needed:
        raise ConversionError(f"Failed to find enum for '{value}'", path)
    return None


def _read_bytes(value: Any, path: str) -> str:
    """Return base64 in its usual spelling; a master needs no padding, ignores all that follows it, and skips spaces."""
    if not isinstance(value, str):
        raise _unexpected(value, path)
    digits = "".join(value.partition("=")[0].split())
    if not _BASE64.fullmatch(digits):
        raise ConversionError(f"'{path}' is not base64", path)
    whole = digits if len(digits) % 4 != 1 else digits[:-1]
    return base64.b64encode(base64.b64decode(whole + "=" * (-len(whole) % 4))).decode()


def _read_bool(value: Any, path: str, reading: _Reading) -> bool:
    if isinstance(value, bool):
        return value
    if reading.numbers_may_be_quoted and value in ("true", "false"):
        return bool(value == "true")
    raise _unexpected(value, path)


def _read_number(kind: Scalar, value: Any, path: str, reading: _Reading) -> float | int:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise _unexpected(value, path)
    is_double = kind in ("double", "float")
    if isinstance(value, str):
        if not reading.numbers_may_be_quoted:
            raise _unexpected(value, path)
        is_infinite = reading.numbers_may_be_infinite and is_double and value in INFINITE
        value = INFINITE[value] if is_infinite else _quoted_number(value, path)
    if is_double:
        return float(value)
    return wrapped(kind, value)


def wrapped(kind: Scalar, value: float) -> int:
    """Return a number truncated to an integer and wrapped into the type's range, as the master's processor does.

    Of a double that is no number, it makes what it makes of one that is too large.
    """
    bits: int = _INTEGER_BITS[kind]
    number: int = (_cut(kind, bits, value) if isinstance(value, float) else int(value)) % 2**bits
    return number - 2**bits if kind.startswith("int") and number >= 2 ** (bits - 1) else number


def as_unsigned(number: float) -> int:
    """Return what a master reads of a finite number of JSON where it wants an unsigned one of 64 bits."""
    # Like its decoder, which keeps an integer beyond 64 bits as a double.
    return wrapped("uint64", number if -(2**63) <= number < 2**63 else float(number))


def _cut(kind: Scalar, bits: int, value: float) -> int:
    """Return a double as a whole number; one that is too large becomes the lowest of the type, or 0 if unsigned."""
    number = 2**64 if math.isnan(value) else int(value)
    if kind == "uint64" and number >= 2**63:
        return number if number < 2**64 else 0
    width = bits if kind == "int32" else 64
    return number if -(2 ** (width - 1)) <= number < 2 ** (width - 1) else -(2 ** (width - 1))


def _quoted_number(text: str, path: str) -> float | int:
    """A number in quotes must be what JSON itself calls a number, with nothing after it but one stray character.

    The master's parser swallows the character after a number, so "1.5f" is 1.5, but it refuses a space.
    """
    digits = _QUOTED_NUMBER.match(text)
    try:
        number = decode(digits[1]) if digits else None
    except ConversionError:
        number = None
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise ConversionError(f"Failed to parse '{text}' as a JSON number", path)
    return number


def _unexpected(value: Any, path: str) -> ConversionError:
    name = path.rpartition(".")[2].partition("[")[0]
    return ConversionError(f"Not expecting a JSON {_json_name(value)} for field '{name}'", path)


def _json_name(value: Any) -> str:
    return "null" if value is None else _JSON_NAMES.get(type(value), "value")
