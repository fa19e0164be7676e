"""Agents with everything they hold: from a master's `/slaves` and an agent's own `/state` (spec/reservation.md §9)."""

from typing import Any

from mesosctl.core.errors import RuleViolation, UnexpectedAnswer
from mesosctl.core.holdings import AgentHolding
from mesosctl.core.reservation_rules import ALL_CAPABILITIES
from mesosctl.core.resources import Resource, Resources
from mesosctl.wire.agents import listed
from mesosctl.wire.answers import wrong
from mesosctl.wire.decoding import ConversionError
from mesosctl.wire.messages import read
from mesosctl.wire.resources import RESOURCE, to_core


def agents(answer: Any) -> list[AgentHolding]:
    """Every registered agent, with its resources in full.  Raises UnexpectedAnswer."""
    entries = answer.get("slaves") if isinstance(answer, dict) else None
    if not isinstance(entries, list):
        raise wrong(entries, "a list", "slaves")
    return [_agent(entry, f"slaves[{index}]") for index, entry in enumerate(entries)]


def agent_state(answer: Any) -> Resources:
    """What an agent itself says that it has.  Raises UnexpectedAnswer."""
    if not isinstance(answer, dict):
        raise wrong(answer, "an object", "")
    return _total(answer, "state")


def _agent(entry: Any, where: str) -> AgentHolding:
    if not isinstance(entry, dict):
        raise wrong(entry, "an object", where)
    for key in ("id", "hostname", "pid"):
        if not isinstance(entry.get(key), str):
            raise wrong(entry.get(key), "a string", f"{where}.{key}")
    attributes, capabilities = entry.get("attributes", {}), entry.get("capabilities")
    if not isinstance(attributes, dict):
        raise wrong(attributes, "an object", f"{where}.attributes")
    return AgentHolding(
        id=entry["id"],
        hostname=entry["hostname"],
        pid=entry["pid"],
        total=_total(entry, where),
        used=Resources(_entries(entry.get("used_resources_full", []), f"{where}.used_resources_full")),
        attributes=attributes,
        capabilities=frozenset(capabilities) if isinstance(capabilities, list) else ALL_CAPABILITIES,
        active=entry.get("active") is not False and entry.get("deactivated") is not True,
    )


def _total(entry: dict[str, Any], where: str) -> Resources:
    for key in ("reserved_resources_full", "unreserved_resources_full"):
        if key not in entry:
            raise wrong(None, "every resource with its reservations", f"{where}.{key}")
    return Resources(listed(entry, where))


def _entries(messages: Any, where: str) -> list[Resource]:
    if not isinstance(messages, list):
        raise wrong(messages, "a list", where)
    found = []
    for index, message in enumerate(messages):
        path = f"{where}[{index}]"
        try:
            entry = to_core(read(RESOURCE, message, path), path)
        except (ConversionError, RuleViolation) as error:
            raise UnexpectedAnswer(f"the master's answer is not as documented: {error}", field=path) from None
        found.append(entry)
    return list(Resources(found).allocated_to(None))
