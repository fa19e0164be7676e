"""JSON and TOML that a person wrote, read strictly: nothing is guessed, and nothing is ignored.

What a master reads and answers follows protobuf's leniency (`mesos.messages.protobuf_json.decoding`).  A file is read
by this module instead: a duplicate key, a number that is not finite, a placeholder (`<operator_principal>`, `...`) and
text after the end are refused with their place.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from mesosctl.mesos.amounts.notation import and_more
from mesosctl.mesos.errors import Advice, BadInput
from mesosctl.mesos.messages.protobuf_json.decoding import may_hold_more
from mesosctl.mesos.messages.strict.json_faults import explain, hint_at, is_placeholder, placeholder_hint

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


MOST_VALUES = 250_000
"""The most values in a JSON text of a person: each takes its own memory, and several times that if it is wrong."""
MOST_OF_PROGRAMS = 4_000_000
"""The same of a text that a program wrote."""
_MOST_TOLD = 100
"""The most faults of one file that are told."""
_MOST_OF_TOML = 4_000_000
"""The same of a TOML text; a cluster file of 100,000 agents has some million."""


def read_json(text: str, where: str, most: int = MOST_VALUES) -> Any:
    """The one JSON value in the text of a file.

    Raises BadInput: with line and column for what is not JSON, with the path for a duplicate key, a number that is not
    finite and text that is not Unicode, and for more than `most` values.
    """
    if may_hold_more(text, most):
        raise too_many_values(where, most)
    try:
        value = load(text)
        fault = next(faults(value), None)
    except json.JSONDecodeError as error:
        broken = explain(text, error)
        raise BadInput(
            f"{where} is not JSON: {broken}",
            field=broken.field,
            rule="file.json",
            hint=_NO_MARK if text.startswith("\N{ZERO WIDTH NO-BREAK SPACE}") else broken.hint,
        ) from None
    except RecursionError:
        raise BadInput(f"{where} is nested too deeply", rule="file.json") from None
    if fault is not None:
        raise refused(where, *fault)
    return value


def too_many_values(where: str, most: int = MOST_VALUES) -> BadInput:
    """The error for a file whose values would take too much memory."""
    return BadInput(f"{where} holds more than {most:,} values", rule="file.json")


def load(text: str) -> Any:
    """The value of a JSON text, in which `faults` finds what is unusable.  Raises ValueError and RecursionError."""
    return json.loads(text, object_pairs_hook=_object, parse_int=_integer)


def refused(
    where: str, path: Path, sentence: str, hint: str | None = None, values: Mapping[str, Any] | None = None
) -> BadInput:
    """The error for a value at a place in a file; `values` are for the hint of a program."""
    named = place(path)
    told = f"{named or 'the top level'}: {sentence}"
    error = BadInput(f"{where}: {told}", field=named or None, rule="file.fields", hint=hint, values=values)
    error.in_file = where, told
    return error


class Fault(NamedTuple):
    """A fault of a file: its place in the document or the text, a sentence, and what to do."""

    path: str
    sentence: str
    hint: str | None = None
    advice: Advice | None = None
    """That of the error, for the hint of a program; told only if this is the only fault."""


def refused_for_all(found: Sequence[Fault], rule: str, head: str = "") -> BadInput:
    """The error that names every one of these faults, and of very many the first; its field is the place of the first.

    A single hint is the error's; if there are several, each stands at its fault.
    """
    hints = {fault.hint for fault in found if fault.hint}
    shown = found[:_MOST_TOLD]
    told = [f"{fault.sentence} ({fault.hint})" if fault.hint and len(hints) > 1 else fault.sentence for fault in shown]
    if len(found) > len(shown):
        told.append(and_more(len(found) - len(shown)))
    error = BadInput(
        head + "; ".join(told), field=found[0].path or None, rule=rule, hint=hints.pop() if len(hints) == 1 else None
    )
    error.advice = found[0].advice if len(found) == 1 else None
    return error


def place(path: Path) -> str:
    """A path as text: `guarantee[0].scalar.value`."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    return found if len(found) == len(pairs) else _Repeating(pairs)


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= _MOST_DIGITS else float(digits)


def faults(value: Any, path: Path = ()) -> Iterator[tuple[Path, str, str | None]]:
    """The places that make a value unusable, from the outside to the inside: each with a sentence and a hint."""
    if isinstance(value, dict):
        if isinstance(value, _Repeating):
            yield (*path, value.key), f"the key '{value.key}' appears twice in one object", None
        for key, part in value.items():
            yield from _text_faults(key, path)
            yield from faults(part, (*path, key))
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from faults(part, (*path, index))
    elif isinstance(value, str):
        yield from _text_faults(value, path)
    elif isinstance(value, float) and not math.isfinite(value):
        yield path, "it should be a finite number", None


def _text_faults(text: str, path: Path) -> Iterator[tuple[Path, str, str | None]]:
    if any("\ud800" <= character <= "\udfff" for character in text):
        yield path, "the text contains half of a surrogate pair", None
    if is_placeholder(text):
        yield path, f"'{text}' is not a value", placeholder_hint(text)


_DEEPEST = 64
# Parts of a dotted key; reading more would take too long.
_LONG_KEY = re.compile(r"""(?:(?:(?<![A-Za-z0-9_-])[A-Za-z0-9_-]++|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){1000}""")


def read_toml(text: str, where: str) -> dict[str, Any]:
    """The table in a text.  Raises BadInput naming `where`, and the line for what is not TOML."""
    if may_hold_more(text, _MOST_OF_TOML, "=,[{"):
        raise BadInput(f"{where} holds more than {_MOST_OF_TOML:,} values")
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


def is_like_snapshot(text: str) -> bool:
    """Whether a text that is not TOML begins like a snapshot."""
    return text.startswith("{") and '"taken_at"' in text[:_SNAPSHOT_HEAD]


_TOML_PLACE = re.compile(r"line (\d+)(?:, column (\d+))?")


def _no_toml(text: str, where: str, error: ValueError) -> BadInput:
    """The error for a text that is not TOML, which always names a line."""
    line = max(1, len(text.rstrip().splitlines()))
    reason = str(error).replace("at end of document", f"at the end, line {line}")
    if text.startswith("\N{ZERO WIDTH NO-BREAK SPACE}"):
        return BadInput(
            f"{where} is not TOML: it starts with a byte order mark (line 1)", field="line 1", hint=_NO_MARK
        )
    hint = "name each key and each table once" if reason.startswith(("Cannot overwrite", "Cannot declare")) else None
    if is_like_snapshot(text):
        hint = "it is a snapshot"
    place = _TOML_PLACE.search(reason)
    if hint is None and place is not None and place[2] is not None:
        lines = text.split("\n")
        hint = hint_at(lines[int(place[1]) - 1][int(place[2]) - 1 :]) if int(place[1]) <= len(lines) else None
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
