"""Lists of resources that repeat thousands of times in one answer, each read once."""

from collections.abc import Mapping
from typing import Any

from mesosctl.core.errors import RuleViolation
from mesosctl.core.resources import Resources
from mesosctl.core.roles import DEFAULT_ROLE
from mesosctl.wire.decoding import ConversionError
from mesosctl.wire.messages import read
from mesosctl.wire.resources import RESOURCE, to_core


class ResourceLists:
    """Reads lists of Resource messages, by allocation role; equal lists become one value."""

    def __init__(self) -> None:
        self._known: dict[str, Mapping[str, Resources]] = {}
        self._plain: dict[str, Resources] = {}

    def plain(self, messages: Any, where: str) -> Resources:
        """Without allocation roles.  Raises RuleViolation naming the place below `where`."""
        key = repr(messages)
        if key not in self._plain:
            parts = self.by_role(messages, where).values()
            self._plain[key] = Resources(entry for part in parts for entry in part)
        return self._plain[key]

    def by_role(self, messages: Any, where: str) -> Mapping[str, Resources]:
        """By allocation role, without it; "*" for what has none.  Raises RuleViolation as `plain` does."""
        key = repr(messages)
        if key not in self._known:
            self._known[key] = _read(messages, where)
        return self._known[key]


def _read(messages: Any, where: str) -> Mapping[str, Resources]:
    if not isinstance(messages, list | tuple):
        raise RuleViolation("a list of resources belongs here", field=where, rule="resource.valid")
    found: dict[str, Resources] = {}
    for index, message in enumerate(messages):
        path = f"{where}[{index}]"
        try:
            entry = to_core(read(RESOURCE, message, path), path)
        except ConversionError as error:
            raise RuleViolation(str(error), field=error.path or path, rule="resource.valid") from None
        role = entry.allocation_role or DEFAULT_ROLE
        found[role] = found.get(role, Resources()) + Resources([entry]).allocated_to(None)
    return found


class Sums:
    """Sums and differences of values that repeat, each worked out once."""

    def __init__(self) -> None:
        # The operands are kept beside their result, so that their identities stay their own.
        self._sums: dict[tuple[int, int], tuple[Resources, Resources, Resources]] = {}
        self._differences: dict[tuple[int, int], tuple[Resources, Resources, Resources]] = {}

    def add(self, left: Resources, right: Resources) -> Resources:
        """`left + right`."""
        key = (id(left), id(right))
        if key not in self._sums:
            self._sums[key] = (left, right, left + right)
        return self._sums[key][2]

    def subtract(self, left: Resources, right: Resources) -> Resources:
        """`left - right`."""
        key = (id(left), id(right))
        if key not in self._differences:
            self._differences[key] = (left, right, left - right)
        return self._differences[key][2]
