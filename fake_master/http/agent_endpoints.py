"""An agent's own endpoints, on the master's port: `/slave(1)/state` (spec/reservation.md §9).

The agents of a fake master live in its process, as those of a local Mesos cluster do.  They have
no resource estimator, so what one would report is posted to `/slave(1)/oversubscribed`, as text:
`cpus:2;mem:1GiB`, or nothing.  No Mesos has that endpoint.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fake_master.http.access import Realm, authenticate
from fake_master.http.exchange import (
    Request,
    Response,
    accepted_silently,
    json_response,
    refusing,
    standard_refusal,
    wrong_method,
)
from fake_master.http.information import version_info
from fake_master.master import usage_slack
from fake_master.master.agents import Agent
from fake_master.master.master import Master
from mesosctl.core.text import parse_resources
from mesosctl.wire.resources import list_to_json, summary

Endpoint = Callable[[Master, Agent, Request], Response]


@dataclass(frozen=True, slots=True)
class AgentRoute:
    """An endpoint below `/slave(N)`, to whom it answers, and to which method; None for any."""

    path: str
    realm: Realm
    method: str | None
    endpoint: Endpoint


def answer(master: Master, request: Request) -> Response | None:
    """What the agent that the path names says; None for a path that is no agent's.  Raises Refusal."""
    match = _PATH.fullmatch(request.path.replace("%28", "(").replace("%29", ")"))
    route = _BY_PATH.get(match[2]) if match is not None else None
    if match is None or route is None:
        return None
    agent = next((agent for agent in master.agents.values() if agent.number == int(match[1])), None)
    if agent is None or not agent.connected:
        raise standard_refusal(404)
    authenticate(master, route.realm, request)
    if route.method not in (None, request.method):
        raise wrong_method((route.method,), request.method)
    return route.endpoint(master, agent, request)


def _state(master: Master, agent: Agent, request: Request) -> Response:
    master.refresh()
    return json_response(state(master, agent), request)


def _report_slack_of_use(master: Master, agent: Agent, request: Request) -> Response:
    with refusing():
        usage_slack.report(master, agent, parse_resources(request.body.decode("utf-8", errors="replace")))
    return accepted_silently()


AGENT_ROUTES = (
    AgentRoute("state", Realm.AGENT_READONLY, None, _state),
    AgentRoute("oversubscribed", Realm.READWRITE, "POST", _report_slack_of_use),
)
_BY_PATH = {route.path: route for route in AGENT_ROUTES}
_PATH = re.compile(r"/slave\(([0-9]{1,9})\)/+([^/]+)/?")


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
