"""The endpoints that only tell (spec/endpoints.md §2)."""

from typing import Any

from fake_master.http import frameworks, views
from fake_master.http.exchange import Refusal, Request, Response, accepted_silently, json_response, standard_refusal
from fake_master.master import Master
from fake_master.services import metrics
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
    return {**_BUILD, "git_tag": master.profile.version, "version": master.profile.version}


def redirect(master: Master, request: Request, _principal: str | None) -> Response:
    """GET /redirect: where the leader is, even if that is here."""
    if request.path.startswith(("/redirect/", "/master/redirect/")):
        raise standard_refusal(404)
    return Response(307, headers={"Location": f"//{master.hostname}:{master.port}"})


def flags(master: Master, request: Request, principal: str | None) -> Response:
    """GET /flags."""
    if not master.flags.authorizer.allows("view_flags", principal, None):
        raise standard_refusal(403)
    return json_response({"flags": dict(sorted(master.flags.shown.items()))}, request)


def metrics_snapshot(master: Master, request: Request, _principal: str | None) -> Response:
    """GET /metrics/snapshot."""
    if "timeout" in request.query:
        try:
            parse_duration(request.query["timeout"])
        except ValueError as error:
            raise Refusal(400, f"Invalid timeout: {error}") from error
    return json_response(metrics.snapshot(master), request)


def slaves(master: Master, request: Request, principal: str | None) -> Response:
    """GET /slaves, or one agent of it with `?slave_id=`."""
    wanted = request.query.get("slave_id")
    found = [master.agents[wanted]] if wanted in master.agents else []
    return json_response(
        {
            "slaves": views.agents_in_full(master, principal)
            if wanted is None
            else [views.agent_in_full(master, agent, roles_state.sees(master, principal)) for agent in found],
            "recovered_slaves": views.recovered_agents(master, wanted),
        },
        request,
    )


def roles(master: Master, request: Request, principal: str | None) -> Response:
    """GET /roles."""
    return json_response({"roles": views.roles_in_full(master, principal)}, request)


def state(master: Master, request: Request, principal: str | None) -> Response:
    """GET /state."""
    agents = list(master.agents.values())
    active = sum(agent.active for agent in agents)
    shown: dict[str, Any] = {
        **version_info(master),
        "start_time": master.start_time,
        "elected_time": master.start_time,
        "id": master.id,
        "pid": master.pid,
        "hostname": master.hostname,
        "capabilities": list(master.profile.master_capabilities),
        "activated_slaves": float(active),
        "deactivated_slaves": float(len(agents) - active),
        "unreachable_slaves": float(len(master.agent_registry.unreachable())),
        "leader": master.pid,
        "leader_info": {"id": master.id, "pid": master.pid, "port": master.port, "hostname": master.hostname},
    }
    if "cluster" in master.flags.shown:
        shown["cluster"] = master.flags.shown["cluster"]
    if master.flags.authorizer.allows("view_flags", principal, None):
        shown["flags"] = dict(sorted(master.flags.shown.items()))
    shown |= {
        "slaves": views.agents(master, principal),
        "recovered_slaves": views.recovered_agents(master),
        **frameworks.in_full(master, principal),
        "orphan_tasks": [],
        "unregistered_frameworks": [],
    }
    return json_response(shown, request)


def state_summary(master: Master, request: Request, principal: str | None) -> Response:
    """GET /state-summary."""
    shown: dict[str, Any] = {"hostname": master.hostname}
    if "cluster" in master.flags.shown:
        shown["cluster"] = master.flags.shown["cluster"]
    shown |= {
        "slaves": views.agents_in_summary(master, principal),
        "frameworks": [
            frameworks.framework_with_counts(of)
            for of in frameworks.visible(master, principal, master.frameworks.values())
        ],
    }
    return json_response(shown, request)
