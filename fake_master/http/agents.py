"""The calls of the operator API about one agent, and the endpoints of agents below `/slave(N)`.

Source: Mesos documentation, "Operator HTTP API", "MARK_AGENT_GONE" and "DRAIN_AGENT"; "HTTP Endpoints".
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from fake_master.http.json_text import listed_in_json
from fake_master.http.operator_api import Body, Change
from fake_master.http.request_response import (
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
from fake_master.services import v1_messages
from fake_master.services.agents.draining import Draining
from fake_master.services.agents.registration import Oversubscription
from fake_master.services.agents.removal import AgentRemoval
from fake_master.state.agents import KnownAgent
from fake_master.state.clock import NANOSECONDS
from fake_master.state.master_state import MasterState
from mesosctl.mesos.amounts.notation import parse_resources
from mesosctl.mesos.messages.http_statuses import NOT_AVAILABLE
from mesosctl.mesos.messages.protobuf_json.releases import has
from mesosctl.mesos.messages.resources import summary

SHOWS_PROVIDERS = "1.8.1"
"""The first release whose agents show resource providers in their state."""


class AgentCalls:
    """The calls of the operator API about one agent."""

    def __init__(self, state: MasterState, removal: AgentRemoval, draining: Draining) -> None:
        self._state = state
        self._removal = removal
        self._draining = draining

    def calls(self) -> tuple[Change, ...]:
        """Return these calls."""
        return (
            Change("MARK_AGENT_GONE", self._mark_gone),
            Change("DRAIN_AGENT", self._drain),
            Change("DEACTIVATE_AGENT", self._deactivate),
            Change("REACTIVATE_AGENT", self._reactivate),
        )

    def _mark_gone(self, body: Body, principal: str | None) -> None:
        """MARK_AGENT_GONE: for good.  Raises Refusal (404) or Forbidden."""
        self._state.flags.authorizer.require("mark_agents_gone", principal, None)
        if not self._removal.mark_gone(_id(body)):
            raise Refusal(404, f"Agent '{_id(body)}' not found")

    def _drain(self, body: Body, principal: str | None) -> None:
        """DRAIN_AGENT.  Raises Refusal (400) or Forbidden."""
        self._state.flags.authorizer.require("drain_agents", principal, None)
        given = body.get("max_grace_period")
        grace = None  # sent as a duration of protobuf, unlike all others in Mesos, and shown as a duration of Mesos
        if given is not None:
            grace = {"nanoseconds": given.get("seconds", 0) * NANOSECONDS + given.get("nanos", 0)}
        with refusing():
            self._draining.drain(_id(body), grace, mark_gone=body.get("mark_gone", False))

    def _deactivate(self, body: Body, principal: str | None) -> None:
        """DEACTIVATE_AGENT.  Raises Refusal (400) or Forbidden."""
        self._state.flags.authorizer.require("deactivate_agents", principal, None)
        with refusing():
            self._draining.deactivate(_id(body))

    def _reactivate(self, body: Body, principal: str | None) -> Refusal | None:
        """REACTIVATE_AGENT.  Raises Refusal (400) or Forbidden."""
        self._state.flags.authorizer.require("reactivate_agents", principal, None)
        with refusing():
            is_registered = self._draining.reactivate(_id(body))
        return None if is_registered else Refusal(NOT_AVAILABLE, "Agent removed while processing the call")


def _id(body: Body) -> str:
    return str(body["agent_id"]["value"])


Endpoint = Callable[[KnownAgent, Request], Response]


@dataclass(frozen=True, slots=True)
class AgentRoute:
    """An endpoint below `/slave(N)`, to whom it answers, and to which method; None for any."""

    path: str
    realm: Realm
    method: str | None
    endpoint: Endpoint


_PATH = re.compile(r"/slave\(([0-9]{1,9})\)/+([^/]+)/?")


class AgentEndpoints:
    """The endpoints of agents; `refresh` reads changes of another process from the registry."""

    def __init__(self, state: MasterState, refresh: Callable[[], None], oversubscription: Oversubscription) -> None:
        self._state = state
        self._refresh = refresh
        self._oversubscription = oversubscription
        self.routes: tuple[AgentRoute, ...] = (
            AgentRoute("state", Realm.AGENT_READONLY, None, self._show),
            AgentRoute("oversubscribed", Realm.READWRITE, "POST", self._report_slack_of_use),
        )
        if state.profile.has_json_paths:
            self.routes += (replace(self.routes[0], path="state.json"),)
        self._by_path = {route.path: route for route in self.routes}

    def answer(self, request: Request) -> Response | None:
        """Return the answer of the agent that a path names, None if it names none.  Raises Refusal."""
        match = _PATH.fullmatch(request.path.replace("%28", "(").replace("%29", ")"))
        route = self._by_path.get(match[2]) if match is not None else None
        if match is None or route is None:
            return None
        agent = next((agent for agent in self._state.agents.values() if agent.number == int(match[1])), None)
        if agent is None or not agent.connected:
            raise standard_refusal(404)
        authenticate(self._state.flags, route.realm, request)
        if route.method not in (None, request.method):
            raise wrong_method((route.method,), request.method)
        return route.endpoint(agent, request)

    def _show(self, agent: KnownAgent, request: Request) -> Response:
        self._refresh()
        return json_response(self._description(agent), request)

    def _report_slack_of_use(self, agent: KnownAgent, request: Request) -> Response:
        with refusing():
            self._oversubscription.report(agent, parse_resources(request.body.decode("utf-8", errors="replace")))
        return accepted_silently()

    def _description(self, agent: KnownAgent) -> dict[str, Any]:
        """Return the agent's `/state`: what it has applied, even if the master's view differs."""
        total = agent.applied
        used = self._state.used_on(agent.id).allocated_to(None)
        return {
            **v1_messages.version_info(self._state),
            "start_time": agent.registered_time,
            "id": agent.id,
            "pid": agent.pid,
            "hostname": agent.hostname,
            "capabilities": list(agent.capabilities),
            "resources": summary(total),
            "reserved_resources": {role: summary(owned) for role, owned in total.by_owner().items()},
            "unreserved_resources": summary(total.unreserved()),
            "reserved_resources_full": {
                role: listed_in_json(owned, "ENDPOINT") for role, owned in total.by_owner().items()
            },
            "unreserved_resources_full": listed_in_json(total.unreserved(), "ENDPOINT"),
            "reserved_resources_allocated": {role: summary(owned) for role, owned in used.by_owner().items()},
            "unreserved_resources_allocated": summary(used.unreserved()),
            **({"resource_providers": []} if has(self._state.profile.release, SHOWS_PROVIDERS) else {}),
            "attributes": dict(agent.attributes),
            "master_hostname": self._state.hostname,
        }
