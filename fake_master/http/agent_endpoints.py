"""An agent's own endpoints, on the master's port: `/slave(1)/state` (spec/reservation.md §9).

The agents of a fake master live in its process, as those of a local Mesos cluster do.
"""

import re
from typing import Any

from fake_master.http.access import Realm, authenticate
from fake_master.http.exchange import Request, Response, json_response, standard_refusal
from fake_master.http.information import version_info
from fake_master.master.agents import Agent
from fake_master.master.state import Master
from mesosctl.wire.resources import list_to_json, summary

_PATH = re.compile(r"/slave\((\d+)\)/state/?")


def answer(master: Master, request: Request) -> Response | None:
    """What the agent that the path names says; None for a path that is no agent's.  Raises Refusal."""
    match = _PATH.fullmatch(request.path.replace("%28", "(").replace("%29", ")"))
    if match is None:
        return None
    agent = next((agent for agent in master.agents.values() if agent.number == int(match[1])), None)
    if agent is None or not agent.connected:
        raise standard_refusal(404)
    authenticate(master, Realm.AGENT_READONLY, request)
    master.refresh()
    return json_response(state(master, agent), request)


def state(master: Master, agent: Agent) -> dict[str, Any]:
    """An agent's `/state`: what it has applied, whatever the master believes."""
    total = agent.applied
    used = master.used_on(agent.id).allocated_to(None)
    return {
        **version_info(master),
        "start_time": agent.registered_time,
        "id": agent.id,
        "pid": agent.pid,
        "hostname": agent.hostname,
        "capabilities": list(agent.capabilities),
        "resources": summary(total),
        "reserved_resources": {role: summary(owned) for role, owned in total.by_owner().items()},
        "unreserved_resources": summary(total.unreserved()),
        "reserved_resources_full": {role: list_to_json(owned, "ENDPOINT") for role, owned in total.by_owner().items()},
        "unreserved_resources_full": list_to_json(total.unreserved(), "ENDPOINT"),
        "reserved_resources_allocated": {role: summary(owned) for role, owned in used.by_owner().items()},
        "unreserved_resources_allocated": summary(used.unreserved()),
        "resource_providers": [],
        "attributes": dict(agent.attributes),
        "master_hostname": master.hostname,
    }
