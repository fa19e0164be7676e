"""Agents, frameworks, offers and tasks as the messages of the v1 APIs.

Sources: Mesos documentation, "Operator HTTP API" and "Scheduler HTTP API".
"""

from collections.abc import Callable, Mapping, Sequence
from ipaddress import IPv4Address
from types import MappingProxyType
from typing import Any

from fake_master.state import roles
from fake_master.state.agents import KnownAgent
from fake_master.state.clock import NANOSECONDS
from fake_master.state.frameworks import KnownFramework
from fake_master.state.master_state import MasterState
from fake_master.state.offers import OutstandingOffer
from fake_master.state.tasks import Executor, KnownTask
from mesosctl.mesos.amounts.resources import Resources
from mesosctl.mesos.messages.protobuf_json.defaults import WithUnknown
from mesosctl.mesos.messages.resources import Format, list_to_json

# An operator is shown every offer whole, whatever its framework understands.
_OPERATOR = frozenset({"MULTI_ROLE", "RESERVATION_REFINEMENT"})
Added = Mapping[str, Any]
"""Fields that an extension adds to a message."""
_NOTHING: Added = MappingProxyType({})
Listing = Callable[[Resources, Format], Any]
"""Shows resources in a format: as messages, or as the JSON text of them if that is known already."""


# The build of the last release, as it shows it.
_BUILD = {
    "build_date": "2020-11-24 15:38:37",
    "build_time": 1606232317.0,
    "build_user": "ubuntu",
    "git_sha": "04bc7ee1984d86fbb0bd782ccc69ce44c13ae4b9",
}


def version_info(state: MasterState) -> dict[str, Any]:
    """VersionInfo."""
    return {**_BUILD, "git_tag": state.profile.git_tag, "version": state.profile.version}


_V1_UNKNOWN = {"QUOTA_V2": WithUnknown({}, b"\x08\x03")}
"""Capabilities that the v1 message does not know: an empty object, in protobuf with the number (3)."""


def master_info(state: MasterState) -> dict[str, Any]:
    """MasterInfo."""
    try:
        ip = int.from_bytes(IPv4Address(state.ip).packed, "little")
    except ValueError:
        ip = 0
    return {
        "id": state.id,
        "ip": ip,
        "port": state.port,
        "pid": state.pid,
        "hostname": state.hostname,
        "version": state.profile.version,
        "address": {"hostname": state.hostname, "ip": state.ip, "port": state.port},
        "capabilities": [_V1_UNKNOWN.get(name, {"type": name}) for name in state.profile.master_capabilities],
    }


def agent(
    of: KnownAgent,
    offered: Resources,
    sees: roles.Sees = roles.everything,
    added: Added = _NOTHING,
    listed: Listing = list_to_json,
) -> dict[str, Any]:
    """Describe an agent, and what is offered of it, as GET_AGENTS shows it; events show every role to everybody."""
    message = {
        "agent_info": agent_info(of, sees, listed),
        "active": of.active,
        "deactivated": of.deactivated,
        "version": of.version,
        "pid": of.pid,
        "registered_time": {"nanoseconds": int(of.registered_time * NANOSECONDS)},
        **_reregistered(of),
        "total_resources": listed(roles.seen(of.whole, sees), "ENDPOINT"),
        "capabilities": [{"type": name} for name in of.capabilities],
        **added,
    }
    for key, held in (("allocated_resources", of.used), ("offered_resources", offered)):
        visible = roles.seen(held, sees)
        if len(visible):
            message[key] = listed(visible, "ENDPOINT")
    if of.drain_info is not None:
        # To the second only, as Mesos writes it here.
        start = {"nanoseconds": int(of.drain_start) * NANOSECONDS}
        message |= {"drain_info": dict(of.drain_info), "estimated_drain_start_time": start}
    return message


def agent_info(of: KnownAgent, sees: roles.Sees = roles.everything, listed: Listing = list_to_json) -> dict[str, Any]:
    """SlaveInfo."""
    info: dict[str, Any] = {
        "hostname": of.hostname,
        "port": of.port,
        "resources": listed(roles.seen(of.configured, sees), "POST"),
        "id": {"value": of.id},
        "checkpoint": True,
    }
    if of.attributes:
        info["attributes"] = [attribute(name, value) for name, value in of.attributes.items()]
    if of.domain is not None:
        info["domain"] = of.domain.message()
    return info


def recovered_agents(state: MasterState) -> list[dict[str, Any]]:
    """SlaveInfo of every agent that a former leader knew and that is awaited.

    One that an operator has given up meanwhile stays among them, as on a real master.
    """
    found = []
    for hostname, agent_id in state.known_agents.awaited.items():
        info = state.known_agents.infos.get(hostname, {"hostname": hostname, "resources": [], "checkpoint": True})
        found.append({**info, "id": {"value": agent_id}, "port": state.port})
    return found


def _reregistered(of: KnownAgent) -> dict[str, Any]:
    if of.reregistered_time is None:
        return {}
    return {"reregistered_time": {"nanoseconds": int(of.reregistered_time * NANOSECONDS)}}


def framework(of: KnownFramework, offers: Sequence[Any], added: Added = _NOTHING) -> dict[str, Any]:
    """Describe a framework, and offers to it that are described already, as GET_FRAMEWORKS shows it."""
    times = _framework_times(of)
    if of.recovered:  # when it was registered is unknown
        del times["registered_time"], times["reregistered_time"]
    message: dict[str, Any] = {
        **times,
        "offer_constraints": dict(of.offer_constraints),
        **added,
    }
    if of.unregistered_time is not None:
        message["unregistered_time"] = {"nanoseconds": int(of.unregistered_time * NANOSECONDS)}
    lists = {
        "offers": offers,
        "allocated_resources": list_to_json(of.used(), "ENDPOINT"),
        "offered_resources": list_to_json(of.offered(), "ENDPOINT"),
    }
    return message | {name: entries for name, entries in lists.items() if entries}


def framework_event(of: KnownFramework) -> dict[str, Any]:
    """A framework as the operator events tell of it: no offers and no resources, and a time of leaving in any case."""
    return {**_framework_times(of), "unregistered_time": {"nanoseconds": 0}}


def _framework_times(of: KnownFramework) -> dict[str, Any]:
    return {
        "framework_info": of.info,
        "active": of.active,
        "connected": of.connected,
        "recovered": of.recovered,
        "registered_time": {"nanoseconds": int(of.registered_time * NANOSECONDS)},
        "reregistered_time": {"nanoseconds": int((of.reregistered_time or of.registered_time) * NANOSECONDS)},
    }


_OF_TASK_INFO = ("labels", "discovery", "container", "health_check", "kill_policy", "limits")


def task(of: KnownTask, listed: Listing = list_to_json) -> dict[str, Any]:
    """A task as GET_TASKS and the operator events show it."""
    message: dict[str, Any] = {
        "name": of.name,
        "task_id": {"value": of.id},
        "framework_id": {"value": of.framework_id},
        "agent_id": {"value": of.agent_id},
        "state": of.state,
        "resources": listed(of.resources, "POST"),
    }
    if of.executor_id:
        message["executor_id"] = {"value": of.executor_id}
    if (user := of.user) is not None:
        message["user"] = user
    if of.statuses:
        statuses = [status.message(of) for status in of.statuses]
        latest = statuses[-1]
        message |= {"statuses": statuses, "status_update_state": latest["state"]}
        if "uuid" in latest:
            message["status_update_uuid"] = latest["uuid"]
    return message | {key: of.info[key] for key in _OF_TASK_INFO if key in of.info}


def executor(of: Executor) -> dict[str, Any]:
    """An ExecutorInfo of a framework, with the fields that the master adds."""
    message = {name: value for name, value in of.info.items() if name != "resources"}
    message["framework_id"] = {"value": of.framework_id}
    if len(of.resources):
        message["resources"] = list_to_json(of.resources, "POST")
    return message


def operator_offer(
    state: MasterState, of: OutstandingOffer, on: KnownAgent, listed: Listing = list_to_json
) -> dict[str, Any]:
    """An Offer message as an operator sees it."""
    return offer(state, of, on, _OPERATOR, listed)


def offer(
    state: MasterState,
    of: OutstandingOffer,
    on: KnownAgent,
    capabilities: frozenset[str],
    listed: Listing = list_to_json,
) -> dict[str, Any]:
    """An Offer message, in the format that the capabilities ask for."""
    multi_role = "MULTI_ROLE" in capabilities
    resources = of.resources if multi_role else of.resources.allocated_to(None)
    described: dict[str, Any] = {
        "id": {"value": of.id},
        "framework_id": {"value": of.framework_id},
        "agent_id": {"value": on.id},
        "hostname": on.hostname,
        "url": _url(on),
        "resources": listed(resources, "POST" if "RESERVATION_REFINEMENT" in capabilities else "PRE"),
    }
    if on.attributes:
        described["attributes"] = [attribute(name, value) for name, value in on.attributes.items()]
    if of.executors:
        described["executor_ids"] = [{"value": name} for name in of.executors]
    unavailability = state.maintenance.unavailability(on)
    if unavailability is not None:
        described["unavailability"] = dict(unavailability)
    if on.domain is not None:
        described["domain"] = on.domain.message()
    if multi_role:
        described["allocation_info"] = {"role": of.role}
    return described


def inverse_offer(state: MasterState, to: KnownFramework, offer_id: str, on: KnownAgent) -> dict[str, Any]:
    """An InverseOffer message; it is about everything that the framework has there, and so names no resources."""
    return {
        "id": {"value": offer_id},
        "url": _url(on),
        "framework_id": {"value": to.id},
        "agent_id": {"value": on.id},
        "unavailability": dict(state.maintenance.unavailability(on) or {}),
    }


def _url(on: KnownAgent) -> dict[str, Any]:
    return {
        "scheme": "http",
        "address": {"hostname": on.hostname, "ip": on.ip, "port": on.port},
        "path": "/" + on.pid.partition("@")[0],
    }


def attribute(name: str, value: str | float) -> dict[str, Any]:
    """An Attribute message."""
    if isinstance(value, str):
        return {"name": name, "type": "TEXT", "text": {"value": value}}
    return {"name": name, "type": "SCALAR", "scalar": {"value": value}}
