"""The endpoints and calls that only read: health, version, flags, metrics, agents, roles, and the whole state.

Sources: Mesos documentation, "HTTP Endpoints"; Mesos documentation, "Operator HTTP API".
"""

from collections.abc import Callable, Iterable
from typing import Any

from fake_master.http.operator_api import Body, Change, Reading
from fake_master.http.request_response import (
    Refusal,
    Request,
    Response,
    accepted_silently,
    json_response,
    standard_refusal,
)
from fake_master.http.views import agents as agent_views
from fake_master.http.views import frameworks as framework_views
from fake_master.http.views import roles as role_views
from fake_master.services import v1_messages
from fake_master.services.metrics import LoggingLevel
from fake_master.state import roles as roles_state
from fake_master.state.clock import NANOSECONDS
from fake_master.state.extension_points import AgentRuntime
from fake_master.state.master_state import MasterState
from fake_master.state.shown_since import flags_at, has_member
from fake_master.state.visibility import Sight
from mesosctl.mesos.amounts.notation import parse_duration


class StateEndpoints:
    """The endpoints that only read; `metrics` returns every metric by name, `run_times` when allocation runs were."""

    def __init__(
        self,
        state: MasterState,
        runtime: AgentRuntime,
        metrics: Callable[[], dict[str, float]],
        run_times: Callable[[], Iterable[float]] = tuple,
    ) -> None:
        self._state = state
        self._run_times = run_times
        self._runtime = runtime
        self._metrics = metrics

    # --- Endpoints ------------------------------------------------------------------------------------

    def health(self, _request: Request, _principal: str | None) -> Response:
        """GET /health: alive is all it says."""
        return accepted_silently()

    def version(self, request: Request, _principal: str | None) -> Response:
        """GET /version."""
        return json_response(v1_messages.version_info(self._state), request)

    def redirect(self, request: Request, _principal: str | None) -> Response:
        """GET /redirect: the address of the leader, which may be this master."""
        if request.path.startswith(("/redirect/", "/master/redirect/")):
            raise standard_refusal(404)
        return Response(307, headers={"Location": f"//{self._state.hostname}:{self._state.port}"})

    def flags(self, request: Request, principal: str | None) -> Response:
        """GET /flags."""
        return json_response({"flags": self._shown_flags(principal)}, request)

    def registry(self, request: Request, _principal: str | None) -> Response:
        """GET /registrar(1)/registry: the agents that are registered, unreachable and gone, in full to everybody."""
        state = self._state
        known = state.known_agents
        kinds = {"unreachable": known.unreachable(), "gone": known.gone()}
        deactivated = {record["id"]: record.get("deactivated", False) for record in known.records.values()}
        lost = {
            kind: {
                "slaves": [
                    {
                        "id": {"value": agent_id},
                        "timestamp": {"nanoseconds": int(at * NANOSECONDS)},
                        **({"deactivated": deactivated[agent_id]} if kind == "unreachable" else {}),
                    }
                    for agent_id, at in since.items()
                ]
            }
            for kind, since in kinds.items()
            if since
        }
        registered = [
            {"deactivated": agent.deactivated, "info": v1_messages.agent_info(agent)} for agent in state.agents.values()
        ]
        awaited = [{"deactivated": False, "info": info} for info in v1_messages.recovered_agents(state)]
        slaves = {"slaves": {"slaves": [*registered, *awaited]}} if registered or awaited else {}
        return json_response({"master": {"info": v1_messages.master_info(state)}, **slaves, **lost}, request)

    def metrics_snapshot(self, request: Request, _principal: str | None) -> Response:
        """GET /metrics/snapshot."""
        if "timeout" in request.query:
            try:
                parse_duration(request.query["timeout"])
            except ValueError as error:
                raise Refusal(400, f"Invalid timeout: {error}") from error
        return json_response(self._metrics(), request)

    def allocation_runs(self, request: Request, _principal: str | None) -> Response:
        """GET /allocation-runs, which Mesos does not have: the times of the last runs, those after `?since=`."""
        text = request.query.get("since", "0")
        try:
            since = float(text)
        except ValueError:
            raise Refusal(400, f"Invalid since: '{text}' is not a number of seconds") from None
        return json_response({"allocation_runs": [at for at in self._run_times() if at > since]}, request)

    def slaves(self, request: Request, principal: str | None) -> Response:
        """GET /slaves, or one agent of it with `?slave_id=`."""
        state, wanted = self._state, request.query.get("slave_id")
        found = [state.agents[wanted]] if wanted in state.agents else []
        shown = agent_views.AgentViews(state, self._runtime, roles_state.sees(state, principal))
        return json_response(
            {
                "slaves": agent_views.agents_in_full(state, self._runtime, principal)
                if wanted is None
                else [shown.in_full(shown.shown(agent)) for agent in found],
                "recovered_slaves": agent_views.recovered_agents(state, wanted),
            },
            request,
        )

    def roles(self, request: Request, principal: str | None) -> Response:
        """GET /roles."""
        return json_response({"roles": role_views.roles_in_full(self._state, principal)}, request)

    def state(self, request: Request, principal: str | None) -> Response:
        """GET /state."""
        state = self._state
        agents = list(state.agents.values())
        active = sum(agent.active for agent in agents)
        shown: dict[str, Any] = {
            **v1_messages.version_info(state),
            "start_time": state.start_time,
            "elected_time": state.start_time,
            "id": state.id,
            "pid": state.pid,
            "hostname": state.hostname,
            **self._shown_capabilities(),
            "activated_slaves": float(active),
            "deactivated_slaves": float(len(agents) - active),
            "unreachable_slaves": float(len(state.known_agents.unreachable())),
            "leader": state.pid,
            "leader_info": {"id": state.id, "pid": state.pid, "port": state.port, "hostname": state.hostname},
        }
        if "cluster" in state.flags.shown:
            shown["cluster"] = state.flags.shown["cluster"]
        if Sight(self._state.flags.authorizer, principal).flags:
            shown["flags"] = self._shown_flags(principal)
        shown |= {
            "slaves": agent_views.agents(state, self._runtime, principal),
            "recovered_slaves": agent_views.recovered_agents(state),
            **framework_views.in_full(state, principal),
            "orphan_tasks": [],
            "unregistered_frameworks": [],
        }
        return json_response(shown, request)

    def state_summary(self, request: Request, principal: str | None) -> Response:
        """GET /state-summary."""
        state = self._state
        shown: dict[str, Any] = {"hostname": state.hostname}
        if "cluster" in state.flags.shown:
            shown["cluster"] = state.flags.shown["cluster"]
        shown |= {
            "slaves": agent_views.agents_in_summary(state, self._runtime, principal),
            "frameworks": framework_views.in_summary(state, principal),
        }
        return json_response(shown, request)

    # --- Calls ----------------------------------------------------------------------------------------

    def calls(self) -> tuple[Reading, ...]:
        """Return the calls of the operator API that only read."""
        state, runtime = self._state, self._runtime
        return (
            Reading("LIST_FILES", _no_files),
            Reading("READ_FILE", _no_files),
            Reading("GET_HEALTH", lambda _body, _principal: {"healthy": True}),
            Reading("GET_VERSION", lambda _body, _principal: {"version_info": v1_messages.version_info(state)}),
            Reading("GET_FLAGS", self._get_flags),
            Reading("GET_METRICS", self._get_metrics),
            Reading("GET_MASTER", self._get_master),
            Reading("GET_AGENTS", lambda _body, principal: self._get_agents(principal)),
            Reading("GET_STATE", lambda _body, principal: self.get_state(principal)),
            Reading("GET_ROLES", lambda _body, principal: role_views.roles_described(state, principal)),
            Reading(
                "GET_FRAMEWORKS",
                lambda _body, principal: framework_views.frameworks_described(state, runtime, principal),
            ),
            Reading("GET_TASKS", lambda _body, principal: framework_views.tasks_described(state, principal)),
            Reading("GET_EXECUTORS", lambda _body, principal: framework_views.executors_described(state, principal)),
            Reading("GET_OPERATIONS", lambda _body, _principal: framework_views.operations_described(state)),
        )

    def get_state(self, principal: str | None) -> dict[str, Any]:
        """Return the whole state as GET_STATE shows it to a principal."""
        return {
            "get_tasks": framework_views.tasks_described(self._state, principal),
            "get_executors": framework_views.executors_described(self._state, principal),
            "get_frameworks": framework_views.frameworks_described(self._state, self._runtime, principal),
            "get_agents": self._get_agents(principal),
        }

    def _get_flags(self, _body: Body, principal: str | None) -> dict[str, Any]:
        return {"flags": [{"name": name, "value": value} for name, value in self._shown_flags(principal).items()]}

    def _get_metrics(self, _body: Body, _principal: str | None) -> dict[str, Any]:
        return {"metrics": [{"name": name, "value": value} for name, value in self._metrics().items()]}

    def _get_master(self, _body: Body, _principal: str | None) -> dict[str, Any]:
        start = self._state.start_time
        return {"master_info": v1_messages.master_info(self._state), "start_time": start, "elected_time": start}

    def _get_agents(self, principal: str | None) -> dict[str, Any]:
        agents = agent_views.agents_described(self._state, self._runtime, principal)
        return {"agents": agents, "recovered_agents": v1_messages.recovered_agents(self._state)}

    # --- Within ---------------------------------------------------------------------------------------

    def _shown_flags(self, principal: str | None) -> dict[str, str]:
        """Return the flags by name.  Raises Refusal (403)."""
        if not Sight(self._state.flags.authorizer, principal).flags:
            raise standard_refusal(403)
        shown = self._state.flags.shown
        return dict(sorted(flags_at(self._state.profile.release, shown).items()))

    def _shown_capabilities(self) -> dict[str, list[str]]:
        profile = self._state.profile
        shows_them = has_member(profile.release, "/state capabilities")
        return {"capabilities": list(profile.master_capabilities)} if shows_them else {}


def _no_files(_body: Body, _principal: str | None) -> dict[str, Any]:
    """Refuse LIST_FILES or READ_FILE: there are no files.  Raises Refusal (404)."""
    raise standard_refusal(404)


class LoggingCalls:
    """GET_LOGGING_LEVEL and SET_LOGGING_LEVEL."""

    def __init__(self, state: MasterState, level: LoggingLevel) -> None:
        self._state = state
        self._level = level

    def calls(self) -> tuple[Reading | Change, ...]:
        """Return these calls of the operator API."""
        return (
            Reading("GET_LOGGING_LEVEL", lambda _body, _principal: {"level": self._level.level}),
            Change("SET_LOGGING_LEVEL", self._set),
        )

    def _set(self, body: Body, principal: str | None) -> None:
        if not self._state.flags.authorizer.allows("set_log_level", principal, None):
            raise standard_refusal(403)
        self._level.set(body["level"], body["duration"]["nanoseconds"] / NANOSECONDS)
