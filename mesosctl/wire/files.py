"""JSON that a person wrote, read strictly: nothing in it is guessed at, and nothing is passed over.

What a master reads and answers follows protobuf's leniency (`wire.decoding`).  A file is read by this module instead:
a key that stands twice, a number that is not finite and text after the end are refused with their place.
"""

import json
import math
from collections.abc import Iterator
from typing import Any

from mesosctl.core.errors import BadInput

Path = tuple[str | int, ...]
"""The names and indices that lead to a value."""
_MOST_DIGITS = 20
"""Of 64 bits and a sign; an integer with more digits is read as a double."""


class _Repeating(dict[str, Any]):
    """An object in which a key stands twice."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        seen: set[str] = set()
        self.key = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]


def read_json(text: str, where: str) -> Any:
    """The one JSON value in the text of a file.

    Raises BadInput: with line and column for what is not JSON, with the path for a key that stands twice, a number
    that is not finite and text that is none.
    """
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_int=_integer)
        fault = next(_faults(value, ()), None)
    except json.JSONDecodeError as error:
        from mesosctl.wire.json_faults import explain

        broken = explain(text, error)
        raise BadInput(
            f"{where} is not JSON: {broken}", field=f"line {broken.line}, column {broken.column}", rule="file.json"
        ) from None
    except RecursionError:
        raise BadInput(f"{where} is nested too deeply", rule="file.json") from None
    if fault is not None:
        path, sentence = fault
        raise refused(where, path, sentence)
    return value


def refused(where: str, path: Path, sentence: str, hint: str | None = None) -> BadInput:
    """The error for what stands at a place in a file."""
    named = place(path)
    return BadInput(f"{where}: {named or 'the top'}: {sentence}", field=named or None, rule="file.fields", hint=hint)


def place(path: Path) -> str:
    """A path in words: `guarantee[0].scalar.value`."""
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
            yield (*path, value.key), f"the key '{value.key}' stands twice in one object"
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
        yield path, "the text holds half a character"
