"""Equal values that are read again and again become one value."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Generic, TypeVar

from mesosctl.api.protobuf.decoding import STRICT, ConversionError
from mesosctl.api.protobuf.messages import read
from mesosctl.api.resources import RESOURCE, to_core
from mesosctl.model.errors import RuleViolation
from mesosctl.model.resource import Resource
from mesosctl.model.resources import Resources
from mesosctl.model.roles import DEFAULT_ROLE

MOST_KNOWN = 4096
"""The most values that are kept: where more come hardly any repeat, and keeping them would cost more than it saves."""


Key = TypeVar("Key")


Value = TypeVar("Value")


class Known(Generic[Key, Value]):
    """A cache of the last few thousand values by key, so that equal keys share one value."""

    def __init__(self) -> None:
        self._values: dict[Key, Value] = {}

    def get(self, key: Key, make: Callable[[], Value]) -> Value:
        """The value of `key`, made if it is not remembered."""
        found = self._values.get(key)
        if found is None:
            found = make()
            if len(self._values) >= MOST_KNOWN:
                self._values.clear()
            self._values[key] = found
        return found


def resource_at(message: Any, path: str) -> Resource:
    """The Resource message that stands at `path`.  Raises ConversionError and RuleViolation."""
    return to_core(read(RESOURCE, message, path), path)


class Entries:
    """Reads Resource messages; equal ones become one value."""

    def __init__(self) -> None:
        self._known: Known[str, Resource] = Known()

    def read(self, message: Any, path: str) -> Resource:
        """Return the Resource at `path`; see `resource_at`."""
        return self._known.get(repr(message), lambda: resource_at(message, path))


# Of a list of Resource messages as json.dumps writes it: what stands before the name of the first, between the last
# member of one and the name of the next, and after the last.
_BEGIN, _BETWEEN, _END = '[{"name": "', '}, {"name": "', "}]"


class ResourceLists:
    """Reads lists of Resource messages, by allocation role; equal lists become one value."""

    def __init__(self) -> None:
        self._entries: Known[str, tuple[str, Resource]] = Known()
        self._by_role: Known[str, Mapping[str, Resources]] = Known()
        self._plain: Known[str, Resources] = Known()
        self._texts: Known[str, Resource] = Known()
        self._plain_texts: Known[str, Resources | None] = Known()

    def plain(self, messages: Any, where: str) -> Resources:
        """Return a list without allocation roles.  Raises RuleViolation naming the place below `where`."""

        def together() -> Resources:
            return Resources(entry for part in self._read(messages, where).values() for entry in part)

        return self._plain.get(repr(messages), together)

    def plain_of_text(self, text: str) -> Resources | None:
        """As `plain`, of a list in the text that json.dumps makes of it; None for any other, and for one that is wrong.

        What was seen before is found without being decoded.
        """
        return self._plain_texts.get(text, lambda: self._of_text(text))

    def _of_text(self, text: str) -> Resources | None:
        if text == "[]":
            return Resources()
        if "\\" in text or not text.startswith(_BEGIN) or not text.endswith(_END):
            return None
        # Where each piece is an entry by itself, the whole is the list of them.
        pieces = text[len(_BEGIN) : -len(_END)].split(_BETWEEN)
        try:
            return Resources(self._texts.get(piece, partial(_entry_of_text, piece)) for piece in pieces)
        except (ValueError, RuleViolation, RecursionError):
            return None

    def by_role(self, messages: Any, where: str) -> Mapping[str, Resources]:
        """Return a list by allocation role, without that; "*" for none.  Raises RuleViolation as `plain` does."""
        return self._by_role.get(repr(messages), lambda: self._read(messages, where))

    def _read(self, messages: Any, where: str) -> Mapping[str, Resources]:
        if not isinstance(messages, list | tuple):
            raise RuleViolation("a list of resources belongs here", field=where, rule="resource.valid")
        found: dict[str, list[Resource]] = {}
        for index, message in enumerate(messages):
            path = f"{where}[{index}]"
            try:
                role, entry = self._entries.get(repr(message), partial(_by_role, message, path))
            except ConversionError as error:
                raise RuleViolation(str(error), field=error.path or path, rule="resource.valid") from None
            found.setdefault(role, []).append(entry)
        return {role: Resources(entries) for role, entries in found.items()}


def _entry_of_text(piece: str) -> Resource:
    """Return the resource in the text of a message, without its beginning and end.

    Raises ValueError if it is not one message, or has an allocation role, and RuleViolation.
    """
    role, entry = _by_role(STRICT.decode(f'{{"name": "{piece}}}'), "")
    if role != DEFAULT_ROLE:
        raise ValueError(piece)
    return entry


def _by_role(message: Any, path: str) -> tuple[str, Resource]:
    """The allocation role of a resource, "*" for none, and the resource without it."""
    entry = resource_at(message, path)
    role = entry.allocation_role
    return (DEFAULT_ROLE, entry) if role is None else (role, replace(entry, allocation_role=None))


class Sums:
    """Sums and differences of values that repeat, each worked out once."""

    def __init__(self) -> None:
        # The operands are kept beside their result, so that their identities stay their own.
        self._sums: Known[tuple[int, int], tuple[Resources, Resources, Resources]] = Known()
        self._differences: Known[tuple[int, int], tuple[Resources, Resources, Resources]] = Known()

    def add(self, left: Resources, right: Resources) -> Resources:
        """`left + right`."""
        return self._sums.get((id(left), id(right)), lambda: (left, right, left + right))[2]

    def subtract(self, left: Resources, right: Resources) -> Resources:
        """`left - right`."""
        return self._differences.get((id(left), id(right)), lambda: (left, right, left - right))[2]
