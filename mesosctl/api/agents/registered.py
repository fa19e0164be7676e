"""`GET /slaves`, read into agents with their reservations and what is in use of them."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from mesosctl.api.agents.entry import (
    AgentResources,
    Holding,
    attributes_of,
    capabilities_of,
    decoded,
    domain_of,
    elements,
    is_in_service,
    status_of,
)
from mesosctl.api.protobuf_json.buffered_text import Shortcut
from mesosctl.api.protobuf_json.decoding import text_if_undecoded
from mesosctl.api.protobuf_json.resource_lists import Known
from mesosctl.api.responses import Once, wrong
from mesosctl.model.reservations.holdings import RegisteredAgent
from mesosctl.model.resources import Resources

_FULL = ("reserved_resources_full", "unreserved_resources_full")


def registered_agents(chunks: Iterable[bytes]) -> list[RegisteredAgent]:
    """Every registered agent, with its full resources, read from an answer while its chunks arrive.

    Raises UnexpectedAnswer; ConversionError if it is not JSON.
    """
    reader = _Reader()

    def shortcuts() -> Mapping[str, Shortcut]:
        from mesosctl.api.agents import texts  # imported late: it loads msgspec

        return texts.registered_agents(reader.agent)

    found, ids = list(elements(chunks, shortcuts, reader.agent)), Once()
    for index, agent in enumerate(found):
        ids.take(agent.id, f"slaves[{index}].id")
    return found


def agent_state(answer: Any) -> Resources:
    """Return the resources in an agent's own `/state`.  Raises UnexpectedAnswer."""
    if not isinstance(answer, dict):
        raise wrong(answer, "an object", "")
    return _Reader().total(answer, "state")


class _Reader:
    """Reads agents, from JSON or with parts that are undecoded text; equal values in thousands of agents are shared."""

    def __init__(self) -> None:
        self._resources = AgentResources()
        self._sets: Known[frozenset[str], frozenset[str]] = Known()
        self._parts: Known[tuple[Any, str], Any] = Known()

    def agent(self, entry: Any, where: str) -> RegisteredAgent:
        """One element of `slaves`."""
        if not isinstance(entry, dict):
            raise wrong(entry, "an object", where)
        for key in ("id", "hostname", "pid"):
            if not isinstance(entry.get(key), str):
                raise wrong(entry.get(key), "a string", f"{where}.{key}")
        used, users = self._held(entry, f"{where}.used_resources_full")
        offered, offerees = self._held(entry, f"{where}.offered_resources_full")
        domain = self._part(domain_of, entry.get("domain", {}), f"{where}.domain")
        capabilities = self._part(capabilities_of, entry.get("capabilities"), f"{where}.capabilities")
        return RegisteredAgent(
            id=entry["id"],
            hostname=entry["hostname"],
            pid=entry["pid"],
            total=self.total(entry, where),
            used=used,
            offered=offered,
            users=self._sets.get(users | offerees, lambda: users | offerees),
            attributes=self._part(attributes_of, entry.get("attributes", {}), f"{where}.attributes"),
            capabilities=self._sets.get(capabilities, lambda: capabilities),
            active=is_in_service(entry),
            status=status_of(
                decoded(entry.get("drain_info")),
                where,
                active=entry.get("active") is not False,
                deactivated=entry.get("deactivated") is True,
            ),
            region=domain["region"],
            zone=domain["zone"],
        )

    def _part(self, make: Callable[[Any, str], Any], part: Any, where: str) -> Any:
        text = text_if_undecoded(part)
        if text is None:
            return make(part, where)
        return self._parts.get((make, text), lambda: make(decoded(part), where))

    def _held(self, entry: Mapping[str, Any], where: str) -> Holding:
        """The resources in the list at `where`, and the roles that they are allocated to."""
        return self._resources.held(entry.get(where.rpartition(".")[2], []), where)

    def total(self, entry: dict[str, Any], where: str) -> Resources:
        """Everything that an agent has."""
        for key in _FULL:
            if key not in entry:
                raise wrong(None, "every resource with its reservations", f"{where}.{key}")
        return self._resources.total(entry, where)
