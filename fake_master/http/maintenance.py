"""`/maintenance`, `/machine`, and their calls of the operator API.

Source: Mesos documentation, "Maintenance Primitives", "Operator API".
"""

from collections.abc import Sequence
from typing import Any

from fake_master.http.operator_api import Body, Change, Reading
from fake_master.http.request_response import (
    Request,
    Response,
    accepted_silently,
    json_message,
    json_messages,
    json_response,
    refusing,
)
from fake_master.registry.records import MachineId
from fake_master.services.agents.maintenance import Maintenance
from fake_master.services.agents.registered_agents import AgentRegistry
from fake_master.services.agents.removal import AgentRemoval
from fake_master.state.master_state import MasterState

_MACHINE_ID = "mesos.v1.MachineID"
_SCHEDULE = "mesos.v1.maintenance.Schedule"


class MaintenanceEndpoints:
    """Schedules maintenance, takes machines down and brings them up."""

    def __init__(
        self, state: MasterState, maintenance: Maintenance, removal: AgentRemoval, registry: AgentRegistry
    ) -> None:
        self._state = state
        self._maintenance = maintenance
        self._removal = removal
        self._registry = registry

    def get_schedule(self, request: Request, principal: str | None) -> Response:
        """GET /maintenance/schedule."""
        return json_response(self._schedule(principal), request)

    def post_schedule(self, request: Request, principal: str | None) -> Response:
        """POST /maintenance/schedule: replace the whole schedule."""
        what = "maintenance schedule"
        form = self._state.message(_SCHEDULE)
        self._update({"schedule": json_message(request, form, what, f"Failed to convert {what}")}, principal)
        return accepted_silently()

    def get_status(self, request: Request, principal: str | None) -> Response:
        """GET /maintenance/status."""
        return json_response(self._status(principal), request)

    def machine_down(self, request: Request, principal: str | None) -> Response:
        """POST /machine/down."""
        self._start({"machines": self._machines(request)}, principal)
        return accepted_silently()

    def machine_up(self, request: Request, principal: str | None) -> Response:
        """POST /machine/up."""
        self._stop({"machines": self._machines(request)}, principal)
        return accepted_silently()

    def calls(self) -> tuple[Reading | Change, ...]:
        """Return the calls of the operator API about maintenance."""
        return (
            Reading("GET_MAINTENANCE_SCHEDULE", lambda _body, principal: {"schedule": self._schedule(principal)}),
            Reading("GET_MAINTENANCE_STATUS", lambda _body, principal: {"status": self._status(principal)}),
            Change("UPDATE_MAINTENANCE_SCHEDULE", self._update),
            Change("START_MAINTENANCE", self._start),
            Change("STOP_MAINTENANCE", self._stop),
        )

    def _update(self, body: Body, principal: str | None) -> None:
        """UPDATE_MAINTENANCE_SCHEDULE.  Raises Refusal or Forbidden."""
        with refusing():
            self._maintenance.schedule(principal, body["schedule"].get("windows", ()))

    def _start(self, body: Body, principal: str | None) -> None:
        """START_MAINTENANCE: the agents of these machines are shut down.  Raises Refusal or Forbidden."""
        with refusing():
            agents = self._maintenance.take_down(principal, body.get("machines", ()))
        for agent in agents:
            self._removal.shut_down(agent)

    def _stop(self, body: Body, principal: str | None) -> None:
        """STOP_MAINTENANCE: the hosts of these machines start their agents again.  Raises Refusal or Forbidden."""
        with refusing():
            self._maintenance.bring_up(principal, body.get("machines", ()))
        self._registry.start_agents()

    def _schedule(self, principal: str | None) -> dict[str, Any]:
        """A maintenance.Schedule message of the machines that the principal may see."""
        windows = []
        for window in self._state.maintenance.windows:
            machines = self._visible("get_maintenance_schedules", principal, window["machine_ids"])
            if machines:
                windows.append({"machine_ids": machines, "unavailability": dict(window["unavailability"])})
        return {"windows": windows} if windows else {}

    def _status(self, principal: str | None) -> dict[str, Any]:
        """A maintenance.ClusterStatus message of the machines that the principal may see."""
        action = "get_maintenance_statuses"
        draining: list[dict[str, Any]] = []
        machines = self._visible(action, principal, self._state.maintenance.in_mode("DRAINING"))
        for machine, agents in zip(machines, self._state.maintenance.agents_on(machines), strict=True):
            answers = [dict(answer) for agent in agents for answer in agent.answers.values()]
            draining.append({"id": machine, "statuses": answers} if answers else {"id": machine})
        down = self._visible(action, principal, self._state.maintenance.in_mode("DOWN"))
        shown = {"draining_machines": draining, "down_machines": down}
        return {name: listed for name, listed in shown.items() if listed}

    def _visible(self, action: str, principal: str | None, machines: Sequence[MachineId]) -> list[MachineId]:
        allows = self._state.flags.authorizer.allows
        return [machine.copy() for machine in machines if allows(action, principal, machine.get("hostname"))]

    def _machines(self, request: Request) -> list[dict[str, Any]]:
        form = self._state.message(_MACHINE_ID)
        return json_messages(request, form, "machines", "Failed to convert machines")
