"""JSON as a master writes it, without blanks.

Texts that repeat are written once: `Fragment` is finished JSON inside an object, and `ResourceTexts` has the texts of
resources.
"""

import json
import re
import zlib
from collections.abc import Callable, Mapping
from functools import lru_cache
from json.encoder import encode_basestring
from math import isfinite
from typing import Any

from mesosctl.mesos.amounts.identity import IdentityCache
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.messages.protobuf_json.defaults import as_shown
from mesosctl.mesos.messages.protobuf_json.messages import NOT_FINITE
from mesosctl.mesos.messages.resources import RESOURCE, Format, list_to_json, summary

# Created once: `json.dumps` creates an encoder for every call, and there are thousands in one answer.
_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode
_key = lru_cache(1024)(encode_basestring)


_NOT_FINITE = {name: text if name == "nan" else f'"{text}"' for name, text in NOT_FINITE.items()}
"""As a master writes them: infinity in quotes, which it reads again, and NaN without them, which it does not."""


class Fragment:
    """Finished JSON inside an object that is being written."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


class CompressedText:
    """JSON that is kept compressed; `len` is the length of the text, and `bytes` the text itself."""

    __slots__ = ("_compressed", "_size")

    def __init__(self, text: bytes) -> None:
        self._compressed = zlib.compress(text, zlib.Z_BEST_SPEED)
        self._size = len(text)

    def __len__(self) -> int:
        return self._size

    def __bytes__(self) -> bytes:
        return zlib.decompress(self._compressed)


Piece = bytes | CompressedText


class JsonPieces(tuple[Piece, ...]):
    """Finished JSON in pieces, which are joined while they are sent: together they may be many megabytes."""

    __slots__ = ()

    def __bytes__(self) -> bytes:
        return b"".join(map(bytes, self))


class AnswerPart:
    """A part of an answer: its JSON, which may have been made before, and its values, which are made for protobuf."""

    __slots__ = ("json", "values")

    def __init__(self, json: Callable[[], JsonPieces], values: Callable[[], Any]) -> None:
        self.json = json
        self.values = values


def values_of(part: Any) -> Any:
    """A part of an answer as values; objects may hold `AnswerPart`."""
    if isinstance(part, AnswerPart):
        return part.values()
    if isinstance(part, JsonPieces):
        return json.loads(bytes(part).decode(errors="surrogateescape"))
    if type(part) is dict:
        return {name: values_of(value) for name, value in part.items()}
    return part


def text_of(value: Any) -> str:
    """Return a value as JSON; objects and lists may hold `Fragment`s."""
    kind = type(value)
    if kind is str:
        return encode_basestring(value)
    if kind is Fragment:
        return value.text  # type: ignore[no-any-return]
    if kind is dict:
        return "{" + ",".join([f"{_key(name)}:{text_of(part)}" for name, part in value.items()]) + "}"
    if kind is list:
        return "[" + ",".join(map(text_of, value)) + "]"
    if kind is int or kind is float:
        return repr(value) if isfinite(value) else _NOT_FINITE[repr(value)]
    if kind is bool:
        return "true" if value else "false"
    return _encode(value)


def dumps(value: Any) -> bytes:
    """Return a value as JSON in bytes."""
    return to_bytes(text_of(value))


def to_bytes(text: str) -> bytes:
    """Return JSON in bytes; bytes that came in without being UTF-8 go out as they were."""
    return text.encode(errors="surrogateescape")


_INFINITE = rb'("(?:weight|[a-z_]+_(?:seconds|timeout))":)"(-?)Infinity"'
"""The doubles that a master shows, if somebody sent one that is infinite."""
_STRING_OR_NUMBER = re.compile(
    _INFINITE + rb'|"(?:[^"\\]|\\.)*"|NaN|-?[0-9]+(?:\.[0-9]+(?:e[-+]?[0-9]+)?|e[-+]?[0-9]+)', re.DOTALL
)
_SHORT_DIGITS = 15


def with_short_numbers(text: bytes) -> bytes:
    """Return JSON whose numbers are written as Mesos 1.4 writes them: `Profile.json_numbers_are_short`.

    Those that JSON lacks are `inf`, `-inf` and `nan`.
    """
    return _STRING_OR_NUMBER.sub(_shortened, text)


def _shortened(match: re.Match[bytes]) -> bytes:
    if match[1] is not None:
        return b"%sinf" % b"".join(match.groups())
    if match[0] == b"NaN":
        return b"nan"
    if match[0].startswith(b'"'):
        return match[0]
    text = f"{float(match[0]):.{_SHORT_DIGITS}g}"
    if "." not in text and "e" not in text:
        return f"{text}.0".encode()
    text = text.rstrip("0")
    return (f"{text}0" if text.endswith(".") else text).encode()


def json_object(fields: Mapping[str, Any]) -> JsonPieces:
    """Return a JSON object; a field may be `JsonPieces`, `AnswerPart`, an object of these or any value."""
    found: list[Piece] = []
    for name, part in fields.items():
        found += b"," if found else b"{", dumps(name), b":", *json_pieces(part)
    return JsonPieces((*found, b"}") if found else (b"{}",))


def json_pieces(value: Any) -> JsonPieces:
    """Return the JSON of a value, which may be `JsonPieces` already, or hold `AnswerPart`."""
    if isinstance(value, AnswerPart):
        return value.json()
    if type(value) is dict and any(isinstance(part, AnswerPart | JsonPieces | dict) for part in value.values()):
        return json_object(value)
    return value if isinstance(value, JsonPieces) else JsonPieces((dumps(value),))


_NOTHING = Resources()
"""Instead of any empty collection."""


class ResourceTexts:
    """The texts of collections of resources in one answer, written once for each object."""

    def __init__(self) -> None:
        self._texts = IdentityCache(lambda resources, view: Fragment(_encode(view(resources))), most=None).of

    def of(self, resources: Resources, view: Callable[[Resources], Any]) -> Fragment:
        """Return the text of what `view`, always the same object, says of the resources."""
        return self._texts(resources or _NOTHING, view)

    def listed(self, resources: Resources, style: Format) -> Fragment:
        """Return the text of every entry, in a format."""
        return self.of(resources, _LISTINGS[style])

    def summed(self, resources: Resources) -> Fragment:
        """Return the text of the summary that the information endpoints show."""
        return self.of(resources, summary)


def listed_in_json(resources: Resources, style: Format) -> list[dict[str, Any]]:
    """Return every entry as JSON shows it: with its defaults, which only the image of a volume has."""
    entries = list_to_json(resources, style)
    if any(entry.disk is not None and entry.disk.more for entry in resources):
        return [as_shown(RESOURCE, entry) for entry in entries]
    return entries


_LISTINGS: dict[Format, Callable[[Resources], Any]] = {
    "PRE": lambda resources: listed_in_json(resources, "PRE"),
    "POST": lambda resources: listed_in_json(resources, "POST"),
    "ENDPOINT": lambda resources: listed_in_json(resources, "ENDPOINT"),
}
