"""The calls of the operator API about one agent: gone, drained, in service or not (spec/endpoints.md §4)."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from fake_master.http.exchange import (
    Realm,
    Refusal,
    Request,
    Response,
    accepted_silently,
    authenticate,
    json_response,
    refusing,
    standard_refusal,
    wrong_method,
)
from fake_master.http.information import version_info
from fake_master.master import Master
from fake_master.state.agents import Agent
from fake_master.state.clock import NANOSECONDS
from mesosctl.api.protobuf.messages import Field, Message
from mesosctl.api.resources import list_to_json, summary
from mesosctl.model.text import parse_resources

_AGENT = {"agent_id": Field(Message("AgentID", {"value": Field("string", "required")}), "required")}
MARK_GONE = Message("Call.MarkAgentGone", _AGENT)
DRAIN = Message(
    "Call.DrainAgent",
    {
        **_AGENT,
        # A duration of protobuf's own, unlike all others of Mesos; it is shown as one of Mesos's.
        "max_grace_period": Field(Message("Duration", {"seconds": Field("int64"), "nanos": Field("int32")})),
        "mark_gone": Field("bool"),
    },
)
DEACTIVATE = Message("Call.DeactivateAgent", _AGENT)
REACTIVATE = Message("Call.ReactivateAgent", _AGENT)

Body = Mapping[str, Any]


def mark_gone(master: Master, body: Body, principal: str | None) -> None:
    """MARK_AGENT_GONE: for good.  Raises Refusal (404) or Forbidden."""
    master.state.flags.authorizer.require("mark_agents_gone", principal, None)
    if not master.agent_removal.mark_gone(_id(body)):
        raise Refusal(404, f"Agent '{_id(body)}' not found")


def drain(master: Master, body: Body, principal: str | None) -> None:
    """DRAIN_AGENT.  Raises Refusal (400) or Forbidden."""
    master.state.flags.authorizer.require("drain_agents", principal, None)
    given = body.get("max_grace_period")
    grace = None
    if given is not None:
        grace = {"nanoseconds": given.get("seconds", 0) * NANOSECONDS + given.get("nanos", 0)}
    with refusing():
        master.draining.drain(_id(body), grace, mark_gone=body.get("mark_gone", False))


def deactivate(master: Master, body: Body, principal: str | None) -> None:
    """DEACTIVATE_AGENT.  Raises Refusal (400) or Forbidden."""
    master.state.flags.authorizer.require("deactivate_agents", principal, None)
    with refusing():
        master.draining.deactivate(_id(body))


def reactivate(master: Master, body: Body, principal: str | None) -> None:
    """REACTIVATE_AGENT.  Raises Refusal (400, 409) or Forbidden."""
    master.state.flags.authorizer.require("reactivate_agents", principal, None)
    with refusing(in_conflict=""):
        master.draining.reactivate(_id(body))


def _id(body: Body) -> str:
    return str(body["agent_id"]["value"])


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
    agent = next((agent for agent in master.state.agents.values() if agent.number == int(match[1])), None)
    if agent is None or not agent.connected:
        raise standard_refusal(404)
    authenticate(master.state.flags, route.realm, request)
    if route.method not in (None, request.method):
        raise wrong_method((route.method,), request.method)
    return route.endpoint(master, agent, request)


def _state(master: Master, agent: Agent, request: Request) -> Response:
    master.refresh()
    return json_response(state(master, agent), request)


def _report_slack_of_use(master: Master, agent: Agent, request: Request) -> Response:
    with refusing():
        master.oversubscription.report(agent, parse_resources(request.body.decode("utf-8", errors="replace")))
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
    used = master.state.used_on(agent.id).allocated_to(None)
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
        "master_hostname": master.state.hostname,
    }
