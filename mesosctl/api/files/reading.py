"""JSON and TOML that a person wrote, read strictly: nothing is guessed, and nothing is ignored.

What a master reads and answers follows protobuf's leniency (`api.protobuf_json.decoding`).  A file is read by this
module instead: a duplicate key, a number that is not finite, a placeholder (`<operator_principal>`, `...`) and text
after the end are refused with their place.
"""

import json
import math
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from mesosctl.api.files.json_faults import explain, hint_at, is_placeholder, placeholder_hint
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


def load(text: str) -> Any:
    """The value of a JSON text, in which `faults` finds what is unusable.  Raises ValueError and RecursionError."""
    return json.loads(text, object_pairs_hook=_object, parse_int=_integer)


def refused(where: str, path: Path, sentence: str, hint: str | None = None) -> BadInput:
    """The error for a value at a place in a file."""
    named = place(path)
    return BadInput(
        f"{where}: {named or 'the top level'}: {sentence}", field=named or None, rule="file.fields", hint=hint
    )


class Fault(NamedTuple):
    """A fault of a file: its place in the document or the text, a sentence, and what to do."""

    path: str
    sentence: str
    hint: str | None = None


def refused_for_all(found: Sequence[Fault], rule: str, head: str = "") -> BadInput:
    """The error that names every one of these faults; its field is the place of the first.

    A single hint is the error's; if there are several, each stands at its fault.
    """
    hints = {fault.hint for fault in found if fault.hint}
    told = [f"{one.sentence} ({one.hint})" if one.hint and len(hints) > 1 else one.sentence for one in found]
    return BadInput(
        head + "; ".join(told), field=found[0].path or None, rule=rule, hint=hints.pop() if len(hints) == 1 else None
    )


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


LONGEST = 64 * 1024 * 1024
"""Characters: a file of 100,000 agents is shorter."""
_DEEPEST = 64
# Parts of a dotted key; reading more would take too long.
_LONG_KEY = re.compile(r"""(?:(?:(?<![A-Za-z0-9_-])[A-Za-z0-9_-]++|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){1000}""")


def read_toml(text: str, where: str) -> dict[str, Any]:
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
    if text.startswith("{") and '"taken_at"' in text[:_SNAPSHOT_HEAD]:
        hint = "it is a snapshot: give it with --from; mesosctl export --from SNAPSHOT -f FILE makes a file to apply"
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
