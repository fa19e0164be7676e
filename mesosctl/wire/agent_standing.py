"""`GET /slaves` with everything that is held of each agent (spec/endpoints.md §2)."""

from dataclasses import dataclass
from typing import Any

from mesosctl.core.capacity import AgentCapacity
from mesosctl.core.errors import RuleViolation, UnexpectedAnswer
from mesosctl.core.resources import Resources
from mesosctl.wire.agents import agents as totals
from mesosctl.wire.answers import NATURAL, text, texts, undocumented, wrong
from mesosctl.wire.decoding import ConversionError
from mesosctl.wire.messages import read
from mesosctl.wire.resources import RESOURCE, to_core


@dataclass(frozen=True, slots=True)
class AgentStanding:
    """An agent in or out of service; resources without allocation roles."""

    id: str
    hostname: str
    active: bool
    deactivated: bool
    draining: bool
    capabilities: frozenset[str]
    total: Resources
    used: Resources
    offered: Resources
    attributes: tuple[tuple[str, str | float], ...] = ()
    region: str | None = None
    zone: str | None = None

    @property
    def free(self) -> Resources:
        """Neither used nor offered."""
        return self.total - self.used - self.offered


def standings(answer: Any) -> tuple[list[AgentStanding], int]:
    """Every registered agent, and how many are awaited after a failover.  Raises UnexpectedAnswer."""
    found = []
    for index, capacity in enumerate(totals(answer)):
        where = f"slaves[{index}]"
        try:
            found.append(_standing(answer["slaves"][index], capacity, where))
        except NATURAL as error:
            raise undocumented(error, where) from None
    awaited = answer.get("recovered_slaves", [])
    if not isinstance(awaited, list):
        raise wrong(awaited, "a list", "recovered_slaves")
    return found, len(awaited)


def _standing(entry: Any, capacity: AgentCapacity, where: str) -> AgentStanding:
    return AgentStanding(
        id=text(entry.get("id", "")),
        hostname=text(entry.get("hostname", "")),
        active=capacity.active,
        deactivated=entry.get("deactivated") is True,
        draining="drain_info" in entry,
        capabilities=frozenset(texts(entry.get("capabilities", []))),
        total=capacity.total,
        used=_listed(entry.get("used_resources_full", []), f"{where}.used_resources_full"),
        offered=_listed(entry.get("offered_resources_full", []), f"{where}.offered_resources_full"),
        attributes=_attributes(entry.get("attributes", {}), f"{where}.attributes"),
        **_domain(entry.get("domain", {}), f"{where}.domain"),
    )


def _attributes(part: Any, where: str) -> tuple[tuple[str, str | float], ...]:
    if not isinstance(part, dict):
        raise wrong(part, "an object", where)
    return tuple((name, value if isinstance(value, str) else float(value)) for name, value in part.items())


def _domain(part: Any, where: str) -> dict[str, str | None]:
    """Region and zone, where it has a fault domain."""
    fault = part.get("fault_domain", {}) if isinstance(part, dict) else None
    if not isinstance(fault, dict):
        raise wrong(part, "an object with a fault_domain", where)
    return {key: fault[key]["name"] if key in fault else None for key in ("region", "zone")}


def _listed(part: Any, where: str) -> Resources:
    if not isinstance(part, list):
        raise wrong(part, "a list", where)
    try:
        return Resources(to_core(read(RESOURCE, message, where), where) for message in part).allocated_to(None)
    except (ConversionError, RuleViolation) as error:
        raise UnexpectedAnswer(f"the master's answer is not as documented: {error}", field=where) from None
