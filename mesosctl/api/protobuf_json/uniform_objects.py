"""Texts of JSON objects that have one form: the same members in the same order, and other values.

A cluster has hundreds of thousands of tasks, and few forms of them.  The first object of a form is decoded, and shows
it; of those after it, only what is wanted is cut out of the text.  What has no known form, or is written with blanks
or escapes, is left to the reader of JSON.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from mesosctl.api.protobuf_json.decoding import DECODER, ConversionError

_MOST_FORMS = 24
"""Of one list: to look through more would cost more than it saves."""
_MOST_LOOKS = 200
"""Objects that are looked at for a new form."""
_LONGEST = 1 << 14
"""Characters of an object with a form."""


def _nested(opening: str, closing: str) -> str:
    """A pair of brackets with everything in it, other pairs included; that it is JSON is not said."""
    others = rf"[^{opening}{closing}]*+"
    found = rf"{opening}{others}{closing}"
    for _ in range(3):
        found = rf"{opening}{others}(?:{found}{others})*+{closing}"
    return found


_TEXT = r'[^"\\\x00-\x1f]*+'
_BOOL = "true|false"
_NUMBER = r"-?(?:0|[1-9][0-9]{0,30})(?:\.[0-9]{1,30})?"  # which is finite, however it is read
_VALUES = {list: _nested(r"\[", r"\]"), dict: _nested(r"\{", r"\}"), bool: _BOOL}


class Forms:
    """The forms of the objects in one list."""

    def __init__(self, wanted: Mapping[str, type]) -> None:
        """`wanted`: the members that are cut out, as `agent_id.value`, and what each is: str, bool, list or dict."""
        self._wanted = {tuple(name.split(".")): (f"w{n}", kind) for n, (name, kind) in enumerate(wanted.items())}
        self._groups = [group for group, _ in self._wanted.values()]
        self._patterns: list[re.Pattern[str]] = []
        self._looks = 0

    def match(self, text: str, at: int) -> tuple[tuple[str | None, ...], int] | None:
        """Return the wanted members of the object that begins there, and its end; None if its form is new.

        A member that it lacks is None, a string is without its quotes, and a list or an object is its text: whether
        that is JSON is for its reader to see.
        """
        for index, pattern in enumerate(self._patterns):
            found = pattern.match(text, at)
            if found is not None and text.find("\\", at, found.end()) < 0:
                if index:  # the next object is most likely like this one
                    self._patterns.insert(0, self._patterns.pop(index))
                return found.group(*self._groups), found.end()
        if self._looks < _MOST_LOOKS and len(self._patterns) < _MOST_FORMS:
            self._learn(text, at)
        return None

    def _learn(self, text: str, at: int) -> None:
        """Look at an object for its form, which the next one may have."""
        try:
            value, end = DECODER.raw_decode(text, at)
            if end - at > _LONGEST:
                return
            expression = self._expression(value, ())
        except (ValueError, ConversionError, RecursionError):  # its reader tells what is wrong, or reads on
            return
        self._looks += 1
        missing = (f"(?P<{group}>(?!))?" for group in self._groups if f"<{group}>" not in expression)
        pattern = re.compile(expression + "".join(missing))
        if pattern.fullmatch(text, at, end):
            self._patterns.insert(0, pattern)

    def _expression(self, value: Any, path: tuple[str, ...]) -> str:
        """Return an expression for every value of this form.  Raises ValueError if it has none."""
        if path in self._wanted:
            group, kind = self._wanted[path]
            if type(value) is not kind:
                raise ValueError(value)
            return f'"(?P<{group}>{_TEXT})"' if kind is str else f"(?P<{group}>{_VALUES[kind]})"
        if isinstance(value, dict):
            members = (
                f"{re.escape(json.dumps(key, ensure_ascii=False))}:{self._expression(part, (*path, key))}"
                for key, part in value.items()
            )
            return rf"\{{{','.join(members)}\}}"
        if isinstance(value, list):
            return rf"\[{','.join([self._expression(part, (*path, '')) for part in value])}\]"
        if isinstance(value, str):
            return f'"{_TEXT}"'
        if value is None:
            return "null"
        return f"(?:{_BOOL})" if isinstance(value, bool) else _NUMBER
