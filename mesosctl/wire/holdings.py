"""Agents with everything they hold: from a master's `/slaves` and an agent's own `/state` (spec/reservation.md §9)."""

from collections.abc import Iterable
from sys import intern
from typing import Any

from mesosctl.core.errors import RuleViolation, UnexpectedAnswer
from mesosctl.core.holdings import AgentHolding
from mesosctl.core.reservation_rules import ALL_CAPABILITIES
from mesosctl.core.resource import Resource
from mesosctl.core.resources import Resources
from mesosctl.wire.agents import in_turn, listed
from mesosctl.wire.answers import NATURAL, texts, undocumented, wrong
from mesosctl.wire.decoding import ConversionError
from mesosctl.wire.resource_lists import Entries, Known

_FULL = ("reserved_resources_full", "unreserved_resources_full")


def agents(chunks: Iterable[bytes]) -> list[AgentHolding]:
    """Every registered agent, with its resources in full, of an answer that comes in chunks, read as it comes.

    Raises UnexpectedAnswer; ConversionError where it is no JSON.
    """
    reader = _Reader()
    return [reader.agent(entry, where) for entry, where in in_turn(chunks)]


def agent_state(answer: Any) -> Resources:
    """What an agent itself says that it has.  Raises UnexpectedAnswer."""
    if not isinstance(answer, dict):
        raise wrong(answer, "an object", "")
    return _Reader().total(answer, "state")


class _Reader:
    """Reads agents; what is equal in thousands of them becomes one value."""

    def __init__(self) -> None:
        self._entries = Entries()
        self._resources: Known[str, Resources] = Known()
        self._sets: Known[frozenset[str], frozenset[str]] = Known()

    def agent(self, entry: Any, where: str) -> AgentHolding:
        """One element of `slaves`."""
        if not isinstance(entry, dict):
            raise wrong(entry, "an object", where)
        for key in ("id", "hostname", "pid"):
            if not isinstance(entry.get(key), str):
                raise wrong(entry.get(key), "a string", f"{where}.{key}")
        attributes = entry.get("attributes", {})
        if not isinstance(attributes, dict):
            raise wrong(attributes, "an object", f"{where}.attributes")
        used = entry.get("used_resources_full", [])
        return AgentHolding(
            id=entry["id"],
            hostname=entry["hostname"],
            pid=entry["pid"],
            total=self.total(entry, where),
            used=self._resources.get(repr(used), lambda: self._used(used, f"{where}.used_resources_full")),
            attributes={
                intern(name): intern(value) if isinstance(value, str) else value for name, value in attributes.items()
            },
            capabilities=self._capabilities(entry.get("capabilities"), f"{where}.capabilities"),
            active=entry.get("active") is not False and entry.get("deactivated") is not True,
        )

    def _capabilities(self, listed: Any, where: str) -> frozenset[str]:
        try:
            found = frozenset(texts(listed)) if isinstance(listed, list) else ALL_CAPABILITIES
        except NATURAL as error:
            raise undocumented(error, where) from None
        return self._sets.get(found, lambda: found)

    def total(self, entry: dict[str, Any], where: str) -> Resources:
        """Everything that an agent has."""
        for key in _FULL:
            if key not in entry:
                raise wrong(None, "every resource with its reservations", f"{where}.{key}")
        told = repr([entry[key] for key in _FULL])
        return self._resources.get(told, lambda: Resources(listed(entry, where, self._entries.read)))

    def _used(self, messages: Any, where: str) -> Resources:
        if not isinstance(messages, list):
            raise wrong(messages, "a list", where)
        found: list[Resource] = []
        for index, message in enumerate(messages):
            path = f"{where}[{index}]"
            try:
                found.append(self._entries.read(message, path))
            except (ConversionError, RuleViolation) as error:
                raise UnexpectedAnswer(f"the master's answer is not as documented: {error}", field=path) from None
        return Resources(Resources(found).allocated_to(None))
