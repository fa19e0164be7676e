"""The endpoints that only tell (spec/endpoints.md §2)."""

from typing import Any

from fake_master.http import frameworks, views
from fake_master.http.exchange import Refusal, Request, Response, accepted_silently, json_response, standard_refusal
from fake_master.master import Master
from fake_master.services import monitoring
from fake_master.state import roles as roles_state
from mesosctl.model.text import parse_duration

# What the last release says of its own making.
_BUILD = {
    "build_date": "2020-11-24 15:38:37",
    "build_time": 1606232317.0,
    "build_user": "ubuntu",
    "git_sha": "04bc7ee1984d86fbb0bd782ccc69ce44c13ae4b9",
}


def health(_master: Master, _request: Request, _principal: str | None) -> Response:
    """GET /health: alive is all it says."""
    return accepted_silently()


def version(master: Master, request: Request, _principal: str | None) -> Response:
    """GET /version."""
    return json_response(version_info(master), request)


def version_info(master: Master) -> dict[str, Any]:
    """The version and the build."""
    return {**_BUILD, "git_tag": master.state.profile.version, "version": master.state.profile.version}


def redirect(master: Master, request: Request, _principal: str | None) -> Response:
    """GET /redirect: where the leader is, even if that is here."""
    if request.path.startswith(("/redirect/", "/master/redirect/")):
        raise standard_refusal(404)
    return Response(307, headers={"Location": f"//{master.state.hostname}:{master.state.port}"})


def flags(master: Master, request: Request, principal: str | None) -> Response:
    """GET /flags."""
    if not master.state.flags.authorizer.allows("view_flags", principal, None):
        raise standard_refusal(403)
    return json_response({"flags": dict(sorted(master.state.flags.shown.items()))}, request)


def metrics_snapshot(master: Master, request: Request, _principal: str | None) -> Response:
    """GET /metrics/snapshot."""
    if "timeout" in request.query:
        try:
            parse_duration(request.query["timeout"])
        except ValueError as error:
            raise Refusal(400, f"Invalid timeout: {error}") from error
    return json_response(all_metrics(master), request)


def all_metrics(master: Master) -> dict[str, float]:
    """Return every metric of the master, its allocator and its services, by name."""
    counted = master.allocator.metrics(), master.rate_limiting.metrics(), master.runtime.metrics()
    return monitoring.snapshot(master.state, *counted)


def slaves(master: Master, request: Request, principal: str | None) -> Response:
    """GET /slaves, or one agent of it with `?slave_id=`."""
    wanted = request.query.get("slave_id")
    found = [master.state.agents[wanted]] if wanted in master.state.agents else []
    return json_response(
        {
            "slaves": views.agents_in_full(master.state, master.runtime, principal)
            if wanted is None
            else [
                views.agent_in_full(master.state, master.runtime, agent, roles_state.sees(master.state, principal))
                for agent in found
            ],
            "recovered_slaves": views.recovered_agents(master.failover.recovered(), wanted),
        },
        request,
    )


def roles(master: Master, request: Request, principal: str | None) -> Response:
    """GET /roles."""
    return json_response({"roles": views.roles_in_full(master.state, principal)}, request)


def state(master: Master, request: Request, principal: str | None) -> Response:
    """GET /state."""
    agents = list(master.state.agents.values())
    active = sum(agent.active for agent in agents)
    shown: dict[str, Any] = {
        **version_info(master),
        "start_time": master.state.start_time,
        "elected_time": master.state.start_time,
        "id": master.state.id,
        "pid": master.state.pid,
        "hostname": master.state.hostname,
        "capabilities": list(master.state.profile.master_capabilities),
        "activated_slaves": float(active),
        "deactivated_slaves": float(len(agents) - active),
        "unreachable_slaves": float(len(master.state.known_agents.unreachable())),
        "leader": master.state.pid,
        "leader_info": {
            "id": master.state.id,
            "pid": master.state.pid,
            "port": master.state.port,
            "hostname": master.state.hostname,
        },
    }
    if "cluster" in master.state.flags.shown:
        shown["cluster"] = master.state.flags.shown["cluster"]
    if master.state.flags.authorizer.allows("view_flags", principal, None):
        shown["flags"] = dict(sorted(master.state.flags.shown.items()))
    shown |= {
        "slaves": views.agents(master.state, master.runtime, principal),
        "recovered_slaves": views.recovered_agents(master.failover.recovered()),
        **frameworks.in_full(master.state, principal),
        "orphan_tasks": [],
        "unregistered_frameworks": [],
    }
    return json_response(shown, request)


def state_summary(master: Master, request: Request, principal: str | None) -> Response:
    """GET /state-summary."""
    shown: dict[str, Any] = {"hostname": master.state.hostname}
    if "cluster" in master.state.flags.shown:
        shown["cluster"] = master.state.flags.shown["cluster"]
    shown |= {
        "slaves": views.agents_in_summary(master.state, principal),
        "frameworks": [
            frameworks.framework_with_counts(of)
            for of in frameworks.visible(master.state, principal, master.state.frameworks.values())
        ],
    }
    return json_response(shown, request)
