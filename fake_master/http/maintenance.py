"""`/maintenance`, `/machine` and the maintenance calls of the operator API (spec/endpoints.md §3)."""

from collections.abc import Mapping, Sequence
from typing import Any

from fake_master.http.exchange import Refusal, Request, Response, accepted_silently, json_body, json_response, refusing
from fake_master.master import Master
from fake_master.state.maintenance import MachineId
from mesosctl.api.protobuf.decoding import ConversionError
from mesosctl.api.protobuf.messages import Field, Message, read

_MACHINE_ID = Message("MachineID", {"hostname": Field("string"), "ip": Field("string")})
_TIME = Message("TimeInfo", {"nanoseconds": Field("int64", "required")})
_DURATION = Message("DurationInfo", {"nanoseconds": Field("int64", "required")})
_UNAVAILABILITY = Message("Unavailability", {"start": Field(_TIME, "required"), "duration": Field(_DURATION)})
_WINDOW = Message(
    "maintenance.Window",
    {"machine_ids": Field(_MACHINE_ID, "repeated"), "unavailability": Field(_UNAVAILABILITY, "required")},
)
_SCHEDULE = Message("maintenance.Schedule", {"windows": Field(_WINDOW, "repeated")})
UPDATE = Message("Call.UpdateMaintenanceSchedule", {"schedule": Field(_SCHEDULE, "required")})
START = Message("Call.StartMaintenance", {"machines": Field(_MACHINE_ID, "repeated")})
STOP = Message("Call.StopMaintenance", {"machines": Field(_MACHINE_ID, "repeated")})

Body = Mapping[str, Any]


def get_schedule(master: Master, request: Request, principal: str | None) -> Response:
    """GET /maintenance/schedule."""
    return json_response(schedule(master, principal), request)


def post_schedule(master: Master, request: Request, principal: str | None) -> Response:
    """POST /maintenance/schedule: the whole schedule anew."""
    body = json_body(request, dict, "maintenance schedule")
    try:
        message = read(_SCHEDULE, body)
    except ConversionError as error:
        raise Refusal(400, f"Failed to convert maintenance schedule: {error}") from error
    call_update(master, {"schedule": message}, principal)
    return accepted_silently()


def get_status(master: Master, request: Request, principal: str | None) -> Response:
    """GET /maintenance/status."""
    return json_response(status(master, principal), request)


def machine_down(master: Master, request: Request, principal: str | None) -> Response:
    """POST /machine/down."""
    call_start(master, {"machines": _machines(request)}, principal)
    return accepted_silently()


def machine_up(master: Master, request: Request, principal: str | None) -> Response:
    """POST /machine/up."""
    call_stop(master, {"machines": _machines(request)}, principal)
    return accepted_silently()


def call_update(master: Master, body: Body, principal: str | None) -> None:
    """UPDATE_MAINTENANCE_SCHEDULE.  Raises Refusal or Forbidden."""
    with refusing():
        master.maintenance.schedule(principal, body["schedule"].get("windows", ()))


def call_start(master: Master, body: Body, principal: str | None) -> None:
    """START_MAINTENANCE: the agents of these machines are shut down.  Raises Refusal or Forbidden."""
    with refusing():
        agents = master.maintenance.take_down(principal, body.get("machines", ()))
    for agent in agents:
        master.agent_removal.shut_down(agent)


def call_stop(master: Master, body: Body, principal: str | None) -> None:
    """STOP_MAINTENANCE: the hosts of these machines start their agents anew.  Raises Refusal or Forbidden."""
    with refusing():
        master.maintenance.bring_up(principal, body.get("machines", ()))
    master.agent_registry.start_agents()


def call_get_schedule(master: Master, _body: Body, principal: str | None) -> dict[str, Any]:
    """GET_MAINTENANCE_SCHEDULE."""
    return {"schedule": schedule(master, principal)}


def call_get_status(master: Master, _body: Body, principal: str | None) -> dict[str, Any]:
    """GET_MAINTENANCE_STATUS."""
    return {"status": status(master, principal)}


def schedule(master: Master, principal: str | None) -> dict[str, Any]:
    """A maintenance.Schedule message of the machines that the principal may see."""
    windows = []
    for window in master.state.maintenance.windows:
        machines = _visible(master, "get_maintenance_schedules", principal, window["machine_ids"])
        if machines:
            windows.append({"machine_ids": machines, "unavailability": dict(window["unavailability"])})
    return {"windows": windows} if windows else {}


def status(master: Master, principal: str | None) -> dict[str, Any]:
    """A maintenance.ClusterStatus message of the machines that the principal may see."""
    action = "get_maintenance_statuses"
    draining: list[dict[str, Any]] = []
    machines = _visible(master, action, principal, master.state.maintenance.in_mode("DRAINING"))
    for machine, agents in zip(machines, master.state.maintenance.agents_on(machines), strict=True):
        answers = [dict(answer) for agent in agents for answer in agent.answers.values()]
        draining.append({"id": machine, "statuses": answers} if answers else {"id": machine})
    down = _visible(master, action, principal, master.state.maintenance.in_mode("DOWN"))
    shown = {"draining_machines": draining, "down_machines": down}
    return {name: listed for name, listed in shown.items() if listed}


def _visible(master: Master, action: str, principal: str | None, machines: Sequence[MachineId]) -> list[dict[str, Any]]:
    allows = master.state.flags.authorizer.allows
    return [dict(machine) for machine in machines if allows(action, principal, machine.get("hostname"))]


def _machines(request: Request) -> list[dict[str, Any]]:
    body = json_body(request, list, "machines")
    try:
        return [read(_MACHINE_ID, entry, f"[{index}]") for index, entry in enumerate(body)]
    except ConversionError as error:
        raise Refusal(400, f"Failed to convert machines: {error}") from error
