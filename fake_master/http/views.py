"""The JSON in which the information endpoints show agents and roles (spec/endpoints.md §2, §4)."""

from typing import Any

from fake_master.master import role_view
from fake_master.master.agents import Agent
from fake_master.master.role_view import RoleView
from fake_master.master.state import Master
from mesosctl.core.quantities import Quantities
from mesosctl.core.resources import Resources
from mesosctl.core.scalars import to_double
from mesosctl.wire.resources import list_to_json, summary

_TASK_STATES = (
    "TASK_STAGING",
    "TASK_STARTING",
    "TASK_RUNNING",
    "TASK_KILLING",
    "TASK_FINISHED",
    "TASK_KILLED",
    "TASK_FAILED",
    "TASK_LOST",
    "TASK_ERROR",
    "TASK_UNREACHABLE",
)
_NANOSECONDS = 1_000_000_000


def agent(of: Agent) -> dict[str, Any]:
    """An agent as /state shows it."""
    nothing = summary(Resources())
    return {
        "id": of.id,
        "hostname": of.hostname,
        "port": of.port,
        "attributes": dict(of.attributes),
        "pid": of.pid,
        "registered_time": of.registered_time,
        "resources": summary(of.total),
        "used_resources": nothing,
        "offered_resources": nothing,
        "reserved_resources": {role: summary(owned) for role, owned in of.total.by_owner().items()},
        "unreserved_resources": summary(of.total.unreserved()),
        "active": of.active,
        "deactivated": of.deactivated,
        "version": of.version,
        "capabilities": list(of.capabilities),
    }


def agent_in_full(of: Agent) -> dict[str, Any]:
    """An agent as /slaves shows it: every resource spelled out beside the summaries."""
    return agent(of) | {
        "reserved_resources_full": {
            role: list_to_json(owned, "ENDPOINT") for role, owned in of.total.by_owner().items()
        },
        "unreserved_resources_full": list_to_json(of.total.unreserved(), "ENDPOINT"),
        "used_resources_full": [],
        "offered_resources_full": [],
    }


def agent_in_summary(of: Agent) -> dict[str, Any]:
    """An agent as /state-summary shows it: with task counts."""
    return agent(of) | dict.fromkeys(_TASK_STATES, 0) | {"framework_ids": []}


def agent_message(of: Agent) -> dict[str, Any]:
    """An agent as GET_AGENTS shows it."""
    info: dict[str, Any] = {
        "hostname": of.hostname,
        "port": of.port,
        "resources": list_to_json(of.configured, "POST"),
        "id": {"value": of.id},
        "checkpoint": True,
    }
    if of.attributes:
        info["attributes"] = [_attribute(name, value) for name, value in of.attributes.items()]
    return {
        "agent_info": info,
        "active": of.active,
        "deactivated": of.deactivated,
        "version": of.version,
        "pid": of.pid,
        "registered_time": {"nanoseconds": int(of.registered_time * _NANOSECONDS)},
        "total_resources": list_to_json(of.total, "ENDPOINT"),
        "capabilities": [{"type": name} for name in of.capabilities],
    }


def _attribute(name: str, value: str | float) -> dict[str, Any]:
    if isinstance(value, str):
        return {"name": name, "type": "TEXT", "text": {"value": value}}
    return {"name": name, "type": "SCALAR", "scalar": {"value": value}}


def role(master: Master, of: RoleView) -> dict[str, Any]:
    """A role as /roles shows it."""
    stored = master.quotas.stored.get(of.name)
    return {
        "name": of.name,
        "weight": of.weight,
        "quota": {
            "role": of.name,
            "guarantee": dict(stored.guarantees) if stored else {},
            "limit": dict(stored.limits) if stored else {},
            "consumed": amounts(of.consumed),
        },
        "resources": amounts(of.allocated + of.offered),
        "allocated": amounts(of.allocated),
        "offered": amounts(of.offered),
        "reserved": amounts(of.reserved),
        "frameworks": list(of.frameworks),
    }


def visible_roles(master: Master, principal: str | None) -> list[RoleView]:
    """The roles that a principal may see, by name."""
    return [
        role_view.view(master, name)
        for name in role_view.known_roles(master)
        if master.flags.authorizer.allows("view_roles", principal, name)
    ]


def amounts(quantities: Quantities) -> dict[str, float]:
    """Quantities as an object of doubles."""
    return {name: to_double(milli) for name, milli in quantities.items()}
