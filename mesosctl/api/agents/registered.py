"""`GET /slaves`, read into agents with their reservations and what is in use of them."""

from collections.abc import Iterable, Mapping
from typing import Any

from mesosctl.api.agents.entry import (
    Holding,
    attributes_of,
    capabilities_of,
    domain_of,
    elements,
    holding,
    is_in_service,
    status_of,
    total_entries,
)
from mesosctl.api.protobuf_json.buffered_text import Shortcut
from mesosctl.api.protobuf_json.decoding import ConversionError
from mesosctl.api.protobuf_json.resource_lists import Entries, Known
from mesosctl.api.responses import Once, wrong
from mesosctl.model.errors import RuleViolation, UnexpectedAnswer
from mesosctl.model.reservations.holdings import RegisteredAgent
from mesosctl.model.resource import Resource
from mesosctl.model.resources import Resources

_FULL = ("reserved_resources_full", "unreserved_resources_full")


def registered_agents(chunks: Iterable[bytes]) -> list[RegisteredAgent]:
    """Every registered agent, with its full resources, read from an answer while its chunks arrive.

    Raises UnexpectedAnswer; ConversionError if it is not JSON.
    """
    found, ids = list(elements(chunks, _shortcuts, _Reader().agent)), Once()
    for index, agent in enumerate(found):
        ids.take(agent.id, f"slaves[{index}].id")
    return found


def _shortcuts() -> Mapping[str, Shortcut]:
    from mesosctl.api.agents import texts  # imported late: it loads msgspec

    return {"slaves": texts.registered_agents()}


def agent_state(answer: Any) -> Resources:
    """Return the resources in an agent's own `/state`.  Raises UnexpectedAnswer."""
    if not isinstance(answer, dict):
        raise wrong(answer, "an object", "")
    return _Reader().total(answer, "state")


class _Reader:
    """Reads agents from decoded JSON; values that are equal in thousands of agents are shared."""

    def __init__(self) -> None:
        self._entries = Entries()
        self._resources: Known[str, Resources] = Known()
        self._holdings: Known[str, Holding] = Known()
        self._sets: Known[frozenset[str], frozenset[str]] = Known()

    def agent(self, entry: Any, where: str) -> RegisteredAgent:
        """One element of `slaves`."""
        if not isinstance(entry, dict):
            raise wrong(entry, "an object", where)
        for key in ("id", "hostname", "pid"):
            if not isinstance(entry.get(key), str):
                raise wrong(entry.get(key), "a string", f"{where}.{key}")
        attributes = attributes_of(entry.get("attributes", {}), f"{where}.attributes")
        used, users = self._held(entry, f"{where}.used_resources_full")
        offered, offerees = self._held(entry, f"{where}.offered_resources_full")
        domain = domain_of(entry.get("domain", {}), f"{where}.domain")
        capabilities = capabilities_of(entry.get("capabilities"), f"{where}.capabilities")
        return RegisteredAgent(
            id=entry["id"],
            hostname=entry["hostname"],
            pid=entry["pid"],
            total=self.total(entry, where),
            used=used,
            offered=offered,
            users=self._sets.get(users | offerees, lambda: users | offerees),
            attributes=attributes,
            capabilities=self._sets.get(capabilities, lambda: capabilities),
            active=is_in_service(entry),
            status=status_of(
                entry.get("drain_info"),
                where,
                active=entry.get("active") is not False,
                deactivated=entry.get("deactivated") is True,
            ),
            region=domain["region"],
            zone=domain["zone"],
        )

    def _held(self, entry: Mapping[str, Any], where: str) -> Holding:
        """The resources in the list at `where`, and the roles that they are allocated to."""
        messages = entry.get(where.rpartition(".")[2], [])
        return self._holdings.get(repr(messages), lambda: self._allocated(messages, where))

    def total(self, entry: dict[str, Any], where: str) -> Resources:
        """Everything that an agent has."""
        for key in _FULL:
            if key not in entry:
                raise wrong(None, "every resource with its reservations", f"{where}.{key}")
        told = repr([entry[key] for key in _FULL])
        return self._resources.get(told, lambda: Resources(total_entries(entry, where, self._entries.read)))

    def _allocated(self, messages: Any, where: str) -> Holding:
        if not isinstance(messages, list):
            raise wrong(messages, "a list", where)
        found: list[Resource] = []
        for index, message in enumerate(messages):
            path = f"{where}[{index}]"
            try:
                found.append(self._entries.read(message, path))
            except (ConversionError, RuleViolation) as error:
                raise UnexpectedAnswer(f"the master's answer is not as documented: {error}", field=path) from None
        return holding(found)
