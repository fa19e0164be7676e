"""Every call that ACLs decide about, for every action of it, by principals who may and may not."""

import base64
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_master import __main__ as program
from fake_master.http.request_response import Request, Response
from fake_master.sources.agent_tables import AgentSpec
from fake_master.state.acls import ENFORCED
from mesosctl.mesos.messages.acls import OBJECT_FIELDS
from tests.helpers.lab import AGENT, Lab, Scheduler

MAY, MAY_NOT = "ops", "other"
WHO: dict[str, bool] = {MAY: True, MAY_NOT: False, "stranger": False}
ANY, NONE = {"type": "ANY"}, {"type": "NONE"}
MACHINE = {"hostname": "agent-1", "ip": "127.0.0.1"}
WINDOWS = {"windows": [{"machine_ids": [MACHINE], "unavailability": {"start": {"nanoseconds": 1}}}]}


class Made(NamedTuple):
    """The names of things in the cluster of these tests, which calls mention."""

    lab: Lab
    agent: str
    framework: Scheduler
    by: str

    def disk(self, mib: float, volume: str = "", by: str = "") -> dict[str, Any]:
        """Disk that `by` reserves for role "web", and that is a volume if it has a name."""
        owner = by or self.by
        entry: dict[str, Any] = {"name": "disk", "type": "SCALAR", "scalar": {"value": mib}}
        entry["reservations"] = [{"type": "DYNAMIC", "role": "web", "principal": owner}]
        if volume:
            persistence = {"id": volume, "principal": owner}
            entry["disk"] = {"persistence": persistence, "volume": {"mode": "RW", "container_path": "v"}}
        return entry

    def ask(self, method: str, target: str, body: Any = None, by: str = "", **headers: str) -> Response:
        token = base64.b64encode(f"{by or self.by}:secret".encode()).decode()
        return self.lab.request(method, target, body, authorization=f"Basic {token}", **headers)

    def call(self, name: str, by: Any = "", **fields: Any) -> Response:
        return self.ask("POST", "/api/v1", {"type": name, name.lower(): fields}, by)

    def form(self, path: str, **fields: Any) -> Response:
        token = base64.b64encode(f"{self.by}:secret".encode()).decode()
        words = {key: value if isinstance(value, str) else json.dumps(value) for key, value in fields.items()}
        return self.lab.application.handle(
            Request("POST", path, {"authorization": f"Basic {token}"}, urlencode(words).encode())
        )

    @property
    def on_agent(self) -> dict[str, Any]:
        """The field of calls about the agent."""
        return {"agent_id": {"value": self.agent}}


GUARANTEE = [{"name": "cpus", "type": "SCALAR", "scalar": {"value": 1}}]
QUOTA = {"role": "web", "force": True, "guarantee": GUARANTEE}
CONFIGS = {"force": True, "quota_configs": [{"role": "web", "guarantees": {"cpus": {"value": 1}}}]}
LEVEL = {"level": 2, "duration": {"nanoseconds": 10**9}}

# (action, name of the call) → the call.  It is refused with 403.
CHANGES: dict[tuple[str, str], Callable[[Made], Response]] = {
    ("update_quotas", "POST /quota"): lambda made: made.ask("POST", "/quota", QUOTA | {"role": "new"}),
    ("update_quotas", "DELETE /quota"): lambda made: made.ask("DELETE", "/quota/web"),
    ("update_quotas", "SET_QUOTA"): lambda made: made.call("SET_QUOTA", quota_request=QUOTA | {"role": "new"}),
    ("update_quotas", "REMOVE_QUOTA"): lambda made: made.call("REMOVE_QUOTA", role="web"),
    ("update_quotas", "UPDATE_QUOTA"): lambda made: made.call("UPDATE_QUOTA", **CONFIGS),
    ("update_weights", "PUT /weights"): lambda made: made.ask("PUT", "/weights", [{"role": "web", "weight": 3}]),
    ("update_weights", "UPDATE_WEIGHTS"): lambda made: made.call(
        "UPDATE_WEIGHTS", weight_infos=[{"role": "web", "weight": 3}]
    ),
    ("reserve_resources", "POST /reserve"): lambda made: made.form(
        "/reserve", slaveId=made.agent, resources=[made.disk(1)]
    ),
    ("reserve_resources", "RESERVE_RESOURCES"): lambda made: made.call(
        "RESERVE_RESOURCES", **made.on_agent, resources=[made.disk(1)]
    ),
    ("unreserve_resources", "POST /unreserve"): lambda made: made.form(
        "/unreserve", slaveId=made.agent, resources=[made.disk(1, by=MAY)]
    ),
    ("unreserve_resources", "UNRESERVE_RESOURCES"): lambda made: made.call(
        "UNRESERVE_RESOURCES", **made.on_agent, resources=[made.disk(1, by=MAY)]
    ),
    ("create_volumes", "POST /create-volumes"): lambda made: made.form(
        "/create-volumes", slaveId=made.agent, volumes=[volume_of(made)]
    ),
    ("create_volumes", "CREATE_VOLUMES"): lambda made: made.call(
        "CREATE_VOLUMES", **made.on_agent, volumes=[volume_of(made)]
    ),
    ("destroy_volumes", "POST /destroy-volumes"): lambda made: made.form(
        "/destroy-volumes", slaveId=made.agent, volumes=[made.disk(10, "v", MAY)]
    ),
    ("destroy_volumes", "DESTROY_VOLUMES"): lambda made: made.call(
        "DESTROY_VOLUMES", **made.on_agent, volumes=[made.disk(10, "v", MAY)]
    ),
    ("resize_volumes", "GROW_VOLUME"): lambda made: made.call(
        "GROW_VOLUME", **made.on_agent, volume=made.disk(10, "v", MAY), addition=made.disk(1, by=MAY)
    ),
    ("resize_volumes", "SHRINK_VOLUME"): lambda made: made.call(
        "SHRINK_VOLUME", **made.on_agent, volume=made.disk(10, "v", MAY), subtract={"value": 1}
    ),
    ("teardown_frameworks", "POST /teardown"): lambda made: made.form("/teardown", frameworkId=made.framework.id),
    ("teardown_frameworks", "TEARDOWN"): lambda made: made.call("TEARDOWN", framework_id={"value": made.framework.id}),
    ("update_maintenance_schedules", "POST /maintenance/schedule"): lambda made: made.ask(
        "POST", "/maintenance/schedule", WINDOWS
    ),
    ("update_maintenance_schedules", "UPDATE_MAINTENANCE_SCHEDULE"): lambda made: made.call(
        "UPDATE_MAINTENANCE_SCHEDULE", schedule=WINDOWS
    ),
    ("start_maintenances", "POST /machine/down"): lambda made: made.ask("POST", "/machine/down", [MACHINE]),
    ("start_maintenances", "START_MAINTENANCE"): lambda made: made.call("START_MAINTENANCE", machines=[MACHINE]),
    ("stop_maintenances", "POST /machine/up"): lambda made: taken_down(made).ask("POST", "/machine/up", [MACHINE]),
    ("stop_maintenances", "STOP_MAINTENANCE"): lambda made: taken_down(made).call(
        "STOP_MAINTENANCE", machines=[MACHINE]
    ),
    ("mark_agents_gone", "MARK_AGENT_GONE"): lambda made: made.call("MARK_AGENT_GONE", **made.on_agent),
    ("drain_agents", "DRAIN_AGENT"): lambda made: made.call("DRAIN_AGENT", **made.on_agent),
    ("deactivate_agents", "DEACTIVATE_AGENT"): lambda made: made.call("DEACTIVATE_AGENT", **made.on_agent),
    ("reactivate_agents", "REACTIVATE_AGENT"): lambda made: deactivated(made).call("REACTIVATE_AGENT", **made.on_agent),
    ("set_log_level", "SET_LOGGING_LEVEL"): lambda made: made.call("SET_LOGGING_LEVEL", **LEVEL),
    ("view_flags", "GET /flags"): lambda made: made.ask("GET", "/flags"),
    ("view_flags", "GET_FLAGS"): lambda made: made.call("GET_FLAGS"),
}
# (action, name of the call) → what only who may sees in the answer, which is 200 for everybody.
VIEWS: dict[tuple[str, str], str] = {
    ("get_quotas", "GET /quota"): '"web"',
    ("get_quotas", "GET_QUOTA"): '"web"',
    ("view_roles", "GET /roles"): '"web"',
    ("view_roles", "GET_ROLES"): '"web"',
    ("view_roles", "GET /weights"): '"web"',
    ("view_roles", "GET_WEIGHTS"): '"web"',
    ("view_roles", "GET /page/cluster"): '"web"',
    ("view_flags", "GET /state"): '"allocation_interval"',
    ("view_frameworks", "GET /frameworks"): '"name":"shop"',
    ("view_frameworks", "GET /state"): '"name":"shop"',
    ("view_frameworks", "GET /state-summary"): '"name":"shop"',
    ("view_frameworks", "GET_FRAMEWORKS"): '"name":"shop"',
    ("view_frameworks", "GET /page/cluster"): '"shop"',
    ("view_frameworks", "GET_STATE"): '"name":"shop"',
    ("view_tasks", "GET /tasks"): '"the-task"',
    ("view_tasks", "GET /state"): '"the-task"',
    ("view_tasks", "GET_TASKS"): '"the-task"',
    ("view_tasks", "GET_STATE"): '"the-task"',
    ("view_executors", "GET /state"): '"command":{"value":"run"',
    ("view_executors", "GET_EXECUTORS"): '"command":{"value":"run"',
    ("view_executors", "GET_STATE"): '"command":{"value":"run"',
    ("get_maintenance_schedules", "GET /maintenance/schedule"): '"agent-1"',
    ("get_maintenance_schedules", "GET_MAINTENANCE_SCHEDULE"): '"agent-1"',
    ("get_maintenance_statuses", "GET /maintenance/status"): '"agent-1"',
    ("get_maintenance_statuses", "GET_MAINTENANCE_STATUS"): '"agent-1"',
}
OPEN_CALLS = {
    *("GET_HEALTH", "GET_VERSION", "GET_METRICS", "GET_LOGGING_LEVEL", "GET_MASTER", "GET_AGENTS", "GET_OPERATIONS"),
    *("LIST_FILES", "READ_FILE"),
}
"""Calls about which no ACL of a real master decides; agents and operations show what the views of roles allow."""
OPEN_ROUTES = {
    "registrar(1)/registry",
    "health",
    "version",
    "redirect",
    "metrics/snapshot",
    "allocation-runs",
    "slaves",
    "",
    "page/events",
    "page/clock",
}
DOORS = {"api/v1", "api/v1/scheduler"}
OF_FRAMEWORKS = {"register_agents", "register_frameworks", "run_tasks"}
"""Actions of the tests at the end."""


def volume_of(made: Made) -> dict[str, Any]:
    """A volume that the calling principal creates from resources that MAY reserved."""
    volume = made.disk(1, "new", MAY)
    volume["disk"]["persistence"]["principal"] = made.by
    return volume


def taken_down(made: Made) -> Made:
    assert made.ask("POST", "/machine/down", [MACHINE], MAY).status == 200
    return made


def deactivated(made: Made) -> Made:
    assert made.call("DEACTIVATE_AGENT", MAY, **made.on_agent).status == 200
    return made


def acls(action: str) -> str:
    """Only `action` is limited: to MAY."""
    of = OBJECT_FIELDS[action]
    rules = [{"principals": {"values": [MAY]}, of: ANY}, {"principals": ANY, of: NONE}]
    return json.dumps({"permissive": True, action: rules})


def made_for(action: str, by: str, tmp_path: Path) -> Made:
    """A cluster with one of everything; `by` is the calling principal."""
    path = tmp_path / "credentials"
    known = [{"principal": name, "secret": "secret"} for name in WHO]
    path.write_text(json.dumps({"credentials": known}), encoding="utf-8")
    flags = {f"authenticate_http_{kind}": "true" for kind in ("readonly", "readwrite")}
    lab = Lab("cpus:4;mem:2048;disk:1000", flags={**flags, "credentials": str(path), "acls": acls(action)})
    framework = Scheduler(lab, name="shop", principal=MAY, roles=["web"])
    made = Made(lab, lab.master.state.agents.copy().popitem()[0], framework, by)
    framework.launch("the-task", executor="the-executor")
    for status, answer in (
        (202, made.call("RESERVE_RESOURCES", MAY, **made.on_agent, resources=[made.disk(100, by=MAY)])),
        (202, made.call("CREATE_VOLUMES", MAY, **made.on_agent, volumes=[made.disk(10, "v", MAY)])),
        (200, made.ask("POST", "/quota", QUOTA, MAY)),
        (200, made.ask("PUT", "/weights", [{"role": "web", "weight": 2}], MAY)),
        (200, made.ask("POST", "/maintenance/schedule", WINDOWS, MAY)),
    ):
        assert answer.status == status, answer
    return made


def shown(made: Made) -> list[bytes]:
    paths = ("/state", "/slaves", "/quota", "/weights", "/maintenance/schedule", "/maintenance/status")
    return [made.ask("GET", path, by=MAY).body for path in paths]


@pytest.mark.parametrize("by", WHO)
@pytest.mark.parametrize(("action", "name"), CHANGES)
def test_only_who_may_changes_anything(action: str, name: str, by: str, tmp_path: Path) -> None:
    made = made_for(action, by, tmp_path)
    before = shown(made)
    answer = CHANGES[action, name](made)
    assert answer.status in ((200, 202) if WHO[by] else (403,)), answer
    if not WHO[by] and action not in ("stop_maintenances", "reactivate_agents"):  # which another call prepares
        assert shown(made) == before


@pytest.mark.parametrize(("action", "name"), VIEWS)
def test_only_who_may_sees_it(action: str, name: str, tmp_path: Path) -> None:
    seen = {}
    for by in WHO:
        made = made_for(action, by, tmp_path)
        method, _, path = name.partition(" ")
        answer = made.ask(method, path) if path else made.call(name)
        assert answer.status == 200, answer
        seen[by] = VIEWS[action, name] in answer.body.decode().replace('": ', '":').replace(", ", ",")
    assert seen == WHO


def test_every_action_and_every_call_is_in_these_tables() -> None:
    endpoints = Lab().application.endpoints
    table = [*CHANGES, *VIEWS]
    assert {action for action, _ in table} | OF_FRAMEWORKS == ENFORCED
    names = {name for _, name in table}
    assert {name for name in names if " " not in name} | OPEN_CALLS == set(endpoints.operator_api.calls)
    paths = {name.partition(" /")[2] for name in names if " " in name}
    assert paths | OPEN_ROUTES | DOORS == {route.path for route in endpoints.routes}


def test_only_who_may_registers_a_framework() -> None:
    for by, may in WHO.items():
        lab = Lab(flags={"acls": acls("register_frameworks")})
        info: dict[str, Any] = {"user": "u", "name": "n", "roles": ["web"], "principal": by}
        info["capabilities"] = [{"type": "MULTI_ROLE"}]
        lab.request("POST", "/api/v1/scheduler", {"type": "SUBSCRIBE", "subscribe": {"framework_info": info}})
        assert (len(lab.frameworks()) == 1) is may


def test_only_who_may_runs_tasks() -> None:
    for by, may in WHO.items():
        lab = Lab(flags={"acls": acls("run_tasks")})
        framework = Scheduler(lab, principal=by)
        framework.launch("t")
        assert (framework.acknowledge()[-1][1] == "TASK_RUNNING") is may


def test_only_who_may_registers_an_agent() -> None:
    for by, may in WHO.items():
        lab = Lab(AgentSpec(AGENT, principal=by), flags={"acls": acls("register_agents")})
        assert bool(lab.agents) is may


STATIC = "cpus:1;mem:64;cpus(ads):1;mem(web):64"


@given(st.sets(st.sampled_from(["*", "ads", "web", "other"])), st.booleans())
def test_an_agent_with_static_reservations_registers_as_the_warning_about_it_advises(
    roles: set[str], registers: bool
) -> None:
    """With the actions and the roles that the warning names, the star included, it registers, and with any less not."""
    rules: dict[str, Any] = {"permissive": False}
    rules["reserve_resources"] = [{"principals": {"values": ["p"]}, "roles": {"values": sorted(roles)}}]
    if registers:
        rules["register_agents"] = [{"principals": {"values": ["p"]}, "agents": ANY}]
    lab = Lab(AgentSpec(STATIC, principal="p"), flags={"acls": json.dumps(rules)})
    assert bool(lab.agents) is (registers and roles >= {"*", "ads", "web"})
    logged: list[str | None] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(program, "_log", lambda _level, _sentence, hint: logged.append(hint))
        program._warn_of_refused(lab.master.agent_registry.refused)
    assert len(logged) == 1 - len(lab.agents)
    for advice in logged:
        assert {"register_agents", "reserve_resources", "*"} <= {*re.split("[ ,;]+", advice or "")}
